//! The lines of a bill.

use analyse::{BillFacts, format, phase_words, unit_words};
use messages::{date, word};
use model::money::Unit;
use model::{Bill, BillLine, LineKind, Money};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use super::{Table, TableCell, Tone};
use crate::text::decimal;

/// One row a line, the total last.
pub(crate) fn bill_table(facts: &BillFacts) -> Table {
    let mut table = Table::new(
        &[word!("bill-line")],
        &[
            word!("bill-counted"),
            word!("bill-unit-price"),
            word!("bill-amount"),
        ],
    );
    for line in &facts.example.lines {
        let tone = match line.kind.is_unused_time() {
            true => Tone::Warning,
            false => Tone::Plain,
        };
        table.rows.push(vec![
            TableCell::new(phase_words(&line.what))
                .small(what_for(line))
                .tone(tone),
            TableCell::new(counted(line)),
            TableCell::new(unit_price(line)),
            TableCell::new(format::amount(&line.amount)),
        ]);
    }
    table.rows.push(total_row(&facts.example));
    table
}

fn total_row(bill: &Bill) -> Vec<TableCell> {
    let amount = format::amount(&bill.total);
    let name = TableCell::new(word!("bill-total"));
    let (name, total) = match bill.is_lower_bound() {
        true => (
            name.small(word!("bill-capped")).tone(Tone::Warning),
            format!("{} {amount}", word!("totals-at-least")),
        ),
        false => (name, amount),
    };
    let empty = TableCell::default;
    vec![name, empty(), empty(), TableCell::new(total)]
}

/// Where the unit prices were read that are not the machine's.
pub(crate) fn charge_sources(facts: &BillFacts) -> Vec<String> {
    let lines = facts.example.lines.iter();
    let sources = lines.filter_map(|line| {
        let counted = line.counted.as_ref()?;
        Some(format!(
            "{}: {}, {}.",
            line.what,
            counted.source,
            date(&counted.date)
        ))
    });
    sources.collect()
}

fn what_for(line: &BillLine) -> &'static str {
    match line.kind {
        LineKind::Idle | LineKind::Rounding | LineKind::Minimum => word!("bill-not-used"),
        LineKind::Lost | LineKind::LostCapped => word!("bill-expected"),
        _ => "",
    }
}

const HOUR_SECONDS: Decimal = Decimal::from_parts(3600, 0, 0, false, 0);

/// As everywhere; the exports have all the digits.
fn duration(seconds: Decimal) -> String {
    format::duration(seconds.to_f64().unwrap_or(f64::NAN))
}

fn counted(line: &BillLine) -> String {
    match &line.counted {
        Some(counted) if counted.unit == Unit::Hour => {
            duration(counted.quantity.saturating_mul(HOUR_SECONDS))
        }
        Some(counted) => {
            let quantity = decimal(counted.quantity.normalize());
            format!("{quantity} {}", unit_words(counted.unit))
        }
        None if line.seconds.is_zero() => String::new(),
        None => duration(line.seconds),
    }
}

fn unit_price(line: &BillLine) -> String {
    let of = |price: &Money, unit: &str| format!("{}/{unit}", format::exact_money(price));
    match (&line.counted, &line.per_hour) {
        (Some(counted), _) => of(&counted.unit_price, unit_words(counted.unit)),
        (None, Some(hour)) => of(hour, word!("per-h")),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::money::Counted;

    #[test]
    fn time_is_said_as_everywhere() {
        let line = |seconds: i64, counted: Option<(&str, Unit)>| BillLine {
            seconds: Decimal::from(seconds),
            counted: counted
                .map(|(quantity, unit)| Counted {
                    quantity: quantity.parse().unwrap(),
                    unit,
                    unit_price: Money::zero(model::Currency::USD),
                    source: String::new(),
                    date: String::new(),
                })
                .map(Box::new),
            what: String::new(),
            kind: LineKind::Rounding,
            phase: None,
            per_hour: None,
            amount: Money::zero(model::Currency::USD),
        };
        let check = |line: BillLine, expected: &str| assert_eq!(counted(&line), expected);
        check(line(48, None), "48.0 s");
        check(line(0, Some(("0.0134", Unit::Hour))), "48.2 s");
        check(line(0, Some(("2.5", Unit::Gigabyte))), "2.5 GB");
        check(line(0, None), "");
    }
}
