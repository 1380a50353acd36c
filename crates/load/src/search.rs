//! The highest rate that keeps a quantile of the latency under a target.

use std::time::Duration;

use serde::Serialize;

use crate::load::{Arrivals, Extent, Load, Open};
use crate::quantile::Quantile;
use crate::{LoadError, Options, Outcome, Request, Watch, run_watched};

/// What is searched for, and how long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// 0.99 for p99.
    pub share: f64,
    /// The latency of that share must not be longer.
    pub target_seconds: f64,
    /// Where the search begins; it doubles from here, or halves.
    pub first_per_second: f64,
    /// No rate above it is tried.
    pub highest_per_second: f64,
    /// The rate that fails may be higher than the one that holds by this share: 0.05.
    pub within: f64,
    /// The search ends after so many trials, with what it has.
    pub most_trials: usize,
}

impl Search {
    /// Keeps p99 under that many seconds, to within 5 %.
    pub fn p99_under(target_seconds: f64) -> Self {
        Search {
            share: 0.99,
            target_seconds,
            first_per_second: 10.0,
            highest_per_second: 1e6,
            within: 0.05,
            most_trials: 40,
        }
    }

    fn holds(&self, trial: &Trial) -> bool {
        let fast = |quantile: &Quantile| quantile.seconds <= self.target_seconds;
        trial.failed == 0 && trial.quantile.as_ref().is_some_and(fast)
    }
}

/// What one rate led to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trial {
    pub per_second: f64,
    /// `None` if no answer was ok.
    pub quantile: Option<Quantile>,
    pub ok_per_second: f64,
    pub failed: u64,
    pub first_failure: Option<String>,
    pub client_limited: Option<String>,
}

impl Trial {
    pub fn of(outcome: &Outcome, per_second: f64, share: f64) -> Self {
        Trial {
            per_second,
            quantile: outcome.latency.quantile(share),
            ok_per_second: outcome.ok_per_second(),
            failed: outcome.counts.failed() + outcome.uncounted.failed(),
            first_failure: outcome.first_failure.clone(),
            client_limited: outcome.client_limited.clone(),
        }
    }
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// The highest rate that held; `None` if none did.
    pub holds_per_second: Option<f64>,
    /// The lowest rate above it that did not; `None` if the highest allowed one held.
    pub fails_per_second: Option<f64>,
    /// All trials, in the order they were made.
    pub trials: Vec<Trial>,
    /// Why the rate that failed tells about the client rather than the server, if it does.
    pub client_limited: Option<String>,
}

/// Doubles until a rate fails, then halves the interval on a logarithmic scale.
///
/// A trial with any failed request does not hold, however fast the others were.
fn search<E>(search: &Search, mut trial: impl FnMut(f64) -> Result<Trial, E>) -> Result<Found, E> {
    let mut bracket = Bracket::default();
    let mut trials: Vec<Trial> = Vec::new();
    while trials.len() < search.most_trials
        && let Some(rate) = bracket.next(search)
    {
        let made = trial(rate)?;
        match search.holds(&made) {
            true => bracket.holds = Some(rate),
            false => bracket.fails = Some(rate),
        }
        let is_dead = made.ok_per_second == 0.0 && made.failed > 0;
        trials.push(made);
        // No rate helps a server that answers nothing.
        if is_dead {
            break;
        }
    }
    let failing = trials
        .iter()
        .find(|trial| Some(trial.per_second) == bracket.fails);
    Ok(Found {
        holds_per_second: bracket.holds,
        fails_per_second: bracket.fails,
        client_limited: failing.and_then(|trial| trial.client_limited.clone()),
        trials,
    })
}

/// The search below this share of the first rate is given up: the server does not hold any.
const LOWEST: f64 = 1.0 / 1024.0;

#[derive(Default)]
struct Bracket {
    holds: Option<f64>,
    fails: Option<f64>,
}

impl Bracket {
    /// The next rate to try, `None` when enough is known.
    fn next(&self, search: &Search) -> Option<f64> {
        let highest = search.highest_per_second;
        match (self.holds, self.fails) {
            (None, None) => Some(search.first_per_second.min(highest)),
            (Some(holds), None) => (holds < highest).then(|| (2.0 * holds).min(highest)),
            (None, Some(fails)) => {
                (fails > search.first_per_second.min(highest) * LOWEST).then_some(fails / 2.0)
            }
            (Some(holds), Some(fails)) => {
                (fails > holds * (1.0 + search.within)).then(|| (holds * fails).sqrt())
            }
        }
    }
}

/// The open loop that each trial is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trials {
    /// Of Poisson arrivals; `None` for even ones.
    pub seed: Option<u64>,
    pub warm_up: Duration,
    pub counted: Duration,
    pub max_connections: usize,
}

impl Trials {
    fn load(&self, per_second: f64) -> Load {
        Load::Open(Open {
            arrivals: match self.seed {
                Some(seed) => Arrivals::Poisson { per_second, seed },
                None => Arrivals::Constant { per_second },
            },
            warm_up: Extent::Time(self.warm_up),
            counted: Extent::Time(self.counted),
            max_connections: self.max_connections,
        })
    }
}

/// Searches with real loads. A trial ends early once a request has failed.
pub fn search_server(
    plan: &Search,
    request: &Request,
    trials: &Trials,
    options: &Options,
) -> Result<Found, LoadError> {
    check(plan)?;
    search(plan, |per_second| {
        let watch = Watch::stopping_after_failures(1);
        let outcome = run_watched(request, &trials.load(per_second), options, &watch)?;
        Ok(Trial::of(&outcome, per_second, plan.share))
    })
}

fn check(plan: &Search) -> Result<(), LoadError> {
    let above_zero = |value: f64| value.is_finite() && value > 0.0;
    let wrong = if !above_zero(plan.first_per_second) || !above_zero(plan.highest_per_second) {
        "its rates must be above zero"
    } else if !above_zero(plan.target_seconds) {
        "the target latency must be above zero"
    } else if !(plan.share > 0.0 && plan.share < 1.0) {
        "the share of requests must be between 0 and 1"
    } else if !above_zero(plan.within) {
        "the tolerance must be above zero"
    } else {
        return Ok(());
    };
    Err(LoadError::Plan(format!("invalid search: {wrong}")))
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
