//! Studies that serve: what is wrong with them is told before they begin, what goes wrong is kept.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::common::{Bench, Ran};

fn study(workload: &str, more: &str) -> String {
    format!(
        "[study]\nname = \"asked\"\nrepetitions = 2\n\n[workload]\nkind = \"serve\"\n{workload}\n{more}\n\
         [measure]\ninterval = \"20ms\"\n"
    )
}

fn outcome(bench: &Bench, run: &str) -> (String, String) {
    let outcome = &bench.record("asked", run)["outcome"];
    let text = |name: &str| outcome[name].as_str().unwrap_or_default().to_owned();
    (text("status"), text("detail"))
}

#[test]
fn what_cannot_be_asked_is_told_before_anything_runs() {
    let check = |workload: &str, words: &str| {
        let bench = Bench::new();
        fs::create_dir(bench.path().join("empty")).unwrap();
        bench.write("none.txt", "\n");
        bench.write("bad.txt", "0\nsoon\n");
        bench.write("short.txt", "0\n1\n");
        bench.write("own.onnx", "");
        bench.write("study.toml", &study(workload, ""));
        for command in ["check", "run"] {
            bench
                .bancada(&[command, "study.toml"])
                .ends_with(3)
                .says(words)
                .says("study.toml:");
        }
        assert!(!bench.path().join("results").exists());
    };
    check("model = \"rede1\"\nbody = \"empty\"", "has no pictures");
    let trace = |file: &str, more: &str| {
        format!("model = \"rede1\"\nload = \"trace\"\ntrace = \"{file}\"\n{more}")
    };
    check(&trace("none.txt", ""), "it contains no times");
    check(&trace("bad.txt", ""), "line 2: `soon` is not a time");
    check(&trace("short.txt", "requests = 3"), "it has 2 times");
    check(
        "model = \"own.onnx\"\nstack = \"fastapi-tensorflow\"",
        "not ONNX files",
    );
}

#[test]
fn a_server_that_dies_at_its_start_is_said_to_have() {
    let bench = Bench::new();
    let dies = "stack = \"command\"\ncommand = [\"sh\", \"-c\", \"echo no such model; exit 3\"]";
    bench.write("study.toml", &study(dies, ""));
    bench.bancada(&["run", "study.toml"]).ends_with(5);
    let (status, detail) = outcome(&bench, "C1-r1");
    assert_eq!(status, "failed");
    assert_eq!(
        detail,
        "the server ended with exit code 3 before it was healthy; the log ends:\nno such model"
    );
}

#[test]
fn a_run_that_cannot_be_prepared_any_more_fails_and_the_study_goes_on() {
    let bench = Bench::new();
    fs::create_dir(bench.path().join("bodies")).unwrap();
    bench.write("bodies/one.json", "{}");
    let empties = "stack = \"command\"\ncommand = [\"sh\", \"-c\", \"rm -f bodies/*; exit 1\"]\nbody = \"bodies\"";
    bench.write("study.toml", &study(empties, ""));
    bench.bancada(&["run", "study.toml"]).ends_with(5);
    assert_eq!(bench.bundles("asked"), ["C1-r1", "C1-r2"]);
    let (status, detail) = outcome(&bench, "C1-r2");
    assert_eq!(status, "failed");
    assert!(detail.contains("has no pictures"), "{detail}");
}

/// What the client of the run under way has told.
fn told(bench: &Bench) -> String {
    fn events(folder: &Path) -> Option<String> {
        fs::read_dir(folder).ok()?.flatten().find_map(|entry| {
            let path = entry.path();
            match path.is_dir() {
                true => events(&path),
                false if path.ends_with("events.jsonl") => fs::read_to_string(path).ok(),
                false => None,
            }
        })
    }
    events(&bench.path().join("results")).unwrap_or_default()
}

#[test]
fn an_interrupted_serverless_run_has_the_cost_of_what_was_billed() {
    let bench = Bench::new();
    let asked = "model = \"rede1\"\nload = \"clients\"\nduration = \"10min\"";
    let worker = "[environments.worker]\nprice = \"aws/sagemaker-serverless-1024@us-east-1\"\n\
                  serverless = { memory = 1024 }\n";
    bench.write("study.toml", &study(asked, worker));
    let child = bench.start(&["run", "study.toml"]);
    for _ in 0..6000 {
        if told(&bench).contains("\"warm\"") {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    // SAFETY: signals a process that this test started and has not waited for.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
    Ran::new(child.wait_with_output().unwrap()).ends_with(130);
    let record = bench.record("asked", "C1-r1");
    assert_eq!(record["outcome"]["status"], "interrupted");
    let metric = |name: &str| record["metrics"][name]["value"].as_f64().unwrap_or(0.0);
    assert!(metric("billed_seconds") > 0.0, "{}", record["metrics"]);
    assert!(metric("cost") > 0.0, "{}", record["metrics"]);
}
