//! A fingerprint of the question, so that answers to different questions are never mixed.

use model::{Environment, Study};
use serde_json::{Value, json};

/// Sixteen hexadecimal digits over what decides what a scenario's run is: factors, exclusions,
/// workload, network files, seed, and the limits, devices and hosts of the environments.
///
/// Not in it: repetitions and order (more of the same answers), prices, currency and budget (other
/// money for the same time), the name and what is written for people, how it is sampled, how
/// files are imported, whether models are kept.
pub fn digest(study: &Study) -> String {
    let environments: Vec<_> = study.environments.iter().map(place).collect();
    let mut workload = json!(study.workload);
    if let Some(settings) = workload.as_object_mut() {
        settings.remove("keep_model");
    }
    let mut question = json!({
        "factors": study.factors,
        "exclude": study.exclude,
        "workload": workload,
        "seed": study.seed,
        "environments": environments,
    });
    if let Some(question) = question.as_object_mut()
        && !study.network_files.is_empty()
    {
        question.insert("network_files".to_owned(), json!(study.network_files));
    }
    fingerprint(&question)
}

fn place(environment: &Environment) -> Value {
    let Environment {
        name,
        limits,
        device,
        hosts,
        service,
        ..
    } = environment;
    let mut place = json!({ "name": name, "limits": limits, "device": device });
    // How they are reached is no part of the question.
    if let (Some(place), Some(hosts)) = (place.as_object_mut(), hosts) {
        place.insert("hosts".to_owned(), json!(hosts.names));
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
    format!("{:016x}", fnv1a(canonical.as_bytes()))
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

/// FNV-1a, 64 bits (Fowler, Noll and Vo): stable across versions and machines, unlike the
/// standard library's hasher. Not for secrets.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::fnv1a;

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fnv1a(b""), 0xCBF2_9CE4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_F739_67E8);
    }
}
