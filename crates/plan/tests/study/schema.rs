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
        "/properties/environments/additionalProperties/properties/serverless",
        "[environments.a.serverless]\nzzz = 1",
    ),
    (
        "/properties/environments/additionalProperties/properties/sagemaker",
        "[environments.a.sagemaker]\nzzz = 1",
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
