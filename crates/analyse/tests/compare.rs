//! Two sides compared: what is said of them, and for each claim data for which it must not be said.

mod common;

use analyse::{Analysis, CompareRequest, Compared, Side, Verdict, analyse, compare};
use common::World;
use common::times::world;
use model::Status;

fn side<'a>(name: &'a str, analysis: &'a Analysis, scenario: Option<u32>) -> Side<'a> {
    Side {
        name,
        analysis,
        scenario,
        levels: &[],
    }
}

fn compared(first: Side, second: Side) -> Result<Compared, String> {
    compare(&CompareRequest {
        first,
        second,
        metric: None,
        equal_within_percent: 2.0,
    })
}

/// Two scenarios of one study.
fn of_one(world: &World) -> Result<Compared, String> {
    let found = analyse(&world.input());
    compared(side("C1", &found, Some(1)), side("C2", &found, Some(2)))
}

/// Two studies with the same scenarios.
fn of_two(old: &World, new: &World) -> Result<Compared, String> {
    let (old, new) = (analyse(&old.input()), analyse(&new.input()));
    compared(side("old", &old, None), side("new", &new, None))
}

const TEN: &[f64] = &[
    10.0, 10.01, 10.02, 10.03, 10.04, 10.05, 10.06, 10.07, 10.08, 10.09,
];

/// Seven of ten runs crashed: that the other three are fast makes it no better.
#[test]
fn a_side_that_fails_more_is_worse() {
    let half: Vec<f64> = TEN.iter().map(|time| time / 2.0).collect();
    let mut world = world(&[("batch", &["a", "b"])], &[TEN, &half]);
    let better = of_one(&world).unwrap();
    assert_eq!(better.is_worse, Some(false));
    let said = &better.sentences[0];
    assert!(said.starts_with("C2 is 2.00× as fast"), "{said}");
    for repetition in 4..=10 {
        world.end_as(&format!("C2-r{repetition}"), Status::Failed, "exit code 1");
    }
    let worse = of_one(&world).unwrap();
    assert_eq!(worse.is_worse, Some(true));
    let said = &worse.sentences;
    let first = "C2 is worse: 7 of its 10 runs did not succeed, 0 of 10 of C1.";
    assert_eq!(said[0], first);
    assert!(
        said[1].starts_with("Of the runs that succeeded, C2 is"),
        "{said:?}"
    );
    // The same share of both sides says nothing.
    for repetition in 4..=10 {
        world.end_as(&format!("C1-r{repetition}"), Status::Failed, "exit code 1");
    }
    let alike = of_one(&world).unwrap();
    assert_eq!(alike.is_worse, Some(false));
    assert!(!alike.sentences.join(" ").contains("worse"));
    // Nor is the second worse where the first fails more.
    for repetition in 4..=6 {
        let record = world.record(&format!("C2-r{repetition}"));
        record.outcome.status = Status::Ok;
        common::times::set(record, model::run::metric::TRAIN_SECONDS, 5.0);
    }
    assert_eq!(of_one(&world).unwrap().is_worse, Some(false));
}

#[test]
fn a_scenario_that_no_longer_succeeds_is_worse_whatever_the_others_do() {
    let tasks: &[&str] = &["s", "m", "l", "xl"];
    let times = |part: f64| -> Vec<Vec<f64>> {
        let of = |size: f64| vec![size * part, size * part * 1.01, size * part * 0.99];
        [1.0, 2.0, 4.0, 8.0].map(of).to_vec()
    };
    let study = |part: f64| {
        let times = times(part);
        let times: Vec<&[f64]> = times.iter().map(Vec::as_slice).collect();
        world(&[("network", tasks)], &times)
    };
    let (old, mut new) = (study(1.0), study(0.9));
    let better = of_two(&old, &new).unwrap();
    assert_eq!(better.is_worse, Some(false));
    assert!(better.sentences[0].contains("over 4 scenarios"));
    for repetition in 1..=3 {
        new.end_as(&format!("C4-r{repetition}"), Status::OutOfMemory, "killed");
    }
    let worse = of_two(&old, &new).unwrap();
    assert_eq!(worse.is_worse, Some(true));
    let said = worse.sentences.join("\n");
    assert!(
        said.starts_with("new is worse: 3 of its 12 runs did not succeed, 0 of 12 of old; no run succeeded with xl."),
        "{said}"
    );
    assert!(said.contains("(9 and 9 runs over 3 scenarios)"), "{said}");
}

#[test]
fn a_side_without_any_success_is_compared() {
    let mut world = world(&[("batch", &["a", "b"])], &[TEN, TEN]);
    for repetition in 1..=10 {
        let run = format!("C2-r{repetition}");
        world.end_as(&run, Status::TimedOut, "after 600 s");
    }
    let worse = of_one(&world).unwrap();
    assert_eq!(
        (worse.is_worse, worse.verdict),
        (Some(true), Verdict::NotEstimable)
    );
    assert!(worse.estimate.is_none());
    assert_eq!(worse.sentences.len(), 1, "{:?}", worse.sentences);
    // The other way round it is not.
    let found = analyse(&world.input());
    let better = compared(side("C2", &found, Some(2)), side("C1", &found, Some(1))).unwrap();
    assert_eq!(better.is_worse, Some(false));
    assert!(!better.sentences.join(" ").contains("worse"));
    // Where neither succeeds there is nothing to compare.
    for repetition in 1..=10 {
        let run = format!("C1-r{repetition}");
        world.end_as(&run, Status::TimedOut, "after 600 s");
    }
    assert!(of_one(&world).is_err());
}

/// One run says nothing of its spread.
#[test]
fn one_run_is_not_compared() {
    let five: &[f64] = &[1.0, 1.01, 0.99, 1.005, 0.995];
    let factors: [(&str, &[&str]); 1] = [("batch", &["a"])];
    let old = world(&factors, &[five]);
    let one = of_two(&old, &world(&factors, &[&[1.06]])).unwrap();
    assert_eq!((one.is_worse, one.verdict), (None, Verdict::NotEstimable));
    let said = &one.sentences[0];
    assert!(
        said.contains("cannot be compared: no scenario was repeated on both sides"),
        "{said}"
    );
    let more = of_two(&old, &world(&factors, &[&[1.06, 1.07, 1.05]])).unwrap();
    assert_eq!(more.is_worse, Some(true));
}

/// Geometric means in the other order than the means: `show` names b as the fastest, and so does the gate.
#[test]
fn a_comparison_does_not_contradict_the_ranking() {
    let varying: Vec<f64> = (0..40)
        .map(|n| if n % 2 == 0 { 1.0 } else { 100.0 })
        .collect();
    let steady: Vec<f64> = (0..40).map(|n| 25.0 + 0.01 * f64::from(n)).collect();
    let world = world(&[("batch", &["a", "b"])], &[&varying, &steady]);
    let found = analyse(&world.input());
    assert!(found.best.is_among_fastest(2));
    let pair = of_one(&world).unwrap();
    assert_eq!(pair.comparison, analyse::Comparison::Difference);
    assert_ne!(pair.is_worse, Some(true));
    assert!(
        !pair.sentences[0].contains("as long"),
        "{:?}",
        pair.sentences
    );
}
