//! A study that changes: which runs are kept, which are set aside, and what is said of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::common::Bench;

fn study(levels: &str, repetitions: u32, script: &str) -> String {
    format!(
        "[study]\nname = \"grow\"\nrepetitions = {repetitions}\nseed = 7\n[factors]\nn = [{levels}]\n[workload]\n\
         command = [\"sh\", \"-c\", '''{script}''', \"sh\", \"{{n}}\"]\n[measure]\ninterval = \"20ms\"\n"
    )
}

/// When every run began, by its level and repetition: a run that was kept has not begun again.
fn begun(bench: &Bench) -> BTreeMap<String, String> {
    let of = |run: String| {
        let record = bench.record("grow", &run);
        let level = &record["scenario"]["levels"][0]["level"];
        let repetition = run.split_once("-r").unwrap().1;
        assert_eq!(record["run"], run.as_str());
        let key = format!("{level} r{repetition}");
        (key, record["started"].as_str().unwrap().to_owned())
    };
    bench.bundles("grow").into_iter().map(of).collect()
}

fn aside(bench: &Bench) -> Vec<String> {
    let folder = bench.path().join("results/grow/runs/.aside");
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => fs::copy(entry.path(), to).map(drop).unwrap(),
        }
    }
}

#[test]
fn a_study_grows_and_keeps_the_runs_of_what_it_had() {
    let bench = Bench::new();
    bench.write("study.toml", &study("200, 400", 1, "true"));
    bench.bancada(&["run", "study.toml"]).ends_with(0);
    let first = begun(&bench);
    // A level before, one between: C1 is now C2 and C2 is now C4; one more repetition of all.
    bench.write("study.toml", &study("100, 200, 300, 400", 2, "true"));
    let change = "n: 200, 400 → 100, 200, 300, 400; repetitions: 1 → 2";
    for command in ["show", "report", "export"] {
        let ran = bench.bancada(&[command, "study.toml"]).ends_with(0);
        assert!(ran.err.contains(change), "{command}: {}", ran.err);
    }
    let planned = bench
        .bancada(&["plan", "study.toml", "--json"])
        .ends_with(0);
    let planned: serde_json::Value = serde_json::from_str(&planned.out).unwrap();
    assert_eq!(planned["due"].as_array().unwrap().len(), 6);
    bench
        .bancada(&["run", "study.toml"])
        .ends_with(0)
        .says(&format!("{change}): 2 of 2 finished runs kept"))
        .says("2 runs were renumbered with the scenarios (C1-r1 is now C2-r1)");
    let grown = begun(&bench);
    assert_eq!(grown.len(), 8);
    for (run, started) in &first {
        assert_eq!(grown.get(run), Some(started), "{run} was measured again");
    }
    let ran = bench.bancada(&["show", "study.toml"]).ends_with(0);
    assert!(!ran.err.contains('!'), "{}", ran.err);
    // Another order of the levels measures nothing again.
    bench.write("study.toml", &study("400, 300, 200, 100", 2, "true"));
    bench.bancada(&["run", "study.toml"]).ends_with(0);
    assert_eq!(begun(&bench), grown);
    // A level that goes is set aside, and is not measured again when it comes back.
    bench.write("study.toml", &study("100, 200, 300", 2, "true"));
    bench
        .bancada(&["run", "study.toml"])
        .ends_with(0)
        .says("6 of 8 finished runs kept")
        .says("C1-r1 was set aside as ");
    assert_eq!(aside(&bench), ["C1-r1.1", "C1-r2.1"]);
    bench.write("study.toml", &study("100, 200, 300, 400", 2, "true"));
    bench.bancada(&["run", "study.toml"]).ends_with(0);
    assert_eq!(begun(&bench), grown);
}

#[test]
fn another_command_is_refused_with_what_differs_or_started_again() {
    let bench = Bench::new();
    bench.write("study.toml", &study("1, 2", 1, "true"));
    bench.bancada(&["run", "study.toml"]).ends_with(0);
    bench.write("study.toml", &study("1, 2", 1, "exit 0"));
    bench
        .bancada(&["run", "study.toml"])
        .ends_with(6)
        .says("workload.command: sh -c true sh {n} → sh -c exit 0 sh {n}")
        .says("--out")
        .says("--redo-changed");
    assert_eq!(bench.bundles("grow").len(), 2, "nothing was moved");
    bench
        .bancada(&["run", "study.toml", "--redo-changed"])
        .ends_with(0)
        .says("0 of 2 finished runs kept");
    assert_eq!(aside(&bench), ["C1-r1.1", "C2-r1.1"]);
    assert_eq!(bench.bundles("grow").len(), 2);
}

#[test]
fn a_bundle_of_another_study_is_set_aside_and_its_scenario_measured() {
    let bench = Bench::new();
    // The same levels, another command: once taken for a result.
    let other = study("1, 2", 1, "exit 0").replace("\"grow\"", "\"other\"");
    bench.write("other.toml", &other);
    bench.bancada(&["run", "other.toml"]).ends_with(0);
    bench.write("study.toml", &study("1, 2", 1, "true"));
    bench.bancada(&["run", "study.toml"]).ends_with(0);
    let runs = |study: &str| bench.path().join("results").join(study).join("runs");
    fs::remove_dir_all(runs("grow").join("C1-r1")).unwrap();
    copy(&runs("other").join("C1-r1"), &runs("grow").join("C1-r1"));
    let shown = bench.bancada(&["show", "study.toml"]).ends_with(0);
    assert!(
        shown
            .err
            .contains("! C1-r1 is skipped: it is not a run of this scenario (its study is `other`"),
        "{}",
        shown.err
    );
    bench
        .bancada(&["run", "study.toml"])
        .ends_with(0)
        .says("! C1-r1 was set aside as results/grow/runs/.aside/C1-r1.1")
        .says("`other`");
    assert_eq!(bench.record("grow", "C1-r1")["study"], "grow");
    assert_eq!(aside(&bench), ["C1-r1.1"]);
}

#[test]
fn a_missing_identity_is_repaired_where_all_runs_fit_and_refused_where_not() {
    let bench = Bench::new();
    bench.write("study.toml", &study("1, 2", 1, "true"));
    bench.bancada(&["run", "study.toml"]).ends_with(0);
    let identity = bench.path().join("results/grow/identity.json");
    let whole = fs::read(&identity).unwrap();
    let spoil: [fn(&Path); 2] = [
        |path| fs::remove_file(path).unwrap(),
        |path| fs::write(path, "{\"na").unwrap(),
    ];
    for spoil in spoil {
        spoil(&identity);
        bench
            .bancada(&["run", "study.toml"])
            .ends_with(0)
            .says("was missing or damaged; all 2 runs match this study, so it was rewritten");
        assert_eq!(fs::read(&identity).unwrap(), whole);
        spoil(&identity);
        bench.write("study.toml", &study("1, 2", 1, "exit 0"));
        bench
            .bancada(&["run", "study.toml", "--redo-changed"])
            .ends_with(6)
            .says("is missing or damaged, and C1-r1 and C2-r1 are not of the study `grow`");
        bench.write("study.toml", &study("1, 2", 1, "true"));
    }
}

#[test]
fn a_run_that_refuses_leaves_no_folder() {
    let bench = Bench::new();
    bench.write("study.toml", &study("1, 2", 1, "true"));
    let check = |arguments: &[&str], code: i32| {
        bench.bancada(arguments).ends_with(code);
        assert!(!bench.path().join("results").exists(), "{arguments:?}");
    };
    check(&["run", "study.toml", "--only", "n=3"], 3);
    let train =
        "[study]\nname = \"grow\"\n[workload]\nnetwork = \"rede1\"\nframework = \"mxnet\"\n";
    bench.write("study.toml", train);
    check(&["run", "study.toml"], 1);
    let deep = format!(
        "results/{}",
        ["x".repeat(200), "y".repeat(200), "z".repeat(200)].join("/")
    );
    bench.write("study.toml", &study("1, 2", 1, "true"));
    check(&["run", "study.toml", "--out", &deep], 1);
}

/// A study whose program is a file.
fn with_script(repetitions: u32, more: &str) -> String {
    format!(
        "[study]\nname = \"grow\"\nrepetitions = {repetitions}\nseed = 7\n[factors]\nn = [1, 2]\n[workload]\n\
         command = [\"sh\", \"train.sh\", \"{{n}}\"]\n{more}\n[measure]\ninterval = \"20ms\"\n"
    )
}

#[test]
fn an_edited_program_stops_the_study_until_somebody_chooses() {
    let bench = Bench::new();
    bench.write("train.sh", "true\n");
    bench.write("study.toml", &with_script(1, ""));
    bench.bancada(&["run", "study.toml"]).ends_with(0);
    let digest = |run: &str| bench.record("grow", run)["inputs"][0]["sha256"].clone();
    let inputs = bench.record("grow", "C1-r1")["inputs"].clone();
    assert_eq!(inputs[0]["path"], "train.sh");
    let old = digest("C1-r1");
    let first = begun(&bench);

    bench.write("train.sh", "exit 0\n");
    bench.write("study.toml", &with_script(2, ""));
    let stopped = bench.bancada(&["run", "study.toml"]).ends_with(6);
    for words in [
        "train.sh has changed since C1-r1 and C2-r1 (sha256 ",
        "--redo-changed",
        "--accept-changed",
        "--out",
    ] {
        assert!(stopped.err.contains(words), "{words}: {}", stopped.err);
    }
    assert_eq!(begun(&bench), first, "nothing was measured");

    // Accepted: what follows is marked, and the report says which runs had which.
    let accepted = bench
        .bancada(&["run", "study.toml", "--accept-changed"])
        .ends_with(0);
    assert_ne!(digest("C1-r2"), old);
    let warnings = |run: &str| bench.record("grow", run)["warnings"].to_string();
    assert!(warnings("C1-r2").contains("inputs-changed"));
    assert!(!warnings("C1-r1").contains("inputs-changed"));
    assert!(
        accepted
            .out
            .contains("The input train.sh differs between runs: sha256 "),
        "{}",
        accepted.out
    );
    let report = fs::read_to_string(bench.path().join("results/grow/report.html")).unwrap();
    assert!(report.contains("The input train.sh differs between runs"));
    // It is not asked again for the same version.
    bench.write("study.toml", &with_script(3, ""));
    bench.bancada(&["run", "study.toml"]).ends_with(0);
    assert!(warnings("C1-r3").contains("inputs-changed"));

    // Done again: only what used another version.
    let before = begun(&bench);
    let redone = bench
        .bancada(&["run", "study.toml", "--redo-changed"])
        .ends_with(0)
        .says("2 runs are re-run");
    // All have the same inputs again, and nobody is told otherwise.
    assert!(!redone.out.contains("inputs"), "{}", redone.out);
    let after = begun(&bench);
    assert_eq!(digest("C1-r1"), digest("C1-r3"));
    assert_ne!(before["1 r1"], after["1 r1"]);
    assert_eq!(before["1 r2"], after["1 r2"]);
    assert!(bench.path().join("results/grow/runs/.old/C1-r1.1").exists());
}

#[test]
fn listed_inputs_are_watched_and_must_be_there() {
    let bench = Bench::new();
    bench.write("train.sh", ". ./helper.sh\n");
    bench.write("helper.sh", "true\n");
    bench.write("study.toml", &with_script(1, "inputs = [\"help*.sh\"]"));
    bench.bancada(&["run", "study.toml"]).ends_with(0);
    bench.write("helper.sh", "exit 0\n");
    bench
        .bancada(&["run", "study.toml"])
        .ends_with(6)
        .says("helper.sh has changed since C1-r1 and C2-r1");
    bench.write("helper.sh", "true\n");
    bench.bancada(&["run", "study.toml"]).ends_with(0);
    bench.write("help2.sh", "true\n");
    bench
        .bancada(&["run", "study.toml"])
        .ends_with(6)
        .says("help*.sh has changed since");
    bench.write("study.toml", &with_script(1, "inputs = [\"gone.sh\"]"));
    bench
        .bancada(&["run", "study.toml"])
        .ends_with(3)
        .says("inputs: `gone.sh` matches no file");
}

#[test]
fn a_program_that_was_mended_after_it_failed_is_no_change() {
    let bench = Bench::new();
    bench.write("train.sh", "exit 3\n");
    bench.write("study.toml", &with_script(1, ""));
    bench.bancada(&["run", "study.toml"]).ends_with(5);
    bench.write("train.sh", "true\n");
    bench
        .bancada(&["run", "study.toml", "--retry", "failed"])
        .ends_with(0)
        .says("2 runs are re-run");
}

#[test]
fn retries_are_forecast_from_earlier_runs_and_not_called_missing() {
    let bench = Bench::new();
    let script = "test $1 = 1 || test -e mended";
    bench.write("study.toml", &study("1, 2", 1, script));
    bench.bancada(&["run", "study.toml"]).ends_with(5);
    bench.write("mended", "");
    let ran = bench
        .bancada(&["run", "study.toml", "--retry", "failed"])
        .ends_with(0);
    assert!(
        ran.err.contains("1 run is re-run; forecast ")
            && ran.err.contains("from 1 earlier run of other scenarios"),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("missing"), "{}", ran.err);
}

#[test]
fn fewer_repetitions_than_runs_are_said_as_they_are() {
    let bench = Bench::new();
    bench.write("study.toml", &study("1, 2", 2, "true"));
    bench.bancada(&["run", "study.toml"]).ends_with(0);
    bench.write("study.toml", &study("1, 2", 1, "true"));
    bench.bancada(&["run", "study.toml"]).ends_with(0);
    let report = fs::read_to_string(bench.path().join("results/grow/report.html")).unwrap();
    assert!(report.contains("of 4; 2 planned"));
    assert!(!report.contains("of 2 planned"));
}

#[test]
fn json_lines_are_kebab_case_and_dated() {
    let bench = Bench::new();
    bench.write("study.toml", &study("1, 2", 1, "true"));
    let ran = bench.bancada(&["run", "study.toml", "--json"]).ends_with(0);
    let lines: Vec<serde_json::Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.last().unwrap()["ended"], "all-done");
    for line in lines {
        let time = line["time"].as_str().unwrap();
        assert!(time.parse::<model::Timestamp>().is_ok(), "{time}");
    }
}
