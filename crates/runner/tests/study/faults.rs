//! Places that misbehave: nothing is lost, nothing is kept twice.

use std::collections::BTreeSet;

use model::{RunId, Status};
use place::{Fake, Fault, Script};
use runner::{Ended, Progress, RunnerError};

use crate::bench::{Bench, TWO_LEVELS, fake, good, run};

fn at(order: &model::Order, name: &str, fault: Fault) -> Script {
    Script {
        fault: (order.run == run(name)).then_some(fault),
        ..Script::default()
    }
}

#[test]
fn a_lost_connection_is_waited_for() {
    let bench = Bench::new(TWO_LEVELS);
    let place = fake(|order| at(order, "C2-r1", Fault::LosesConnection { looks: 3 }));
    let came = bench.run_at(&place);
    assert_eq!(came.ended(), Ended::AllDone);
    assert_eq!(bench.records().len(), 6);
    assert!(
        bench
            .records()
            .iter()
            .all(|r| r.outcome.status == Status::Ok)
    );
}

#[test]
fn a_connection_that_stays_lost_is_a_place_that_is_gone() {
    let bench = Bench::new(TWO_LEVELS);
    let place = fake(|order| at(order, "C2-r1", Fault::LosesConnection { looks: u32::MAX }));
    let came = bench.run_at(&place);
    assert_eq!(came.ended(), Ended::PlaceFailed);
    let statuses = bench.statuses();
    assert_eq!(statuses[&run("C1-r1")], Status::Ok);
    assert_eq!(statuses[&run("C2-r1")], Status::Interrupted);
    assert_eq!(statuses.len(), 2, "nothing else was tried there");
}

#[test]
fn what_another_place_measures_does_not_depend_on_one_that_dies() {
    let text = "[factors]\nenvironment = [\"a\", \"b\"]\n[workload]\ncommand = [\"true\"]\n\
                [environments.a]\n[environments.b]\n";
    let bench = Bench::new(text);
    let dying = fake(|order| at(order, "C1-r2", Fault::Dies));
    let living = good(1.0);
    let places = |a| -> Vec<(&dyn place::Place, BTreeSet<String>)> {
        vec![
            (a, ["a".to_owned()].into()),
            (&living, ["b".to_owned()].into()),
        ]
    };
    let came = bench.run(places(&dying));
    assert_eq!(came.ended(), Ended::PlaceFailed);
    let aside = came.progress.iter().filter_map(|progress| match progress {
        Progress::PlaceSetAside { why, .. } => Some(why.as_str()),
        _ => None,
    });
    let aside: Vec<&str> = aside.collect();
    assert_eq!(aside.len(), 1);
    assert!(aside[0].contains("the place is gone"), "{aside:?}");
    assert_eq!(living.started().len(), 3);
    // What died with the place is repeated when it is back; the rest stays.
    let back = good(2.0);
    assert_eq!(bench.run(places(&back)).ended(), Ended::AllDone);
    assert_eq!(back.started(), [run("C1-r2"), run("C1-r3")]);
    assert_eq!(bench.records().len(), 6);
}

#[test]
fn a_measurement_that_comes_twice_is_kept_once() {
    let bench = Bench::new(TWO_LEVELS);
    let place = fake(|order| Script {
        seconds: f64::from(order.run.scenario * 10 + order.run.repetition),
        fault: Some(Fault::DeliversThePreviousFirst),
        ..Script::default()
    });
    assert_eq!(bench.run_at(&place).ended(), Ended::AllDone);
    let records = bench.records();
    assert_eq!(records.len(), 6);
    for record in records {
        let RunId {
            scenario,
            repetition,
        } = record.run;
        assert_eq!(record.seconds, f64::from(scenario * 10 + repetition));
    }
}

#[test]
fn a_worker_that_leaves_nothing_is_a_failed_run_and_the_others_follow() {
    let bench = Bench::new(TWO_LEVELS);
    let place = fake(|order| at(order, "C1-r1", Fault::LeavesNoMeasurement));
    let came = bench.run_at(&place);
    assert_eq!(came.ended(), Ended::AllDone);
    let records = bench.records();
    assert_eq!(records.len(), 6);
    assert_eq!(records[0].outcome.status, Status::Failed);
    let detail = records[0].outcome.detail.as_deref().unwrap();
    assert!(detail.contains("signal 9"), "{detail}");
    assert_eq!(place.left(), 0);
}

#[test]
fn a_place_that_fails_three_times_in_a_row_is_set_aside() {
    let bench = Bench::new(TWO_LEVELS);
    let place = fake(|_| Script {
        fault: Some(Fault::CannotStart),
        ..Script::default()
    });
    let came = bench.run_at(&place);
    assert_eq!(came.ended(), Ended::PlaceFailed);
    let records = bench.records();
    assert_eq!(records.len(), 3);
    let never_began = records
        .iter()
        .all(|r| r.bill.is_none() && r.rental.is_none());
    assert!(never_began, "nothing is billed that never began");
}

#[test]
fn single_failures_do_not_add_up() {
    let bench = Bench::new(TWO_LEVELS);
    let place = fake(|order| Script {
        fault: (order.run.scenario == 1).then_some(Fault::LeavesNoMeasurement),
        ..Script::default()
    });
    assert_eq!(bench.run_at(&place).ended(), Ended::AllDone);
    assert_eq!(bench.records().len(), 6);
}

#[test]
fn an_error_of_the_store_ends_what_runs_and_is_reported() {
    let bench = Bench::new(TWO_LEVELS);
    let results = bench.folder.path().join("results");
    let place = fake(move |order| {
        if order.run == run("C2-r1") {
            // The disk is gone under the results.
            std::fs::remove_dir_all(results.join("runs")).unwrap();
            std::fs::write(results.join("runs"), "").unwrap();
        }
        Script::default()
    });
    let came = bench.run_at(&place);
    assert!(matches!(came.ended, Err(RunnerError::Store(_))));
    assert_eq!(place.started().len(), 2);
    assert_eq!(place.left(), 0);
}

/// Two machines share the runs of an environment: one that dies costs time, and no run.
#[test]
fn what_a_machine_did_not_finish_another_one_does() {
    let bench = Bench::new(TWO_LEVELS);
    let dying = Fake::new("first", |order| at(order, "C1-r1", Fault::Dies));
    let living = Fake::new("second", |_| Script::default());
    let all = || BTreeSet::from(["local".to_owned()]);
    let came = bench.run(vec![(&dying, all()), (&living, all())]);
    assert_eq!(came.ended(), Ended::AllDone);
    let statuses = bench.statuses();
    assert_eq!(statuses.len(), 6);
    assert!(statuses.values().all(|status| *status == Status::Ok));
    assert_eq!(dying.started(), [run("C1-r1")]);
    assert!(living.started().contains(&run("C1-r1")));
}

#[test]
fn a_run_that_takes_every_machine_down_ends_the_study() {
    let bench = Bench::new(TWO_LEVELS);
    let dies = |name| Fake::new(name, |order| at(order, "C1-r1", Fault::Dies));
    let machines = [dies("a"), dies("b"), dies("c"), dies("d"), dies("e")];
    let all = || BTreeSet::from(["local".to_owned()]);
    let places = machines.iter().map(|m| (m as &dyn place::Place, all()));
    let came = bench.run(places.collect());
    assert_eq!(came.ended(), Ended::PlaceFailed);
    assert_eq!(bench.statuses()[&run("C1-r1")], Status::Interrupted);
    let tries = machines.iter().flat_map(|machine| machine.started());
    assert_eq!(tries.filter(|tried| *tried == run("C1-r1")).count(), 3);
}
