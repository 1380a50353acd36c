//! Laws of growth: a row a combination of the other factors.

use analyse::{Analysis, GrowthLaw, GrowthLine, GrowthResult, format, law_name, refusal_of_law};
use messages::{message, word};

use super::{Table, TableCell, Tone, currency_symbol};

pub(crate) fn growth_table(analysis: &Analysis, growth: &GrowthResult) -> Table {
    let mut table = Table::default();
    for other in growth.lines.first().map_or(&[][..], |l| &l.levels) {
        table.text(&other.factor);
    }
    table.text(word!("growth-law"));
    table.text(word!("growth-parameters"));
    table.number(word!("growth-beyond"));
    let priced = growth.lines.iter().any(|line| line.cheapest.is_some());
    if priced {
        table.number(word!("goal-cheapest"));
    }
    let symbol = currency_symbol(analysis);
    for line in &growth.lines {
        let levels = line.levels.iter().map(|l| TableCell::new(&l.level));
        let mut row: Vec<TableCell> = levels.collect();
        match &line.law {
            Some(law) => row.extend(stated(growth, law)),
            None => row.extend(refused(line)),
        }
        if priced {
            row.push(cheapest(line, &symbol));
        }
        table.rows.push(row);
    }
    table.cut()
}

fn stated(growth: &GrowthResult, law: &GrowthLaw) -> Vec<TableCell> {
    let parameters = law.parameters.iter().map(|parameter| {
        let write = |v: f64| format::significant(v, 2);
        let estimate = &parameter.estimate;
        let ends = estimate.interval;
        let ends = ends.map(|i| format!(" {}", format::interval(i.low, i.high, write)));
        let value = write(estimate.value);
        let name = parameter.name.replace(' ', "-");
        let name = messages::named("law-parameter", &name).unwrap_or(parameter.name);
        format!("{name} {value}{}", ends.unwrap_or_default())
    });
    let parameters: Vec<String> = parameters.collect();
    let furthest = law.furthest().map(|predicted| {
        let ends = predicted.typical.interval;
        let ends = ends.map(|i| format::interval(i.low, i.high, format::duration));
        TableCell::new(format!(
            "{}: {}",
            (predicted.at * 1e4).round() / 1e4,
            format::duration(predicted.typical.value)
        ))
        .small(ends.unwrap_or_default())
    });
    vec![
        TableCell::new(law_name(law.law, growth.kind)),
        TableCell::new(parameters.join("; ")),
        furthest.unwrap_or_else(TableCell::none),
    ]
}

fn refused(line: &GrowthLine) -> Vec<TableCell> {
    let reason = line.refusal.as_ref().map(refusal_of_law);
    vec![
        TableCell::new(word!("growth-no-law-here")).tone(Tone::Absent),
        TableCell::new(reason.unwrap_or_default()),
        TableCell::none(),
    ]
}

fn cheapest(line: &GrowthLine, symbol: &str) -> TableCell {
    line.cheapest
        .as_ref()
        .map_or_else(TableCell::none, |cheapest| {
            let sure = format::percent(cheapest.stability());
            let value = format::significant(cheapest.per_run.value, 3);
            let money = message!("money", symbol, amount = value);
            TableCell::new(&cheapest.level.phrase).small(message!("growth-sure", money, sure))
        })
}
