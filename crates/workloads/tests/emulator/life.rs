//! Workers come when they are asked for, stay, and go; what they cost.

use std::process::Command;
use std::time::Duration;

use rust_decimal::Decimal;
use workloads::serverless::{BillingTerms, Engine, Options, Stack};

use crate::common::{Emulator, no_file, options, post};
use crate::stack;

#[test]
fn the_first_request_is_cold_and_the_next_ones_are_warm() {
    let emulator = Emulator::start(options());
    assert_eq!(emulator.get("/ping").status, 200);
    assert!(emulator.workers().is_empty(), "a ping starts no worker");
    let first = emulator.post("hello");
    assert_eq!((first.status, first.body.as_str()), (200, "hello"));
    assert!(first.is_cold());
    let setup: f64 = first.header("x-bancada-setup-ms").unwrap().parse().unwrap();
    assert!(setup > 0.0);
    for _ in 0..3 {
        let next = emulator.post("again");
        assert_eq!(next.body, "again");
        assert!(!next.is_cold());
        assert_eq!(next.header("x-bancada-worker"), Some("1"));
        assert_eq!(next.header("x-bancada-setup-ms"), None);
    }
    let [worker] = &emulator.workers()[..] else {
        panic!("one worker");
    };
    assert_eq!(worker["state"], "free");
    assert_eq!(worker["requests"], 4);
    assert!((worker["setup_ms"].as_f64().unwrap() - setup).abs() < 0.01);
    assert!(worker["peak_memory_bytes"].as_u64().unwrap() > 0);
}

#[test]
fn answers_are_passed_on_as_they_are() {
    let emulator = Emulator::start(options());
    let answer = emulator.post("anything");
    assert_eq!(answer.header("x-prediction-ms"), Some("1.500"));
    assert_eq!(answer.header("content-type"), Some("text/x-own"));
    assert_eq!(answer.header("x-bancada-outcome"), None);
    let refused = emulator.post("refuse it");
    assert_eq!((refused.status, refused.body.as_str()), (415, "not that"));
    assert_eq!(refused.header("x-bancada-cold"), Some("0"));
}

#[test]
fn a_stack_that_closes_its_connections_is_asked_on_new_ones() {
    let emulator = Emulator::start(Options {
        stack: Stack::Command(stack::command("closes")),
        ..options()
    });
    for number in 0..5 {
        let answer = emulator.post("once");
        assert_eq!((answer.status, answer.is_cold()), (200, number == 0));
    }
}

#[test]
fn an_idle_worker_is_ended_and_the_next_request_is_cold() {
    let emulator = Emulator::start(Options {
        idle: Duration::from_millis(50),
        ..options()
    });
    for number in 1..=2 {
        let answer = emulator.post("hello");
        assert!(answer.is_cold());
        assert_eq!(
            answer.header("x-bancada-worker"),
            Some(&*number.to_string())
        );
        emulator.await_states(&vec!["ended"; number]);
    }
    let why = &emulator.workers()[0]["why"];
    assert_eq!(why, "no request for 0.05 s");
    let bill = emulator.end();
    assert_eq!((bill.requests, bill.cold_starts), (2, 2));
    assert_eq!(bill.idle_seconds, 0.05);
}

#[test]
fn without_idle_time_every_request_is_cold() {
    let emulator = Emulator::start(Options {
        idle: Duration::ZERO,
        concurrency: 1,
        ..options()
    });
    for _ in 0..3 {
        assert!(emulator.post("hello").is_cold());
    }
    emulator.await_states(&["ended", "ended", "ended"]);
}

#[test]
fn more_requests_than_workers_are_turned_away() {
    let emulator = Emulator::start(options());
    let (address, file) = (emulator.address, no_file("concurrency"));
    let body = format!("hold {file}");
    let held: Vec<_> = (0..2)
        .map(|_| {
            let body = body.clone();
            std::thread::spawn(move || post(address, &body))
        })
        .collect();
    emulator.await_states(&["busy", "busy"]);
    let refused = emulator.post("one too many");
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(refused.header("x-bancada-outcome"), Some("throttled"));
    assert_eq!(
        refused.error(),
        "all 2 workers are busy, and no more are allowed: retry later, or raise --concurrency"
    );
    std::fs::write(&file, "").unwrap();
    for request in held {
        let answer = request.join().unwrap();
        assert_eq!((answer.status, answer.is_cold()), (200, true));
    }
    assert!(!emulator.post("now").is_cold());
    std::fs::remove_file(&file).unwrap();
    let bill = emulator.bill();
    let counts = ["requests", "failed", "throttled", "cold_starts"].map(|name| &bill[name]);
    assert_eq!(counts, [3, 0, 1, 2]);
}

#[test]
fn the_bill_is_the_sum_of_what_the_answers_say() {
    for bills_setup in [false, true] {
        let mut terms = BillingTerms::sagemaker();
        terms.bills_setup = bills_setup;
        let emulator = Emulator::start(Options {
            idle: Duration::ZERO,
            terms,
            ..options()
        });
        let mut billed = 0;
        for _ in 0..3 {
            let answer = emulator.post("hello");
            let ms: u64 = answer
                .header("x-bancada-billed-ms")
                .unwrap()
                .parse()
                .unwrap();
            let setup: f64 = answer
                .header("x-bancada-setup-ms")
                .unwrap()
                .parse()
                .unwrap();
            assert!(!bills_setup || ms as f64 >= setup, "{ms} {setup}");
            billed += ms;
        }
        let told = emulator.bill();
        let bill = emulator.end();
        assert_eq!(
            (told["billed_ms"].as_u64(), bill.billed_ms),
            (Some(billed), billed)
        );
        // A size that is not sold, in proportion: 128 MB are an eighth of a GB.
        let expected = Decimal::new(25, 7) * Decimal::from(billed) / Decimal::ONE_THOUSAND;
        assert_eq!(bill.amount, expected);
        assert_eq!(told["amount"].as_str().unwrap().parse(), Ok(expected));
        assert_eq!(bill.gb_seconds, billed as f64 / 8e3);
    }
}

/// The engine is a script that takes the same arguments: real ones need a daemon or rights.
#[test]
fn a_worker_may_be_a_container() {
    let (program, removed) = (no_file("engine"), no_file("removed"));
    let stack = stack::command("plain").join(" ");
    let script = format!(
        "#!/bin/sh\n\
         [ \"$1\" = rm ] && echo \"$3\" > {removed} && exit\n\
         for word; do case $word in 127.0.0.1:*:8080) port=${{word#*:}}; port=${{port%:*}} ;; esac; done\n\
         export SAGEMAKER_BIND_TO_PORT=$port\n\
         exec {stack}\n"
    );
    // Written by another process: what this one has open for writing, one that it forks for
    // another test has, too, and the kernel starts no such file.
    let source = format!("{program}.sh");
    std::fs::write(&source, script).unwrap();
    let mut install = Command::new("install");
    install.args(["-m", "755", &source, &program]);
    assert!(install.status().unwrap().success());
    std::fs::remove_file(&source).unwrap();
    let emulator = Emulator::start(Options {
        stack: Stack::Container {
            engine: Engine {
                program: program.clone().into(),
            },
            image: "retina:1".to_owned(),
            arguments: vec!["serve".to_owned()],
        },
        ..options()
    });
    let answer = emulator.post("hello");
    assert_eq!((answer.status, answer.body.as_str()), (200, "hello"));
    assert_eq!(emulator.workers()[0]["limits_by"], "none");
    emulator.end();
    let name = std::fs::read_to_string(&removed).unwrap();
    assert_eq!(
        name.trim(),
        format!("bancada-{}-serverless-1", std::process::id())
    );
    std::fs::remove_file(&program).unwrap();
    std::fs::remove_file(&removed).unwrap();
}
