//! The same measurements with other money.

use serde_json::Value;

use crate::common::{Bench, shell_study};

/// An hour at least, so that a bill is a price and no matter of milliseconds.
const PRICED: &str = "[environments.here]\nprice = \"2 USD/h\"\nbilling = { minimum = \"1h\", rental = \"run\", charges = [{ price = \"0.5 USD/run\", what = \"support\" }] }\n";

fn ran() -> Bench {
    let bench = Bench::new();
    let study = format!("{}{PRICED}", shell_study("priced", "true", 2, ""));
    bench.write("study.toml", &study);
    let run = ["run", "study.toml", "--quiet", "--no-pilot"];
    bench.bancada(&run).ends_with(0);
    bench
}

/// What all four runs cost, of the results as JSON.
fn total(bench: &Bench, more: &[&str]) -> String {
    let asked = [&["export", "results/priced", "--format", "json"], more].concat();
    let out = bench.bancada(&asked).ends_with(0).out;
    let value: Value = serde_json::from_str(&out).unwrap();
    let found = value.pointer("/analysis/totals/cost_total/0");
    let money = found
        .or_else(|| value.pointer("/totals/cost_total/0"))
        .unwrap();
    format!(
        "{} {}",
        money["amount"].as_str().unwrap(),
        money["currency"].as_str().unwrap()
    )
}

#[test]
fn prices_rules_taxes_and_currencies_can_be_others() {
    let bench = ran();
    let check =
        |more: &[&str], expected: &str| assert_eq!(total(&bench, more), expected, "{more:?}");
    check(&[], "10 USD");
    check(&["--price", "4 USD/h"], "18 USD");
    check(&["--price", "here=4 USD/h", "--tax", "10"], "19.8 USD");
    check(&["--currency", "BRL", "--rate", "USD:BRL=5.5"], "55 BRL");
    bench.write(
        "other.toml",
        "[environments.here]\nbilling = { discounts = [{ percent = 50 }] }\n",
    );
    check(&["--what-if", "other.toml"], "6 USD");
    // A list that is written takes the place of the one before.
    bench.write(
        "free.toml",
        "[environments.here]\nbilling = { charges = [] }\n",
    );
    check(&["--what-if", "free.toml"], "8 USD");
    // A rule by its name is how time is counted; the charge stays.
    bench.write(
        "old.toml",
        "[environments.here]\nbilling = { rule = \"aws@2016\" }\n",
    );
    check(&["--what-if", "old.toml"], "10 USD");
    check(
        &["--price", "azure/Standard_D4s_v5", "--region", "westus2"],
        "2.0002133336 USD",
    );
    // One machine for all runs: an hour of it, and four times the support.
    bench.write(
        "shared.toml",
        "[environments.here]\nbilling = { rental = \"study\" }\n",
    );
    check(&["--what-if", "shared.toml"], "4 USD");
    // What was paid is what it was.
    check(&[], "10 USD");
}

#[test]
fn repricing_goes_by_the_study_file_of_now() {
    let bench = ran();
    let study = std::fs::read_to_string(bench.path().join("study.toml")).unwrap();
    bench.write("study.toml", &study.replace("2 USD/h", "3 USD/h"));
    let path = bench
        .bancada(&["report", "study.toml", "--reprice"])
        .ends_with(0)
        .out;
    assert!(path.trim().ends_with("report-what-if.html"), "{path}");
    let html = std::fs::read_to_string(bench.path().join(path.trim())).unwrap();
    assert!(
        html.contains("computed with the study file"),
        "no word of it"
    );
    assert!(html.contains("14.00"), "the new total is not there");
    let kept = std::fs::read_to_string(bench.path().join("results/priced/report.html")).unwrap();
    assert!(kept.contains("10.00") && !kept.contains("billed anew"));
    // The copy beside the results is of the time of the runs.
    assert_eq!(total(&bench, &["--reprice"]), "10 USD");
}

#[test]
fn what_cannot_be_meant_is_said() {
    let bench = ran();
    let check = |more: &[&str], expected: &str| {
        let asked = [&["show", "results/priced"], more].concat();
        bench.bancada(&asked).ends_with(3).says(expected);
    };
    check(&["--price", "aws/m9.huge"], "unknown price `aws/m9.huge`");
    check(
        &["--region", "eastus"],
        "no environment is priced as a machine in the catalog",
    );
    check(
        &["--price", "1 USD/h", "--region", "eastus"],
        "1 USD/h is not a machine in the catalog",
    );
    check(
        &["--price", "there=1 USD/h"],
        "no environment is called `there`; known: here",
    );
    check(&["--rate", "5.5"], "is not a rate such as USD:BRL=5.42");
    check(&["--tax", "much"], "`tax` must be a decimal number");
    check(&["--what-if", "none.toml"], "cannot read none.toml");
    check(&["--currency", "BRL"], "no exchange rate from USD to BRL");
    bench
        .bancada(&["price", "rules", "aws/lambda"])
        .ends_with(0)
        .says("since 2020-12-01");
    bench
        .bancada(&["price", "rules", "acme"])
        .ends_with(3)
        .says("no rule name begins with acme");
}

#[test]
fn while_a_study_runs_it_says_what_it_will_have_cost() {
    let check = |priced: &str, spent: [&str; 4], whole: &str| {
        let bench = Bench::new();
        let study = format!("{}{priced}", shell_study("priced", "true", 2, ""));
        bench.write("study.toml", &study);
        let ran = bench.bancada(&["run", "study.toml", "--json"]).ends_with(0);
        let lines = ran
            .out
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let ends: Vec<Value> = lines
            .filter(|line: &Value| line["event"] == "run-ends")
            .collect();
        let money = |line: &Value, what: &str| {
            let amount = line[what]["amount"].as_str()?;
            Some(amount.parse::<f64>().unwrap())
        };
        let all = |what: &str| {
            ends.iter()
                .map(|line| money(line, what))
                .collect::<Vec<_>>()
        };
        let number = |text: &str| Some(text.parse::<f64>().unwrap());
        assert_eq!(all("spent"), spent.map(number));
        // A command has no pilot: what the second scenario costs is known when it has run.
        let whole = number(whole);
        assert_eq!(all("projected"), [None, whole, whole, whole]);
    };
    check(PRICED, ["2.5", "5", "7.5", "10"], "10");
    // One machine: its hour is paid from the first run on.
    let shared = PRICED.replace("rental = \"run\"", "rental = \"study\"");
    check(&shared, ["2.5", "3", "3.5", "4"], "4");
}
