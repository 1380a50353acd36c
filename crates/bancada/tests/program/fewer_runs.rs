//! `run --until` and `run --goal`: not all runs, and what is said about those that were left out.

use crate::common::Bench;

/// Each level sleeps as long as it says: the first is the fastest by far.
const STUDY: &str = r#"
[study]
name = "fewer"
repetitions = 8
seed = 3
[factors]
n = [1, 2, 3, 4, 5, 6, 7, 8, 9]
[workload]
command = ["sleep", "0.{n}"]
"#;

#[test]
fn repetitions_end_when_enough_is_known() {
    let bench = Bench::new();
    bench.write("study.toml", STUDY);
    let planned = bench.bancada(&["plan", "study.toml", "--until", "20%"]);
    planned.ends_with(0).says("between 27 and 72");
    let ran = bench.bancada(&["run", "study.toml", "--until", "50%", "--only", "n=5,9"]);
    ran.ends_with(0);
    // Half a second and more are known to 50 % long before the eighth run, on a busy machine, too.
    let runs = bench.bundles("fewer").len();
    assert!((6..16).contains(&runs), "{runs} runs");
    let wrong = bench.bancada(&["run", "study.toml", "--until", "soon"]);
    assert_ne!(wrong.code, 0);
    assert!(wrong.err.contains("soon"), "{}", wrong.err);
}

#[test]
fn a_search_names_what_it_never_ran() {
    let bench = Bench::new();
    bench.write("study.toml", STUDY);
    let ran = bench.bancada(&["run", "study.toml", "--goal", "min time"]);
    let ran = ran.ends_with(0);
    let runs = bench.bundles("fewer").len();
    assert!(runs < 72, "all {runs} runs were made");
    assert!(ran.out.contains("C1"), "{}", ran.out);
    let shown = bench.bancada(&["show", "study.toml"]).ends_with(0);
    shown.says("min time");
    let wrong = bench.bancada(&["run", "study.toml", "--goal", "min cots"]);
    let wrong = wrong
        .says("unknown metric `cots`")
        .says("did you mean `cost`?");
    assert_ne!(wrong.code, 0);
}
