//! What people and programs read: snapshots of small reports, and what must hold of any.
//! `UPDATE_SNAPSHOTS=1 cargo test -p report` writes the snapshots anew; look at the difference.

#![expect(clippy::unwrap_used, reason = "a test may fail so")]

#[path = "../../analyse/tests/common/mod.rs"]
mod common;
mod markup;
mod reading;

use std::path::PathBuf;

use common::{Recipe, World, analysis, factor, studies};
use model::{Level, Status, Timestamp, Warning};
use reading::{csv, figures, parse_csv};
use report::{ReportMeta, TerminalOptions, terminal};

fn meta() -> ReportMeta<'static> {
    ReportMeta {
        generated: Timestamp::from_second(1_710_000_000).unwrap(),
        bancada_version: "0.1.0",
        command: Some("bancada report results/quickstart"),
        study_file: None,
    }
}

fn quickstart() -> World {
    let mut world = Recipe::default().world();
    world.record("C6-r1").warnings.push(Warning::FewerCores {
        got: 1.4,
        asked: 2.0,
    });
    world
}

fn troubled() -> World {
    let mut world = Recipe {
        noise: 0.08,
        ..Recipe::default()
    }
    .world();
    world.study.name = "<script>alert(1)</script> & \"co\" | `x` \u{1b}[31m".to_owned();
    for repetition in 1..=3 {
        world.end_as(
            &format!("C8-r{repetition}"),
            Status::OutOfMemory,
            "killed at 24 GB",
        );
    }
    world.end_as(
        "C3-r2",
        Status::Failed,
        "exit code 1\n</td></script><b>bold",
    );
    world.records.truncate(22);
    world
}

fn hostile_levels() -> World {
    let levels = [
        Level::from("</script><img src=x onerror=alert(1)>"),
        Level::from("a,\"b\"|c\u{202e}\u{7}"),
    ];
    Recipe {
        factors: vec![factor("net<work>", &levels), factor("x", &levels)],
        ..Recipe::default()
    }
    .world()
}

/// Shaped like the studies of docs/studies.md.
fn of_studies() -> [World; 5] {
    [
        studies::study_a(),
        studies::study_c(),
        studies::study_d(),
        studies::workers(),
        studies::paying(),
    ]
}

fn check_snapshot(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/snapshots")
        .join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == text, "{name} changed; it is now:\n{text}");
}

fn page(world: &World) -> String {
    report::html(&analysis(world), &meta())
}

#[test]
fn the_terminal_shows_the_result() {
    let found = analysis(&quickstart());
    let at = |width: usize| {
        terminal(
            &found,
            &TerminalOptions {
                width: Some(width),
                ..TerminalOptions::default()
            },
        )
    };
    check_snapshot("quickstart-120.txt", &at(120));
    check_snapshot("quickstart-72.txt", &at(72));
    check_snapshot("quickstart-40.txt", &at(40));
    let troubled = terminal(&analysis(&troubled()), &TerminalOptions::default());
    check_snapshot("troubled-100.txt", &troubled);
    let cores = terminal(&analysis(&studies::study_c()), &TerminalOptions::default());
    check_snapshot("study-c-100.txt", &cores);
}

#[test]
fn a_study_without_factors_has_no_empty_parentheses() {
    let mut world = Recipe {
        factors: Vec::new(),
        ..Recipe::default()
    }
    .world();
    world.end_as("C1-r1", Status::Failed, "ended with exit code 3");
    let text = terminal(&analysis(&world), &TerminalOptions::default());
    assert!(
        text.contains("C1-r1 failed: ended with exit code 3"),
        "{text}"
    );
}

/// Under a header as wide as its levels nothing is gained by cutting them, nor by a table of
/// scenario numbers alone.
#[test]
fn levels_are_not_cut_below_the_width_of_their_header() {
    let levels = [
        Level::from("a-long-level-one"),
        Level::from("a-long-level-two"),
    ];
    let world = Recipe {
        factors: vec![factor("a_factor_of_a_long_name", &levels)],
        ..Recipe::default()
    };
    let options = TerminalOptions {
        width: Some(30),
        ..TerminalOptions::default()
    };
    let text = terminal(&analysis(&world.world()), &options);
    assert!(text.contains("C1         a-long-level-one\n"), "{text}");
    assert!(!text.contains("  scenario\n"), "{text}");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let made_up = [quickstart(), troubled(), hostile_levels()];
    for world in made_up.into_iter().chain(of_studies()) {
        let found = analysis(&world);
        for width in [60, 80, 100, 140] {
            let text = terminal(
                &found,
                &TerminalOptions {
                    width: Some(width),
                    ..TerminalOptions::default()
                },
            );
            for line in text.lines() {
                assert!(
                    line.chars().count() <= width,
                    "{} > {width}: {line}",
                    line.chars().count()
                );
                assert_eq!(line, line.trim_end());
            }
            assert!(!text.contains("\n\n\n"));
        }
    }
}

#[test]
fn colour_only_when_asked_and_never_from_the_data() {
    for world in [troubled(), hostile_levels()] {
        let found = analysis(&world);
        let plain = terminal(&found, &TerminalOptions::default());
        assert!(
            !plain.contains('\u{1b}') && !plain.contains('\u{7}') && !plain.contains('\u{202e}')
        );
        let coloured = terminal(
            &found,
            &TerminalOptions {
                colour: true,
                ..TerminalOptions::default()
            },
        );
        assert!(coloured.contains("\u{1b}[1m") && !coloured.contains("\u{1b}[31m"));
    }
}

#[test]
fn many_scenarios_are_cut_and_counted() {
    let levels: Vec<Level> = (1..=40).map(Level::from).collect();
    let world = Recipe {
        factors: vec![factor("batch", &levels)],
        repetitions: 2,
        ..Recipe::default()
    }
    .world();
    let text = terminal(
        &analysis(&world),
        &TerminalOptions {
            most_scenarios: 10,
            ..TerminalOptions::default()
        },
    );
    assert!(text.contains("… the fastest of 40;"), "{text}");
    let is_row = |line: &&str| {
        let mut words = line.split_whitespace();
        words.next().is_some_and(|w| w.starts_with('C'))
            && words.next().is_some_and(|w| w.parse::<u32>().is_ok())
    };
    assert_eq!(text.lines().filter(is_row).count(), 10);
}

#[test]
fn tables_for_programs_keep_their_shape() {
    let found = analysis(&quickstart());
    check_snapshot("runs.csv", &rounded(&csv("runs", &found)));
    check_snapshot("scenarios.csv", &rounded(&csv("scenarios", &found)));
    check_snapshot("variation.csv", &rounded(&csv("variation", &found)));
    check_snapshot("quickstart.md", &report::markdown(&found, &meta()));
    check_snapshot("quickstart.tex", &report::latex(&found));
    let workers = analysis(&studies::workers());
    check_snapshot("workers.md", &report::markdown(&workers, &meta()));
    let paying = analysis(&studies::paying());
    check_snapshot("paying.md", &report::markdown(&paying, &meta()));
    check_snapshot("losses.csv", &rounded(&csv("losses", &workers)));
}

/// Who sees means without intervals learns why; who has intervals is told nothing.
#[test]
fn the_terminal_says_that_successive_runs_are_alike() {
    let check = |found: analyse::Analysis, expected: bool| {
        let text = terminal(&found, &TerminalOptions::default());
        assert_eq!(
            text.contains("Successive runs are alike"),
            expected,
            "{text}"
        );
    };
    check(analysis(&studies::workers()), true);
    check(analysis(&quickstart()), false);
}

/// Numbers to five digits: the last ones are the machine's own.
fn rounded(csv: &str) -> String {
    let field = |text: &str| match text.parse::<f64>() {
        Ok(number) if text.len() > 6 => format!("{number:.4e}"),
        _ => text.to_owned(),
    };
    let line = |line: &str| line.split(',').map(field).collect::<Vec<_>>().join(",") + "\n";
    csv.lines().map(line).collect()
}

#[test]
fn every_row_of_a_csv_has_all_columns() {
    for world in [quickstart(), troubled(), hostile_levels()] {
        let found = analysis(&world);
        for text in [
            csv("runs", &found),
            csv("scenarios", &found),
            csv("variation", &found),
            csv("losses", &found),
        ] {
            let rows = parse_csv(&text);
            assert!(rows.len() > 1);
            assert!(rows.iter().all(|r| r.len() == rows[0].len()), "{text}");
            let mut names = rows[0].clone();
            names.sort();
            names.dedup();
            assert_eq!(
                names.len(),
                rows[0].len(),
                "column names are told apart: {:?}",
                rows[0]
            );
        }
        assert_eq!(parse_csv(&csv("runs", &found)).len(), found.runs.len() + 1);
    }
}

#[test]
fn the_json_says_its_schema_and_holds_the_analysis() {
    let found = analysis(&quickstart());
    let value: serde_json::Value = serde_json::from_str(&report::json(&found, &meta())).unwrap();
    assert_eq!(value["format"], "bancada-analysis");
    assert_eq!(value["schema"], report::RESULT_SCHEMA);
    assert_eq!(value["analysis"]["scenarios"][0]["label"], "C1");
    assert_eq!(
        value["analysis"]["scenarios"][0]["metrics"]["train_seconds"]["count"],
        3
    );
    assert_eq!(
        value["analysis"]["totals"]["spent_total"]["currency"],
        "USD"
    );
    let columns = value["analysis"]["metrics"].as_array().unwrap().len();
    assert_eq!(
        value["analysis"]["runs"][0]["values"]
            .as_array()
            .unwrap()
            .len(),
        columns
    );
}

#[test]
fn the_page_is_well_formed() {
    let empty = Recipe {
        repetitions: 0,
        ..Recipe::default()
    }
    .world();
    let made_up = [quickstart(), troubled(), hostile_levels(), empty];
    for world in made_up.into_iter().chain(of_studies()) {
        let html = page(&world);
        if let Err(problem) = markup::check(&html) {
            panic!("{problem}");
        }
    }
}

#[test]
fn the_page_asks_nothing_of_the_network() {
    for world in [quickstart(), hostile_levels()] {
        let own = page(&world).replace("url(#", "");
        for loads in [
            "src=\"",
            "<link",
            "<iframe",
            "@import",
            "url(",
            "fetch(",
            "XMLHttpRequest",
            "import(",
        ] {
            assert!(!own.contains(loads), "{loads}");
        }
        for link in own
            .match_indices("href=\"")
            .map(|(place, _)| &own[place + 6..])
        {
            assert!(link.starts_with('#'), "{}", &link[..40]);
        }
        assert!(own.contains("default-src 'none'"));
    }
}

#[test]
fn names_from_the_study_are_text_and_nothing_else() {
    for world in [troubled(), hostile_levels()] {
        let own = page(&world);
        for bad in [
            "<script>alert",
            "<img",
            "<b>bold",
            "onerror=alert(1)>\n",
            "</td></script>",
        ] {
            assert!(!own.contains(bad), "{bad}");
        }
    }
    let markdown = report::markdown(&analysis(&troubled()), &meta());
    assert!(
        markdown.starts_with("# \\<script>alert(1)\\</script> \\& \"co\" \\| \\`x\\`"),
        "{markdown}"
    );
}

#[test]
fn every_figure_has_its_numbers() {
    let own = page(&hostile_levels());
    assert!(
        figures(&own).len() >= 5,
        "time, choice, use, memory, learning, phases"
    );
    for world in [hostile_levels()].into_iter().chain(of_studies()) {
        let own = page(&world);
        assert_eq!(own.matches("role=\"img\"").count(), figures(&own).len());
        for value in figures(&own) {
            for series in value["series"].as_array().unwrap() {
                let x = series["x"].as_array().unwrap().len();
                for numbers in ["y", "low", "high", "says", "labels", "bases"] {
                    let found = series[numbers].as_array().map_or(x, Vec::len);
                    assert_eq!(found, x, "{numbers} of {series}");
                }
            }
        }
    }
}

#[test]
fn a_small_study_makes_a_small_page() {
    const MOST: usize = 300_000;
    let found = page(&quickstart()).len();
    assert!(found < MOST, "{found} bytes");
}

#[test]
fn two_hundred_scenarios_are_named_without_touching() {
    let levels: Vec<Level> = (1..=200).map(Level::from).collect();
    let world = Recipe {
        factors: vec![factor("batch", &levels)],
        repetitions: 2,
        ..Recipe::default()
    }
    .world();
    let own = page(&world);
    let time = reading::section(&own, "time").unwrap();
    let named = |label: &str| time.contains(&format!(">{label}</text>"));
    assert!(
        named("C1") && named("C21") && !named("C2"),
        "every twentieth"
    );
    assert!(own.len() < 1_500_000, "{} bytes", own.len());
}

#[test]
fn the_page_says_what_the_analysis_found() {
    let found = analysis(&quickstart());
    let own = report::html(&found, &meta()).replace('\u{a0}', " ");
    for finding in &found.findings {
        let text = finding
            .text
            .replace('&', "&amp;")
            .replace('\'', "&#39;")
            .replace('"', "&quot;");
        assert!(own.contains(&text), "{text}");
    }
    for said in [
        "US$ 0.169 per hour",
        "AMD EPYC 7V13",
        "got 1.4 of 2.0 cores",
        "seed 2024",
        "2024-03-01",
    ] {
        assert!(own.contains(said), "{said}");
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    assert_eq!(page(&quickstart()), page(&quickstart()));
}

/// 0.1 s of a task that takes 100 s more than another: a small share of the spread, and by far no noise.
#[test]
fn an_interaction_is_shown_whatever_its_share() {
    let times = |base: f64| [0.999, 1.0, 1.001, 1.0005].map(|part| base * part);
    let all = [1.0, 1.002, 100.0, 104.0].map(times);
    let all: Vec<&[f64]> = all.iter().map(<[f64; 4]>::as_slice).collect();
    let factors: [(&str, &[&str]); 2] = [("network", &["s", "l"]), ("batch", &["a", "b"])];
    let found = analysis(&common::times::world(&factors, &all));
    let time = found.variation(model::run::metric::TRAIN_SECONDS).unwrap();
    let both = time.terms.iter().find(|term| term.factors.len() == 2);
    let both = both.unwrap();
    assert!(
        both.verdict.is_different() && both.share < 0.001,
        "{both:?}"
    );
    let text = terminal(&found, &TerminalOptions::default());
    assert!(text.contains("network × batch"), "{text}");
}
