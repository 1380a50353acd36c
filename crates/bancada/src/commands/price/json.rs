//! Entries of the catalog for other programs: amounts are texts, so that no program makes binary
//! fractions of them unasked.

use cost::{CatalogEntry, Quote};
use serde_json::{Value, json};

pub(super) fn entry(entry: &CatalogEntry) -> Value {
    let shape = &entry.shape;
    let text = |value: Option<String>| value.map_or(Value::Null, Value::from);
    let gpu = shape.gpu.as_ref().map_or(Value::Null, |gpu| {
        json!({
            "kind": gpu.kind,
            "count": text(gpu.count.map(|c| c.to_string())),
            "memory_gib": text(gpu.memory_gib.map(|m| m.to_string())),
        })
    });
    json!({
        "name": entry.name(),
        "provider": entry.provider,
        "machine": entry.machine,
        "region": entry.region,
        "vcpus": text(shape.vcpus.map(|v| v.to_string())),
        "memory_gib": text(shape.memory_gib.map(|m| m.to_string())),
        "gpu": gpu,
        "architecture": shape.architecture.map(|a| a.word()),
        "on_demand": quote(entry.on_demand.as_ref()),
        "spot": quote(entry.spot.as_ref()),
    })
}

fn quote(quote: Option<&Quote>) -> Value {
    quote.map_or(Value::Null, |quote| {
        json!({
            "per_hour": quote.per_hour.amount.to_string(),
            "currency": quote.per_hour.currency.code(),
            "source": quote.source,
            "date": quote.date,
        })
    })
}
