//! Metrics of an endpoint's provider: set-up time of cold starts, and what it bills.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::sagemaker::{AwsError, Client, Metric, Point, VARIANT, Window};
use jiff::{SignedDuration, Timestamp};
use model::event::EventKind;
use model::run::metric;

use super::{LoadClient, wait};

/// It is asked so often within the time it has, but not oftener than makes sense.
const TRIES: u32 = 10;
const SHORTEST_BETWEEN: Duration = Duration::from_millis(100);
const LONGEST_BETWEEN: Duration = Duration::from_secs(30);

/// One endpoint's figures.
pub(crate) struct Figures<'a> {
    pub(crate) client: &'a Client,
    pub(crate) endpoint: &'a str,
    pub(crate) begin: Timestamp,
    pub(crate) end: Timestamp,
    /// How long they are waited for.
    pub(crate) patience: Duration,
    /// Whether its requests are what is paid for.
    pub(crate) bills_requests: bool,
}

/// Of all requests together.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sum {
    seconds: f64,
    samples: f64,
}

impl Sum {
    fn mean_seconds(self) -> f64 {
        self.seconds / self.samples
    }
}

impl Figures<'_> {
    /// `None` if nothing was counted (yet).
    fn sum(&self, metric: Metric) -> Result<Option<Sum>, AwsError> {
        // Its minutes begin before the first request, and end after the last.
        let minute = SignedDuration::from_mins(1);
        let window = Window {
            begin: self.begin.saturating_sub(minute).unwrap_or(self.begin),
            end: self.end.saturating_add(minute).unwrap_or(self.end),
        };
        let points = self
            .client
            .metric(metric, self.endpoint, VARIANT, &window)?;
        let times = points.iter().filter_map(Point::time);
        let sum = Sum {
            seconds: times.map(|time| time.as_secs_f64()).sum(),
            samples: points.iter().map(|point| point.samples).sum(),
        };
        Ok(Some(sum).filter(|sum| sum.samples > 0.0))
    }
}

impl LoadClient<'_, '_, '_> {
    /// Minutes are shown one after the other: only when all `answers` are in is it the whole.
    pub(crate) fn report_figures(&mut self, figures: &Figures<'_>, answers: u64) {
        let begin = Instant::now();
        let between = (figures.patience / TRIES).clamp(SHORTEST_BETWEEN, LONGEST_BETWEEN);
        let seen = loop {
            let seen = figures.sum(Metric::ModelLatency);
            let is_all = matches!(&seen, Ok(Some(sum)) if sum.samples >= answers as f64);
            let is_late = begin.elapsed() >= figures.patience;
            if is_all || is_late || self.context.stop.load(Ordering::Relaxed) {
                break seen;
            }
            wait::pause(between, self.context.stop);
        };
        match seen {
            Ok(Some(latency)) => {
                self.report_sums(figures, latency);
                if latency.samples < answers as f64 {
                    self.note(format!(
                        "CloudWatch has {} of {answers} requests: `figures` sets how long to wait for it",
                        latency.samples
                    ));
                } else if figures.bills_requests {
                    // A part of the requests is no bill: then the time that the client saw is.
                    self.metric(metric::BILLED_SECONDS, latency.seconds, "s");
                }
            }
            Ok(None) => self.note(
                "CloudWatch has no metrics of this endpoint: `figures` sets how long to wait for them"
                    .to_owned(),
            ),
            Err(error) => self.note(format!("CloudWatch's metrics could not be read: {error}")),
        }
    }

    fn report_sums(&mut self, figures: &Figures<'_>, latency: Sum) {
        let each = latency.mean_seconds();
        self.metric(metric::CONTAINER_SECONDS, each, "s");
        if figures.bills_requests {
            self.metric(metric::BILLED_SECONDS_PER_REQUEST, each, "s");
        }
        if let Ok(Some(overhead)) = figures.sum(Metric::OverheadLatency) {
            self.metric(metric::OVERHEAD_SECONDS, overhead.mean_seconds(), "s");
        }
        if let Ok(Some(setup)) = figures.sum(Metric::ModelSetupTime) {
            self.metric(metric::SETUP_SECONDS, setup.mean_seconds(), "s");
            self.metric(metric::COLD_REQUESTS, setup.samples, "");
        }
    }

    fn note(&mut self, text: String) {
        (self.context.emit)(EventKind::Note { text }, None);
    }
}
