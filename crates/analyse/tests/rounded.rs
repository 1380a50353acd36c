//! Times that were written down in whole steps.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use analyse::{Analysis, CompareRequest, Compared, Side, Verdict, analyse, compare, format};
use common::World;
use common::times::world;
use model::run::{Origin, metric};
use seeded::SplitMix64;

fn found(world: &World) -> Analysis {
    analyse(&world.input())
}

fn said(found: &Analysis) -> String {
    let findings = found.findings.iter().map(|f| f.text.clone());
    let all: Vec<String> = findings.chain(found.notes.iter().cloned()).collect();
    all.join("\n")
}

fn imported(times: &[&[f64]]) -> World {
    let mut world = world(&[("batch", &["a", "b"])], times);
    for record in &mut world.records {
        record.origin = Origin::Imported {
            file: "runs.csv".to_owned(),
            line: 1,
            undated: true,
        };
    }
    world
}

fn verdict(found: &Analysis) -> Option<Verdict> {
    let time = found.variation(metric::TRAIN_SECONDS)?;
    Some(time.terms.first()?.verdict)
}

fn is_ranked(found: &Analysis) -> bool {
    let mut rankings = found
        .best
        .tasks
        .iter()
        .filter_map(|task| task.time.as_ref());
    rankings.any(|ranking| !ranking.behind.is_empty())
}

fn compared(found: &Analysis) -> Compared {
    let side = |scenario| Side {
        levels: &[],
        name: if scenario == 1 { "a" } else { "b" },
        analysis: found,
        scenario: Some(scenario),
    };
    compare(&CompareRequest {
        first: side(1),
        second: side(2),
        metric: None,
        equal_within_percent: 2.0,
    })
    .unwrap()
}

/// Two levels that do not differ, timed to the second: at most one study in twenty states a difference.
#[test]
fn whole_seconds_are_no_differences() {
    const STUDIES: u64 = 400;
    for (count, mean, sd) in [
        (2, 10.5, 0.15),
        (3, 10.5, 0.15),
        (5, 10.5, 0.15),
        (3, 10.3, 0.3),
        (5, 10.5, 0.02),
        (5, 10.5, 1.0),
    ] {
        let mut claims = [0; 3];
        for seed in 0..STUDIES {
            let mut random = SplitMix64::new(seed);
            let mut times = || -> Vec<f64> {
                (0..count)
                    .map(|_| (mean + sd * stats::normal(&mut random)).round())
                    .collect()
            };
            let (a, b) = (times(), times());
            let found = found(&imported(&[&a, &b]));
            claims[0] += u64::from(verdict(&found) == Some(Verdict::Different));
            claims[1] += u64::from(is_ranked(&found));
            claims[2] += u64::from(compared(&found).verdict == Verdict::Different);
        }
        // 5 % of 400, and two standard errors.
        assert!(
            claims.iter().all(|n| *n <= 28),
            "{count}, {mean}, {sd}: {claims:?}"
        );
    }
}

/// Equal numbers at this resolution are not equal times, and a mean of whole seconds is not known to the nanosecond.
#[test]
fn equal_whole_seconds_are_not_equal_times() {
    let same: [&[f64]; 2] = [&[10.0, 10.0, 10.0], &[10.0, 10.0, 11.0]];
    let open = found(&imported(&same));
    assert_eq!(verdict(&open), Some(Verdict::Inconclusive));
    assert_ne!(compared(&open).verdict, Verdict::PracticallyEqual);
    assert!(said(&open).contains("rounded to 1"), "{}", said(&open));
    let mean = open.time_of(&open.scenarios[0]).unwrap();
    let text = format::quantity(mean, 1.0).text();
    assert!(text.contains('±') && text.len() < 12, "{text}");
    assert!(mean.interval.unwrap().contains(10.4), "{mean:?}");
}

#[test]
fn a_step_apart_is_open_and_ten_steps_apart_are_not() {
    let near = found(&imported(&[&[10.0, 10.0, 10.0], &[11.0, 11.0, 11.0]]));
    assert_eq!(verdict(&near), Some(Verdict::Inconclusive));
    assert_eq!(compared(&near).verdict, Verdict::Inconclusive);
    assert!(!is_ranked(&near));
    let far = found(&imported(&[&[10.0, 10.0, 10.0], &[20.0, 20.0, 20.0]]));
    assert_eq!(verdict(&far), Some(Verdict::Different));
    assert_eq!(compared(&far).verdict, Verdict::Different);
    assert!(is_ranked(&far));
    // The same numbers from a clock of nanoseconds.
    let times: [&[f64]; 2] = [&[10.0, 10.0, 10.0], &[11.0, 11.0, 11.0]];
    let measured = found(&world(&[("batch", &["a", "b"])], &times));
    assert_eq!(verdict(&measured), Some(Verdict::Different));
    assert!(!said(&measured).contains("rounded"), "{}", said(&measured));
}

/// Rounding that is small beside the spread is not worth a word.
#[test]
fn fine_steps_change_nothing() {
    let times: [&[f64]; 2] = [&[10.12, 10.31, 9.87, 10.05], &[12.02, 12.41, 11.83, 12.22]];
    let fine = found(&imported(&times));
    assert_eq!(verdict(&fine), Some(Verdict::Different));
    assert!(!said(&fine).contains("rounded"), "{}", said(&fine));
}

/// Which of two machines is cheaper follows from times that are known to the second.
#[test]
fn whole_seconds_do_not_decide_which_machine_is_cheaper() {
    let cheaper = |is_imported: bool| {
        let mut world = common::Recipe {
            factors: vec![common::factor(
                "environment",
                &["local".into(), "gpu".into()],
            )],
            noise: 0.0,
            ..common::Recipe::default()
        }
        .world();
        for record in &mut world.records {
            let seconds = if record.run.scenario == 1 { 10.0 } else { 11.0 };
            common::times::set(record, metric::TRAIN_SECONDS, seconds);
            common::times::set(record, metric::TOTAL_SECONDS, seconds);
            record.seconds = seconds;
            if is_imported {
                record.origin = Origin::Imported {
                    file: "runs.csv".to_owned(),
                    line: 1,
                    undated: true,
                };
            }
        }
        let found = found(&world);
        let pairs = &found.money.break_even.more_expensive;
        pairs
            .iter()
            .map(|pair| pair.cost_ratio.interval.unwrap())
            .next()
            .unwrap()
    };
    let (measured, imported) = (cheaper(false), cheaper(true));
    assert!(
        imported.high - imported.low > measured.high - measured.low + 0.05,
        "{imported:?} {measured:?}"
    );
}

/// Three runs of 10 s against three of 11 s, in two files of whole seconds: the difference may be a hundredth.
#[test]
fn few_whole_seconds_of_two_studies_are_rounded() {
    fn side<'a>(name: &'a str, analysis: &'a Analysis) -> Side<'a> {
        Side {
            name,
            analysis,
            scenario: Some(1),
            levels: &[],
        }
    }
    let verdict = |old: &[f64], new: &[f64]| {
        let (old, new) = (found(&imported(&[old, &[]])), found(&imported(&[new, &[]])));
        let pair = compare(&CompareRequest {
            first: side("old", &old),
            second: side("new", &new),
            metric: None,
            equal_within_percent: 2.0,
        });
        pair.unwrap().verdict
    };
    let fine = [10.502, 10.513, 10.498, 10.507, 10.511];
    assert_eq!(verdict(&[10.0; 3], &[11.0; 3]), Verdict::Inconclusive);
    assert_eq!(verdict(&[10.0; 3], &fine), Verdict::Inconclusive);
    assert_eq!(verdict(&[10.0; 3], &[15.0; 3]), Verdict::Different);
    assert_eq!(verdict(&[10.001, 10.002, 10.0], &fine), Verdict::Different);
}
