//! Rows of one run to the run's numbers.

use std::collections::BTreeMap;

use model::run::metric;
use model::{Epoch, Metric};

use crate::rows::Row;
use crate::units;
use crate::{ImportSpec, RowKind};

pub(crate) const REQUESTS: &str = "requests";
pub(crate) const FAILED_REQUESTS: &str = "failed_requests";
pub(crate) const STEPS: &str = "steps";
/// A metric of this name says which epoch a step is of.
pub(crate) const EPOCH: &str = "epoch";
/// A metric of this name says how many images a step worked on.
pub(crate) const IMAGES: &str = "images";

pub(crate) type Metrics = BTreeMap<String, Metric>;

/// One row a run: its numbers as they are. Requests: means, and quantiles of what is in seconds.
/// Steps: the median time, the last loss and accuracy, the mean of the rest.
pub(crate) fn metrics(rows: &[Row], spec: &ImportSpec) -> Metrics {
    let columns = Columns { rows, spec };
    match spec.row {
        RowKind::Run => columns.each(|values, _| values.last().copied()),
        RowKind::Request => requests(rows, spec),
        RowKind::Step => steps(&columns),
    }
}

fn requests(rows: &[Row], spec: &ImportSpec) -> Metrics {
    let answered: Vec<Row> = rows
        .iter()
        .filter(|r| r.status.status == model::Status::Ok)
        .cloned()
        .collect();
    let columns = Columns {
        rows: &answered,
        spec,
    };
    let mut metrics = columns.each(|values, _| mean(values));
    for (place, column) in spec.metrics.iter().enumerate() {
        if units::conversion(&column.unit).unit != "s" {
            continue;
        }
        let mut values = columns.values(place);
        values.sort_by(f64::total_cmp);
        for (name, share) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)] {
            if let Some(value) = quantile(&values, share) {
                metrics.insert(quantile_name(&column.metric, name), seconds(value));
            }
        }
    }
    metrics.insert(REQUESTS.to_owned(), count(rows.len()));
    if answered.len() < rows.len() {
        metrics.insert(
            FAILED_REQUESTS.to_owned(),
            count(rows.len() - answered.len()),
        );
    }
    metrics
}

fn steps(columns: &Columns<'_>) -> Metrics {
    let mut metrics = columns.each(|values, name| match name {
        metric::STEP_SECONDS => {
            let mut sorted = values.to_vec();
            sorted.sort_by(f64::total_cmp);
            quantile(&sorted, 0.5)
        }
        metric::LOSS | metric::ACCURACY => values.last().copied(),
        EPOCH => None,
        IMAGES => Some(values.iter().sum()),
        _ => mean(values),
    });
    metrics.insert(STEPS.to_owned(), count(columns.rows.len()));
    let total: f64 = columns.named(metric::STEP_SECONDS).iter().sum();
    if total > 0.0 {
        metrics
            .entry(metric::TRAIN_SECONDS.to_owned())
            .or_insert_with(|| seconds(total));
        if let Some(images) = metrics.get(IMAGES) {
            let speed = Metric {
                value: images.value / total,
                unit: "1/s".to_owned(),
            };
            metrics
                .entry(metric::IMAGES_PER_SECOND.to_owned())
                .or_insert(speed);
        }
    }
    metrics
}

/// For steps that say which epoch they are of.
pub(crate) fn epochs(rows: &[Row], spec: &ImportSpec) -> Vec<Epoch> {
    let place = |name: &str| spec.metrics.iter().position(|m| m.metric == name);
    let Some(epoch) = place(EPOCH).filter(|_| spec.row == RowKind::Step) else {
        return Vec::new();
    };
    let value = |row: &Row, name: &str| {
        place(name).and_then(|place| row.metrics.get(place).copied().flatten())
    };
    let mut epochs: BTreeMap<u32, Epoch> = BTreeMap::new();
    for row in rows {
        let number = row.metrics.get(epoch).copied().flatten();
        let Some(number) = number.filter(|n| (0.0..=1e9).contains(n)).map(|n| n as u32) else {
            continue;
        };
        let told = epochs.entry(number).or_insert(Epoch {
            epoch: number,
            loss: None,
            accuracy: None,
            seconds: None,
        });
        told.loss = value(row, metric::LOSS).or(told.loss);
        told.accuracy = value(row, metric::ACCURACY)
            .map(|percent| percent / 100.0)
            .or(told.accuracy);
        if let Some(step) = value(row, metric::STEP_SECONDS) {
            told.seconds = Some(told.seconds.unwrap_or(0.0) + step);
        }
    }
    epochs.into_values().collect()
}

/// The sum of what the requests took, one after the other.
pub(crate) fn busy_seconds(rows: &[Row], spec: &ImportSpec) -> f64 {
    let in_seconds = |m: &&crate::ColumnMetric| units::conversion(&m.unit).unit == "s";
    let latency = spec
        .metrics
        .iter()
        .find(|m| m.metric == "latency_seconds" && in_seconds(m));
    let column = latency.or_else(|| spec.metrics.iter().find(in_seconds));
    let columns = Columns { rows, spec };
    column.map_or(0.0, |column| columns.named(&column.metric).iter().sum())
}

struct Columns<'r> {
    rows: &'r [Row],
    spec: &'r ImportSpec,
}

impl Columns<'_> {
    fn each(&self, summarise: impl Fn(&[f64], &str) -> Option<f64>) -> Metrics {
        let mut metrics = Metrics::new();
        for (place, column) in self.spec.metrics.iter().enumerate() {
            let values = self.values(place);
            if values.is_empty() {
                continue;
            }
            if let Some(value) = summarise(&values, &column.metric) {
                let unit = units::conversion(&column.unit).unit;
                metrics.insert(column.metric.clone(), Metric { value, unit });
            }
        }
        metrics
    }

    fn named(&self, name: &str) -> Vec<f64> {
        let place = self.spec.metrics.iter().position(|m| m.metric == name);
        place.map_or_else(Vec::new, |place| self.values(place))
    }

    fn values(&self, place: usize) -> Vec<f64> {
        self.rows
            .iter()
            .filter_map(|row| row.metrics.get(place).copied().flatten())
            .collect()
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Between the nearest two by proportion: definition 7 of Hyndman & Fan (1996), what R and NumPy
/// do by default.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (
        sorted.get(place.floor() as usize)?,
        sorted.get(place.ceil() as usize)?,
    );
    Some(below + (above - below) * place.fract())
}

/// `latency_seconds` → `latency_p95_seconds`: the unit stays at the end.
fn quantile_name(metric: &str, quantile: &str) -> String {
    match metric.strip_suffix("_seconds") {
        Some(stem) => format!("{stem}_{quantile}_seconds"),
        None => format!("{metric}_{quantile}"),
    }
}

fn count(number: usize) -> Metric {
    Metric {
        value: number as f64,
        unit: String::new(),
    }
}

pub(crate) fn seconds(value: f64) -> Metric {
    Metric {
        value,
        unit: "s".to_owned(),
    }
}
