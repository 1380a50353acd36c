//! The schema and the reader know the same keys.

use std::collections::BTreeSet;

use plan::schema;
use serde_json::Value;

use crate::support::read;

/// Each table of the file: where the schema describes it, and a file with an unknown key in it.
const SECTIONS: &[(&str, &str)] = &[
    ("", "zzz = 1"),
    ("/properties/study", "[study]\nzzz = 1"),
    (
        "/properties/factors/additionalProperties/anyOf/2",
        "[factors]\nn = { zzz = 1 }",
    ),
    ("/properties/design", "[design]\nzzz = 1"),
    ("/properties/workload", "[workload]\nzzz = 1"),
    (
        "/properties/workload/properties/log/items",
        "[[workload.log]]\nzzz = 1",
    ),
    (
        "/properties/environments/additionalProperties",
        "[environments.a]\nzzz = 1",
    ),
    (
        "/properties/environments/additionalProperties/properties/own",
        "[environments.a.own]\nzzz = 1",
    ),
    (
        "/properties/environments/additionalProperties/properties/billing",
        "[environments.a.billing]\nzzz = 1",
    ),
    (
        "/properties/environments/additionalProperties/properties/power",
        "[environments.a.power]\nzzz = 1",
    ),
    (
        "/properties/environments/additionalProperties/properties/carbon",
        "[environments.a.carbon]\nzzz = 1",
    ),
    (
        "/properties/study/properties/carbon",
        "[study.carbon]\nzzz = 1",
    ),
    (
        "/properties/environments/additionalProperties/properties/serverless",
        "[environments.a.serverless]\nzzz = 1",
    ),
    (
        "/properties/environments/additionalProperties/properties/sagemaker",
        "[environments.a.sagemaker]\nzzz = 1",
    ),
    (
        "/properties/environments/additionalProperties/properties/container/anyOf/1",
        "[environments.a.container]\nzzz = 1",
    ),
    (
        "/properties/environments/additionalProperties/properties/slurm",
        "[environments.a.slurm]\nzzz = 1",
    ),
    (
        "/properties/environments/additionalProperties/properties/rent",
        "[environments.a.rent]\nzzz = 1",
    ),
    (
        "/properties/prices/additionalProperties/anyOf/1",
        "[prices.a]\nzzz = 1",
    ),
    (
        "/properties/prices/additionalProperties/anyOf/1/properties/own",
        "[prices.a.own]\nzzz = 1",
    ),
    (
        "/properties/prices/additionalProperties/anyOf/1/properties/billing",
        "[prices.a.billing]\nzzz = 1",
    ),
    (
        "/properties/environments/additionalProperties/properties/billing/properties/discounts/items",
        "[environments.a.billing]\ndiscounts = [{ zzz = 1 }]",
    ),
    (
        "/properties/environments/additionalProperties/properties/billing/properties/around",
        "[environments.a.billing]\naround = { zzz = 1 }",
    ),
    (
        "/properties/environments/additionalProperties/properties/billing/properties/interruptions",
        "[environments.a.billing]\ninterruptions = { zzz = 1 }",
    ),
    (
        "/properties/environments/additionalProperties/properties/billing/properties/charges/items",
        "[environments.a.billing]\ncharges = [{ zzz = 1 }]",
    ),
    (
        "/properties/environments/additionalProperties/properties/billing/properties/month",
        "[environments.a.billing]\nmonth = { zzz = 1 }",
    ),
    (
        "/properties/prices/additionalProperties/anyOf/1/properties/billing/properties/discounts/items",
        "[prices.a.billing]\ndiscounts = [{ zzz = 1 }]",
    ),
    (
        "/properties/prices/additionalProperties/anyOf/1/properties/billing/properties/around",
        "[prices.a.billing]\naround = { zzz = 1 }",
    ),
    (
        "/properties/prices/additionalProperties/anyOf/1/properties/billing/properties/interruptions",
        "[prices.a.billing]\ninterruptions = { zzz = 1 }",
    ),
    (
        "/properties/prices/additionalProperties/anyOf/1/properties/billing/properties/charges/items",
        "[prices.a.billing]\ncharges = [{ zzz = 1 }]",
    ),
    (
        "/properties/prices/additionalProperties/anyOf/1/properties/billing/properties/month",
        "[prices.a.billing]\nmonth = { zzz = 1 }",
    ),
    (
        "/properties/prices/additionalProperties/anyOf/1/properties/changes/items",
        "[prices.a]\nchanges = [{ zzz = 1 }]",
    ),
    ("/properties/rates/items", "[[rates]]\nzzz = 1"),
    ("/properties/measure", "[measure]\nzzz = 1"),
    ("/properties/import", "[import]\nzzz = 1"),
    (
        "/properties/scale/additionalProperties",
        "[scale.small]\nzzz = 1",
    ),
    (
        "/properties/scale/additionalProperties/properties/factors/additionalProperties/anyOf/2",
        "[scale.small]\nfactors = { n = { zzz = 1 } }",
    ),
];

/// The keys that the reader says it knows when it meets one it does not.
fn keys_of_reader(text: &str) -> Vec<String> {
    let mistakes = read(text).unwrap_err();
    let unknown = mistakes
        .iter()
        .find(|m| m.message.contains("`zzz`"))
        .expect(text);
    let known = unknown
        .notes
        .iter()
        .find_map(|note| note.strip_prefix("known: "))
        .expect(text);
    known.split(", ").map(str::to_owned).collect()
}

#[test]
fn reader_and_schema_know_the_same_keys() {
    let schema = schema();
    for (pointer, text) in SECTIONS {
        let properties = schema
            .pointer(pointer)
            .and_then(|s| s["properties"].as_object());
        let described: BTreeSet<String> = properties.expect(pointer).keys().cloned().collect();
        let read = keys_of_reader(text);
        assert_eq!(
            read.iter().cloned().collect::<BTreeSet<_>>(),
            described,
            "{pointer}"
        );
        assert_eq!(
            read.len(),
            described.len(),
            "{pointer}: asked twice in {read:?}"
        );
    }
}

#[test]
fn every_table_of_the_schema_is_looked_at() {
    fn tables(value: &Value) -> usize {
        let closed = value["additionalProperties"] == Value::Bool(false);
        let inner = match value {
            Value::Object(map) => map.values().map(tables).sum(),
            Value::Array(items) => items.iter().map(tables).sum(),
            _ => 0,
        };
        inner + usize::from(closed)
    }
    // Ranges of levels stand once for each factor that has a name, and once for all others; in
    // the factors of a study and in those of a scale.
    let factors = schema()["properties"]["factors"]["properties"]
        .as_object()
        .unwrap()
        .len();
    assert_eq!(tables(&schema()), SECTIONS.len() + 2 * factors);
}

#[test]
fn every_key_is_described() {
    fn check(path: &str, value: &Value) {
        let Some(properties) = value["properties"].as_object() else {
            return;
        };
        // Levels and ranges of factors speak for themselves.
        for (name, inner) in properties.iter().filter(|_| !path.contains("factors")) {
            let path = format!("{path}.{name}");
            assert!(
                inner["description"].as_str().is_some_and(|d| d.len() > 5),
                "{path}"
            );
            check(&path, inner);
            check(&path, &inner["items"]);
            check(&path, &inner["additionalProperties"]);
        }
    }
    check("", &schema());
}

#[test]
fn words_come_from_the_lists_that_the_reader_uses() {
    let schema = schema();
    let workload = &schema["properties"]["workload"]["properties"];
    let check = |key: &str, expected: Vec<&str>| {
        assert_eq!(workload[key]["enum"], serde_json::json!(expected), "{key}");
    };
    check("dataset", data::names().collect());
    check("optimizer", vec!["adam", "sgd"]);
    let offered = |key: &str, expected: Vec<&str>| {
        let enumerated = &workload[key]["anyOf"][0]["enum"];
        assert_eq!(*enumerated, serde_json::json!(expected), "{key}");
    };
    offered("framework", frameworks::names().collect());
    offered("network", network::names().collect());
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
}

/// What is wrong with a document by a schema; only keywords that [`schema`] uses are known, and any
/// other one is a mistake of its own.
fn mistakes(schema: &Value, document: &Value, place: &str, found: &mut Vec<String>) {
    let Some(rules) = schema.as_object() else {
        return;
    };
    let passes = |schema: &Value, document: &Value| {
        let mut inner = Vec::new();
        mistakes(schema, document, place, &mut inner);
        inner.is_empty()
    };
    for (keyword, rule) in rules {
        let is_kind = |kind: &Value| match kind.as_str() {
            Some("object") => document.is_object(),
            Some("array") => document.is_array(),
            Some("string") => document.is_string(),
            Some("boolean") => document.is_boolean(),
            Some("integer") => document.is_i64() || document.is_u64(),
            Some("number") => document.is_number(),
            _ => false,
        };
        let number = document.as_f64();
        let fine = match keyword.as_str() {
            "$schema" | "title" | "description" | "examples" | "default" => true,
            "type" => match rule {
                Value::Array(kinds) => kinds.iter().any(is_kind),
                kind => is_kind(kind),
            },
            "enum" => rule.as_array().unwrap().contains(document),
            "pattern" => document.as_str().is_none_or(|text| {
                let pattern = regex::Regex::new(rule.as_str().unwrap()).unwrap();
                pattern.is_match(text)
            }),
            "minimum" => number.is_none_or(|n| n >= rule.as_f64().unwrap()),
            "maximum" => number.is_none_or(|n| n <= rule.as_f64().unwrap()),
            "exclusiveMinimum" => number.is_none_or(|n| n > rule.as_f64().unwrap()),
            "minItems" => document
                .as_array()
                .is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap()),
            "minProperties" => document
                .as_object()
                .is_none_or(|map| map.len() as u64 >= rule.as_u64().unwrap()),
            "anyOf" => rule.as_array().unwrap().iter().any(|s| passes(s, document)),
            "required" => document.as_object().is_none_or(|map| {
                let mut keys = rule.as_array().unwrap().iter();
                keys.all(|key| map.contains_key(key.as_str().unwrap()))
            }),
            "items" => {
                for (index, item) in document.as_array().into_iter().flatten().enumerate() {
                    mistakes(rule, item, &format!("{place}/{index}"), found);
                }
                true
            }
            "properties" => {
                for (key, value) in document.as_object().into_iter().flatten() {
                    if let Some(inner) = rule.get(key) {
                        mistakes(inner, value, &format!("{place}/{key}"), found);
                    }
                }
                true
            }
            "additionalProperties" => {
                for (key, value) in document.as_object().into_iter().flatten() {
                    let place = format!("{place}/{key}");
                    match rule {
                        _ if schema["properties"].get(key).is_some() => {}
                        Value::Bool(false) => found.push(format!("{place}: unknown key")),
                        inner => mistakes(inner, value, &place, found),
                    }
                }
                true
            }
            other => panic!("{place}: the test does not know the keyword `{other}`"),
        };
        if !fine {
            found.push(format!("{place}: {document} is not {keyword} {rule}"));
        }
    }
}

/// As editors see it: dates are texts.
fn as_json(value: &toml::Value) -> Value {
    match value {
        toml::Value::Datetime(date) => Value::from(date.to_string()),
        toml::Value::Array(items) => items.iter().map(as_json).collect(),
        toml::Value::Table(table) => {
            let entries = table
                .iter()
                .map(|(key, value)| (key.clone(), as_json(value)));
            Value::Object(entries.collect())
        }
        toml::Value::String(text) => Value::from(text.as_str()),
        toml::Value::Integer(number) => Value::from(*number),
        toml::Value::Float(number) => Value::from(*number),
        toml::Value::Boolean(flag) => Value::from(*flag),
    }
}

fn mistakes_of(text: &str) -> Vec<String> {
    let table: toml::Table = text.parse().unwrap();
    let mut found = Vec::new();
    let document = as_json(&toml::Value::Table(table));
    mistakes(&schema(), &document, "", &mut found);
    found
}

#[test]
fn the_projects_studies_pass_the_schema() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies");
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "toml") {
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(
                mistakes_of(&text),
                Vec::<String>::new(),
                "{}",
                path.display()
            );
            checked += 1;
        }
    }
    assert!(checked >= 5, "{checked} studies in {folder}");
    for template in plan::TEMPLATES {
        assert_eq!(
            mistakes_of(template.text),
            Vec::<String>::new(),
            "{}",
            template.name
        );
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let check = |text: &str, expected: &str| {
        let found = mistakes_of(text);
        assert!(
            found.iter().any(|m| m.starts_with(expected)),
            "{text}\n{found:?}"
        );
        assert!(read(text).is_err(), "{text}");
    };
    check("[workload]\nkind = \"train\"\n", ": ");
    check(
        "[study]\nname = \"s\"\nrepetitions = 0\n[workload]\n",
        "/study/repetitions: 0",
    );
    check(
        "[study]\nname = \"s\"\nseeds = 1\n[workload]\n",
        "/study/seeds: unknown key",
    );
    let rate = "[study]\nname = \"s\"\n[workload]\n[[rates]]\nfrom = \"USD\"\nto = \"BRL\"\nrate = 5\ndate = 24\n";
    check(rate, "/rates/0/date: 24");
}
