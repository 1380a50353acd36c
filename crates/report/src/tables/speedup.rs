//! Speed-ups: a row per combination of the other factors, a column a level.

use std::collections::BTreeMap;

use analyse::lists::{entry, push_new, unique};
use analyse::{
    Analysis, LevelFacts, SpeedUp, SpeedUpKind, SpeedUpLine, SpeedUpPoint, Sweep, format,
};
use messages::{message, word};

use super::{Table, TableCell, Tone};

pub(crate) fn speed_up_table(analysis: &Analysis, speed_up: &SpeedUp) -> Table {
    match speed_up.kind {
        SpeedUpKind::Count => counts(speed_up),
        SpeedUpKind::Device => devices(analysis, speed_up),
    }
}

fn counts(speed_up: &SpeedUp) -> Table {
    let levels = speed_up.lines.iter().flat_map(|line| {
        let points = line.points.iter().map(|p| &p.level);
        std::iter::once(&line.baseline).chain(points)
    });
    let mut levels: Vec<&LevelFacts> = unique(levels);
    let number = |l: &LevelFacts| l.level.parse().unwrap_or(f64::NAN);
    levels.sort_by(|a, b| number(a).total_cmp(&number(b)));
    let mut table = Table::default();
    for other in speed_up.lines.first().map_or(&[][..], |l| &l.levels) {
        table.text(&other.factor);
    }
    levels.iter().for_each(|l| table.number(&l.phrase));
    for line in &speed_up.lines {
        let mut row: Vec<TableCell> = line
            .levels
            .iter()
            .map(|l| TableCell::new(&l.level))
            .collect();
        row.extend(levels.iter().map(|level| count_cell(line, level)));
        table.rows.push(row);
    }
    table.cut()
}

fn count_cell(line: &SpeedUpLine, level: &LevelFacts) -> TableCell {
    if line.baseline == *level {
        return TableCell::new("1×").tone(Tone::Absent);
    }
    let point = line.points.iter().find(|p| p.level == *level);
    point.map_or_else(TableCell::none, |point| {
        let mut small: Vec<String> = bounds(point).into_iter().collect();
        let efficiency = point.efficiency.as_ref();
        small.extend(efficiency.map(|e| format::percent(e.value)));
        TableCell::new(times(point)).small(small.join(", "))
    })
}

/// Columns are the levels of one of the other factors, so that a table of pairs stays short.
fn devices(analysis: &Analysis, speed_up: &SpeedUp) -> Table {
    let columns = columns(analysis, speed_up);
    let is_column = |level: &&LevelFacts| Some(&level.factor) == columns.factor.as_ref();
    let mut table = Table::default();
    let others = speed_up.lines.first().map_or(&[][..], |l| &l.levels);
    for other in others.iter().filter(|l| !is_column(l)) {
        table.text(&other.factor);
    }
    table.text(&speed_up.factor);
    for (place, level) in columns.levels.iter().enumerate() {
        table.number(&match (&columns.factor, place) {
            (Some(factor), 0) => format!("{factor} {level}"),
            (Some(_), _) => level.clone(),
            (None, _) => word!("speed-up").to_owned(),
        });
    }
    let mut places: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
    for line in &speed_up.lines {
        for point in &line.points {
            let others = line.levels.iter().filter(|l| !is_column(l));
            let mut key: Vec<&str> = others.map(|l| l.level.as_str()).collect();
            key.push(&point.level.level);
            let place = *places.entry(key.clone()).or_insert_with(|| {
                let mut row: Vec<TableCell> = key.iter().map(|k| TableCell::new(*k)).collect();
                if let Some(last) = row.last_mut() {
                    last.text = message!(
                        "speed-up-over",
                        one = point.level.level,
                        other = line.baseline.level
                    );
                }
                row.resize(key.len() + columns.levels.len(), TableCell::none());
                table.rows.push(row);
                table.rows.len() - 1
            });
            let own = line.levels.iter().find(|l| is_column(l));
            let column = match own {
                Some(own) => columns.levels.iter().position(|l| *l == own.level),
                None => Some(0),
            };
            if let Some(column) = column {
                let cell = TableCell::new(times(point)).small(bounds(point).unwrap_or_default());
                table.rows[place][key.len() + column] = cell;
            }
        }
    }
    table.cut()
}

struct Columns {
    factor: Option<String>,
    levels: Vec<String>,
}

/// The factor that is also the figure's axis; else the one with the most levels.
fn columns(analysis: &Analysis, speed_up: &SpeedUp) -> Columns {
    if let Some(sweep) = pivot(analysis, speed_up) {
        return Columns {
            factor: Some(sweep.factor.clone()),
            levels: sweep.levels.iter().map(|l| l.level.clone()).collect(),
        };
    }
    let mut factors: Vec<Columns> = Vec::new();
    for level in speed_up.lines.iter().flat_map(|l| &l.levels) {
        let is_it = |f: &Columns| f.factor.as_ref() == Some(&level.factor);
        let new = || Columns {
            factor: Some(level.factor.clone()),
            levels: Vec::new(),
        };
        push_new(
            &mut entry(&mut factors, is_it, new).levels,
            level.level.clone(),
        );
    }
    // The first of equals.
    let largest = factors.into_iter().rev().max_by_key(|f| f.levels.len());
    largest.unwrap_or(Columns {
        factor: None,
        levels: vec![String::new()],
    })
}

/// The sweep along whose factor a device's speed-up is laid out.
pub(crate) fn pivot<'a>(analysis: &'a Analysis, speed_up: &SpeedUp) -> Option<&'a Sweep> {
    let levels = &speed_up.lines.first()?.levels;
    let has = |name: &str| levels.iter().any(|l| l.factor == name);
    analysis.sweeps.iter().find(|s| has(&s.factor))
}

fn times(point: &SpeedUpPoint) -> String {
    format!(
        "{}×",
        format::significant(point.speed_up.value, digits(point))
    )
}

fn bounds(point: &SpeedUpPoint) -> Option<String> {
    let interval = point.speed_up.interval?;
    let write = |v: f64| format::significant(v, digits(point));
    Some(format::interval(interval.low, interval.high, write))
}

/// Two, or three where the ends of the interval would otherwise look the same.
fn digits(point: &SpeedUpPoint) -> i32 {
    let two = |v: f64| format::significant(v, 2);
    match point.speed_up.interval {
        Some(i) if two(i.low) == two(i.high) || i.high >= 9.95 => 3,
        None if point.speed_up.value >= 9.95 => 3,
        _ => 2,
    }
}
