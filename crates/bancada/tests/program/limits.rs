//! Limits that this machine cannot give, machines that measured runs do not fit on, and other
//! figures that nobody should trust in silence.

use std::fs;

use serde_json::Value;

use crate::common::{Bench, shell_study};

const TOO_MUCH: &str = "[study]\nname = \"s\"\nrepetitions = 1\n[factors]\ncores = [1, 4000]\n\
    [workload]\ncommand = [\"sh\", \"-c\", \"true {cores}\"]\n[environments.here]\nmemory = \"900 TB\"\n";

fn check(arguments: &[&str], code: i32, words: &[&str]) {
    let bench = Bench::new();
    bench.write("study.toml", TOO_MUCH);
    bench.write("small.toml", &TOO_MUCH.replace("900 TB", "1 MB"));
    let mut ran = bench.bancada(arguments).ends_with(code);
    for word in words {
        ran = ran.says(word);
    }
    assert!(
        code == 0 || !bench.path().join("results").exists(),
        "{arguments:?} left results"
    );
}

#[test]
fn a_study_that_needs_a_larger_machine_is_refused() {
    let cores = "the factor `cores` requests 4000 cores, but this machine has ";
    let memory = "the environment `here` requests 900,000 GB of memory, but this machine has ";
    let elsewhere = "add --elsewhere";
    check(
        &["check", "study.toml"],
        3,
        &[cores, memory, "study.toml:5", "study.toml:9", elsewhere],
    );
    check(
        &["plan", "study.toml", "--no-pilot"],
        3,
        &[cores, memory, elsewhere],
    );
    check(
        &["run", "study.toml"],
        3,
        &[cores, memory, "nothing was started"],
    );
}

#[test]
fn what_is_prepared_for_elsewhere_can_be_looked_at() {
    check(&["check", "--elsewhere", "study.toml"], 0, &["ok"]);
    check(&["plan", "--elsewhere", "study.toml"], 0, &["4000"]);
}

#[test]
fn only_what_is_asked_for_must_fit() {
    let only = "`run` and `plan` select the runs that fit with --only cores=1";
    check(&["check", "small.toml"], 3, &[only]);
    check(
        &["plan", "small.toml", "--no-pilot", "--only", "cores=1"],
        0,
        &["1 to do"],
    );
    check(&["run", "small.toml", "--only", "cores=4000"], 3, &["4000"]);
}

/// Two runs priced as a machine of 4 vCPUs, whose records say that they kept so many cores busy.
fn busy(cores: f64) -> Bench {
    let bench = Bench::new();
    let priced = "[environments.here]\nprice = \"aws/c7i.xlarge@us-east-1\"\n";
    let study = format!("{}{priced}", shell_study("busy", "true", 1, ""));
    bench.write("study.toml", &study);
    bench
        .bancada(&["run", "study.toml", "--quiet", "--no-pilot"])
        .ends_with(0);
    let results = bench.path().join("results/busy");
    for run in ["C1-r1", "C2-r1"] {
        let path = results.join("runs").join(run).join("run.json");
        let mut record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        record["metrics"]["cores_used"]["value"] = Value::from(cores);
        fs::write(&path, record.to_string()).unwrap();
    }
    // Made again from the bundles.
    fs::remove_file(results.join("store.sqlite")).unwrap();
    bench
}

#[test]
fn times_are_not_priced_on_a_machine_with_fewer_cores_than_were_busy() {
    let too_small = "aws/c7i.xlarge@us-east-1 has 4 vCPUs, and 2 runs kept up to 7.5 cores busy: \
                     times there will be longer, so no cost is given";
    let small = "aws/c7i.xlarge@us-east-1";
    let bench = busy(7.5);
    bench
        .bancada(&["show", "results/busy", "--price", small])
        .ends_with(3)
        .says(too_small);
    bench
        .bancada(&["price", "compare", "results/busy", small])
        .ends_with(3)
        .says(too_small);
    // Beside one that is large enough it is named.
    bench
        .bancada(&["price", "compare", "results/busy", small, "aws/c7i.4xlarge"])
        .ends_with(0)
        .says(too_small)
        .says("aws/c7i.4xlarge");
    let bench = busy(3.9);
    bench
        .bancada(&["price", "compare", "results/busy", small])
        .ends_with(0);
}

#[test]
fn a_study_priced_as_a_machine_with_fewer_cores_than_were_busy_has_no_cost() {
    let too_small = "aws/c7i.xlarge@us-east-1 has 4 vCPUs, and 2 runs kept up to 7.5 cores busy: \
                     times there will be longer, so no cost is given";
    let cost_of = |bench: &Bench| {
        let told = bench
            .bancada(&["export", "results/busy", "--format", "json"])
            .ends_with(0);
        let exported: Value = serde_json::from_str(&told.out).unwrap();
        let totals = exported.pointer("/analysis/totals/cost_total").unwrap();
        let tasks = exported.pointer("/analysis/best/tasks").unwrap();
        let mut tasks = tasks.as_array().unwrap().iter();
        let is_ranked = tasks.any(|task| !task["cost"].is_null());
        (totals.as_array().unwrap().len(), is_ranked)
    };
    let bench = busy(7.5);
    let shown = bench.bancada(&["show", "results/busy"]).ends_with(0);
    let flat = shown.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(too_small), "{flat}");
    for claim in ["US$", "cheapest", "cost of"] {
        assert!(!flat.contains(claim), "{claim} in {flat}");
    }
    assert_eq!(cost_of(&bench), (0, false));
    // Machines that are large enough are compared, without a bill to compare with.
    let compared = bench
        .bancada(&["price", "compare", "results/busy", "aws/c7i.4xlarge"])
        .ends_with(0)
        .says(too_small);
    assert!(!compared.out.contains("billed US$"), "{}", compared.out);
    // The same study, whose runs fit.
    let bench = busy(3.9);
    let shown = bench.bancada(&["show", "results/busy"]).ends_with(0);
    assert!(shown.out.contains("US$"), "{}", shown.out);
    assert_eq!(cost_of(&bench).0, 1);
}

/// Reports a cost of its own and a metric without a name; one pattern never matches, one captures
/// words.
const UNREAD: &str = r#"[study]
name = "unread"
repetitions = 2
[workload]
command = ["sh", "-c", """
echo took long
echo '{"event":"metric","name":"cost","value":1}' >> "$BANCADA_EVENTS"
echo '{"event":"metric","name":"","value":1}' >> "$BANCADA_EVENTS"
echo '{"event":"step","step":1,"loss":0.5}' >> "$BANCADA_EVENTS"
"""]
[[workload.log]]
event = "step"
pattern = 'loss (?<loss>[0-9.]+)'
[[workload.log]]
event = "metric"
name = "took"
pattern = 'took (\S+)'
[measure]
interval = "20ms"
"#;

#[test]
fn what_was_reported_in_vain_is_told_once() {
    let bench = Bench::new();
    bench.write("study.toml", UNREAD);
    let ran = bench
        .bancada(&["run", "study.toml", "--quiet", "--no-pilot"])
        .ends_with(0);
    let report = fs::read_to_string(bench.path().join("results/unread/report.html")).unwrap();
    let flat = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "all 2 runs: the log pattern `loss (?<loss>[0-9.]+)` matched no line",
        "all 2 runs: the log pattern `took (\\S+)` captured `long`, which is not a usable number",
        "all 2 runs: the reported metric `cost` was ignored",
        "all 2 runs: a metric without a name was reported and ignored",
    ] {
        assert_eq!(flat.matches(words).count(), 1, "{words} in {}", ran.out);
    }
    for words in ["matched no line", "not a usable number", "was ignored"] {
        assert!(report.contains(words), "{words}");
    }
    assert_eq!(
        bench.record("unread", "C1-r1")["metrics"]["cost"],
        Value::Null
    );
}

#[test]
fn damaged_files_of_a_run_are_named() {
    let bench = Bench::new();
    bench.write("study.toml", UNREAD);
    bench
        .bancada(&["run", "study.toml", "--quiet", "--no-pilot"])
        .ends_with(0);
    let bundle = bench.path().join("results/unread/runs/C1-r1");
    fs::write(bundle.join("samples.csv"), "seconds,x\n1,2\nrubbish\n").unwrap();
    let events = fs::read_to_string(bundle.join("events.jsonl")).unwrap();
    let cut = events.trim_end().len() - 3;
    fs::write(bundle.join("events.jsonl"), &events[..cut]).unwrap();
    bench
        .bancada(&["report", "results/unread"])
        .ends_with(0)
        .says("C1-r1: line 3 of samples.csv: 1 fields under 2 columns: the file is damaged");
    let report = fs::read_to_string(bench.path().join("results/unread/report.html")).unwrap();
    assert!(report.contains("the file is damaged"));
    let export = [
        "export",
        "results/unread",
        "--format",
        "csv",
        "--table",
        "steps",
    ];
    let named = "unread/runs/C1-r1/samples.csv is damaged: it has 22 bytes, and had ";
    for command in [
        &["show", "results/unread"][..],
        &["export", "results/unread", "--format", "csv"],
        &["export", "results/unread", "--format", "json"],
        &["report", "results/unread"],
    ] {
        let told = bench.bancada(command).ends_with(0).says(named);
        told.says("events.jsonl is damaged");
    }
    bench
        .bancada(&export)
        .ends_with(0)
        .says("C1-r1: 1 line is not an event in events.jsonl");
}
