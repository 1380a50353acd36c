//! All runs as one table: a row per run, a column a metric. Everything else is computed from it.

use std::collections::BTreeMap;

use messages::word;
use model::run::{metric, phase};
use model::{Currency, EnergySource, Money, RunId, RunRecord, Status, Study, UnmetLimit, Workload};
use predict::sequential::confidence_at_looks;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use crate::dependence::Dependences;
use crate::energy;
use crate::lists::unique;
use crate::rounded;
use crate::target::{self, Course};
use crate::words;
use crate::words::names::{MetricInfo, metric_info};

pub(crate) struct Table<'a> {
    pub(crate) study: &'a Study,
    /// By run; of a run kept twice, the later one.
    pub(crate) runs: Vec<Row<'a>>,
    pub(crate) columns: Vec<MetricInfo>,
    /// The currency most of the bills can be said in.
    pub(crate) currency: Currency,
    /// Asked for in the study, told by no run.
    pub(crate) unknown_metrics: Vec<String>,
    /// Of successive runs, by column.
    pub(crate) dependences: Dependences,
}

pub(crate) struct Row<'a> {
    pub(crate) record: &'a RunRecord,
    /// In the order of the columns; only finite numbers.
    pub(crate) values: Vec<Option<f64>>,
    /// What each value was rounded to; zero where it was not.
    pub(crate) steps: Vec<f64>,
    /// In the table's currency.
    pub(crate) cost: Option<Money>,
    /// Limits that the run did not have: what it measured is not what was asked.
    pub(crate) unmet: Vec<UnmetLimit>,
    /// `None` without an energy.
    pub(crate) energy_source: Option<EnergySource>,
}

/// Every conclusion goes through these two: what may be concluded from is decided here alone.
impl Row<'_> {
    /// `None` if the run measured something else than its scenario.
    pub(crate) fn status(&self) -> Option<Status> {
        self.unmet.is_empty().then_some(self.record.outcome.status)
    }

    pub(crate) fn is_ok(&self) -> bool {
        self.status() == Some(Status::Ok)
    }
}

impl<'a> Table<'a> {
    pub(crate) fn new(study: &'a Study, records: &'a [RunRecord]) -> Self {
        let mut by_id: BTreeMap<RunId, &RunRecord> = BTreeMap::new();
        for record in records {
            let kept = by_id.entry(record.run).or_insert(record);
            if record.started > kept.started {
                *kept = record;
            }
        }
        let currency = spoken_currency(study, by_id.values().copied());
        let measured: Vec<Measured> = by_id
            .into_values()
            .map(|r| Measured::new(study, r, currency))
            .collect();
        let (columns, unknown_metrics) = columns(study, currency, &measured);
        let index: BTreeMap<&str, usize> = columns
            .iter()
            .enumerate()
            .map(|(place, column)| (column.name.as_str(), place))
            .collect();
        let runs = measured.into_iter().map(|m| m.into_row(&index)).collect();
        let mut table = Table {
            study,
            runs,
            columns,
            currency,
            unknown_metrics,
            dependences: Dependences::default(),
        };
        table.dependences = Dependences::of(&table);
        rounded::find(&mut table);
        table
    }

    /// Of what the study asks for, as far as runs have it.
    pub(crate) fn asked(&self) -> impl Iterator<Item = usize> {
        let words = self.study.metrics.iter();
        words.filter_map(|word| self.named(word))
    }

    /// The metric that a study means by this word, as far as runs have it.
    pub(crate) fn named(&self, word: &str) -> Option<usize> {
        let name = meant(word, |name| self.column(name).is_some())?;
        self.column(name)
    }

    /// Of every interval that stands by itself, so that 95 % of them hold whenever the study stops.
    pub(crate) fn confidence(&self) -> f64 {
        confidence_at_looks(self.study.looks())
    }

    /// An error rate that holds whenever the study stops.
    pub(crate) fn level(&self, level: f64) -> f64 {
        level / self.study.looks() as f64
    }

    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The metric that "time" means: the first of these that an ok run has.
    pub(crate) fn time_column(&self) -> Option<usize> {
        let candidates = [
            metric::TRAIN_SECONDS,
            metric::LATENCY_SECONDS,
            metric::TOTAL_SECONDS,
        ];
        candidates
            .iter()
            .filter_map(|name| self.column(name))
            .find(|place| self.has_ok_value(*place))
    }

    /// Whether cost is a question of its own: with one price it is the time in other words.
    pub(crate) fn has_several_prices(&self) -> bool {
        let billed = self.runs.iter().filter(|row| row.is_ok());
        let prices = billed.filter_map(|row| row.record.price.as_deref());
        unique(prices.map(|price| price.per_hour.to_string())).len() > 1
    }

    /// Whether all values of the column mean the same.
    pub(crate) fn is_comparable(&self, column: usize) -> bool {
        !energy::is_energy(&self.columns[column].name) || energy::sources(&self.runs).len() < 2
    }

    /// Whether a successful run has a value in the column.
    pub(crate) fn has_ok_value(&self, column: usize) -> bool {
        let mut ok = self.runs.iter().filter(|row| row.is_ok());
        ok.any(|row| row.values[column].is_some())
    }
}

fn spoken_currency<'r>(study: &Study, records: impl Iterator<Item = &'r RunRecord>) -> Currency {
    let mut counts: BTreeMap<Currency, usize> = BTreeMap::new();
    for bill in records.filter_map(|r| r.bill.as_ref()) {
        *counts
            .entry(bill.total_in_study_currency().currency)
            .or_default() += 1;
    }
    if counts.is_empty() || counts.contains_key(&study.currency) {
        return study.currency;
    }
    counts
        .into_iter()
        .max_by_key(|(_, runs)| *runs)
        .map_or(study.currency, |(currency, _)| currency)
}

#[derive(Clone, Copy)]
struct Named<'a> {
    name: &'a str,
    unit: &'a str,
    value: f64,
}

struct Measured<'a> {
    record: &'a RunRecord,
    cost: Option<Money>,
    /// Besides the record's own metrics.
    derived: Vec<Named<'static>>,
    energy_source: Option<EnergySource>,
}

impl<'a> Measured<'a> {
    fn new(study: &Study, record: &'a RunRecord, currency: Currency) -> Self {
        let total = record
            .bill
            .as_ref()
            .map(|bill| bill.total_in_study_currency());
        let cost = total.filter(|money| money.currency == currency);
        let mut derived = Vec::new();
        let mut add = |name: &'static str, value: Option<f64>| {
            let unit = metric::definition(name).map_or("", |metric| metric.unit.symbol());
            if let Some(value) = value
                && !(name != metric::COST && record.metrics.contains_key(name))
            {
                derived.push(Named { name, unit, value });
            }
        };
        // An imported run may tell no time at all.
        let total = Some(record.seconds).filter(|seconds| *seconds > 0.0);
        add(metric::TOTAL_SECONDS, total);
        let train = record
            .phases
            .iter()
            .filter(|p| p.name == phase::TRAIN)
            .map(|p| p.seconds);
        add(metric::TRAIN_SECONDS, train.reduce(|a, b| a + b));
        add(metric::COST, cost.and_then(|m| m.amount.to_f64()));
        for (name, part) in [
            (metric::COST_PER_EPOCH, per_epoch as CostPart),
            (metric::COST_PER_THOUSAND_IMAGES, per_thousand_images),
            (metric::COST_PER_THOUSAND_STEPS, per_thousand_steps),
        ] {
            add(name, cost.and_then(|m| part(study, record, m)?.to_f64()));
        }
        if let Course::Reached(arrival) = target::course(study, record) {
            add(metric::TO_TARGET_SECONDS, Some(arrival.seconds));
            let paid = cost.and_then(|_| arrival.cost(record)?.amount.to_f64());
            add(metric::COST_TO_TARGET, paid);
        }
        let rate = record
            .metrics
            .get(metric::IMAGES_PER_SECOND)
            .map(|m| m.value);
        let per_image = rate.filter(|rate| *rate > 0.0).map(|rate| 1.0 / rate);
        add(metric::SECONDS_PER_IMAGE, per_image);
        let energy = energy::of_run(study, record);
        let carbon = energy::carbon(study, record);
        add(metric::ENERGY_JOULES, energy.map(|energy| energy.joules));
        let grams = energy.zip(carbon).map(|(e, carbon)| carbon.grams(e.joules));
        add(metric::CO2_GRAMS, grams);
        Measured {
            record,
            cost,
            derived,
            energy_source: energy.map(|energy| energy.source),
        }
    }

    fn all(&self) -> impl Iterator<Item = Named<'_>> {
        let own = self
            .record
            .metrics
            .iter()
            .filter(|(name, _)| name.as_str() != metric::COST);
        own.map(|(name, m)| Named {
            name,
            unit: &m.unit,
            value: m.value,
        })
        .chain(self.derived.iter().copied())
        .filter(|n| n.value.is_finite())
    }

    fn into_row(self, index: &BTreeMap<&str, usize>) -> Row<'a> {
        let mut values = vec![None; index.len()];
        for named in self.all() {
            if let Some(place) = index.get(named.name) {
                values[*place] = Some(named.value);
            }
        }
        Row {
            record: self.record,
            steps: vec![0.0; values.len()],
            values,
            cost: self.cost,
            unmet: self.record.unmet_limits(),
            energy_source: self.energy_source,
        }
    }
}

/// The cost of a part of a run.
pub(crate) type CostPart = fn(&Study, &RunRecord, Money) -> Option<Decimal>;

pub(crate) fn per_epoch(_: &Study, record: &RunRecord, cost: Money) -> Option<Decimal> {
    match record.epochs.len() {
        0 => None,
        epochs => cost.amount.checked_div(Decimal::from(epochs)),
    }
}

/// Images are throughput × time: what the run really worked on, whatever the study requested.
pub(crate) fn per_thousand_images(_: &Study, record: &RunRecord, cost: Money) -> Option<Decimal> {
    let rate = record.metrics.get(metric::IMAGES_PER_SECOND)?.value;
    let seconds = record.metrics.get(metric::TRAIN_SECONDS)?.value;
    per_thousand(cost, (rate * seconds).round())
}

pub(crate) fn per_thousand_steps(
    study: &Study,
    record: &RunRecord,
    cost: Money,
) -> Option<Decimal> {
    per_thousand(cost, steps(study, record)?)
}

/// Whole numbers are exact as decimals; their thousandths would not be as binary fractions.
fn per_thousand(cost: Money, count: f64) -> Option<Decimal> {
    let thousands = Decimal::from_f64_retain(count)?.checked_div(Decimal::ONE_THOUSAND)?;
    (thousands > Decimal::ZERO)
        .then(|| cost.amount.checked_div(thousands))
        .flatten()
}

/// As told, or computed from the images of an epoch: its last step may be a smaller one.
fn steps(study: &Study, record: &RunRecord) -> Option<f64> {
    let told = |name: &str| record.metrics.get(name).map(|metric| metric.value);
    if let Some(steps) = told(STEPS) {
        return Some(steps);
    }
    let Workload::Train(train) = &study.workload else {
        return None;
    };
    let varied = record.scenario.level("batch");
    let batch = match varied {
        Some(level) => level.as_float()?,
        None => f64::from(train.batch),
    };
    let epochs = Some(record.epochs.len() as f64).filter(|epochs| *epochs > 0.0)?;
    let images = (told(metric::IMAGES_PER_SECOND)? * told(metric::TRAIN_SECONDS)?).round();
    (batch > 0.0).then(|| epochs * (images / epochs / batch).ceil())
}

/// Of runs that were read from a log.
const STEPS: &str = "steps";

/// The metric that a study asks for by this word: the workload's own of that name goes before ours.
fn meant(word: &str, is_reported: impl Fn(&str) -> bool) -> Option<&str> {
    let ours = || metric::meant(word).map(|metric| metric.name);
    let own = Some(word).filter(|word| is_reported(word));
    own.or_else(|| ours().filter(|name| is_reported(name)))
}

/// Columns in the reader's order: what the study requested, what its workload reports, then the rest
/// in the order of the table of metrics.
fn columns(
    study: &Study,
    currency: Currency,
    measured: &[Measured],
) -> (Vec<MetricInfo>, Vec<String>) {
    let mut units: BTreeMap<&str, &str> = BTreeMap::new();
    for run in measured {
        for named in run.all() {
            units.entry(named.name).or_insert(named.unit);
        }
    }
    let mut names: Vec<&str> = Vec::new();
    let mut unknown = Vec::new();
    for asked in &study.metrics {
        match meant(asked, |name| units.contains_key(name)) {
            Some(name) => names.push(name),
            None => unknown.push(asked.clone()),
        }
    }
    // What only this workload reports is what it is about.
    let own = |name: &&str| metric::definition(name).is_none();
    names.extend(units.keys().copied().filter(own));
    let ours = metric::ALL.iter().map(|metric| metric.name);
    names.extend(ours.filter(|name| units.contains_key(name)));
    let time = match units.contains_key(metric::TRAIN_SECONDS) {
        true => metric::TRAIN_SECONDS,
        false => metric::TOTAL_SECONDS,
    };
    let sources = unique(measured.iter().filter_map(|run| run.energy_source));
    let column = |name: &str| {
        let unit = match metric::is_of_bills(name) {
            true => currency.code(),
            false => units.get(name).copied().unwrap_or(""),
        };
        let mut info = metric_info(name, unit);
        if is_any_command(study) && name == time {
            info.label = word!("noun-time").to_owned();
        }
        if energy::is_energy(name) {
            info.label = words::energy::marked(&info.label, &sources);
        }
        info
    };
    (unique(names).into_iter().map(column).collect(), unknown)
}

/// Nobody knows whether it trains anything. An empty one holds measurements made elsewhere.
fn is_any_command(study: &Study) -> bool {
    matches!(&study.workload, Workload::Command(command) if !command.command.is_empty())
}
