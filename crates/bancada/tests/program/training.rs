//! A real study on the embedded engine, small.

use crate::common::Bench;

const STUDY: &str = r#"
[study]
name = "small"
repetitions = 2
seed = 11
budget = "1 USD"

[factors]
network = ["rede1", "rede2"]
batch = [16, 32]

[workload]
kind = "train"
dataset = "digits"
image = 28
images = 64
held_out = 32
epochs = 2

[environments.local]
price = "azure/Standard_F4s_v2@eastus"

[measure]
interval = "50ms"
"#;

fn losses(bench: &Bench, study: &str, run: &str) -> Vec<f64> {
    let record = bench.record(study, run);
    let epochs = record["epochs"].as_array().unwrap().clone();
    epochs.iter().map(|e| e["loss"].as_f64().unwrap()).collect()
}

#[test]
fn networks_are_trained_measured_and_explained() {
    let bench = Bench::new();
    bench.write("study.toml", STUDY);
    bench
        .bancada(&["plan", "study.toml"])
        .ends_with(0)
        .says("pilot")
        .says("budget holds")
        .says("local");
    assert!(bench.bundles("small").is_empty());
    let ran = bench
        .bancada(&["run", "study.toml"])
        .ends_with(0)
        .says("forecast");
    assert!(
        ran.out.contains("C4") && ran.out.contains("network"),
        "{}",
        ran.out
    );
    let record = bench.record("small", "C1-r1");
    let phases: Vec<&str> = record["phases"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|p| p["name"].as_str())
        .collect();
    assert_eq!(
        phases,
        [
            "startup",
            "load-data",
            "start",
            "train",
            "verify",
            "save",
            "shutdown"
        ]
    );
    for metric in [
        "train_seconds",
        "images_per_second",
        "accuracy_percent",
        "peak_memory_bytes",
        "cpu_seconds",
    ] {
        assert!(
            record["metrics"][metric]["value"].as_f64().unwrap() > 0.0,
            "{metric}"
        );
    }
    let bundle = bench.path().join("results/small/runs/C1-r1");
    for file in [
        "run.json",
        "job.json",
        "events.jsonl",
        "samples.csv",
        "log.txt",
        "model.safetensors",
    ] {
        assert!(bundle.join(file).is_file(), "{file}");
    }

    // The same study elsewhere: the same losses, run by run.
    bench
        .bancada(&[
            "run",
            "study.toml",
            "--no-pilot",
            "--quiet",
            "--out",
            "results/again",
        ])
        .ends_with(0);
    for run in ["C1-r1", "C1-r2", "C4-r2"] {
        assert_eq!(
            losses(&bench, "small", run),
            losses(&bench, "again", run),
            "{run}"
        );
    }
    assert_ne!(
        losses(&bench, "small", "C1-r1"),
        losses(&bench, "small", "C1-r2")
    );
}
