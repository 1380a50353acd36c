//! Progress that a run prints.

use std::fs;

use measure::Recognition;
use model::event::CountUnit;
use model::run::Status;
use model::{Event, EventKind};

use crate::{Ran, carry_out};

fn watched(script: &str, known_at: Option<f64>) -> Ran {
    carry_out(&["sh", "-c", script], |request| {
        request.progress = Some(Recognition {
            known_at,
            least_seconds: 0.0,
        });
    })
}

fn recognised(events: &[Event]) -> Vec<&EventKind> {
    let kinds = events.iter().map(|event| &event.kind);
    kinds
        .filter(|kind| matches!(kind, EventKind::Recognised { .. }))
        .collect()
}

#[test]
fn a_run_is_ended_when_its_output_says_how_long_it_takes() {
    let ran = watched(
        "for e in $(seq 400); do echo \"Epoch $e/400 done, loss 0.5\"; sleep 0.05; done; echo late",
        Some(0.2),
    );
    let foreseen = ran.measured.foreseen.expect("it was ended");
    assert_eq!(ran.measured.outcome.status, Status::Ok);
    assert_eq!((foreseen.unit, foreseen.total), (CountUnit::Epochs, 400.0));
    assert!(foreseen.done < 400.0 && foreseen.total_seconds > ran.measured.seconds);
    assert!(foreseen.relative_error <= 0.2);
    let log = fs::read_to_string(ran.folder.path().join("log.txt")).unwrap();
    assert!(log.starts_with("Epoch 1/400 done") && !log.contains("late"));
    // The events are kept, and are no epochs that the run reported.
    let kept = fs::read_to_string(ran.folder.path().join("events.jsonl")).unwrap();
    assert!(
        kept.contains(r#""event":"recognised","unit":"epochs""#),
        "{kept}"
    );
    assert!(!recognised(&ran.events).is_empty() && ran.measured.epochs.is_empty());
}

#[test]
fn a_run_that_ends_by_itself_is_measured_whole() {
    let ran = watched("for e in 1 2 3; do echo \"Epoch $e/3\"; done", Some(0.2));
    assert_eq!(ran.measured.foreseen, None);
    assert!(!recognised(&ran.events).is_empty());
}

#[test]
fn output_that_only_looks_like_progress_neither_ends_a_run_nor_says_what_is_left() {
    let script = "for n in $(seq 60); do echo \"saved shard $n/60\"; echo \"batch 32 of 64 px, score 3/60\"; echo \"step $n\"; sleep 0.02; done";
    let ran = watched(script, Some(0.5));
    assert_eq!(ran.measured.foreseen, None);
    assert_eq!(ran.measured.outcome.status, Status::Ok);
    for kind in recognised(&ran.events) {
        let EventKind::Recognised { of_run, left, .. } = kind else {
            continue;
        };
        assert!(!of_run && left.is_none(), "{kind:?}");
    }
}

#[test]
fn nothing_is_recognised_where_nobody_asked() {
    let ran = carry_out(&["sh", "-c", "echo Epoch 1/3; echo Epoch 2/3"], |_| ());
    assert!(recognised(&ran.events).is_empty());
}
