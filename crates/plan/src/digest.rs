//! Fingerprints of a study and of its scenarios, so that results of different studies are never
//! mixed.

use model::{Environment, Scenario, Study, Workload};
use serde_json::{Value, json};

use crate::resolve;

/// Sixteen hexadecimal digits over what decides which scenarios there are and what their runs do:
/// factors, design, exclusions, workload, network files, seed, and the limits, devices and hosts of the
/// environments.
///
/// Not in it: repetitions and order (more of the same answers), prices, currency and budget (other
/// money for the same time), the name and what is written for people, how it is sampled, how
/// files are imported, whether models are kept, which inputs are watched.
pub fn digest(study: &Study) -> String {
    let environments: Vec<_> = study.environments.iter().map(place).collect();
    let mut question = json!({
        "factors": study.factors,
        "exclude": study.exclude,
        "workload": workload(&study.workload),
        "seed": study.seed,
        "environments": environments,
    });
    // What holds by default is left out, so that older results answer the same question.
    if let Some(question) = question.as_object_mut() {
        if !study.network_files.is_empty() {
            question.insert("network_files".to_owned(), json!(study.network_files));
        }
        if !study.design.is_full() {
            question.insert("design".to_owned(), json!(study.design));
        }
    }
    fingerprint(&question)
}

/// All of that but factors, design and exclusions, by names that a person finds in the study file.
pub(crate) fn question_parts(study: &Study) -> Value {
    let named = |environment: &Environment| (environment.name.clone(), place(environment));
    let environments: serde_json::Map<String, Value> =
        study.environments.iter().map(named).collect();
    json!({
        "workload": workload(&study.workload),
        "seed": study.seed,
        "environments": environments,
        "network file": study.network_files,
    })
}

/// Sixteen hexadecimal digits over what decides what a run of this scenario is: its levels, the
/// workload with the levels in their places, the text of its network file, the limits, device and
/// hosts of its environment, and the seed where something is drawn from it. Neither its number nor
/// the study's other levels: a study that grows keeps its runs.
pub fn scenario_fingerprint(study: &Study, scenario: &Scenario) -> String {
    let resolved = resolve(study, scenario);
    let levels: serde_json::Map<String, Value> = scenario
        .levels
        .iter()
        .map(|level| (level.factor.clone(), json!(level.level)))
        .collect();
    let network = resolved.workload.network();
    let network_file = network.and_then(|(_, name)| study.network_files.get(name));
    // Where nothing is drawn, the seed decides the order of runs alone.
    let seed = resolved.workload.is_seeded().then_some(study.seed);
    fingerprint(&json!({
        "levels": levels,
        "workload": workload(&resolved.workload),
        "network_file": network_file,
        "environment": place(&resolved.environment),
        "seed": seed,
    }))
}

/// Without what changes nothing about a run.
fn workload(workload: &Workload) -> Value {
    let mut workload = json!(workload);
    if let Some(settings) = workload.as_object_mut() {
        settings.remove("keep_model");
        settings.remove("inputs");
    }
    workload
}

fn place(environment: &Environment) -> Value {
    let Environment {
        name,
        limits,
        device,
        hosts,
        location,
        service,
        ..
    } = environment;
    let mut place = json!({ "name": name, "limits": limits, "device": device });
    // How they are reached is no part of the question.
    if let (Some(place), Some(hosts)) = (place.as_object_mut(), hosts) {
        place.insert("hosts".to_owned(), json!(hosts.names));
    }
    if let (Some(place), false) = (place.as_object_mut(), location.is_here()) {
        place.insert("location".to_owned(), json!(location.identity()));
    }
    if let (Some(place), Some(service)) = (place.as_object_mut(), service) {
        place.insert("service".to_owned(), json!(service));
    }
    place
}

/// Sixteen hexadecimal digits over JSON, whatever the order of its keys.
pub fn fingerprint(value: &Value) -> String {
    let mut canonical = String::new();
    write_canonical(value, &mut canonical);
    format!("{:016x}", seeded::fnv1a(canonical.as_bytes()))
}

/// JSON with sorted keys: whether `serde_json` itself sorts them depends on what else is built.
fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (key, value) in entries {
                out.push_str(&format!("{key:?}:"));
                write_canonical(value, out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write_canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        plain => out.push_str(&plain.to_string()),
    }
}
