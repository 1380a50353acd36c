//! Designs from the study file to the runs, and side by side.

use crate::common::Bench;

fn study(design: &str) -> String {
    format!(
        "[study]\nname = \"designs\"\nrepetitions = 1\n\n[factors]\na = [1, 2]\nb = [1, 2, 3]\nc = [\"x\", \"y\"]\n\n\
         [design]\n{design}\n\n[workload]\ncommand = [\"true\", \"{{a}}\", \"{{b}}\", \"{{c}}\"]\n\n\
         [environments.local]\nprice = \"0.2 USD/h\"\n"
    )
}

#[test]
fn designs_are_compared_before_anything_is_paid() {
    let bench = Bench::new();
    bench.write(
        "study.toml",
        &study("kind = \"fractional\"\ngenerators = [\"C=AB\"]"),
    );
    bench
        .bancada(&["plan", "study.toml", "--design"])
        .ends_with(0)
        .says("fractional 2^(3−1) (this study)           4      4   0 + 3 of 3     0 of 3")
        .says("two-level 2^3                             8      8   3 of 3         3 of 3")
        .says("full                                     12     12   3 of 3         3 of 3")
        .says("one-at-a-time")
        .says("Generators: c = a × b")
        .says("    a, b × c\n")
        .says("No forecast")
        .says("plackett-burman: not possible: 3 factors are too few for 12 scenarios");
    bench
        .bancada(&["run", "study.toml", "--quiet"])
        .ends_with(0);
    let ran = bench
        .bancada(&["plan", "study.toml", "--design", "--json"])
        .ends_with(0);
    let found: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let own = &found["options"][0];
    assert_eq!(own["design"]["kind"], "fractional");
    assert_eq!(own["aliases"]["resolution"], 3);
    assert_eq!(own["aliases"]["defining_words"][0]["effect"][2], "c");
    // The other scenarios' time follows from the levels of those that ran.
    for option in found["options"].as_array().unwrap() {
        assert!(
            option["seconds"]["value"].as_f64().unwrap() > 0.0,
            "{option}"
        );
        assert!(option["money"]["value"]["amount"].is_string(), "{option}");
    }
    bench
        .bancada(&["plan", "study.toml", "--design", "--runs"])
        .ends_with(2);
}

/// What a fraction measured counts for the whole.
#[test]
fn a_study_grows_from_a_fraction_to_the_full_design() {
    let bench = Bench::new();
    bench.write(
        "study.toml",
        &study("kind = \"fractional\"\nresolution = 3"),
    );
    bench
        .bancada(&["run", "study.toml", "--quiet"])
        .ends_with(0);
    bench.write("study.toml", &study("kind = \"full\""));
    bench
        .bancada(&["plan", "study.toml"])
        .ends_with(0)
        .says("12 scenarios × 1 repetition = 12 runs, 8 to do");
    bench
        .bancada(&["run", "study.toml", "--quiet", "--only", "a=2"])
        .ends_with(0);
    bench
        .bancada(&["plan", "study.toml"])
        .ends_with(0)
        .says("12 runs, 4 to do");
}

#[test]
fn one_factor_at_a_time_is_warned_about() {
    let bench = Bench::new();
    bench.write("study.toml", &study("kind = \"one-at-a-time\""));
    for command in [&["check", "study.toml"][..], &["plan", "study.toml"]] {
        bench
            .bancada(command)
            .ends_with(0)
            .says("one factor at a time: interactions cannot be seen");
    }
}
