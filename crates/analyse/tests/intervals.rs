//! Intervals that do not claim what the data cannot give: dependent runs, outliers, bills in steps.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use analyse::{Analysis, analyse};
use common::World;
use common::times::world;
use model::money::RentalScope;
use model::run::metric;
use model::{Money, Timestamp};
use rust_decimal::Decimal;
use rust_decimal::prelude::FromPrimitive;
use seeded::SplitMix64;

fn found(world: &World) -> Analysis {
    analyse(&world.input())
}

fn said(found: &Analysis) -> String {
    let findings = found.findings.iter().map(|f| f.text.clone());
    let all: Vec<String> = findings.chain(found.notes.iter().cloned()).collect();
    all.join("\n")
}

/// Four scenarios that do not differ, in the order of their repetitions; noise with this memory of the run before.
fn in_series(repetitions: usize, kept: f64) -> World {
    const SCENARIOS: usize = 4;
    let mut random = SplitMix64::new(3);
    let mut before = stats::normal(&mut random);
    let mut times = vec![Vec::new(); SCENARIOS];
    for _ in 0..repetitions {
        for own in &mut times {
            let fresh = stats::normal(&mut random);
            before = kept * before + (1.0 - kept * kept).sqrt() * fresh;
            own.push(10.0 + 0.5 * before);
        }
    }
    let times: Vec<&[f64]> = times.iter().map(Vec::as_slice).collect();
    let mut world = world(&[("batch", &["a", "b", "c", "d"])], &times);
    for record in &mut world.records {
        let place = record.run.repetition * SCENARIOS as u32 + record.run.scenario;
        record.started = Timestamp::from_millisecond(i64::from(place) * 20_000).unwrap();
    }
    world
}

#[test]
fn runs_that_are_alike_widen_intervals() {
    let alike = found(&in_series(20, 0.95));
    assert!(
        said(&alike).contains("Successive runs are alike"),
        "{}",
        said(&alike)
    );
    let mean = alike.time_of(&alike.scenarios[0]).unwrap();
    let column = alike
        .metrics
        .iter()
        .position(|m| m.name == metric::TRAIN_SECONDS)
        .unwrap();
    let runs = alike.runs.iter().filter(|run| run.scenario == 1);
    let times: Vec<f64> = runs.filter_map(|run| run.values[column]).collect();
    let usual = stats::summary(&times, 0.95).unwrap().mean.margin().unwrap();
    assert!(mean.margin().is_none_or(|margin| margin > 1.5 * usual));
    // Independent ones do not.
    let independent = found(&in_series(20, 0.0));
    assert!(independent.successive.is_none());
    assert!(
        !said(&independent).contains("alike"),
        "{}",
        said(&independent)
    );
}

#[test]
fn too_few_runs_to_know_are_said_to_be() {
    let few = found(&in_series(2, 0.0));
    assert!(
        said(&few).contains("too few repetitions to check whether successive runs"),
        "{}",
        said(&few)
    );
    assert!(!said(&found(&in_series(20, 0.0))).contains("too few repetitions to check"));
}

/// Twelve runs a scenario, one of them ten times as long.
fn with_outlier(repetitions: usize, outlier: f64) -> World {
    let run = |place: usize| 10.0 + 0.01 * (place * 7 % 5) as f64;
    let usual: Vec<f64> = (0..repetitions).map(run).collect();
    let mut disturbed = usual.clone();
    disturbed[repetitions / 2] *= outlier;
    world(&[("batch", &["a", "b"])], &[&usual, &disturbed])
}

#[test]
fn outliers_do_not_decide_effects_and_medians_are_beside_means() {
    let disturbed = found(&with_outlier(12, 10.0));
    let time = disturbed.variation(metric::TRAIN_SECONDS).unwrap();
    assert!(
        time.residuals.contains("trimmed means"),
        "{}",
        time.residuals
    );
    let text = said(&disturbed);
    assert!(text.contains("1 of 24 runs is far from"), "{text}");
    assert!(text.contains("C2 10"), "{text}");
    assert!(!text.contains("C1 10"), "{text}");
    let median = disturbed.scenarios[1].metrics[metric::TRAIN_SECONDS].median_interval;
    assert!(median.unwrap().high < 11.0);
    // Nothing of that without an outlier.
    let quiet = found(&with_outlier(12, 1.0));
    let time = quiet.variation(metric::TRAIN_SECONDS).unwrap();
    assert!(!time.residuals.contains("trimmed"), "{}", time.residuals);
    assert!(!said(&quiet).contains("medians"), "{}", said(&quiet));
}

#[test]
fn of_four_runs_no_fifth_is_left_out() {
    let few = found(&with_outlier(4, 10.0));
    let time = few.variation(metric::TRAIN_SECONDS).unwrap();
    assert!(!time.residuals.contains("trimmed"), "{}", time.residuals);
    assert!(
        time.residuals.contains("at least 10 repetitions"),
        "{}",
        time.residuals
    );
    assert!(said(&few).contains("without an interval"), "{}", said(&few));
}

/// Three runs of just under a minute, billed by the minute, each by itself.
fn billed_by_the_minute(seconds: [f64; 3]) -> Analysis {
    let mut world = common::Recipe {
        factors: vec![common::factor("batch", &[model::Level::from(32)])],
        ..common::Recipe::default()
    }
    .world();
    for (record, seconds) in world.records.iter_mut().zip(seconds) {
        let mut price = common::price("local");
        price.billing.step_seconds = 60;
        price.billing.rental = RentalScope::Run;
        let mut bill = model::Bill::clone(record.bill.as_ref().unwrap());
        let paid = Decimal::from_f64(seconds).unwrap();
        let minutes = Decimal::from_f64((seconds / 60.0).ceil()).unwrap();
        bill.lines[0].seconds = paid;
        bill.total = Money::new(minutes * Decimal::new(1, 2), bill.total.currency);
        record.seconds = seconds;
        (record.bill, record.price) = (Some(bill.into()), Some(price.into()));
    }
    found(&world)
}

#[test]
fn runs_that_were_billed_alike_may_be_billed_more() {
    let width = |seconds| {
        let cost = billed_by_the_minute(seconds).scenarios[0]
            .cost
            .clone()
            .unwrap();
        let interval = cost.estimate.interval.unwrap();
        interval.high - interval.low
    };
    // The next run may well take more than a minute, and then costs a cent more.
    let near = width([57.0, 59.5, 58.0]);
    assert!((0.001..0.02).contains(&near), "{near}");
    // Far from the step there is nothing to be unsure of.
    let far = width([30.0, 30.1, 29.9]);
    assert!(far < 1e-6, "{far}");
}

/// From few runs no number of repetitions can be named that mostly suffices.
#[test]
fn how_often_to_repeat_needs_a_known_spread() {
    let advice = |repetitions: usize| {
        let times: Vec<f64> = (0..repetitions).map(|n| 10.0 + (n % 3) as f64).collect();
        found(&world(&[("batch", &["a"])], &[&times]))
            .advice
            .join("\n")
    };
    assert!(advice(4).contains("not known well enough"), "{}", advice(4));
    assert!(!advice(4).contains("would be enough"), "{}", advice(4));
    assert!(advice(9).contains("would be enough"), "{}", advice(9));
    // Nor from pairs, however many: the widest of them says little of its own spread.
    let pairs: Vec<[f64; 2]> = (0..10)
        .map(|n| [10.0, 10.0 + 0.02 * f64::from(n)])
        .collect();
    let pairs: Vec<&[f64]> = pairs.iter().map(<[f64; 2]>::as_slice).collect();
    let levels = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let advice = found(&world(&[("batch", &levels)], &pairs))
        .advice
        .join("\n");
    assert!(advice.contains("not known well enough"), "{advice}");
}
