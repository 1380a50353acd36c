//! What a measurement gets when its run is over: what the client of a server saw.

use std::path::Path;

use model::measurement::ReadyImage;
use model::run::metric;
use model::serving::EndpointRecord;
use model::{Measurement, Metric, ReadyModel, ServingRecord, Warning};

/// What the client of a serving run saw.
pub(crate) const SERVING_FILE: &str = "serving.json";
/// What became of the endpoint that it made.
pub(crate) const ENDPOINT_FILE: &str = "endpoint.json";

/// Use of the machine, which nobody knows of a server elsewhere.
const OF_THE_SERVER: [&str; 6] = [
    metric::CORES_USED,
    metric::CPU_PERCENT,
    metric::MACHINE_CPU_PERCENT,
    metric::PEAK_MEMORY_BYTES,
    metric::MEMORY_PERCENT,
    metric::MEAN_MEMORY_PERCENT,
];

/// What the client of a serving run saw; nothing where it did not get so far.
pub(crate) fn add_serving(measurement: &mut Measurement, runtime: Option<String>, folder: &Path) {
    let read = host::read_regular(&folder.join(SERVING_FILE)).ok();
    let read = read.and_then(|bytes| serde_json::from_slice::<ServingRecord>(&bytes).ok());
    let Some(mut serving) = read else { return };
    serving.runtime = runtime;
    if serving.is_elsewhere {
        // What was sampled here is the client.
        measurement
            .metrics
            .retain(|name, _| !OF_THE_SERVER.contains(&name.as_str()));
    }
    if let Some(reason) = &serving.client_limited {
        let reason = reason.clone();
        measurement.warnings.push(Warning::ClientLimited { reason });
    }
    if serving.failed() > 0 {
        measurement.warnings.push(Warning::FailedRequests {
            failed: serving.failed(),
            requests: serving.requests(),
            first: serving.first_failure.clone().unwrap_or_default(),
        });
    }
    measurement.serving = Some(serving);
}

/// What the run was started in.
pub(crate) fn add_image(measurement: &mut Measurement, image: &ReadyImage) {
    let bytes = Metric {
        value: image.bytes as f64,
        unit: "B".to_owned(),
    };
    let name = metric::IMAGE_BYTES.to_owned();
    measurement.metrics.insert(name, bytes);
    let versions = &mut measurement.machine.versions;
    versions.insert(image.engine.clone(), image.engine_version.clone());
    versions.insert("image".to_owned(), format!("{} {}", image.name, image.id));
}

/// An endpoint that nobody saw gone.
pub(crate) fn endpoint_left(folder: &Path) -> Option<Warning> {
    let read = host::read_regular(&folder.join(ENDPOINT_FILE)).ok()?;
    let endpoint = serde_json::from_slice::<EndpointRecord>(&read).ok()?;
    (!endpoint.is_gone).then_some(Warning::EndpointLeft {
        endpoint: endpoint.name,
        region: endpoint.region,
        why: endpoint.detail,
    })
}

pub(crate) fn model_metrics(model: &ReadyModel) -> Vec<(String, Metric)> {
    let all = [
        (
            metric::MODEL_BYTES,
            model.bytes.map(|bytes| bytes as f64),
            "B",
        ),
        (metric::ACCURACY, model.accuracy_percent, "%"),
        (metric::AGREEMENT_PERCENT, model.agreement_percent, "%"),
    ];
    let named = all.into_iter().filter_map(|(name, value, unit)| {
        let (value, unit) = (value?, unit.to_owned());
        Some((name.to_owned(), Metric { value, unit }))
    });
    named.collect()
}
