//! Laws of growth in an analysis: what is stated of made-up runs, and of which nothing may be.

#![expect(clippy::unwrap_used, reason = "a test may fail so")]

mod common;

use analyse::{Analysis, GrowthResult};
use common::{Recipe, World, analysis, factor};
use model::run::metric;
use model::{Level, RunRecord};
use predict::growth::{Law, Refusal};
use seeded::SplitMix64;
use stats::distribution::normal_quantile;

/// Runs of so many seconds by the number of cores, with 2 % of noise.
fn world(cores: &[i64], repetitions: u32, seconds: impl Fn(f64) -> f64) -> World {
    let levels: Vec<Level> = cores.iter().map(|n| Level::from(*n)).collect();
    let mut world = Recipe {
        factors: vec![factor("cores", &levels)],
        repetitions,
        ..Recipe::default()
    }
    .world();
    let mut random = SplitMix64::new(11);
    for record in &mut world.records {
        let cores = record.scenario.level("cores").unwrap().as_float().unwrap();
        let drawn = (random.below(1 << 40) as f64 + 0.5) / (1_u64 << 40) as f64;
        let noise = (0.02 * normal_quantile(drawn)).exp();
        set_time(record, seconds(cores) * noise);
    }
    world
}

fn set_time(record: &mut RunRecord, seconds: f64) {
    record.seconds = seconds;
    record.phases = common::phases_of(&[("train", 0.0, seconds)]);
    for name in [metric::TRAIN_SECONDS, metric::TOTAL_SECONDS] {
        if let Some(told) = record.metrics.get_mut(name) {
            told.value = seconds;
        }
    }
}

/// 0.10 a machine and 0.04 a core, by the hour.
fn priced(mut world: World) -> World {
    for record in &mut world.records {
        let cores = record.scenario.level("cores").unwrap().as_float().unwrap();
        let rate = format!("{:.2} USD", 0.10 + 0.04 * cores);
        let mut price = (**record.price.as_ref().unwrap()).clone();
        price.per_hour = rate.parse().unwrap();
        let amount = price.per_hour.amount
            * rust_decimal::Decimal::try_from(record.seconds).unwrap()
            / rust_decimal::Decimal::from(3600);
        let mut bill = (**record.bill.as_ref().unwrap()).clone();
        bill.total.amount = amount;
        bill.converted = None;
        record.price = Some(price.into());
        record.bill = Some(bill.into());
    }
    world
}

fn usl(n: f64) -> f64 {
    100.0 * (1.0 + 0.05 * (n - 1.0) + 0.002 * n * (n - 1.0)) / n
}

fn only(analysis: &Analysis) -> &GrowthResult {
    assert_eq!(analysis.growths.len(), 1);
    &analysis.growths[0]
}

fn text(analysis: &Analysis) -> String {
    let found = analysis.findings.iter().map(|f| f.text.as_str());
    found.collect::<Vec<_>>().join("\n")
}

#[test]
fn cores_follow_the_law_and_the_cheapest_is_named() {
    let cores: Vec<i64> = (1..=24).collect();
    let found = analysis(&priced(world(&cores, 10, usl)));
    let growth = only(&found);
    let line = &growth.lines[0];
    let law = line.law.as_ref().unwrap();
    assert_eq!(law.law, Law::Scalability);
    // 0.04 + 0.10/n times the time is lowest at 6.
    let cheapest = line.cheapest.as_ref().unwrap();
    let expense = |n: &i64| (0.10 + 0.04 * *n as f64) * usl(*n as f64);
    let best = cores
        .iter()
        .min_by(|a, b| expense(a).total_cmp(&expense(b)));
    assert_eq!(cheapest.level.level, best.unwrap().to_string());
    let interval = cheapest.per_run.interval.unwrap();
    assert!(interval.contains(expense(best.unwrap()) / 3600.0));
    let said = text(&found);
    assert!(
        said.contains("universal scalability law, contention"),
        "{said}"
    );
    assert!(said.contains("Predicted, not measured: 48 cores"), "{said}");
    assert!(said.contains("Cheapest by the law of cores: "), "{said}");
    let curve = &law.curve;
    assert!(curve.iter().all(|p| p.extrapolated == (p.at > 24.0)));
    assert_eq!(curve.last().unwrap().at, 48.0);
}

#[test]
fn levels_at_one_price_have_no_cheapest() {
    let found = analysis(&world(&[1, 2, 4, 8], 5, usl));
    assert!(only(&found).lines[0].law.is_some());
    assert!(only(&found).lines[0].cheapest.is_none());
    assert!(!text(&found).contains("Cheapest by the law"));
}

#[test]
fn two_levels_are_told_what_is_missing() {
    let found = analysis(&priced(world(&[1, 2], 5, usl)));
    let growth = only(&found);
    assert_eq!(
        growth.lines[0].refusal,
        Some(Refusal::TooFewLevels { levels: 2 })
    );
    assert!(growth.lines[0].cheapest.is_none());
    let said = text(&found);
    assert!(
        said.contains("No law of cores is stated: 2 levels have results"),
        "{said}"
    );
    assert!(!said.contains("Predicted"), "{said}");
}

#[test]
fn one_repetition_states_no_law() {
    let found = analysis(&priced(world(&[1, 2, 4, 8, 16], 1, usl)));
    let line = &only(&found).lines[0];
    assert!(matches!(
        line.refusal,
        Some(Refusal::TooFewRepetitions { .. })
    ));
    let said = text(&found);
    assert!(
        said.contains("No law of cores is stated: without repetitions"),
        "{said}"
    );
    assert!(
        !said.contains("Predicted") && !said.contains("by the law"),
        "{said}"
    );
}

#[test]
fn times_that_no_law_fits_state_none() {
    let zigzag = |n: f64| if n as i64 % 3 == 1 { 100.0 } else { 40.0 };
    let found = analysis(&priced(world(&[1, 2, 3, 4, 5, 6, 7, 8], 5, zigzag)));
    let line = &only(&found).lines[0];
    assert!(matches!(line.refusal, Some(Refusal::NoLawFits { .. })));
    let said = text(&found);
    assert!(said.contains("no law fits"), "{said}");
    assert!(
        !said.contains("Predicted") && !said.contains("by the law"),
        "{said}"
    );
}

/// Where cores change nothing, no law is stated in words, whichever describes the noise best.
#[test]
fn a_factor_without_an_effect_has_no_law_in_words() {
    let found = analysis(&world(&[1, 2, 4, 8, 16], 5, |_| 50.0));
    let growth = only(&found);
    assert!(!growth.different);
    assert!(growth.sentences.is_empty(), "{:?}", growth.sentences);
}

/// Image sizes are a task, and still grow; days are blocks, and do not.
#[test]
fn sizes_grow_and_days_do_not() {
    let mut study = world(&[32, 64, 128, 224], 4, |x| 0.01 * x.powf(1.8));
    let renamed = |world: &mut World, name: &str| {
        world.study.factors[0].name = name.to_owned();
        let scenarios = world.plan.scenarios.iter_mut();
        let records = world.records.iter_mut().map(|r| &mut r.scenario);
        for scenario in scenarios.chain(records) {
            scenario.levels[0].factor = name.to_owned();
        }
    };
    renamed(&mut study, "image");
    let found = analysis(&study);
    let law = only(&found).lines[0].law.as_ref().unwrap();
    assert_eq!(law.law, Law::Power);
    let said = text(&found);
    assert!(said.contains("image to the power of 1."), "{said}");
    assert!(said.contains("448 px would take"), "{said}");
    renamed(&mut study, "day");
    assert!(analysis(&study).growths.is_empty());
}
