//! Seconds per image against batch, and against whatever else is a number: the curves, the cells
//! that have no time, and the table of both.

use analyse::{Analysis, CellState, MetricInfo, Sweep, SweepCell, SweepLine, format};
use messages::{message, word};

use super::axis::heading;
use super::lines::{Look, Looks, level_axis};
use super::page::Page;
use crate::figure::{Axis, Figure, Mark as FigureMark, Point, Series, Side, Symbol};
use crate::markdown::capital;
use crate::tables::{sweep_table, sweep_unit};

/// Further factors are in the exported analysis.
const MOST_SWEEPS: usize = 3;

pub(super) fn sweeps(page: &mut Page, analysis: &Analysis) {
    let sweeps = analysis.sweeps.iter().take(MOST_SWEEPS);
    let drawn: Vec<(&Sweep, &MetricInfo)> = sweeps
        .filter_map(|s| Some((s, analysis.metric(&s.metric)?)))
        .collect();
    let Some((first, info)) = drawn.first() else {
        return;
    };
    let what = capital(&info.label);
    page.open(
        "sweeps",
        &match drawn.len() {
            1 => message!("sweep-title", what, factor = first.factor),
            _ if drawn.iter().all(|(_, other)| other.name == info.name) => {
                message!("sweep-along", what)
            }
            _ => message!("sweep-along-with-cost", what),
        },
    );
    for (sweep, info) in &drawn {
        if drawn.len() > 1 {
            let what = capital(&info.label);
            page.subtitle(&message!("sweep-title", what, factor = sweep.factor));
        }
        page.figure(&figure(analysis, sweep, info));
        if let Some(table) = sweep_table(analysis, sweep) {
            let caption = message!(
                "sweep-title",
                what = capital(&info.label),
                factor = sweep.factor
            );
            page.table(&caption, &table);
            let without = |c: &SweepCell| MARKS.iter().any(|m| m.state == c.state);
            let result = match sweep.lines.iter().flat_map(|l| &l.cells).any(without) {
                true => word!("sweep-result"),
                false => "",
            };
            page.note(&message!(
                "sweep-note",
                what = capital(&info.label),
                unit = sweep_unit(analysis, sweep, info).name,
                interval = format::percent(analysis.study.confidence),
                result
            ));
        }
    }
    page.close();
}

fn figure(analysis: &Analysis, sweep: &Sweep, info: &MetricInfo) -> Figure {
    let unit = sweep_unit(analysis, sweep, info);
    let looks = Looks::new(sweep.lines.iter().map(|l| l.phrase.as_str()));
    let mut series = Vec::new();
    let mut marks_at = vec![0; sweep.levels.len()];
    for (line, look) in sweep.lines.iter().zip(&looks.looks) {
        let drawn = Drawn {
            analysis,
            sweep,
            line,
            look,
            info,
            scale: unit.scale,
        };
        series.push(drawn.times());
        series.extend(drawn.ended(&mut marks_at));
    }
    let cells = || sweep.lines.iter().flat_map(|l| &l.cells);
    let marks: Vec<String> = MARKS
        .iter()
        .filter(|m| cells().any(|c| c.state == m.state))
        .map(|m| format!("{} {}", m.sign, m.state.words()))
        .collect();
    let marks = match marks.is_empty() {
        true => String::new(),
        false => message!("sweep-marks", marks = marks.join(", ")),
    };
    let values: Vec<f64> = sweep.levels.iter().map(|l| l.value).collect();
    let caption = message!(
        "sweep-caption",
        what = capital(&info.label),
        factor = sweep.factor,
        interval = format::percent(analysis.study.confidence),
        marks,
        more = looks.sentence()
    );
    let y = Axis::logarithmic(format!("{} ({})", info.label, unit.name)).switchable();
    Figure::new(caption, 460, level_axis(&sweep.factor, &values), y).with(series)
}

struct Mark {
    state: CellState,
    symbol: Symbol,
    sign: char,
}

const MARKS: [Mark; 3] = [
    Mark {
        state: CellState::OutOfMemory,
        symbol: Symbol::Cross,
        sign: '✕',
    },
    Mark {
        state: CellState::TimedOut,
        symbol: Symbol::Triangle,
        sign: '▲',
    },
    Mark {
        state: CellState::Failed,
        symbol: Symbol::Diamond,
        sign: '◆',
    },
];

/// One line of the figure.
struct Drawn<'a> {
    analysis: &'a Analysis,
    sweep: &'a Sweep,
    line: &'a SweepLine,
    look: &'a Look,
    info: &'a MetricInfo,
    scale: f64,
}

impl Drawn<'_> {
    fn times(&self) -> Series {
        let cells = self.line.cells.iter().zip(&self.sweep.levels);
        let points = cells.map(|(cell, level)| {
            let found = cell.scenario.and_then(|n| self.analysis.scenario(n));
            let mean = found.and_then(|s| s.mean(&self.info.name));
            let margin = mean.and_then(|e| e.margin());
            let says = found.zip(mean).map(|(scenario, mean)| {
                let value = format::duration(mean.value);
                format!("{}\n{} {value}", heading(scenario), self.info.label)
            });
            Point::new(level.value, mean.map(|e| e.value / self.scale))
                .margin(margin.map(|m| m / self.scale))
                .says(says.unwrap_or_default())
        });
        self.look.line().with(points)
    }

    /// Cells without a time, above those that other lines have there already.
    fn ended(&self, marks_at: &mut [usize]) -> Option<Series> {
        let mut points = Vec::new();
        let cells = self.line.cells.iter().zip(&self.sweep.levels);
        for ((cell, level), below) in cells.zip(marks_at) {
            let mark = MARKS.iter().find(|m| m.state == cell.state);
            let found = cell.scenario.and_then(|n| self.analysis.scenario(n));
            if let (Some(mark), Some(found)) = (mark, found) {
                let says = format!("{}\n{}", heading(found), cell.state.words());
                points.push(Point {
                    symbol: mark.symbol,
                    ..Point::new(level.value, 9.0 + 13.0 * *below as f64).says(says)
                });
                *below += 1;
            }
        }
        let series = self.look.marks(FigureMark::Symbols { size: 9.0 });
        (!points.is_empty()).then(|| Series {
            on: Side::Foot,
            ..series.with(points)
        })
    }
}
