//! Who is on the Pareto set and who is dominated, in sentences.

use model::run::metric::Better;

use crate::pareto::Reason;
use crate::ranking::TaskBest;
use crate::words::format;
use crate::words::names::MetricInfo;
use crate::words::verbs;

/// More dominated scenarios than this are only counted; the report has each.
const MOST_DOMINATED: usize = 6;
/// From twice as much on, factors are easier to read than percentages.
const MUCH: f64 = 1.0;

/// `C4 is dominated by C2: takes 12 % longer and costs 30 % more; memory is practically equal.`
pub(crate) fn dominated(
    scenario: u32,
    by: u32,
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
    let rest = match equal.as_slice() {
        [] => String::new(),
        [only] => format!("; {only} is practically equal"),
        _ => format!("; {} are practically equal", format::listed(&equal, 5)),
    };
    format!(
        "C{scenario} is dominated by C{by}: {}{rest}.",
        format::listed(&worse, 5)
    )
}

/// `takes 12 % longer`, `takes 2.9× as long`, `has 0.5 points less accuracy`.
fn worse_by(reason: &Reason, info: &MetricInfo) -> String {
    let words = verbs::words(info);
    let is_percentage = info.unit == "%";
    let amount = match is_percentage {
        true => format!("{} points", format::significant(reason.by, 2)),
        false => format::percent(reason.by),
    };
    let said = match info.better {
        Better::Higher => words.fill(words.less, &amount),
        _ if reason.by >= MUCH && !is_percentage => {
            let times = format::bare_ratio(1.0 + reason.by);
            words.fill(words.times, &format!("{times}×"))
        }
        Better::Lower | Better::Neither => words.fill(words.more, &amount),
    };
    let ends = [" than", " as", " of"];
    let end = ends.iter().find_map(|end| said.strip_suffix(end));
    end.map_or_else(|| said.clone(), str::to_owned)
}

/// Of the criteria that the study asks for. Who is beaten as measured, but not beyond doubt, is not settled.
pub(crate) fn set(task: &TaskBest, criteria: &[&MetricInfo]) -> Vec<String> {
    let names = |numbers: &[u32]| {
        let names: Vec<String> = numbers.iter().map(|number| format!("C{number}")).collect();
        format::listed(&names, 8)
    };
    let is_open = |number: &&u32| {
        let is_dominated = task.dominated.iter().any(|one| one.scenario == **number);
        !is_dominated && !task.pareto.contains(number)
    };
    let open: Vec<u32> = task.ranked.iter().filter(is_open).copied().collect();
    let open = match open.is_empty() {
        true => String::new(),
        false => format!("; not settled for {}", names(&open)),
    };
    let labels: Vec<String> = criteria.iter().map(|info| info.label.clone()).collect();
    let mut said = vec![format!(
        "Pareto set of {}: {} by the means{open}.",
        format::listed(&labels, 8),
        names(&task.pareto)
    )];
    let dominated = task.dominated.iter().map(|one| one.sentence.clone());
    said.extend(dominated.take(MOST_DOMINATED));
    if let Some(more @ 1..) = task.dominated.len().checked_sub(MOST_DOMINATED) {
        said.push(format!("{more} more are dominated; the report names each."));
    }
    said
}
