//! The lines of a bill.

use analyse::{BillFacts, format};
use model::{BillLine, LineKind, Money};

use super::{Table, TableCell, Tone};

/// One row a line, the total last.
pub(crate) fn bill_table(facts: &BillFacts) -> Table {
    let mut table = Table::default();
    table.text("line");
    table.number("counted");
    table.number("unit price");
    table.number("amount");
    for line in &facts.example.lines {
        let tone = match line.kind.is_unused_time() {
            true => Tone::Warning,
            false => Tone::Plain,
        };
        table.rows.push(vec![
            TableCell {
                text: line.what.clone(),
                small: what_for(line).to_owned(),
                tone,
            },
            cell(counted(line)),
            cell(unit_price(line)),
            cell(format::exact_money(&line.amount)),
        ]);
    }
    let total = format::exact_money(&facts.example.total);
    table.rows.push(vec![
        cell("total".to_owned()),
        cell(String::new()),
        cell(String::new()),
        cell(total),
    ]);
    table
}

/// Where the unit prices were read that are not the machine's.
pub(crate) fn charge_sources(facts: &BillFacts) -> Vec<String> {
    let lines = facts.example.lines.iter();
    let sources = lines.filter_map(|line| {
        let counted = line.counted.as_ref()?;
        Some(format!(
            "{}: {}, {}.",
            line.what, counted.source, counted.date
        ))
    });
    sources.collect()
}

fn cell(text: String) -> TableCell {
    TableCell {
        text,
        ..TableCell::default()
    }
}

fn what_for(line: &BillLine) -> &'static str {
    match line.kind {
        LineKind::Idle | LineKind::Rounding | LineKind::Minimum => "paid, not used",
        LineKind::Lost => "an expectation",
        _ => "",
    }
}

fn counted(line: &BillLine) -> String {
    match &line.counted {
        Some(counted) => format!("{} {}", counted.quantity.normalize(), counted.unit.word()),
        None if line.seconds.is_zero() => String::new(),
        None => format!("{} s", line.seconds.normalize()),
    }
}

fn unit_price(line: &BillLine) -> String {
    let of = |price: &Money, unit: &str| format!("{}/{unit}", format::exact_money(price));
    match (&line.counted, &line.per_hour) {
        (Some(counted), _) => of(&counted.unit_price, counted.unit.word()),
        (None, Some(hour)) => of(hour, "h"),
        (None, None) => String::new(),
    }
}
