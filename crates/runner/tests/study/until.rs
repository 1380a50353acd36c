//! Repetitions until enough is known.

use std::collections::BTreeSet;

use model::{RunId, Status};
use place::{Fake, Fault, Script};
use runner::{Ended, UntilKnown};

use crate::bench::{Bench, Came, fake, good, run};

fn bench(until: &str, more: &str) -> Bench {
    Bench::of(&format!(
        "[study]\nname = \"s\"\nrepetitions = 10\norder = \"listed\"\nuntil = \"{until}\"\n{more}\
         [factors]\nn = [1, 2]\n[workload]\ncommand = [\"true\", \"{{n}}\"]\n"
    ))
}

/// The first scenario takes the same time always, the second one never.
fn seconds(run: RunId) -> f64 {
    match run.scenario {
        1 => 10.0 + 0.001 * f64::from(run.repetition % 3),
        _ => 20.0 + 5.0 * f64::from(run.repetition * 7 % 5),
    }
}

fn place() -> Fake {
    fake(|order| Script {
        seconds: seconds(order.run),
        ..Script::default()
    })
}

fn carry_out(bench: &Bench, places: Vec<(&dyn place::Place, BTreeSet<String>)>) -> Came {
    let until = bench.study.until.as_ref().unwrap();
    let records = bench.records();
    let mut schedule = UntilKnown::new(&bench.study, &bench.plan, until, bench.due(), &records);
    bench.run_by(&mut schedule, places)
}

fn here(place: &dyn place::Place) -> Vec<(&dyn place::Place, BTreeSet<String>)> {
    vec![(place, ["local".to_owned(), "here".to_owned()].into())]
}

fn repetitions(runs: &[RunId], scenario: u32) -> Vec<u32> {
    let own = runs.iter().filter(|run| run.scenario == scenario);
    own.map(|run| run.repetition).collect()
}

#[test]
fn a_precise_scenario_stops_and_the_other_goes_on_to_the_maximum() {
    let bench = bench("1%", "");
    let place = place();
    assert_eq!(carry_out(&bench, here(&place)).ended(), Ended::AllDone);
    let started = place.started();
    assert_eq!(repetitions(&started, 1), [1, 2, 3]);
    assert_eq!(repetitions(&started, 2), (1..=10).collect::<Vec<_>>());
    // Rounds over both, then over the one that is open.
    assert_eq!(
        started[..6],
        ["C1-r1", "C2-r1", "C1-r2", "C2-r2", "C1-r3", "C2-r3"].map(run)
    );
}

#[test]
fn a_decision_ends_all_scenarios_of_its_task() {
    let bench = bench("decided", "");
    let place = fake(|order| Script {
        seconds: f64::from(order.run.scenario) * 10.0 + 0.01 * f64::from(order.run.repetition % 3),
        ..Script::default()
    });
    assert_eq!(carry_out(&bench, here(&place)).ended(), Ended::AllDone);
    assert_eq!(place.started().len(), 6);
    // Scenarios that are noisy and alike are never decided.
    let alike = self::bench("decided", "");
    let place = fake(|order| Script {
        seconds: 10.0 + f64::from(order.run.repetition * (order.run.scenario + 2) % 7),
        ..Script::default()
    });
    assert_eq!(carry_out(&alike, here(&place)).ended(), Ended::AllDone);
    assert_eq!(place.started().len(), 20);
}

#[test]
fn a_killed_session_goes_on_as_if_it_had_not_been() {
    let whole = place();
    carry_out(&bench("1%", ""), here(&whole));
    let bench = bench("1%", "");
    // Its fifth run does not end by itself.
    let stuck = fake(|order| Script {
        seconds: seconds(order.run),
        looks: (order.run != run("C1-r3")).then_some(1),
        ..Script::default()
    });
    let came = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stuck.started().contains(&run("C1-r3")) {
                std::thread::yield_now();
            }
            bench.stop.request_finish();
        });
        carry_out(&bench, here(&stuck))
    });
    assert_eq!(came.ended(), Ended::Interrupted);
    let bench = Bench {
        stop: model::Stop::new(),
        ..bench
    };
    let rest = place();
    assert_eq!(carry_out(&bench, here(&rest)).ended(), Ended::AllDone);
    assert_eq!(rest.started(), whole.started()[4..]);
    // Once it is finished, nothing follows.
    let again = place();
    carry_out(&bench, here(&again));
    assert!(again.started().is_empty());
}

#[test]
fn the_budget_ends_it_as_always() {
    let text = "[study]\nname = \"s\"\nrepetitions = 10\nuntil = \"1%\"\nbudget = \"100 USD\"\n\
                [factors]\nn = [1, 2]\n[workload]\ncommand = [\"true\", \"{n}\"]\n\
                [environments.here]\nprice = \"3600 USD/h\"\n";
    let bench = Bench::of(text);
    let place = place();
    assert_eq!(carry_out(&bench, here(&place)).ended(), Ended::BudgetSpent);
    assert!(place.started().len() < 13, "{:?}", place.started());
}

#[test]
fn two_places_wait_for_each_other_at_a_look_and_one_that_dies_loses_nothing() {
    let bench = bench("1%", "");
    let dying = Fake::new("first", |order| Script {
        seconds: seconds(order.run),
        fault: (order.run == run("C2-r2")).then_some(Fault::Dies),
        ..Script::default()
    });
    let living = Fake::new("second", |order| Script {
        seconds: seconds(order.run),
        ..Script::default()
    });
    let all = || BTreeSet::from(["local".to_owned()]);
    let came = carry_out(&bench, vec![(&dying, all()), (&living, all())]);
    assert_eq!(came.ended(), Ended::AllDone);
    let statuses = bench.statuses();
    assert!(statuses.values().all(|status| *status == Status::Ok));
    assert_eq!(
        statuses.len(),
        13,
        "no run more than one place alone would do"
    );
}

#[test]
fn failing_scenarios_are_not_repeated_to_the_end() {
    let bench = bench("1%", "");
    let place = fake(|order| Script {
        seconds: seconds(order.run),
        fault: (order.run.scenario == 2).then_some(Fault::LeavesNoMeasurement),
        ..Script::default()
    });
    assert_eq!(carry_out(&bench, here(&place)).ended(), Ended::AllDone);
    assert_eq!(repetitions(&place.started(), 2), [1, 2, 3]);
}

#[test]
fn a_study_of_fixed_repetitions_runs_them_all() {
    let bench = Bench::new(crate::bench::TWO_LEVELS);
    let open = runner::open_runs(&bench.study, &bench.plan, bench.due(), &[]);
    assert_eq!(open.len(), 6);
    bench.run_at(&good(1.0));
    assert_eq!(bench.records().len(), 6);
}
