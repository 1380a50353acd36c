//! Prices as a study writes them: `[prices]`, own machines, billing rules.

use cost::{Catalog, LookupError, LookupProblem, OwnMachine, own_machine_per_hour};
use model::{BillingRule, Money, PaidPhases, Price};
use rust_decimal::Decimal;
use source::{Diagnostic, Located, Problems, Table, Value};

use super::{Typed, take};
use crate::values;

/// The `machine` of a price that stands in the study without a name.
pub(super) const OWN: &str = "own";
const THIS_FILE: &str = "the study file";
const UNDATED: &str = "undated";
/// Beyond every machine for rent, and still far from what decimals can count.
const MAX_PER_HOUR: Decimal = Decimal::from_parts(1_000_000_000, 0, 0, false, 0);

/// Prices that have names, the study's own first.
pub(super) struct Known<'c> {
    pub(super) named: Vec<Price>,
    pub(super) catalog: &'c Catalog,
}

/// `[prices]`: `lab = "0.20 USD/h"`, or a table with where the price comes from. A name of the
/// catalog takes the place of the catalog's price.
pub(super) fn read(typed: &Typed<'_>, top: &Table<'_>, problems: &mut Problems) -> Vec<Price> {
    let Some(table) = top.table("prices", problems) else {
        return Vec::new();
    };
    let mut prices = Vec::new();
    for (name, value) in table.entries() {
        let price = match value.kind() {
            "string" => value
                .text(name.value, problems)
                .and_then(|text| take::parse_located(text, values::price_per_hour, problems))
                .map(|money| written_price(money.value)),
            _ => read_named(typed, name.value, value, problems),
        };
        prices.extend(price.map(|price| Price {
            machine: name.value.to_owned(),
            ..price
        }));
    }
    prices
}

fn read_named(
    typed: &Typed<'_>,
    name: &str,
    value: &Value<'_>,
    problems: &mut Problems,
) -> Option<Price> {
    let table = value.table(&format!("prices.{name}"), problems)?;
    let per_hour = take::parsed(&table, "per_hour", values::money, problems);
    let own = read_own(typed, &table, problems);
    let source = table.text("source", problems).map(|t| t.value);
    let date = take::date(typed, &table, "date", problems).map(|d| d.value);
    let mut billing = BillingRule::default();
    read_billing(&table, &mut billing, problems);
    let given = ["per_hour", "own"].map(|key| table.key_span(key).is_some());
    if given[0] == given[1] {
        let message = format!("[prices.{name}] needs `per_hour` or `own`, one of them");
        problems.push(Diagnostic::at(table.span.clone(), message));
    }
    table.finish(problems);
    let per_hour = own.or_else(|| per_hour.map(|money| money.value))?;
    Some(Price {
        source: source.unwrap_or_else(|| THIS_FILE.to_owned()),
        date: date.unwrap_or_else(|| UNDATED.to_owned()),
        billing,
        ..written_price(per_hour)
    })
}

/// A price of an amount written in the study.
pub(super) fn written_price(per_hour: Money) -> Price {
    Price {
        machine: OWN.to_owned(),
        per_hour,
        source: THIS_FILE.to_owned(),
        date: UNDATED.to_owned(),
        billing: BillingRule::default(),
    }
}

/// `price = …`: an amount, a name of `[prices]`, or a name of the catalog.
pub(super) fn look_up(
    text: &Located<String>,
    known: &Known<'_>,
    problems: &mut Problems,
) -> Option<Price> {
    if let Some(price) = known.named.iter().find(|p| p.machine == text.value) {
        return Some(price.clone());
    }
    if text
        .value
        .trim_start()
        .starts_with(|c: char| c.is_ascii_digit() || c == '-')
    {
        let money = take::parse_located(text.clone(), values::price_per_hour, problems)?;
        if money.value.amount > MAX_PER_HOUR {
            problems.push(Diagnostic::at(
                money.span,
                "no machine costs that much an hour",
            ));
            return None;
        }
        return Some(written_price(money.value));
    }
    match known.catalog.price(&text.value) {
        Ok(price) => Some(price),
        Err(error) => {
            problems.push(not_found(text, &error));
            None
        }
    }
}

fn not_found(text: &Located<String>, error: &LookupError) -> Diagnostic {
    let name = &text.value;
    let message = match error.problem {
        LookupProblem::Unknown => format!("unknown price `{name}`"),
        LookupProblem::SeveralRegions => format!("`{name}` is known in several regions"),
        LookupProblem::OnlySpot | LookupProblem::NoSpot => error.to_string(),
    };
    let mut diagnostic = Diagnostic::at(text.span.clone(), message);
    if let Some(nearest) = error.suggestions.first() {
        diagnostic = diagnostic.label(format!("did you mean `{nearest}`?"));
    }
    if error.suggestions.len() > 1 {
        diagnostic = diagnostic.note(format!("also known: {}", error.suggestions[1..].join(", ")));
    }
    diagnostic.note("or give an amount, such as \"0.169 USD/h\", or your own under [prices]")
}

/// `own = { purchase = "5000 USD", years = 4, watts = 450, electricity = "0.15 USD/kWh" }`.
pub(super) fn read_own(
    typed: &Typed<'_>,
    parent: &Table<'_>,
    problems: &mut Problems,
) -> Option<Money> {
    let table = parent.table("own", problems)?;
    let mut money = |key: &str, parse: fn(&str) -> Result<Money, String>| {
        take::required_parsed(&table, key, parse, problems)
    };
    let purchase = money("purchase", values::money);
    let electricity = money("electricity", values::price_per_kilowatt_hour);
    let years = decimal(typed, &table, "years", problems);
    let watts = decimal(typed, &table, "watts", problems);
    let hours_per_day = match table.key_span("hours_per_day") {
        Some(_) => Some(decimal(typed, &table, "hours_per_day", problems)?),
        None => table.get("hours_per_day").and(None),
    };
    let span = take::key_span(parent, "own");
    table.finish(problems);
    let machine = OwnMachine {
        purchase: purchase?.value,
        years: years?,
        watts: watts?,
        electricity_per_kilowatt_hour: electricity?.value,
        hours_per_day,
    };
    own_machine_per_hour(&machine)
        .map_err(|error| problems.push(Diagnostic::at(span, error.to_string())))
        .ok()
}

/// A number, exactly as typed, bare or in quotes.
pub(super) fn decimal(
    typed: &Typed<'_>,
    table: &Table<'_>,
    key: &str,
    problems: &mut Problems,
) -> Option<Decimal> {
    let value = table.required(key, problems)?;
    let text = value.as_text().unwrap_or_else(|| typed.at(&value.span));
    let number = values::decimal(text);
    if number.is_none() {
        problems.push(Diagnostic::at(
            value.span,
            format!("`{key}` must be a decimal number"),
        ));
    }
    number
}

/// `billing = { step = "60s", minimum = "10min", paid = ["train"] }`; what is left out stays.
pub(super) fn read_billing(parent: &Table<'_>, rule: &mut BillingRule, problems: &mut Problems) {
    let Some(table) = parent.table("billing", problems) else {
        return;
    };
    if let Some(step) = take::parsed(&table, "step", whole_seconds, problems) {
        rule.step_seconds = step.value;
    }
    if let Some(minimum) = take::parsed(&table, "minimum", whole_seconds, problems) {
        rule.minimum_seconds = minimum.value;
    }
    match table.get("paid") {
        Some(value) if value.as_text() == Some("all") => rule.paid = PaidPhases::All,
        Some(value) if value.as_text() == Some("requests") => rule.paid = PaidPhases::Requests,
        Some(value) if value.kind() == "array" => {
            let phases = take::texts(&value, "paid", problems);
            if phases.is_empty() {
                let nothing = Diagnostic::at(value.span, "no phase is paid");
                problems.push(nothing.label("name some, or write paid = \"all\""));
            }
            rule.paid = PaidPhases::Only(phases.into_iter().map(|p| p.value).collect());
        }
        Some(value) => {
            let wrong = Diagnostic::at(
                value.span,
                "`paid` must be \"all\", \"requests\" or a list of phases",
            );
            problems.push(wrong.label("such as [\"train\"]"));
        }
        None => {}
    }
    table.finish(problems);
}

fn whole_seconds(text: &str) -> Result<u32, String> {
    let seconds = values::duration_seconds(text)?;
    match seconds.fract() == 0.0 && seconds <= f64::from(u32::MAX) {
        true => Ok(seconds as u32),
        false => Err(format!(
            "`{text}` is not a whole number of seconds: bills count in those"
        )),
    }
}
