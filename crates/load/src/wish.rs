//! Builds loads from command-line options.

use std::time::Duration;

use crate::load::{Arrivals, Closed, Extent, Load, Open, Series};
use crate::search::Trials;

/// Of what counts.
const WARM_UP_SHARE: f64 = 0.1;

/// What is said of a load beside its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadWish {
    /// So many count; `None` means what the time, the series or the trace gives.
    pub requests: Option<u64>,
    /// How long requests count where their number is not given.
    pub counted: Duration,
    /// Before that; `None` means a tenth of what counts.
    pub warm_up: Option<Duration>,
    /// Of an open loop.
    pub max_connections: usize,
}

impl LoadWish {
    /// None keeps the series' own pause.
    pub fn series(&self, own: Series, pause: Option<Duration>) -> Load {
        Load::Series(Series {
            count: self.requests.unwrap_or(own.count),
            pause: pause.unwrap_or(own.pause),
            ..own
        })
    }

    pub fn closed(&self, clients: usize) -> Load {
        Load::Closed(Closed {
            clients,
            warm_up: self.warm_up(),
            counted: self.counted(),
        })
    }

    /// Of a trace, all counts: what came first is part of what was recorded.
    pub fn open(&self, arrivals: Arrivals) -> Load {
        let (warm_up, counted) = match &arrivals {
            Arrivals::Trace(times) => {
                let all = times.len() as u64;
                (Extent::NONE, Extent::Requests(self.requests.unwrap_or(all)))
            }
            _ => (self.warm_up(), self.counted()),
        };
        Load::Open(Open {
            arrivals,
            warm_up,
            counted,
            max_connections: self.max_connections,
        })
    }

    /// Of a search; a seed has requests come as independent users do.
    pub fn trials(&self, seed: Option<u64>) -> Trials {
        Trials {
            seed,
            warm_up: self.warm_up_time(),
            counted: self.counted,
            max_connections: self.max_connections,
        }
    }

    fn counted(&self) -> Extent {
        self.requests
            .map_or(Extent::Time(self.counted), Extent::Requests)
    }

    fn warm_up(&self) -> Extent {
        match (self.warm_up, self.requests) {
            (None, Some(requests)) => {
                Extent::Requests((requests as f64 * WARM_UP_SHARE).ceil() as u64)
            }
            _ => Extent::Time(self.warm_up_time()),
        }
    }

    fn warm_up_time(&self) -> Duration {
        // A share of a time that fits always fits.
        self.warm_up
            .unwrap_or_else(|| self.counted.mul_f64(WARM_UP_SHARE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WISH: LoadWish = LoadWish {
        requests: None,
        counted: Duration::from_secs(10),
        warm_up: None,
        max_connections: 7,
    };

    #[test]
    fn a_tenth_comes_before_what_counts() {
        let check = |wish: LoadWish, warm_up, counted| {
            let expected = Closed {
                clients: 3,
                warm_up,
                counted,
            };
            assert_eq!(wish.closed(3), Load::Closed(expected));
        };
        let seconds = |seconds| Extent::Time(Duration::from_secs(seconds));
        check(WISH, seconds(1), seconds(10));
        let some = LoadWish {
            requests: Some(25),
            ..WISH
        };
        check(some, Extent::Requests(3), Extent::Requests(25));
        let said = LoadWish {
            warm_up: Some(Duration::from_secs(4)),
            ..some
        };
        check(said, seconds(4), Extent::Requests(25));
        assert_eq!(WISH.trials(None).warm_up, Duration::from_secs(1));
    }

    #[test]
    fn a_trace_counts_from_its_first_request() {
        let times = vec![Duration::ZERO, Duration::from_secs(1)];
        let check = |wish: LoadWish, counted| {
            let Load::Open(open) = wish.open(Arrivals::Trace(times.clone())) else {
                panic!("a trace is an open loop");
            };
            assert_eq!((open.warm_up, open.counted), (Extent::NONE, counted));
        };
        check(WISH, Extent::Requests(2));
        let one = LoadWish {
            requests: Some(1),
            ..WISH
        };
        check(one, Extent::Requests(1));
    }
}
