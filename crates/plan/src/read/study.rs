//! `[study]`: the question itself.

use diagnostics::{Diagnostic, Located, Table, Value};
use model::{Currency, Role, RunSequence, Until};

use super::draft::{DraftCondition, DraftExclusion, Head};
use super::{Typed, energy, take};
use crate::values;

pub(crate) const ORDERS: &[&str] = &["blocks", "random", "listed"];
pub(crate) const MAX_REPETITIONS: i64 = 10_000;

pub(super) fn read(typed: &Typed<'_>, top: &Table<'_>) -> Head {
    let Some(value) = top.get("study") else {
        let missing = Diagnostic::whole("[study] is missing");
        top.complain(missing.note("a study begins with:  [study]  and  name = \"my-study\""));
        return Head::default();
    };
    let Some(table) = value.table("study") else {
        return Head::default();
    };
    let name = table.required_text("name");
    let objective = table.text("objective").map(|t| t.value);
    let repetitions = take::whole(&table, "repetitions", 1..=MAX_REPETITIONS);
    let seed = take::whole(&table, "seed", 0..=i64::MAX);
    let order = take::word(&table, "order", ORDERS);
    let budget = take::parsed(&table, "budget", values::money);
    let currency = take::parsed(&table, "currency", str::parse::<Currency>);
    let target_accuracy = read_target(&table);
    let roles = read_roles(&table);
    let equal_within = read_equal_within(&table);
    let until = take::parsed(&table, "until", str::parse::<Until>);
    let texts = |key: &str| {
        let list = table.get(key);
        list.map(|list| take::texts(&list, key)).unwrap_or_default()
    };
    let metrics = texts("metrics");
    let pareto = texts("pareto");
    let carbon = energy::read_carbon(typed, &table);
    let exclude = table.array("exclude").unwrap_or_default();
    let head = Head {
        name,
        objective,
        repetitions: repetitions
            .and_then(|r| Some(Located::new(u32::try_from(r.value).ok()?, r.span))),
        seed: seed.and_then(|s| u64::try_from(s.value).ok()),
        order: order.map(|word| match word {
            "random" => RunSequence::Random,
            "listed" => RunSequence::Listed,
            _ => RunSequence::Blocks,
        }),
        budget,
        currency: currency.map(|c| c.value),
        target_accuracy,
        roles,
        equal_within,
        until,
        pareto,
        carbon,
        metrics,
        exclude: exclude
            .iter()
            .filter_map(|rule| read_exclusion(rule, "exclude"))
            .collect(),
    };
    table.finish();
    head
}

fn read_target(table: &Table<'_>) -> Option<f64> {
    let target = table.number("target_accuracy")?;
    match values::checked_percent(target.value) {
        Ok(percent) => Some(percent),
        Err(why) => {
            table.complain(target.wrong(format!("`target_accuracy`: {why}")));
            None
        }
    }
}

/// `{ images = "choice" }`
fn read_roles(table: &Table<'_>) -> Vec<(Located<String>, Role)> {
    let Some(given) = table.table("roles") else {
        return Vec::new();
    };
    let names: Vec<Located<String>> = given
        .entries()
        .map(|(name, _)| name.clone().map(str::to_owned))
        .collect();
    let mut roles = Vec::new();
    for name in names {
        let word = take::word(&given, &name.value, &Role::ALL.map(Role::word));
        roles.extend(word.and_then(Role::named).map(|role| (name, role)));
    }
    roles
}

/// Percent.
fn read_equal_within(table: &Table<'_>) -> Option<f64> {
    let within = table.number("equal_within")?;
    if within.value > 0.0 && within.value <= 50.0 {
        return Some(within.value);
    }
    let wrong = within.wrong("`equal_within` must be a percentage above 0 and at most 50");
    table.complain(wrong.label("such as 2"));
    None
}

/// `{ framework = "caffe", image = [64, 128] }`: a list stands for any of its levels.
pub(super) fn read_exclusion(rule: &Value<'_>, key: &str) -> Option<DraftExclusion> {
    let table = rule.table(key)?;
    let mut conditions = Vec::new();
    for (name, value) in table.entries() {
        let levels = take::levels(value, name.value);
        let factor = name.clone().map(str::to_owned);
        conditions.push(DraftCondition { factor, levels });
    }
    Some(DraftExclusion {
        span: rule.span.clone(),
        conditions,
    })
}
