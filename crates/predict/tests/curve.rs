//! Time to a target with runs that did not reach it, and learning curves continued or not.

mod common;

use common::normal;
use predict::curve::{NotContinued, Observed, continued, to_target};
use seeded::SplitMix64;

fn runs(times: &[(f64, bool)]) -> Vec<Observed> {
    let run = |(seconds, reached): &(f64, bool)| Observed {
        seconds: *seconds,
        reached: *reached,
    };
    times.iter().map(run).collect()
}

/// Leukaemia, treated: the published median of Kaplan–Meier is 23 weeks (Freireich and others 1963).
#[test]
fn the_median_is_that_of_kaplan_and_meier() {
    let reached = [6, 6, 6, 7, 10, 13, 16, 22, 23];
    let left = [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35];
    let reached = reached.map(|weeks| (f64::from(weeks), true));
    let left = left.map(|weeks| (f64::from(weeks), false));
    let all: Vec<(f64, bool)> = reached.into_iter().chain(left).collect();
    let found = to_target(&runs(&all), 0.95);
    let median = found.as_ref().and_then(|found| found.median);
    assert_eq!(median.map(|m| m.seconds), Some(23.0));
    // R's survfit with conf.type = "log-log": from 13, without an upper end.
    assert_eq!(median.and_then(|m| m.low), Some(13.0));
    assert_eq!(median.and_then(|m| m.high), None);
    assert!(found.is_some_and(|f| (f.share.value - 9.0 / 21.0).abs() < 1e-12));
}

#[test]
fn without_censoring_the_median_is_the_usual_one() {
    let odd = to_target(&runs(&[(3.0, true), (1.0, true), (2.0, true)]), 0.95);
    assert_eq!(odd.and_then(|f| f.median).map(|m| m.seconds), Some(2.0));
    let even = to_target(
        &runs(&[(3.0, true), (1.0, true), (2.0, true), (6.0, true)]),
        0.95,
    );
    assert_eq!(even.and_then(|f| f.median).map(|m| m.seconds), Some(2.5));
}

#[test]
fn where_most_do_not_arrive_there_is_no_median() {
    let found = to_target(&runs(&[(3.0, true), (9.0, false), (9.0, false)]), 0.95);
    assert!(found.as_ref().is_some_and(|f| f.median.is_none()));
    assert!(found.is_some_and(|f| f.share.interval.is_some_and(|i| i.high < 0.8)));
    assert!(to_target(&[], 0.95).is_none());
}

fn simulated(epochs: usize, noise: f64, seed: u64, truth: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut random = SplitMix64::new(seed);
    let value = |epoch: usize| truth(epoch as f64) * (noise * normal(&mut random)).exp();
    (1..=epochs).map(value).collect()
}

/// 95 %, less three standard errors of 60 curves.
#[test]
fn curves_of_both_families_are_continued() {
    let power = |n: f64| 0.03 + 0.4 * n.powf(-0.9);
    let exponential = |n: f64| 0.05 + 0.5 * (-0.15 * n).exp();
    let families: [fn(f64) -> f64; 2] = [power, exponential];
    for truth in families {
        let (mut held, mut all) = (0, 0);
        for seed in 0..60 {
            let known = simulated(16, 0.03, seeded::mix(seed + 1), truth);
            let Ok(curve) = continued(&known, 0.95) else {
                continue;
            };
            all += 1;
            let there = curve.at(40).map(|expected| expected.curve);
            held += usize::from(there.is_some_and(|i| i.contains(truth(40.0))));
        }
        assert!(all > 40, "{all} of 60 were continued");
        assert!(held as f64 >= 0.87 * all as f64, "{held} of {all}");
    }
}

#[test]
fn a_target_is_predicted_with_its_ends() -> Result<(), NotContinued> {
    let truth = |n: f64| 0.02 + 0.4 * n.powf(-0.8);
    let known = simulated(20, 0.01, 4, truth);
    let arrival = continued(&known, 0.95)?.reaches(truth(35.0))?;
    assert!(arrival.earliest <= 35 && arrival.latest.is_none_or(|latest| latest >= 35));
    // The mean of both families is behind the power law, which is the truth here.
    assert!((25..=55).contains(&arrival.epoch), "{}", arrival.epoch);
    Ok(())
}

fn refused(distances: &[f64]) -> Option<NotContinued> {
    continued(distances, 0.95).err()
}

#[test]
fn what_the_data_do_not_allow_is_refused() -> Result<(), NotContinued> {
    let few = simulated(7, 0.01, 1, |n| 0.4 / n);
    let expected = NotContinued::TooFewEpochs { epochs: 7 };
    assert_eq!(refused(&few), Some(expected));
    let flat = simulated(20, 0.03, 2, |_| 0.1);
    assert_eq!(refused(&flat), Some(NotContinued::Flat));
    let noisy = simulated(20, 0.8, 3, |n| 0.4 / n);
    assert!(matches!(refused(&noisy), Some(NotContinued::Noisy { .. })));
    let done = [0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.001, 0.0, 0.0, 0.0];
    assert_eq!(refused(&done), Some(NotContinued::NothingLeft));
    // It falls steadily, stands still, and falls again: no family has that.
    let steps = |n: f64| {
        if n < 13.0 {
            0.3
        } else {
            0.3 * 0.55_f64.powf(n - 12.0)
        }
    };
    let stepped = refused(&simulated(20, 0.002, 5, steps));
    assert!(stepped.is_some(), "{stepped:?}");
    // The floor is at 5 %, far above 1 %.
    let floor = simulated(30, 0.01, 6, |n| 0.05 + 0.5 * (-0.3 * n).exp());
    match continued(&floor, 0.95) {
        Ok(curve) => assert!(matches!(
            curve.reaches(0.01),
            Err(NotContinued::OutOfReach { .. })
        )),
        Err(refused) => assert_eq!(refused, NotContinued::Flat),
    }
    Ok(())
}

#[test]
fn nothing_is_said_beyond_three_times_the_epochs() -> Result<(), NotContinued> {
    let curve = continued(&simulated(12, 0.01, 7, |n| 0.4 / n), 0.95)?;
    assert!(curve.at(36).is_some() && curve.at(37).is_none());
    Ok(())
}
