//! The studies of the project: what each would do, before anything is created or sent.

use std::fs;
use std::path::PathBuf;

use crate::common::Bench;

fn studies() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies");
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn every_study_is_right_and_its_small_scale_runs_here() {
    let bench = Bench::new();
    let all = studies();
    assert!(all.len() > 8, "{all:?}");
    for study in &all {
        let study = study.to_str().unwrap();
        bench.bancada(&["check", study, "--elsewhere"]).ends_with(0);
        if !fs::read_to_string(study).unwrap().contains("[scale.small]") {
            continue;
        }
        let words = [
            "plan",
            study,
            "--scale",
            "small",
            "--no-pilot",
            "--elsewhere",
        ];
        let planned = bench.bancada(&words).ends_with(0);
        for elsewhere in ["a rented ", " by SSH", "Sent there"] {
            assert!(!planned.out.contains(elsewhere), "{study}: {}", planned.out);
        }
    }
}

#[test]
fn a_plan_names_every_machine_what_it_costs_and_what_it_is_given() {
    let bench = Bench::new();
    let check = |name: &str, expected: &[&str]| {
        let all = studies();
        let study = all.iter().find(|study| study.ends_with(name)).unwrap();
        let study = study.to_str().unwrap();
        let planned = bench
            .bancada(&["plan", study, "--no-pilot", "--elsewhere"])
            .ends_with(0);
        for words in expected {
            assert!(planned.out.contains(words), "{words}: {}", planned.out);
        }
    };
    let sent = "Sent there: bancada (";
    check(
        "cores-mnist.toml",
        &[
            "vm         a rented azure/Standard_F32s_v2@eastus, priced as f32s (US$ 1.354/h), ends itself after",
            "one-gpu    a rented azure/Standard_NC6@westus2",
            "two-gpus   a rented azure/Standard_NC12@westus2",
            sent,
            "Set up there by `run --prepare`: keras-tensorflow, mnist",
        ],
    );
    check(
        "cores-clouds.toml",
        &[
            "google   a rented gcp/n2-standard-16@us-central1",
            "amazon   a rented aws/c5.4xlarge@us-east-1",
        ],
    );
    check(
        "batch-size.toml",
        &[
            "gpu       server by SSH",
            "cluster   Slurm, partition phi from cluster by SSH",
            sent,
        ],
    );
}

/// Files of a command are named with their sizes.
#[test]
fn files_that_another_host_gets_are_listed() {
    let bench = Bench::new();
    bench.write("train.py", "print(1)\n");
    let study = "[study]\nname = \"s\"\n[workload]\ncommand = [\"python3\", \"train.py\"]\n\
                 [environments.far]\nssh = \"far\"\n";
    bench.write("study.toml", study);
    let planned = bench.bancada(&["plan", "study.toml"]).ends_with(0);
    assert!(planned.out.contains(", train.py (9"), "{}", planned.out);
}
