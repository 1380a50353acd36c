use std::convert::Infallible;

use super::*;

fn trial(per_second: f64, seconds: f64, failed: u64) -> Trial {
    Trial {
        per_second,
        quantile: Some(Quantile {
            share: 0.99,
            seconds,
        }),
        ok_per_second: per_second,
        failed,
        first_failure: None,
        client_limited: None,
    }
}

/// A server whose latency rises as that of one queue: service time over what is left of it.
fn queue(plan: &Search, capacity: f64) -> Found {
    let made = search(plan, |rate| {
        let left = (1.0 - rate / capacity).max(1e-9);
        Ok::<_, Infallible>(trial(rate, 1.0 / capacity / left, 0))
    });
    made.unwrap()
}

#[test]
fn the_highest_rate_is_found() {
    for capacity in [0.5, 7.0, 140.0, 3_000.0, 80_000.0] {
        // Ten service times are reached at nine tenths of the capacity.
        let plan = Search::p99_under(10.0 / capacity);
        let found = queue(&plan, capacity);
        let (holds, fails) = (
            found.holds_per_second.unwrap(),
            found.fails_per_second.unwrap(),
        );
        assert!(
            holds <= 0.9 * capacity && 0.9 * capacity < fails,
            "{holds} {fails}"
        );
        assert!(fails <= holds * 1.05);
        assert!(found.trials.len() < 25);
    }
}

#[test]
fn failures_do_not_hold() {
    let plan = Search::p99_under(1.0);
    let found = search(&plan, |rate| {
        Ok::<_, Infallible>(trial(rate, 0.001, u64::from(rate > 100.0)))
    });
    let found = found.unwrap();
    assert!(found.holds_per_second.unwrap() <= 100.0);
    assert!(found.holds_per_second.unwrap() > 94.0);
}

#[test]
fn it_ends_without_a_bound_at_either_side() {
    let plan = Search {
        highest_per_second: 1000.0,
        ..Search::p99_under(1.0)
    };
    let all = search(&plan, |rate| Ok::<_, Infallible>(trial(rate, 0.1, 0))).unwrap();
    assert_eq!(
        (all.holds_per_second, all.fails_per_second),
        (Some(1000.0), None)
    );
    let none = search(&plan, |rate| Ok::<_, Infallible>(trial(rate, 2.0, 0))).unwrap();
    assert_eq!(none.holds_per_second, None);
    assert!(none.trials.len() < 15);
    let few = Search {
        most_trials: 3,
        ..plan
    };
    assert_eq!(queue(&few, 80_000.0).trials.len(), 3);
    let dead = search(&plan, |rate| {
        Ok::<_, Infallible>(Trial {
            quantile: None,
            ..trial(rate, 0.0, 0)
        })
    });
    assert_eq!(dead.unwrap().holds_per_second, None);
}

#[test]
fn it_says_when_the_client_was_the_limit() {
    let plan = Search::p99_under(1.0);
    let found = search(&plan, |rate| {
        let limited = (rate > 50.0).then(|| "the client is slow".to_owned());
        let seconds = if rate > 50.0 { 2.0 } else { 0.1 };
        Ok::<_, Infallible>(Trial {
            client_limited: limited,
            ..trial(rate, seconds, 0)
        })
    });
    assert_eq!(
        found.unwrap().client_limited.as_deref(),
        Some("the client is slow")
    );
}

#[test]
fn an_error_ends_the_search() {
    let plan = Search::p99_under(1.0);
    let made = search(&plan, |rate| {
        if rate < 50.0 {
            Ok(trial(rate, 0.1, 0))
        } else {
            Err("gone")
        }
    });
    assert_eq!(made, Err("gone"));
}

#[test]
fn senseless_searches_are_refused() {
    let right = Search::p99_under(1.0);
    assert!(check(&right).is_ok());
    for wrong in [
        Search {
            share: 1.0,
            ..right
        },
        Search {
            target_seconds: 0.0,
            ..right
        },
        Search {
            first_per_second: f64::NAN,
            ..right
        },
        Search {
            within: -1.0,
            ..right
        },
    ] {
        assert!(check(&wrong).is_err(), "{wrong:?}");
    }
}
