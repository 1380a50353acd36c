//! The JSON schema of study files, for editors that complete and check them.

use serde_json::{Map, Value, json};

use crate::field::{Field, FieldKind};
use crate::keys::{self, Key, Kind, Section};
use crate::{serve, train};

/// JSON Schema, draft 2020-12.
pub fn schema() -> Value {
    let mut schema = section(keys::top());
    if let Value::Object(map) = &mut schema {
        map.insert(
            "$schema".to_owned(),
            json!("https://json-schema.org/draft/2020-12/schema"),
        );
        map.insert("title".to_owned(), json!("Bancada study"));
        let one_of = json!([{ "required": ["workload"] }, { "required": ["import"] }]);
        map.insert("anyOf".to_owned(), one_of);
    }
    schema
}

fn section(section: &Section) -> Value {
    let mut properties = Map::new();
    for key in &section.keys {
        properties.insert(key.name.clone(), described(key));
    }
    let required = section.keys.iter().filter(|key| key.required);
    let required: Vec<&str> = required.map(|key| key.name.as_str()).collect();
    json!({
        "type": "object",
        "description": section.about,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn described(key: &Key) -> Value {
    let mut value = of_kind(&key.kind);
    if let Value::Object(map) = &mut value {
        map.insert("description".to_owned(), json!(key.about));
    }
    value
}

fn of_kind(kind: &Kind) -> Value {
    let inner = || kind.section().map(section);
    match kind.word.as_str() {
        "text" => json!({ "type": "string" }),
        "one-of" => json!({ "type": "string", "enum": keys::words(&kind.of) }),
        // Any text, but these are completed.
        "offered" => json!({ "type": "string", "anyOf": [{ "enum": keys::words(&kind.of) }, {}] }),
        "count" | "whole" => match kind.range() {
            (from, None) => json!({ "type": "integer", "minimum": from }),
            (from, Some(to)) => json!({ "type": "integer", "minimum": from, "maximum": to }),
        },
        "number" => json!({ "type": "number", "minimum": 0 }),
        "flag" => json!({ "type": "boolean" }),
        "decimal" => json!({ "anyOf": [{ "type": "number" }, pattern("^[0-9.]+$", "4.865")] }),
        "duration" => pattern("^[0-9._]+ *(ms|s|min|h|d)$", "10s"),
        "power" => pattern("^[0-9._]+ *k?W$", "60 W"),
        "size" => size(),
        "money" => pattern("^[0-9.]+ +[A-Z]{3}$", "200 USD"),
        "price" => {
            let one = json!({ "type": "string", "examples": price_examples() });
            json!({ "anyOf": [one, { "type": "array", "items": { "type": "string" }, "minItems": 1 }] })
        }
        "electricity" => pattern("^[0-9._]+ +[A-Z]{3} */ *kWh$", "0.15 USD/kWh"),
        "date" => {
            let text = pattern("^[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?$", "2024-03-01");
            json!({ "anyOf": [text, { "type": "integer", "minimum": 1000, "maximum": 9999 }] })
        }
        "moment" => pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}", "2026-11-16T12:00:00Z"),
        "currency" => pattern("^[A-Z]{3}$", "USD"),
        "texts" => texts(),
        "text-or-list" => json!({ "anyOf": [{ "type": "string" }, texts()] }),
        "text-or-table" => json!({ "anyOf": [{ "type": "string" }, inner()] }),
        "paid" => {
            json!({ "anyOf": [{ "enum": ["all", "requests"] }, { "type": "array", "items": { "type": "string" }, "minItems": 1 }] })
        }
        "variables" | "levels" => json!({ "type": "object", "additionalProperties": scalar() }),
        "roles" => {
            json!({ "type": "object", "additionalProperties": { "enum": model::Role::ALL } })
        }
        "two-levels" => {
            let two = json!({ "type": "array", "items": scalar(), "minItems": 2, "maxItems": 2 });
            json!({ "type": "object", "additionalProperties": two })
        }
        "exclusions" => exclusions(),
        "factors" => factors(),
        "columns" => {
            json!({ "anyOf": [texts(), { "type": "object", "additionalProperties": { "type": "string" } }] })
        }
        "measured" => {
            json!({ "type": "object", "additionalProperties": { "type": "string", "examples": ["train_seconds:ms", "s"] } })
        }
        "table" => json!(inner()),
        "tables" => json!({ "type": "array", "items": inner() }),
        "named" => json!({ "type": "object", "additionalProperties": inner() }),
        "prices" => {
            json!({ "type": "object", "additionalProperties": { "anyOf": [pattern("/", "0.2 USD/h"), inner()] } })
        }
        _ => Value::Null,
    }
}

fn size() -> Value {
    pattern("^[0-9._]+ *([kKMGT]?B|[KMGT]iB)$", "8 GB")
}

fn texts() -> Value {
    json!({ "type": "array", "items": { "type": "string" } })
}

fn pattern(pattern: &str, example: &str) -> Value {
    json!({ "type": "string", "pattern": pattern, "examples": [example] })
}

fn price_examples() -> Vec<String> {
    std::iter::once("0.169 USD/h".to_owned())
        .chain(cost::names())
        .collect()
}

fn scalar() -> Value {
    json!({ "type": ["string", "number", "boolean"] })
}

fn exclusions() -> Value {
    let level = json!({ "anyOf": [scalar(), { "type": "array", "items": scalar() }] });
    json!({ "type": "array", "items": { "type": "object", "minProperties": 1, "additionalProperties": level } })
}

/// Any names; those that mean something to Bancada are completed with their levels.
fn factors() -> Value {
    let mut properties = Map::new();
    for field in train::FIELDS {
        properties.insert(field.name.to_owned(), levels(&field_level(field.kind)));
    }
    let is_new = |field: &&Field| train::FIELDS.iter().all(|f| f.name != field.name);
    for field in serve::FIELDS.iter().filter(is_new) {
        properties.insert(field.name.to_owned(), levels(&field_level(field.kind)));
    }
    properties.insert(
        "environment".to_owned(),
        levels(&json!({ "type": "string" })),
    );
    properties.insert(
        "cores".to_owned(),
        levels(&json!({ "type": "number", "exclusiveMinimum": 0 })),
    );
    properties.insert("memory".to_owned(), levels(&size()));
    json!({ "type": "object", "properties": properties, "additionalProperties": levels(&scalar()) })
}

/// For editors only: a command may use the name of a field for levels of any kind.
fn field_level(field: FieldKind) -> Value {
    let words: Vec<&str> = match field {
        FieldKind::Framework => frameworks::names().collect(),
        FieldKind::Network | FieldKind::Model => network::names().collect(),
        FieldKind::Stack => serve::stacks().collect(),
        FieldKind::Dataset => data::names().collect(),
        FieldKind::Optimizer => train::OPTIMIZERS.to_vec(),
        FieldKind::Words(words) => words.to_vec(),
        FieldKind::Flag => return json!({ "type": "boolean" }),
        FieldKind::Text
        | FieldKind::Bodies
        | FieldKind::Trace
        | FieldKind::Rate
        | FieldKind::Duration
        | FieldKind::Count(_)
        | FieldKind::LearningRate
        | FieldKind::Momentum => return scalar(),
    };
    json!({ "anyOf": [{ "enum": words }, scalar()] })
}

/// A list, a single level or a range.
fn levels(level: &Value) -> Value {
    let whole = json!({ "type": "integer" });
    let range = json!({
        "type": "object",
        "properties": { "from": whole, "to": whole, "step": whole, "powers_of": whole },
        "required": ["from", "to"],
        "additionalProperties": false,
    });
    json!({ "anyOf": [{ "type": "array", "items": level, "minItems": 1 }, level, range] })
}
