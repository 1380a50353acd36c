//! Logs of training programs brought into studies.

use std::fs;

use crate::common::Bench;

const CAFFE: &str = include_str!("../../../import/tests/fixtures/logs/caffe-batch64.log");
const FULL: &str = include_str!("../../../import/tests/fixtures/logs/caffe-full.log");
const CUT: &str = include_str!("../../../import/tests/fixtures/logs/caffe-2015-cut.log");
const SLIM: &str = include_str!("../../../import/tests/fixtures/logs/slim.log");

#[test]
fn logs_become_a_study_of_their_own() {
    let bench = Bench::new();
    bench.write("alexnet-64-r1.log", CAFFE);
    bench.write(
        "alexnet-64-r2.log",
        &CAFFE.replace("loss = 4.9", "loss = 4.7"),
    );
    bench.write("alexnet-512-r1.log", FULL);
    bench.write("slim-64-r1.log", SLIM);
    let arguments = [
        "import",
        "log",
        "alexnet-64-r1.log",
        "./alexnet-64-r2.log",
        "alexnet-512-r1.log",
        "slim-64-r1.log",
        "--name",
        "old",
        "--file-pattern",
        "{network}-{batch}-r{repetition}.log",
        "--images",
        "256",
        "--year",
        "2016",
        "--price",
        "azure/Standard_F4s_v2@eastus",
    ];
    let ran = bench
        .bancada(&arguments)
        .ends_with(0)
        .says("Read 4 logs with 24 steps, skipped 0; 4 runs added, 0 already there.");
    assert!(ran.out.trim().ends_with("report.html"), "{}", ran.out);
    let record = bench.record("old", "C1-r1");
    assert_eq!(record["started"], "2016-12-31T23:59:50Z");
    assert_eq!(record["metrics"]["train_seconds"]["value"], 4.0);
    assert_eq!(record["epochs"].as_array().unwrap().len(), 2);
    assert_eq!(record["origin"]["kind"], "imported");
    assert!(record["bill"].is_object(), "{record:#}");
    // The log itself and all its losses stay beside the run.
    let folder = bench.path().join("results/old/runs/C1-r1");
    assert_eq!(fs::read_to_string(folder.join("log.txt")).unwrap(), CAFFE);
    let events = fs::read_to_string(folder.join("events.jsonl")).unwrap();
    assert_eq!(events.lines().filter(|l| l.contains("\"step\"")).count(), 8);
    let statuses: Vec<String> = bench
        .bundles("old")
        .iter()
        .map(|run| {
            let record = bench.record("old", run);
            format!("{run} {}", record["outcome"]["status"].as_str().unwrap())
        })
        .collect();
    let expected = ["C1-r1 ok", "C1-r2 ok", "C2-r1 out-of-memory", "C3-r1 ok"];
    assert_eq!(statuses, expected);
    bench
        .bancada(&["show", "results/old"])
        .ends_with(0)
        .says("alexnet");
    // The same logs again add nothing.
    bench
        .bancada(&arguments)
        .ends_with(0)
        .says("0 runs added, 4 already there");
}

#[test]
fn logs_become_runs_of_a_study() {
    let bench = Bench::new();
    bench.write(
        "study.toml",
        "[study]\nname = \"d\"\nrepetitions = 1\n\n[factors]\nframework = [\"caffe\", \"tensorflow\"]\n\
         batch = [32, 64]\n\n[import]\nrow = \"run\"\nmetrics = { time = \"train_seconds:s\" }\n",
    );
    bench.write("a.log", CAFFE);
    bench.write("b.log", SLIM);
    bench.write("cut.log", CUT);
    bench
        .bancada(&["import", "log", "a.log", "--study", "study.toml"])
        .ends_with(0)
        .says("1 run added");
    bench
        .bancada(&[
            "import",
            "log",
            "b.log",
            "--study",
            "study.toml",
            "--level",
            "batch=32",
        ])
        .ends_with(0)
        .says("1 run added");
    assert_eq!(bench.bundles("d"), ["C2-r1", "C3-r1"]);
    bench
        .bancada(&[
            "import",
            "log",
            "cut.log",
            "--study",
            "study.toml",
            "--level",
            "batch=32",
        ])
        .ends_with(0)
        .says("looks like a step but cannot be parsed; ignored");
    assert_eq!(
        bench.record("d", "C1-r1")["outcome"]["status"],
        "interrupted"
    );
}

#[test]
fn what_cannot_be_imported_is_a_sentence() {
    let bench = Bench::new();
    bench.write("x.log", "nothing\n");
    bench
        .bancada(&["import", "log", "x.log"])
        .ends_with(1)
        .says("its format is not known")
        .says("nothing was changed");
    bench
        .bancada(&["import", "log", "none.log"])
        .ends_with(1)
        .says("cannot read none.log");
    bench
        .bancada(&["import", "log", "x.log", "--format", "torch"])
        .ends_with(2)
        .says("keras-csv, pytorch, dawnbench or auto");
    bench.bancada(&["import", "log"]).ends_with(2);
    bench.bancada(&["import"]).ends_with(2);
}

#[test]
fn a_table_may_still_be_called_log() {
    let bench = Bench::new();
    bench.write("log", "tool,time\na,1\nb,2\n");
    let flags = ["--factor", "tool", "--metric", "time=train_seconds:s"];
    let import = |file: &str, name: &str| {
        let mut arguments = vec!["import", file, "--name", name];
        arguments.extend(flags);
        bench.bancada(&arguments)
    };
    import("./log", "one").ends_with(0).says("2 runs added");
    // After another argument it is a file too.
    let mut arguments = vec!["import", "--name", "two"];
    arguments.extend(flags);
    arguments.push("log");
    bench.bancada(&arguments).ends_with(0).says("2 runs added");
    // Alone it is the command, whose flags are others.
    import("log", "three").ends_with(2);
}

#[test]
fn requests_measured_elsewhere_are_billed_and_analysed_as_serving() {
    let bench = Bench::new();
    let study = r#"
[study]
name = "asked"
[factors]
environment = ["demand", "machine"]
[workload]
kind = "serve"
model = "mobilenet"
[environments.demand]
price = "aws/sagemaker-serverless-2048"
serverless = { memory = 2048 }
[environments.machine]
price = "aws/ml.m5.xlarge"
[import]
row = "request"
factors = { place = "environment" }
metrics = { total_ms = "latency_seconds:ms", model_ms = "prediction_seconds:ms" }
"#;
    bench.write("study.toml", study);
    let row = |place: &str| format!("{place},250,200\n").repeat(20);
    let rows = format!(
        "place,total_ms,model_ms\n{}{}",
        row("demand"),
        row("machine")
    );
    bench.write("asked.csv", &rows);
    bench
        .bancada(&["import", "--study", "study.toml", "asked.csv"])
        .ends_with(0);
    // Nobody said when.
    bench.write("bill.csv", "");
    bench
        .bancada(&["reconcile", "study.toml", "bill.csv"])
        .ends_with(1)
        .says("2 of the runs have no start time");
    let json = bench.bancada(&["export", "study.toml", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.ends_with(0).out).unwrap();
    let analysis = &json["analysis"];
    assert_eq!(analysis["totals"]["first_started"], serde_json::Value::Null);
    // 20 answers of a quarter of a second, at 0.00004 a second.
    let runs = analysis["runs"].as_array().unwrap();
    let demand = runs.iter().find(|r| r["environment"] == "demand").unwrap();
    assert_eq!(demand["cost"]["amount"], "0.0002");
    let served = analysis["serving"]["scenarios"].as_array().unwrap();
    assert_eq!(served.len(), 2);
    let share = served[0]["prediction_percent"]["value"].as_f64().unwrap();
    assert!((share - 80.0).abs() < 1e-6, "{share}");
}
