//! `bancada probe`, and times of other machines predicted from it.

use std::fs;

use serde_json::Value;

use crate::common::{Bench, shell_study};

const STUDY: &str = r#"
[study]
name = "small"
repetitions = 2
seed = 1

[factors]
batch = [8, 16]

[workload]
kind = "train"
framework = "engine"
network = "lenet5"
dataset = "digits"
image = 32
images = 64
held_out = 8
epochs = 2
optimizer = "adam"
learning_rate = 0.001

[environments.here]
price = "azure/Standard_F4s_v2@eastus"
"#;

fn run(bench: &Bench, study: &str) {
    bench.write("study.toml", study);
    let words = ["run", "study.toml", "--quiet", "--no-pilot"];
    bench.bancada(&words).ends_with(0);
}

/// This machine, once round.
fn probed(bench: &Bench) -> Value {
    let ran = bench.bancada(&["probe", "--rounds", "1", "--json"]);
    serde_json::from_str(&ran.ends_with(0).out).unwrap()
}

/// Another machine, which takes twice as long for everything.
fn add_slow(bench: &Bench, profile: &Value, change: impl Fn(&mut Value)) {
    let mut slow = profile.clone();
    for probe in slow["frameworks"].as_array_mut().unwrap() {
        for step in probe["steps"].as_array_mut().unwrap() {
            let seconds = step["seconds"]["median"].as_f64().unwrap();
            step["seconds"]["median"] = (2.0 * seconds).into();
        }
    }
    slow["machine"]["hostname"] = "elsewhere".into();
    change(&mut slow);
    bench.write("slow.json", &slow.to_string());
    let words = ["probe", "--add", "slow.json", "--name", "aws/c7g.xlarge"];
    bench.bancada(&words).ends_with(0);
}

fn compare(bench: &Bench, machines: &[&str]) -> String {
    let words = [&["price", "compare", "study.toml"], machines].concat();
    bench.bancada(&words).ends_with(0).out
}

#[test]
fn a_machine_is_measured_and_kept() {
    let bench = Bench::new();
    let profile = probed(&bench);
    let steps = profile["frameworks"][0]["steps"].as_array().unwrap();
    let kinds: Vec<&str> = steps.iter().map(|s| s["kind"].as_str().unwrap()).collect();
    for kind in [
        "matrix-product",
        "convolution",
        "pointwise",
        "depthwise",
        "memory",
        "update",
        "call",
    ] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    assert!(
        steps
            .iter()
            .all(|s| s["seconds"]["median"].as_f64().unwrap() > 0.0)
    );
    assert!(
        profile["host"]["memory_bytes_per_second"]["median"]
            .as_f64()
            .unwrap()
            > 0.0
    );
    let host = profile["machine"]["hostname"].as_str().unwrap();
    let list = bench.bancada(&["probe", "--list"]).ends_with(0);
    assert!(list.out.contains(host), "{}", list.out);
    // One round does not show how far rounds differ.
    bench.write("there.json", &profile.to_string());
    let shown = bench
        .bancada(&["probe", "--add", "there.json"])
        .ends_with(0);
    let update = shown.out.lines().find(|line| line.starts_with("update "));
    assert!(update.unwrap().contains("   –   "), "{}", shown.out);
    assert!(!shown.out.contains("±0 %"), "{}", shown.out);
    bench
        .bancada(&["probe", "--cores", "100000"])
        .ends_with(3)
        .says("100000 cores requested, but this machine has");
    bench
        .bancada(&["probe", "--network", "alexnet", "--image", "64"])
        .ends_with(3)
        .says("local response normalisation, which the probe does not measure");
}

#[test]
fn a_file_that_is_no_profile_is_refused() {
    let bench = Bench::new();
    bench.write("there.json", "{\"schema\": 1}");
    bench
        .bancada(&["probe", "--add", "there.json"])
        .ends_with(1)
        .says("there.json is not the profile of a machine, as `bancada probe --json` prints it");
    bench
        .bancada(&["probe", "--list"])
        .ends_with(0)
        .says("No machine was probed yet");
    assert!(!bench.path().join("cache/machines").exists());
}

#[test]
fn times_are_predicted_for_probed_machines_only() {
    let bench = Bench::new();
    run(&bench, STUDY);
    let machines = ["aws/c7g.xlarge", "azure/Standard_F4s_v2@eastus"];
    let same = "The same time is assumed on every machine";
    let text = compare(&bench, &machines);
    assert!(
        text.contains(same) && !text.contains("predicted from"),
        "{text}"
    );

    let profile = probed(&bench);
    add_slow(&bench, &profile, |_| ());
    let text = compare(&bench, &machines);
    assert!(
        text.contains("aws/c7g.xlarge@us-east-1: time predicted from its probe"),
        "{text}"
    );
    assert!(
        text.contains("On every other machine the same time is assumed"),
        "{text}"
    );
    assert!(!text.contains(same), "{text}");
    let alone = compare(&bench, &machines[..1]);
    assert!(!alone.contains("same time is assumed"), "{alone}");

    let json: Value =
        serde_json::from_str(&compare(&bench, &[&machines[..], &["--json"]].concat())).unwrap();
    let predicted = &json[0]["machines"][0]["predicted"]["scenarios"];
    assert_eq!(predicted.as_array().unwrap().len(), 2, "{json}");
    for scenario in predicted.as_array().unwrap() {
        let step = &scenario["step"];
        let number = |name: &str| step[name].as_f64().unwrap();
        assert!((number("slowdown") - 2.0).abs() < 1e-6, "{step}");
        assert!(number("low") < number("seconds") && number("seconds") < number("high"));
    }
    assert!(json[0]["machines"][1]["predicted"].is_null(), "{json}");
    let all = &json[0]["machines"][0]["predicted"]["all"];
    let seconds = |name: &str| all["seconds"][name].as_f64().unwrap();
    assert!(
        seconds("low") < seconds("value") && seconds("value") < seconds("high"),
        "{all}"
    );
    assert_eq!(
        all["money"]["value"], json[0]["machines"][0]["total"],
        "{all}"
    );
}

/// A machine of one's own is in no catalog.
#[test]
fn a_probed_machine_is_priced_by_hand() {
    let bench = Bench::new();
    run(&bench, STUDY);
    let profile = probed(&bench);
    add_slow(&bench, &profile, |_| ());
    bench.write("own.json", &profile.to_string());
    let words = ["probe", "--add", "own.json", "--name", "lab, 1 core"];
    bench.bancada(&words).ends_with(0);
    let words = ["price", "compare", "study.toml", "lab, 1 core"];
    let asked = bench.bancada(&words).ends_with(3);
    asked.says("write \"lab, 1 core=0.20 USD/h\"");
    let text = compare(&bench, &["lab, 1 core=0.20 USD/h"]);
    assert!(
        text.contains("lab, 1 core: time predicted from its probe"),
        "{text}"
    );
    assert!(text.contains("4 runs there: "), "{text}");
    let text = compare(&bench, &["1 USD/h"]);
    assert!(
        text.contains("The same time is assumed on every machine"),
        "{text}"
    );
    let typo = bench.bancada(&["price", "compare", "study.toml", "1 USD/fortnight"]);
    typo.ends_with(3).says("is not a price such as");
}

#[test]
fn what_is_not_predicted_is_named_with_its_reason() {
    let bench = Bench::new();
    run(&bench, STUDY);
    let profile = probed(&bench);
    let machine = ["aws/c7g.xlarge"];
    let check = |reason: &str| {
        let text = compare(&bench, &machine);
        let refused = "No time is predicted for aws/c7g.xlarge@us-east-1: ";
        assert!(text.contains(refused) && text.contains(reason), "{text}");
        assert!(
            text.contains("The same time is assumed on every machine"),
            "{text}"
        );
    };
    add_slow(&bench, &profile, |slow| {
        slow["machine"]["memory_bytes"] = 1_000_000.into()
    });
    check("MB of memory, but aws/c7g.xlarge has 1 MB");
    add_slow(&bench, &profile, |slow| {
        slow["frameworks"] = Value::Array(Vec::new())
    });
    check("nor the embedded engine was probed both here and on aws/c7g.xlarge");
    add_slow(&bench, &profile, |_| ());
    let own = bench.path().join("cache/machines");
    let host = profile["machine"]["hostname"].as_str().unwrap();
    fs::remove_file(own.join(format!("{host}.json"))).unwrap();
    check("the machine of the runs was not probed with");
}

#[test]
fn the_profile_is_kept_with_the_runs_and_used_without_the_catalog() {
    let bench = Bench::new();
    let profile = probed(&bench);
    run(&bench, STUDY);
    let digest = |run: &str| {
        let record = bench.record("small", run);
        record["machine_profile"].as_str().unwrap().to_owned()
    };
    assert_eq!(digest("C1-r1"), digest("C2-r2"));
    let file = format!("results/small/machine-{}.json", digest("C1-r1"));
    let kept = fs::read(bench.path().join(file)).unwrap();
    let kept: Value = serde_json::from_slice(&kept).unwrap();
    assert_eq!(kept, profile);
    add_slow(&bench, &profile, |_| ());
    let host = profile["machine"]["hostname"].as_str().unwrap();
    fs::remove_file(bench.path().join(format!("cache/machines/{host}.json"))).unwrap();
    let text = compare(&bench, &["aws/c7g.xlarge"]);
    assert!(text.contains("time predicted from its probe"), "{text}");
}

#[test]
fn programs_of_the_user_are_not_predicted() {
    let bench = Bench::new();
    let priced = "[environments.cpu]\nprice = \"azure/Standard_F4s_v2@eastus\"\n";
    run(
        &bench,
        &format!("{}{priced}", shell_study("shell", "true", 1, "")),
    );
    let profile = probed(&bench);
    add_slow(&bench, &profile, |_| ());
    let text = compare(&bench, &["aws/c7g.xlarge"]);
    assert!(
        text.contains("only trainings that Bancada starts itself are predicted"),
        "{text}"
    );
}
