//! Frameworks without any framework: environments whose `python` is a script of a few lines that
//! speaks the protocol, or does not.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::common::{Bench, Ran};

/// Does what a good adapter does, and fails where the job lacks what it needs.
const GOOD: &str = r#"
job=$(tr -d '\n' < "$BANCADA_JOB")
value() { printf '%s' "$job" | sed "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/"; }
test -s "$(value weights)" || { echo "no weights"; exit 7; }
test -s "$(value cache)/train-images.npy" || { echo "no images"; exit 8; }
case "$1" in *adapt_*.py) test -s "$1" || exit 9 ;; *) echo "no adapter: $1"; exit 9 ;; esac
tell '"framework", "name": "pytorch", "version": "2.15.0"'
tell '"phase", "phase": "train"'
for epoch in 1 2; do
  tell "\"step\", \"step\": $epoch, \"loss\": 1.5, \"seconds\": 0.01, \"images\": 16"
  tell "\"epoch\", \"epoch\": $epoch, \"loss\": 1.$epoch, \"seconds\": 0.01"
done
tell '"operator", "name": "aten::conv2d", "kind": "convolution", "calls": 3, "seconds": 0.02'
tell '"operator", "name": "aten::mm", "kind": "matrix-product", "calls": 4, "seconds": 0.05'
tell '"accuracy", "value": 0.5'
tell '"phase", "phase": "shutdown"'
"#;
const CRASHES: &str = r#"
tell '"phase", "phase": "train"'
echo "Traceback (most recent call last):" >&2
echo "ValueError: the sky fell down" >&2
exit 3
"#;
const HANGS: &str = "tell '\"phase\", \"phase\": \"train\"'\nsleep 600\n";
const NONSENSE: &str = r#"
head -c 2000 /dev/urandom >> "$BANCADA_EVENTS"
head -c 2000 /dev/urandom
tell '"phase", "phase": "train"'
"#;
const FORKS: &str =
    "sleep 600 & sleep 600 &\necho half of me is gone\ntell '\"phase\", \"phase\": \"train\"'\n";
const FULL: &str = r#"
tell '"phase", "phase": "train"'
tell '"out-of-memory", "detail": "cannot allocate 9 TB"'
exit 1
"#;

/// An environment as `setup` leaves it, with this for a Python.
pub(crate) fn set_up(bench: &Bench, framework: &str, version: &str, script: &str) {
    let cache = bench.path().join("cache/frameworks");
    let folder = cache.join(format!("{framework}-{version}"));
    fs::create_dir_all(folder.join("bin")).unwrap();
    let python = folder.join("bin/python");
    let tell = r#"tell() { printf '{"event": %s}\n' "$1" >> "$BANCADA_EVENTS"; }"#;
    fs::write(&python, format!("#!/bin/sh\n{tell}\n{script}")).unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    let marker = serde_json::json!({
        "framework": framework, "version": version, "python": "3.11.0", "gpu": false,
        "size_bytes": 1, "made": "2026-01-01T00:00:00Z", "recipe": "0", "packages": [],
    });
    fs::write(folder.join("bancada.json"), marker.to_string()).unwrap();
}

fn study(frameworks: &str, more: &str) -> String {
    format!(
        r#"
[study]
name = "fakes"
repetitions = 1

[factors]
framework = [{frameworks}]

[workload]
network = "rede1"
images = 32
held_out = 16
epochs = 2
batch = 16
{more}

[measure]
interval = "50ms"
timeout = "3s"
grace = "500ms"
"#
    )
}

#[test]
fn a_framework_gets_weights_images_and_its_adapter() {
    let bench = Bench::new();
    set_up(&bench, "pytorch", "2.15.0", GOOD);
    bench.write("study.toml", &study("\"pytorch\"", "profile = true"));
    bench
        .bancada(&["run", "study.toml", "--no-pilot"])
        .ends_with(0)
        .says("decoded once");
    let record = bench.record("fakes", "C1-r1");
    assert_eq!(record["outcome"]["status"], "ok", "{record:#}");
    assert_eq!(record["framework"]["version"], "2.15.0");
    assert_eq!(record["epochs"][1]["loss"], 1.2);
    let profile = &record["profile"];
    assert_eq!(profile[0]["kind"], "matrix-product", "{profile}");
    assert_eq!(profile[1]["calls"], 3);
    let warnings = record["warnings"].to_string();
    assert!(warnings.contains("not-verified"), "{warnings}");
    // The weights can be drawn again, and are not kept.
    let runs = bench.path().join("results/fakes/runs/C1-r1");
    assert!(runs.join("job.json").exists() && !runs.join("initial.safetensors").exists());
    // A second study of the same images decodes nothing.
    let again = bench.bancada(&["run", "study.toml", "--no-pilot", "--out", "again"]);
    assert!(!again.ends_with(0).err.contains("decoded once"));
}

#[test]
fn a_framework_that_misbehaves_is_a_failed_run_and_the_study_goes_on() {
    let bench = Bench::new();
    let all = [
        ("pytorch", "2.15.0", CRASHES),
        ("tensorflow", "2.21.0", HANGS),
        ("mxnet", "1.9.1", NONSENSE),
        ("jax", "0.10.2", FORKS),
        ("paddle", "3.3.1", FULL),
        ("chainer", "7.8.1", GOOD),
    ];
    for (framework, version, script) in all {
        set_up(&bench, framework, version, script);
    }
    let names: Vec<String> = all.iter().map(|f| format!("{:?}", f.0)).collect();
    bench.write("study.toml", &study(&names.join(", "), ""));
    bench
        .bancada(&["run", "study.toml", "--no-pilot"])
        .ends_with(5)
        .says("the sky fell down");
    let check = |run: &str, status: &str, word: &str| {
        let record = bench.record("fakes", run);
        assert_eq!(record["outcome"]["status"], status, "{run} {record:#}");
        assert!(record.to_string().contains(word), "{run} {record:#}");
    };
    check("C1-r1", "failed", "the sky fell down");
    check("C2-r1", "timed-out", "timed-out");
    let silent = "ended without reporting a single step";
    check("C3-r1", "failed", "bad-events");
    check("C3-r1", "failed", silent);
    check("C4-r1", "failed", "left-behind");
    check(
        "C4-r1",
        "failed",
        &format!("{silent}; the log ends:\\nhalf of me is gone"),
    );
    check("C5-r1", "out-of-memory", "cannot allocate 9 TB");
    check("C6-r1", "ok", "2.15.0");
}

#[test]
fn what_is_not_set_up_is_said_before_anything_runs() {
    let bench = Bench::new();
    set_up(&bench, "pytorch", "2.15.0", GOOD);
    bench.write("study.toml", &study("\"pytorch\", \"mxnet\"", ""));
    bench
        .bancada(&["run", "study.toml", "--no-pilot"])
        .ends_with(1)
        .says("not set up: mxnet")
        .says("bancada run study.toml --prepare installs them (or: bancada setup mxnet)");
    assert!(bench.bundles("fakes").is_empty());
    bench.write("data.toml", &study("\"pytorch\"", "dataset = \"mnist\""));
    bench
        .bancada(&["run", "data.toml", "--no-pilot", "--out", "other"])
        .ends_with(1)
        .says("bancada data fetch mnist");
}

/// Answers what the engine answered, changed.
const SAME: &str = r#"
report=$(tr -d '\n' < "$BANCADA_JOB" | sed 's/.*"report": *"\([^"]*\)".*/\1/')
engine=$(dirname "$(dirname "$report")")/engine/report.json
sed 's/CHANGEg' "$engine" > "$report"
"#;

#[test]
fn verify_says_which_framework_answers_what() {
    let bench = Bench::new();
    let same = SAME;
    let differing = same.replace(
        "CHANGE",
        r#""layer":"relu1","value":/"layer":"relu1","value":7/"#,
    );
    let equal = same.replace("CHANGE", r#""framework":"engine"/"framework":"jax"/"#);
    set_up(&bench, "pytorch", "2.15.0", &differing);
    set_up(&bench, "jax", "0.10.2", &equal);
    set_up(&bench, "mxnet", "1.9.1", CRASHES);
    // A layer whose numbers are none, as every later one's and the loss.
    let lost = same.replace("CHANGE", r#""value":[0-9.]*/"value":null/"#);
    let lost = lost.replace(
        "$engine\" >",
        "$engine\" | sed 's/\"last_loss\":[0-9.]*/\"last_loss\":null/' >",
    );
    set_up(&bench, "chainer", "7.8.1", &lost);
    let arguments = ["verify", "rede1", "--image", "28", "--channels", "1"];
    bench
        .bancada(&arguments)
        .ends_with(5)
        .says("105866")
        .says("the sky fell down")
        .says("differs from relu1 on")
        .says("! differs from conv1 on")
        .says("Different: pytorch, chainer")
        .says("1 failed");
    let mut only = arguments.to_vec();
    only.extend(["--framework", "jax"]);
    bench.bancada(&only).ends_with(0).says("The same in all 2");
    bench
        .bancada(&["verify"])
        .ends_with(2)
        .says("--study <STUDY>");
    bench
        .bancada(&["verify", "rede1", "--framework", "jaxx"])
        .ends_with(3)
        .says("did you mean `jax`?");
}

#[test]
fn a_run_is_vouched_for_by_what_was_compared_and_by_nothing_else() {
    let bench = Bench::new();
    let equal = SAME.replace("CHANGE", r#""framework":"engine"/"framework":"pytorch"/"#);
    let verifies =
        format!("if grep -q '\"report\"' \"$BANCADA_JOB\"; then\n{equal}\nelse\n{GOOD}\nfi\n");
    // The version that it tells, so that what is kept of it is found.
    let verifies = verifies.replace(
        "> \"$report\"",
        "| sed 's/\"version\":\"[^\"]*\"/\"version\":\"2.15.0\"/' > \"$report\"",
    );
    set_up(&bench, "pytorch", "2.15.0", &verifies);
    bench.write("study.toml", &study("\"pytorch\"", ""));
    bench
        .bancada(&["verify", "--study", "study.toml"])
        .ends_with(0)
        .says("The same in all 2");
    let run = |more: &str| {
        let name = format!("out-{}", more.replace(|c: char| !c.is_alphanumeric(), ""));
        bench.write("study.toml", &study("\"pytorch\"", more));
        let arguments = ["run", "study.toml", "--no-pilot", "--out", &name];
        bench.bancada(&arguments).ends_with(0);
        let path = bench.path().join(name).join("runs/C1-r1/run.json");
        let record: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        let verified = !record["framework"]["verified"].is_null();
        let warnings = record["warnings"].to_string();
        assert_eq!(verified, !warnings.contains("not-verified"), "{warnings}");
        (verified, warnings)
    };
    for more in ["", "compile = false"] {
        assert!(run(more).0, "{more}");
    }
    for (more, why) in [
        ("precision = \"mixed\"", "this ran in mixed precision"),
        ("device = \"cuda:0\"", "this ran on cuda:0"),
        ("compile = true", "this ran with compile = true"),
    ] {
        let (verified, warnings) = run(more);
        assert!(!verified && warnings.contains(why), "{more}: {warnings}");
    }
    // What another release's adapters computed says nothing of this one's.
    let of_graph = fs::read_dir(bench.path().join("cache/verified")).unwrap();
    let of_graph = of_graph.last().unwrap().unwrap().path();
    let of_adapters = fs::read_dir(&of_graph).unwrap().last().unwrap().unwrap();
    fs::rename(of_adapters.path(), of_graph.join("0123456789abcdef")).unwrap();
    assert!(!run("learning_rate = 0.002").0);
}

#[test]
fn pilots_leave_no_images_in_the_cache() {
    let bench = Bench::new();
    let more = "network = \"rede1\"\nimages = 128\nheld_out = 16\nbatch = 16\nepochs = 1";
    let study = format!("[study]\nname = \"p\"\nrepetitions = 1\n\n[workload]\n{more}\n");
    bench.write("study.toml", &study);
    bench
        .bancada(&["run", "study.toml"])
        .ends_with(0)
        .says("short pilot run");
    let names = |folder: &str| {
        let entries = fs::read_dir(bench.path().join(folder)).unwrap().flatten();
        let folders = entries.filter(|entry| entry.path().is_dir());
        folders.map(|entry| entry.file_name()).collect::<Vec<_>>()
    };
    assert_eq!(names("cache/data/cache").len(), 1);
    assert!(names("cache/scratch").is_empty());
}

/// With the cache folder of whoever runs the tests, where frameworks are set up for real.
fn with_real_frameworks(bench: &Bench, arguments: &[&str]) -> Ran {
    let mut command = bench.command(arguments);
    with_real_cache(&mut command);
    Ran::new(command.output().unwrap())
}

pub(crate) fn with_real_cache(command: &mut Command) {
    match std::env::var_os("BANCADA_CACHE") {
        Some(cache) => command.env("BANCADA_CACHE", cache),
        None => command.env_remove("BANCADA_CACHE"),
    };
}

/// Those that are set up, of those that can have several workers.
pub(crate) fn installed_with_workers(bench: &Bench) -> Vec<&'static str> {
    let listed = with_real_frameworks(bench, &["setup", "--list"]).ends_with(0);
    let is_set_up = |name: &str| {
        let mut rows = listed.out.lines().map(str::split_whitespace);
        let row = rows.find_map(|mut words| (words.next() == Some(name)).then_some(words));
        // After the version: `set up, …`; else it is not, or begun, or something is in the way.
        row.is_some_and(|words| words.skip(1).take(2).eq(["set", "up,"]))
    };
    let several = ["pytorch", "tensorflow", "keras-tensorflow", "mxnet", "jax"];
    let found: Vec<&str> = several.into_iter().filter(|name| is_set_up(name)).collect();
    assert!(!found.is_empty(), "{}", listed.out);
    found
}

#[test]
#[ignore = "needs frameworks that are set up: .ci/frameworks runs it"]
fn installed_frameworks_compute_the_same() {
    let bench = Bench::new();
    let ran = with_real_frameworks(&bench, &["verify", "lenet5", "--json"]).ends_with(0);
    let found: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let answers = found["answers"].as_array().unwrap();
    assert_eq!(answers[0]["framework"], "engine");
    assert!(answers.len() > 1, "no framework is set up");
    for answer in answers {
        let name = &answer["framework"];
        assert_eq!(answer["report"]["parameters"], 61706, "{name}");
        assert!(answer["first_loss_difference"].as_f64().unwrap() <= 1e-4);
        assert!(answer["differs_at"].is_null(), "{name}");
        eprintln!("asked {name}");
    }
}

#[test]
#[ignore = "needs frameworks that are set up: .ci/frameworks runs it"]
fn installed_frameworks_train_alike_with_one_worker_and_with_two() {
    let bench = Bench::new();
    for framework in installed_with_workers(&bench) {
        let name = format!("workers-{framework}");
        let study = format!(
            "[study]\nname = \"{name}\"\nrepetitions = 1\ntarget_accuracy = 50\n\n[factors]\nworkers = [1, 2]\n\n[workload]\nframework = \"{framework}\"\n\
             network = \"rede1\"\nimages = 64\nheld_out = 16\nepochs = 2\nbatch = 16\nthreads = 2\n\
             optimizer = \"sgd\"\nlearning_rate = 0.01\nmomentum = 0.9\nprofile = true\n"
        );
        bench.write("study.toml", &study);
        with_real_frameworks(&bench, &["run", "study.toml", "--no-pilot"]).ends_with(0);
        let [one, two] = ["C1-r1", "C2-r1"].map(|run| bench.record(&name, run));
        for epoch in 0..2 {
            let loss = |record: &serde_json::Value| record["epochs"][epoch]["loss"].as_f64();
            let (one, two) = (loss(&one).unwrap(), loss(&two).unwrap());
            assert!((one / two - 1.0).abs() < 1e-3, "{name}: {one} and {two}");
        }
        // Asked after every epoch, for the study has a target.
        for record in [&one, &two] {
            let told = |epoch: usize| record["epochs"][epoch]["accuracy"].as_f64();
            assert!(told(0).is_some(), "{name}: {}", record["epochs"]);
            let at_the_end = record["metrics"]["accuracy_percent"]["value"].as_f64();
            assert_eq!(
                told(1).map(|fraction| 100.0 * fraction),
                at_the_end,
                "{name}"
            );
        }
        let kinds = one["profile"].to_string();
        assert!(kinds.contains("convolution"), "{name}: {kinds}");
        let run = bench.path().join("results").join(&name).join("runs/C2-r1");
        assert!(run.join("model.onnx").exists(), "{name}");
        eprintln!("trained {framework}");
    }
}
