//! Stopping rules: what they must and must not do, and how often they are wrong.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod simulation;

use model::Until;
use predict::sequential::{Repetition, State, Stopping, Why};
use simulation::{Family, Trials, coverage, false_decisions, uncorrected_coverage};

fn states(until: &str, maximum: u32, task: &[&[f64]]) -> Vec<State> {
    let until: Until = until.parse().unwrap();
    let stopping = Stopping {
        until: &until,
        maximum,
        tasks: 1,
        equal_within: 0.02,
    };
    // A value below zero stands for a run that failed.
    let repetition = |value: &f64| match *value < 0.0 {
        true => Repetition::Failed,
        false => Repetition::Value(*value),
    };
    let runs = |values: &&[f64]| {
        let mut runs: Vec<Repetition> = values.iter().map(repetition).collect();
        runs.resize(maximum as usize, Repetition::Missing);
        runs
    };
    stopping.states(&task.iter().map(runs).collect::<Vec<_>>())
}

const QUIET: &[f64] = &[10.0, 10.01, 9.99, 10.0];
const NOISY: &[f64] = &[10.0, 14.0, 7.0, 12.0];

#[test]
fn a_quiet_scenario_stops_and_a_noisy_one_goes_on() {
    let found = states("5%", 10, &[QUIET, NOISY]);
    assert!(matches!(found[0], State::Stopped(Why::Precise { margin }) if margin < 0.05));
    assert_eq!(found[1], State::Open { repetitions: 5 });
}

#[test]
fn nothing_is_decided_between_looks_or_before_the_minimum() {
    let two = states("50%", 10, &[&[10.0, 10.0]]);
    assert_eq!(two, [State::Open { repetitions: 3 }]);
    // Six runs: the next look is at seven, whatever the sixth says.
    let six = [10.0, 14.0, 7.0, 12.0, 10.0, 10.0];
    assert_eq!(states("5%", 10, &[&six]), [State::Open { repetitions: 7 }]);
}

#[test]
fn the_maximum_and_failures_end_it() {
    let ten: Vec<f64> = (0..10).map(|i| 10.0 + f64::from(i % 4)).collect();
    assert_eq!(states("1%", 10, &[&ten]), [State::Stopped(Why::Maximum)]);
    assert_eq!(
        states("1%", 10, &[&[-1.0; 3]]),
        [State::Stopped(Why::Failed)]
    );
}

#[test]
fn runs_without_the_metric_have_not_failed() {
    let until: Until = "5%".parse().unwrap();
    let stopping = Stopping {
        until: &until,
        maximum: 10,
        tasks: 1,
        equal_within: 0.02,
    };
    let found = stopping.states(&[vec![Repetition::NoValue; 10]]);
    assert_eq!(found, [State::Stopped(Why::NoValue)]);
}

#[test]
fn a_decision_leaves_out_what_is_behind_and_goes_on_with_the_rest() {
    let close = [10.1, 10.12, 10.11, 10.09];
    let far = [20.0, 20.01, 19.99, 20.0];
    let found = states("decided", 10, &[&far, &[10.0, 10.9, 9.5, 10.2], &close]);
    assert_eq!(found[0], State::Stopped(Why::Behind));
    assert_eq!(found[1], State::Open { repetitions: 5 });
    assert_eq!(found[2], State::Open { repetitions: 5 });
    let settled = states("decided", 10, &[&far, QUIET]);
    assert_eq!(
        settled,
        [State::Stopped(Why::Behind), State::Stopped(Why::Settled)]
    );
    // Two that are equal within 2 % are settled, too.
    let equal = states("decided", 10, &[QUIET, QUIET]);
    assert_eq!(equal, [State::Stopped(Why::Settled); 2]);
}

#[test]
fn a_scenario_that_fails_is_not_ranked() {
    let found = states("decided", 10, &[&[5.0, -1.0, 5.0, 5.0], QUIET]);
    assert_eq!(
        found,
        [State::Stopped(Why::Failed), State::Stopped(Why::Settled)]
    );
}

/// With a tenth of the trials of the example `sequential`, whose table is in docs/prediction.md.
#[test]
fn errors_stay_below_five_percent() {
    for family in [Family::Normal, Family::LogNormal] {
        for maximum in [10, 30] {
            let trials = Trials {
                count: 400,
                seed: 7,
            };
            for spread in [0.02, 0.2] {
                let found = coverage(family, maximum, spread, 0.05, trials);
                // 95 % within two standard errors of 400 trials.
                assert!(
                    found.covered >= 0.928,
                    "{family:?} {maximum} {spread}: {found:?}"
                );
            }
            let quiet = coverage(family, maximum, 0.01, 0.05, trials);
            assert!(quiet.reached > 0.99 && quiet.runs < 5.0, "{quiet:?}");
            let found = false_decisions(family, maximum, 4, 0.05, trials);
            let runs = 4.0 * f64::from(maximum);
            assert!(found.settled < 0.1 && found.runs > 0.9 * runs, "{found:?}");
            assert!(found.wrong <= 0.05, "{family:?} {maximum}: {found:?}");
        }
    }
}

/// The same rule without the correction must be seen to fail, or the test above shows nothing.
#[test]
fn without_the_correction_intervals_cover_less() {
    let trials = Trials {
        count: 1000,
        seed: 7,
    };
    let found = uncorrected_coverage(30, 0.1, 0.05, trials);
    assert!(found < 0.93, "{found}");
}
