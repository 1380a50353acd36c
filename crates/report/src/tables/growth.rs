//! Laws of growth: a row a combination of the other factors.

use analyse::{Analysis, GrowthLaw, GrowthLine, GrowthResult, format, law_name};

use super::{Table, TableCell, Tone, currency_symbol};

pub(crate) fn growth_table(analysis: &Analysis, growth: &GrowthResult) -> Table {
    let mut table = Table::default();
    for other in growth.lines.first().map_or(&[][..], |l| &l.levels) {
        table.text(&other.factor);
    }
    table.text("law");
    table.text("parameters");
    table.text("other laws");
    table.number("predicted beyond");
    let priced = growth.lines.iter().any(|line| line.cheapest.is_some());
    if priced {
        table.number("cheapest");
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
        format!("{} {value}{}", parameter.name, ends.unwrap_or_default())
    });
    let parameters: Vec<String> = parameters.collect();
    let others = law.laws.iter().skip(1).map(|fit| {
        let name = law_name(fit.law, growth.kind);
        format!("{name} +{}", format::significant(fit.aicc_above_best, 2))
    });
    let others: Vec<String> = others.collect();
    let fit = law.laws.first().map(|fit| {
        let p = format::p_value(fit.lack_of_fit_p);
        format!(
            "lack of fit p {p}, {} runs, {} levels",
            law.runs, law.levels
        )
    });
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
        TableCell::new(law_name(law.law, growth.kind)).small(fit.unwrap_or_default()),
        TableCell::new(parameters.join("; ")),
        TableCell::new(others.join(", ")),
        furthest.unwrap_or_else(TableCell::none),
    ]
}

fn refused(line: &GrowthLine) -> Vec<TableCell> {
    let reason = line.refusal.as_ref().map(ToString::to_string);
    vec![
        TableCell::new("none").tone(Tone::Absent),
        TableCell::new(reason.unwrap_or_default()),
        TableCell::none(),
        TableCell::none(),
    ]
}

fn cheapest(line: &GrowthLine, symbol: &str) -> TableCell {
    line.cheapest
        .as_ref()
        .map_or_else(TableCell::none, |cheapest| {
            let sure = format::percent(cheapest.stability());
            let value = format::significant(cheapest.per_run.value, 3);
            let small = format!("{symbol} {value} a run, in {sure} of resamplings");
            TableCell::new(&cheapest.level.phrase).small(small)
        })
}
