//! What the runs that are due may take together: drawn many times from what is known of them.
//!
//! Each draw takes a spread of runs that the measured ones allow, an error of every measured
//! scenario (the same for all that follows from it), and a scatter of every run.

use std::collections::BTreeMap;

use model::{Environment, Plan, RunId, Study};
use seeded::SplitMix64;
use stats::{LogSpread, normal};

use super::{RunForecast, Spread};

const MOST_DRAWS: usize = 1000;
const FEWEST_DRAWS: usize = 400;
/// Draws of single runs.
const MOST_RUNS: usize = 1_000_000;
/// Ends of the interval.
pub(super) const ENDS: [f64; 2] = [0.025, 0.975];

/// Runs that are due of one scenario.
pub(super) struct Batch<'f> {
    pub(super) forecast: &'f RunForecast,
    pub(super) place: Environment,
    /// Place of its name.
    pub(super) environment: usize,
    pub(super) runs: usize,
    /// Expected, of one run.
    pub(super) seconds: f64,
}

pub(super) struct Batches<'f> {
    pub(super) all: Vec<Batch<'f>>,
    /// Names, in the order of the runs.
    pub(super) environments: Vec<String>,
}

/// Of the runs of which something is known.
pub(super) fn batches<'f>(
    study: &Study,
    plan: &Plan,
    due: &[RunId],
    expected: &'f BTreeMap<u32, RunForecast>,
) -> Batches<'f> {
    let mut found = Batches {
        all: Vec::new(),
        environments: Vec::new(),
    };
    let mut places: BTreeMap<u32, usize> = BTreeMap::new();
    for run in due {
        if let Some(place) = places.get(&run.scenario) {
            found.all[*place].runs += 1;
            continue;
        }
        let scenario = plan.scenario(run.scenario);
        let Some((scenario, forecast)) = scenario.zip(expected.get(&run.scenario)) else {
            continue;
        };
        let place = plan::resolve(study, scenario).environment;
        let known = found
            .environments
            .iter()
            .position(|name| *name == place.name);
        let environment = known.unwrap_or_else(|| {
            found.environments.push(place.name.clone());
            found.environments.len() - 1
        });
        places.insert(run.scenario, found.all.len());
        found.all.push(Batch {
            forecast,
            place,
            environment,
            runs: 1,
            seconds: forecast.seconds().value,
        });
    }
    found
}

impl Batches<'_> {
    /// Expected, of one environment or of all.
    pub(super) fn seconds(&self, environment: Option<usize>) -> f64 {
        let own = self.all.iter();
        let own = own.filter(|batch| environment.is_none_or(|place| batch.environment == place));
        own.map(|batch| batch.runs as f64 * batch.seconds).sum()
    }
}

/// Factors of the expected times, of every draw.
pub(super) struct Drawn {
    /// By draw: seconds of every environment.
    pub(super) seconds: Vec<Vec<f64>>,
    pub(super) errors: Vec<Errors>,
}

/// What is common to the runs of every batch in one draw, and what lets them draw their own again.
pub(super) struct Errors {
    pub(super) of_batch: Vec<f64>,
    pub(super) sd: f64,
    pub(super) seed: u64,
}

impl Errors {
    /// Calls with every run's batch and the logarithm of its factor.
    pub(super) fn each_run(&self, batches: &Batches, mut tell: impl FnMut(usize, f64)) {
        let mut random = SplitMix64::new(self.seed);
        for (place, (batch, error)) in batches.all.iter().zip(&self.of_batch).enumerate() {
            let sd = if batch.forecast.grounds.is_steady {
                0.0
            } else {
                self.sd
            };
            for _ in 0..batch.runs {
                tell(place, error + sd * normal(&mut random));
            }
        }
    }
}

pub(super) fn drawn(batches: &Batches, spread: LogSpread, seed: u64) -> Drawn {
    let runs: usize = batches.all.iter().map(|batch| batch.runs).sum();
    let draws = (MOST_RUNS / runs.max(1)).clamp(FEWEST_DRAWS, MOST_DRAWS);
    let mut random = SplitMix64::new(seed);
    let sources = batches
        .all
        .iter()
        .flat_map(|batch| &batch.forecast.grounds.sources);
    let mut numbers: Vec<u32> = sources.map(|source| source.scenario).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let all = batches.seconds(None);
    let share = |batch: &Batch| batch.runs as f64 * batch.seconds / all;
    let together = batches
        .all
        .iter()
        .map(|batch| share(batch).powi(2))
        .sum::<f64>();
    let mut drawn = Drawn {
        seconds: Vec::new(),
        errors: Vec::new(),
    };
    for _ in 0..draws {
        let sd = spread.drawn(&mut random);
        let normals: Vec<f64> = numbers.iter().map(|_| normal(&mut random)).collect();
        let shared = normal(&mut random);
        let mut of_batch = Vec::with_capacity(batches.all.len());
        for batch in &batches.all {
            let grounds = &batch.forecast.grounds;
            let mut error = grounds.centre + grounds.shared_error * shared;
            error += grounds.own_error * normal(&mut random);
            for source in &grounds.sources {
                let place = numbers.binary_search(&source.scenario).unwrap_or_default();
                error += source.weight * source.error(sd) * normals[place];
                // The measured mean has one such error already, and the one drawn comes on top:
                // in one scenario they may cancel, over many they only add.
                if !grounds.is_combined {
                    error -= source.error(sd).powi(2) * (1.0 - together);
                }
            }
            of_batch.push(error);
        }
        let errors = Errors {
            of_batch,
            sd,
            seed: random.next_u64(),
        };
        let mut seconds = vec![0.0; batches.environments.len()];
        errors.each_run(batches, |place, logarithm| {
            let batch = &batches.all[place];
            seconds[batch.environment] += logarithm.exp() * batch.seconds;
        });
        drawn.seconds.push(seconds);
        drawn.errors.push(errors);
    }
    drawn
}

impl Drawn {
    pub(super) fn seconds(&self, batches: &Batches) -> Spread {
        let sums = self.seconds.iter().map(|of| of.iter().sum());
        interval(batches.seconds(None), sums.collect())
    }

    pub(super) fn seconds_of(&self, batches: &Batches, environment: usize) -> Spread {
        let own = self.seconds.iter().map(|of| of[environment]);
        interval(batches.seconds(Some(environment)), own.collect())
    }
}

fn interval(value: f64, mut sums: Vec<f64>) -> Spread {
    sums.sort_by(f64::total_cmp);
    let [low, high] = ENDS.map(|end| stats::quantile(&sums, end).unwrap_or(value));
    Spread {
        value,
        low: low.min(value),
        high: high.max(value),
    }
}
