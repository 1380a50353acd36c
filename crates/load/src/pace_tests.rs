use super::*;
use crate::load::{Closed, Open, Series};

const ALONE: Share = Share {
    thread: 0,
    threads: 1,
};
const MS: Nanos = 1_000_000;

fn open(arrivals: Arrivals, warm_up: Extent, counted: Extent) -> Load {
    Load::Open(Open {
        arrivals,
        warm_up,
        counted,
        max_connections: 1,
    })
}

/// All requests of an open loop: when, and whether they count.
fn all(load: &Load, share: Share) -> Vec<(Nanos, bool)> {
    let mut pace = Pace::new(load, share);
    let mut taken = Vec::new();
    while pace.due(0).is_some() {
        let ticket = pace.take(0);
        taken.push((ticket.intended, ticket.counted));
    }
    taken
}

#[test]
fn constant_arrivals_are_even() {
    let load = open(
        Arrivals::Constant { per_second: 1000.0 },
        Extent::Requests(1),
        Extent::Requests(3),
    );
    assert_eq!(
        all(&load, ALONE),
        [(0, false), (MS, true), (2 * MS, true), (3 * MS, true)]
    );
}

#[test]
fn parts_may_be_given_by_time() {
    let ms = Duration::from_millis;
    let load = open(
        Arrivals::Constant { per_second: 1000.0 },
        Extent::Time(ms(10)),
        Extent::Time(ms(5)),
    );
    let taken = all(&load, ALONE);
    assert_eq!(taken.len(), 15);
    assert!(
        taken
            .iter()
            .all(|(at, counted)| *counted == (*at >= 10 * MS))
    );
    let trace = Arrivals::Trace(vec![ms(1), ms(1), ms(7)]);
    let taken = all(&open(trace, Extent::NONE, Extent::Time(ms(100))), ALONE);
    assert_eq!(taken, [(MS, true), (MS, true), (7 * MS, true)]);
}

#[test]
fn threads_share_the_same_arrivals() {
    let arrivals = Arrivals::Poisson {
        per_second: 500.0,
        seed: 7,
    };
    let load = open(arrivals, Extent::Requests(10), Extent::Requests(90));
    let alone = all(&load, ALONE);
    let mut together: Vec<_> = (0..3)
        .flat_map(|thread| all(&load, Share { thread, threads: 3 }))
        .collect();
    together.sort();
    assert_eq!(alone.len(), 100);
    assert_eq!(
        together.iter().map(|t| t.0).collect::<Vec<_>>(),
        alone.iter().map(|t| t.0).collect::<Vec<_>>()
    );
}

#[test]
fn poisson_gaps_are_exponential() {
    let arrivals = Arrivals::Poisson {
        per_second: 1000.0,
        seed: 1,
    };
    let taken = all(
        &open(arrivals, Extent::NONE, Extent::Requests(100_000)),
        ALONE,
    );
    let gaps: Vec<f64> = taken
        .windows(2)
        .map(|pair| (pair[1].0 - pair[0].0) as f64)
        .collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    assert!((mean / 1e6 - 1.0).abs() < 0.02, "{mean}");
    // Of an exponential distribution e⁻¹ lies above the mean.
    let above = gaps.iter().filter(|gap| **gap > mean).count() as f64 / gaps.len() as f64;
    assert!((above - (-1.0_f64).exp()).abs() < 0.01, "{above}");
}

#[test]
fn a_series_pauses_after_the_answer() {
    let series = Series {
        count: 2,
        uncounted: 1,
        pause: Duration::from_millis(5),
    };
    let mut pace = Pace::new(&Load::Series(series), ALONE);
    assert_eq!(pace.due(0), Some(0));
    assert!(!pace.take(0).counted);
    pace.ended(3 * MS, false);
    assert_eq!(pace.due(3 * MS), Some(8 * MS));
    assert!(pace.take(8 * MS).counted);
    pace.ended(9 * MS, false);
    assert!(pace.take(14 * MS).counted);
    pace.ended(15 * MS, false);
    assert_eq!(pace.due(15 * MS), None);
}

#[test]
fn a_closed_loop_ends_by_time_and_knocks_slowly() {
    let load = Load::Closed(Closed {
        clients: 2,
        warm_up: Extent::Requests(1),
        counted: Extent::Time(Duration::from_millis(10)),
    });
    let mut pace = Pace::new(&load, ALONE);
    assert!(!pace.take(0).counted);
    // The counted part begins with its first request.
    assert!(pace.take(4 * MS).counted);
    assert_eq!(pace.due(13 * MS), Some(0));
    assert_eq!(pace.due(14 * MS), None);
    let mut pace = Pace::new(&load, ALONE);
    pace.take(0);
    pace.ended(MS, true);
    assert_eq!(pace.due(MS), Some(101 * MS));
}
