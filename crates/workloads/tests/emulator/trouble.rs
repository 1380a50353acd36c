//! What goes wrong with workers is told, and does not stop the next request.

use std::time::Duration;

use workloads::serverless::{Options, Size, Stack};

use crate::common::{Answer, Emulator, lives, options};
use crate::stack;

fn with(mode: &str) -> Options {
    Options {
        stack: Stack::Command(stack::command(mode)),
        ..options()
    }
}

fn check(answer: &Answer, status: u16, outcome: &str, sentence: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert_eq!(answer.header("x-bancada-outcome"), Some(outcome));
    assert!(answer.error().contains(sentence), "{}", answer.error());
}

#[test]
fn a_worker_that_crashes_is_told_with_its_last_words() {
    let emulator = Emulator::start(options());
    emulator.post("hello");
    let crashed = emulator.post("crash now");
    check(
        &crashed,
        502,
        "failed",
        "the worker ended during the request (exit code 7); its last lines:\n",
    );
    assert!(crashed.error().ends_with("first\nthe last thing I say"));
    assert!(!crashed.is_cold());
    let next = emulator.post("hello");
    assert_eq!((next.status, next.is_cold()), (200, true));
    let bill = emulator.bill();
    assert_eq!([&bill["requests"], &bill["failed"]], [3, 1]);
}

#[test]
fn an_answer_that_says_it_failed_has_failed() {
    let emulator = Emulator::start(options());
    let failed = emulator.post("fail");
    assert_eq!((failed.status, &failed.body[..]), (500, "it went wrong"));
    // What the client did wrong is no failure of the worker.
    assert_eq!(emulator.post("refuse").status, 415);
    assert_eq!(emulator.post("hello").status, 200);
    let bill = emulator.bill();
    assert_eq!([&bill["requests"], &bill["failed"]], [3, 1]);
}

#[test]
fn a_worker_that_needs_more_memory_does_not_fit() {
    let emulator = Emulator::start(Options {
        size: Size::any(100, 100.0).unwrap(),
        ..options()
    });
    let full = emulator.post("eat 400");
    let sentence = "the worker exceeded 100 MB of memory and was killed";
    check(&full, 500, "out-of-memory", sentence);
    assert!(full.is_cold());
    let next = emulator.post("hello");
    assert_eq!(
        (next.status, next.header("x-bancada-worker")),
        (200, Some("2"))
    );
    assert_eq!(emulator.workers()[0]["why"], sentence);
}

#[test]
fn a_worker_that_does_not_even_start_in_its_memory_does_not_fit() {
    let emulator = Emulator::start(Options {
        size: Size::any(100, 100.0).unwrap(),
        ..with("fills")
    });
    let full = emulator.post("hello");
    check(&full, 500, "out-of-memory", "exceeded 100 MB");
}

#[test]
fn a_worker_that_does_not_answer_in_time_is_ended() {
    let emulator = Emulator::start(Options {
        timeout: Duration::from_millis(100),
        ..options()
    });
    let late = emulator.post("hang");
    check(&late, 504, "timed-out", "did not respond within 0.1 s");
    let [worker] = &emulator.workers()[..] else {
        panic!("one worker");
    };
    assert_eq!(worker["state"], "ended");
    assert!(!lives(&worker["pid"].to_string()));
}

#[test]
fn a_worker_that_dies_at_its_start_is_told_with_its_last_words() {
    let emulator = Emulator::start(with("dies"));
    let dead = emulator.post("hello");
    check(&dead, 500, "failed", "before it was healthy (exit code 3)");
    assert!(dead.error().ends_with("no model here"), "{}", dead.error());
    assert!(dead.is_cold());
    let bill = emulator.bill();
    let counts = ["requests", "failed", "cold_starts"].map(|name| &bill[name]);
    assert_eq!(counts, [1, 1, 0], "it never got healthy");
    assert_eq!(bill["setup_ms"], 0.0);
}

#[test]
fn a_worker_that_never_gets_healthy_is_given_up() {
    let emulator = Emulator::start(Options {
        start_timeout: Duration::from_millis(300),
        ..with("unhealthy")
    });
    let late = emulator.post("hello");
    check(&late, 503, "timed-out", "was not healthy within 0.3 s");
    let pid = emulator.workers()[0]["pid"].to_string();
    assert!(!lives(&pid));
    assert_eq!(emulator.bill()["cold_starts"], 0);
}

#[test]
fn a_command_that_is_not_there_is_said() {
    let emulator = Emulator::start(Options {
        stack: Stack::Command(vec!["no-such-program-anywhere".to_owned()]),
        ..options()
    });
    let missing = emulator.post("hello");
    let sentence = "cannot start `no-such-program-anywhere`: not found in the PATH";
    check(&missing, 500, "failed", sentence);
    emulator.await_states(&["ended"]);
}

#[test]
fn a_worker_that_died_while_it_was_free_is_no_trouble() {
    let emulator = Emulator::start(options());
    emulator.post("hello");
    let pid = emulator.workers()[0]["pid"].to_string();
    std::process::Command::new("kill")
        .args(["-9", &pid])
        .status()
        .unwrap();
    emulator.await_states(&["ended"]);
    let next = emulator.post("hello");
    assert_eq!((next.status, next.is_cold()), (200, true));
    assert_eq!(emulator.workers()[0]["why"], "ended by itself");
}

#[test]
fn an_answer_that_is_too_large_costs_no_worker() {
    let emulator = Emulator::start(options());
    let large = emulator.post("large 200000");
    check(&large, 502, "failed", "response has more than 100000 bytes");
    assert!(!emulator.post("hello").is_cold());
}
