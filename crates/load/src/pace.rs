//! When the next request is due.

use std::time::Duration;

use seeded::SplitMix64;

use crate::load::{Arrivals, Extent, Load};

/// Nanoseconds since the load began.
pub(crate) type Nanos = u64;

pub(crate) fn nanos(duration: Duration) -> Nanos {
    duration.as_nanos().min(u128::from(u64::MAX / 4)) as Nanos
}

/// One of the threads that share a load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    pub(crate) thread: u64,
    pub(crate) threads: u64,
}

impl Share {
    /// This thread's part of a number.
    pub(crate) fn of(self, number: u64) -> u64 {
        number / self.threads + u64::from(self.thread < number % self.threads)
    }
}

/// A request that is to be sent now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticket {
    /// Over all threads.
    pub(crate) index: u64,
    pub(crate) intended: Nanos,
    pub(crate) counted: bool,
}

pub(crate) struct Pace {
    share: Share,
    /// Requests taken by this thread.
    taken: u64,
    span: Span,
    rhythm: Rhythm,
}

enum Rhythm {
    /// As soon as a client is free, not before this time.
    Free { not_before: Nanos, pause: Nanos },
    /// The time of the next arrival, if there is one.
    Timed { times: Times, next: Option<Nanos> },
}

impl Pace {
    pub(crate) fn new(load: &Load, share: Share) -> Self {
        let span = |warm_up, counted| Span::new(warm_up, counted, share);
        let (span, rhythm) = match load {
            Load::Series(series) => (
                span(
                    Extent::Requests(series.uncounted),
                    Extent::Requests(series.count),
                ),
                Rhythm::Free {
                    not_before: 0,
                    pause: nanos(series.pause),
                },
            ),
            Load::Closed(closed) => (
                span(closed.warm_up, closed.counted),
                Rhythm::Free {
                    not_before: 0,
                    pause: 0,
                },
            ),
            Load::Open(open) => {
                let mut times = arrival_times(&open.arrivals, share);
                let next = times.next();
                (
                    span(open.warm_up, open.counted),
                    Rhythm::Timed { times, next },
                )
            }
        };
        Pace {
            share,
            taken: 0,
            span,
            rhythm,
        }
    }

    /// When the next request is due, `None` when there will be no more.
    pub(crate) fn due(&self, now: Nanos) -> Option<Nanos> {
        match &self.rhythm {
            Rhythm::Free { not_before, .. } => {
                let due = (*not_before).max(now);
                (!self.span.over(due)).then_some(*not_before)
            }
            Rhythm::Timed { next, .. } => next.filter(|next| !self.span.over(*next)),
        }
    }

    /// Takes the request that is due.
    pub(crate) fn take(&mut self, now: Nanos) -> Ticket {
        let intended = match &mut self.rhythm {
            Rhythm::Free { .. } => now,
            Rhythm::Timed { times, next } => {
                let intended = next.unwrap_or(now);
                *next = times.next();
                intended
            }
        };
        let index = self.taken * self.share.threads + self.share.thread;
        self.taken += 1;
        Ticket {
            index,
            intended,
            counted: self.span.admit(intended),
        }
    }

    /// A request ended; after a refusal a closed loop waits, else it would do nothing but knock.
    pub(crate) fn ended(&mut self, now: Nanos, refused: bool) {
        const AFTER_REFUSAL: Nanos = 100_000_000;
        if let Rhythm::Free { not_before, pause } = &mut self.rhythm {
            let least = if refused { AFTER_REFUSAL } else { 0 };
            let wait = (*pause).max(least);
            if wait > 0 {
                *not_before = now + wait;
            }
        }
    }

    /// Whether requests have times of their own, from which latency counts.
    pub(crate) fn is_timed(&self) -> bool {
        matches!(self.rhythm, Rhythm::Timed { .. })
    }
}

/// The part that is not counted, then the part that is.
struct Span {
    warm_up: Left,
    counted: Left,
}

#[derive(Clone, Copy)]
enum Left {
    Requests(u64),
    /// Its length, and its end once the part has begun.
    Time {
        length: Nanos,
        end: Option<Nanos>,
    },
}

impl Left {
    fn new(extent: Extent, share: Share) -> Self {
        match extent {
            Extent::Requests(number) => Left::Requests(share.of(number)),
            Extent::Time(length) => Left::Time {
                length: nanos(length),
                end: None,
            },
        }
    }

    fn over(&self, at: Nanos) -> bool {
        match *self {
            Left::Requests(left) => left == 0,
            Left::Time { length, end } => match end {
                Some(end) => at >= end,
                None => length == 0,
            },
        }
    }

    fn admit(&mut self, at: Nanos) {
        match self {
            Left::Requests(left) => *left = left.saturating_sub(1),
            Left::Time { length, end } => {
                end.get_or_insert(at + *length);
            }
        }
    }
}

impl Span {
    fn new(warm_up: Extent, counted: Extent, share: Share) -> Self {
        Span {
            warm_up: Left::new(warm_up, share),
            counted: Left::new(counted, share),
        }
    }

    fn over(&self, at: Nanos) -> bool {
        self.warm_up.over(at) && self.counted.over(at)
    }

    /// Whether the request at that time counts.
    fn admit(&mut self, at: Nanos) -> bool {
        let counts = self.warm_up.over(at);
        let part = if counts {
            &mut self.counted
        } else {
            &mut self.warm_up
        };
        part.admit(at);
        counts
    }
}

type Times = Box<dyn Iterator<Item = Nanos>>;

/// Times of arrivals. Every thread goes through all of them and takes its own.
fn arrival_times(arrivals: &Arrivals, share: Share) -> Times {
    let all: Times = match arrivals {
        Arrivals::Constant { per_second } => {
            let gap = 1e9 / per_second;
            // From the index, not by adding up: errors would add up too.
            Box::new((0_u64..).map(move |index| (gap * index as f64) as Nanos))
        }
        Arrivals::Poisson { per_second, seed } => {
            let gap = 1e9 / per_second;
            let mut random = SplitMix64::new(*seed);
            let mut at = 0.0;
            Box::new(std::iter::repeat_with(move || {
                at += gap * exponential(&mut random);
                at as Nanos
            }))
        }
        Arrivals::Trace(times) => Box::new(times.clone().into_iter().map(nanos)),
    };
    let (thread, threads) = (share.thread as usize, share.threads as usize);
    Box::new(all.skip(thread).step_by(threads))
}

/// A number drawn from the exponential distribution of mean one, by inversion.
fn exponential(random: &mut SplitMix64) -> f64 {
    // 53 bits make every double in [0, 1) possible; one minus it is never zero.
    let uniform = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    -(1.0 - uniform).ln()
}

#[cfg(test)]
#[path = "pace_tests.rs"]
mod tests;
