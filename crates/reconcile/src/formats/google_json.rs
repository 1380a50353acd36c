//! Google's billing export as JSON lines: a row of BigQuery's table each.

use std::borrow::Cow;
use std::fmt;
use std::io::Read;

use model::{Currency, Money};
use rust_decimal::Decimal;
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

use super::quantity::{Counted, machine_seconds};
use super::tags::is_key;
use super::{BillError, FileCounts, Format, Listener};
use crate::charge::{Charge, Interval, Provider, Tag};
use crate::reconciliation::RowProblem;
use crate::records::Records;
use crate::values::{DayOrder, HOUR_MS, bounded, moment, number};

/// The label in which Google says the machine type.
const MACHINE: &str = "compute.googleapis.com/machine_spec";
pub(super) const CORES: &str = "compute.googleapis.com/cores";
const EXPECTED: &str = "expected an object with service, usage_start_time, cost and currency";

pub(super) fn read<R: Read>(
    mut records: Records<R>,
    tag: &Tag,
    listener: &mut impl Listener,
) -> Result<FileCounts, BillError> {
    let mut counts = FileCounts {
        format: Format::GoogleJson,
        rows: 0,
        left_out: 0,
    };
    while let Some(line) = records.next_line()? {
        let problem = match line {
            Ok(line) if line.bytes.trim_ascii().is_empty() => continue,
            Ok(line) => match serde_json::from_slice::<Wire>(line.bytes) {
                Ok(wire) => {
                    counts.rows += 1;
                    let charge = wire.charge(line.number, tag);
                    if charge.time.is_none() {
                        let what =
                            "`usage_start_time` is not a date; the row counts without its time";
                        listener.problem(RowProblem::used(line.number, what.to_owned()));
                    }
                    listener.charge(&charge);
                    continue;
                }
                Err(error) => RowProblem::left_out(line.number, format!("{error}; {EXPECTED}")),
            },
            Err(number) => RowProblem::unreadable(number),
        };
        counts.rows += 1;
        counts.left_out += 1;
        listener.problem(problem);
    }
    match counts.rows > counts.left_out {
        true => Ok(counts),
        false => Err(BillError::unknown_format(&["{ … }".to_owned()], None)),
    }
}

/// The sum of a list of credits, `[{"name": "…", "amount": -0.1}]`.
pub(super) fn credits_of(text: &str) -> Option<Decimal> {
    let list: Vec<Credit> = serde_json::from_str(text).ok()?;
    Some(list.iter().map(|credit| credit.amount.0).sum())
}

#[derive(Deserialize)]
struct Wire<'l> {
    #[serde(borrow)]
    service: Described<'l>,
    #[serde(borrow, default)]
    sku: Described<'l>,
    #[serde(borrow)]
    usage_start_time: Cow<'l, str>,
    usage_end_time: Option<String>,
    project: Option<Project>,
    labels: Option<Vec<Label>>,
    system_labels: Option<Vec<Label>>,
    location: Option<Location>,
    resource: Option<Resource>,
    cost: Amount,
    currency: Currency,
    currency_conversion_rate: Option<Amount>,
    usage: Option<Usage>,
    credits: Option<Vec<Credit>>,
    cost_type: Option<String>,
}

#[derive(Deserialize, Default)]
struct Described<'l> {
    #[serde(borrow, default)]
    description: Cow<'l, str>,
}

#[derive(Deserialize)]
struct Project {
    id: Option<String>,
}

#[derive(Deserialize)]
struct Label {
    key: String,
    value: Option<String>,
}

#[derive(Deserialize)]
struct Location {
    region: Option<String>,
}

#[derive(Deserialize)]
struct Resource {
    name: Option<String>,
    global_name: Option<String>,
}

/// Byte-seconds pass every bound, and only times are wanted: any value will do.
#[derive(Deserialize)]
struct Usage {
    amount: Option<serde_json::Value>,
    unit: Option<String>,
}

#[derive(Deserialize)]
struct Credit {
    amount: Amount,
}

impl Usage {
    fn quantity(&self) -> Option<Decimal> {
        match self.amount.as_ref()? {
            serde_json::Value::String(text) => number(text, true),
            other => number(&other.to_string(), true),
        }
    }
}

impl<'l> Wire<'l> {
    fn charge(self, line: u64, tag: &Tag) -> Charge<'l> {
        let label = |key: &str| {
            let mut all = self.system_labels.iter().flatten();
            all.find(|label| label.key == key)?.value.clone()
        };
        let time = self.time();
        let machine = label(MACHINE).unwrap_or_default();
        let cores = label(CORES)
            .map(|cores| format!("{{\"{}\":\"{cores}\"}}", CORES))
            .unwrap_or_default();
        let seconds = self.usage.as_ref().and_then(|usage| {
            machine_seconds(&Counted {
                provider: Provider::Google,
                quantity: usage.quantity()?,
                unit: usage.unit.as_deref()?,
                description: &self.sku.description,
                machine: &machine,
                details: &cores,
                time,
            })
        });
        let tagged = self.labels.iter().flatten().any(|label| {
            let value = label.value.as_deref().unwrap_or_default();
            is_key(&label.key, &tag.key) && value.eq_ignore_ascii_case(&tag.value)
        });
        let list_cost = self
            .currency_conversion_rate
            .as_ref()
            .filter(|_| self.currency != Currency::USD)
            .and_then(|rate| bounded(self.cost.0.checked_div(rate.0)?))
            .map(|amount| Money::new(amount.round_dp(18), Currency::USD));
        let resource = self
            .resource
            .and_then(|resource| resource.global_name.or(resource.name));
        Charge {
            line,
            provider: Provider::Google,
            kind: self.cost_type.unwrap_or_default().into(),
            service: self.service.description,
            meter: Cow::Borrowed(""),
            meter_kind: Cow::Borrowed(""),
            sku: Cow::Borrowed(""),
            description: self.sku.description,
            machine: machine.into(),
            region: self
                .location
                .and_then(|l| l.region)
                .unwrap_or_default()
                .into(),
            resource: resource.unwrap_or_default().into(),
            scope: self.project.and_then(|p| p.id).unwrap_or_default().into(),
            time,
            seconds,
            cost: self.cost.0,
            currency: self.currency,
            credits: self.credits.iter().flatten().map(|c| c.amount.0).sum(),
            rounding: Decimal::ZERO,
            list_cost,
            tagged,
        }
    }

    fn time(&self) -> Option<Interval> {
        let read = |text: &str| moment(text, DayOrder::MonthFirst).map(|read| read.moment.ms);
        let start_ms = read(&self.usage_start_time)?;
        let end_ms = self.usage_end_time.as_deref().and_then(read);
        let end_ms = end_ms.filter(|end| *end > start_ms);
        Some(Interval {
            start_ms,
            end_ms: end_ms.unwrap_or(start_ms + HOUR_MS),
        })
    }
}

/// A number of JSON, or a text with one.
#[derive(Debug, Clone, Copy)]
struct Amount(Decimal);

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AmountVisitor)
    }
}

struct AmountVisitor;

impl Visitor<'_> for AmountVisitor {
    type Value = Amount;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number such as 0.0475")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Amount, E> {
        number(text, true).map(Amount).ok_or_else(|| {
            E::custom(format!(
                "`{}` is not a number such as 0.0475",
                super::short(text)
            ))
        })
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Amount, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Amount, E> {
        self.visit_str(&value.to_string())
    }

    /// BigQuery keeps costs as binary fractions and writes the shortest decimal that means one;
    /// written the same way again, it is the text that stood in the file.
    fn visit_f64<E: Error>(self, value: f64) -> Result<Amount, E> {
        self.visit_str(&value.to_string())
    }
}
