//! Was the client, not the server, the bottleneck?

use crate::load::Load;
use crate::outcome::Outcome;

/// A thread that has something to do for more than this share of the time could hardly have sent more.
const BUSY: f64 = 0.9;
/// Sends may be late by this share of the median latency before they distort it.
const LATE: f64 = 0.1;
/// Requests that may wait for a connection before it is said.
const WAITED: f64 = 0.01;

/// A sentence when it was, with what to do about it.
pub(crate) fn client_limited(outcome: &Outcome, load: &Load) -> Option<String> {
    waited(outcome, load)
        .or_else(|| busy(outcome))
        .or_else(|| late(outcome))
}

fn waited(outcome: &Outcome, load: &Load) -> Option<String> {
    let Load::Open(open) = load else { return None };
    let waited = outcome.connections.waited;
    let total = outcome.counts.total();
    (waited as f64 > WAITED * total as f64).then(|| {
        format!(
            "{waited} of {total} requests waited for one of {} connections: the server is slower than the requested rate, or more connections are needed",
            open.max_connections
        )
    })
}

fn busy(outcome: &Outcome) -> Option<String> {
    let client = &outcome.client;
    (client.wanted_share() > BUSY).then(|| {
        format!(
            "the client was computing {:.0} % of the time and waiting for a core {:.0} %: give it more threads, or run it on a different machine",
            100.0 * client.busy_share,
            100.0 * client.queued_share
        )
    })
}

fn late(outcome: &Outcome) -> Option<String> {
    let late = outcome.late.quantile(0.99)?.seconds;
    let median = outcome.latency.quantile(0.5)?.seconds;
    (late > LATE * median).then(|| {
        format!(
            "1 % of the requests were sent at least {:.3} ms late, with a median latency of {:.3} ms: the sending machine is too busy for such short times",
            1e3 * late,
            1e3 * median
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arrivals, Client, Closed, Counts, Extent, Open, Times};

    const MS: u64 = 1_000_000;

    fn times(nanos: u64) -> Times {
        let mut times = Times::default();
        (0..100).for_each(|_| times.record_nanos(nanos));
        times
    }

    fn outcome() -> Outcome {
        Outcome {
            counts: Counts {
                ok: 100,
                ..Counts::default()
            },
            latency: times(8 * MS),
            client: Client {
                threads: 1,
                busy_share: 0.3,
                queued_share: 0.1,
            },
            ..Outcome::default()
        }
    }

    fn open() -> Load {
        Load::Open(Open {
            arrivals: Arrivals::Constant { per_second: 1.0 },
            warm_up: Extent::NONE,
            counted: Extent::Requests(1),
            max_connections: 7,
        })
    }

    fn check(change: impl FnOnce(&mut Outcome), expected: Option<&str>) {
        let mut outcome = outcome();
        change(&mut outcome);
        let said = client_limited(&outcome, &open());
        match (said, expected) {
            (None, None) => {}
            (Some(said), Some(part)) => assert!(said.contains(part), "{said}"),
            (said, expected) => panic!("{said:?}, not {expected:?}"),
        }
    }

    #[test]
    fn an_easy_load_is_not_limited() {
        check(|_| (), None);
        check(|easy| easy.late = times(MS / 2), None);
        check(|nothing| *nothing = Outcome::default(), None);
    }

    #[test]
    fn each_limit_is_said() {
        check(|busy| busy.client.busy_share = 0.95, Some("computing 95 %"));
        let starved = |starved: &mut Outcome| {
            starved.client.busy_share = 0.4;
            starved.client.queued_share = 0.55;
        };
        check(starved, Some("waiting for a core 55 %"));
        let late = "sent at least 1.000 ms late";
        check(|outcome| outcome.late = times(MS), Some(late));
        let waited = "2 of 100 requests waited for one of 7 connections";
        check(|outcome| outcome.connections.waited = 2, Some(waited));
    }

    #[test]
    fn clients_of_a_closed_loop_do_not_wait_for_connections() {
        let mut outcome = outcome();
        outcome.connections.waited = 50;
        let closed = Load::Closed(Closed {
            clients: 1,
            warm_up: Extent::NONE,
            counted: Extent::Requests(1),
        });
        assert_eq!(client_limited(&outcome, &closed), None);
    }
}
