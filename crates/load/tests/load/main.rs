//! Loads carried out against real servers on this machine. Times are not asserted, except as wide
//! bounds that a busy machine does not cross.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod failures;
mod https;
mod loops;
mod server;

use std::time::Duration;

use load::{Closed, Extent, Load, Options, Outcome, Request};

fn post(url: &str) -> Request {
    Request::post(url.parse().unwrap(), "text/plain", vec![b"hello".to_vec()])
}

fn closed(clients: usize, requests: u64) -> Load {
    Load::Closed(Closed {
        clients,
        warm_up: Extent::NONE,
        counted: Extent::Requests(requests),
    })
}

fn within(timeout: Duration) -> Options {
    Options {
        timeout,
        ..Options::default()
    }
}

/// A load whose requests must all be accounted for.
fn run(request: &Request, load: &Load, options: &Options) -> Outcome {
    let outcome = load::run(request, load, options).unwrap();
    let in_histograms = outcome.latency.count() + outcome.failed.count();
    assert_eq!(outcome.counts.total(), in_histograms);
    assert_eq!(outcome.counts.ok, outcome.service.count());
    outcome
}
