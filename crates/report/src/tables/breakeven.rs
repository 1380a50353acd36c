//! Break-even points.

use analyse::{Basis, BuyOrRent, Buying, CostVerdict, Estimate, ExpensiveMachine, format};
use messages::word;
use model::Money;

use super::{Table, TableCell, Tone};

/// `None` if nothing that was bought is next to something rented.
pub(crate) fn buying_table(buying: &[BuyOrRent]) -> Option<Table> {
    if buying.is_empty() {
        return None;
    }
    let mut table = Table::new(
        &[word!("even-of"), word!("even-bought"), word!("even-rented")],
        &[
            word!("even-a-month"),
            word!("even-electricity"),
            word!("even-rent"),
            word!("even-time-on-rented"),
            word!("even-from-hours"),
        ],
    );
    for one in buying {
        let from = match (&one.hours_per_month, one.verdict) {
            (Some(hours), Buying::Pays) => {
                TableCell::new(format::whole(hours.value)).interval(hours, format::whole)
            }
            (_, Buying::Inconclusive) => {
                TableCell::new(word!("verdict-inconclusive")).tone(Tone::Ended)
            }
            (Some(hours), _) => TableCell::new(word!("even-not-within"))
                .tone(Tone::Ended)
                .small(format!(
                    "{} {}",
                    format::whole(hours.value),
                    word!("unit-h")
                )),
            (None, _) => TableCell::new(word!("even-never")).tone(Tone::Ended),
        };
        table.rows.push(vec![
            TableCell::new(of(&one.phrase, one.own)),
            TableCell::new(&one.own_environment),
            TableCell::new(&one.rented_environment),
            TableCell::new(format::money(&one.per_month)),
            TableCell::new(rounded(one.electricity_per_hour)),
            TableCell::new(rounded(one.rent_per_hour)),
            ratio(&one.time_ratio),
            from,
        ]);
    }
    Some(table.cut())
}

/// `None` if no two rented machines differ in price.
pub(crate) fn more_expensive_table(more_expensive: &[ExpensiveMachine]) -> Option<Table> {
    if more_expensive.is_empty() {
        return None;
    }
    let mut table = Table::new(
        &[
            word!("even-of"),
            word!("even-verdict-dearer"),
            word!("head-against"),
        ],
        &[
            word!("even-price"),
            word!("even-speed-up"),
            word!("even-measured"),
            word!("even-its-cost"),
        ],
    );
    table.text(word!("head-verdict"));
    for one in more_expensive {
        let even = TableCell::new(format::ratio(one.break_even));
        // Said the way people compare: what of the cheap machine's cost is paid.
        let inverse = |value: f64| format::percent(1.0 / value);
        let cost = TableCell::new(inverse(one.cost_ratio.value)).small(
            one.cost_ratio
                .interval
                .map(|i| format::interval(i.high, i.low, inverse))
                .unwrap_or_default(),
        );
        table.rows.push(vec![
            TableCell::new(of(&one.phrase, one.expensive)),
            TableCell::new(&one.expensive_environment),
            TableCell::new(&one.cheap_environment),
            TableCell::new(format::ratio(one.hour_ratio)),
            match one.basis {
                Basis::Hours => even,
                Basis::Runs => even.small(word!("even-from-bills")),
            },
            ratio(&one.speed_up),
            cost,
            TableCell::new(verdict(one.verdict)),
        ]);
    }
    Some(table.cut())
}

pub(crate) fn verdict(verdict: CostVerdict) -> &'static str {
    match verdict {
        CostVerdict::Cheaper => word!("even-verdict-cheaper"),
        CostVerdict::MoreExpensive => word!("even-verdict-dearer"),
        CostVerdict::Inconclusive => word!("verdict-inconclusive"),
    }
}

/// The levels of the other factors; where there are none, the scenario.
pub(crate) fn of(phrase: &str, scenario: u32) -> String {
    match phrase {
        "" => format!("C{scenario}"),
        phrase => phrase.to_owned(),
    }
}

/// Prices an hour differ in their third digits.
fn rounded(mut money: Money) -> String {
    money.amount = money.amount.round_dp(4);
    format::exact_money(&money)
}

fn ratio(estimate: &Estimate) -> TableCell {
    TableCell::new(format::ratio(estimate.value)).interval(estimate, format::bare_ratio)
}
