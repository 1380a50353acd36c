//! What can be set for a workload that serves.

use std::collections::BTreeMap;
use std::path::PathBuf;

use model::{Level, LoadShape, ServePrecision, ServeWorkload, named};

use crate::field::{Field, FieldKind, field, set, set_some};
use crate::values::duration_seconds;

pub(crate) const FIELDS: &[Field] = &[
    field("stack", FieldKind::Stack),
    field("model", FieldKind::Model),
    field("image", FieldKind::Count(1024)),
    field("classes", FieldKind::Count(100_000)),
    field("precision", FieldKind::Words(PRECISIONS)),
    field("load", FieldKind::Words(LOADS)),
    field("clients", FieldKind::Count(100_000)),
    field("rate", FieldKind::Rate),
    field("requests", FieldKind::Count(1_000_000_000)),
    field("pause", FieldKind::Duration),
    field("cold_pause", FieldKind::Duration),
    field("duration", FieldKind::Duration),
    field("under", FieldKind::Duration),
    field("request_timeout", FieldKind::Duration),
    field("body", FieldKind::Bodies),
    field("trace", FieldKind::Trace),
    field("workers", FieldKind::Count(1024)),
    field("threads", FieldKind::Count(4096)),
];

/// The server that comes with Bancada, and the user's own.
pub(crate) const BANCADA: &str = "bancada";
pub(crate) const COMMAND: &str = "command";

pub(crate) const PRECISIONS: &[&str] = &["float32", "int8"];
pub(crate) const LOADS: &[&str] = &[
    "warm",
    "cold",
    "real-time",
    "clients",
    "rate",
    "poisson",
    "trace",
    "search",
];

const DEFAULT_SECONDS: f64 = 10.0;
/// An answer may take this long by the container contract (study B of docs/studies.md).
const DEFAULT_TIMEOUT_SECONDS: f64 = 60.0;

/// Names of stacks that can be named in a study.
pub(crate) fn stacks() -> impl Iterator<Item = &'static str> + Clone {
    [BANCADA, COMMAND]
        .into_iter()
        .chain(frameworks::stacks().map(|stack| stack.name.as_str()))
}

/// What holds where a study says nothing. The model has no default: it is the question.
pub(crate) fn defaults() -> ServeWorkload {
    ServeWorkload {
        stack: BANCADA.to_owned(),
        model: String::new(),
        image: None,
        classes: None,
        precision: ServePrecision::default(),
        load: LoadShape::Clients,
        clients: 1,
        rate: None,
        requests: None,
        pause_seconds: None,
        cold_pause_seconds: None,
        seconds: DEFAULT_SECONDS,
        under_seconds: None,
        timeout_seconds: DEFAULT_TIMEOUT_SECONDS,
        body: None,
        trace: None,
        workers: None,
        threads: None,
        command: Vec::new(),
        env: BTreeMap::new(),
        inputs: Vec::new(),
    }
}

/// Sets a field to a level. Levels of the wrong type, which no checked study has, change nothing.
pub(crate) fn apply(serve: &mut ServeWorkload, field: &str, level: &Level) {
    let text = level.as_text();
    let count = level.as_int().and_then(|value| u32::try_from(value).ok());
    let seconds = || text.and_then(|text| duration_seconds(text).ok());
    match field {
        "stack" => set(&mut serve.stack, text.map(str::to_owned)),
        "model" => set(&mut serve.model, text.map(str::to_owned)),
        "image" => set_some(&mut serve.image, count),
        "classes" => set_some(&mut serve.classes, count),
        "precision" => set(&mut serve.precision, text.and_then(named)),
        "load" => set(&mut serve.load, text.and_then(LoadShape::named)),
        "clients" => set(&mut serve.clients, count),
        "rate" => set_some(&mut serve.rate, level.as_float()),
        "requests" => set_some(&mut serve.requests, count.map(u64::from)),
        "pause" => set_some(&mut serve.pause_seconds, seconds()),
        "cold_pause" => set_some(&mut serve.cold_pause_seconds, seconds()),
        "duration" => set(&mut serve.seconds, seconds()),
        "under" => set_some(&mut serve.under_seconds, seconds()),
        "request_timeout" => set(&mut serve.timeout_seconds, seconds()),
        "body" => set_some(&mut serve.body, text.map(PathBuf::from)),
        "trace" => set_some(&mut serve.trace, text.map(PathBuf::from)),
        "workers" => set_some(&mut serve.workers, count),
        "threads" => set_some(&mut serve.threads, count),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_a_load_is_one() {
        let words = LoadShape::ALL.map(LoadShape::word);
        assert_eq!(words, LOADS);
    }

    #[test]
    fn every_field_can_be_set() {
        for field in FIELDS {
            let level = match field.kind {
                FieldKind::Count(_) => Level::Int(7),
                FieldKind::Rate => Level::Float(7.5),
                FieldKind::Duration => Level::from("7s"),
                FieldKind::Words(words) => Level::from(words[1]),
                _ => Level::from("seven"),
            };
            let mut changed = defaults();
            apply(&mut changed, field.name, &level);
            assert_ne!(changed, defaults(), "{}", field.name);
        }
    }
}
