//! `bancada compare`: two scenarios, two studies, and a gate.

use crate::common::Bench;

/// The time of a run is what it reports: exact, whatever the machine does.
fn study(name: &str, times: [&str; 2]) -> String {
    let [a, b] = times;
    format!(
        r#"
[study]
name = "{name}"
repetitions = 4
[factors]
batch = ["a", "b"]
[workload]
command = ["sh", "-c", '''
set -- {a} {b}
test "$BATCH" = a || shift 4
n=$(cat "$0.{name}.{{batch}}" 2>/dev/null || echo 0)
n=$((n + 1)); echo $n > "$0.{name}.{{batch}}"
eval echo value=\$$n
''', "./count"]
env = {{ BATCH = "{{batch}}" }}
[[workload.log]]
event = "metric"
name = "value_seconds"
pattern = 'value=(\S+)'
"#
    )
}

const FAST: &str = "1.00 1.01 0.99 1.00";
const SLOW: &str = "1.30 1.31 1.29 1.30";
const NOISY: &str = "0.80 1.50 1.00 1.20";

fn measured(folder: &Bench, name: &str, times: [&str; 2]) -> String {
    let file = format!("{name}.toml");
    folder.write(&file, &study(name, times));
    folder.bancada(&["run", &file]).ends_with(0);
    file
}

#[test]
fn two_scenarios_are_one_sentence() {
    let folder = Bench::new();
    let file = measured(&folder, "one", [FAST, SLOW]);
    let first = format!("{file}:C1");
    let metric = ["--metric", "value_seconds"];
    let ask = |second: &str, more: &[&str]| {
        folder.bancada(&[&["compare", &first, second], &metric[..], more].concat())
    };
    ask("C2", &[])
        .ends_with(0)
        .says("C2 has 1.30× the value seconds of C1 [1.")
        .says("(4 and 4 runs).");
    ask("C2", &["--gate"]).ends_with(7);
    ask("C2", &["--format", "markdown"])
        .ends_with(0)
        .says("** (different)");
    ask("C2", &["--format", "json"])
        .ends_with(0)
        .says("\"is_worse\": true");
    // Against itself nothing is worse, and nothing is claimed to differ.
    ask("C1", &["--gate", "unproven"])
        .ends_with(0)
        .says("practically equal");
    ask("C9", &[])
        .ends_with(2)
        .says("one.toml has no scenario C9: it has C1 (a) and C2 (b)");
    folder
        .bancada(&["compare", &first, "C2", "--metric", "valu"])
        .ends_with(2)
        .says("no metric `valu`; there are");
}

#[test]
fn sides_are_named_as_a_person_would() {
    let folder = Bench::new();
    measured(&folder, "one", [FAST, SLOW]);
    measured(&folder, "two", [SLOW, SLOW]);
    let ask = |sides: &[&str]| {
        let metric = ["--metric", "value_seconds"];
        folder.bancada(&[&["compare"], sides, &metric[..]].concat())
    };
    for sides in [
        &["one.toml", "C1", "C2"][..],
        &["one", "c1", "c2"],
        &["one:C1", "one:C2"],
        &["one.toml", "batch=a", "batch=b"],
        &["results/one", "C1", "C2"],
    ] {
        ask(sides).ends_with(0).says(" the value seconds of ");
    }
    for sides in [
        &["one.toml", "two.toml"][..],
        &["one", "two"],
        &["results/one", "results/two"],
        &["one:C1", "two:C1"],
    ] {
        ask(sides).ends_with(0).says("two");
    }
    ask(&["one", "one"])
        .ends_with(2)
        .says("both sides are one.toml");
    ask(&["C1", "C2"])
        .ends_with(2)
        .says("of which study? bancada compare STUDY C1 C2");
    ask(&["one", "two", "C2"])
        .ends_with(2)
        .says("with three names");
    ask(&["one", "batch=z", "C2"])
        .ends_with(2)
        .says("has no scenario batch=z");
}

#[test]
fn two_studies_are_compared_scenario_by_scenario() {
    let folder = Bench::new();
    let old = measured(&folder, "old", [FAST, SLOW]);
    let new = measured(&folder, "new", [NOISY, SLOW]);
    let better = measured(&folder, "better", [SLOW, FAST]);
    let ask = |a: &str, b: &str, more: &[&str]| {
        let all = [&["compare", a, b, "--metric", "value_seconds"], more].concat();
        folder.bancada(&all)
    };
    // Open is not worse, unless proof is asked for.
    ask(&old, &new, &["--gate"])
        .ends_with(0)
        .says("inconclusive: new against old [")
        .says("(8 and 8 runs over 2 scenarios).");
    ask(&old, &new, &["--gate", "unproven"]).ends_with(7);
    ask(&old, &better, &[])
        .ends_with(0)
        .says("Scenarios differ in opposite ways: more with a, less with b.");
    ask(&old, "missing.toml", &[]).ends_with(3);
    let one_sided = format!("{old}:C1");
    ask(&one_sided, &new, &[])
        .ends_with(2)
        .says("on both sides");
}

/// The cheapest that keeps a deadline, the fastest that keeps a limit; what is not settled is not recommended.
#[test]
fn a_deadline_and_a_limit_of_cost() {
    let bench = Bench::new();
    let mut csv = "environment,repetition,train_seconds\n".to_owned();
    for (size, seconds) in [("small", 100.0), ("large", 40.0)] {
        for repetition in 1..=4 {
            let seconds = seconds + f64::from(repetition) * 0.1;
            csv += &format!("{size},{repetition},{seconds}\n");
        }
    }
    bench.write("runs.csv", &csv);
    bench.write(
        "study.toml",
        r#"[study]
name = "sizes"
repetitions = 4
[factors]
environment = ["small", "large"]
[import]
factors = ["environment"]
repetition = "repetition"
metrics = { train_seconds = "train_seconds:s" }
[environments.small]
price = "0.36 USD/h"
[environments.large]
price = "3.6 USD/h"
"#,
    );
    bench
        .bancada(&["import", "--study", "study.toml", "runs.csv"])
        .ends_with(0);
    let show = |more: &[&str]| bench.bancada(&[&["show", "study.toml"], more].concat());
    show(&["--deadline", "2min"])
        .ends_with(0)
        .says("Within 2 min 00 s, choose C1 (small,")
        .says("cheapest in 100 % of resamplings");
    show(&["--deadline", "1min"])
        .ends_with(0)
        .says("choose C2 (large,")
        .says("the only one");
    show(&["--most-cost", "0.02 USD"])
        .ends_with(0)
        .says("choose C1 (small,");
    show(&["--deadline", "1min", "--most-cost", "0.02 USD"])
        .ends_with(0)
        .says("No scenario is surely within 1 min 00 s and US$ 0.02");
    // All of four runs are within it, and one in 20 may not be.
    show(&["--deadline", "100.5s"])
        .ends_with(0)
        .says("Not settled by their intervals: C1");
    show(&["--deadline", "soon"]).ends_with(2);
    show(&["--most-cost", "5 BRL"])
        .ends_with(2)
        .says("the costs are in USD, the limit is in BRL");
}

/// A version that crashes passes no gate, however fast the runs are that it finishes.
#[test]
fn no_gate_lets_through_what_fails_more() {
    let folder = Bench::new();
    let mut csv = "batch,t,end\n".to_owned();
    for run in 0..10 {
        let seconds = 10.0 + f64::from(run) * 0.01;
        let half = seconds / 2.0;
        csv += &format!("sound,{seconds},ok\n");
        csv += &match run {
            0..3 => format!("crashing,{half},ok\n"),
            _ => "crashing,,failed\n".to_owned(),
        };
        csv += "hanging,,timed-out\n";
    }
    folder.write("runs.csv", &csv);
    let import = ["import", "runs.csv", "--name", "runs", "--factor", "batch"];
    let columns = ["--metric", "t=train_seconds:s", "--status", "end"];
    folder
        .bancada(&[&import[..], &columns].concat())
        .ends_with(0);
    let ask = |sides: [&str; 2], more: &[&str]| {
        folder.bancada(&[&["compare", "results/runs"], &sides[..], more].concat())
    };
    ask(["C1", "C2"], &["--gate"])
        .ends_with(7)
        .says("C2 is worse: 7 of its 10 runs did not succeed, 0 of 10 of C1.");
    ask(["C1", "C2"], &[]).ends_with(0);
    ask(["C1", "C3"], &["--gate"]).ends_with(7);
    ask(["C1", "C2"], &["--format", "markdown"])
        .ends_with(0)
        .says("**C2 is worse: ");
    for sides in [["C2", "C1"], ["C3", "C1"]] {
        ask(sides, &["--gate"]).ends_with(if sides[0] == "C2" { 7 } else { 0 });
    }
}

/// `batch=a` is several scenarios: each is compared with the one that differs from it in the batch alone.
#[test]
fn levels_are_compared_over_all_other_levels() {
    let bench = Bench::new();
    let mut rows = String::from("network,batch,run,time\n");
    for (network, base) in [("n1", 10.0), ("n2", 100.0)] {
        for (batch, times) in [("a", 1.0), ("b", 1.5)] {
            for run in 1..=4 {
                let time = base * times * (1.0 + 0.002 * f64::from(run));
                rows += &format!("{network},{batch},{run},{time}\n");
            }
        }
    }
    bench.write("times.csv", &rows);
    let words = [
        "import", "--name", "levels", "--factor", "network", "--factor", "batch",
    ];
    let words = [
        &words[..],
        &["--metric", "time=train_seconds:s", "times.csv"],
    ]
    .concat();
    bench.bancada(&words).ends_with(0);
    let compare = |sides: &[&str]| bench.bancada(&[&["compare", "levels"], sides].concat());
    compare(&["batch=a", "batch=b"])
        .ends_with(0)
        .says("1.50×")
        .says("2 scenarios");
    compare(&["batch=a", "network=n1"])
        .ends_with(2)
        .says("name levels of the same factors");
    compare(&["batch=a", "C1"]).ends_with(2);
}
