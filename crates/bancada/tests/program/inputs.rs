//! What a person may hand in by mistake, or on purpose.

use crate::common::{Bench, shell_study};

/// A study whose only level is this one.
fn with_level(level: &str) -> String {
    format!(
        "[study]\nname = \"s\"\nrepetitions = 1\n[factors]\nx = [\"{level}\"]\n[workload]\ncommand = [\"true\", \"{{x}}\"]\n"
    )
}

#[test]
fn a_level_of_any_length_is_planned() {
    let bench = Bench::new();
    let level = "x".repeat(70_000);
    bench.write("study.toml", &with_level(&level));
    bench
        .bancada(&["plan", "study.toml"])
        .ends_with(0)
        .says(&level);
}

#[test]
fn only_files_that_a_person_wrote_are_read() {
    let bench = Bench::new();
    let check = |arguments: &[&str], code: i32, expected: &str| {
        bench.bancada(arguments).ends_with(code).says(expected);
    };
    check(&["run", "/dev/zero"], 3, "not a regular file");
    check(&["check", "."], 3, "it is a folder");
    check(
        &["network", "show", "none.toml"],
        1,
        "cannot read none.toml",
    );
    let wide: Vec<u8> = with_level("a")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    std::fs::write(bench.path().join("wide.toml"), wide).unwrap();
    check(&["check", "wide.toml"], 3, "UTF-16");
}

#[test]
fn a_password_in_a_study_goes_nowhere() {
    let bench = Bench::new();
    let study = with_level("a").replace("\"true\"", "\"curl\", \"https://me:geheim@example.org\"");
    bench.write("study.toml", &study);
    for command in ["check", "plan", "run"] {
        let ran = bench.bancada(&[command, "study.toml"]).ends_with(3);
        assert!(!ran.err.contains("geheim"), "{}", ran.err);
        ran.says("this URL contains a password");
    }
    assert!(!bench.path().join("results").exists());
}

/// It is in the run's log, which is the workload's own; nothing repeats it.
#[test]
fn a_password_that_a_workload_logs_is_not_repeated() {
    let bench = Bench::new();
    bench.write("fails.sh", "echo https://me:geheim@example.org; exit 4\n");
    let study =
        "[study]\nname = \"s\"\nrepetitions = 1\n[workload]\ncommand = [\"sh\", \"fails.sh\"]\n";
    bench.write("study.toml", study);
    let ran = bench.bancada(&["run", "study.toml"]).ends_with(5);
    let report = std::fs::read_to_string(bench.path().join("results/s/report.html")).unwrap();
    for told in [&ran.out, &ran.err, &report] {
        assert!(!told.contains("geheim"), "{told}");
        assert!(told.contains("https://me:******@example.org"), "{told}");
    }
}

#[test]
fn a_study_that_may_hold_tokens_is_kept_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new();
    let mode = |study: &str, file: &str| {
        let path = bench.path().join("results").join(study).join(file);
        std::fs::metadata(path).unwrap().permissions().mode() & 0o077
    };
    let plain = with_level("a").replace("\"s\"", "\"plain\"");
    let secret = plain.replace("plain", "secret") + "env = { TOKEN = \"abc\" }\n";
    for (name, text) in [("plain", &plain), ("secret", &secret)] {
        let file = format!("{name}.toml");
        bench.write(&file, text);
        bench.bancada(&["run", &file, "--quiet"]).ends_with(0);
    }
    assert_eq!(mode("secret", "study.toml"), 0);
    assert_eq!(mode("secret", "plan.json"), 0);
    assert_ne!(mode("plain", "study.toml"), 0);
}

#[test]
fn everything_that_is_missing_is_said_at_once() {
    let bench = Bench::new();
    let study = "[study]\nname = \"s\"\n[factors]\nprogram = [\"no-such-a\", \"./no-such-b\", \"sh\"]\n\
                 [workload]\ncommand = [\"{program}\", \"no-such.sh\"]\ninputs = [\"no-such.yaml\"]\n";
    bench.write("study.toml", study);
    for command in ["check", "run"] {
        bench
            .bancada(&[command, "study.toml"])
            .ends_with(3)
            .says("program `no-such-a` of the command: not found in PATH")
            .says("program `./no-such-b` of the command: no such program")
            .says("script `no-such.sh` of the command: no such file")
            .says("inputs: `no-such.yaml` matches no file");
    }
    let study = "[study]\nname = \"t\"\n[factors]\nframework = [\"pytorch\", \"mxnet\"]\ndataset = [\"mnist\", \"cifar10\"]\n\
                 [workload]\nkind = \"train\"\nnetwork = \"rede1\"\nimages = 64\nheld_out = 16\nepochs = 1\n";
    bench.write("train.toml", study);
    let all = "bancada run train.toml --prepare installs them (or: bancada setup mxnet pytorch; bancada data fetch mnist cifar10)";
    bench
        .bancada(&["check", "train.toml"])
        .ends_with(0)
        .says(all);
    for arguments in [&["run", "train.toml"][..], &["plan", "train.toml"]] {
        bench
            .bancada(arguments)
            .ends_with(1)
            .says("not set up: mxnet, pytorch")
            .says("not fetched: mnist, cifar10")
            .says(all);
    }
}

#[test]
fn a_command_s_own_metric_comes_first_and_its_time_is_time() {
    let bench = Bench::new();
    let log = "[[workload.log]]\nevent = \"metric\"\nname = \"throughput_rows\"\npattern = 'rows (?<value>\\d+)'\n";
    let study = shell_study("own", "echo rows $1", 2, "")
        .replace("[measure]", &format!("{log}\n[measure]"));
    bench.write("study.toml", &study);
    let ran = bench
        .bancada(&["run", "study.toml", "--quiet"])
        .ends_with(0);
    let header = ran.out.lines().find(|line| line.contains("scenario  "));
    let words: Vec<&str> = header
        .unwrap()
        .split("   ")
        .map(str::trim)
        .filter(|w| !w.is_empty())
        .collect();
    assert_eq!(
        words[..4],
        ["scenario", "n", "throughput rows", "time"],
        "{words:?}"
    );
    // A pipe has no width: nothing is left out.
    assert!(words.contains(&"peak memory"), "{words:?}");
    let csv = bench.bancada(&["export", "study.toml"]).ends_with(0).out;
    let columns: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let place = |name: &str| columns.iter().position(|column| *column == name);
    assert!(
        place("throughput_rows") < place("total_seconds"),
        "{columns:?}"
    );
}

#[test]
fn every_table_is_exported_in_every_format() {
    let bench = Bench::new();
    bench.write("study.toml", &shell_study("e", "echo $1", 2, ""));
    bench
        .bancada(&["run", "study.toml", "--quiet"])
        .ends_with(0);
    let check = |format: &str, table: &str, expected: &str| {
        bench
            .bancada(&["export", "study.toml", "--format", format, "--table", table])
            .ends_with(0)
            .says(expected);
    };
    check("csv", "runs", "e,C1-r1,C1,1,ok");
    check("json", "runs", "\"run\": \"C1-r1\"");
    check("markdown", "runs", "| e | C1-r1 | C1 | 1 | ok |");
    check("latex", "runs", "\\begin{tabular}");
    check("latex", "variation", "what explains each metric");
    check("markdown", "bills", "| study | run |");
}

#[test]
fn a_search_without_a_match_says_what_there_is() {
    let bench = Bench::new();
    bench
        .bancada(&["price", "find", "--gpu", "RTX4090"])
        .ends_with(2)
        .says("No match among")
        .says("GPUs in the catalog: ")
        .says("T4");
    bench
        .bancada(&["price", "find", "--gpu", "T4"])
        .ends_with(0);
}
