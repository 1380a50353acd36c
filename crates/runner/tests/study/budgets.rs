//! Money while a study is carried out.

use std::time::Duration;

use model::money::PaidPhases;
use model::{MachineLife, Money, Phase, Status, Timestamp};
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
            RunForecast::exactly(vec![Phase {
                name: "train".to_owned(),
                begin_seconds: 0.0,
                seconds,
            }]),
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

/// A machine of environment `name` that has been on for so long.
fn on_for(bench: &mut Bench, name: &str, seconds: i64) {
    let now = Timestamp::now().as_second();
    let life = MachineLife {
        rental: format!("machine of {name}"),
        environment: name.to_owned(),
        began: Timestamp::from_second(now - seconds).unwrap(),
        startup_seconds: 40.0,
        install_seconds: 20.0,
        shutdown_seconds: 0.0,
        total_seconds: 0.0,
    };
    bench.rented.insert(name.to_owned(), life);
}

fn spent(came: &crate::bench::Came) -> Vec<f64> {
    let spent = came.progress.iter().filter_map(|progress| match progress {
        Progress::Tick { spent, .. } | Progress::RunEnds { spent, .. } => Some(amount(*spent)),
        _ => None,
    });
    spent.collect()
}

#[test]
fn a_rented_machine_is_paid_while_it_boots() {
    // Ten minutes of boot and installation cost 600 USD, before any run.
    let mut bench = priced("1000 USD");
    on_for(&mut bench, "here", 600);
    let came = bench.run_at(&good(0.001));
    assert_eq!(came.ended(), Ended::AllDone);
    let first = *spent(&came).first().unwrap();
    assert!((600.0..660.0).contains(&first), "{first}");
    // One that has used the budget up by then runs nothing.
    let mut bench = priced("500 USD");
    on_for(&mut bench, "here", 600);
    let place = good(0.001);
    assert_eq!(bench.run_at(&place).ended(), Ended::BudgetSpent);
    assert!(place.started().is_empty());
}

#[test]
fn an_idle_machine_spends_the_budget_of_the_one_that_works() {
    let text = "budget = \"2000 USD\"\n[factors]\nenvironment = [\"a\", \"b\"]\n\
                [workload]\ncommand = [\"true\"]\n\
                [environments.a]\nprice = \"3600 USD/h\"\n[environments.b]\nprice = \"3600 USD/h\"\n";
    let mut bench = Bench::new(text);
    // 400 USD are left: enough for a run of 250 s, not for two machines that are on meanwhile.
    expecting(&mut bench, 250.0);
    on_for(&mut bench, "a", 800);
    on_for(&mut bench, "b", 800);
    let place = good(0.001);
    assert_eq!(bench.run_at(&place).ended(), Ended::BudgetSpent);
    assert!(place.started().is_empty());
    // What is projected has the second machine in it, too: 1,600 USD, and three runs on each.
    let projected = |bench: &Bench| -> f64 {
        let came = bench.run_at(&good(0.001));
        let mut begins = came.progress.iter();
        begins
            .find_map(|progress| match progress {
                Progress::RunBegins { projected, .. } => projected.map(amount),
                _ => None,
            })
            .unwrap()
    };
    bench.over_budget = true;
    let money = projected(&bench);
    assert!((3100.0..3200.0).contains(&money), "{money}");
}

#[test]
fn the_life_of_a_machine_that_was_left_on_is_counted_once() {
    let mut bench = priced("10000 USD");
    on_for(&mut bench, "here", 600);
    bench.run_at(&good(10.0));
    bench.wanted.retry = [Status::Ok].into();
    let came = bench.run_at(&good(0.001));
    let last = *spent(&came).last().unwrap();
    assert!((600.0..700.0).contains(&last), "{last}");
}

#[test]
fn a_machine_on_which_nothing_ran_has_cost_money_all_the_same() {
    let mut bench = priced("500 USD");
    on_for(&mut bench, "here", 0);
    let mut life = bench.rented["here"].clone();
    life.total_seconds = 600.0;
    runner::add_machine_life(&bench.store(), &life).unwrap();
    bench.rented.clear();
    let place = good(0.001);
    assert_eq!(bench.run_at(&place).ended(), Ended::BudgetSpent);
    assert!(place.started().is_empty());
}

#[test]
fn time_in_a_queue_costs_nothing() {
    let bench = priced("1000 USD");
    let place = fake(|_| Script {
        looks: Some(5),
        fault: Some(Fault::WaitsInAQueue { looks: 3 }),
        ..Script::default()
    });
    let came = bench.run_at(&place);
    let ticks = came.progress.iter().filter_map(|progress| match progress {
        Progress::Tick { seconds, .. } => Some(*seconds),
        _ => None,
    });
    let ticks: Vec<f64> = ticks.collect();
    assert_eq!(ticks[..3], [0.0; 3]);
    assert!(ticks[3] > 0.0, "{ticks:?}");
}

#[test]
fn what_was_spent_is_never_taken_back() {
    let text = "[factors]\nenvironment = [\"a\", \"b\"]\n[workload]\ncommand = [\"true\"]\n\
                [environments.a]\nprice = \"3600 USD/h\"\n[environments.b]\nprice = \"3600 USD/h\"\n";
    let bench = Bench::new(text);
    // The run's own clock has seen less than the coordinator's.
    let slow = || {
        fake(|_| Script {
            seconds: 0.001,
            looks: Some(8),
            fault: Some(Fault::Slow(Duration::from_millis(200))),
            ..Script::default()
        })
    };
    let (a, b) = (slow(), slow());
    let came = bench.run(vec![
        (&a, ["a".to_owned()].into()),
        (&b, ["b".to_owned()].into()),
    ]);
    let spent = spent(&came);
    assert!(spent.is_sorted(), "{spent:?}");
    assert!(*spent.last().unwrap() > 1.0);
}

#[test]
fn time_between_requests_is_not_spent_once_a_run_has_its_bill() {
    let mut bench = priced("1000 USD");
    for environment in &mut bench.study.environments {
        let price = environment.price.as_mut().unwrap();
        price.billing.paid = PaidPhases::Requests;
    }
    let place = fake(|_| Script {
        seconds: 0.001,
        looks: Some(8),
        fault: Some(Fault::Slow(Duration::from_millis(200))),
        ..Script::default()
    });
    let came = bench.run_at(&place);
    let ends = came.progress.iter().filter_map(|progress| match progress {
        Progress::RunEnds { spent, .. } => Some(amount(*spent)),
        _ => None,
    });
    let ends: Vec<f64> = ends.collect();
    assert_eq!(ends.len(), 6);
    let bills = bench.records();
    let bills = bills.iter().filter_map(|r| r.bill.as_ref());
    let billed: f64 = bills.map(|bill| amount(bill.total)).sum();
    assert!((ends[5] - billed).abs() < 1e-9, "{ends:?}, bills {billed}");
    // While a run is in progress, all of its time may still turn out to be billed.
    assert!(spent(&came).iter().any(|&spent| spent > 0.5));
}
