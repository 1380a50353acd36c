//! Which scenario to choose: the fastest, the cheapest, and the Pareto set between them.

use model::Money;
use model::run::metric;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use stats::Point;

use crate::analysis::{Best, ScenarioResult};
use crate::serving::Serving;
use crate::words::format;
use crate::words::names::{MetricInfo, metric_value};

pub(crate) fn best(
    scenarios: &[ScenarioResult],
    time: Option<&MetricInfo>,
    serving: Option<&Serving>,
) -> Best {
    let Some(time) = time else {
        return Best::default();
    };
    let failing = |s: &ScenarioResult| {
        let served = serving.iter().flat_map(|serving| &serving.scenarios);
        served
            .into_iter()
            .any(|one| one.scenario == s.number && !one.is_reliable())
    };
    let timed: Vec<Timed> = scenarios
        .iter()
        .filter(|s| !failing(s))
        .filter_map(|s| {
            let seconds = s.mean(&time.name)?.value;
            Some(Timed {
                scenario: s,
                seconds,
                cost: cost_of(s),
            })
        })
        .collect();
    let Some(fastest) = timed.iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds)) else {
        return Best::default();
    };
    let as_fast: Vec<&ScenarioResult> = timed
        .iter()
        .filter(|t| t.scenario.number != fastest.scenario.number && overlaps(fastest, t, time))
        .map(|t| t.scenario)
        .collect();
    let priced: Vec<&Timed> = timed.iter().filter(|t| t.cost.is_some()).collect();
    let cheapest = priced
        .iter()
        .min_by(|a, b| a.cost.cmp(&b.cost).then(a.seconds.total_cmp(&b.seconds)));
    let points: Vec<Point> = priced
        .iter()
        .map(|t| Point {
            x: t.seconds,
            y: t.cost.and_then(|c| c.to_f64()).unwrap_or(f64::NAN),
        })
        .collect();
    let front: Vec<&Timed> = stats::pareto(&points)
        .front
        .into_iter()
        .map(|index| priced[index])
        .collect();
    let choice = Choice {
        time,
        fastest,
        cheapest: cheapest.copied(),
        front: &front,
        as_fast: &as_fast,
        of: timed.len(),
    };
    Best {
        fastest: Some(fastest.scenario.number),
        cheapest: cheapest.map(|t| t.scenario.number),
        pareto: front.iter().map(|t| t.scenario.number).collect(),
        as_fast: as_fast.iter().map(|s| s.number).collect(),
        sentences: choice.sentences(),
    }
}

/// Of an answer where there are answers, else of a run.
fn cost_of(scenario: &ScenarioResult) -> Option<Decimal> {
    match scenario.mean(metric::COST_PER_INFERENCE) {
        Some(each) => Decimal::from_f64_retain(each.value),
        None => scenario.cost.as_ref().map(|c| c.mean.amount),
    }
}

struct Timed<'a> {
    scenario: &'a ScenarioResult,
    seconds: f64,
    cost: Option<Decimal>,
}

/// Overlap of the intervals is the cautious question (two that overlap a little may still differ);
/// a scenario that is known too badly to be told from anything is no rival.
fn overlaps(fastest: &Timed, other: &Timed, time: &MetricInfo) -> bool {
    let interval = |t: &Timed| t.scenario.mean(&time.name).and_then(|e| e.interval);
    match (interval(fastest), interval(other)) {
        (Some(a), Some(b)) => a.overlaps(&b) && other.seconds <= RIVAL * fastest.seconds,
        _ => false,
    }
}

const RIVAL: f64 = 1.25;

struct Choice<'a> {
    time: &'a MetricInfo,
    fastest: &'a Timed<'a>,
    cheapest: Option<&'a Timed<'a>>,
    front: &'a [&'a Timed<'a>],
    as_fast: &'a [&'a ScenarioResult],
    of: usize,
}

impl Choice<'_> {
    fn sentences(&self) -> Vec<String> {
        if self.of < 2 {
            return Vec::new();
        }
        let fastest = self.fastest.scenario;
        let named = |t: &Timed| format!("{} ({})", t.scenario.label, self.figures(t));
        let mut sentences = Vec::new();
        match self.cheapest {
            None => sentences.push(format!("Fastest: {}.", named(self.fastest))),
            Some(cheapest) if cheapest.scenario.number == fastest.number => {
                let rest = self.others_on_the_line(&[fastest.number]);
                sentences.push(match rest.is_empty() {
                    true => format!(
                        "Cheapest and fastest: {}. Nothing else is on the Pareto line.",
                        fastest.label
                    ),
                    false => format!(
                        "Cheapest and fastest: {}. Equal to it in both: {}.",
                        fastest.label,
                        format::listed(&rest, 5)
                    ),
                });
            }
            Some(cheapest) => {
                sentences.push(format!(
                    "Fastest: {}. Cheapest: {}.",
                    named(self.fastest),
                    named(cheapest)
                ));
                let rest = self.others_on_the_line(&[fastest.number, cheapest.scenario.number]);
                sentences.push(match rest.is_empty() {
                    true => "Nothing else is on the Pareto line: every other scenario is beaten in time and in cost at once.".to_owned(),
                    false => format!(
                        "Between them on the Pareto line (nothing is faster and cheaper at once): {}.",
                        format::listed(&rest, 8)
                    ),
                });
            }
        }
        if !self.as_fast.is_empty() {
            let names: Vec<String> = self.as_fast.iter().map(|s| s.label.clone()).collect();
            sentences.push(format!(
                "{} may be as fast as {}: their intervals overlap.",
                format::listed(&names, 5),
                fastest.label
            ));
        }
        sentences
    }

    fn figures(&self, timed: &Timed) -> String {
        let seconds = metric_value(self.time, timed.seconds);
        let cost = timed.scenario.cost.as_ref().map(|cost| cost.mean);
        match (cost, timed.cost) {
            (Some(cost), Some(each)) if each != cost.amount => {
                let million = Money::new(each * Decimal::from(1_000_000), cost.currency);
                format!("{seconds}, {million} per million responses")
            }
            (Some(cost), _) => format!("{seconds}, {cost}"),
            (None, _) => seconds,
        }
    }

    fn others_on_the_line(&self, known: &[u32]) -> Vec<String> {
        let others = self
            .front
            .iter()
            .filter(|t| !known.contains(&t.scenario.number));
        others.map(|t| t.scenario.label.clone()).collect()
    }
}
