//! `bancada time`: one command, timed at once, and the study that it leaves.

use std::fs;

use crate::common::Bench;

/// How many runs the results have.
fn runs(bench: &Bench, study: &str) -> usize {
    let ran = bench.bancada(&["export", study, "--format", "csv"]);
    ran.ends_with(0).out.lines().count() - 1
}

#[test]
fn a_command_is_timed_and_leaves_a_study_to_grow() {
    let bench = Bench::new();
    let time = [
        "time",
        "--runs",
        "4",
        "--save",
        "one.toml",
        "--price",
        "3600 USD/h",
    ];
    let vary = ["--vary", "n=1,2", "--", "sh", "-c", "echo {n} >> count"];
    bench
        .bancada(&[&time[..], &vary[..]].concat())
        .ends_with(0)
        .says("one   8 runs (8 ok) of 2 scenarios")
        .says("C2 (n 2)")
        .says("Study   one.toml");
    let count = fs::read_to_string(bench.path().join("count")).unwrap();
    assert_eq!(count.lines().count(), 8);
    assert_eq!(count.lines().filter(|n| *n == "2").count(), 4);
    bench
        .bancada(&["check", "one.toml"])
        .ends_with(0)
        .says("2 scenarios × 4 repetitions = 8 runs");
    // It grows: what was measured is kept.
    let text = fs::read_to_string(bench.path().join("one.toml")).unwrap();
    bench.write("one.toml", &text.replace("n = [1, 2]", "n = [1, 2, 3]"));
    bench
        .bancada(&["run", "one.toml", "--quiet"])
        .ends_with(0)
        .says("12 runs (12 ok) of 3 scenarios");
    let count = fs::read_to_string(bench.path().join("count")).unwrap();
    assert_eq!(count.lines().count(), 12);
    assert_eq!(runs(&bench, "one.toml"), 12);
    bench
        .bancada(&["time", "--save", "one.toml", "--", "true"])
        .ends_with(1)
        .says("one.toml exists already");
}

#[test]
fn short_runs_have_the_time_of_the_command_and_long_ones_their_samples() {
    let bench = Bench::new();
    let script = "test {n} = 1 || { sleep 0.26; }";
    bench
        .bancada(&[
            "time", "--runs", "3", "--save", "two.toml", "--vary", "n=1,2", "--", "sh", "-c",
            script,
        ])
        .ends_with(0);
    // Those that were over before the first sample leave no files.
    let bundles = bench.bundles("two");
    assert!(bundles.contains(&"C2-r1".to_owned()), "{bundles:?}");
    assert_eq!(
        bundles.iter().filter(|name| name.starts_with("C2")).count(),
        3
    );
    let record = bench.record("two", "C2-r1");
    assert!(record["seconds"].as_f64().unwrap() > 0.25);
    assert!(
        record["metrics"]["peak_memory_bytes"]["value"]
            .as_f64()
            .unwrap()
            > 0.0
    );
    let samples = bench.path().join("results/two/runs/C2-r1/samples.csv");
    assert!(fs::read_to_string(samples).unwrap().lines().count() > 2);
    assert_eq!(runs(&bench, "two.toml"), 6);
}

#[test]
fn warm_ups_are_not_counted_and_every_run_is_prepared() {
    let bench = Bench::new();
    let options = [
        "--warmup",
        "2",
        "--runs",
        "3",
        "--prepare",
        "echo {n} > input",
    ];
    let command = [
        "--vary",
        "n=7,8",
        "--shell",
        "--",
        "cat input >> seen;",
        "cat input | grep -q {n}",
    ];
    bench
        .bancada(&[&["time"], &options[..], &command[..]].concat())
        .ends_with(0)
        .says("6 runs (6 ok) of 2 scenarios");
    let seen = fs::read_to_string(bench.path().join("seen")).unwrap();
    assert_eq!(seen.lines().count(), 10);
}

#[test]
fn failures_end_it_unless_they_are_ignored() {
    let bench = Bench::new();
    bench
        .bancada(&["time", "--", "sh", "-c", "echo no luck; exit 3"])
        .ends_with(5)
        .says("error: the command ended with exit code 3")
        .says("no luck")
        .says("--ignore-failure");
    bench
        .bancada(&["time", "--", "no-such-program"])
        .ends_with(5)
        .says("error: the command: cannot start `no-such-program`: not found");
    bench
        .bancada(&["time", "--prepare", "exit 4", "--", "true"])
        .ends_with(5)
        .says("error: --prepare failed: exit 4");
    bench
        .bancada(&["time", "--runs", "2", "--ignore-failure", "--", "false"])
        .ends_with(0)
        .says("2 runs (2 ok)");
    bench
        .bancada(&["time", "--vary", "n=1", "--", "echo", "{m}"])
        .ends_with(2)
        .says("unknown factor in braces `m`")
        .says("did you mean `n`?");
    bench
        .bancada(&[
            "time", "--vary", "n=1", "--vary", "n=2", "--", "echo", "{n}",
        ])
        .ends_with(2)
        .says("--vary n is there twice");
    // Nothing is left of what came to nothing.
    let kept = fs::read_dir(bench.path().join("cache/time")).unwrap();
    assert_eq!(kept.count(), 1);
}

#[test]
fn exports_are_named_by_their_end() {
    let bench = Bench::new();
    let runs = |name: &str| bench.bancada(&["time", "--runs", "2", "--export", name, "--", "true"]);
    for name in ["runs.csv", "all.json", "page.md", "table.tex"] {
        runs(name).ends_with(0);
        assert!(bench.path().join(name).is_file(), "{name}");
    }
    runs("runs.xls")
        .ends_with(2)
        .says(".csv, .json, .md or .tex");
}

#[test]
fn a_process_that_a_run_leaves_is_ended() {
    let bench = Bench::new();
    let script = "sleep 300 > /dev/null 2>&1 & echo $! >> pids";
    bench
        .bancada(&["time", "--runs", "2", "--", "sh", "-c", script])
        .ends_with(0);
    let pids = fs::read_to_string(bench.path().join("pids")).unwrap();
    assert_eq!(pids.lines().count(), 2);
    for pid in pids.lines() {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    }
}

#[test]
fn studies_of_a_folder_are_listed_with_their_state() {
    let bench = Bench::new();
    bench
        .bancada(&["studies"])
        .ends_with(0)
        .says("No study in . (bancada init writes one).");
    let time = [
        "time",
        "--runs",
        "2",
        "--price",
        "0.2 USD/h",
        "--save",
        "done.toml",
    ];
    bench
        .bancada(&[&time[..], &["--", "true"]].concat())
        .ends_with(0);
    bench
        .bancada(&["init", "new.toml", "--from", "command"])
        .ends_with(0);
    bench.write("bad.toml", "[study]\nname = 3\n");
    let list = bench.bancada(&["studies"]).ends_with(0);
    let line = |name: &str| list.out.lines().find(|line| line.contains(name)).unwrap();
    assert!(line("done.toml").contains("done") && line("done.toml").contains("2/2"));
    assert!(line("done.toml").contains("just now") && line("done.toml").contains("US$"));
    assert!(line("new.toml").contains("new") && line("new.toml").contains("0/15"));
    assert!(line("bad.toml").contains("unreadable"));
    let json = bench.bancada(&["studies", "--json"]).ends_with(0);
    assert_eq!(json.out.matches("\"results\"").count(), 3, "{}", json.out);
    bench.bancada(&["studies", "nowhere"]).ends_with(3);
}

#[test]
fn what_is_wrong_is_an_argument_and_not_a_file_that_nobody_wrote() {
    let bench = Bench::new();
    let check = |arguments: &[&str], expected: &str| {
        let ran = bench.bancada(&[&["time"], arguments].concat());
        let ran = ran.ends_with(2).says(expected);
        assert!(
            !ran.err.contains("study.toml") && !ran.err.contains("│"),
            "{}",
            ran.err
        );
    };
    check(
        &["--vary", "n=1,2", "--", "echo", "hi"],
        "--vary n=1,2: the command does not contain {n}, where its values go",
    );
    check(
        &["--vary", "n=1,1", "--", "echo", "{n}"],
        "--vary n=1,1: level `1` of `n` is listed twice",
    );
    check(
        &["--price", "0.2", "--", "true"],
        "--price 0.2: `0.2` is not a price such as \"0.169 USD/h\"; give an amount",
    );
    check(
        &["--vary", "n=1,2", "--", "echo", "{m}", "{n}"],
        "unknown factor in braces `m`; did you mean `n`?; known: n",
    );
}
