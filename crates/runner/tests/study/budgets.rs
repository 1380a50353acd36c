//! Money while a study is carried out.

use std::time::Duration;

use model::{Money, Phase, Status};
use place::{Fault, Script};
use runner::{Ended, Progress, RunForecast};

use crate::bench::{Bench, TWO_LEVELS, fake, good, run};

fn priced(budget: &str) -> Bench {
    Bench::new(&format!(
        "budget = \"{budget}\"\n{TWO_LEVELS}[environments.here]\nprice = \"3600 USD/h\"\n"
    ))
}

fn expecting(bench: &mut Bench, seconds: f64) {
    for scenario in [1, 2] {
        bench.expected.insert(
            scenario,
            RunForecast {
                phases: vec![Phase {
                    name: "train".to_owned(),
                    begin_seconds: 0.0,
                    seconds,
                }],
                low_factor: 0.9,
                high_factor: 1.1,
                requests: None,
            },
        );
    }
}

fn amount(money: Money) -> f64 {
    money.amount.to_string().parse().unwrap()
}

#[test]
fn no_run_begins_that_the_budget_does_not_allow() {
    // A dollar a second.
    let mut bench = priced("35 USD");
    expecting(&mut bench, 10.0);
    let place = good(10.0);
    let came = bench.run_at(&place);
    assert_eq!(came.ended(), Ended::BudgetSpent);
    assert_eq!(
        place.started().len(),
        3,
        "the fourth would cost more than is left"
    );
    assert!(
        bench
            .records()
            .iter()
            .all(|r| r.outcome.status == Status::Ok)
    );
    // The next session finds the money spent.
    let place = good(10.0);
    assert_eq!(bench.run_at(&place).ended(), Ended::BudgetSpent);
    assert!(place.started().is_empty());
    bench.over_budget = true;
    assert_eq!(bench.run_at(&place).ended(), Ended::AllDone);
    assert_eq!(bench.records().len(), 6);
}

#[test]
fn a_run_that_spends_the_budget_is_ended_and_says_why() {
    // A second is paid at least: it may begin.
    let bench = priced("1.5 USD");
    // Nobody knows that it does not end.
    let place = fake(|_| Script {
        looks: None,
        fault: Some(Fault::Slow(Duration::from_millis(5))),
        ..Script::default()
    });
    let came = bench.run_at(&place);
    assert_eq!(came.ended(), Ended::BudgetSpent);
    assert_eq!(place.started(), [run("C1-r1")]);
    let record = bench.records().remove(0);
    assert_eq!(record.outcome.status, Status::Interrupted);
    let detail = record.outcome.detail.unwrap();
    assert!(detail.contains("the budget of"), "{detail}");
}

#[test]
fn what_the_study_will_cost_is_projected() {
    let mut bench = priced("1000 USD");
    expecting(&mut bench, 10.0);
    let came = bench.run_at(&good(10.0));
    let projected: Vec<f64> = came
        .progress
        .iter()
        .filter_map(|progress| match progress {
            Progress::RunBegins { projected, .. } => projected.map(amount),
            _ => None,
        })
        .collect();
    assert_eq!(projected.len(), 6);
    for amount in projected {
        assert!((59.0..62.0).contains(&amount), "{amount}");
    }
}

#[test]
fn nothing_is_projected_where_a_run_is_not_known() {
    let mut bench = priced("1000 USD");
    expecting(&mut bench, 10.0);
    bench.expected.remove(&2);
    let came = bench.run_at(&good(10.0));
    let Some(Progress::RunBegins { projected, .. }) = came.progress.first() else {
        unreachable!("a run begins first");
    };
    assert_eq!(*projected, None);
}

#[test]
fn one_budget_holds_for_all_places() {
    let text = "budget = \"35 USD\"\n[factors]\nenvironment = [\"a\", \"b\"]\n\
                [workload]\ncommand = [\"true\"]\n\
                [environments.a]\nprice = \"3600 USD/h\"\n[environments.b]\nprice = \"3600 USD/h\"\n";
    let mut bench = Bench::new(text);
    expecting(&mut bench, 10.0);
    let (a, b) = (good(10.0), good(10.0));
    let came = bench.run(vec![
        (&a, ["a".to_owned()].into()),
        (&b, ["b".to_owned()].into()),
    ]);
    assert_eq!(came.ended(), Ended::BudgetSpent);
    assert_eq!(a.started().len() + b.started().len(), 3);
}
