//! Curves, profiles and frameworks of worlds whose answer is known; studies made smaller.

mod common;

use analyse::CheckState;
use common::studies::{self, framework, verified};
use common::{Recipe, World, analysis};
use model::run::metric;
use model::study::{Scale, ScaleChange};
use model::{Status, Warning, Workload};

#[test]
fn a_diverged_epoch_is_a_gap_and_counted() {
    let found = analysis(&studies::study_d());
    let diverged = found
        .scenarios
        .iter()
        .find(|s| s.phrase() == "caffe · googlenet · cpu · batch 1")
        .unwrap();
    assert_eq!(diverged.curve.len(), 10);
    assert!(
        diverged.curve[..3]
            .iter()
            .all(|p| p.loss.is_some() && p.diverged == 0)
    );
    assert!(
        diverged.curve[3..]
            .iter()
            .all(|p| p.loss.is_none() && p.diverged == 3)
    );
    let fine = &found.scenarios[0].curve[0];
    assert!(fine.loss_low < fine.loss && fine.loss < fine.loss_high);
}

#[test]
fn runs_cut_short_keep_the_epochs_they_had() {
    let mut world = Recipe::default().world();
    for repetition in 1..=3 {
        let record = world.record(&format!("C1-r{repetition}"));
        record.outcome.status = Status::TimedOut;
        record.epochs.truncate(2);
        world.record(&format!("C2-r{repetition}")).outcome.status = Status::Failed;
    }
    let found = analysis(&world);
    assert_eq!(found.scenarios[0].curve.len(), 2);
    assert!(found.scenarios[1].curve.is_empty());
}

#[test]
fn a_loss_that_nobody_tells_has_not_diverged() {
    let mut world = Recipe::default().world();
    for record in &mut world.records {
        record.epochs.iter_mut().for_each(|e| e.loss = None);
    }
    let found = analysis(&world);
    let points = found.scenarios.iter().flat_map(|s| &s.curve);
    assert!(points.clone().count() > 0);
    assert_eq!(points.map(|p| p.diverged).sum::<usize>(), 0);
}

#[test]
fn a_profile_is_the_mean_of_its_runs() {
    let mut world = studies::study_d();
    world.record("C1-r1").profile.clear();
    let found = analysis(&world);
    let profile = found.scenarios[0].profile.as_ref().unwrap();
    assert_eq!(profile.runs, 2);
    let shares: f64 = profile.kinds.iter().map(|k| k.share).sum();
    assert!((shares - 1.0).abs() < 1e-12);
    let kinds: Vec<&str> = profile.kinds.iter().map(|k| k.kind.as_str()).collect();
    assert_eq!(kinds, analyse::OPERATOR_KINDS, "an unknown kind is `other`");
    assert_eq!(profile.operators_in_all, 12);
    assert!(
        profile
            .operators
            .is_sorted_by(|a, b| a.seconds >= b.seconds)
    );
    let matmul = profile
        .operators
        .iter()
        .find(|o| o.name == "MatMul")
        .unwrap();
    let told = |run: &str| {
        let record = world
            .records
            .iter()
            .find(|r| r.run.to_string() == run)
            .unwrap();
        let operator = record.profile.iter().find(|o| o.name == "MatMul").unwrap();
        operator.seconds
    };
    let expected = (told("C1-r2") + told("C1-r3")) / 2.0;
    assert!((matmul.seconds - expected).abs() < 1e-12);
    assert!(analysis(&studies::workers()).scenarios[0].profile.is_none());
}

#[test]
fn frameworks_are_compared_over_what_all_of_them_did() {
    let found = analysis(&studies::study_d());
    let frameworks = found.frameworks.as_ref().unwrap();
    assert_eq!(
        (frameworks.combinations, frameworks.combinations_in_all),
        (36, 40)
    );
    let [caffe, tensorflow] = frameworks.frameworks.as_slice() else {
        panic!("{frameworks:?}");
    };
    let time = |f: &analyse::FrameworkResult| f.metrics[metric::EPOCH_SECONDS];
    assert!((time(tensorflow) / time(caffe) - 1.2).abs() < 0.02);
    assert_eq!(caffe.versions, ["1.0"]);
    assert!(
        caffe
            .checks
            .iter()
            .all(|c| c.state == CheckState::NotVerified)
    );
    assert_eq!(tensorflow.checks.len(), 2);
    assert!(
        tensorflow
            .checks
            .iter()
            .all(|c| c.state == CheckState::Agrees)
    );
    assert_eq!(
        frameworks.cautions,
        [
            "caffe was not verified for alexnet and googlenet, so it may not compute the same as the others: `bancada verify --study FILE` checks it before the next run."
        ]
    );
    let warning = found
        .warnings
        .iter()
        .find(|w| w.kind == "not-verified")
        .unwrap();
    assert!(
        warning.text.contains("train the same alexnet")
            && warning.text.contains("train the same googlenet"),
        "{}",
        warning.text
    );
}

#[test]
fn what_cannot_be_verified_says_why_instead_of_what_to_do() {
    let mut world = studies::study_d();
    for record in &mut world.records {
        for warning in &mut record.warnings {
            if let Warning::NotVerified { cannot, .. } = warning {
                *cannot = Some("this ran on cuda:0".to_owned());
            }
        }
    }
    let found = analysis(&world);
    let frameworks = found.frameworks.unwrap();
    assert_eq!(
        frameworks.cautions,
        [
            "caffe was not verified for alexnet and googlenet, so it may not compute the same as the others (this ran on cuda:0)."
        ]
    );
    let warning = found.warnings.iter().find(|w| w.kind == "not-verified");
    let text = &warning.unwrap().text;
    assert!(text.contains("as the others: this ran on cuda:0"), "{text}");
}

#[test]
fn what_computes_otherwise_is_said_above_all() {
    let mut world = studies::study_a();
    let first = world.record("C1-r1").framework.as_mut().unwrap();
    first.verified = Some(verified(0.031, Some("conv2")));
    let found = analysis(&world);
    let frameworks = found.frameworks.unwrap();
    let check = &frameworks.frameworks[0].checks[0];
    assert_eq!(
        (check.state, check.network.as_deref()),
        (CheckState::Differs, Some("rede1"))
    );
    assert_eq!(
        frameworks.cautions,
        [
            "mxnet does not compute the same rede1 as the others, from layer `conv2` on (its first loss differs by 3.1 %): do not compare its losses and accuracy, and treat its times with caution."
        ]
    );
}

#[test]
fn versions_mixed_in_one_scenario_are_noted() {
    let mut world = studies::study_a();
    let about = |world: &World| {
        let mut notes = analysis(world).notes.into_iter();
        notes.find(|n| n.contains("different versions"))
    };
    assert_eq!(about(&world), None);
    for run in ["C9-r2", "C10-r5"] {
        world.record(run).framework = Some(framework("pytorch", "2.3.0", None));
    }
    assert_eq!(
        about(&world).unwrap(),
        "Runs of C9 and C10 are by pytorch 2.2.0 and 2.3.0: repetitions with different versions are not comparable. Re-run the older ones, or make the versions levels (`pytorch@2.2.0`)."
    );
}

#[test]
fn the_embedded_engine_alone_is_no_comparison() {
    assert!(analysis(&Recipe::default().world()).frameworks.is_none());
    let mut world = studies::workers();
    let found = analysis(&world).frameworks.unwrap();
    assert_eq!(found.frameworks[0].name, "pytorch");
    assert_eq!((found.combinations, found.combinations_in_all), (4, 4));
    for record in &mut world.records {
        record.framework = None;
    }
    let found = analysis(&world).frameworks.unwrap();
    assert_eq!(found.frameworks[0].checks[0].state, CheckState::NotVerified);
}

#[test]
fn a_smaller_study_says_so() {
    let found = analysis(&studies::study_c());
    assert_eq!(
        found.study.scale.unwrap().sentence,
        "Run at scale `small`: images 1024 (of 60000), epochs 2 (of 12), repetitions 3 (of 10), environment: machine, docker only. Times and costs are those of these runs, not of the full study."
    );
    let check = |what: &str, from: Option<&str>, to: &str, expected: &str| {
        let mut world = Recipe::default().world();
        world.study.scale = Some(Scale {
            name: "tiny".into(),
            changes: vec![ScaleChange {
                what: what.into(),
                from: from.map(str::to_owned),
                to: to.into(),
            }],
        });
        let sentence = analysis(&world).study.scale.unwrap().sentence;
        let said = sentence.strip_prefix("Run at scale `tiny`: ");
        assert_eq!(said.unwrap().split(". ").next(), Some(expected));
    };
    check("images", None, "512", "images 512 (of all)");
    check(
        "dataset",
        Some("mnist"),
        "digits",
        "dataset digits (instead of mnist)",
    );
    check(
        "held_out",
        Some("10000"),
        "100",
        "held-out images 100 (of 10000)",
    );
    check("batch", Some("32, 64"), "32", "batch: 32 only");
}

#[test]
fn a_profile_that_is_not_there_is_said() {
    let mut world = studies::study_d();
    let note = |world: &World| {
        let notes = analysis(world).notes;
        notes
            .into_iter()
            .find(|n| n.contains("A profile was requested"))
    };
    let Workload::Train(train) = &mut world.study.workload else {
        panic!("study D trains")
    };
    train.profile = false;
    assert_eq!(note(&world), None);
    let Workload::Train(train) = &mut world.study.workload else {
        panic!("study D trains")
    };
    train.profile = true;
    for record in &mut world.records {
        record.profile.clear();
    }
    let said = note(&world).unwrap();
    assert!(said.contains(" has none: "), "{said}");
}
