//! A report does not contradict itself: figures say what tables say, sentences what was measured, and
//! what is said to bring the results back does.

#![expect(clippy::unwrap_used, reason = "a test may fail so")]

#[path = "../../analyse/tests/common/mod.rs"]
mod common;
mod reading;

use common::{Recipe, World, analysis, factor, serving};
use model::run::{Metric, Origin, Prediction, metric};
use model::{Level, Timestamp};
use reading::{figures, section};
use report::{Analysis, ReportMeta};
use serde_json::Value;

fn meta() -> ReportMeta<'static> {
    ReportMeta {
        generated: Timestamp::from_second(1_710_000_000).unwrap(),
        bancada_version: "0.1.0",
        command: None,
        study_file: None,
    }
}

fn page(analysis: &Analysis) -> String {
    report::html(analysis, &meta())
}

fn drawn(analysis: &Analysis, id: &str) -> Vec<Value> {
    figures(&section(&page(analysis), id).unwrap())
}

fn series<'v>(figure: &'v Value, name: &str) -> Option<&'v Value> {
    let mut all = figure["series"].as_array().unwrap().iter();
    all.find(|s| s["name"] == name && s["mark"] == "line")
}

fn last(numbers: &Value) -> f64 {
    numbers
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .as_f64()
        .unwrap()
}

fn levels(names: &[&str]) -> Vec<Level> {
    names.iter().map(|name| Level::from(*name)).collect()
}

#[test]
fn a_break_even_that_is_reached_is_drawn_and_one_that_is_not_is_no_crossing() {
    let mut analysis = analysis(&serving::world());
    let evens = &mut analysis.serving.as_mut().unwrap().break_evens;
    assert_eq!(
        [evens[0].within_capacity, evens[1].within_capacity],
        [false, true]
    );
    let (capacity, rate) = (evens[1].capacity_per_day, evens[1].requests_per_day.value);
    // Pairs that never break even come first in the list, more than a figure has lines.
    for number in 0..8 {
        let mut never = evens[0].clone();
        never.on_demand_environment = format!("never-{number}");
        evens.insert(0, never);
    }
    let figure = &drawn(&analysis, "money")[0];
    let machine = series(figure, "machine").unwrap();
    assert!(last(&machine["x"]) <= capacity * 1.001, "{machine}");
    let large = series(figure, "large").unwrap();
    assert!(last(&large["x"]) > rate, "its crossing is seen: {large}");
    let mut marks = figure["series"].as_array().unwrap().iter();
    let crossings = marks.find(|s| s["mark"] == "symbols").unwrap();
    assert_eq!(
        crossings["x"].as_array().unwrap().len(),
        1,
        "one pair breaks even"
    );
    assert!((last(&crossings["x"]) / rate - 1.0).abs() < 0.01);
    let lines = figure["series"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|s| s["mark"] == "line");
    assert!(lines.count() <= 6);
}

#[test]
fn break_evens_of_each_model_have_a_panel() {
    let mut analysis = analysis(&serving::world());
    let evens = &mut analysis.serving.as_mut().unwrap().break_evens;
    let others = evens.clone();
    for mut even in others {
        even.phrase = "vgg19".to_owned();
        evens.push(even);
    }
    let count = drawn(&analysis, "money")
        .iter()
        .filter(|f| series(f, "machine").is_some())
        .count();
    assert_eq!(count, 2);
}

fn of_combinations(networks: usize) -> World {
    let names: Vec<Level> = (0..networks)
        .map(|n| Level::from(format!("net{n}").as_str()))
        .collect();
    let mut world = Recipe {
        factors: vec![
            factor("network", &names),
            factor("batch", &[32, 64, 128, 256].map(Level::from)),
        ],
        ..Recipe::default()
    }
    .world();
    for record in &mut world.records {
        let batch: f64 = record
            .scenario
            .level("batch")
            .unwrap()
            .to_string()
            .parse()
            .unwrap();
        let jitter =
            1.0 + 0.01 * f64::from((record.run.scenario * 7 + record.run.repetition * 5) % 4);
        let time = record.metrics.get_mut(metric::TRAIN_SECONDS).unwrap();
        time.value = 10.0 * batch.powf(0.7) * jitter;
    }
    world
}

#[test]
fn laws_that_are_left_out_are_counted() {
    let growth =
        |networks| section(&page(&analysis(&of_combinations(networks))), "growth").unwrap();
    let all = growth(30);
    assert!(all.contains("24 of 30 combinations"), "{all}");
    assert!(all.contains("6 more combinations"), "{all}");
    let few = growth(10);
    assert!(
        few.contains("10 combinations") && !few.contains("more combinations"),
        "{few}"
    );
    assert!(!all.contains("the report has their numbers"));
}

#[test]
fn what_can_be_read_in_one_figure_is_not_divided() {
    let of = |networks: usize| {
        let names: Vec<Level> = (0..networks)
            .map(|n| Level::from(format!("net{n}").as_str()))
            .collect();
        let world = Recipe {
            factors: vec![
                factor("environment", &levels(&["cpu", "gpu"])),
                factor("network", &names),
            ],
            ..Recipe::default()
        };
        drawn(&analysis(&world.world()), "time")
    };
    let few = of(4);
    assert_eq!(few.len(), 1, "8 scenarios are one figure");
    let parts = of(15);
    assert_eq!(parts.len(), 2, "30 are a figure an environment");
    for axis in ["y", "right"] {
        assert_eq!(parts[0][axis]["linear"], parts[1][axis]["linear"], "{axis}");
        assert_eq!(
            parts[0][axis]["logarithmic"], parts[1][axis]["logarithmic"],
            "{axis}"
        );
    }
}

#[test]
fn without_prediction_times_a_bar_is_the_latency() {
    let mut world = serving::world();
    let names = |world: &World| -> Vec<String> {
        let figure = &drawn(&analysis(world), "serving")[0];
        let all = figure["series"].as_array().unwrap().iter();
        all.map(|s| s["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&world), ["the model", "everything else"]);
    for record in &mut world.records {
        record.metrics.remove(metric::PREDICTION_SECONDS);
        record.metrics.remove(metric::PREDICTION_PERCENT);
    }
    assert_eq!(names(&world), ["latency"]);
    let own = section(&page(&analysis(&world)), "serving").unwrap();
    assert!(!own.contains("everything else"), "{own}");
}

#[test]
fn costs_of_what_serves_are_per_million_everywhere() {
    let analysis = analysis(&serving::world());
    let answer = section(&page(&analysis), "answer").unwrap();
    let axes: Vec<String> = figures(&answer)
        .iter()
        .map(|f| f["y"]["title"].to_string())
        .collect();
    assert!(
        axes.iter()
            .all(|title| title.contains("per million responses")),
        "{axes:?}"
    );
    let own = page(&analysis);
    assert!(own.contains("<h2 id=\"serving-title\">Responses</h2>"));
}

#[test]
fn metrics_of_the_users_own_stand_behind_latency_and_cost_without_their_unit() {
    let mut world = serving::world();
    for record in &mut world.records {
        let unit = "s".to_owned();
        record.metrics.insert(
            "decode_p50_seconds".to_owned(),
            Metric {
                value: 0.0599,
                unit,
            },
        );
    }
    let table = section(&page(&analysis(&world)), "scenarios").unwrap();
    let heads: Vec<&str> = table
        .split("<button type=\"button\">")
        .skip(1)
        .map(|rest| rest.split_once('<').unwrap().0)
        .collect();
    let place = |name: &str| heads.iter().position(|h| h.starts_with(name)).unwrap();
    assert!(place("decode p50 (ms)") > place("latency"), "{heads:?}");
    assert!(place("decode p50 (ms)") > place("per million"), "{heads:?}");
}

fn commands(world: &World) -> String {
    section(&page(&analysis(world)), "reproduce")
        .unwrap()
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
}

#[test]
fn measurements_that_were_imported_are_imported_again() {
    let mut world = serving::world();
    let measured = commands(&world);
    assert!(
        measured.contains("bancada run study.toml --prepare"),
        "{measured}"
    );
    assert!(
        measured.contains("Measured with Bancada 0.1.0, seed"),
        "{measured}"
    );
    let mut records = world.records.iter_mut();
    let first = records.next().unwrap();
    let imported = |line| Origin::Imported {
        file: "a.csv".into(),
        line,
        undated: false,
    };
    records.for_each(|record| record.origin = imported(2));
    first.origin = Origin::Measured {
        bancada: "0.1.0".to_owned(),
    };
    let both = commands(&world);
    assert!(
        both.contains("bancada import --study study.toml FILES")
            && both.contains("bancada run study.toml"),
        "{both}"
    );
    world.records[0].origin = imported(3);
    let own = commands(&world);
    assert!(
        own.contains("bancada import --study study.toml FILES"),
        "{own}"
    );
    assert!(
        !own.contains("bancada run study.toml") && !own.contains("Measured with Bancada"),
        "{own}"
    );
    let method = section(&page(&analysis(&world)), "method").unwrap();
    assert!(
        method.contains("measured elsewhere") && !method.contains("by bancada"),
        "{method}"
    );
}

#[test]
fn a_part_that_was_predicted_is_predicted_again() {
    let mut world = Recipe::default().world();
    world
        .records
        .retain(|record| record.scenario.level("image").unwrap().to_string() == "64");
    for record in &mut world.records {
        let prediction = Prediction {
            steps_seen: 4,
            steps: 100,
            unit: Default::default(),
            seen_seconds: 1.0,
            relative_error: 0.02,
            is_settled: true,
        };
        record.origin = Origin::Predicted {
            bancada: "0.1.0".to_owned(),
            prediction,
        };
    }
    let own = commands(&world);
    assert!(
        own.contains("bancada run study.toml --predict --only image=64 --prepare"),
        "{own}"
    );
    assert!(!own.contains("all runs"), "{own}");
    assert!(own.contains("Predicted with Bancada 0.1.0"), "{own}");
}

#[test]
fn rules_of_the_command_line_are_said() {
    let mut world = Recipe::default().world();
    world.study.until = Some("cost 5%".parse().unwrap());
    let own = commands(&world);
    assert!(
        own.contains("bancada run study.toml --until 'cost 5%'"),
        "{own}"
    );
}

#[test]
fn markdown_begins_with_the_answer_and_keeps_commands() {
    let mut analysis = analysis(&Recipe::default().world());
    analysis
        .advice
        .push("Type `bancada run study_a.toml` for the rest_of_it.".to_owned());
    analysis.answer.cautions = vec!["Beware.".to_owned()];
    let text = report::markdown(&analysis, &meta());
    let place = |part: &str| {
        text.find(part)
            .unwrap_or_else(|| panic!("no {part} in {text}"))
    };
    let first = &analysis.answer.recommendations[0];
    assert!(place("## The answer") < place(&format!("**{}**", first.choices.join(" or "))));
    assert!(place("**") < place(&first.how_sure));
    first
        .saves
        .iter()
        .for_each(|saving| assert!(place(saving) < place("## In short")));
    assert!(place("> Beware.") < place("## In short"), "{text}");
    assert!(
        text.contains("Type `bancada run study_a.toml` for the rest\\_of\\_it."),
        "{text}"
    );
}

#[test]
fn dates_of_the_footer_follow_the_language() {
    let world = Recipe::default().world();
    messages::Language::Portuguese.scope(|| {
        let own = page(&analysis(&world));
        let (_, footer) = own.split_once("<footer>").unwrap();
        assert!(footer.contains("09/03/2024 16:00 UTC"), "{footer}");
        let text = report::markdown(&analysis(&world), &meta());
        assert!(text.contains("09/03/2024 16:00 UTC"), "{text}");
    });
}

#[test]
fn differences_have_the_unit_of_their_metric() {
    let mut analysis = analysis(&Recipe::default().world());
    let variation = analysis.variations.first_mut().unwrap();
    variation.metric = metric::PEAK_MEMORY_BYTES.to_owned();
    let effect = variation.effects.first_mut().unwrap();
    effect.comparison = analyse::Comparison::Difference;
    effect.estimate.value = 26_377_557.0;
    let own = page(&analysis);
    assert!(own.contains(">+ 26.4 MB<"), "bytes are said as such");
}

#[test]
fn long_rentals_are_said_in_hours() {
    let mut analysis = analysis(&Recipe::default().world());
    analysis.bills[0].rented.seconds = "101906.25".parse().unwrap();
    let own = page(&analysis).replace('\u{a0}', " ");
    assert!(
        own.contains("runs: 1 d 4 h"),
        "{}",
        section(&own, "bill").unwrap()
    );
}

#[test]
fn a_source_that_has_its_year_does_not_have_it_twice() {
    let mut analysis = analysis(&Recipe::default().world());
    let mut price = (*analysis.bills[0].price).clone();
    (price.source, price.date) = ("a study, 2023".to_owned(), "2023".to_owned());
    analysis.bills[0].price = price.into();
    let own = section(&page(&analysis), "bill").unwrap();
    assert!(own.contains(">a study, 2023<"), "{own}");
}

#[test]
fn one_framework_has_no_others() {
    let world = common::studies::workers();
    let mut several = world
        .records
        .iter()
        .filter_map(|r| r.framework.as_ref().map(|f| &f.name));
    let first = several.next().unwrap();
    assert!(several.all(|name| name == first));
    let mut unverified = world;
    for record in &mut unverified.records {
        record.framework.as_mut().unwrap().verified = None;
    }
    let own = page(&analysis(&unverified));
    assert!(own.contains("was not verified"), "that is said");
    assert!(!own.contains("same as the others"), "of no others");
}

#[test]
fn a_column_of_runs_is_there_where_they_differ() {
    let heads = |world: &World| section(&page(&analysis(world)), "scenarios").unwrap();
    let column = ">runs</button>";
    let mut world = Recipe::default().world();
    world.records.retain(|record| record.run.repetition < 3);
    assert!(!heads(&world).contains(column), "all have 2");
    world.records.pop();
    assert!(heads(&world).contains(column), "one has 1");
}
