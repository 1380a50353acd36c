//! Which runs are carried out, and in which order.

use std::sync::{Arc, Barrier, Mutex};

use model::{Asked, Outcome, RunId, RunRecord, Status};
use place::Script;
use runner::{Ended, Known, Next, Only, Progress, Schedule};

use crate::bench::{Bench, TWO_LEVELS, fake, good, run};

fn named(runs: &[&str]) -> Vec<RunId> {
    runs.iter().map(|name| run(name)).collect()
}

#[test]
fn all_runs_are_kept_in_the_order_of_the_plan() {
    let bench = Bench::new(TWO_LEVELS);
    let place = good(2.0);
    let came = bench.run_at(&place);
    assert_eq!(came.ended(), Ended::AllDone);
    let expected = named(&["C1-r1", "C2-r1", "C1-r2", "C2-r2", "C1-r3", "C2-r3"]);
    assert_eq!(place.started(), expected);
    assert_eq!(came.runs(), expected);
    assert_eq!(place.left(), 0);
    let records = bench.records();
    assert_eq!(records.len(), 6);
    for record in records {
        assert_eq!(record.seconds, 2.0);
        assert_eq!(record.study, "s");
        assert!(!record.fingerprint.is_empty());
        assert_eq!(record.scenario.number, record.run.scenario);
    }
}

#[test]
fn nothing_is_done_twice() {
    let bench = Bench::new(TWO_LEVELS);
    bench.run_at(&good(1.0));
    let again = good(9.0);
    let came = bench.run_at(&again);
    assert_eq!(came.ended(), Ended::AllDone);
    assert!(again.started().is_empty());
    assert!(bench.records().iter().all(|record| record.seconds == 1.0));
}

#[test]
fn a_study_goes_on_where_it_was_interrupted() {
    let bench = Bench::new(TWO_LEVELS);
    // Its third run does not end by itself.
    let place = fake(|order| Script {
        looks: (order.run != run("C1-r2")).then_some(1),
        ..Script::default()
    });
    let stopper = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !place.started().contains(&run("C1-r2")) {
                std::thread::yield_now();
            }
            bench.stop.request_finish();
        });
        bench.run_at(&place)
    });
    assert_eq!(stopper.ended(), Ended::Interrupted);
    assert_eq!(bench.stop.asked(), Asked::Finish);
    assert_eq!(bench.statuses()[&run("C1-r2")], Status::Interrupted);
    let rest = named(&["C1-r2", "C2-r2", "C1-r3", "C2-r3"]);
    assert_eq!(bench.due(), rest);
    let bench = Bench {
        stop: model::Stop::new(),
        ..bench
    };
    let place = good(1.0);
    assert_eq!(bench.run_at(&place).ended(), Ended::AllDone);
    assert_eq!(place.started(), rest);
}

#[test]
fn a_pause_lets_the_run_in_progress_end_by_itself() {
    let bench = Bench::new(TWO_LEVELS);
    let is_paused = Arc::new(Barrier::new(2));
    let pausing = Arc::clone(&is_paused);
    let place = fake(move |order| {
        if order.run == run("C1-r2") {
            pausing.wait();
        }
        Script::default()
    });
    let came = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !place.started().contains(&run("C2-r1")) {
                std::thread::yield_now();
            }
            bench.stop.request_pause();
            // Whatever had begun by then ends; C1-r2 at the latest.
            is_paused.wait();
        });
        let came = bench.run_at(&place);
        if !place.started().contains(&run("C1-r2")) {
            is_paused.wait();
        }
        came
    });
    assert_eq!(came.ended(), Ended::Interrupted);
    assert!(
        bench
            .statuses()
            .values()
            .all(|status| *status == Status::Ok)
    );
    assert!(bench.due().len() >= 3 && !bench.due().contains(&run("C2-r1")));
}

#[test]
fn an_interrupted_run_may_be_kept() {
    let mut bench = Bench::new(TWO_LEVELS);
    let interrupted = fake(|order| Script {
        outcome: Outcome {
            status: match order.run == run("C1-r1") {
                true => Status::Interrupted,
                false => Status::Ok,
            },
            ..Outcome::ok()
        },
        ..Script::default()
    });
    bench.run_at(&interrupted);
    assert_eq!(bench.due(), named(&["C1-r1"]));
    bench.wanted.keep_interrupted = true;
    assert!(bench.due().is_empty());
}

#[test]
fn failed_runs_are_repeated_when_asked_and_their_cost_is_kept() {
    let mut bench = Bench::new(&format!(
        "{TWO_LEVELS}[environments.here]\nprice = \"1 USD/h\"\n"
    ));
    let failing = fake(|order| Script {
        seconds: 3600.0,
        outcome: Outcome {
            status: match order.run.scenario {
                1 => Status::Failed,
                _ => Status::Ok,
            },
            ..Outcome::ok()
        },
        ..Script::default()
    });
    bench.run_at(&failing);
    assert!(bench.due().is_empty(), "a failure is not repeated unasked");
    bench.wanted.retry.insert(Status::Failed);
    let failed = named(&["C1-r1", "C1-r2", "C1-r3"]);
    assert_eq!(bench.due(), failed);
    let place = good(3600.0);
    let came = bench.run_at(&place);
    assert_eq!(place.started(), failed);
    assert!(
        bench
            .records()
            .iter()
            .all(|r| r.outcome.status == Status::Ok)
    );
    // Six hours of the first session, of which three came to nothing, and three of this one.
    let Some(Progress::RunEnds { spent, .. }) = came.progress.last() else {
        unreachable!("the last word is the end of a run");
    };
    assert_eq!(spent.amount.to_string().split('.').next(), Some("9"));
}

#[test]
fn a_part_of_a_study_is_the_only_one_carried_out() {
    let mut bench = Bench::new(TWO_LEVELS);
    bench.wanted.only = vec![Only {
        factor: "n".to_owned(),
        levels: vec!["2".to_owned()],
    }];
    let place = good(1.0);
    let came = bench.run_at(&place);
    assert_eq!(place.started(), named(&["C2-r1", "C2-r2", "C2-r3"]));
    let Some(Progress::RunEnds { count, .. }) = came.progress.last() else {
        unreachable!("the last word is the end of a run");
    };
    assert_eq!((count.done, count.total), (3, 6));
}

/// Repeats a scenario until a run of it takes less than five seconds.
struct UntilFast {
    next: u32,
}

impl Schedule for UntilFast {
    fn next(&mut self, known: Known<'_>, can_run: &dyn Fn(RunId) -> bool) -> Next {
        let is_fast = |record: &RunRecord| record.seconds < 5.0;
        if known.records.iter().any(is_fast) {
            return Next::Done;
        }
        if !known.in_progress.is_empty() {
            return Next::Wait;
        }
        let run = RunId {
            scenario: 1,
            repetition: self.next,
        };
        self.next += 1;
        match can_run(run) {
            true => Next::Run(run),
            false => Next::Done,
        }
    }

    fn again(&mut self, run: RunId) {
        self.next = run.repetition;
    }

    fn left(&self) -> &[RunId] {
        &[]
    }
}

#[test]
fn a_schedule_decides_by_what_is_known_so_far() {
    let bench = Bench::new(TWO_LEVELS);
    let place = fake(|order| Script {
        seconds: 10.0 / f64::from(order.run.repetition),
        ..Script::default()
    });
    let environments = ["local".to_owned()].into();
    let came = bench.run_by(&mut UntilFast { next: 1 }, vec![(&place, environments)]);
    assert_eq!(came.ended(), Ended::AllDone);
    assert_eq!(came.runs(), named(&["C1-r1", "C1-r2", "C1-r3"]));
}

/// A queue makes a time limit of it.
#[test]
fn an_order_says_how_long_it_is_expected_to_take() {
    let bench = Bench::new(TWO_LEVELS);
    let seen: Arc<Mutex<Vec<Option<f64>>>> = Arc::default();
    let seen_there = Arc::clone(&seen);
    let place = fake(move |order| {
        seen_there.lock().unwrap().push(order.expected_seconds);
        Script {
            seconds: 10.0,
            ..Script::default()
        }
    });
    bench.run_at(&place);
    // Nothing is known of the first run of each level. One run alone says nothing of its spread, so
    // 40 % are assumed, of it and of the next: e^(1.96 · 0.4 · √2) = 3.03. Two equal ones are sure.
    let of_first_level: Vec<_> = seen.lock().unwrap().iter().copied().step_by(2).collect();
    let [None, Some(second), Some(third)] = of_first_level[..] else {
        panic!("{of_first_level:?}");
    };
    assert!((second - 30.3).abs() < 0.1, "{second}");
    assert!((third - 10.0).abs() < 1e-9, "{third}");
}
