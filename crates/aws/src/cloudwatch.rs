//! CloudWatch metrics of an endpoint, with the JSON protocol (`GetMetricStatistics`).

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::time::{seconds_of, time_of};
use crate::{AwsError, Call, Client, Repeat, Service};

const OPERATION: &str = "GetMetricStatistics";

/// More points are not given in one answer.
const MOST_POINTS: u32 = 1440;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// The time to start a serverless worker: the cold part of a cold start.
    ModelSetupTime,
    /// The time the container took, as seen by SageMaker.
    ModelLatency,
    /// What SageMaker added to it.
    OverheadLatency,
    Invocations,
}

impl Metric {
    pub const ALL: [Metric; 4] = [
        Metric::ModelSetupTime,
        Metric::ModelLatency,
        Metric::OverheadLatency,
        Metric::Invocations,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Metric::ModelSetupTime => "ModelSetupTime",
            Metric::ModelLatency => "ModelLatency",
            Metric::OverheadLatency => "OverheadLatency",
            Metric::Invocations => "Invocations",
        }
    }
}

/// Which times are requested. CloudWatch shows a minute's figures some minutes later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub begin: Timestamp,
    /// Not included.
    pub end: Timestamp,
    /// One point for each; whole minutes.
    pub period_minutes: u32,
}

/// What CloudWatch kept of one period.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    pub time: Timestamp,
    pub samples: f64,
    pub sum: f64,
    pub minimum: f64,
    pub maximum: f64,
    /// `Microseconds`, `None`, …
    pub unit: String,
}

impl Point {
    pub fn mean(&self) -> f64 {
        self.sum / self.samples
    }

    /// A figure of this point as a time; `None` if its unit is no time.
    pub fn as_time(&self, figure: f64) -> Option<Duration> {
        let seconds = match self.unit.as_str() {
            "Seconds" => figure,
            "Milliseconds" => figure / 1e3,
            "Microseconds" => figure / 1e6,
            _ => return None,
        };
        Duration::try_from_secs_f64(seconds).ok()
    }
}

impl Client {
    /// In the order of time; empty where nothing was counted (yet).
    pub fn metric(
        &self,
        metric: Metric,
        endpoint: &str,
        variant: &str,
        window: &Window,
    ) -> Result<Vec<Point>, AwsError> {
        let mut points = Vec::new();
        for part in parts(window)? {
            let body = body(metric, endpoint, variant, &part);
            let answer = self.call(&Call {
                service: Service::CloudWatch,
                operation: OPERATION,
                body: &body,
                repeat: Repeat::Faults,
            })?;
            points.extend(read(&answer)?);
        }
        points.sort_by_key(|point| point.time);
        Ok(points)
    }
}

fn body(metric: Metric, endpoint: &str, variant: &str, window: &Window) -> Value {
    json!({
        "Namespace": "AWS/SageMaker",
        "MetricName": metric.name(),
        "Dimensions": [
            { "Name": "EndpointName", "Value": endpoint },
            { "Name": "VariantName", "Value": variant },
        ],
        "StartTime": seconds_of(window.begin),
        "EndTime": seconds_of(window.end),
        "Period": window.period_minutes * 60,
        "Statistics": ["SampleCount", "Sum", "Minimum", "Maximum"],
    })
}

/// Windows that one answer each can hold.
fn parts(window: &Window) -> Result<Vec<Window>, AwsError> {
    let wrong = |why: &str| AwsError::Spec {
        mistakes: vec![why.to_owned()],
    };
    if !(1..=1440).contains(&window.period_minutes) {
        return Err(wrong("the period of metrics must be 1 minute to 1 day"));
    }
    if window.begin >= window.end {
        return Err(wrong("the requested metrics end before they begin"));
    }
    let step = SignedDuration::from_mins(i64::from(window.period_minutes * MOST_POINTS));
    let mut parts = Vec::new();
    let mut begin = window.begin;
    while begin < window.end {
        let end = begin
            .saturating_add(step)
            .map_or(window.end, |end| end.min(window.end));
        parts.push(Window {
            begin,
            end,
            ..*window
        });
        begin = end;
    }
    Ok(parts)
}

fn read(answer: &Value) -> Result<Vec<Point>, AwsError> {
    let wrong = |problem: &str| AwsError::Answer {
        asked: OPERATION.to_owned(),
        problem: problem.to_owned(),
    };
    let points = answer.get("Datapoints").and_then(Value::as_array);
    let points = points.ok_or_else(|| wrong("it has no Datapoints"))?;
    let read = points.iter().map(point);
    read.collect::<Option<_>>()
        .ok_or_else(|| wrong("a data point has no time or no value"))
}

fn point(value: &Value) -> Option<Point> {
    let number = |name: &str| value.get(name)?.as_f64();
    let unit = value.get("Unit").and_then(Value::as_str);
    Some(Point {
        time: time_of(value.get("Timestamp")?)?,
        samples: number("SampleCount")?,
        sum: number("Sum")?,
        minimum: number("Minimum")?,
        maximum: number("Maximum")?,
        unit: unit.unwrap_or("None").to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(begin: &str, end: &str, period_minutes: u32) -> Window {
        Window {
            begin: begin.parse().unwrap(),
            end: end.parse().unwrap(),
            period_minutes,
        }
    }

    #[test]
    fn points_are_read() {
        let answer = json!({ "Label": "ModelLatency", "Datapoints": [{
            "Timestamp": 1440938160, "SampleCount": 2.0, "Sum": 3_000_000.0, "Minimum": 1_000_000,
            "Maximum": 2_000_000.0, "Unit": "Microseconds"
        }]});
        let points = read(&answer).unwrap();
        assert_eq!(points[0].mean(), 1_500_000.0);
        assert_eq!(
            points[0].as_time(points[0].maximum),
            Some(Duration::from_secs(2))
        );
        assert_eq!(points[0].time.to_string(), "2015-08-30T12:36:00Z");
        assert!(read(&json!({ "Datapoints": [] })).unwrap().is_empty());
        for wrong in [
            json!({}),
            json!({ "Datapoints": [{}] }),
            json!({ "Datapoints": 1 }),
        ] {
            assert!(read(&wrong).is_err(), "{wrong}");
        }
        let count = Point {
            unit: "None".to_owned(),
            ..points[0].clone()
        };
        assert_eq!(count.as_time(1.0), None);
    }

    #[test]
    fn long_windows_are_parted() {
        let check = |window: &Window, expected: usize| {
            let parts = parts(window).unwrap();
            assert_eq!(parts.len(), expected);
            assert_eq!(parts[0].begin, window.begin);
            assert_eq!(parts[expected - 1].end, window.end);
            assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].begin));
        };
        check(
            &window("2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z", 1),
            1,
        );
        check(
            &window("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", 1),
            1,
        );
        check(
            &window("2026-01-01T00:00:00Z", "2026-01-02T00:01:00Z", 1),
            2,
        );
        check(
            &window("2026-01-01T00:00:00Z", "2026-01-11T00:00:00Z", 5),
            2,
        );
        assert!(parts(&window("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", 1)).is_err());
        assert!(parts(&window("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", 0)).is_err());
    }
}
