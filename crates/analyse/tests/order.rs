//! When runs were measured: differences that may be those of the machine at two times.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use analyse::{Analysis, CompareRequest, Compared, Side, Verdict, analyse, compare};
use common::World;
use common::times::world;
use model::run::{Origin, metric};
use model::{RunSequence, Timestamp};
use seeded::SplitMix64;

fn found(world: &World) -> Analysis {
    analyse(&world.input())
}

fn said(found: &Analysis) -> String {
    let findings = found.findings.iter().map(|f| f.text.clone());
    let all: Vec<String> = findings.chain(found.notes.iter().cloned()).collect();
    all.join("\n")
}

fn verdict(found: &Analysis) -> Verdict {
    let time = found.variation(metric::TRAIN_SECONDS).unwrap();
    time.terms[0].verdict
}

/// The second level against the first.
fn pair(found: &Analysis) -> Compared {
    let side = |name: &'static str, number: u32| Side {
        name,
        analysis: found,
        scenario: Some(number),
        levels: &[],
    };
    compare(&CompareRequest {
        first: side("C1", 1),
        second: side("C2", 2),
        metric: None,
        equal_within_percent: 2.0,
    })
    .unwrap()
}

fn is_ranked(found: &Analysis) -> bool {
    let rankings = found
        .best
        .tasks
        .iter()
        .filter_map(|task| task.time.as_ref());
    rankings
        .into_iter()
        .any(|ranking| !ranking.behind.is_empty())
}

/// Noise with this memory of the run before.
fn noise(seed: u64, count: usize, kept: f64) -> Vec<f64> {
    let mut random = SplitMix64::new(seed);
    let mut before = stats::normal(&mut random);
    let next = |_| {
        let own = before;
        before = kept * before + (1.0 - kept * kept).sqrt() * stats::normal(&mut random);
        own
    };
    (0..count).map(next).collect()
}

/// Rows of a file: two levels that do not differ, `of_second` is the level of every run in the order of time.
fn imported(values: &[f64], of_second: impl Fn(usize) -> bool, is_dated: bool) -> World {
    let mut times = [Vec::new(), Vec::new()];
    let mut starts = [Vec::new(), Vec::new()];
    for (place, value) in values.iter().enumerate() {
        let level = usize::from(of_second(place));
        times[level].push(*value);
        starts[level].push(60_000 * place as i64);
    }
    let mut world = world(&[("batch", &["a", "b"])], &[&times[0], &times[1]]);
    world.study.order = RunSequence::Blocks;
    for record in &mut world.records {
        let (level, place) = (
            record.run.scenario as usize - 1,
            record.run.repetition as usize - 1,
        );
        record.started = Timestamp::from_millisecond(starts[level][place]).unwrap();
        record.origin = Origin::Imported {
            file: "runs.csv".to_owned(),
            line: 1,
            undated: !is_dated,
        };
    }
    world
}

fn in_series(seed: u64) -> Vec<f64> {
    noise(seed, 20, 0.9)
        .iter()
        .map(|own| 10.0 * (0.05 * own).exp())
        .collect()
}

/// Ten runs of a, then ten of b, on a machine that changes slowly.
#[test]
fn levels_one_after_the_other_do_not_differ_by_what_the_machine_does() {
    const STUDIES: u64 = 60;
    let mut claims = 0;
    let mut doubted = 0;
    let mut gated = 0;
    for seed in 0..STUDIES {
        let found = found(&imported(&in_series(seed), |place| place >= 10, true));
        let alike = said(&found).contains("Successive runs are alike");
        let differs = verdict(&found) == Verdict::Different || is_ranked(&found);
        claims += u64::from(differs);
        doubted += u64::from(said(&found).contains("not measured in turn cannot be compared"));
        assert!(!(differs && alike), "{seed}: {}", said(&found));
        let pair = pair(&found);
        gated += u64::from(pair.is_worse == Some(true));
        if alike {
            assert_eq!((pair.verdict, pair.is_worse), (Verdict::Inconclusive, None));
            let sentence = &pair.sentences[0];
            assert!(sentence.contains("not in turn"), "{sentence}");
        }
    }
    assert!(gated <= 6, "{gated} of {STUDIES}");
    assert!(claims <= 6, "{claims} of {STUDIES}");
    assert!(doubted >= 40, "{doubted}");
}

/// In turn, what drifts is in both levels alike: a real difference is found all the same.
#[test]
fn levels_in_turn_are_compared_although_runs_are_alike() {
    let mut sure = 0;
    for seed in 0..20 {
        let mut values = in_series(seed);
        values
            .iter_mut()
            .skip(1)
            .step_by(2)
            .for_each(|value| *value *= 1.2);
        let found = found(&imported(&values, |place| place % 2 == 1, true));
        assert!(
            !said(&found).contains("not measured in turn"),
            "{}",
            said(&found)
        );
        let differs = verdict(&found) == Verdict::Different && is_ranked(&found);
        sure += u32::from(differs && pair(&found).is_worse == Some(true));
    }
    assert!(sure >= 18, "{sure}");
}

/// Without start times nothing is known of the order, and that is said, not that there are too few repetitions.
#[test]
fn imports_without_start_times_say_that_order_is_unknown() {
    let found = found(&imported(&in_series(1), |place| place >= 10, false));
    let text = said(&found);
    assert!(text.contains("have no start times"), "{text}");
    assert!(!text.contains("too few repetitions"), "{text}");
    assert!(found.drift.is_none());
}

/// a has start times and b has none: nothing is known of how they followed one another.
#[test]
fn imports_with_some_start_times_say_how_many_are_missing() {
    let of_b = |place: usize| place >= 10;
    for dated in [10, 2] {
        let mut world = imported(&in_series(1), of_b, true);
        let late = |record: &&mut model::RunRecord| {
            let place = (record.run.scenario - 1) * 10 + record.run.repetition - 1;
            place as usize >= dated
        };
        for record in world.records.iter_mut().filter(late) {
            record.origin = Origin::Imported {
                file: "runs.csv".to_owned(),
                line: 1,
                undated: true,
            };
        }
        let text = said(&found(&world));
        let missing = format!("{} of 20 runs have no start time", 20 - dated);
        assert!(text.contains(&missing), "{text}");
        for wrong in ["too few repetitions", "in turn", "the same start time"] {
            assert!(!text.contains(wrong), "{wrong}: {text}");
        }
    }
    // One of twenty does no harm.
    let mut world = imported(&in_series(1), of_b, true);
    let last = world.record("C2-r10");
    last.origin = Origin::Imported {
        file: "runs.csv".to_owned(),
        line: 1,
        undated: true,
    };
    let text = said(&found(&world));
    assert!(text.contains("Successive runs are alike"), "{text}");
}

/// All rows of one date, sorted by their values, are no drift.
#[test]
fn equal_starts_are_no_order() {
    let mut values = noise(4, 16, 0.0);
    values.sort_by(f64::total_cmp);
    let times: Vec<f64> = values.iter().map(|own| 10.0 + own).collect();
    let mut world = imported(&times, |place| place % 2 == 1, true);
    let day = Timestamp::from_millisecond(1_767_571_200_000).unwrap();
    world
        .records
        .iter_mut()
        .for_each(|record| record.started = day);
    let same = found(&world);
    assert!(
        same.drift.as_ref().is_none_or(|drift| !drift.seen),
        "{}",
        said(&same)
    );
    assert!(
        said(&same).contains("the same start time"),
        "{}",
        said(&same)
    );
    // Blocks by the order in a file would take the whole spread away.
    assert_eq!(verdict(&same), Verdict::Inconclusive);
}

/// What is told of a machine that changed follows the starts, not a setting that imports do not have.
#[test]
fn a_drift_of_an_import_is_told_by_its_order() {
    let drifting = |place: usize| 10.0 * (1.0 + 0.05 * place as f64);
    let times: Vec<f64> = (0..16).map(drifting).collect();
    let sentence = |world: &World| found(world).drift.unwrap().sentence;
    let in_turn = sentence(&imported(&times, |place| place % 2 == 1, true));
    assert!(in_turn.contains("measured in turn"), "{in_turn}");
    assert!(!in_turn.contains("order ="), "{in_turn}");
    let apart = sentence(&imported(&times, |place| place >= 8, true));
    assert!(apart.contains("one after the other"), "{apart}");
}

/// What the files of an import do not have was excluded by nobody.
#[test]
fn an_import_excludes_nothing() {
    let times: [&[f64]; 4] = [&[1.0, 1.1], &[2.0, 2.1], &[3.0, 3.1], &[4.0, 4.1]];
    let factors: [(&str, &[&str]); 2] = [("batch", &["a", "b"]), ("stack", &["x", "y"])];
    let mut world = world(&factors, &times);
    world.records.retain(|record| record.run.scenario != 4);
    let absent = [
        ("batch".to_owned(), "b".into()),
        ("stack".to_owned(), "y".into()),
    ];
    world.study.exclude = vec![absent.into_iter().collect()];
    let assumed = |world: &World| {
        let found = found(world);
        let time = found.variation(metric::TRAIN_SECONDS).unwrap();
        time.assumptions.join("\n")
    };
    let here = assumed(&world);
    assert!(here.contains("are excluded by the study"), "{here}");
    for record in &mut world.records {
        record.origin = Origin::Imported {
            file: "runs.csv".to_owned(),
            line: 1,
            undated: true,
        };
    }
    let imported = assumed(&world);
    assert!(imported.contains("1 of 4 combinations"), "{imported}");
    assert!(!imported.contains("excluded"), "{imported}");
}
