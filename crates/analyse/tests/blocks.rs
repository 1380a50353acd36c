//! Repetitions and days that differ as a whole: what they have in common is no difference between choices, and they
//! are no choices.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
#[path = "common/truth.rs"]
#[expect(dead_code, reason = "only its noise is used here")]
mod truth;

use analyse::{
    Analysis, CompareRequest, Compared, Side, Verdict, Wishes, analyse, compare, recommend,
};
use common::World;
use common::times::world;
use model::run::metric;
use model::{Role, RunSequence};
use seeded::SplitMix64;
use truth::normal;

fn found(world: &World) -> Analysis {
    analyse(&world.input())
}

fn compared(analysis: &Analysis, sides: [u32; 2]) -> Compared {
    let side = |number: u32, name: &'static str| Side {
        name,
        analysis,
        scenario: Some(number),
        levels: &[],
    };
    compare(&CompareRequest {
        first: side(sides[0], "first"),
        second: side(sides[1], "second"),
        metric: None,
        equal_within_percent: 2.0,
    })
    .unwrap()
}

/// Two choices, repeated one after the other: repetitions differ much, choices by 5 %.
fn repetitions(count: usize, between: f64) -> World {
    let mut random = SplitMix64::new(73);
    let blocks: Vec<f64> = (0..count).map(|_| between * normal(&mut random)).collect();
    let mut times = |more: f64| -> Vec<f64> {
        let each = blocks.iter();
        each.map(|block| more * (block + 0.005 * normal(&mut random)).exp())
            .collect()
    };
    let (a, b) = (times(10.0), times(10.5));
    world(&[("batch", &["a", "b"])], &[&a, &b])
}

#[test]
fn rankings_and_comparisons_take_out_what_the_table_takes_out() {
    let world = repetitions(8, 0.1);
    let found_ = found(&world);
    let effects = &found_.variation(metric::TRAIN_SECONDS).unwrap().effects;
    assert_eq!(effects[0].verdict, Verdict::Different);
    let time = found_.best.tasks[0].time.as_ref().unwrap();
    assert_eq!(
        (time.first.as_slice(), time.verdict),
        (&[1][..], Verdict::Different)
    );
    assert!(time.stability.unwrap() > 0.99);
    let pair = compared(&found_, [1, 2]);
    assert_eq!(
        (pair.verdict, pair.is_worse),
        (Verdict::Different, Some(true))
    );
    // In the order of a list, repetitions are no blocks.
    let mut listed = repetitions(8, 0.1);
    listed.study.order = RunSequence::Listed;
    let listed = found(&listed);
    let time = listed.best.tasks[0].time.as_ref().unwrap();
    assert_eq!(time.verdict, Verdict::Inconclusive);
    assert_eq!(compared(&listed, [1, 2]).verdict, Verdict::Inconclusive);
}

/// Two versions measured in different studies have no repetition in common.
#[test]
fn different_studies_have_no_common_blocks() {
    let study = found(&repetitions(8, 0.1));
    let again = found(&repetitions(8, 0.1));
    let side = |analysis, name, scenario| Side {
        name,
        analysis,
        scenario: Some(scenario),
        levels: &[],
    };
    let pair = compare(&CompareRequest {
        first: side(&study, "old", 1),
        second: side(&again, "new", 2),
        metric: None,
        equal_within_percent: 2.0,
    });
    assert_eq!(pair.unwrap().verdict, Verdict::Inconclusive);
}

const DAYS: [&str; 5] = ["mon", "tue", "wed", "thu", "fri"];

/// Two choices on five days that differ much: b takes so much longer.
fn days(more: f64, runs: usize) -> World {
    let mut random = SplitMix64::new(17);
    let mut times: Vec<Vec<f64>> = Vec::new();
    for _ in DAYS {
        let day = 10.0 * (0.2 * normal(&mut random)).exp();
        for factor in [1.0, 1.0 + more] {
            let run = |_| day * factor * (0.005 * normal(&mut random)).exp();
            times.push((0..runs).map(run).collect());
        }
    }
    let times: Vec<&[f64]> = times.iter().map(Vec::as_slice).collect();
    let mut world = world(&[("day", &DAYS), ("batch", &["a", "b"])], &times);
    world.study.order = RunSequence::Listed;
    world
}

#[test]
fn days_are_not_ranked() {
    for runs in [1, 2] {
        let world = days(0.05, runs);
        assert_eq!(world.study.role("day"), Role::Block);
        let found = found(&world);
        let said = found.best.sentences.join("\n");
        assert!(said.starts_with("Fastest: a ("), "{said}");
        assert!(said.contains("the next, b, takes "), "{said}");
        let by = found.best.tasks[0].time.as_ref().unwrap().behind[0];
        assert!(by.low > 0.0 && by.low < 0.05 && by.high > 0.05, "{by:?}");
        // Of whatever day, it is the same choice.
        let is_fastest = |number: u32| found.best.is_among_fastest(number);
        assert!((1..=10).all(|number| is_fastest(number) == (number % 2 == 1)));
        let time = found.best.tasks[0].time.as_ref().unwrap();
        assert_eq!(time.verdict, Verdict::Different);
        assert_eq!((time.first.len(), time.behind.len()), (1, 1));
        let answer = &found.answer.recommendations[0];
        assert_eq!(answer.choices, ["a"]);
        let wishes = Wishes {
            deadline_seconds: Some(1000.0),
            ..Wishes::default()
        };
        let advice = recommend(&found, &wishes).unwrap();
        assert!(
            advice[0].contains("choose a (") && !advice[0].contains("C1"),
            "{advice:?}"
        );
    }
}

#[test]
fn choices_that_do_not_differ_are_not_ranked_by_their_days() {
    let found = found(&days(0.0, 2));
    let time = found.best.tasks[0].time.as_ref().unwrap();
    assert_ne!(time.verdict, Verdict::Different);
    assert!(time.behind.is_empty());
    let said = found.best.sentences.join("\n");
    assert!(!said.contains("C1") && !said.contains("the next"), "{said}");
}

/// A choice that was measured on the fast days only is no faster for it.
#[test]
fn a_fast_day_is_no_merit() {
    let mut world = days(0.05, 2);
    let mean = |world: &World, choice: &str, day: &str| {
        let runs = world.records.iter().filter(|r| {
            let is =
                |factor: &str, level: &str| r.scenario.level(factor).unwrap().to_string() == level;
            is("day", day) && is("batch", choice)
        });
        let values: Vec<f64> = runs
            .map(|r| r.metrics[metric::TRAIN_SECONDS].value)
            .collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let mut order = DAYS;
    order.sort_by(|x, y| mean(&world, "b", x).total_cmp(&mean(&world, "b", y)));
    // Without its slowest days b has the lower mean.
    let slow = [order[3], order[4]];
    world.records.retain(|r| {
        let is = |factor: &str| r.scenario.level(factor).unwrap().to_string();
        is("batch") == "a" || !slow.contains(&is("day").as_str())
    });
    let found = found(&world);
    let said = found.best.sentences.join("\n");
    assert!(said.starts_with("Fastest: a"), "{said}");
    assert!(
        !found.best.is_among_fastest(2) || said.contains("inconclusive"),
        "{said}"
    );
}

/// Of studies in which choices do not differ, so many name a fastest one.
#[test]
fn blocks_make_no_winner() {
    for between in [0.0, 0.05] {
        let mut wrong = 0;
        for seed in 1..=200 {
            let mut random = SplitMix64::new(seed);
            let blocks: Vec<f64> = (0..4).map(|_| between * normal(&mut random)).collect();
            let mut times = || -> Vec<f64> {
                let each = blocks.iter();
                each.map(|b| (b + 0.02 * normal(&mut random)).exp())
                    .collect()
            };
            let (a, b, c) = (times(), times(), times());
            let world = world(&[("batch", &["a", "b", "c"])], &[&a, &b, &c]);
            let found = found(&world);
            let time = found.best.tasks[0].time.as_ref().unwrap();
            wrong += usize::from(!time.behind.is_empty());
        }
        // The level of a ranking is 0.63 %.
        assert!(wrong <= 4, "{wrong} of 200, blocks {between}");
    }
}

/// Two equal choices: what a day or a host does to one of them is in all its runs there.
fn equal_choices(blocks: &[&str], runs: usize, of_choice: f64, seed: u64) -> World {
    let mut random = SplitMix64::new(seed);
    let mut times: Vec<Vec<f64>> = Vec::new();
    for _ in blocks {
        let block = 10.0 * (0.1 * normal(&mut random)).exp();
        for _ in 0..2 {
            let own = block * (of_choice * normal(&mut random)).exp();
            let run = |_| own * (0.005 * normal(&mut random)).exp();
            times.push((0..runs).map(run).collect());
        }
    }
    let times: Vec<&[f64]> = times.iter().map(Vec::as_slice).collect();
    let mut world = world(&[("day", blocks), ("batch", &["a", "b"])], &times);
    world.study.order = RunSequence::Listed;
    world
}

/// At 5 % and less, 8 of 60 studies are three standard deviations above. Runs counted as if each were a day of its own
/// stated an effect in half of them.
#[test]
fn a_day_counts_once_however_many_runs_it_has() {
    for (blocks, runs, of_choice) in [(&DAYS[..4], 3, 0.03), (&DAYS[..2], 5, 0.02)] {
        let (mut effects, mut rankings) = (0, 0);
        for seed in 1..=60 {
            let found = found(&equal_choices(blocks, runs, of_choice, seed));
            let effect = &found.variation(metric::TRAIN_SECONDS).unwrap().effects[0];
            effects += usize::from(effect.verdict == Verdict::Different);
            let time = found.best.tasks[0].time.as_ref();
            rankings += usize::from(!time.unwrap().behind.is_empty());
        }
        let (days, found) = (blocks.len(), (effects, rankings));
        assert!(effects <= 8 && rankings <= 2, "{days} days: {found:?}");
    }
}

fn of_days(factors: &[(&str, &[&str])], time: impl Fn(&[usize]) -> Option<f64>) -> World {
    let mut random = SplitMix64::new(29);
    let sizes: Vec<usize> = factors.iter().map(|(_, levels)| levels.len()).collect();
    let mut times: Vec<Vec<f64>> = Vec::new();
    for cell in 0..sizes.iter().product() {
        let mut rest: usize = cell;
        let mut levels = vec![0; sizes.len()];
        for (place, size) in sizes.iter().enumerate().rev() {
            (levels[place], rest) = (rest % size, rest / size);
        }
        let runs = time(&levels).map(|time| {
            let run = |_| time * (0.002 * normal(&mut random)).exp();
            (0..3).map(run).collect()
        });
        times.push(runs.unwrap_or_default());
    }
    let times: Vec<&[f64]> = times.iter().map(Vec::as_slice).collect();
    let mut world = world(factors, &times);
    world.study.order = RunSequence::Listed;
    world
}

/// Of the large network, a was measured on the first half of the days and b on the other; the small one had both always.
#[test]
fn a_task_that_days_tell_apart_is_named_and_not_compared() {
    let factors: [(&str, &[&str]); 3] = [
        ("network", &["small", "large"]),
        ("day", &["d0", "d1", "d2", "d3"]),
        ("batch", &["a", "b"]),
    ];
    let found = found(&of_days(&factors, |levels| {
        let [network, day, batch] = *levels else {
            return None;
        };
        let size = [1.0, 10.0][network];
        let is_measured = network == 0 || (day < 2) == (batch == 0);
        is_measured.then(|| size * (1.0 + 0.1 * day as f64) * [1.0, 1.1][batch])
    }));
    let said = found.best.sentences.join("\n");
    for part in [
        "small: fastest: a (",
        "large · a (cannot be distinguished from day)",
        "large · b (cannot be distinguished from day)",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let terms = &found.variation(metric::TRAIN_SECONDS).unwrap().terms;
    let terms = terms.iter().filter_map(|term| term.sentence.clone());
    let all = terms.collect::<Vec<_>>().join("\n");
    assert!(!all.contains("with large, "), "{all}");
}

#[test]
fn why_a_choice_that_is_a_day_is_not_ranked_is_said() {
    let factors: [(&str, &[&str]); 2] = [("day", &["mon", "tue"]), ("batch", &["a", "b"])];
    let found = found(&of_days(&factors, |levels| {
        (levels[0] == levels[1]).then_some(10.0 + levels[0] as f64)
    }));
    let said = found.best.sentences.join("\n");
    let why = "Not ranked: a (cannot be distinguished from day) and b (cannot";
    assert!(said.contains(why), "{said}");
    assert_eq!(found.answer.nothing.as_ref(), found.best.sentences.first());
    let wishes = Wishes {
        deadline_seconds: Some(1000.0),
        ..Wishes::default()
    };
    assert!(recommend(&found, &wishes).is_err());
}

/// The large batch of y was never measured, on whichever day.
#[test]
fn combinations_without_a_result_are_counted_without_days() {
    let factors: [(&str, &[&str]); 3] = [
        ("stack", &["x", "y"]),
        ("day", &DAYS),
        ("batch", &["a", "b"]),
    ];
    for is_missing in [true, false] {
        let found = found(&of_days(&factors, |levels| {
            let [stack, day, batch] = *levels else {
                return None;
            };
            let day = 1.0 + 0.1 * day as f64;
            let is_measured = !is_missing || (stack, batch) != (1, 1);
            is_measured.then(|| 10.0 * day * [1.0, 2.0][stack] * [1.0, 1.1][batch])
        }));
        let said = found.variation(metric::TRAIN_SECONDS).unwrap();
        let said = said.assumptions.join("\n");
        assert_eq!(said.contains("1 of 4 combinations"), is_missing, "{said}");
        assert!(!said.contains("different numbers of results"), "{said}");
    }
}

/// b was not measured on the two slow days: it is slower than a on every day that it shares with it.
#[test]
fn days_of_one_choice_only_do_not_make_it_look_worse() {
    let days: [&str; 7] = ["d0", "d1", "d2", "d3", "d4", "d5", "d6"];
    let slow = [1.0, 1.02, 0.98, 1.01, 1.03, 2.0, 2.1];
    let found = found(&of_days(
        &[("day", &days), ("batch", &["a", "b"])],
        |levels| {
            let [day, batch] = *levels else { return None };
            (batch == 0 || day < 5).then(|| 10.0 * slow[day] * [1.0, 1.1][batch])
        },
    ));
    let effect = &found.variation(metric::TRAIN_SECONDS).unwrap().effects[0];
    let time = found.best.tasks[0].time.as_ref().unwrap();
    let behind = time.behind[0];
    assert!(
        (behind.by + 1.0 - effect.estimate.value).abs() < 0.005,
        "{behind:?}"
    );
    let mean = |number: u32| {
        found
            .choice(number)
            .unwrap()
            .mean(metric::TRAIN_SECONDS)
            .unwrap()
            .value
    };
    let [a, b] = [mean(time.first[0]), mean(behind.scenario)];
    assert!(
        (b / a - 1.0 - behind.by).abs() < 0.005,
        "{a} {b} {behind:?}"
    );
    let saving = &found.answer.tasks[0].picks[0].savings[0];
    assert!(
        (saving.seconds.unwrap() / b - saving.part).abs() < 0.005,
        "{saving:?}"
    );
    // On a day like the last two neither is in time.
    let wishes = Wishes {
        deadline_seconds: Some(12.0),
        ..Wishes::default()
    };
    let said = recommend(&found, &wishes).unwrap().join(" ");
    assert!(!said.contains("choose"), "{said}");
}

/// A limit for 19 of 20 runs holds on a day to come, too: days differ by 10 %.
#[test]
fn a_deadline_is_kept_on_days_to_come() {
    let (mut kept, mut all) = (0, 0);
    for seed in 1..=100 {
        let world = equal_choices(&DAYS[..4], 5, 0.0, seed);
        let found = found(&world);
        let mut random = SplitMix64::new(1000 + seed);
        // The least limit that is said to be kept.
        let (mut low, mut high) = (1.0, 100.0);
        for _ in 0..12 {
            let middle = f64::midpoint(low, high);
            let wishes = Wishes {
                deadline_seconds: Some(middle),
                ..Wishes::default()
            };
            match recommend(&found, &wishes).unwrap()[0].contains("choose") {
                true => high = middle,
                false => low = middle,
            }
        }
        for _ in 0..40 {
            let day = 10.0 * (0.1 * normal(&mut random)).exp();
            kept += usize::from(day * (0.005 * normal(&mut random)).exp() <= high);
            all += 1;
        }
    }
    let share = f64::from(u32::try_from(kept).unwrap()) / f64::from(all);
    assert!((0.92..0.98).contains(&share), "{share}");
}

/// Two levels of one factor: which is faster is what the effect says.
#[test]
fn one_question_has_one_verdict() {
    let mut stated = 0;
    for seed in 1..=60 {
        let mut random = SplitMix64::new(seed);
        let mut times: Vec<Vec<f64>> = Vec::new();
        for _ in DAYS {
            let day = 10.0 + normal(&mut random);
            times.push(vec![day + 0.2 * normal(&mut random)]);
            times.push(vec![day + 0.4 + 0.2 * normal(&mut random)]);
        }
        let times: Vec<&[f64]> = times.iter().map(Vec::as_slice).collect();
        let mut world = world(&[("day", &DAYS), ("batch", &["a", "b"])], &times);
        world.study.order = RunSequence::Listed;
        let found = found(&world);
        let variation = found.variation(metric::TRAIN_SECONDS).unwrap();
        if variation.scale != stats::Scale::Linear {
            continue;
        }
        let time = found.best.tasks[0].time.as_ref().unwrap();
        let effect = variation.effects[0].verdict == Verdict::Different;
        stated += usize::from(effect);
        assert_eq!(effect, time.verdict == Verdict::Different, "seed {seed}");
        // More days than there were would decide what these do not.
        let of_effect = variation.terms[0].repetitions;
        for needed in [of_effect, time.repetitions].into_iter().flatten() {
            assert!(needed > DAYS.len(), "{needed}");
        }
    }
    assert!((10..60).contains(&stated), "{stated}");
}
