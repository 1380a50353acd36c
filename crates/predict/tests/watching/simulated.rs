//! Trainings whose speed varies over seconds, and what is predicted when `--stop-when-known` would
//! end them.

use predict::progress::eta::{KNOWN_AFTER_SECONDS, Pace};
use predict::progress::{Position, Scope, Unit};
use seeded::SplitMix64;

const STEPS: usize = 50;
const START_SECONDS: f64 = 3.0;
/// Of the first steps, as frameworks compile in them.
const FIRST_FACTOR: f64 = 8.0;
/// Of the steps of an epoch, for its end.
const END_SHARE: f64 = 0.05;
/// Between two looks.
const LOOK_SECONDS: f64 = 0.5;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Truth {
    pub(crate) minutes: f64,
    /// Relative standard deviation of the speed.
    pub(crate) noise: f64,
    /// In which its correlation falls to 1/e.
    pub(crate) correlated_seconds: f64,
    /// Growth of the time of a step from the beginning to the end of the run, relative.
    pub(crate) drift: f64,
}

/// At the time when the script would be ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    pub(crate) seconds: f64,
    pub(crate) is_inside: bool,
    /// Of the total time, relative.
    pub(crate) error: f64,
}

/// None if the script ends by itself before.
pub(crate) fn ended(truth: &Truth, precision: f64, seed: u64) -> Option<Ended> {
    let counts = counts(truth, seed);
    let (end, _) = *counts.last()?;
    let mut pace = Pace::default();
    let mut looked = 0.0;
    for (seconds, done) in &counts {
        pace.push(*seconds, &position(*done, counts.len()));
        if seconds - looked < LOOK_SECONDS {
            continue;
        }
        looked = *seconds;
        let Some(rest) = pace.rest() else { continue };
        if rest.is_known_to(precision, KNOWN_AFTER_SECONDS) {
            let total = rest.at(*seconds).total_seconds;
            return Some(Ended {
                seconds: *seconds,
                is_inside: total
                    .interval
                    .is_some_and(|interval| interval.contains(end)),
                error: total.value / end - 1.0,
            });
        }
    }
    None
}

/// Every count with its time.
fn counts(truth: &Truth, seed: u64) -> Vec<(f64, f64)> {
    let mut random = SplitMix64::new(seed);
    let whole = 60.0 * truth.minutes;
    // So that an epoch has about a twentieth of the run, at most 20 s.
    let epochs = (whole / 20.0).clamp(20.0, 200.0).round() as usize;
    let step = whole / (epochs * STEPS) as f64 / (1.0 + END_SHARE);
    let mut speed = normal(&mut random);
    let mut now = START_SECONDS;
    let mut counts = vec![(now, 0.0)];
    for epoch in 0..epochs {
        for at in 1..=STEPS {
            let keeps = (-step / truth.correlated_seconds).exp();
            speed = keeps * speed + (1.0 - keeps * keeps).sqrt() * normal(&mut random);
            let done = epoch as f64 + at as f64 / STEPS as f64;
            let drifted = 1.0 + truth.drift * done / epochs as f64;
            let first = if counts.len() < 3 { FIRST_FACTOR } else { 1.0 };
            let factor = (1.0 + truth.noise * speed).max(0.1) * drifted;
            now += step * factor * first;
            counts.push((now, done));
            if at == STEPS {
                now += step * STEPS as f64 * END_SHARE * factor;
                counts.push((now, done));
            }
        }
    }
    counts
}

fn position(done: f64, counts: usize) -> Position {
    Position {
        scope: Scope::Run,
        unit: Unit::Epochs,
        done,
        // Every epoch has its steps and its end.
        total: Some((counts / (STEPS + 1)) as f64),
        more: 0.0,
        ahead: 0.0,
    }
}

fn normal(random: &mut SplitMix64) -> f64 {
    let share = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    stats::distribution::normal_quantile(share.clamp(1e-12, 1.0 - 1e-12))
}
