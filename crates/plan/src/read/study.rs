//! `[study]`: the question itself.

use model::{Currency, RunSequence};
use source::{Diagnostic, Located, Problems, Table, Value};

use super::draft::{DraftCondition, DraftExclusion, Head};
use super::take;
use crate::values;

pub(crate) const ORDERS: &[&str] = &["blocks", "random", "listed"];
pub(crate) const MAX_REPETITIONS: i64 = 10_000;

pub(super) fn read(top: &Table<'_>, problems: &mut Problems) -> Head {
    let Some(value) = top.get("study") else {
        let missing = Diagnostic::whole("[study] is missing");
        problems.push(missing.note("a study begins with:  [study]  and  name = \"my-study\""));
        return Head::default();
    };
    let Some(table) = value.table("study", problems) else {
        return Head::default();
    };
    let name = table
        .required("name", problems)
        .and_then(|v| v.text("name", problems));
    let objective = table.text("objective", problems).map(|t| t.value);
    let repetitions = take::whole(&table, "repetitions", 1..=MAX_REPETITIONS, problems);
    let seed = take::whole(&table, "seed", 0..=i64::MAX, problems);
    let order = take::word(&table, "order", ORDERS, problems);
    let budget = take::parsed(&table, "budget", values::money, problems);
    let currency = take::parsed(&table, "currency", str::parse::<Currency>, problems);
    let target_accuracy = read_target(&table, problems);
    let metrics = table.get("metrics");
    let exclude = table.array("exclude", problems).unwrap_or_default();
    let head = Head {
        name,
        objective,
        repetitions: repetitions.and_then(|r| {
            Some(Located {
                value: u32::try_from(r.value).ok()?,
                span: r.span,
            })
        }),
        seed: seed.and_then(|s| u64::try_from(s.value).ok()),
        order: order.map(|word| match word {
            "random" => RunSequence::Random,
            "listed" => RunSequence::Listed,
            _ => RunSequence::Blocks,
        }),
        budget,
        currency: currency.map(|c| c.value),
        target_accuracy,
        metrics: metrics
            .map(|v| take::texts(&v, "metrics", problems))
            .unwrap_or_default(),
        exclude: exclude
            .iter()
            .filter_map(|rule| read_exclusion(rule, problems))
            .collect(),
    };
    table.finish(problems);
    head
}

/// Percent, above 0 and up to 100.
fn read_target(table: &Table<'_>, problems: &mut Problems) -> Option<f64> {
    let target = table.number("target_accuracy", problems)?;
    if target.value > 0.0 && target.value <= 100.0 {
        return Some(target.value);
    }
    let wrong = Diagnostic::at(
        target.span,
        "`target_accuracy` must be a percentage above 0 and at most 100",
    );
    problems.push(wrong.label("such as 98.5"));
    None
}

/// `{ framework = "caffe", image = [64, 128] }`: a list stands for any of its levels.
fn read_exclusion(rule: &Value<'_>, problems: &mut Problems) -> Option<DraftExclusion> {
    let table = rule.table("exclude", problems)?;
    let mut conditions = Vec::new();
    for (name, value) in table.entries() {
        let levels = match value.kind() {
            "array" => {
                let items = value.array(name.value, problems).unwrap_or_default();
                items
                    .iter()
                    .filter_map(|v| take::level(v, name.value, problems))
                    .collect()
            }
            _ => take::level(value, name.value, problems)
                .into_iter()
                .collect(),
        };
        let factor = Located {
            value: name.value.to_owned(),
            span: name.span.clone(),
        };
        conditions.push(DraftCondition { factor, levels });
    }
    Some(DraftExclusion {
        span: rule.span.clone(),
        conditions,
    })
}
