//! Words for levels and metrics, so that a sentence reads as a person would say it.

use model::run::metric;
use model::{Level, Money, Study};
use rust_decimal::Decimal;
use serde::Serialize;

use crate::format;

/// A column: what a number is called, its unit, and which way is good.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricInfo {
    pub name: String,
    /// `training time`.
    pub label: String,
    pub unit: String,
    pub better: Better,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    Lower,
    Higher,
    Neither,
}

/// Made here from the bill, not by the run.
pub const COST_PER_EPOCH: &str = "cost_per_epoch";
pub const COST_PER_THOUSAND_IMAGES: &str = "cost_per_thousand_images";
pub const COST_PER_THOUSAND_STEPS: &str = "cost_per_thousand_steps";
/// From the start of a run to the accuracy that the study asks for; only of runs that get there.
pub const TO_TARGET_SECONDS: &str = "to_target_seconds";
pub const COST_TO_TARGET: &str = "cost_to_target";
/// Made here from the images per second.
pub const SECONDS_PER_IMAGE: &str = "seconds_per_image";

/// The metric of this name; the unit is the run's own.
pub fn metric_info(name: &str, unit: &str) -> MetricInfo {
    let (label, better) = match known(name) {
        Some(Known { label, better }) => (label.to_owned(), better),
        None if name.ends_with("_seconds") => (name.replace('_', " "), Better::Lower),
        None => (name.replace('_', " "), Better::Neither),
    };
    MetricInfo {
        name: name.to_owned(),
        label,
        unit: unit.to_owned(),
        better,
    }
}

/// Told by the workload, not one that Bancada makes.
pub fn is_own_metric(name: &str) -> bool {
    known(name).is_none()
}

struct Known {
    label: &'static str,
    better: Better,
}

fn known(name: &str) -> Option<Known> {
    let (label, better) = match name {
        metric::TRAIN_SECONDS => ("training time", Better::Lower),
        metric::TOTAL_SECONDS => ("total time", Better::Lower),
        metric::EPOCH_SECONDS => ("time per epoch", Better::Lower),
        metric::STEP_SECONDS => ("time per step", Better::Lower),
        metric::IMAGES_PER_SECOND => ("images per second", Better::Higher),
        SECONDS_PER_IMAGE => ("time per image", Better::Lower),
        metric::FIRST_STEP_SECONDS => ("time of the first step", Better::Lower),
        metric::LOSS => ("final loss", Better::Lower),
        metric::ACCURACY => ("accuracy", Better::Higher),
        metric::CPU_SECONDS => ("CPU time", Better::Lower),
        metric::CORES_USED => ("cores used", Better::Neither),
        metric::CPU_PERCENT => ("CPU use", Better::Neither),
        metric::MACHINE_CPU_PERCENT => ("CPU use of the machine", Better::Neither),
        metric::PEAK_MEMORY_BYTES => ("peak memory", Better::Lower),
        metric::GROUP_PEAK_MEMORY_BYTES => ("peak memory with caches", Better::Neither),
        metric::MEMORY_PERCENT => ("peak memory use", Better::Neither),
        metric::MEAN_MEMORY_PERCENT => ("memory use", Better::Neither),
        metric::DISK_READ_BYTES => ("read from disk", Better::Neither),
        metric::DISK_WRITE_BYTES => ("written to disk", Better::Neither),
        metric::GPU_PERCENT => ("GPU use", Better::Neither),
        metric::GPU_MEMORY_PERCENT => ("GPU memory use", Better::Neither),
        metric::GPU_ENERGY_JOULES => ("GPU energy", Better::Lower),
        metric::SAMPLER_CPU_SECONDS => ("CPU time of the sampler", Better::Lower),
        metric::COST => ("cost", Better::Lower),
        metric::FIRST_PING_SECONDS => ("time to the first ping", Better::Lower),
        metric::SETUP_SECONDS => ("set-up time", Better::Lower),
        metric::FIRST_ANSWER_SECONDS => ("time to the first answer", Better::Lower),
        metric::LATENCY_SECONDS => ("latency", Better::Lower),
        metric::LATENCY_P50_SECONDS => ("median latency", Better::Lower),
        metric::LATENCY_P90_SECONDS => ("p90 latency", Better::Lower),
        metric::LATENCY_P95_SECONDS => ("p95 latency", Better::Lower),
        metric::LATENCY_P99_SECONDS => ("p99 latency", Better::Lower),
        metric::LATENCY_MAX_SECONDS => ("longest latency", Better::Lower),
        metric::PREDICTION_SECONDS => ("prediction time", Better::Lower),
        metric::PREDICTION_PERCENT => ("share of prediction", Better::Neither),
        metric::REQUESTS => ("requests", Better::Neither),
        metric::FAILED_REQUESTS => ("failed requests", Better::Lower),
        metric::REQUESTS_PER_SECOND => ("requests per second", Better::Higher),
        metric::HIGHEST_RATE => ("highest rate", Better::Higher),
        metric::BUSY_SECONDS => ("busy time", Better::Neither),
        metric::BILLED_SECONDS => ("billed time", Better::Lower),
        metric::BILLED_SECONDS_PER_REQUEST => ("billed time per request", Better::Lower),
        metric::ENDPOINT_SECONDS => ("time to make the endpoint", Better::Lower),
        metric::CONTAINER_SECONDS => ("time of the container", Better::Lower),
        metric::OVERHEAD_SECONDS => ("time the provider added", Better::Lower),
        metric::COLD_REQUESTS => ("cold requests", Better::Neither),
        metric::COST_PER_INFERENCE => ("cost per inference", Better::Lower),
        metric::CLIENT_CPU_SECONDS => ("CPU time of the client", Better::Neither),
        metric::MODEL_BYTES => ("size of the model", Better::Lower),
        metric::AGREEMENT_PERCENT => ("agreement with the whole model", Better::Higher),
        COST_PER_EPOCH => ("cost per epoch", Better::Lower),
        COST_PER_THOUSAND_IMAGES => ("cost per thousand images", Better::Lower),
        COST_PER_THOUSAND_STEPS => ("cost per thousand steps", Better::Lower),
        TO_TARGET_SECONDS => ("time to the accuracy", Better::Lower),
        COST_TO_TARGET => ("cost to the accuracy", Better::Lower),
        _ => return None,
    };
    Some(Known { label, better })
}

/// The name a person may have meant by a shorter word in the study's `metrics`.
pub(crate) fn metric_alias(word: &str) -> &str {
    match word {
        "time" | "training_time" => metric::TRAIN_SECONDS,
        "total_time" => metric::TOTAL_SECONDS,
        "throughput" => metric::IMAGES_PER_SECOND,
        "time_per_image" => SECONDS_PER_IMAGE,
        "memory" | "peak_memory" => metric::PEAK_MEMORY_BYTES,
        "accuracy" => metric::ACCURACY,
        "cpu" => metric::CPU_PERCENT,
        "gpu" => metric::GPU_PERCENT,
        "energy" => metric::GPU_ENERGY_JOULES,
        "latency" => metric::LATENCY_SECONDS,
        "p99" => metric::LATENCY_P99_SECONDS,
        "prediction" => metric::PREDICTION_SECONDS,
        other => other,
    }
}

/// One number of a metric, with its unit: `9.80 s`, `611 MB`, `97.2 %`.
pub fn metric_value(info: &MetricInfo, value: f64) -> String {
    match info.unit.as_str() {
        "s" => format::duration(value),
        "B" => format::bytes(value),
        _ if !value.is_finite() => format::NONE.to_owned(),
        "%" => format!("{} %", format::significant(value, 3)),
        "" => format::significant(value, 3),
        "1/s" => format!("{}/s", format::significant(value, 3)),
        unit => match money(info, value) {
            Some(money) => money.to_string(),
            None => format!("{} {unit}", format::significant(value, 3)),
        },
    }
}

/// Of costs only: a workload may report in any unit, also one that looks like a currency.
fn money(info: &MetricInfo, value: f64) -> Option<Money> {
    let is_cost = crate::table::MONEY.contains(&info.name.as_str());
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

fn numeric_phrase(factor: &str, text: &str) -> String {
    let one = text == "1";
    match factor {
        "image" | "image_size" | "resolution" | "pixels" => format!("{text} px"),
        "cores" | "vcpus" => format!("{text} {}", if one { "core" } else { "cores" }),
        "threads" => format!("{text} {}", if one { "thread" } else { "threads" }),
        "workers" => format!("{text} {}", if one { "worker" } else { "workers" }),
        "gpus" => format!("{text} {}", if one { "GPU" } else { "GPUs" }),
        "epochs" => format!("{text} {}", if one { "epoch" } else { "epochs" }),
        _ => format!("{factor} {text}"),
    }
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
    fn values_are_said_with_their_units() {
        let check = |name: &str, unit: &str, value: f64, expected: &str| {
            assert_eq!(metric_value(&metric_info(name, unit), value), expected);
        };
        check(metric::COST, "USD", 0.00000673, "US$ 0.0000067");
        check(COST_PER_EPOCH, "BRL", 12.345, "R$ 12.35");
        check("speed", "FPS", 12.5, "12.5 FPS");
        check(metric::TRAIN_SECONDS, "s", 9.8, "9.80 s");
        check(metric::PEAK_MEMORY_BYTES, "B", 611e6, "611 MB");
    }
}
