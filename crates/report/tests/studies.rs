//! What the report shows of frameworks, batches, workers, profiles and studies made smaller.

#![expect(clippy::unwrap_used, reason = "a test may fail so")]

#[path = "../../analyse/tests/common/mod.rs"]
mod common;
mod reading;

use common::studies::{self, verified};
use common::{Recipe, World, analysis, factor};
use model::run::metric;
use model::{Level, Timestamp};
use reading::{csv, figures, parse_csv, section};
use report::{ReportMeta, TerminalOptions, terminal};
use serde_json::Value;

fn meta() -> ReportMeta<'static> {
    ReportMeta {
        generated: Timestamp::from_second(1_710_000_000).unwrap(),
        bancada_version: "0.1.0",
        command: None,
        study_file: None,
    }
}

fn page(world: &World) -> String {
    report::html(&analysis(world), &meta())
}

fn screen(world: &World) -> String {
    let options = TerminalOptions {
        width: Some(4000),
        ..TerminalOptions::default()
    };
    terminal(&analysis(world), &options)
}

fn drawn(world: &World, id: &str) -> Vec<Value> {
    figures(&section(&page(world), id).unwrap())
}

fn lines(figure: &Value) -> Vec<&Value> {
    let all = figure["series"].as_array().unwrap().iter();
    all.filter(|s| s["mark"] == "line" && s["says"].is_array())
        .collect()
}

#[test]
fn eighty_loss_curves_are_eight_figures_of_ten_lines() {
    let panels = drawn(&studies::study_d(), "learning");
    assert_eq!(panels.len(), 8, "no run told accuracies");
    let ranges: Vec<&Value> = panels.iter().map(|p| &p["y"]["logarithmic"]).collect();
    assert!(ranges.iter().all(|r| *r == ranges[0] && r.is_array()));
    for panel in &panels {
        assert_eq!(panel["y"]["log"], true);
        let names: Vec<&str> = lines(panel)
            .iter()
            .map(|t| t["name"].as_str().unwrap())
            .collect();
        assert!((8..=10).contains(&names.len()), "{names:?}");
        assert!(names.contains(&"batch 32"));
    }
    let learning = section(&page(&studies::study_d()), "learning").unwrap();
    assert_eq!(
        learning.matches("<li><button").count(),
        10,
        "one legend for all"
    );
    assert!(learning.contains("Diverged: C21 (caffe · googlenet · cpu · batch 1) from epoch 4 on"));
}

#[test]
fn a_diverged_line_ends_with_a_gap() {
    let panels = drawn(&studies::study_d(), "learning");
    let googlenet = &panels[2];
    let first = lines(googlenet)[0];
    let gaps: Vec<bool> = first["y"]
        .as_array()
        .unwrap()
        .iter()
        .map(Value::is_null)
        .collect();
    assert_eq!(gaps[..4], [false, false, false, true]);
    assert!(gaps[3..].iter().all(|gap| *gap));
    let mut all = googlenet["series"].as_array().unwrap().iter();
    let cross = all.find(|s| s["mark"] == "symbols").unwrap();
    assert_eq!(cross["x"][0], 3);
}

#[test]
fn frameworks_share_a_figure_where_no_factor_is_a_scale() {
    let panels = drawn(&studies::study_a(), "learning");
    // Eight of losses, eight of accuracies; three frameworks and two networks in each.
    assert_eq!(panels.len(), 16);
    assert!(panels.iter().all(|p| lines(p).len() == 6));
    let names: Vec<&str> = lines(&panels[0])
        .iter()
        .map(|t| t["name"].as_str().unwrap())
        .collect();
    assert_eq!(names[0], "mxnet · rede1");
}

#[test]
fn a_few_curves_are_one_figure_and_one_epoch_is_none() {
    let mut world = Recipe::default().world();
    assert_eq!(drawn(&world, "learning").len(), 2);
    assert_eq!(lines(&drawn(&world, "learning")[0]).len(), 8);
    for record in &mut world.records {
        record.epochs.truncate(1);
    }
    assert!(section(&page(&world), "learning").is_none());
}

#[test]
fn a_loss_within_a_decade_has_a_linear_axis() {
    let mut world = Recipe::default().world();
    for epoch in world.records.iter_mut().flat_map(|r| &mut r.epochs) {
        epoch.loss = Some(2.0 - 0.1 * f64::from(epoch.epoch));
    }
    let panels = drawn(&world, "learning");
    assert_eq!(panels[0]["y"]["log"], false);
}

#[test]
fn what_did_not_fit_is_in_the_figure_and_in_the_table() {
    let world = studies::study_d();
    let sweep = section(&page(&world), "sweeps").unwrap();
    assert!(sweep.contains("Time per image against batch"));
    assert_eq!(
        sweep
            .matches("class=\"number ended\">out of memory<")
            .count(),
        5
    );
    assert_eq!(
        sweep.matches("class=\"number ended\">timed out<").count(),
        1
    );
    assert_eq!(sweep.matches("2 of 3 out of memory").count(), 1);
    let figure = &figures(&sweep)[0];
    assert_eq!(
        (lines(figure).len(), figure["x"]["log"].as_bool()),
        (8, Some(true))
    );
    let marks = figure["series"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|s| s["mark"] == "symbols");
    let marks: Vec<f64> = marks
        .flat_map(|t| t["x"].as_array().unwrap())
        .filter_map(Value::as_f64)
        .collect();
    assert_eq!(marks.len(), 6);
    assert!(marks.contains(&512.0) && marks.contains(&1.0));
    let markdown = report::markdown(&analysis(&world), &meta());
    assert!(markdown.contains("## Time per image against batch"));
    assert!(markdown.contains("| out of memory |"), "{markdown}");
}

#[test]
fn speed_ups_are_said_drawn_and_tabled() {
    let world = studies::workers();
    let said = "2 workers train rede1 1.70× as fast as 1 [1.68, 1.72] (efficiency 85 %).";
    assert!(screen(&world).contains(said), "{}", screen(&world));
    let section = section(&page(&world), "speed-up").unwrap();
    assert!(section.contains(said));
    assert!(section.contains("1.70× <span class=\"half\">[1.68, 1.72], 85 %</span>"));
    let figure = &figures(&section)[0];
    let ideal = figure["series"]
        .as_array()
        .unwrap()
        .iter()
        .find(|t| t["name"] == "ideal")
        .unwrap();
    assert_eq!(
        (ideal["y"][0].as_f64(), ideal["y"][1].as_f64()),
        (Some(1.0), Some(2.0))
    );
    assert!(report::markdown(&analysis(&world), &meta()).contains("## Speed-up of workers"));
}

#[test]
fn a_gpu_over_a_cpu_is_laid_out_along_the_batch() {
    let world = studies::study_d();
    let part = section(&page(&world), "speed-up").unwrap();
    assert_eq!(part.matches("<td>gpu over cpu</td>").count(), 4);
    assert_eq!(lines(&figures(&part)[0]).len(), 4);
    // Without a numeric factor, along the one with the most levels.
    let part = section(&page(&studies::study_a()), "speed-up").unwrap();
    assert_eq!(part.matches("<td>gpu over cpu</td>").count(), 8);
    assert!(part.contains(">framework mxnet</th>") && part.contains(">pytorch</th>"));
}

#[test]
fn profiles_are_bars_that_add_up() {
    let world = studies::study_d();
    let part = section(&page(&world), "profile").unwrap();
    assert!(part.contains("its steps come after the measured ones and are not part of them"));
    assert!(part.contains("MEMCPYHtoD &lt;weights&gt;"));
    let figure = &figures(&part)[0];
    let bars = figure["series"].as_array().unwrap();
    assert_eq!(bars.len(), 8);
    let first: f64 = bars.iter().filter_map(|b| b["x"][0].as_f64()).sum();
    assert!((first - 100.0).abs() < 1e-4, "{first}");
    assert!(part.starts_with(" aria-labelledby") && part.contains("<details>"));
    assert!(section(&page(&studies::workers()), "profile").is_none());
}

#[test]
fn frameworks_that_were_not_verified_are_warned_about_everywhere() {
    let world = studies::study_d();
    let part = section(&page(&world), "frameworks").unwrap();
    assert!(part.contains("class=\"callout\""));
    assert!(part.contains("caffe was not verified for alexnet and googlenet"));
    assert!(part.contains("<td class=\"bad\">no</td>"));
    assert!(part.contains("2023-11-03") && part.contains("4e-6") && part.contains("5 steps"));
    assert!(part.contains("the 36 of 40 combinations"));
    assert!(
        screen(&world)
            .contains("! 60 runs: caffe was not verified to train the same alexnet as the others")
    );
    assert!(report::markdown(&analysis(&world), &meta()).contains("> **caffe was not verified"));

    let mut fine = studies::study_a();
    assert!(
        !section(&page(&fine), "frameworks")
            .unwrap()
            .contains("callout")
    );
    for record in &mut fine.records {
        if let Some(framework) = &mut record.framework {
            framework.verified = Some(verified(0.2, Some("fc<1>")));
        }
    }
    assert!(
        screen(&fine).contains(
            "! mxnet does not compute the same rede1 as the others, from layer `fc<1>` on"
        )
    );
    assert!(
        section(&page(&fine), "frameworks")
            .unwrap()
            .contains("differs from layer fc&lt;1&gt; on")
    );
}

#[test]
fn the_engine_alone_has_no_section_of_frameworks() {
    let own = page(&Recipe::default().world());
    assert!(section(&own, "frameworks").is_none() && section(&own, "speed-up").is_none());
}

#[test]
fn a_smaller_study_is_said_wherever_results_are_read() {
    let world = studies::study_c();
    let found = analysis(&world);
    let said = "images 1024 (of 60000), epochs 2 (of 12), repetitions 3 (of 10), environment: machine, docker only. Times and costs are those of these runs, not of the full study.";
    let html = page(&world).replace('\u{a0}', " ");
    let place = html.find(said).unwrap();
    assert!(
        place < html.find("id=\"summary\"").unwrap(),
        "before any result"
    );
    assert!(screen(&world).contains(said));
    assert!(report::markdown(&found, &meta()).contains(said));
    assert!(report::latex(&found).contains(said));
    let json: Value = serde_json::from_str(&report::json(&found, &meta())).unwrap();
    let scale = &json["analysis"]["study"]["scale"];
    assert_eq!(
        (scale["name"].as_str(), scale["changes"][0]["to"].as_str()),
        (Some("small"), Some("1024"))
    );
}

#[test]
fn losses_and_profiles_are_exported_as_told() {
    let mut world = studies::study_d();
    world.records.truncate(30);
    let found = analysis(&world);
    let losses = parse_csv(&csv("losses", &found));
    let told: usize = world.records.iter().map(|r| r.epochs.len()).sum();
    assert_eq!(losses.len(), told + 1);
    assert_eq!(
        losses[0],
        [
            "study",
            "run",
            "scenario",
            "repetition",
            "status",
            "environment",
            "factor_framework",
            "factor_network",
            "factor_environment",
            "factor_batch",
            "epoch",
            "loss",
            "accuracy_percent",
            "seconds"
        ]
    );
    let lost = losses
        .iter()
        .skip(1)
        .filter(|row| row[11].is_empty())
        .count();
    let expected = world
        .records
        .iter()
        .flat_map(|r| &r.epochs)
        .filter(|e| e.loss.is_none());
    assert_eq!(lost, expected.count(), "a diverged epoch has an empty loss");

    let profile = parse_csv(&csv("profile", &found));
    assert_eq!(profile[0][10..], ["operator", "kind", "calls", "seconds"]);
    let operators: usize = world.records.iter().map(|r| r.profile.len()).sum();
    assert_eq!(profile.len(), operators + 1);
    assert!(profile.iter().all(|row| row.len() == 14));
    assert!(
        profile.iter().any(|row| row[11] == "something new"),
        "kinds as told"
    );
}

#[test]
fn many_combinations_do_not_make_a_page_without_end() {
    let numbers = |step: i64| (1..=12).map(|n| Level::from(n * step)).collect::<Vec<_>>();
    let mut world = Recipe {
        factors: vec![
            factor("batch", &numbers(8)),
            factor("threads", &numbers(1)),
            factor("image", &numbers(16)),
        ],
        repetitions: 1,
        ..Recipe::default()
    }
    .world();
    world
        .records
        .retain(|r| r.metrics.contains_key(metric::TRAIN_SECONDS));
    let own = page(&world);
    let sweeps = section(&own, "sweeps").unwrap();
    assert_eq!(figures(&sweeps).len(), 3);
    assert!(sweeps.contains("And 84 more rows, in"));
    let figure = &figures(&sweeps)[0];
    let (legend, _) = sweeps.split_once("</ul>").unwrap();
    let shown = legend
        .matches("<li><button type=\"button\" aria-pressed=\"true\"")
        .count();
    assert_eq!((lines(figure).len(), shown), (48, 12));
    let learning = section(&own, "learning").unwrap();
    assert_eq!(figures(&learning).len(), 2 * 36);
    assert!(learning.contains("The first 36 of 144 figures."));
    assert!(own.len() < 6_000_000, "{}", own.len());
}
