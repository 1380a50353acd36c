//! What was printed → what it will take and cost.

use cost::BillRequest;
use model::{Money, Price, Timestamp};
use predict::progress::eta::{Basis, Pace, Rest, Times};
use predict::progress::{Cutter, Given, Position, Scope, Tracker, recognise, recognise_begun};

use super::streams::Source;

pub(super) struct Forecaster {
    cutters: [Cutter; 3],
    tracker: Tracker,
    pace: Pace,
    position: Option<Position>,
    loss: Option<f64>,
    price: Option<Price>,
    started: Timestamp,
    has_news: bool,
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
    pub(super) fn new(given: Given, price: Option<Price>) -> Self {
        Forecaster {
            cutters: Default::default(),
            tracker: Tracker::new(given),
            pace: Pace::default(),
            position: None,
            loss: None,
            price,
            started: Timestamp::now(),
            has_news: false,
        }
    }

    pub(super) fn read(&mut self, source: Source, bytes: &[u8], seconds: f64) {
        let Self {
            cutters,
            tracker,
            pace,
            position,
            loss,
            has_news,
            ..
        } = self;
        let cutter = match source {
            Source::Terminal => &mut cutters[0],
            Source::Output => &mut cutters[1],
            Source::Errors => &mut cutters[2],
        };
        let mut observe = |observation: &predict::progress::Observation| {
            *loss = observation.loss.or(*loss);
            if let Some(found) = tracker.observe(observation) {
                pace.push(seconds, &found);
                *position = Some(found);
                *has_news = true;
            }
        };
        cutter.push(bytes, |update| {
            recognise(update).iter().for_each(&mut observe)
        });
        // A bar is drawn over later; it is complete now.
        recognise_begun(&cutter.begun()).iter().for_each(observe);
    }

    pub(super) fn has_news(&self) -> bool {
        self.has_news
    }

    pub(super) fn shown(&mut self) {
        self.has_news = false;
    }

    pub(super) fn forecast(&self, now: f64) -> Forecast {
        let rest = self.pace.rest();
        let times = rest.as_ref().map(|rest| rest.at(now));
        let of_run = times
            .as_ref()
            .filter(|_| self.position.is_some_and(|p| p.scope == Scope::Run));
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
            position: self.position,
            loss: self.loss,
            times,
            rest,
            cost,
        }
    }

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
        cost::bill(&request).bill.total
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
                .is_some_and(|rest| rest.is_known_to(precision))
    }
}
