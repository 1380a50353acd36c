//! Who is on the Pareto set and who is dominated, in sentences.

use std::collections::BTreeMap;

use messages::message;
use model::run::metric::Better;

use crate::pareto::Reason;
use crate::ranking::TaskBest;
use crate::words::format;
use crate::words::names::MetricInfo;
use crate::words::verbs::{Said, Way};

/// More dominated scenarios than this are only counted; the report has each.
const MOST_DOMINATED: usize = 6;
/// From twice as much on, factors are easier to read than percentages.
const MUCH: f64 = 1.0;

/// `C4 is dominated by C2: takes 12 % longer and costs 30 % more; memory is practically equal.`
pub(crate) fn dominated(
    [scenario, by]: [&str; 2],
    reasons: &[Reason],
    infos: &[&MetricInfo],
) -> String {
    let info = |reason: &Reason| {
        infos
            .iter()
            .find(|info| info.name == reason.metric)
            .copied()
    };
    let worse = reasons.iter().filter(|reason| reason.is_worse);
    let worse: Vec<String> = worse.filter_map(|r| Some(worse_by(r, info(r)?))).collect();
    let equal = reasons.iter().filter(|reason| !reason.is_worse);
    let equal: Vec<String> = equal.filter_map(|r| Some(info(r)?.label.clone())).collect();
    let equal = match equal.len() {
        0 => String::new(),
        count => message!("pareto-equal", labels = format::listed(&equal, 5), count),
    };
    let worse = format::listed(&worse, 5);
    message!("pareto-dominated", scenario, by, worse, equal)
}

/// `takes 12 % longer`, `takes 2.9× as long`, `has 0.5 points less accuracy`.
fn worse_by(reason: &Reason, info: &MetricInfo) -> String {
    let is_percentage = info.unit == "%";
    let amount = match is_percentage {
        true => message!("points", value = format::significant(reason.by, 2)),
        false => format::percent(reason.by),
    };
    let (way, amount) = match info.better {
        Better::Higher => (Way::Less, amount),
        _ if reason.by >= MUCH && !is_percentage => (Way::Times, format::ratio(1.0 + reason.by)),
        Better::Lower | Better::Neither => (Way::More, amount),
    };
    let amount = &amount;
    Said { info, amount, way }.alone()
}

/// Of the criteria that the study asks for. Who is beaten as measured, but not beyond doubt, is not settled.
pub(crate) fn set(
    task: &TaskBest,
    labels: &BTreeMap<u32, &str>,
    criteria: &[&MetricInfo],
) -> Vec<String> {
    let names = |numbers: &[u32]| {
        let names = numbers.iter().filter_map(|number| labels.get(number));
        let names: Vec<String> = names.map(|name| (*name).to_owned()).collect();
        format::listed(&names, 8)
    };
    let is_open = |number: &&u32| {
        let is_dominated = task.dominated.iter().any(|one| one.scenario == **number);
        !is_dominated && !task.pareto.contains(number)
    };
    // One run dominates nothing, and is not dominated.
    let single = task.unranked.iter().filter(|one| one.is_single);
    let single = single.map(|one| one.scenario);
    let open = task.ranked.iter().filter(is_open).copied();
    let open: Vec<u32> = open.chain(single).collect();
    let open = match open.is_empty() {
        true => String::new(),
        false => message!("pareto-open", names = names(&open)),
    };
    let labels: Vec<String> = criteria.iter().map(|info| info.label.clone()).collect();
    let criteria = format::listed(&labels, 8);
    let names = names(&task.pareto);
    let mut said = vec![message!("pareto-set", criteria, names, open)];
    let dominated = task.dominated.iter().map(|one| one.sentence.clone());
    said.extend(dominated.take(MOST_DOMINATED));
    if let Some(more @ 1..) = task.dominated.len().checked_sub(MOST_DOMINATED) {
        said.push(message!("pareto-more", more));
    }
    said
}
