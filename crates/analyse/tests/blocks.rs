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
