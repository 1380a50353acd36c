//! When to stop repeating.
//!
//! After certain numbers of repetitions ([`Until::looks`]) it is decided whether more follow. Stopping when the numbers
//! look good makes them look too good: intervals that are right for a number of runs that was fixed before cover less
//! often. So the error rate is divided evenly by the number of looks that the maximum allows (Bonferroni; a group
//! sequential design with constant levels, Pocock 1977, by the union bound). It needs no assumption about how looks
//! depend on each other, and holds whenever one stops, for whatever reason: precision, a decision, the budget, a person.

use model::{Until, UntilRule};

/// Of all that a study says in a ranking; see `analyse`.
pub const RANKING_LEVEL: f64 = 0.0125;
/// Of an interval that stands by itself.
const ERROR: f64 = 0.05;

/// Confidence of each interval so that 95 % of those at which one stops contain the truth.
pub fn confidence_at_looks(looks: usize) -> f64 {
    1.0 - ERROR / looks.max(1) as f64
}

/// One repetition of a scenario.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Repetition {
    Missing,
    /// It ended badly by itself.
    Failed,
    /// It ended well and does not have the metric.
    NoValue,
    Value(f64),
}

/// What becomes of a scenario.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum State {
    /// Runs up to this repetition are wanted, then it is looked at again.
    Open {
        repetitions: u32,
    },
    Stopped(Why),
}

/// Why a scenario is not repeated again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Why {
    /// Half of its interval, as a share of the mean.
    Precise {
        margin: f64,
    },
    /// Another one of its task is better.
    Behind,
    /// The decision of its task is settled.
    Settled,
    /// Nothing is decided by runs that fail.
    Failed,
    /// Its runs do not have the metric.
    NoValue,
    Maximum,
}

/// How a study stops repeating.
#[derive(Debug, Clone, Copy)]
pub struct Stopping<'a> {
    pub until: &'a Until,
    /// The study's `repetitions`.
    pub maximum: u32,
    /// Tasks that share the error rate of rankings.
    pub tasks: usize,
    /// Share of the best within which others are equal to it.
    pub equal_within: f64,
}

impl Stopping<'_> {
    /// Of the scenarios of one task: their repetitions in order, at most `maximum` of each.
    pub fn states(&self, task: &[Vec<Repetition>]) -> Vec<State> {
        let looks = Until::looks(self.maximum);
        match self.until.rule {
            UntilRule::Within { percent } => {
                let state = |runs: &Vec<Repetition>| until_precise(runs, &looks, percent / 100.0);
                task.iter().map(state).collect()
            }
            UntilRule::Decided => {
                let tasks = self.tasks.max(1);
                // Half is for the time, half for the cost, as in the report.
                let level = RANKING_LEVEL / (2 * tasks * looks.len()) as f64;
                until_decided(task, &looks, level, self.equal_within)
            }
        }
    }
}

/// Values of the first repetitions; none while one of them is missing.
fn first(runs: &[Repetition], count: u32) -> Option<Vec<f64>> {
    let runs = runs.get(..count as usize)?;
    let mut values = Vec::with_capacity(runs.len());
    for run in runs {
        match run {
            Repetition::Missing => return None,
            Repetition::Failed | Repetition::NoValue => {}
            Repetition::Value(value) => values.push(*value),
        }
    }
    Some(values)
}

fn until_precise(runs: &[Repetition], looks: &[u32], within: f64) -> State {
    let confidence = confidence_at_looks(looks.len());
    for &look in looks {
        let Some(values) = first(runs, look) else {
            return State::Open { repetitions: look };
        };
        if values.is_empty() {
            let has_failed = runs.contains(&Repetition::Failed);
            return State::Stopped(if has_failed {
                Why::Failed
            } else {
                Why::NoValue
            });
        }
        let summary = stats::summary(&values, confidence);
        let margin = summary.and_then(|summary| summary.mean.relative_margin());
        if let Some(margin) = margin.filter(|margin| *margin <= within && values.len() > 2) {
            return State::Stopped(Why::Precise { margin });
        }
    }
    State::Stopped(Why::Maximum)
}

/// All looks again, from the first: what is known says what was decided, so nothing else need be kept.
fn until_decided(
    task: &[Vec<Repetition>],
    looks: &[u32],
    level: f64,
    equal_within: f64,
) -> Vec<State> {
    let mut at = vec![0; task.len()];
    let mut is_behind = vec![false; task.len()];
    loop {
        let Look { ranked, values } = Look::at(task, looks, &at);
        let mut states = vec![State::Stopped(Why::Failed); task.len()];
        let Some(values) = values else {
            for &place in &ranked {
                states[place] = match is_behind[place] {
                    true => State::Stopped(Why::Behind),
                    false => State::Open {
                        repetitions: looks[at[place]],
                    },
                };
            }
            return states;
        };
        let lists: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
        let Some(found) = stats::rank_lowest(&lists, level, equal_within) else {
            stop(&mut states, &ranked, Why::Settled);
            return states;
        };
        is_behind.fill(false);
        for behind in &found.behind {
            is_behind[ranked[behind.place]] = true;
            states[ranked[behind.place]] = State::Stopped(Why::Behind);
        }
        let first: Vec<usize> = found.first.iter().map(|place| ranked[*place]).collect();
        let last = looks.len() - 1;
        let repetitions = first.iter().map(|place| at[*place]);
        let next = repetitions.filter(|at| *at < last).min();
        let next = match (found.is_settled(), next) {
            (true, _) => {
                stop(&mut states, &first, Why::Settled);
                return states;
            }
            (false, None) => {
                stop(&mut states, &first, Why::Maximum);
                return states;
            }
            (false, Some(next)) => next,
        };
        // Who is behind in repetitions catches up first.
        for place in first {
            at[place] += usize::from(at[place] == next);
        }
    }
}

fn stop(states: &mut [State], places: &[usize], why: Why) {
    for &place in places {
        states[place] = State::Stopped(why);
    }
}

/// A task at one look at each of its scenarios.
struct Look {
    /// Places of scenarios of which no run failed up to their look.
    ranked: Vec<usize>,
    /// Of those; none while a run of one of them is missing.
    values: Option<Vec<Vec<f64>>>,
}

impl Look {
    fn at(task: &[Vec<Repetition>], looks: &[u32], at: &[usize]) -> Self {
        let has_failed = |place: &usize| {
            let runs = task[*place].iter().take(looks[at[*place]] as usize);
            runs.clone()
                .any(|run| matches!(run, Repetition::Failed | Repetition::NoValue))
        };
        let ranked: Vec<usize> = (0..task.len()).filter(|place| !has_failed(place)).collect();
        let values = ranked
            .iter()
            .map(|place| first(&task[*place], looks[at[*place]]));
        Look {
            values: values.collect(),
            ranked,
        }
    }
}
