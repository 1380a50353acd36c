//! Money beside the scenarios' costs.

use analyse::{Analysis, Estimate, Target, format};

use super::{Table, TableCell, Tone, currency_symbol};

/// What each scenario takes to get to the accuracy that the study asks for.
pub(crate) fn target_table(analysis: &Analysis, target: &Target) -> Table {
    let mut table = Table::default();
    table.text("scenario");
    for header in ["runs that get there", "time", "cost", "accuracy at the end"] {
        table.number(header);
    }
    let symbol = currency_symbol(analysis);
    for result in &target.scenarios {
        let reached = format!("{} of {}", result.reached, result.runs);
        let reached = match result.reached {
            0 => TableCell::new(reached).tone(Tone::Ended),
            _ => TableCell::new(reached),
        };
        let accuracy = result.accuracy_percent;
        table.rows.push(vec![
            TableCell::new(&result.label).small(result.phrase.clone()),
            reached,
            seconds(result.seconds.as_ref()),
            amount(result.cost.as_ref(), &symbol),
            accuracy.map_or_else(TableCell::none, |percent| {
                TableCell::new(format!("{} %", format::significant(percent, 3)))
            }),
        ]);
    }
    table.cut()
}

fn seconds(estimate: Option<&Estimate>) -> TableCell {
    let Some(estimate) = estimate else {
        return TableCell::none();
    };
    let ends = estimate.interval;
    TableCell::new(format::duration(estimate.value)).small(
        ends.map(|i| format::interval(i.low.max(0.0), i.high, format::duration))
            .unwrap_or_default(),
    )
}

fn amount(estimate: Option<&Estimate>, symbol: &str) -> TableCell {
    let Some(estimate) = estimate else {
        return TableCell::none();
    };
    let quantity = format::quantity(estimate, 1.0);
    let cell = TableCell::new(format!("{symbol} {}", quantity.value));
    match quantity.half_width.as_str() {
        "" => cell,
        half => cell.small(format!("± {half}")),
    }
}
