//! Words for levels and metrics, so that a sentence reads as a person would say it.

use messages::{Argument, Value, message};
use model::run::metric::{self, Better};
use model::{Level, Money, Study};
use rust_decimal::Decimal;
use serde::Serialize;

use crate::words::{energy, format};

/// A column: what a number is called, its unit, and which way is good.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricInfo {
    pub name: String,
    /// `training time`.
    pub label: String,
    pub unit: String,
    pub better: Better,
}

/// The metric of this name; the unit is the run's own.
pub fn metric_info(name: &str, unit: &str) -> MetricInfo {
    let (label, better) = match metric::definition(name) {
        Some(metric) => {
            let label = messages::named("metric", name).unwrap_or(metric.label);
            (label.to_owned(), metric.better)
        }
        None if name.ends_with("_seconds") => (own_label(name, unit), Better::Lower),
        None => (own_label(name, unit), Better::Neither),
    };
    MetricInfo {
        name: name.to_owned(),
        label,
        unit: unit.to_owned(),
        better,
    }
}

/// What stands in its name of the unit stands behind its numbers, in the unit that suits them.
fn own_label(name: &str, unit: &str) -> String {
    let endings: &[&str] = match unit {
        "s" => &["_seconds", "_sec", "_s"],
        "B" => &["_bytes"],
        "%" => &["_percent"],
        "J" => &["_joules"],
        _ => &[],
    };
    let stem = endings.iter().find_map(|ending| name.strip_suffix(ending));
    stem.filter(|stem| !stem.is_empty())
        .unwrap_or(name)
        .replace('_', " ")
}

/// One number of a metric, with its unit: `9.80 s`, `611 MB`, `97.2 %`.
pub fn metric_value(info: &MetricInfo, value: f64) -> String {
    match info.unit.as_str() {
        "s" => format::duration(value),
        "B" => format::bytes(value),
        _ if !value.is_finite() => format::NONE.to_owned(),
        "J" => energy::joule_unit(value).of(value),
        "g" => energy::gram_unit(value).of(value),
        "%" => format!("{} %", format::significant(value, 3)),
        "" if metric::is_count(&info.name) && value.fract() == 0.0 && value >= 0.0 => {
            format::count(value as usize)
        }
        "" => format::significant(value, 3),
        "1/s" => message!("per-second", number = format::significant(value, 3)),
        unit => match money(info, value) {
            Some(money) => format::money(&money),
            None => format!("{} {unit}", format::significant(value, 3)),
        },
    }
}

/// Of costs only: a workload may report in any unit, also one that looks like a currency.
fn money(info: &MetricInfo, value: f64) -> Option<Money> {
    let is_cost = metric::is_of_bills(&info.name);
    let currency = info.unit.parse().ok().filter(|_| is_cost)?;
    Some(Money::new(Decimal::from_f64_retain(value)?, currency))
}

/// `64 px`, `batch 64`, `rede2`: a level as it is said inside a sentence.
pub(crate) fn level_phrase(study: &Study, factor: &str, level: &Level) -> String {
    let text = level.to_string();
    match level {
        Level::Text(_) if !level_is_ambiguous(study, factor, &text) => text,
        Level::Int(_) | Level::Float(_) => numeric_phrase(factor, &text),
        _ => format!("{factor} {text}"),
    }
}

pub(crate) fn numeric_phrase(factor: &str, text: &str) -> String {
    let number = Number(text);
    let value = text;
    match factor {
        "image" | "image_size" | "resolution" | "pixels" => message!("level-pixels", value),
        "cores" | "vcpus" => message!("level-cores", value, number),
        "threads" => message!("level-threads", value, number),
        "workers" => message!("level-workers", value, number),
        "gpus" => message!("level-gpus", value, number),
        "epochs" => message!("level-epochs", value, number),
        _ => format!("{factor} {text}"),
    }
}

/// A number as it is written, by which a noun has its plural.
struct Number<'a>(&'a str);

impl Argument for Number<'_> {
    fn value(&self) -> Value<'_> {
        // Half a core: the genitive of few where a language has it, otherwise the default.
        self.0.parse().map_or("few".value(), Value::Count)
    }
}

/// A phase's name as people read it; one of the user's own is as it is.
pub fn phase_words(name: &str) -> &str {
    messages::named("phase", name).unwrap_or(name)
}

fn level_is_ambiguous(study: &Study, factor: &str, text: &str) -> bool {
    let others = study.factors.iter().filter(|f| f.name != factor);
    others
        .flat_map(|f| &f.levels)
        .any(|level| level.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_have_one_name_in_english() {
        for metric in metric::ALL {
            assert_eq!(metric_info(metric.name, "").label, metric.label);
        }
    }

    #[test]
    fn a_name_of_the_users_own_has_its_unit_once() {
        let check = |name: &str, unit: &str, expected: &str| {
            assert_eq!(metric_info(name, unit).label, expected);
        };
        check("predict_p50_seconds", "s", "predict p50");
        check("backward_seconds", "", "backward seconds");
        check("read_bytes", "B", "read");
        check("_seconds", "s", " seconds");
        check("images_seen", "", "images seen");
    }

    #[test]
    fn values_are_said_with_their_units() {
        let check = |name: &str, unit: &str, value: f64, expected: &str| {
            assert_eq!(metric_value(&metric_info(name, unit), value), expected);
        };
        check(metric::COST, "USD", 0.00000673, "US$ 0.0000067");
        check(metric::COST_PER_EPOCH, "BRL", 12.345, "R$ 12.35");
        check("speed", "FPS", 12.5, "12.5 FPS");
        check("steps", "", 92.0, "92");
        check("steps", "", 120_000.0, "120,000");
        // A mean of counts need not be one; a loss is none.
        check("steps", "", 2.5, "2.50");
        check(metric::LOSS, "", 2.0, "2.00");
        check(metric::TRAIN_SECONDS, "s", 9.8, "9.80 s");
        check(metric::PEAK_MEMORY_BYTES, "B", 611e6, "611 MB");
    }
}
