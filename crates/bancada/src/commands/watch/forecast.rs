//! What was printed → what it will take and cost.

use cost::BillRequest;
use model::EventKind;
use model::{Money, Price, Timestamp};
use predict::progress::eta::{Basis, KNOWN_AFTER_SECONDS, Rest, Times};
use predict::progress::{Follower, Given, OwnPatterns, Position, Scope};

use super::streams::Source;

pub(super) struct Forecaster {
    follower: Follower,
    price: Option<Price>,
    started: Timestamp,
}

/// What is known at a moment of the run.
#[derive(Debug, Clone)]
pub(super) struct Forecast {
    pub(super) seconds: f64,
    pub(super) position: Option<Position>,
    pub(super) loss: Option<f64>,
    rest: Option<Rest>,
    pub(super) times: Option<Times>,
    pub(super) cost: Option<Cost>,
}

#[derive(Debug, Clone)]
pub(super) struct Cost {
    pub(super) so_far: Money,
    pub(super) total: Option<TotalCost>,
}

#[derive(Debug, Clone)]
pub(super) struct TotalCost {
    pub(super) value: Money,
    /// From the ends of the interval of the time.
    pub(super) interval: Option<[Money; 2]>,
}

impl Forecaster {
    pub(super) fn new(given: Given, own: OwnPatterns, price: Option<Price>) -> Self {
        let follower = Follower::new(given, Source::COUNT, measure::thread_cpu_seconds);
        Forecaster {
            follower: follower.with_patterns(own),
            price,
            started: Timestamp::now(),
        }
    }

    pub(super) fn read(&mut self, source: Source, bytes: &[u8], seconds: f64) {
        self.follower.read(source as usize, bytes, seconds);
    }

    pub(super) fn emitted(&mut self, event: &EventKind, seconds: f64) {
        self.follower.emitted(event, seconds);
    }

    pub(super) fn has_news(&self) -> bool {
        self.follower.has_news()
    }

    pub(super) fn shown(&mut self) {
        self.follower.take_news();
    }

    pub(super) fn forecast(&self, now: f64) -> Forecast {
        let position = self.follower.position();
        let rest = self.follower.rest();
        let times = rest.as_ref().map(|rest| rest.at(now));
        let of_run = times
            .as_ref()
            .filter(|_| position.is_some_and(|p| p.scope == Scope::Run));
        let cost = self.price.as_ref().map(|price| Cost {
            so_far: self.bill(price, now),
            total: of_run.map(|times| {
                let total = &times.total_seconds;
                TotalCost {
                    value: self.bill(price, total.value),
                    interval: total
                        .interval
                        .map(|i| [i.low, i.high].map(|seconds| self.bill(price, seconds))),
                }
            }),
        });
        Forecast {
            seconds: now,
            position,
            loss: self.follower.loss(),
            times,
            rest,
            cost,
        }
    }

    /// A machine for this run alone: with what a rental adds, rounding and the minimum.
    fn bill(&self, price: &Price, seconds: f64) -> Money {
        let request = BillRequest {
            phases: &[],
            total_seconds: seconds,
            started: Some(self.started),
            requests: None,
            price,
            study_currency: price.per_hour.currency,
            rates: &[],
        };
        let mut rental = cost::Rental::new(price);
        rental.add(&request, 0.0);
        rental.total()
    }
}

impl Forecast {
    /// Of the whole run.
    pub(super) fn is_of_run(&self) -> bool {
        self.position
            .is_some_and(|position| position.scope == Scope::Run)
    }

    pub(super) fn basis(&self) -> Option<Basis> {
        self.rest.as_ref().map(|rest| rest.basis)
    }

    pub(super) fn is_known_to(&self, precision: f64) -> bool {
        self.is_of_run()
            && self
                .rest
                .as_ref()
                .is_some_and(|rest| rest.is_known_to(precision, KNOWN_AFTER_SECONDS))
    }
}
