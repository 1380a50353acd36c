//! Shapes of load: when requests are sent.

use std::time::Duration;

use crate::LoadError;

/// The shape of a load.
#[derive(Debug, Clone, PartialEq)]
pub enum Load {
    /// One client, one request after the other, with pauses.
    Series(Series),
    /// Some clients, each sending as soon as it has its answer: asks what a server can do at most.
    Closed(Closed),
    /// Requests come at their times, whether earlier ones are answered or not: asks what users feel.
    Open(Open),
}

/// `uncounted` requests, then `count`, each `pause` after the answer before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Series {
    pub count: u64,
    pub uncounted: u64,
    pub pause: Duration,
}

impl Series {
    /// One request not counted, then 25 in series, 5 s apart.
    pub fn warm() -> Self {
        Series {
            uncounted: 1,
            ..Series::real_time()
        }
    }

    /// 10 requests 15 min apart, so that the worker is gone each time.
    pub fn cold() -> Self {
        Series {
            count: 10,
            uncounted: 0,
            pause: Duration::from_secs(15 * 60),
        }
    }

    /// 25 in series, 5 s apart, all counted.
    pub fn real_time() -> Self {
        Series {
            count: 25,
            uncounted: 0,
            pause: Duration::from_secs(5),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed {
    pub clients: usize,
    /// Sent first and not counted.
    pub warm_up: Extent,
    pub counted: Extent,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Open {
    pub arrivals: Arrivals,
    /// Sent first and not counted.
    pub warm_up: Extent,
    pub counted: Extent,
    /// A request whose time has come waits when all of these are busy, and its waiting counts.
    pub max_connections: usize,
}

/// How long a part of a load goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    Requests(u64),
    Time(Duration),
}

impl Extent {
    pub const NONE: Extent = Extent::Requests(0);

    pub(crate) fn is_none(self) -> bool {
        matches!(self, Extent::Requests(0) | Extent::Time(Duration::ZERO))
    }
}

/// When the requests of an open loop are to be sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrivals {
    /// Evenly spaced.
    Constant { per_second: f64 },
    /// As independent users come: gaps of exponential length, the same for the same seed.
    Poisson { per_second: f64, seed: u64 },
    /// As recorded: times from the beginning, in growing order.
    Trace(Vec<Duration>),
}

impl Load {
    /// Says in a sentence what of this load makes no sense.
    pub(crate) fn check(&self) -> Result<(), LoadError> {
        let wrong = match self {
            Load::Series(series) => (series.count == 0).then_some("a series of no requests"),
            Load::Closed(closed) if closed.clients == 0 => Some("a closed loop without clients"),
            Load::Closed(closed) => nothing_counted(closed.counted),
            Load::Open(open) if open.max_connections == 0 => {
                Some("an open loop without connections")
            }
            Load::Open(open) => nothing_counted(open.counted).or(wrong_arrivals(&open.arrivals)),
        };
        if let (None, Some((asked, has))) = (wrong, self.beyond_trace()) {
            return Err(LoadError::Plan(format!(
                "{asked} requests were requested, but the trace has {has}: request fewer, or use a longer trace"
            )));
        }
        match wrong {
            Some(what) => Err(LoadError::Plan(format!("invalid load: {what}"))),
            None => Ok(()),
        }
    }

    /// The requests that are asked of a trace, and those it has, where these are fewer.
    fn beyond_trace(&self) -> Option<(u64, u64)> {
        let Load::Open(open) = self else { return None };
        let (Arrivals::Trace(times), Extent::Requests(asked)) = (&open.arrivals, open.counted)
        else {
            return None;
        };
        let before = match open.warm_up {
            Extent::Requests(before) => before,
            Extent::Time(_) => 0,
        };
        let (asked, has) = (asked.saturating_add(before), times.len() as u64);
        (asked > has).then_some((asked, has))
    }

    /// Connections that this load may have open at once.
    pub(crate) fn connections(&self) -> usize {
        match self {
            Load::Series(_) => 1,
            Load::Closed(closed) => closed.clients,
            Load::Open(open) => open.max_connections,
        }
    }
}

fn nothing_counted(extent: Extent) -> Option<&'static str> {
    extent.is_none().then_some("all requests would be warm-up")
}

/// More than this program sends; keeping its list of what is late would take for ever.
const MOST_PER_SECOND: f64 = 1e6;

fn wrong_arrivals(arrivals: &Arrivals) -> Option<&'static str> {
    match arrivals {
        Arrivals::Constant { per_second } | Arrivals::Poisson { per_second, .. } => {
            let sound = per_second.is_finite() && *per_second > 0.0;
            let wrong = (!sound).then_some("an open loop whose rate is not above zero");
            wrong.or((*per_second > MOST_PER_SECOND)
                .then_some("an open loop of more than a million requests per second"))
        }
        Arrivals::Trace(times) if times.is_empty() => Some("a trace without requests"),
        Arrivals::Trace(times) => (!times.is_sorted()).then_some("a trace whose times decrease"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_protocols_are_as_published() {
        let warm = Series::warm();
        assert_eq!(
            (warm.uncounted, warm.count, warm.pause.as_secs()),
            (1, 25, 5)
        );
        let cold = Series::cold();
        assert_eq!(
            (cold.uncounted, cold.count, cold.pause.as_secs()),
            (0, 10, 900)
        );
    }

    fn check(load: Load, expected: &str) {
        let error = load.check().expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn senseless_loads_are_refused() {
        let open = |arrivals| {
            Load::Open(Open {
                arrivals,
                warm_up: Extent::NONE,
                counted: Extent::Requests(1),
                max_connections: 1,
            })
        };
        for per_second in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            check(open(Arrivals::Constant { per_second }), "above zero");
            check(
                open(Arrivals::Poisson {
                    per_second,
                    seed: 1,
                }),
                "above zero",
            );
        }
        check(
            open(Arrivals::Constant { per_second: 1e9 }),
            "more than a million",
        );
        let ms = Duration::from_millis;
        check(open(Arrivals::Trace(vec![])), "without requests");
        check(open(Arrivals::Trace(vec![ms(2), ms(1)])), "times decrease");
        let long = Load::Open(Open {
            arrivals: Arrivals::Trace(vec![ms(1), ms(2)]),
            warm_up: Extent::NONE,
            counted: Extent::Requests(3),
            max_connections: 1,
        });
        check(long, "3 requests were requested, but the trace has 2");
        check(
            Load::Series(Series {
                count: 0,
                ..Series::warm()
            }),
            "no requests",
        );
        let closed = Closed {
            clients: 0,
            warm_up: Extent::NONE,
            counted: Extent::Requests(1),
        };
        check(Load::Closed(closed), "without clients");
        let nothing = Closed {
            clients: 1,
            counted: Extent::Time(Duration::ZERO),
            ..closed
        };
        check(Load::Closed(nothing), "would be warm-up");
    }
}
