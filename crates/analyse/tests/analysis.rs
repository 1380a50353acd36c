//! Known worlds in, known answers out.

#![expect(clippy::unwrap_used, reason = "a test may fail so")]

mod common;

use analyse::{Analysis, Scale, Topic, Verdict};
use common::{Recipe, analysis, factor};
use model::run::{Origin, metric};
use model::{Level, Metric, Money, Status, Warning};

fn time(analysis: &Analysis) -> &analyse::Variation {
    analysis.variation(metric::TRAIN_SECONDS).unwrap()
}

fn share(variation: &analyse::Variation, name: &str) -> f64 {
    variation
        .terms
        .iter()
        .find(|t| t.name() == name)
        .unwrap()
        .share
}

#[test]
fn the_factors_put_in_are_found_again() {
    let found = analysis(&Recipe::default().world());
    let time = time(&found);
    assert_eq!(time.scale, Scale::Logarithmic);
    assert_eq!((time.runs, time.scenarios), (24, 8));
    let order: Vec<String> = time.terms.iter().take(3).map(|t| t.name()).collect();
    assert_eq!(order, ["image", "network", "batch"]);
    assert_eq!(time.terms[0].verdict, Verdict::Different);
    let total: f64 =
        time.terms.iter().map(|t| t.share).sum::<f64>() + time.noise.as_ref().unwrap().share;
    assert!(
        (total - 1.0).abs() < 1e-9,
        "shares of balanced data add up, not to {total}"
    );

    let check = |factor: &str, expected: f64| {
        let effect = time.effects.iter().find(|e| e.factor == factor).unwrap();
        let interval = effect.estimate.interval.unwrap();
        assert!(
            interval.contains(expected),
            "{factor}: {expected} is not in {interval:?}"
        );
    };
    // The interaction of 1.12 is shared between the two factors, half a logarithm each.
    // A number without an effect of its own has one of n/1000: 32 makes 3.2 % more work.
    check("image", 2.9 / 1.032 * 1.12f64.sqrt());
    check("network", 1.7 * 1.12f64.sqrt());
    check("batch", 0.85 / 1.032);
    let together = time
        .terms
        .iter()
        .find(|t| t.name() == "network × image")
        .unwrap();
    assert!(together.verdict.is_different());
    assert!(
        together.sentence.as_ref().unwrap().contains("with rede2"),
        "{together:?}"
    );
}

#[test]
fn the_findings_are_sentences_with_their_share() {
    let found = analysis(&Recipe::default().world());
    let first = &found.findings[0];
    assert_eq!(first.topic, Topic::Time);
    assert!(
        first
            .text
            .starts_with("64 px takes 3.0× as long as 32 px ["),
        "{}",
        first.text
    );
    assert!(
        first.text.ends_with("of the variation in time."),
        "{}",
        first.text
    );
    assert!(
        found.findings.iter().any(
            |f| f.text == "Cost follows time: what makes a run longer makes it more expensive."
        )
    );
    // Every network and image size is a task of its own: the batch is what one may choose.
    assert_eq!(
        found.best.sentences,
        ["Cheapest and fastest for all 4 tasks: batch 64."]
    );
}

#[test]
fn money_is_exact_and_adds_up() {
    let world = Recipe::default().world();
    let found = analysis(&world);
    let bills = world.records.iter().filter_map(|r| r.bill.as_ref());
    let sum: rust_decimal::Decimal = bills.map(|b| b.total.amount).sum();
    assert_eq!(
        found.totals.spent_total,
        Some(Money::new(sum, model::Currency::USD))
    );
    let totals: rust_decimal::Decimal = found
        .scenarios
        .iter()
        .filter_map(|s| s.cost.as_ref())
        .map(|c| c.total.amount)
        .sum();
    assert_eq!(totals, sum);
    let cost = found.scenarios[0].cost.as_ref().unwrap();
    assert_eq!(
        cost.mean.amount,
        cost.total.amount / rust_decimal::Decimal::from(3)
    );
    assert!(cost.per_epoch.is_some() && cost.per_thousand_images.is_some());
}

#[test]
fn a_scenario_out_of_memory_is_a_result_and_said() {
    let mut world = Recipe::default().world();
    for repetition in 1..=3 {
        world.end_as(
            &format!("C8-r{repetition}"),
            Status::OutOfMemory,
            "killed at 24 GB",
        );
    }
    let found = analysis(&world);
    assert_eq!(found.totals.runs.out_of_memory, 3);
    assert_eq!(found.outcomes.len(), 1);
    assert_eq!(found.outcomes[0].phrase, "rede2 · 64 px · batch 64");
    assert!(found.scenarios[7].metrics.is_empty());
    let time = time(&found);
    assert!(time.assumptions[0].starts_with("1 of 8 combinations of levels has no result"));
    assert!(share(time, "image") > 0.5);
    assert!(
        found
            .findings
            .iter()
            .any(|f| f.text.starts_with("Runs out of memory: C8"))
    );
}

#[test]
fn one_repetition_is_not_estimable() {
    let found = analysis(
        &Recipe {
            repetitions: 1,
            ..Recipe::default()
        }
        .world(),
    );
    let time = time(&found);
    assert!(
        found
            .scenarios
            .iter()
            .all(|s| s.mean(metric::TRAIN_SECONDS).unwrap().interval.is_none())
    );
    let problem = time.problem.as_ref().unwrap();
    assert!(problem.contains("use at least 3 repetitions"), "{problem}");
    assert!(time.terms.is_empty() && time.residuals.is_empty());
    let said = found.best.sentences.join("\n");
    assert!(said.contains("fastest by one repetition each: "), "{said}");
    assert!(found.drift.is_none());
}

#[test]
fn one_scenario_has_nothing_to_compare() {
    let factors = vec![factor("batch", &[Level::from(32)])];
    let found = analysis(
        &Recipe {
            factors,
            ..Recipe::default()
        }
        .world(),
    );
    assert!(
        time(&found)
            .problem
            .as_ref()
            .unwrap()
            .starts_with("Only one combination")
    );
    assert!(found.best.sentences.is_empty());
}

#[test]
fn a_metric_that_never_changes_is_said_so() {
    let mut world = Recipe::default().world();
    for record in &mut world.records {
        record.metrics.insert(
            metric::ACCURACY.into(),
            Metric {
                value: 97.0,
                unit: "%".into(),
            },
        );
    }
    let found = analysis(&world);
    let accuracy = found.variation(metric::ACCURACY).unwrap();
    assert_eq!(
        accuracy.problem.as_deref(),
        Some("The accuracy is 97.0 % in every run.")
    );
}

#[test]
fn no_run_at_all_is_no_trouble() {
    let found = analysis(
        &Recipe {
            repetitions: 0,
            ..Recipe::default()
        }
        .world(),
    );
    assert_eq!(found.totals.runs.total(), 0);
    assert_eq!(found.findings[0].text, "No run has been measured yet.");
    assert_eq!(found.scenarios.len(), 8);

    let mut world = Recipe::default().world();
    for record in &mut world.records {
        record.outcome.status = Status::Failed;
    }
    let found = analysis(&world);
    assert_eq!(found.findings[0].text, "No run was successful: 24 failed.");
    assert_eq!(found.outcomes.len(), 8);
}

#[test]
fn what_is_not_a_number_is_left_out_of_its_metric_alone() {
    let mut world = Recipe::default().world();
    world.record("C1-r1").metrics.insert(
        metric::LOSS.into(),
        Metric {
            value: f64::NAN,
            unit: String::new(),
        },
    );
    let found = analysis(&world);
    assert_eq!(found.scenarios[0].metrics[metric::LOSS].count, 2);
    assert_eq!(found.scenarios[0].metrics[metric::TRAIN_SECONDS].count, 3);
}

#[test]
fn drift_is_seen_and_its_absence_too() {
    let drifting = analysis(
        &Recipe {
            drift: 0.2,
            ..Recipe::default()
        }
        .world(),
    );
    let drift = drifting.drift.unwrap();
    assert!(drift.seen && (drift.change - 0.2).abs() < 0.05, "{drift:?}");
    let steady = analysis(&Recipe::default().world());
    assert!(!steady.drift.unwrap().seen);
}

#[test]
fn warnings_are_gathered_by_kind() {
    let mut world = Recipe::default().world();
    world.record("C6-r1").warnings.push(Warning::FewerCores {
        got: 1.4,
        asked: 2.0,
    });
    for record in &mut world.records {
        record.warnings.push(Warning::Governor {
            governor: "powersave".into(),
        });
    }
    let found = analysis(&world);
    let text = |kind: &str| {
        found
            .warnings
            .iter()
            .find(|w| w.kind == kind)
            .map(|w| w.text.as_str())
            .unwrap()
    };
    assert!(text("fewer-cores").starts_with("C6-r1: got 1.4 of 2.0 cores"));
    assert!(text("governor").starts_with("all 24 runs: the CPU governor is `powersave`"));
}

#[test]
fn imported_runs_are_noted_and_checked_for_drift_if_dated() {
    let mut world = Recipe::default().world();
    for (line, record) in world.records.iter_mut().enumerate() {
        record.origin = Origin::Imported {
            file: "old.csv".into(),
            line: line as u64 + 2,
            undated: false,
        };
    }
    let found = analysis(&world);
    assert_eq!(found.totals.imported, 24);
    assert!(found.notes[0].starts_with("24 runs were imported from old.csv"));
    assert!(found.drift.is_some());
    for record in &mut world.records {
        if let Origin::Imported { undated, .. } = &mut record.origin {
            *undated = true;
        }
    }
    assert!(analysis(&world).drift.is_none());
}

#[test]
fn the_metrics_a_study_asks_for_come_first() {
    let mut world = Recipe::default().world();
    world.study.metrics = vec!["memory".into(), "nonsense".into()];
    let found = analysis(&world);
    assert_eq!(found.variations[0].metric, metric::PEAK_MEMORY_BYTES);
    assert_eq!(found.metrics[0].name, metric::PEAK_MEMORY_BYTES);
    assert!(found.notes.iter().any(|n| n.contains("`nonsense`")));
}

#[test]
fn nobody_is_asked_for_a_thousand_repetitions() {
    let recipe = Recipe {
        noise: 0.3,
        ..Recipe::default()
    };
    let found = analysis(&recipe.world());
    let needed = found
        .scenarios
        .iter()
        .filter_map(|s| s.repetitions_for_five_percent);
    assert!(needed.max().unwrap() > 100);
    let advice = found.advice.join("\n");
    assert!(
        advice.contains("the noise is too large to reach this by repeating"),
        "{advice}"
    );
    assert!(!advice.contains("repetitions would be enough"), "{advice}");
}

#[test]
fn a_wide_interval_asks_for_repetitions() {
    let found = analysis(
        &Recipe {
            noise: 0.03,
            ..Recipe::default()
        }
        .world(),
    );
    assert!(
        found
            .scenarios
            .iter()
            .any(|s| s.repetitions_for_five_percent.is_some_and(|n| n > 3))
    );
    assert!(
        found
            .advice
            .iter()
            .any(|a| a.contains("repetitions would be enough")),
        "{:?}",
        found.advice
    );
}

#[test]
fn a_run_kept_twice_counts_once() {
    let mut world = Recipe::default().world();
    let again = world.records[0].clone();
    world.records.push(again);
    assert_eq!(analysis(&world).totals.runs.total(), 24);
}

#[test]
fn many_levels_are_told_by_their_extremes() {
    let levels: Vec<Level> = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
        .map(Level::from)
        .to_vec();
    let found = analysis(
        &Recipe {
            factors: vec![factor("batch", &levels)],
            ..Recipe::default()
        }
        .world(),
    );
    let sentence = time(&found).terms[0].sentence.clone().unwrap();
    assert!(sentence.starts_with("batch 512 takes"), "{sentence}");
    assert!(
        sentence.ends_with("(the extremes of 10 levels)"),
        "{sentence}"
    );
}

#[test]
fn the_same_level_name_in_two_factors_is_told_apart() {
    let names = [Level::from("mnist"), Level::from("cifar10")];
    let factors = vec![factor("network", &names), factor("dataset", &names)];
    let found = analysis(
        &Recipe {
            factors,
            ..Recipe::default()
        }
        .world(),
    );
    assert_eq!(found.scenarios[0].phrase(), "network mnist · dataset mnist");
}

#[test]
fn without_repetitions_nothing_is_denied() {
    let world = Recipe {
        factors: vec![factor("batch", &[Level::from(32), Level::from(64)])],
        repetitions: 1,
        ..Recipe::default()
    }
    .world();
    let findings = analysis(&world).findings;
    let said: Vec<&str> = findings.iter().map(|f| f.text.as_str()).collect();
    let said = said.join("\n");
    assert!(said.contains("by one repetition each: C2"), "{said}");
    assert!(
        said.contains("This cannot be distinguished from noise"),
        "{said}"
    );
    assert!(!said.contains("of the variation in time"), "{said}");
}

#[test]
fn files_of_an_import_share_a_note() {
    let mut world = Recipe::default().world();
    for record in &mut world.records {
        let file = format!("r{}.csv", record.run.repetition);
        record.origin = Origin::Imported {
            file,
            line: 1,
            undated: false,
        };
    }
    let found = analysis(&world);
    let notes: Vec<&String> = found
        .notes
        .iter()
        .filter(|n| n.contains("imported"))
        .collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(
        notes[0].starts_with("24 runs were imported from 3 files (r1.csv, r2.csv and 1 more)"),
        "{notes:?}"
    );
}
