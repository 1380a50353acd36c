//! CloudWatch metrics of an endpoint, with the JSON protocol (`GetMetricStatistics`).

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::sagemaker::{AwsError, Call, Client, Repeat, Service};

const OPERATION: &str = "GetMetricStatistics";

/// More points are not given in one answer.
const MOST_POINTS: i64 = 1440;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// The time to start a serverless worker: the cold part of a cold start.
    ModelSetupTime,
    /// The time the container took, as seen by SageMaker.
    ModelLatency,
    /// What SageMaker added to it.
    OverheadLatency,
}

/// Which times are requested. CloudWatch shows a minute's figures some minutes later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub begin: Timestamp,
    /// Not included.
    pub end: Timestamp,
}

/// What CloudWatch kept of one minute.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    pub samples: f64,
    pub sum: f64,
    /// `Microseconds`, `None`, …
    pub unit: String,
}

impl Point {
    /// The sum as a time; `None` if its unit is not a time.
    pub fn time(&self) -> Option<Duration> {
        let seconds = match self.unit.as_str() {
            "Seconds" => self.sum,
            "Milliseconds" => self.sum / 1e3,
            "Microseconds" => self.sum / 1e6,
            _ => return None,
        };
        Duration::try_from_secs_f64(seconds).ok()
    }
}

impl Client {
    /// Empty where nothing was counted (yet).
    pub fn metric(
        &self,
        metric: Metric,
        endpoint: &str,
        variant: &str,
        window: &Window,
    ) -> Result<Vec<Point>, AwsError> {
        let mut points = Vec::new();
        for part in parts(window) {
            let body = body(metric, endpoint, variant, &part);
            let answer = self.call(&Call {
                service: Service::CloudWatch,
                operation: OPERATION,
                body: &body,
                repeat: Repeat::Faults,
            })?;
            points.extend(read(&answer)?);
        }
        Ok(points)
    }
}

fn body(metric: Metric, endpoint: &str, variant: &str, window: &Window) -> Value {
    // As AWS's JSON wants times.
    let seconds = |time: Timestamp| time.as_millisecond() as f64 / 1000.0;
    json!({
        "Namespace": "AWS/SageMaker",
        "MetricName": format!("{metric:?}"),
        "Dimensions": [
            { "Name": "EndpointName", "Value": endpoint },
            { "Name": "VariantName", "Value": variant },
        ],
        "StartTime": seconds(window.begin),
        "EndTime": seconds(window.end),
        "Period": 60,
        "Statistics": ["SampleCount", "Sum"],
    })
}

/// Windows that one answer each can hold.
fn parts(window: &Window) -> Vec<Window> {
    let step = SignedDuration::from_mins(MOST_POINTS);
    let mut parts = Vec::new();
    let mut begin = window.begin;
    while begin < window.end {
        let end = begin
            .saturating_add(step)
            .map_or(window.end, |end| end.min(window.end));
        parts.push(Window { begin, end });
        begin = end;
    }
    parts
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
        .ok_or_else(|| wrong("a data point has no value"))
}

fn point(value: &Value) -> Option<Point> {
    let number = |name: &str| value.get(name)?.as_f64();
    let unit = value.get("Unit").and_then(Value::as_str);
    Some(Point {
        samples: number("SampleCount")?,
        sum: number("Sum")?,
        unit: unit.unwrap_or("None").to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_read() {
        let answer = json!({ "Label": "ModelLatency", "Datapoints": [{
            "Timestamp": 1440938160, "SampleCount": 2.0, "Sum": 3_000_000.0, "Unit": "Microseconds"
        }]});
        let points = read(&answer).unwrap();
        assert_eq!(points[0].samples, 2.0);
        assert_eq!(points[0].time(), Some(Duration::from_secs(3)));
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
        assert_eq!(count.time(), None);
    }

    #[test]
    fn long_windows_are_parted() {
        let check = |end: &str, expected: usize| {
            let window = Window {
                begin: "2026-01-01T00:00:00Z".parse().unwrap(),
                end: end.parse().unwrap(),
            };
            let parts = parts(&window);
            assert_eq!(parts.len(), expected, "{end}");
            assert_eq!(parts[0].begin, window.begin);
            assert_eq!(parts[expected - 1].end, window.end);
            assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].begin));
        };
        check("2026-01-01T01:00:00Z", 1);
        check("2026-01-02T00:00:00Z", 1);
        check("2026-01-02T00:01:00Z", 2);
    }
}
