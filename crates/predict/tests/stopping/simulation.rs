//! Simulated repetitions, for the tests and for the tables of docs/prediction.md.

use model::Until;
use predict::sequential::{Repetition, State, Stopping, Why, confidence_at_looks};
use seeded::SplitMix64;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Family {
    Normal,
    LogNormal,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Trials {
    pub(crate) count: usize,
    pub(crate) seed: u64,
}

/// Of intervals at the moment of stopping.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coverage {
    pub(crate) covered: f64,
    pub(crate) runs: f64,
    /// Within the precision that was asked for.
    pub(crate) reached: f64,
}

/// Of studies in which all choices are equal, or the first is the best.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decisions {
    /// A scenario was called worse that is not.
    pub(crate) wrong: f64,
    /// Settled before the maximum, or at it.
    pub(crate) settled: f64,
    pub(crate) runs: f64,
}

fn uniform(random: &mut SplitMix64) -> f64 {
    ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

fn normal(random: &mut SplitMix64) -> f64 {
    let radius = (-2.0 * uniform(random).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(random)).cos()
}

/// With this mean and this coefficient of variation.
fn draw(family: Family, mean: f64, spread: f64, random: &mut SplitMix64) -> f64 {
    let z = normal(random);
    match family {
        Family::Normal => mean * (1.0 + spread * z),
        Family::LogNormal => {
            let sigma = (1.0 + spread * spread).ln().sqrt();
            mean * (sigma * z - sigma * sigma / 2.0).exp()
        }
    }
}

/// Repeats until the rule says stop; the number of runs of each scenario.
fn carry_out(stopping: &Stopping<'_>, all: &[Vec<f64>]) -> (Vec<u32>, Vec<State>) {
    let mut done = vec![0_u32; all.len()];
    loop {
        let runs = |(values, done): (&Vec<f64>, &u32)| {
            let known = |(place, value): (usize, &f64)| match place < *done as usize {
                true => Repetition::Value(*value),
                false => Repetition::Missing,
            };
            values.iter().enumerate().map(known).collect()
        };
        let task: Vec<Vec<Repetition>> = all.iter().zip(&done).map(runs).collect();
        let states = stopping.states(&task);
        let mut is_over = true;
        for (done, state) in done.iter_mut().zip(&states) {
            if let State::Open { repetitions } = state {
                *done = *repetitions;
                is_over = false;
            }
        }
        if is_over {
            return (done, states);
        }
    }
}

fn stopping(until: &Until, maximum: u32) -> Stopping<'_> {
    Stopping {
        until,
        maximum,
        tasks: 1,
        equal_within: 0.02,
    }
}

pub(crate) fn coverage(
    family: Family,
    maximum: u32,
    spread: f64,
    within: f64,
    trials: Trials,
) -> Coverage {
    let until: Until = format!("{}%", within * 100.0).parse().unwrap();
    let confidence = confidence_at_looks(Until::looks(maximum).len());
    let mut random = SplitMix64::new(trials.seed);
    let (mut covered, mut runs, mut reached) = (0, 0, 0);
    for _ in 0..trials.count {
        let values: Vec<f64> = (0..maximum)
            .map(|_| draw(family, 10.0, spread, &mut random))
            .collect();
        let (done, states) = carry_out(&stopping(&until, maximum), std::slice::from_ref(&values));
        let summary = stats::summary(&values[..done[0] as usize], confidence).unwrap();
        covered += usize::from(summary.mean.interval.unwrap().contains(10.0));
        runs += done[0] as usize;
        reached += usize::from(matches!(states[0], State::Stopped(Why::Precise { .. })));
    }
    let share = |count: usize| count as f64 / trials.count as f64;
    Coverage {
        covered: share(covered),
        runs: share(runs),
        reached: share(reached),
    }
}

/// Looks after every run with 95 % each time.
pub(crate) fn uncorrected_coverage(maximum: u32, spread: f64, within: f64, trials: Trials) -> f64 {
    let mut random = SplitMix64::new(trials.seed);
    let mut covered = 0;
    for _ in 0..trials.count {
        let values: Vec<f64> = (0..maximum)
            .map(|_| draw(Family::Normal, 10.0, spread, &mut random))
            .collect();
        for count in 3..=maximum as usize {
            let mean = stats::summary(&values[..count], 0.95).unwrap().mean;
            if count == maximum as usize || mean.relative_margin().unwrap() <= within {
                covered += usize::from(mean.interval.unwrap().contains(10.0));
                break;
            }
        }
    }
    covered as f64 / trials.count as f64
}

/// Choices that are all equal.
pub(crate) fn false_decisions(
    family: Family,
    maximum: u32,
    choices: usize,
    spread: f64,
    trials: Trials,
) -> Decisions {
    decisions(family, maximum, &vec![10.0; choices], spread, trials)
}

/// The first is the best, or all are equal.
pub(crate) fn decisions(
    family: Family,
    maximum: u32,
    means: &[f64],
    spread: f64,
    trials: Trials,
) -> Decisions {
    let until: Until = "decided".parse().unwrap();
    let mut random = SplitMix64::new(trials.seed);
    let (mut wrong, mut settled, mut runs) = (0, 0, 0);
    for _ in 0..trials.count {
        let mut list = |mean: &f64| -> Vec<f64> {
            (0..maximum)
                .map(|_| draw(family, *mean, spread, &mut random))
                .collect()
        };
        let all: Vec<Vec<f64>> = means.iter().map(&mut list).collect();
        let (done, states) = carry_out(&stopping(&until, maximum), &all);
        let is_behind = |place: usize| states[place] == State::Stopped(Why::Behind);
        let mut places = 0..means.len();
        wrong += usize::from(places.any(|place| means[place] <= means[0] && is_behind(place)));
        settled += usize::from(states.contains(&State::Stopped(Why::Settled)));
        runs += done.iter().sum::<u32>() as usize;
    }
    let share = |count: usize| count as f64 / trials.count as f64;
    Decisions {
        wrong: share(wrong),
        settled: share(settled),
        runs: share(runs),
    }
}
