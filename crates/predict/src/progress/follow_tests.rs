use super::*;
use std::cell::Cell;

thread_local! {
    static CPU: Cell<f64> = const { Cell::new(0.0) };
}

/// Every look at the clock is `CPU` seconds later.
fn costly() -> f64 {
    thread_local!(static NOW: Cell<f64> = const { Cell::new(0.0) });
    NOW.set(NOW.get() + CPU.get());
    NOW.get()
}

fn done(follower: &Follower) -> Option<f64> {
    follower.position().map(|position| position.done)
}

#[test]
fn a_flood_is_passed_over_and_read_from_a_whole_line_on() {
    let mut follower = Follower::new(Given::default(), 2, costly);
    CPU.set(1.0);
    follower.read(0, b"Epoch 1/20\n", 0.0);
    // A second of CPU time is spent, which is not spared before 180 s.
    follower.read(0, b"Epoch 5/20 [5/10]\nEpoch 1", 10.0);
    follower.read(1, b"Epoch 6/20 [5/10]\n", 10.0);
    assert_eq!(done(&follower), Some(0.0));
    CPU.set(0.0);
    follower.read(0, b"2/20 [5/10]\nEpoch 13/20 [5/10]", 200.0);
    follower.read(0, b"\n", 201.0);
    assert_eq!(done(&follower), Some(12.5));
}

#[test]
fn of_one_large_piece_no_more_is_read_than_may_be() {
    let mut follower = Follower::new(Given::default(), 1, costly);
    CPU.set(0.04);
    let lines: String = (1..=100_000)
        .map(|step| format!("step {step}/100000\n"))
        .collect();
    follower.read(0, lines.as_bytes(), 1.0);
    let seen = done(&follower).unwrap();
    assert!(seen < 5000.0, "{seen}");
    CPU.set(0.0);
}

#[test]
fn events_that_are_read_late_do_not_turn_time_back() {
    let mut follower = Follower::new(Given::default(), 1, || 0.0);
    follower.read(0, b"Epoch 1/4 [5/10]\n", 10.0);
    let epoch = EventKind::Epoch {
        epoch: 1,
        loss: None,
        accuracy: None,
        seconds: None,
    };
    follower.emitted(&epoch, 9.0);
    follower.read(0, b"Epoch 2/4 [5/10]\n", 20.0);
    assert!(follower.rest().is_none_or(|rest| rest.at_seconds == 20.0));
    assert_eq!(done(&follower), Some(1.5));
}
