//! The program as a person meets it: words, exit codes, and that nothing is lost.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Child;
use std::thread;
use std::time::Duration;

use crate::common::{Bench, Ran, shell_study};

fn send(child: &Child, signal: i32) {
    // SAFETY: signals a process that this test started and has not waited for.
    assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
}

/// Waits for what a workload writes, however slow the machine is.
fn wait_for_file(path: &std::path::Path) -> String {
    for _ in 0..3000 {
        if let Ok(text) = fs::read_to_string(path)
            && text.ends_with('\n')
        {
            return text;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("{} did not come", path.display());
}

fn is_alive(pid: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    state
        .rsplit(')')
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
}

#[test]
fn a_new_study_is_written_checked_and_not_overwritten() {
    let bench = Bench::new();
    bench.bancada(&["init"]).ends_with(0).says("study.toml");
    bench
        .bancada(&["check", "study.toml"])
        .ends_with(0)
        .says("ok");
    let text = fs::read(bench.path().join("study.toml")).unwrap();
    bench.bancada(&["init"]).ends_with(1).says("already exists");
    assert_eq!(fs::read(bench.path().join("study.toml")).unwrap(), text);
}

#[test]
fn all_mistakes_are_shown_together_with_their_lines() {
    let bench = Bench::new();
    let text = "[study]\nname = \"x\"\nrepetitions = 0\n\n[factors]\nnetwork = [\"redee1\", \"rede2\"]\n\n\
                [workload]\nkind = \"train\"\nframework = \"pytorhc\"\nepoch = 3\n";
    bench.write("bad.toml", text);
    let ran = bench.bancada(&["check", "bad.toml"]).ends_with(3);
    let ran = ran
        .says("bad.toml:3")
        .says("bad.toml:6")
        .says("did you mean `rede1`?");
    ran.says("bad.toml:10")
        .says("unknown framework `pytorhc`")
        .says("bad.toml:11")
        .says("did you mean `epochs`?");
    bench.bancada(&["run", "bad.toml"]).ends_with(3);
    assert!(!bench.path().join("results").exists());
    bench
        .bancada(&["check", "none.toml"])
        .ends_with(3)
        .says("bancada init");
}

#[test]
fn a_command_is_run_measured_costed_and_reported() {
    let bench = Bench::new();
    let script = r#"echo '{"event":"phase","phase":"train"}' >> "$BANCADA_EVENTS"
echo "{\"event\":\"epoch\",\"epoch\":1,\"loss\":0.$1}" >> "$BANCADA_EVENTS"
echo "{\"event\":\"accuracy\",\"value\":0.9}" >> "$BANCADA_EVENTS""#;
    let priced = shell_study("told", script, 3, "budget = \"1 USD\"")
        + "\n[environments.here]\nprice = \"azure/Standard_F4s_v2@eastus\"\n";
    bench.write("study.toml", &priced);
    let ran = bench.bancada(&["run", "study.toml"]).ends_with(0);
    assert!(ran.out.contains("report.html"), "{}", ran.out);
    assert_eq!(
        bench.bundles("told"),
        ["C1-r1", "C1-r2", "C1-r3", "C2-r1", "C2-r2", "C2-r3"]
    );
    let record = bench.record("told", "C2-r1");
    assert_eq!(record["metrics"]["loss"]["value"], 0.2);
    assert_eq!(record["metrics"]["accuracy_percent"]["value"], 90.0);
    assert_eq!(record["metrics"]["cost"]["unit"], "USD");
    assert!(
        record["bill"]["total"]["amount"]
            .as_str()
            .unwrap()
            .starts_with("0.000")
    );
    let html = fs::read_to_string(bench.path().join("results/told/report.html")).unwrap();
    assert!(html.contains("told"));

    // All is there: nothing is done again.
    let before = fs::read(bench.path().join("results/told/runs/C1-r1/run.json")).unwrap();
    bench
        .bancada(&["run", "study.toml"])
        .ends_with(0)
        .says("already done");
    assert_eq!(
        fs::read(bench.path().join("results/told/runs/C1-r1/run.json")).unwrap(),
        before
    );

    let csv = bench.bancada(&["export", "study.toml"]).ends_with(0).out;
    assert_eq!(csv.lines().count(), 7);
    let json = bench
        .bancada(&["export", "results/told", "--format", "json"])
        .ends_with(0)
        .out;
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok());
    bench
        .bancada(&["export", "study.toml", "--format", "markdown"])
        .ends_with(0)
        .says("| C1");
    bench
        .bancada(&["show", "study.toml"])
        .ends_with(0)
        .says("C2");
    fs::remove_file(bench.path().join("results/told/store.sqlite")).unwrap();
    assert_eq!(
        bench.bancada(&["export", "study.toml"]).ends_with(0).out,
        csv
    );
}

#[test]
fn failed_runs_are_results_kept_and_repeated_only_when_asked() {
    let bench = Bench::new();
    let script = "test \"$1\" = 1 || test -e fixed || { echo it broke; exit 9; }";
    bench.write("study.toml", &shell_study("fails", script, 2, ""));
    bench
        .bancada(&["run", "study.toml"])
        .ends_with(5)
        .says("--retry failed");
    let failed = bench.record("fails", "C2-r1");
    assert_eq!(failed["outcome"]["status"], "failed");
    assert_eq!(failed["outcome"]["exit_code"], 9);
    assert!(
        failed["outcome"]["detail"]
            .as_str()
            .unwrap()
            .contains("it broke")
    );
    bench.write("fixed", "");
    bench.bancada(&["run", "study.toml"]).ends_with(5);
    assert_eq!(bench.record("fails", "C2-r1"), failed);
    let good = bench.record("fails", "C1-r1");
    bench
        .bancada(&["run", "study.toml", "--retry", "failed"])
        .ends_with(0);
    assert_eq!(bench.record("fails", "C2-r1")["outcome"]["status"], "ok");
    assert_eq!(bench.record("fails", "C1-r1"), good);
    assert_eq!(bench.bundles("fails").len(), 4);
}

#[test]
fn above_the_budget_nothing_starts_and_spent_money_stops() {
    let bench = Bench::new();
    // Each run has a machine of its own, so that a second is billed for each.
    let costly =
        "\n[environments.here]\nprice = \"3600000 USD/h\"\nbilling = { rental = \"run\" }\n";
    let study = |budget: &str| {
        shell_study(
            "costly",
            "sleep 0.05",
            5,
            &format!("budget = \"{budget} USD\""),
        ) + costly
    };
    bench.write("study.toml", &study("1500"));
    // A second is billed at least: the second run would go beyond.
    bench
        .bancada(&["run", "study.toml"])
        .ends_with(4)
        .says("of US$ 1500.00 is spent, US$ ")
        .says(" is missing. Raise `budget`");
    let done = bench.bundles("costly").len();
    assert!((1..10).contains(&done), "{done}");
    // What is left is known to be too little now.
    bench
        .bancada(&["run", "study.toml"])
        .ends_with(4)
        .says("the budget is too small: the forecast is US$ ")
        .says(" is missing; nothing was started")
        .says("--over-budget");
    assert_eq!(bench.bundles("costly").len(), done);
    bench
        .bancada(&["plan", "study.toml"])
        .ends_with(4)
        .says("NOT");
    bench
        .bancada(&["run", "study.toml", "--over-budget"])
        .ends_with(0);
    assert_eq!(bench.bundles("costly").len(), 10);
}

#[test]
fn a_run_that_the_budget_ended_says_so() {
    let bench = Bench::new();
    let costly = "\n[environments.here]\nprice = \"3600000 USD/h\"\n";
    let study = shell_study("spent", "sleep 1000", 1, "budget = \"1500 USD\"") + costly;
    bench.write("study.toml", &study);
    bench
        .bancada(&["run", "study.toml", "--no-pilot"])
        .ends_with(4);
    let [run] = &bench.bundles("spent")[..] else {
        panic!("one run");
    };
    let outcome = &bench.record("spent", run)["outcome"];
    assert_eq!(outcome["status"], "interrupted");
    let detail = outcome["detail"].as_str().unwrap();
    assert!(
        detail.starts_with("was stopped because the budget of US$ 1"),
        "{detail}"
    );
}

#[test]
fn interrupted_once_it_finishes_and_leaves_no_process() {
    let bench = Bench::new();
    let script = "echo $$ > pid; sleep 1000 & wait";
    bench.write("study.toml", &shell_study("stop", script, 2, ""));
    let child = bench.start(&["run", "study.toml"]);
    let pid = wait_for_file(&bench.path().join("pid"));
    send(&child, libc::SIGINT);
    let ran = Ran::new(child.wait_with_output().unwrap());
    ran.ends_with(130).says("Interrupted");
    assert!(!is_alive(&pid));
    assert!(bench.path().join("results/stop/report.html").exists());
    // Interrupted is no answer: it is due again.
    bench.write(
        "study.toml",
        &shell_study("stop", script, 2, "").replace("sleep 1000", "sleep 0"),
    );
    bench.bancada(&["check", "study.toml"]).ends_with(0);
}

#[test]
fn interrupted_twice_it_stops_now() {
    let bench = Bench::new();
    let script = "trap '' TERM INT; echo $$ > pid; while :; do sleep 0.1; done";
    bench.write(
        "study.toml",
        &(shell_study("deaf", script, 1, "") + "grace = \"1h\"\n"),
    );
    let child = bench.start(&["run", "study.toml"]);
    let pid = wait_for_file(&bench.path().join("pid"));
    send(&child, libc::SIGINT);
    thread::sleep(Duration::from_millis(200));
    send(&child, libc::SIGINT);
    Ran::new(child.wait_with_output().unwrap()).ends_with(130);
    assert!(!is_alive(&pid));
}

#[test]
fn a_killed_program_leaves_no_child() {
    let bench = Bench::new();
    bench.write(
        "study.toml",
        &shell_study("orphan", "echo $$ > pid; exec sleep 1000", 1, ""),
    );
    let mut child = bench.start(&["run", "study.toml"]);
    let pid = wait_for_file(&bench.path().join("pid"));
    child.kill().unwrap();
    child.wait().unwrap();
    for _ in 0..500 {
        if !is_alive(&pid) {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("the workload lives on");
}

#[test]
fn two_programs_on_one_study_exclude_each_other() {
    let bench = Bench::new();
    bench.write(
        "study.toml",
        &shell_study("both", "echo go > started; sleep 1000", 1, ""),
    );
    let first = bench.start(&["run", "study.toml"]);
    wait_for_file(&bench.path().join("started"));
    bench
        .bancada(&["run", "study.toml"])
        .ends_with(6)
        .says(&first.id().to_string());
    send(&first, libc::SIGTERM);
    Ran::new(first.wait_with_output().unwrap()).ends_with(130);
}

#[test]
fn results_of_another_question_are_not_mixed_in() {
    let bench = Bench::new();
    bench.write("study.toml", &shell_study("same", "true", 1, ""));
    bench.bancada(&["run", "study.toml"]).ends_with(0);
    bench.write("study.toml", &shell_study("same", "false", 1, ""));
    bench
        .bancada(&["run", "study.toml"])
        .ends_with(6)
        .says("--out");
    // More repetitions are the same question: only what is missing is done.
    bench.write("study.toml", &shell_study("same", "true", 2, ""));
    bench.bancada(&["run", "study.toml"]).ends_with(0);
    assert_eq!(bench.bundles("same").len(), 4);
}

#[test]
fn a_folder_that_cannot_be_written_is_a_clear_error() {
    let bench = Bench::new();
    bench.write("study.toml", &shell_study("ro", "true", 1, ""));
    bench.write("file", "in the way");
    bench
        .bancada(&["run", "study.toml", "--out", "file/results"])
        .ends_with(1)
        .says("file");
    let folder = bench.path().join("closed");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    // Root may write anywhere: then there is nothing to see here.
    if fs::write(folder.join("probe"), "").is_err() {
        bench
            .bancada(&["run", "study.toml", "--out", "closed/results"])
            .ends_with(1)
            .says("closed");
    }
}

#[test]
fn talk_and_data_keep_to_their_streams() {
    let bench = Bench::new();
    bench.write("study.toml", &shell_study("json", "true", 1, ""));
    let ran = bench.bancada(&["run", "study.toml", "--json"]).ends_with(0);
    let events: Vec<serde_json::Value> = ran
        .out
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let kinds = events.iter().filter_map(|e| e["event"].as_str());
    let (samples, kinds): (Vec<&str>, Vec<&str>) = kinds.partition(|kind| *kind == "sample");
    assert!(!samples.is_empty());
    assert_eq!(
        kinds,
        [
            "run-begins",
            "run-ends",
            "run-begins",
            "run-ends",
            "study-ends"
        ]
    );
    assert_eq!(ran.err, "");
    let shown = bench.bancada(&["show", "study.toml"]).ends_with(0);
    assert!(!shown.out.contains('\u{1b}') && shown.err.is_empty());
}

#[test]
fn a_run_that_takes_too_long_or_too_much_is_a_result() {
    let bench = Bench::new();
    bench.write(
        "study.toml",
        &(shell_study("slow", "sleep $(( ($1 - 1) * 1000 ))", 1, "") + "timeout = \"300ms\"\n"),
    );
    bench.bancada(&["run", "study.toml"]).ends_with(0);
    assert_eq!(bench.record("slow", "C1-r1")["outcome"]["status"], "ok");
    assert_eq!(
        bench.record("slow", "C2-r1")["outcome"]["status"],
        "timed-out"
    );
}

#[test]
fn schema_completions_and_manual_are_printed() {
    let bench = Bench::new();
    let schema = bench.bancada(&["schema"]).ends_with(0).out;
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    assert!(schema["properties"]["study"].is_object());
    for shell in ["bash", "zsh", "fish"] {
        bench
            .bancada(&["completions", shell])
            .ends_with(0)
            .says("bancada");
    }
    bench.bancada(&["man"]).ends_with(0).says(".TH bancada");
    bench
        .bancada(&["network", "list"])
        .ends_with(0)
        .says("rede1");
    bench
        .bancada(&["network", "show", "rede1"])
        .ends_with(0)
        .says("conv");
    // As published, at its own size.
    bench
        .bancada(&["network", "show", "mobilenet-retina"])
        .ends_with(0)
        .says("3,377,221 parameters");
    bench.bancada(&["nonsense"]).ends_with(2);
}

#[test]
fn old_measurements_become_a_study() {
    let bench = Bench::new();
    let csv = "framework,image,time_ms,acc\nmxnet,32,1000,0.9\nmxnet,32,1100,0.9\nmxnet,64,3000,0.9\nmxnet,64,3200,x\n\
               torch,32,2000,0.9\ntorch,32,2100,0.9\ntorch,64,6000,0.9\ntorch,64,6300,0.9\n";
    bench.write("old.csv", csv);
    let columns = [
        "--factor",
        "framework",
        "--factor",
        "image",
        "--metric",
        "time_ms=train_seconds:ms",
    ];
    let mut arguments = vec![
        "import",
        "old.csv",
        "--name",
        "old",
        "--price",
        "azure/Standard_F4s_v2@eastus",
    ];
    arguments.extend(columns);
    bench.bancada(&arguments).ends_with(0).says("8 runs added");
    bench
        .bancada(&[
            "export",
            "results/old",
            "-f",
            "csv",
            "--table",
            "runs",
            "--to",
            "runs.csv",
        ])
        .ends_with(0);
    let runs = fs::read_to_string(bench.path().join("runs.csv")).unwrap();
    let mut lines = runs.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = lines.find(|line| line.contains(",C1-r2,")).unwrap();
    let cell = |name: &str| {
        let place = header.iter().position(|column| *column == name);
        row.split(',').nth(place.unwrap()).unwrap()
    };
    assert_eq!((cell("imported"), cell("train_seconds")), ("true", "1.1"));
    assert!(cell("cost_usd").starts_with("0.0000"), "{row}");
    // All rows are one file, and no folders.
    assert!(bench.path().join("results/old/imports/1.jsonl").is_file());
    assert!(bench.bundles("old").is_empty());
    bench
        .bancada(&["show", "results/old"])
        .ends_with(0)
        .says("C4");
    // Brought twice, counted once.
    bench.bancada(&arguments).ends_with(0).says("0 runs added");
}

/// The examples of docs/protocol.md, as they stand there.
#[test]
fn the_example_of_the_protocol_in_shell_works() {
    let text = include_str!("../../../../docs/examples/train.sh");
    check_example("train.sh", text, r#""sh", "train.sh", "{batch}""#);
}

#[test]
#[ignore = "needs python3: .ci/frameworks runs it"]
fn installed_python_runs_the_example_of_the_protocol() {
    let text = include_str!("../../../../docs/examples/train.py");
    check_example(
        "train.py",
        text,
        r#""python3", "train.py", "--batch", "{batch}""#,
    );
}

fn check_example(name: &str, text: &str, command: &str) {
    let page = include_str!("../../../../docs/protocol.md");
    assert!(page.contains(text), "docs/protocol.md shows another {name}");
    let bench = Bench::new();
    bench.write(name, text);
    let study = format!(
        "[study]\nname = \"line\"\nrepetitions = 1\n[factors]\nbatch = [8, 64]\n[workload]\ncommand = [{command}]\n"
    );
    bench.write("study.toml", &study);
    bench.bancada(&["run", "study.toml"]).ends_with(0);
    let record = bench.record("line", "C1-r1");
    let phases: Vec<&str> = record["phases"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|p| p["name"].as_str())
        .collect();
    assert_eq!(
        phases,
        ["startup", "load-data", "train", "shutdown"],
        "{name}"
    );
    let losses: Vec<f64> = record["epochs"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|e| e["loss"].as_f64())
        .collect();
    assert_eq!(losses.len(), 3, "{name}");
    assert!(
        losses[2] < losses[0] || losses[2] < 1e-3,
        "{name} does not learn: {losses:?}"
    );
}

/// Study D: what does not fit in memory is a result.
#[test]
fn a_run_that_does_not_fit_in_memory_is_a_result() {
    let bench = Bench::new();
    // The second scenario holds 200 MB; both may have 50.
    let script = "x=$(head -c $(( ($1 - 1) * 200000000 )) /dev/zero | tr '\\0' x); echo ${#x}";
    let study =
        shell_study("memory", script, 1, "") + "\n[environments.small]\nmemory = \"50 MB\"\n";
    bench.write("study.toml", &study);
    bench
        .bancada(&["run", "study.toml"])
        .ends_with(0)
        .says("out-of-memory");
    assert_eq!(bench.record("memory", "C1-r1")["outcome"]["status"], "ok");
    assert_eq!(
        bench.record("memory", "C2-r1")["outcome"]["status"],
        "out-of-memory"
    );
}

#[test]
fn a_free_machine_beside_a_dear_one_does_not_hide_the_budget() {
    let bench = Bench::new();
    let study = |repetitions: u32| {
        format!(
            "[study]\nname = \"two\"\nrepetitions = {repetitions}\nbudget = \"3000 USD\"\n\
             [factors]\nenvironment = [\"free\", \"costly\"]\n[workload]\ncommand = [\"true\"]\n\
             [environments.free]\n[environments.costly]\nprice = \"3600000 USD/h\"\nbilling = {{ rental = \"run\" }}\n"
        )
    };
    bench.write("study.toml", &study(1));
    bench.bancada(&["run", "study.toml"]).ends_with(0);
    bench.write("study.toml", &study(9));
    bench
        .bancada(&["plan", "study.toml"])
        .ends_with(4)
        .says("NOT");
    bench
        .bancada(&["run", "study.toml"])
        .ends_with(4)
        .says("nothing was started");
    assert_eq!(bench.bundles("two").len(), 2);
}

#[test]
fn a_study_is_done_in_parts_that_keep_their_numbers() {
    let bench = Bench::new();
    bench.write("study.toml", &shell_study("parts", "true", 2, ""));
    let run = |more: &[&str]| bench.bancada(&[&["run", "study.toml"], more].concat());
    run(&["--only", "n=2"])
        .ends_with(0)
        .says("2 runs selected")
        .says("1/4  C2-r");
    assert_eq!(bench.bundles("parts"), ["C2-r1", "C2-r2"]);
    run(&["--only", "n=2"])
        .ends_with(0)
        .says("All selected runs are already done");
    run(&["--only", "m=2"])
        .ends_with(3)
        .says("the study has no factor `m`; its factors are n");
    run(&["--only", "n=7"])
        .ends_with(3)
        .says("`n` has no level `7`; its levels are 1, 2");
    run(&["--only", "n"])
        .ends_with(3)
        .says("not of the form FACTOR=LEVEL");
    run(&["--only", "n=1,2"]).ends_with(0);
    assert_eq!(bench.bundles("parts").len(), 4);

    // Measured on another machine, carried home.
    let other = Bench::new();
    other.write("study.toml", &shell_study("parts", "true", 2, ""));
    other
        .bancada(&["run", "study.toml", "--only", "n=1"])
        .ends_with(0);
    let from = bench.path().join("results/parts/runs/C2-r1");
    let to = other.path().join("results/parts/runs/C2-r1");
    std::fs::create_dir(&to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    other
        .bancada(&["show", "study.toml"])
        .ends_with(0)
        .says("3 runs (3 ok) of 2 scenarios");

    // A run of a different study does not belong to this one.
    let text = std::fs::read_to_string(to.join("run.json")).unwrap();
    let foreign: String = text.replace("\"level\": 2", "\"level\": 7");
    assert_ne!(text, foreign);
    std::fs::write(to.join("run.json"), foreign).unwrap();
    other
        .bancada(&["show", "study.toml"])
        .ends_with(0)
        .says("C2-r1 is skipped: it is not a run of this scenario");

    // Twice the same factor is one of either.
    run(&["--only", "n=1", "--only", "n=2.0", "--retry", "failed"])
        .ends_with(0)
        .says("All selected runs are already done");
}

#[test]
fn what_was_cut_short_can_be_kept() {
    let bench = Bench::new();
    let script = "echo '{\"event\": \"epoch\", \"epoch\": 1, \"loss\": 0.5}' >> $BANCADA_EVENTS; echo $$ > pid; sleep 30";
    bench.write("study.toml", &shell_study("cut", script, 1, ""));
    let child = bench.start(&["run", "study.toml", "--only", "n=1"]);
    wait_for_file(&bench.path().join("pid"));
    send(&child, libc::SIGINT);
    Ran::new(child.wait_with_output().unwrap()).ends_with(130);
    let plan = |more: &[&str]| {
        let asked = [&["plan", "study.toml", "--no-pilot", "--only", "n=1"], more].concat();
        bench.bancada(&asked).ends_with(0).out
    };
    assert!(plan(&[]).contains("1 to do"));
    bench
        .bancada(&["run", "study.toml", "--only", "n=1", "--keep-interrupted"])
        .ends_with(0)
        .says("All selected runs are already done");
    let json = bench.bancada(&["export", "study.toml", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.ends_with(0).out).unwrap();
    assert_eq!(json["analysis"]["scenarios"][0]["curve"][0]["loss"], 0.5);
}

#[test]
fn every_step_that_was_told_can_be_exported() {
    let bench = Bench::new();
    let script = r#"for i in 1 2 3; do echo "{\"event\": \"step\", \"step\": $i, \"loss\": 0.$i}" >> $BANCADA_EVENTS; done"#;
    bench.write("study.toml", &shell_study("steps", script, 1, ""));
    bench.bancada(&["run", "study.toml"]).ends_with(0);
    let steps = bench.bancada(&["export", "study.toml", "--table", "steps"]);
    let steps = steps.ends_with(0).out;
    let rows: Vec<&str> = steps.lines().collect();
    assert_eq!(rows.len(), 1 + 2 * 3, "{steps}");
    assert!(
        rows[0].ends_with("factor_n,step,epoch,loss,seconds,images"),
        "{steps}"
    );
    assert!(rows[3].ends_with(",1,3,,0.3,,"), "{steps}");
}

#[test]
fn what_lacks_nothing_is_prepared_at_once() {
    let bench = Bench::new();
    let study = "[study]\nname = \"ready\"\nrepetitions = 1\n[workload]\nnetwork = \"lenet5\"\nimages = 32\nheld_out = 16\n";
    bench.write("study.toml", study);
    bench
        .bancada(&["run", "study.toml", "--no-pilot", "--prepare"])
        .ends_with(0)
        .says("1 run (1 ok)");
}
