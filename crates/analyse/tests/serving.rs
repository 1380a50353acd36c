//! Studies that serve: made-up answers whose costs, cold starts and break-evens are known.

mod common;

use analyse::{Fit, ServedBy};
use common::serving::world;
use common::{Recipe, analysis};
use model::run::metric;
use model::serving::OK;

fn close(actual: f64, expected: f64) {
    assert!(
        (actual / expected - 1.0).abs() < 2e-3,
        "{actual} is not about {expected}"
    );
}

#[test]
fn time_is_the_latency_and_cost_that_of_an_answer() {
    let analysis = analysis(&world());
    assert_eq!(
        analysis.time_metric.as_deref(),
        Some(metric::LATENCY_SECONDS)
    );
    assert!(analysis.variation(metric::COST_PER_INFERENCE).is_some());
    assert!(analysis.variation(metric::COST).is_none());
    // How it is asked decides the latency, and is nothing to choose.
    let advice = analysis.advice.join("\n");
    assert!(!advice.contains("look at load first"), "{advice}");
    // C6 is the machine, warm; C2 the small workers, warm.
    assert!(analysis.best.is_among_cheapest(2));
    assert!(analysis.best.is_among_fastest(6));
    let served = &analysis.serving.unwrap().scenarios;
    assert_eq!(served.len(), 6);
    assert_eq!(served[0].requests, 75);
    assert_eq!(served[0].place, ServedBy::OnDemand { memory_mb: 1024 });
    assert_eq!(served[5].place, ServedBy::AlwaysOn);
}

#[test]
fn cold_answers_are_held_against_warm_ones() {
    let serving = analysis(&world()).serving.unwrap();
    let small = &serving.cold_starts[0];
    assert_eq!((small.cold, small.warm), (1, 2));
    assert_eq!((small.cold_requests, small.warm_requests), (75, 75));
    close(small.ratio.value, 4.0);
    assert!(small.ratio.interval.unwrap().contains(4.0));
    close(small.difference.value, 0.3);
    let said = serving.sentences.iter();
    let said: Vec<&String> = said.filter(|s| s.contains("cold response takes")).collect();
    // The machine has no cold answers, whatever its load is called.
    assert_eq!(said.len(), 2);
    assert!(
        said[0].starts_with("small: a cold response takes 4.0×"),
        "{}",
        said[0]
    );
}

/// Cold responses that vary as much as they differ from warm ones: no "takes longer".
#[test]
fn cold_answers_that_may_be_as_fast_are_not_called_slow() {
    let mut world = world();
    for record in &mut world.records {
        let latency = record.metrics.get_mut(metric::LATENCY_SECONDS).unwrap();
        latency.value = 0.1 + 0.02 * f64::from(record.run.scenario * record.run.repetition % 4);
    }
    let serving = analysis(&world).serving.unwrap();
    let said = serving.sentences.join("\n");
    assert!(
        said.contains("inconclusive: a cold response takes ["),
        "{said}"
    );
    assert!(!said.contains(" more ("), "{said}");
}

#[test]
fn a_machine_is_worth_it_from_a_rate_on_or_never() {
    let serving = analysis(&world()).serving.unwrap();
    let of = |environment: &str| {
        let mut evens = serving.break_evens.iter();
        evens
            .find(|even| even.on_demand_environment == environment)
            .unwrap()
    };
    assert_eq!(
        serving.break_evens.len(),
        2,
        "one for each two environments"
    );
    let small = of("small");
    assert!(small.one_by_one);
    close(small.requests_per_day.value, 4_320_000.0);
    close(small.capacity_per_day, 1_728_000.0);
    assert!(!small.within_capacity);
    let large = of("large");
    close(large.requests_per_day.value, 864_000.0);
    assert!(large.within_capacity);
    let interval = large.requests_per_day.interval.unwrap();
    assert!(interval.low < 864_000.0 && 864_000.0 < interval.high);
    let text = serving.sentences.join("\n");
    assert!(
        !text.contains("machine is cheaper than large"),
        "large is not what one would choose: {text}"
    );
    assert!(
        text.contains("serverless stays cheaper: small against machine"),
        "{text}"
    );
    assert!(
        text.contains("per million responses: 1024 MB (US$ 2.00; 4096 MB costs 5.0× as much)"),
        "{text}"
    );
}

#[test]
fn a_place_that_is_too_large_is_named() {
    let money = analysis(&world()).money;
    let of = |name: &str| {
        let mut found = money.provisioning.iter();
        found.find(|p| p.environment == name).unwrap()
    };
    // 0.3 cores of 1024 / 1769, while there is something to answer.
    close(of("small").cpu_percent, 100.0 * 0.3 / (1024.0 / 1769.0));
    assert_eq!(of("small").verdict, Fit::Fits);
    // More than the two cores there are is not given.
    close(of("large").cpu_percent, 15.0);
    assert_eq!(of("large").verdict, Fit::TooLarge);
    close(of("machine").cpu_percent, 95.0);
    assert_eq!(of("machine").verdict, Fit::TooSmall);
}

#[test]
fn who_fails_most_requests_is_neither_fast_nor_cheap() {
    let mut world = world();
    for record in &mut world.records {
        // The small workers, warm: the cheapest of all.
        if record.run.scenario == 2 {
            let serving = record.serving.as_mut().unwrap();
            serving.ends = [(OK.to_owned(), 5), ("429".to_owned(), 20)].into();
        }
    }
    let analysis = analysis(&world);
    assert!(!analysis.best.is_among_cheapest(2));
    let text = analysis.serving.unwrap().sentences.join("\n");
    assert!(
        text.contains("because requests failed: C2 (80 %)"),
        "{text}"
    );
}

#[test]
fn a_study_that_trains_serves_nothing() {
    assert!(analysis(&Recipe::default().world()).serving.is_none());
}

/// The 99th percentile of 25 requests is the largest of them: described as such, without an interval or a test.
#[test]
fn a_percentile_of_few_requests_is_not_tested() {
    let mut world = world();
    world.study.metrics = vec!["p99".to_owned()];
    for record in &mut world.records {
        let mut p99 = record.metrics[metric::LATENCY_SECONDS].clone();
        p99.value *= 1.5;
        record
            .metrics
            .insert(metric::LATENCY_P99_SECONDS.to_owned(), p99);
    }
    let p99 = |world: &common::World| {
        let found = analysis(world);
        let notes = found.notes.join("\n");
        let tested = found.variation(metric::LATENCY_P99_SECONDS).unwrap();
        let interval = found.scenarios[0].mean(metric::LATENCY_P99_SECONDS);
        let interval = interval.and_then(|mean| mean.interval);
        (tested.problem.clone(), interval.is_some(), notes)
    };
    let (problem, has_interval, notes) = p99(&world);
    assert!(problem.unwrap().contains("needs at least 299 requests"));
    assert!(!has_interval);
    assert!(
        notes.contains("The p99 latency needs at least 299 requests per run"),
        "{notes}"
    );
    for record in &mut world.records {
        let serving = record.serving.as_mut().unwrap();
        serving.ends = [(OK.to_owned(), 400)].into();
    }
    let (problem, has_interval, notes) = p99(&world);
    assert_eq!(problem, None);
    assert!(has_interval && !notes.contains("needs at least"), "{notes}");
}
