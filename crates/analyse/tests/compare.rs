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

/// One failure more of 24 may be chance: nothing is worse for it, and nothing is proven to be no worse.
#[test]
fn one_failure_more_is_not_worse() {
    let times: Vec<f64> = (0..24).map(|n| 10.0 + 0.01 * f64::from(n % 5)).collect();
    let less: Vec<f64> = times.iter().map(|time| 0.9 * time).collect();
    let mut world = world(&[("batch", &["a", "b"])], &[&times, &less]);
    world.end_as("C2-r1", Status::Failed, "exit code 1");
    let one = of_one(&world).unwrap();
    assert_eq!(
        (one.is_worse, one.fails_more, one.may_fail_more),
        (None, false, true)
    );
    let said = one.sentences.join("\n");
    assert!(!said.contains("worse"), "{said}");
    assert!(
        said.contains("C2: 1 of 24 runs did not succeed, 0 of 24 of C1 (inconclusive)"),
        "{said}"
    );
    for repetition in 2..=5 {
        world.end_as(&format!("C2-r{repetition}"), Status::Failed, "exit code 1");
    }
    let five = of_one(&world).unwrap();
    assert_eq!((five.is_worse, five.may_fail_more), (Some(true), false));
}

/// Both fail one time in ten: at most one comparison in twenty says that the second is worse.
#[test]
fn equal_rates_of_failure_are_rarely_called_worse() {
    let times = [10.0, 10.01, 10.02, 10.03].repeat(6);
    let mut random = seeded::SplitMix64::new(9);
    let mut worse = 0;
    const STUDIES: usize = 200;
    for _ in 0..STUDIES {
        let mut world = world(&[("batch", &["a", "b"])], &[&times, &times]);
        for scenario in 1..=2 {
            for repetition in 1..=24 {
                if random.below(10) == 0 {
                    let run = format!("C{scenario}-r{repetition}");
                    world.end_as(&run, Status::Failed, "exit code 1");
                }
            }
        }
        worse += usize::from(of_one(&world).unwrap().is_worse == Some(true));
    }
    assert!(worse * 20 <= STUDIES, "{worse} of {STUDIES}");
}

/// The counts stand in the order of the names.
#[test]
fn counts_of_runs_follow_the_names() {
    let factors: [(&str, &[&str]); 1] = [("batch", &["a", "b"])];
    let said = of_one(&world(&factors, &[&TEN[..5], &[20.0, 20.1, 20.2]])).unwrap();
    let said = &said.sentences[0];
    assert!(
        said.starts_with("C2 ") && said.ends_with("(3 and 5 runs)."),
        "{said}"
    );
}

/// a on Monday and b on Tuesday: their difference may be that of the days, and `show` says so.
#[test]
fn what_differs_in_its_day_too_is_not_compared() {
    let times: [&[f64]; 4] = [TEN, &[], &[], &[13.0, 13.1, 12.9, 13.05]];
    let pair_by = |factor: &str| {
        let factors: [(&str, &[&str]); 2] = [(factor, &["x", "y"]), ("batch", &["a", "b"])];
        let found = analyse(&world(&factors, &times).input());
        compared(side("C1", &found, Some(1)), side("C4", &found, Some(4))).unwrap()
    };
    assert_eq!(pair_by("stack").is_worse, Some(true));
    let pair = pair_by("day");
    assert_eq!((pair.is_worse, pair.verdict), (None, Verdict::NotEstimable));
    let said = pair.sentences.join("\n");
    assert!(said.contains("they differ in day too"), "{said}");
    assert!(pair.estimate.is_none() && pair.scenarios.is_empty());
}
