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
        .says("budget is sufficient")
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

/// What does not fit in memory is a result, in the pilot too: the study goes on.
#[test]
fn a_scenario_that_does_not_fit_does_not_stop_the_study() {
    let bench = Bench::new();
    let study = "[study]\nname = \"fits\"\nrepetitions = 1\n[factors]\nmemory = [\"2 GB\", \"4 MB\"]\n\
                 [workload]\nkind = \"train\"\nnetwork = \"lenet5\"\nimages = 64\nheld_out = 16\nimage = 32\n";
    bench.write("study.toml", study);
    bench
        .bancada(&["run", "study.toml"])
        .ends_with(0)
        .says("pilot of C2");
    assert_eq!(bench.record("fits", "C1-r1")["outcome"]["status"], "ok");
    assert_eq!(
        bench.record("fits", "C2-r1")["outcome"]["status"],
        "out-of-memory"
    );
}

/// A network of one's own is part of the question.
#[test]
fn a_changed_network_file_is_another_question() {
    let bench = Bench::new();
    let network = |outputs: u32| {
        format!(
            "name = \"mine\"\nlayers = [\"flatten\", {{ dense = {{ o = {outputs} }} }}, \"relu\", {{ dense = {{ o = \"classes\" }} }}]\n"
        )
    };
    let study = "[study]\nname = \"own\"\nrepetitions = 1\n[workload]\nkind = \"train\"\nnetwork = \"mine.toml\"\n\
                 images = 64\nheld_out = 16\nkeep_model = false\n";
    bench.write("study.toml", study);
    bench.write("mine.toml", &network(8));
    bench
        .bancada(&["run", "study.toml", "--no-pilot"])
        .ends_with(0);
    let bundle = bench.path().join("results/own/runs/C1-r1");
    assert!(!bundle.join("model.safetensors").exists());
    bench
        .bancada(&["run", "study.toml", "--no-pilot"])
        .ends_with(0)
        .says("already done");
    bench.write("mine.toml", &network(9));
    bench
        .bancada(&["run", "study.toml", "--no-pilot"])
        .ends_with(6)
        .says("--out");
}
