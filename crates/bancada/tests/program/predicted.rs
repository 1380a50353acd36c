//! `run --predict`: the beginning of every training, and the whole from it.

use std::fs;

use crate::common::Bench;

/// 1,024 steps of a small network.
const STUDY: &str = r#"
[study]
name = "whole"
repetitions = 2
[factors]
batch = [16, 32]
[workload]
network = "lenet5"
images = 2048
held_out = 256
epochs = 8
[environments.here]
price = "1 USD/h"
"#;

#[test]
fn a_whole_study_is_predicted_and_checked() {
    let bench = Bench::new();
    bench.write("study.toml", STUDY);
    let ran = bench.bancada(&["run", "study.toml", "--predict", "--measure-some", "1"]);
    let ran = ran
        .ends_with(0)
        .says("4 runs are predicted from the beginning")
        .says("Loss and accuracy are not predicted")
        .says("Predictions beside whole runs");
    assert!(ran.out.contains("of 1 whole run"), "{}", ran.out);
    let record = bench.record("whole/predicted", "C1-r1");
    let prediction = &record["origin"]["prediction"];
    assert_eq!(record["origin"]["kind"], "predicted");
    assert_eq!(prediction["steps"], 1024);
    let seen = prediction["steps_seen"].as_u64().unwrap();
    assert!((12..=41).contains(&seen), "{seen} steps");
    let metrics = record["metrics"].as_object().unwrap();
    assert!(metrics.contains_key("train_seconds") && metrics.contains_key("peak_memory_bytes"));
    for not_seen in ["accuracy_percent", "loss", "cpu_seconds"] {
        assert!(!metrics.contains_key(not_seen), "{not_seen}");
    }
    let phases = record["phases"].as_array().unwrap();
    let sum: f64 = phases.iter().map(|p| p["seconds"].as_f64().unwrap()).sum();
    let whole = record["seconds"].as_f64().unwrap();
    assert!((sum - whole).abs() < 1e-6 && whole > prediction["seen_seconds"].as_f64().unwrap());
    assert!(
        !bench
            .path()
            .join("results/whole/predicted/runs/C1-r1/enough")
            .exists()
    );
    let check = fs::read(bench.path().join("results/whole/predicted/check.json")).unwrap();
    let check: serde_json::Value = serde_json::from_slice(&check).unwrap();
    assert_eq!(check["runs"].as_array().unwrap().len(), 1);
    // What was run to its end is part of the measured study, and nothing in it is predicted.
    assert_eq!(bench.bundles("whole").len(), 1);
    let shown = bench.bancada(&["show", "study.toml"]).ends_with(0);
    assert!(!shown.out.contains("predicted"), "{}", shown.out);
}

#[test]
fn what_is_predicted_is_not_spent() {
    let bench = Bench::new();
    // Long, so that what is paid between runs on a busy machine is little beside it.
    let study = STUDY.replace("epochs = 8", "epochs = 80");
    bench.write("study.toml", &study);
    bench
        .bancada(&["run", "study.toml", "--predict"])
        .ends_with(0);
    let runs = bench.bundles("whole/predicted").into_iter();
    let seconds = |run: String| {
        bench.record("whole/predicted", &run)["seconds"]
            .as_f64()
            .unwrap()
    };
    let whole: f64 = runs.map(seconds).sum();
    // Of the predicted cost a half, of the cost of the beginnings many times.
    let budget = format!(
        "repetitions = 2\nbudget = \"{:.5} USD\"",
        whole / 3600.0 / 2.0
    );
    bench.write("study.toml", &study.replace("repetitions = 2", &budget));
    let again = ["run", "study.toml", "--predict", "--out", "again"];
    bench.bancada(&again).ends_with(0).says("4 runs (4 ok)");
}

#[test]
fn short_trainings_are_measured_whole() {
    let bench = Bench::new();
    bench.write(
        "study.toml",
        &STUDY
            .replace("epochs = 8", "epochs = 1")
            .replace("2048", "512"),
    );
    let ran = bench
        .bancada(&["run", "study.toml", "--predict"])
        .ends_with(0);
    assert!(!ran.out.contains("predicted from"), "{}", ran.out);
    let record = bench.record("whole/predicted", "C1-r1");
    assert_eq!(record["origin"]["kind"], "measured");
    assert!(record["metrics"]["accuracy_percent"].is_object());
}

#[test]
fn servers_are_not_predicted() {
    let bench = Bench::new();
    bench.write(
        "study.toml",
        "[study]\nname = \"s\"\n[workload]\nkind = \"serve\"\nmodel = \"lenet5\"\nload = \"warm\"\nrequests = 3\n",
    );
    let ran = bench.bancada(&["run", "study.toml", "--predict"]);
    ran.ends_with(2)
        .says("--predict needs a study of trainings or commands");
    assert!(!bench.path().join("results").exists());
}

/// Prints its progress as scripts do, and emits no events.
const COMMAND: &str = r#"
[study]
name = "printed"
[factors]
pause = [0.1]
[workload]
command = ["sh", "-c", "for e in $(seq 150); do echo \"Epoch $e/150 done, loss 0.$e\"; sleep {pause}; done"]
"#;

#[test]
fn a_command_is_predicted_from_what_it_prints() {
    let bench = Bench::new();
    bench.write("study.toml", COMMAND);
    let ran = bench.bancada(&["run", "study.toml", "--predict", "--json"]);
    let ran = ran.ends_with(0).says(r#""event":"recognised""#);
    assert!(ran.out.contains(r#""unit":"epochs""#), "{}", ran.out);
    let record = bench.record("printed/predicted", "C1-r1");
    assert_eq!(record["origin"]["kind"], "predicted");
    assert_eq!(record["outcome"]["status"], "ok");
    let prediction = &record["origin"]["prediction"];
    assert_eq!(
        (&prediction["steps"], &prediction["unit"]),
        (&150.into(), &"epochs".into())
    );
    assert!(prediction["steps_seen"].as_u64().unwrap() < 150);
    let whole = record["seconds"].as_f64().unwrap();
    assert!(whole > prediction["seen_seconds"].as_f64().unwrap());
    // What was printed is no result of the run.
    assert!(!record["metrics"].as_object().unwrap().contains_key("loss"));
}

#[test]
fn a_command_that_does_not_say_where_it_ends_is_run_whole() {
    let bench = Bench::new();
    let text = COMMAND.replace("Epoch $e/150 done, loss 0.$e", "saved file $e of 150");
    bench.write("study.toml", &text.replace("0.1]", "0.001]"));
    let ran = bench.bancada(&["run", "study.toml", "--predict", "--measure-some", "2"]);
    let ran = ran
        .ends_with(0)
        .says("all were run whole, nothing was predicted");
    assert!(!ran.out.contains("No run was carried out"), "{}", ran.out);
    let record = bench.record("printed/predicted", "C1-r1");
    assert_eq!(record["origin"]["kind"], "measured");
}
