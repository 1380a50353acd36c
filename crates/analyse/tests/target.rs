//! Cost of a step, and of training up to an accuracy, reckoned by hand.

#![expect(clippy::unwrap_used, reason = "a test may fail so")]

mod common;

use common::{Recipe, World, analysis, factor};
use model::run::metric;
use model::run::metric::{COST_PER_THOUSAND_STEPS, COST_TO_TARGET, TO_TARGET_SECONDS};
use model::{Bill, Epoch, Level, Metric, Money, Phase, RunRecord};

/// A run of 20 s for one dollar: startup 2 s, four epochs of 4 s, save 2 s; 1000 images an epoch.
fn made_up(record: &mut RunRecord, accuracies: [f64; 4]) {
    let parts = [
        ("startup", 0.0, 2.0),
        ("train", 2.0, 16.0),
        ("save", 18.0, 2.0),
    ];
    record.phases = common::phases_of(&parts);
    record.seconds = 20.0;
    record.epochs = (1..)
        .zip(accuracies)
        .map(|(epoch, accuracy)| Epoch {
            epoch,
            loss: None,
            accuracy: Some(accuracy),
            seconds: Some(4.0),
        })
        .collect();
    let told = [
        (metric::TOTAL_SECONDS, 20.0, "s"),
        (metric::TRAIN_SECONDS, 16.0, "s"),
        (metric::IMAGES_PER_SECOND, 250.0, "1/s"),
        (metric::ACCURACY, 100.0 * accuracies[3], "%"),
    ];
    record.metrics = told
        .map(|(name, value, unit)| {
            let unit = unit.to_owned();
            (name.to_owned(), Metric { value, unit })
        })
        .into();
    let price = record.price.as_mut().unwrap();
    price.per_hour = dollars("180");
    record.bill = Some(
        Bill {
            lines: Vec::new(),
            total: dollars("1"),
            converted: None,
        }
        .into(),
    );
}

fn dollars(amount: &str) -> Money {
    format!("{amount} USD").parse().unwrap()
}

/// C1 gets to 98 % in the third epoch, C2 in the fourth of two runs of three, C3 never.
fn world() -> World {
    let batches = [16, 32, 64].map(Level::from);
    let mut world = Recipe {
        factors: vec![factor("batch", &batches)],
        ..Recipe::default()
    }
    .world();
    world.study.target_accuracy_percent = Some(98.0);
    for record in &mut world.records {
        let last = if record.run.repetition < 3 {
            0.98
        } else {
            0.979
        };
        let accuracies = match record.run.scenario {
            1 => [0.5, 0.9, 0.98, 0.99],
            2 => [0.5, 0.9, 0.95, last],
            _ => [0.5, 0.6, 0.7, 0.8],
        };
        made_up(record, accuracies);
    }
    world
}

#[test]
fn a_thousand_steps_cost_so_much() {
    let found = analysis(&world());
    let steps = |place: usize| {
        let cost = found.scenarios[place].cost.as_ref().unwrap();
        cost.per_thousand_steps.unwrap().amount.normalize()
    };
    // Of 1000 images: 63 steps of 16, the last of 8; 32 of 32; 16 of 64; four times.
    assert_eq!(steps(1).to_string(), "7.8125");
    assert_eq!(steps(2).to_string(), "15.625");
    assert_eq!(steps(0).round_dp(6).to_string(), "3.968254");
    let mean = found.scenarios[1].mean(COST_PER_THOUSAND_STEPS).unwrap();
    assert_eq!(mean.value, 7.8125);
}

#[test]
fn steps_that_were_told_need_no_batch() {
    let mut world = world();
    for record in &mut world.records {
        let (value, unit) = (500.0, String::new());
        record
            .metrics
            .insert("steps".to_owned(), Metric { value, unit });
        record.epochs.clear();
    }
    let cost = analysis(&world).scenarios[0].cost.clone().unwrap();
    assert_eq!(cost.per_thousand_steps, Some(dollars("2")));
}

/// Who stops after 14 s pays the minute all the same.
#[test]
fn what_is_paid_at_least_is_paid_up_to_an_accuracy_too() {
    let mut world = world();
    for record in &mut world.records {
        let rule = &mut record.price.as_mut().unwrap().billing;
        rule.minimum_seconds = 60;
    }
    let found = analysis(&world);
    let target = found.money.target.as_ref().unwrap();
    assert_eq!(target.scenarios[0].mean_cost, Some(dollars("3")));
}

#[test]
fn the_way_to_an_accuracy_is_part_of_a_run() {
    let found = analysis(&world());
    let target = found.money.target.as_ref().unwrap();
    let reached: Vec<(usize, usize)> = target
        .scenarios
        .iter()
        .map(|r| (r.reached, r.runs))
        .collect();
    assert_eq!(reached, [(3, 3), (2, 3), (0, 3)]);
    // 2 s and three epochs of 4 s are 14 s of 20 s, and so of the dollar.
    let first = &target.scenarios[0];
    assert_eq!(first.seconds.as_ref().unwrap().value, 14.0);
    assert_eq!(first.mean_cost, Some(dollars("0.7")));
    let second = &target.scenarios[1];
    assert_eq!(second.seconds.as_ref().unwrap().value, 18.0);
    assert_eq!(second.seconds.as_ref().unwrap().count, 2);
    assert_eq!(second.mean_cost, Some(dollars("0.9")));
    assert!(target.scenarios[2].seconds.is_none() && target.scenarios[2].cost.is_none());
    assert_eq!((target.cheapest, target.fastest), (Some(1), Some(1)));
    assert_eq!(
        target.sentences,
        [
            "98 % is reached cheapest by C1: US$ 0.700, in 14.0 s; C3 never reaches it.",
            "98 % is not reached in every run: C2 in 2 of 3."
        ]
    );
    assert!(found.findings.iter().any(|f| f.text == target.sentences[0]));
    assert!(found.metric(TO_TARGET_SECONDS).is_some() && found.metric(COST_TO_TARGET).is_some());
}

#[test]
fn a_check_after_every_epoch_is_on_the_way() {
    let mut world = world();
    for record in &mut world.records {
        // Four times train 4 s, verify 0.5 s.
        record.phases = (0..8)
            .map(|place| Phase {
                name: if place % 2 == 0 { "train" } else { "verify" }.to_owned(),
                begin_seconds: 4.5 * f64::from(place / 2) + 4.0 * f64::from(place % 2),
                seconds: if place % 2 == 0 { 4.0 } else { 0.5 },
            })
            .collect();
        record.seconds = 18.0;
    }
    let target = analysis(&world).money.target.unwrap();
    assert_eq!(target.scenarios[0].seconds.as_ref().unwrap().value, 13.0);
}

#[test]
fn an_accuracy_told_at_the_end_is_the_last_epochs() {
    let mut world = world();
    for record in &mut world.records {
        record.epochs.iter_mut().for_each(|e| e.accuracy = None);
    }
    let target = analysis(&world).money.target.unwrap();
    assert_eq!(target.scenarios[0].seconds.as_ref().unwrap().value, 18.0);
    assert_eq!(target.scenarios[1].reached, 2);
    assert_eq!(target.scenarios[2].reached, 0);
}

#[test]
fn where_nobody_gets_there_it_is_said() {
    let mut world = world();
    world.study.target_accuracy_percent = Some(99.5);
    let target = analysis(&world).money.target.unwrap();
    assert_eq!(
        target.sentences,
        ["No run reaches 99.5 %: the best, C1, ends at 99 %."]
    );
    world.study.target_accuracy_percent = None;
    assert!(analysis(&world).money.target.is_none());
    assert!(analysis(&world).metric(TO_TARGET_SECONDS).is_none());
}

/// Twenty epochs of one second on the way down to 2 % of errors, a dollar a run.
fn on_its_way(record: &mut RunRecord, shape: impl Fn(f64) -> f64) {
    made_up(record, [0.0; 4]);
    let wiggle = |epoch: u32| 1.0 + 0.01 * f64::from((epoch * 7 + record.run.repetition * 3) % 5);
    record.epochs = (1..=20)
        .map(|epoch| Epoch {
            epoch,
            loss: None,
            accuracy: Some(1.0 - shape(f64::from(epoch)) * wiggle(epoch)),
            seconds: Some(1.0),
        })
        .collect();
    record.phases = common::phases_of(&[("train", 0.0, 20.0)]);
}

fn continued_world(target: f64, shape: impl Fn(f64) -> f64) -> World {
    let mut world = world();
    world.study.target_accuracy_percent = Some(target);
    for record in &mut world.records {
        on_its_way(record, &shape);
    }
    world
}

#[test]
fn a_curve_that_is_on_its_way_is_continued() {
    let shape = |n: f64| 0.02 + 0.4 * n.powf(-0.8);
    // Reached at about 33 epochs.
    let found = analysis(&continued_world(95.5, shape));
    let target = found.money.target.as_ref().unwrap();
    let first = &target.scenarios[0];
    assert_eq!((first.reached, first.runs), (0, 3));
    assert_eq!(first.not_predicted, None);
    let predicted = first.predicted.as_ref().unwrap();
    assert_eq!(predicted.runs, 3);
    assert!(predicted.earliest.epoch <= 33 && predicted.typical.epoch > 20);
    assert!(predicted.latest.as_ref().is_none_or(|l| l.epoch >= 33));
    // A second an epoch, and a dollar for twenty.
    let typical = &predicted.typical;
    assert!((typical.seconds - typical.epoch as f64).abs() < 1e-9);
    let dollars = typical.cost.unwrap().amount.to_string();
    let share = typical.epoch as f64 / 20.0;
    assert!((dollars.parse::<f64>().unwrap() - share).abs() < 1e-6);
    let said = target.sentences.join(" ");
    assert!(
        said.contains("Predicted, not measured: C1 reaches 95.5 % after about"),
        "{said}"
    );
}

#[test]
fn a_target_beyond_the_floor_is_not_promised() {
    let shape = |n: f64| 0.05 + 0.5 * (-0.3 * n).exp();
    let found = analysis(&continued_world(99.5, shape));
    let target = found.money.target.as_ref().unwrap();
    assert!(target.scenarios.iter().all(|r| r.predicted.is_none()));
    let said = target.sentences.join(" ");
    assert!(!said.contains("Predicted, not measured"), "{said}");
    assert!(
        said.contains("Not predicted when 99.5 % is reached"),
        "{said}"
    );
}

/// Four epochs are too few; so they are everywhere in this file, and nothing is said of it.
#[test]
fn short_curves_are_not_continued() {
    let found = analysis(&world());
    let target = found.money.target.as_ref().unwrap();
    assert!(target.scenarios.iter().all(|r| r.predicted.is_none()));
    assert!(!target.sentences.join(" ").contains("redicted"));
    assert!(target.scenarios[2].not_predicted.is_some());
}

/// A run that its time limit ended without the accuracy counts against it.
#[test]
fn a_run_that_timed_out_is_censored() {
    let mut world = world();
    for record in &mut world.records {
        if record.run.scenario == 2 && record.run.repetition == 3 {
            record.outcome.status = model::Status::TimedOut;
        }
    }
    let found = analysis(&world);
    let second = &found.money.target.as_ref().unwrap().scenarios[1];
    assert_eq!((second.reached, second.runs), (2, 3));
    let share = second.share.as_ref().unwrap();
    assert!((share.value - 2.0 / 3.0).abs() < 1e-12 && share.interval.is_some());
    assert_eq!(second.median.unwrap().seconds, 18.0);
}
