//! Laws of growth: what is recovered, how often intervals hold, and what is refused.

mod common;

use common::{TRUTHS, Truth, cheapest, refusal, score};
use predict::growth::{Kind, Law, Level, Refusal, grow};
use seeded::SplitMix64;

fn measured(times: &[(f64, &[f64])]) -> Vec<Level> {
    let level = |(at, values): &(f64, &[f64])| Level {
        at: *at,
        values: values.to_vec(),
    };
    times.iter().map(level).collect()
}

/// The same relative spread about a given time.
fn repeated(times: &[(f64, f64)]) -> Vec<Level> {
    let level = |(at, time): &(f64, f64)| Level {
        at: *at,
        values: [0.98, 1.0, 1.02].map(|factor| factor * time).to_vec(),
    };
    times.iter().map(level).collect()
}

#[test]
fn the_law_and_its_numbers_are_found_again() -> Result<(), Refusal> {
    for truth in &TRUTHS {
        let levels = truth.draw(0.001, 10, &mut SplitMix64::new(3));
        let growth = grow(&levels, truth.kind, 0.95)?;
        assert_eq!(growth.law, truth.law, "{}", truth.name);
        for (parameter, own) in growth.parameters.iter().zip(truth.parameters) {
            let found = parameter.estimate.value;
            assert!((found - own).abs() < 0.01, "{}: {found}", truth.name);
        }
    }
    Ok(())
}

/// 93 to 97 %, with three standard errors of 150 studies (and 450 points) around that.
#[test]
fn intervals_hold_as_often_as_they_say() {
    for truth in [&TRUTHS[0], &TRUTHS[3]] {
        let score = score(truth, 0.05, 5, 150);
        assert!(score.parameters.value() > 0.88, "{}", truth.name);
        for share in [score.inside, score.one_run, score.beyond] {
            assert!(share.value() > 0.90, "{}: {}", truth.name, share.value());
        }
        assert!(score.inside.value() < 0.99, "an interval that always holds");
        assert!(score.right_law > 120, "{}", truth.name);
    }
}

#[test]
fn the_cheapest_number_of_cores_is_found() {
    let usl: &Truth = &TRUTHS[2];
    let found = cheapest(usl, 0.02, 10, 40);
    assert!(found.right.value() >= 0.9, "{}", found.right.value());
    assert!(found.by_means.value() < found.right.value());
    assert!(found.stability > 0.9);
}

/// A flat optimum is not called sure.
#[test]
fn a_close_decision_is_not_called_stable() -> Result<(), Refusal> {
    let levels = TRUTHS[2].draw(0.15, 3, &mut SplitMix64::new(5));
    let growth = grow(&levels, Kind::Count, 0.95)?;
    let found = growth.cheapest(&common::machines(&TRUTHS[2]), 1);
    let found = found.ok_or(Refusal::NotPositive)?;
    assert!(found.stability() < 0.9 && found.chances.len() > 1);
    let all: f64 = found.chances.iter().map(|chance| chance.share).sum();
    assert!((all - 1.0).abs() < 1e-9);
    Ok(())
}

#[test]
fn two_levels_one_repetition_and_zero_are_refused() {
    let two = repeated(&[(1.0, 10.0), (2.0, 6.0)]);
    let expected = Refusal::TooFewLevels { levels: 2 };
    assert_eq!(refusal(&two, Kind::Count), Some(expected));
    let once = measured(&[(1.0, &[9.0]), (2.0, &[5.0]), (4.0, &[3.0]), (8.0, &[2.0])]);
    let expected = Refusal::TooFewRepetitions { repeated: 0 };
    assert_eq!(refusal(&once, Kind::Count), Some(expected));
    let zero = repeated(&[(0.0, 10.0), (2.0, 6.0), (4.0, 4.0)]);
    assert_eq!(refusal(&zero, Kind::Count), Some(Refusal::NotPositive));
    // A level without a result is no level.
    let mut empty = repeated(&[(1.0, 10.0), (2.0, 6.0), (4.0, 4.0)]);
    empty[2].values.clear();
    let expected = Refusal::TooFewLevels { levels: 2 };
    assert_eq!(refusal(&empty, Kind::Count), Some(expected));
}

#[test]
fn what_goes_up_and_down_is_refused() {
    let times = [
        (1.0, 10.0),
        (2.0, 4.0),
        (4.0, 11.0),
        (8.0, 3.0),
        (16.0, 9.0),
    ];
    let found = refusal(&repeated(&times), Kind::Count);
    assert!(
        matches!(found, Some(Refusal::NoLawFits { .. })),
        "{found:?}"
    );
}

/// Three levels never choose a law of three parameters, however well it would fit.
#[test]
fn a_law_has_fewer_parameters_than_there_are_levels() -> Result<(), Refusal> {
    let levels = repeated(&[1.0, 8.0, 24.0].map(|n| (n, common::usl(n))));
    match grow(&levels, Kind::Count, 0.95) {
        Ok(growth) => assert!(growth.laws.iter().all(|fit| fit.law != Law::Scalability)),
        Err(refused) => assert!(matches!(refused, Refusal::NoLawFits { .. })),
    }
    let four = repeated(&[1.0, 4.0, 8.0, 24.0].map(|n| (n, common::usl(n))));
    let growth = grow(&four, Kind::Count, 0.95)?;
    assert_eq!(growth.law, Law::Scalability);
    Ok(())
}

#[test]
fn predictions_end_at_twice_what_was_measured() -> Result<(), Refusal> {
    let levels = TRUTHS[1].draw(0.02, 5, &mut SplitMix64::new(8));
    let growth = grow(&levels, Kind::Count, 0.95)?;
    let extrapolated = |at: f64| growth.at(at).map(|predicted| predicted.extrapolated);
    assert_eq!(extrapolated(8.0), Ok(false));
    assert_eq!(extrapolated(16.0), Ok(true));
    let refused = growth.at(16.1).map(|_| ()).map_err(|far| far.allowed.high);
    assert_eq!(refused, Err(16.0));
    Ok(())
}

/// Runs without any spread do not make intervals of nothing or infinite information.
#[test]
fn identical_runs_give_finite_numbers() -> Result<(), Refusal> {
    let levels: Vec<Level> = [1.0, 2.0, 4.0, 8.0]
        .map(|at| Level {
            at,
            values: vec![10.0 / at; 3],
        })
        .to_vec();
    let growth = grow(&levels, Kind::Count, 0.95)?;
    let at = growth.at(16.0).map(|predicted| predicted.typical);
    assert!(at.is_ok_and(|typical| (typical.value - 0.625).abs() < 0.01));
    assert!(
        growth
            .laws
            .iter()
            .all(|fit| fit.aicc_above_best.is_finite())
    );
    Ok(())
}
