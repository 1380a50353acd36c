//! Rows of one run to the run's numbers.

use std::collections::BTreeMap;

use model::run::metric;
use model::serving::{OK, QuantileRecord};
use model::{Epoch, Metric, ServingRecord, Status};

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
/// Steps: the median time, the loss of the last epoch, the last accuracy, the mean of the rest.
/// Samples: means.
pub(crate) fn metrics(rows: &[Row], spec: &ImportSpec) -> Metrics {
    let columns = Columns { rows, spec };
    match spec.row() {
        RowKind::Run => columns.each(|values, _| values.last().copied()),
        RowKind::Request => requests(rows, spec),
        RowKind::Step => {
            let mut metrics = steps(&columns);
            let last = epochs(rows, spec).into_iter().next_back();
            if let (Some(loss), Some(Epoch { loss: mean, .. })) =
                (metrics.get_mut(metric::LOSS), last)
            {
                loss.value = mean.unwrap_or(loss.value);
            }
            metrics
        }
        RowKind::Sample => samples(&columns),
    }
}

fn requests(rows: &[Row], spec: &ImportSpec) -> Metrics {
    let answered = answered(rows);
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
            if let Some(value) = stats::percentile(&values, share) {
                metrics.insert(quantile_name(&column.metric, name), seconds(value));
            }
        }
    }
    metrics.insert(REQUESTS.to_owned(), count(rows.len()));
    let failed = count(rows.len() - answered.len());
    metrics.insert(FAILED_REQUESTS.to_owned(), failed);
    let busy = busy_seconds(rows, spec);
    if busy > 0.0 {
        metrics.insert(metric::BUSY_SECONDS.to_owned(), seconds(busy));
    }
    let of = |name: &str| metrics.get(name).map(|metric| metric.value);
    let share = of(metric::PREDICTION_SECONDS).zip(of(metric::LATENCY_SECONDS));
    if let Some((prediction, latency)) = share.filter(|(p, l)| *l > 0.0 && p <= l) {
        let percent = in_unit(100.0 * prediction / latency, "%");
        metrics.insert(metric::PREDICTION_PERCENT.to_owned(), percent);
    }
    metrics
}

/// How requests ended and how long they took, as a client would have told it.
pub(crate) fn serving(rows: &[Row], spec: &ImportSpec) -> ServingRecord {
    let answered = answered(rows);
    let columns = Columns {
        rows: &answered,
        spec,
    };
    let quantiles = |name: &str| {
        let mut values = columns.named(name);
        values.sort_by(f64::total_cmp);
        let at = |share: &f64| {
            Some(QuantileRecord {
                share: *share,
                seconds: stats::percentile(&values, *share)?,
            })
        };
        [0.5, 0.9, 0.95, 0.99].iter().filter_map(at).collect()
    };
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    for row in rows {
        let end = match row.status.status {
            Status::Ok => OK.to_owned(),
            other => other.to_string(),
        };
        *ends.entry(end).or_default() += 1;
    }
    ServingRecord {
        ends,
        latency: quantiles(metric::LATENCY_SECONDS),
        prediction: quantiles(metric::PREDICTION_SECONDS),
        first_failure: None,
        client_limited: None,
        runtime: None,
        service: None,
        is_elsewhere: true,
    }
}

/// Means, the highest of what is called a peak, and the time from the first reading to the last,
/// with one interval more: what the last reading stands for.
fn samples(columns: &Columns<'_>) -> Metrics {
    let mut metrics = columns.each(|values, name| match name.starts_with("peak_") {
        true => values.iter().copied().reduce(f64::max),
        false => mean(values),
    });
    let mut moments: Vec<i64> = columns
        .rows
        .iter()
        .filter_map(|row| row.started)
        .map(|moment| moment.as_millisecond())
        .collect();
    moments.sort_unstable();
    if let (Some(first), Some(last), Some(gaps)) = (
        moments.first(),
        moments.last(),
        moments.len().checked_sub(1).filter(|gaps| *gaps > 0),
    ) {
        let between = (last - first) as f64 / 1000.0;
        if between > 0.0 {
            metrics
                .entry(metric::TOTAL_SECONDS.to_owned())
                .or_insert_with(|| seconds(between * (1.0 + 1.0 / gaps as f64)));
        }
    }
    metrics
}

fn steps(columns: &Columns<'_>) -> Metrics {
    let mut metrics = columns.each(|values, name| match name {
        metric::STEP_SECONDS => {
            let mut sorted = values.to_vec();
            sorted.sort_by(f64::total_cmp);
            stats::quantile(&sorted, 0.5)
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
            let speed = in_unit(images.value / total, "1/s");
            metrics
                .entry(metric::IMAGES_PER_SECOND.to_owned())
                .or_insert(speed);
        }
    }
    metrics
}

/// For steps that say which epoch they are of; its loss is the mean over its steps.
pub(crate) fn epochs(rows: &[Row], spec: &ImportSpec) -> Vec<Epoch> {
    let place = |name: &str| spec.metrics.iter().position(|m| m.metric == name);
    let Some(epoch) = place(EPOCH).filter(|_| spec.row() == RowKind::Step) else {
        return Vec::new();
    };
    let value = |row: &Row, name: &str| {
        place(name).and_then(|place| row.metrics.get(place).copied().flatten())
    };
    let mut epochs: BTreeMap<u32, Epoch> = BTreeMap::new();
    let mut losses: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
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
        if let Some(loss) = value(row, metric::LOSS) {
            losses.entry(number).or_default().push(loss);
        }
        told.accuracy = value(row, metric::ACCURACY)
            .map(|percent| percent / 100.0)
            .or(told.accuracy);
        if let Some(step) = value(row, metric::STEP_SECONDS) {
            told.seconds = Some(told.seconds.unwrap_or(0.0) + step);
        }
    }
    for (number, epoch) in &mut epochs {
        epoch.loss = losses.get(number).and_then(|losses| mean(losses));
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
                metrics.insert(column.metric.clone(), in_unit(value, unit));
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

/// `latency_seconds` → `latency_p95_seconds`: the unit stays at the end.
fn quantile_name(metric: &str, quantile: &str) -> String {
    match metric.strip_suffix("_seconds") {
        Some(stem) => format!("{stem}_{quantile}_seconds"),
        None => format!("{metric}_{quantile}"),
    }
}

fn answered(rows: &[Row]) -> Vec<Row> {
    let is_ok = |row: &&Row| row.status.status == Status::Ok;
    rows.iter().filter(is_ok).cloned().collect()
}

fn count(number: usize) -> Metric {
    in_unit(number as f64, "")
}

pub(crate) fn seconds(value: f64) -> Metric {
    in_unit(value, "s")
}

pub(crate) fn in_unit(value: f64, unit: &str) -> Metric {
    Metric {
        value,
        unit: unit.to_owned(),
    }
}
