//! What makes two runs runs of the same scenario, and what differs between two studies.

use std::collections::BTreeMap;

use model::{RunRecord, Study, Workload};
use plan::{Recognizer, differences, plan, scenario_fingerprint};

use crate::support::good;

const BASE: &str = "[study]\nname = \"s\"\nrepetitions = 2\n[factors]\nn = [200, 400]\n[workload]\n\
                    command = [\"python3\", \"train.py\", \"{n}\"]\n";

/// Levels and fingerprints of all scenarios.
fn fingerprints(study: &Study) -> BTreeMap<String, String> {
    let scenarios = plan(study).scenarios;
    let one = |scenario: &model::Scenario| {
        let levels = scenario.levels_label();
        (levels, scenario_fingerprint(study, scenario))
    };
    scenarios.iter().map(one).collect()
}

#[test]
fn a_scenario_is_the_same_whatever_else_the_study_has() {
    let of = |from: &str, to: &str| fingerprints(&good(&BASE.replace(from, to)));
    let base = of("", "");
    assert_eq!(base.len(), 2);
    let is_kept = |from: &str, to: &str, expected: bool| {
        let now = of(from, to);
        let same = base.iter().all(|(levels, of)| now.get(levels) == Some(of));
        assert_eq!(same, expected, "{to}");
        assert!(expected || now.values().all(|of| !base.values().any(|old| old == of)));
    };
    is_kept("[200, 400]", "[100, 200, 300, 400]", true);
    is_kept("[200, 400]", "[400, 200]", true);
    is_kept("repetitions = 2", "repetitions = 9", true);
    // A command does not see the seed.
    is_kept("repetitions = 2", "seed = 9", true);
    is_kept("[workload]", "[workload]\ninputs = [\"lib.py\"]", true);
    is_kept("train.py", "other.py", false);
    is_kept("[workload]", "[workload]\nenv = { A = \"1\" }", false);
    is_kept(
        "[workload]",
        "[environments.local]\ncores = 1\n[workload]",
        false,
    );
    // Written down: results of today must be found by the version of tomorrow.
    assert_eq!(base["200"], "c8f074cd32cb1817");
}

#[test]
fn a_training_is_another_with_another_seed_or_network() {
    let text = "[study]\nname = \"s\"\nseed = 1\n[workload]\nnetwork = \"rede1\"\nbatch = 8\n";
    let of = |from: &str, to: &str| {
        let study = good(&text.replace(from, to));
        let scenarios = plan(&study).scenarios;
        scenario_fingerprint(&study, &scenarios[0])
    };
    let base = of("", "");
    assert_eq!(base, of("batch = 8", "batch = 8\nkeep_model = false"));
    for (from, to) in [("seed = 1", "seed = 2"), ("rede1", "rede2"), ("= 8", "= 9")] {
        assert_ne!(base, of(from, to), "{to}");
    }
}

fn record(study: &Study, number: u32, fingerprint: &str) -> RunRecord {
    let scenario = plan(study).scenario(number).expect("is planned").clone();
    let Workload::Command(workload) = plan::resolve(study, &scenario).workload else {
        panic!("a command");
    };
    let text = serde_json::json!({
        "schema": 1, "study": "s", "run": format!("C{number}-r1"), "scenario": scenario,
        "fingerprint": fingerprint, "origin": {"kind": "measured", "bancada": "0"},
        "outcome": {"status": "ok", "detail": null, "exit_code": 0, "signal": null},
        "started": "2024-03-01T00:00:00Z", "seconds": 1.0, "phases": [], "epochs": [], "metrics": {},
        "environment": {"name": "local", "limits": {"cores": null, "memory_bytes": null}, "limits_by": "none",
                        "device": null},
        "command": workload.command, "machine": model::Inventory::default(), "price": null, "bill": null,
        "warnings": []
    });
    serde_json::from_value(text).expect("a record")
}

#[test]
fn runs_are_recognised_by_what_was_run() {
    let before = good(BASE);
    let grown = good(&BASE.replace("[200, 400]", "[100, 200, 400]"));
    let changed = good(&BASE.replace("train.py", "other.py"));
    let check = |study: &Study, record: &RunRecord, expected: Option<u32>| {
        let plan = plan(study);
        let recognizer = Recognizer::new(study, &plan);
        let found = recognizer
            .scenario_of(record)
            .map(|scenario| scenario.number);
        assert_eq!(found, expected, "{}", record.run);
    };
    let fingerprint = scenario_fingerprint(&before, &plan(&before).scenarios[1]);
    let run = record(&before, 2, &fingerprint);
    check(&before, &run, Some(2));
    check(&grown, &run, Some(3));
    check(&changed, &run, None);
    let mut foreign = run.clone();
    foreign.study = "another".to_owned();
    check(&before, &foreign, None);
    let mut edited = run.clone();
    edited.scenario.levels[0].level = model::Level::Int(7);
    check(&before, &edited, None);
    check(&before, &record(&before, 2, ""), None);
    let plan = plan(&grown);
    let runs = vec![record(&before, 2, &fingerprint)];
    let now = Recognizer::new(&grown, &plan).renumbered(runs);
    assert_eq!((now.len(), now[0].run.to_string()), (1, "C3-r1".to_owned()));
}

#[test]
fn differences_are_said_with_both_values() {
    let check = |from: &str, to: &str, expected: &[&str]| {
        let now = good(&BASE.replace(from, to));
        assert_eq!(differences(&good(BASE), &now), expected, "{to}");
    };
    check("", "", &[]);
    check("name = \"s\"", "name = \"s\"\nobjective = \"a\"", &[]);
    check(
        "[200, 400]",
        "[200, 400, 600]",
        &["n: 200, 400 → 200, 400, 600"],
    );
    check("[200, 400]", "[400, 200]", &["n: 200, 400 → 400, 200"]);
    check(
        "repetitions = 2",
        "repetitions = 5",
        &["repetitions: 2 → 5"],
    );
    check(
        "train.py",
        "other.py",
        &["workload.command: python3 train.py {n} → python3 other.py {n}"],
    );
    check(
        "n = [200, 400]",
        "n = [200, 400]\ncores = [1, 2]",
        &["factor `cores` added"],
    );
    check(
        "[workload]",
        "[workload]\ndirectory = \"x\"",
        &["workload.directory: not set → x"],
    );
    check(
        "[factors]",
        "exclude = [{ n = 400 }]\n[factors]",
        &["exclude: 0 rules → 1 rule"],
    );
    check(
        "[workload]",
        "[environments.local]\ncores = 1\n[workload]",
        &["environments.local.limits.cores: not set → 1.0"],
    );
}

#[test]
fn inputs_are_a_key_of_commands_and_take_levels() {
    let study = good(&BASE.replace(
        "[workload]",
        "[workload]\ninputs = [\"lib/*.py\", \"{n}.yaml\"]",
    ));
    let scenario = &plan(&study).scenarios[1];
    let Workload::Command(workload) = plan::resolve(&study, scenario).workload else {
        panic!("a command");
    };
    assert_eq!(workload.inputs, ["lib/*.py", "400.yaml"]);
}
