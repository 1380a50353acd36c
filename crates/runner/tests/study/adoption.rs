//! Runs that go on at their places while no coordinator is there.

use model::{Status, Work};
use place::{Fake, Fault, Place as _, Script};
use runner::{Ended, LeftAtPlace};

use crate::bench::{Bench, TWO_LEVELS, run};

/// The connection is lost for longer than anybody waits, and back the next time.
fn losing(order: &model::Order) -> Script {
    let is_first = match &order.work {
        Work::Command(command) => command.command[0] == "true",
        _ => false,
    };
    Script {
        fault: (is_first && order.run == run("C1-r2"))
            .then_some(Fault::LosesConnection { looks: 8 }),
        ..Script::default()
    }
}

fn tickets(bench: &Bench) -> usize {
    bench.store().tickets().unwrap().len()
}

#[test]
fn a_run_that_was_lost_comes_home_the_next_time() {
    let bench = Bench::new(TWO_LEVELS);
    let place = Fake::new("far", losing).outliving();
    let first = bench.run_at(&place);
    assert_eq!(first.ended(), Ended::PlaceFailed);
    assert_eq!(bench.records().len(), 2, "nothing is kept of what goes on");
    assert_eq!(tickets(&bench), 1);
    assert_eq!(place.left(), 1);
    let second = bench.run_at(&place);
    assert_eq!(second.ended(), Ended::AllDone);
    assert_eq!(second.runs()[0], run("C1-r2"));
    assert!(bench.statuses().values().all(|s| *s == Status::Ok));
    assert_eq!(bench.records().len(), 6);
    assert_eq!(place.started().len(), 6, "each was started once");
    assert_eq!((tickets(&bench), place.left()), (0, 0));
}

/// As after a kill between the note and the start.
#[test]
fn an_order_that_its_place_does_not_know_is_started() {
    let bench = Bench::new(TWO_LEVELS);
    let place = Fake::new("far", losing).outliving();
    bench.run_at(&place);
    let other = Fake::new("far", |_| Script::default()).outliving();
    assert_eq!(bench.run_at(&other).ended(), Ended::AllDone);
    assert_eq!(other.started().len(), 4);
    assert_eq!(bench.records().len(), 6);
    assert_eq!(tickets(&bench), 0);
}

#[test]
fn a_run_that_is_no_longer_wanted_is_cleaned_up() {
    let mut bench = Bench::new(TWO_LEVELS);
    let place = Fake::new("far", losing).outliving();
    bench.run_at(&place);
    assert_eq!(place.left(), 1);
    let text = TWO_LEVELS.replace("\"true\"", "\"echo\"");
    let changed = Bench::new(&text);
    bench.study = changed.study;
    bench.plan = changed.plan;
    assert_eq!(bench.run_at(&place).ended(), Ended::AllDone);
    // The lost one again, and those that were not begun.
    assert_eq!(place.started().len(), 3 + 4);
    assert_eq!((tickets(&bench), place.left()), (0, 0));
}

/// Of what its runs were, a place that dies with the coordinator knows nothing.
#[test]
fn a_place_that_dies_with_the_coordinator_leaves_no_tickets() {
    let bench = Bench::new(TWO_LEVELS);
    let place = Fake::new("here", losing);
    let first = bench.run_at(&place);
    assert_eq!(first.ended(), Ended::PlaceFailed);
    assert_eq!(tickets(&bench), 0);
    assert!(place.lost_patience().as_secs() < 1);
}

/// The note stays until the place is clean; the run is kept once all the same.
#[test]
fn a_place_that_could_not_be_cleaned_up_is_cleaned_the_next_time() {
    let bench = Bench::new(TWO_LEVELS);
    let place = Fake::new("far", |_| Script {
        fault: Some(Fault::CannotCleanUp),
        ..Script::default()
    })
    .outliving();
    assert_eq!(bench.run_at(&place).ended(), Ended::AllDone);
    assert_eq!((tickets(&bench), place.left()), (6, 6));
    let left = runner::left_at_places(&bench.store()).unwrap();
    let is_listed = |left: &LeftAtPlace| left.place == "far" && left.is_kept;
    assert!(left.len() == 6 && left.iter().all(is_listed), "{left:?}");
    assert_eq!(bench.run_at(&place).ended(), Ended::AllDone);
    assert_eq!((tickets(&bench), place.left()), (0, 0));
    assert_eq!(place.started().len(), 6);
    assert_eq!(bench.records().len(), 6);
}
