//! `[design]` as a study file has it: which scenarios come of it.

use std::collections::BTreeSet;

use plan::{alternatives, design_title, differences, digest, plan, scenario_fingerprint};

use crate::support::{good, options};

const FACTORS: &str = "a = [1, 2, 3]\nb = [\"x\", \"y\"]\nc = [10, 5]\nd = [true, false]\n";

fn study(design: &str, exclude: &str) -> model::Study {
    good(&text(design, exclude))
}

fn text(design: &str, exclude: &str) -> String {
    format!(
        "[study]\nname = \"s\"\n{exclude}\n[factors]\n{FACTORS}\n[design]\n{design}\n[workload]\ncommand = [\"x\", \"{{a}}\", \"{{b}}\", \"{{c}}\", \"{{d}}\"]\n"
    )
}

fn labels(design: &str, exclude: &str) -> Vec<String> {
    let plan = plan(&study(design, exclude));
    plan.scenarios.iter().map(|s| s.levels_label()).collect()
}

#[test]
fn two_levels_are_the_extremes_or_those_that_are_given() {
    let all = labels("kind = \"two-level\"", "");
    assert_eq!(all.len(), 16);
    // Numbers by size, other levels as they stand.
    assert_eq!(all[0], "1 · x · 5 · true");
    assert_eq!(all[15], "3 · y · 10 · false");
    let given = labels("kind = \"two-level\"\nlevels = { a = [2, 3] }", "");
    assert_eq!(given[0], "2 · x · 5 · true");
}

#[test]
fn generators_by_letters_and_by_names_are_the_same() {
    let by_letters = labels("kind = \"fractional\"\ngenerators = [\"D=ABC\"]", "");
    let by_names = labels("kind = \"fractional\"\ngenerators = [\"d = c * b*a\"]", "");
    let chosen = labels("kind = \"fractional\"\nresolution = 4", "");
    let by_size = labels("kind = \"fractional\"\nscenarios = 8", "");
    assert_eq!(by_letters.len(), 8);
    assert_eq!(by_letters, by_names);
    assert_eq!(by_letters, chosen);
    assert_eq!(by_letters, by_size);
    let other = labels("kind = \"fractional\"\ngenerators = [\"D=-ABC\"]", "");
    let both: BTreeSet<&String> = by_letters.iter().chain(&other).collect();
    assert_eq!(both.len(), 16);
}

#[test]
fn exclusions_hold_in_every_design() {
    let rule = "exclude = [{ a = 1, b = \"x\" }, { d = true, c = 5 }]";
    for design in [
        "kind = \"full\"",
        "kind = \"two-level\"",
        "kind = \"fractional\"\nresolution = 4",
        "kind = \"d-optimal\"\nscenarios = 9",
        "kind = \"one-at-a-time\"",
    ] {
        let scenarios = plan(&study(design, rule)).scenarios;
        let numbers: Vec<u32> = scenarios.iter().map(|s| s.number).collect();
        assert_eq!(numbers, (1..=scenarios.len() as u32).collect::<Vec<u32>>());
        for scenario in &scenarios {
            let label = scenario.levels_label();
            assert!(!label.starts_with("1 · x"), "{design}: {label}");
            assert!(!label.ends_with("5 · true"), "{design}: {label}");
        }
        if design.contains("optimal") {
            assert_eq!(scenarios.len(), 9);
        }
    }
}

#[test]
fn a_list_keeps_its_order_and_may_leave_out_what_does_not_vary() {
    let rows = "{ a = 3, b = \"y\", c = 5, d = false }, { a = 1.0, b = \"x\", c = 10, d = true }";
    let all = labels(&format!("kind = \"list\"\nlist = [{rows}]"), "");
    assert_eq!(all, ["3 · y · 5 · false", "1 · x · 10 · true"]);
}

#[test]
fn one_at_a_time_starts_from_the_first_levels() {
    let all = labels("kind = \"one-at-a-time\"", "");
    assert_eq!(
        all,
        [
            "1 · x · 10 · true",
            "1 · x · 10 · false",
            "1 · x · 5 · true",
            "1 · y · 10 · true",
            "2 · x · 10 · true",
            "3 · x · 10 · true",
        ]
    );
}

#[test]
fn a_latin_hypercube_spreads_numbers_over_their_ranges() {
    let text = "[study]\nname = \"s\"\n[factors]\na = [1, 100]\nb = [0.5, 1.5]\nc = [\"x\", \"y\"]\n[design]\nkind = \"latin-hypercube\"\nscenarios = 10\n[workload]\ncommand = [\"x\", \"{a}\", \"{b}\", \"{c}\"]\n";
    let study = good(text);
    let levels = |place: usize| {
        let each = study.factors[place].levels.iter();
        each.map(ToString::to_string)
            .collect::<Vec<String>>()
            .join(" ")
    };
    assert_eq!(levels(0), "5 15 25 35 45 55 65 75 85 95");
    assert_eq!(
        levels(1),
        "0.55 0.65 0.75 0.85 0.95 1.05 1.15 1.25 1.35 1.45"
    );
    let scenarios = plan(&study).scenarios;
    assert_eq!(scenarios.len(), 10);
    for factor in ["a", "b"] {
        let used = scenarios
            .iter()
            .map(|s| s.level(factor).unwrap().to_string());
        assert_eq!(used.collect::<BTreeSet<String>>().len(), 10);
    }
    let x = |s: &&model::Scenario| s.level("c").unwrap().as_text() == Some("x");
    assert_eq!(scenarios.iter().filter(x).count(), 5);
}

/// A study that grows keeps its runs: the same scenario is the same, whatever its number.
#[test]
fn a_scenario_is_the_same_in_every_design() {
    let full = study("kind = \"full\"", "");
    let fraction = study("kind = \"fractional\"\nresolution = 4", "");
    let prints = |study: &model::Study| -> BTreeSet<String> {
        let scenarios = plan(study).scenarios;
        scenarios
            .iter()
            .map(|s| scenario_fingerprint(study, s))
            .collect()
    };
    assert!(prints(&fraction).is_subset(&prints(&full)));
    assert_ne!(digest(&full), digest(&fraction));
    let found = differences(&full, &fraction);
    assert!(
        found.contains(&"design: full → fractional".to_owned()),
        "{found:?}"
    );
}

#[test]
fn a_study_without_a_design_has_the_digest_it_always_had() {
    let text = text("", "").replace("[design]\n\n", "");
    assert!(!text.contains("design"));
    assert_eq!(digest(&good(&text)), digest(&study("kind = \"full\"", "")));
    let json = serde_json::to_string(&good(&text)).unwrap();
    assert!(!json.contains("design"));
}

#[test]
fn alternatives_begin_with_the_studys_own_and_differ() {
    let text = text("kind = \"fractional\"\nresolution = 4", "");
    let all = alternatives(&text, &options()).unwrap();
    let titles: Vec<String> = all
        .iter()
        .filter_map(|a| a.study.as_ref().ok().map(design_title))
        .collect();
    assert_eq!(
        titles,
        [
            "fractional 2^(4−1)",
            "full",
            "two-level 2^4",
            "d-optimal",
            "one-at-a-time"
        ]
    );
    let why: Vec<&str> = all
        .iter()
        .filter(|a| a.study.is_err())
        .map(|a| a.kind)
        .collect();
    assert_eq!(why, ["plackett-burman", "latin-hypercube"]);
}

/// What a seed promises, in every version to come. If this fails, the code is wrong.
#[test]
fn drawn_designs_never_change() {
    assert_eq!(
        labels("kind = \"d-optimal\"\nscenarios = 6", ""),
        [
            "1 · x · 5 · false",
            "1 · y · 10 · true",
            "2 · x · 10 · true",
            "2 · y · 5 · false",
            "3 · x · 5 · true",
            "3 · y · 10 · false",
        ]
    );
}
