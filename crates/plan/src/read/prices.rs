//! Prices as a study writes them: `[prices]`, own machines, prices that move.

use cost::{Catalog, LookupError, LookupProblem, own_machine_per_hour, rules};
use diagnostics::{Diagnostic, Located, Problems, Table, Value};
use model::money::{PriceChange, PricedShape};
use model::{BillingRule, Money, OwnMachine, Price, Timestamp};
use rust_decimal::Decimal;

use super::{Typed, billing, take};
use crate::values;

/// The `machine` of a price that stands in the study without a name.
pub(super) const OWN: &str = Price::TYPED_IN;
pub(super) const UNDATED: &str = "undated";
/// Beyond every machine for rent, and still far from what decimals can count.
const MAX_PER_HOUR: Decimal = Decimal::from_parts(1_000_000_000, 0, 0, false, 0);

/// Prices that have names, the study's own first.
pub(super) struct Known<'c> {
    pub(super) named: Vec<Price>,
    pub(super) catalog: &'c Catalog,
}

/// `[prices]`: `lab = "0.20 USD/h"`, or a table with where the price comes from. A name of the
/// catalog takes the place of the catalog's price.
pub(super) fn read(typed: &Typed<'_>, top: &Table<'_>) -> Vec<Price> {
    let Some(table) = top.table("prices") else {
        return Vec::new();
    };
    let mut prices = Vec::new();
    for (name, value) in table.entries() {
        let price = match value.kind() {
            "string" => value
                .text(name.value)
                .and_then(|text| take::parse_located(text, values::price_per_hour, top.problems))
                .map(|money| written_price(typed, money.value)),
            _ => read_named(typed, name.value, value),
        };
        prices.extend(price.map(|price| Price {
            machine: name.value.to_owned(),
            ..price
        }));
    }
    prices
}

fn read_named(typed: &Typed<'_>, name: &str, value: &Value<'_>) -> Option<Price> {
    let table = value.table(&format!("prices.{name}"))?;
    let per_hour = take::parsed(&table, "per_hour", values::money);
    let own = read_own(typed, &table);
    let source = table.text("source").map(|t| t.value);
    let date = take::date(typed, &table, "date").map(|d| d.value);
    let mut rule = own
        .as_ref()
        .map_or_else(BillingRule::default, |own| own.billing.clone());
    billing::read(typed, &table, &mut rule, None);
    let changes = read_changes(typed, &table);
    let vcpus = match table.key_span("vcpus") {
        Some(_) => decimal(typed, &table, "vcpus"),
        None => table.get("vcpus").and(None),
    };
    let given = ["per_hour", "own"].map(|key| table.key_span(key).is_some());
    if given[0] == given[1] {
        let message = format!("[prices.{name}] needs either `per_hour` or `own`");
        value.complain(table.wrong(message));
    }
    let changes_span = take::key_span(&table, "changes");
    if given[1] && !changes.is_empty() {
        let wrong = Diagnostic::at(changes_span.clone(), "your own machine has a fixed price");
        value.complain(wrong.label("`changes` needs `per_hour`"));
    }
    table.finish();
    let price = match own {
        Some(own) => own,
        None => written_price(typed, per_hour?.value),
    };
    check_changes(&changes, &price, &changes_span, value.problems);
    Some(Price {
        source: source.unwrap_or_else(|| typed.origin.to_owned()),
        date: date.unwrap_or_else(|| UNDATED.to_owned()),
        billing: rule,
        shape: PricedShape {
            vcpus,
            ..PricedShape::default()
        },
        changes: changes
            .into_iter()
            .map(|change| change.value.change)
            .collect(),
        ..price
    })
}

/// A price of an amount that is written there.
pub(super) fn written_price(typed: &Typed<'_>, per_hour: Money) -> Price {
    Price {
        source: typed.origin.to_owned(),
        date: UNDATED.to_owned(),
        ..Price::typed_in(per_hour)
    }
}

/// A change and the currency it was written in.
struct Change {
    change: PriceChange,
    money: Money,
}

/// `changes = [{ from = 2026-11-16T12:00:00Z, per_hour = "0.05 USD" }]`.
fn read_changes(typed: &Typed<'_>, parent: &Table<'_>) -> Vec<Located<Change>> {
    let values = parent.array("changes").unwrap_or_default();
    let mut changes = Vec::new();
    for value in values {
        let Some(table) = value.table("changes") else {
            continue;
        };
        let from = table.required("from");
        let from = from.and_then(|from| {
            let text = from.as_text().unwrap_or_else(|| typed.at(&from.span));
            let moment = moment(text);
            if moment.is_none() {
                let wrong = from.wrong("`from` must be a date and time");
                parent.complain(wrong.label("such as 2026-11-16T12:00:00Z"));
            }
            moment
        });
        let per_hour = take::required_parsed(&table, "per_hour", values::money);
        table.finish();
        if let (Some(from), Some(money)) = (from, per_hour) {
            let change = PriceChange {
                from,
                per_hour: money.value.amount,
            };
            changes.push(Located {
                value: Change {
                    change,
                    money: money.value,
                },
                span: value.span.clone(),
            });
        }
    }
    changes
}

/// A day alone is its beginning.
fn moment(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let day = || format!("{text}T00:00:00Z").parse().ok();
    text.parse().ok().or_else(day)
}

fn check_changes(
    changes: &[Located<Change>],
    price: &Price,
    whole: &diagnostics::Span,
    problems: &Problems,
) {
    let currency = price.per_hour.currency;
    for change in changes {
        if change.value.money.currency != currency {
            let message = format!("the price is in {currency}, but this change is not");
            problems.push(change.wrong(message));
        }
    }
    let in_order = changes
        .windows(2)
        .all(|two| two[0].value.change.from < two[1].value.change.from);
    if !in_order {
        let wrong = Diagnostic::at(whole.clone(), "the changes are not in chronological order");
        problems.push(wrong.label("each must start after the previous one"));
    }
}

/// `price = …`: an amount, a name of `[prices]`, or a name of the catalog.
/// `memory_mb` is that of a worker, for prices of memory.
pub(super) fn look_up(
    typed: &Typed<'_>,
    text: &Located<String>,
    known: &Known<'_>,
    memory_mb: Option<u32>,
    problems: &Problems,
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
            problems.push(money.wrong("no machine costs that much per hour"));
            return None;
        }
        return Some(written_price(typed, money.value));
    }
    let by_memory = rules().named(&text.value);
    if let Some(rule) = by_memory.filter(|rule| rule.per_gb_second.is_some()) {
        return price_of_memory(typed, text, rule, memory_mb, problems);
    }
    match known.catalog.price(&text.value) {
        Ok(price) => {
            // The study's own price of that machine, whichever of its names each is written by.
            let is_same = |own: &&Price| {
                let found = known.catalog.price(&own.machine);
                found.is_ok_and(|found| found.machine == price.machine)
            };
            let own = known.named.iter().find(is_same);
            Some(own.cloned().unwrap_or(price))
        }
        Err(error) => {
            problems.push(not_found(text, &error));
            None
        }
    }
}

/// Several machines as one price: the largest, with the smaller ones as its sizes.
pub(super) fn sizes(mut found: Vec<Located<Price>>, problems: &Problems) -> Option<Price> {
    let first = found.first()?.value.per_hour.currency;
    for price in &found {
        let Price {
            machine,
            per_hour,
            shape,
            ..
        } = &price.value;
        let wrong = match shape.vcpus {
            None => format!("the number of cores of `{machine}` is unknown"),
            Some(_) if per_hour.currency != first => format!(
                "`{machine}` is priced in {}, the first in {first}",
                per_hour.currency
            ),
            Some(_) => continue,
        };
        let wrong = price.wrong(wrong);
        problems.push(wrong.note("list machines of the catalog: each run pays for the cheapest with enough cores; a price of [prices] needs `vcpus`"));
        return None;
    }
    found.sort_by_key(|price| price.value.shape.vcpus);
    let mut all: Vec<Price> = found.into_iter().map(|price| price.value).collect();
    let largest = all.pop()?;
    Some(Price {
        sizes: all,
        ..largest
    })
}

/// `aws/lambda`: so much for a gigabyte and second, by the memory of the environment's workers.
fn price_of_memory(
    typed: &Typed<'_>,
    text: &Located<String>,
    rule: &cost::ProviderRule,
    memory_mb: Option<u32>,
    problems: &Problems,
) -> Option<Price> {
    let Some(memory_mb) = memory_mb else {
        let message = format!("`{}` is billed by the memory of a worker", text.value);
        let missing = text.wrong(message);
        problems.push(missing.label("add serverless = { memory = 2048 }"));
        return None;
    };
    Some(Price {
        machine: format!("{} {memory_mb} MB", rule.name),
        source: rule.source.clone(),
        date: rule.since.clone().unwrap_or_else(|| UNDATED.to_owned()),
        billing: rule.billing(Some(memory_mb)),
        ..written_price(typed, rule.per_hour(memory_mb)?)
    })
}

fn not_found(text: &Located<String>, error: &LookupError) -> Diagnostic {
    let name = &text.value;
    let message = match error.problem {
        LookupProblem::Unknown => format!("unknown price `{name}`"),
        LookupProblem::SeveralRegions => format!("`{name}` exists in several regions"),
        LookupProblem::OnlySpot | LookupProblem::NoSpot => error.to_string(),
    };
    let mut diagnostic = text.wrong(message);
    if let Some(nearest) = error.suggestions.first() {
        diagnostic = diagnostic.label(format!("did you mean `{nearest}`?"));
    }
    if error.suggestions.len() > 1 {
        diagnostic = diagnostic.note(format!("also known: {}", error.suggestions[1..].join(", ")));
    }
    diagnostic.note("or give an amount, such as \"0.169 USD/h\", or your own under [prices]")
}

/// `own = { purchase = "5000 USD", years = 4, watts = 450, electricity = "0.15 USD/kWh" }`.
pub(super) fn read_own(typed: &Typed<'_>, parent: &Table<'_>) -> Option<Price> {
    let table = parent.table("own")?;
    let money = |key: &str, parse: fn(&str) -> Result<Money, String>| {
        take::required_parsed(&table, key, parse)
    };
    let purchase = money("purchase", values::money);
    let electricity = money("electricity", values::price_per_kilowatt_hour);
    let years = decimal(typed, &table, "years");
    let watts = decimal(typed, &table, "watts");
    let hours_per_day = match table.key_span("hours_per_day") {
        Some(_) => Some(decimal(typed, &table, "hours_per_day")?),
        None => table.get("hours_per_day").and(None),
    };
    let span = take::key_span(parent, "own");
    table.finish();
    let machine = OwnMachine {
        purchase: purchase?.value,
        years: years?,
        watts: watts?,
        electricity_per_kilowatt_hour: electricity?.value,
        hours_per_day,
    };
    let per_hour = own_machine_per_hour(&machine)
        .map_err(|error| parent.complain(Diagnostic::at(span, error)))
        .ok()?;
    Some(Price {
        own: Some(machine),
        // Nobody rounds it up.
        billing: BillingRule {
            step_seconds: 0,
            ..BillingRule::default()
        },
        ..written_price(typed, per_hour)
    })
}

/// A number, exactly as typed, bare or in quotes.
pub(super) fn decimal(typed: &Typed<'_>, table: &Table<'_>, key: &str) -> Option<Decimal> {
    let value = table.required(key)?;
    let text = value.as_text().unwrap_or_else(|| typed.at(&value.span));
    let number = values::decimal(text);
    if number.is_none() {
        table.complain(value.wrong(format!("`{key}` must be a decimal number")));
    }
    number
}
