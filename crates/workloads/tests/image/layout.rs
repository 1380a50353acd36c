//! The documents, by the specification.

use std::fs;
use std::time::{Duration, SystemTime};

use workloads::image::{Output, Report, Size, build};

use crate::support::{Place, blob, config, json, listed, manifest, sha256, unzipped};

#[test]
fn the_same_files_make_the_same_image_byte_for_byte() {
    let (one, two) = (Place::new(), Place::new());
    let first = one.build(&one.image());
    let later = SystemTime::now() + Duration::from_secs(1000);
    let model = fs::File::options()
        .append(true)
        .open(two.at("model/model.onnx"))
        .unwrap();
    model.set_modified(later).unwrap();
    let second = two.build(&two.image());
    assert_eq!(first, second);
    let archive = |place: &Place| fs::read(place.at("image.tar")).unwrap();
    assert!(archive(&one) == archive(&two));
    fs::write(two.at("model/model.onnx"), "weightz").unwrap();
    let output = Output {
        replace: true,
        ..two.output()
    };
    let other = build(&two.image(), &output).unwrap();
    assert_ne!(other.digest, first.digest);
    assert_eq!(other.layers[..2], first.layers[..2]);
    assert_ne!(other.layers[2].digest, first.layers[2].digest);
}

#[test]
fn every_document_is_what_the_specification_asks_for() {
    let place = Place::new();
    let report = place.build(&place.image());
    let layout = place.at("image");
    let read = |name: &str| json(&fs::read(layout.join(name)).unwrap());
    assert_eq!(read("oci-layout")["imageLayoutVersion"], "1.0.0");
    let index = read("index.json");
    assert_eq!(index["schemaVersion"], 2);
    assert_eq!(
        index["mediaType"],
        "application/vnd.oci.image.index.v1+json"
    );
    let described = &index["manifests"][0];
    assert_eq!(described["digest"], report.digest);
    assert_eq!(
        described["mediaType"],
        "application/vnd.oci.image.manifest.v1+json"
    );
    assert_eq!(
        described["platform"]["architecture"],
        report.architecture.word()
    );
    let names = &described["annotations"];
    assert_eq!(names["org.opencontainers.image.ref.name"], "1");
    assert_eq!(
        names["io.containerd.image.name"],
        "docker.io/bancada/test:1"
    );

    let manifest = manifest(&layout);
    assert_eq!(manifest["schemaVersion"], 2);
    assert_eq!(manifest["config"]["digest"], report.config_digest);
    assert_eq!(
        manifest["config"]["mediaType"],
        "application/vnd.oci.image.config.v1+json"
    );
    let config = config(&layout);
    assert_eq!(config["rootfs"]["type"], "layers");
    assert_eq!(config["history"].as_array().unwrap().len(), 3);
    let layers = manifest["layers"].as_array().unwrap();
    assert_eq!(layers.len(), 3);
    for (number, layer) in layers.iter().enumerate() {
        assert_eq!(
            layer["mediaType"],
            "application/vnd.oci.image.layer.v1.tar+gzip"
        );
        let archive = unzipped(&blob(&layout, layer));
        assert_eq!(config["rootfs"]["diff_ids"][number], sha256(&archive));
    }
    let blobs = fs::read_dir(layout.join("blobs/sha256")).unwrap();
    assert_eq!(blobs.count(), 5, "layers, configuration, manifest");
}

#[test]
fn the_configuration_starts_the_server_as_nobody_in_particular() {
    let place = Place::new();
    place.build(&place.image());
    let config = config(&place.at("image"));
    assert_eq!(config["os"], "linux");
    assert_eq!(config["created"], "1970-01-01T00:00:00Z");
    let settings = &config["config"];
    assert_eq!(settings["User"], "10001");
    assert_eq!(
        settings["Entrypoint"],
        serde_json::json!(["/usr/bin/bancada-serve"])
    );
    assert_eq!(settings["Cmd"], serde_json::json!(["serve"]));
    assert_eq!(
        settings["Env"],
        serde_json::json!(["BANCADA_HOST=0.0.0.0", "ORT_DISABLE_TELEMETRY=1"])
    );
    assert_eq!(
        settings["ExposedPorts"],
        serde_json::json!({"8080/tcp": {}})
    );
    let labels = &settings["Labels"];
    assert_eq!(labels["org.opencontainers.image.title"], "test");
    assert_eq!(labels["org.opencontainers.image.version"], "0.1.0");
    assert_eq!(
        labels["com.amazonaws.sagemaker.capabilities.accept-bind-to-port"],
        "true"
    );
}

#[test]
fn the_report_counts_what_lies_there() {
    let place = Place::new();
    let report = place.build(&place.image());
    let sum = |of: fn(&Size) -> u64| {
        report
            .layers
            .iter()
            .map(|layer| of(&layer.size))
            .sum::<u64>()
    };
    assert_eq!(
        report.total.compressed_bytes,
        sum(|size| size.compressed_bytes)
    );
    assert_eq!(report.total.disk_bytes, sum(|size| size.disk_bytes));
    let model = report.layers[2].size;
    assert_eq!(model.disk_bytes, "weights{}".len() as u64);
    assert_eq!(
        report.without_model.disk_bytes,
        report.total.disk_bytes - model.disk_bytes
    );
    let archive = fs::metadata(place.at("image.tar")).unwrap();
    assert_eq!(report.archive_bytes, Some(archive.len()));
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
}

#[test]
fn the_archive_holds_the_layout_and_docker_s_list() {
    let place = Place::new();
    let report = place.build(&place.image());
    let entries = listed(&fs::read(place.at("image.tar")).unwrap());
    let find = |path: &str| {
        let found = entries.iter().find(|entry| entry.path == path);
        &found.unwrap_or_else(|| panic!("{path}")).content
    };
    let in_folder = fs::read(place.at("image/index.json")).unwrap();
    assert_eq!(*find("index.json"), in_folder);
    find("oci-layout");
    let saved = &json(find("manifest.json"))[0];
    assert_eq!(saved["RepoTags"], serde_json::json!(["bancada/test:1"]));
    let config = find(saved["Config"].as_str().unwrap());
    assert_eq!(sha256(config), report.config_digest);
    let layers = saved["Layers"].as_array().unwrap();
    for (path, layer) in layers.iter().zip(&report.layers) {
        assert_eq!(sha256(find(path.as_str().unwrap())), layer.digest);
    }
    assert_eq!(layers.len(), report.layers.len());
}
