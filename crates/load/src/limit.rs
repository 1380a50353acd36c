//! Was the client, not the server, what limited the figures?

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
            "{waited} of {total} requests waited for one of {} connections: the server is slower \
             than the rate asked for, or more connections are needed",
            open.max_connections
        )
    })
}

fn busy(outcome: &Outcome) -> Option<String> {
    let client = &outcome.client;
    (client.wanted_share() > BUSY).then(|| {
        format!(
            "the client computed {:.0} % of the time and waited for a core another {:.0} %: give it \
             more threads, or another machine",
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
            "1 % of the requests were sent {:.3} ms late or more, with a median latency of {:.3} ms: \
             the machine that sends is too busy for such short times",
            1e3 * late,
            1e3 * median
        )
    })
}
