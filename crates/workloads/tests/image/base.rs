//! Images on top of others.

use std::fs;

use serde_json::json;
use workloads::image::{Architecture, Base, LayerKind, Output, build};

use crate::support::{PROGRAM, Place, blob_path, config, manifest, patched, sha256};

/// An image without a model, in the folder `base` and the archive `base.tar`.
fn with_base() -> Place {
    let place = Place::new();
    let mut image = place.image();
    image.model = None;
    let output = Output {
        folder: Some(place.at("base")),
        archive: Some(place.at("base.tar")),
        replace: false,
    };
    build(&image, &output).unwrap();
    place
}

/// Changes the base's configuration as if another had built it.
fn reconfigure(place: &Place, change: impl FnOnce(&mut serde_json::Value)) {
    let base = place.at("base");
    let mut config = config(&base);
    change(&mut config);
    let mut manifest = manifest(&base);
    let mut index = crate::support::json(&fs::read(base.join("index.json")).unwrap());
    let put = |descriptor: &mut serde_json::Value, document: &serde_json::Value| {
        let bytes = serde_json::to_vec(document).unwrap();
        let digest = sha256(&bytes);
        fs::write(blob_path(&base, &digest), &bytes).unwrap();
        descriptor["digest"] = json!(digest);
        descriptor["size"] = json!(bytes.len());
    };
    put(&mut manifest["config"], &config);
    let architecture = config["architecture"].clone();
    index["manifests"][0]["platform"]["architecture"] = architecture;
    put(&mut index["manifests"][0], &manifest);
    fs::write(base.join("index.json"), index.to_string()).unwrap();
}

#[test]
fn a_folder_and_its_archive_are_the_same_base() {
    let place = with_base();
    let mut image = place.image();
    image.base = Base::Given(place.at("base"));
    let from_folder = place.build(&image);
    image.base = Base::Given(place.at("base.tar"));
    let output = Output {
        replace: true,
        ..place.output()
    };
    assert_eq!(build(&image, &output).unwrap(), from_folder);
    let kinds: Vec<_> = from_folder.layers.iter().map(|layer| layer.kind).collect();
    let base = LayerKind::Base;
    assert_eq!(kinds, [base, base, LayerKind::Server, LayerKind::Model]);
    assert!(from_folder.layers[0].size.disk_bytes > 1_000_000);
    let diff_ids = config(&place.at("image"))["rootfs"]["diff_ids"].clone();
    let layers: Vec<_> = from_folder
        .layers
        .iter()
        .map(|layer| &layer.diff_id)
        .collect();
    assert_eq!(diff_ids, json!(layers));
}

#[test]
fn what_a_base_says_is_kept_where_the_server_says_nothing() {
    let place = with_base();
    reconfigure(&place, |config| {
        let settings = &mut config["config"];
        settings["Env"] = json!(["PATH=/bin", "BANCADA_HOST=127.0.0.1"]);
        settings["Labels"] = json!(null);
        settings["Cmd"] = json!(["sh"]);
        settings["StopSignal"] = json!("SIGINT");
        config["author"] = json!("someone");
    });
    let mut image = place.image();
    image.base = Base::Given(place.at("base"));
    place.build(&image);
    let config = config(&place.at("image"));
    let settings = &config["config"];
    let env = json!([
        "PATH=/bin",
        "BANCADA_HOST=0.0.0.0",
        "ORT_DISABLE_TELEMETRY=1"
    ]);
    assert_eq!(settings["Env"], env);
    assert_eq!(settings["Cmd"], json!(["serve"]));
    assert_eq!(settings["StopSignal"], "SIGINT");
    assert_eq!(config["author"], "someone");
}

#[test]
fn an_image_for_arm64_on_a_base_for_arm64() {
    let place = with_base();
    reconfigure(&place, |config| {
        config["architecture"] = json!("arm64");
        config["variant"] = json!("v8");
    });
    let program = place.at("server");
    patched(&program, |bytes| bytes[18..20].copy_from_slice(&[183, 0]));
    let mut image = place.image();
    image.architecture = Architecture::Arm64;
    image.library = program.clone();
    image.program = program;
    image.base = Base::Given(place.at("base"));
    let report = place.build(&image);
    assert_eq!(report.architecture, Architecture::Arm64);
    let config = config(&place.at("image"));
    assert_eq!(config["architecture"], "arm64");
    assert_eq!(config["variant"], "v8");
}

#[test]
fn bases_that_cannot_be_one() {
    let place = with_base();
    let refused = |base: &str, program: &str, expected: &str| {
        let mut image = place.image();
        image.base = Base::Given(place.at(base));
        image.program = program.into();
        let said = place.refused(&image);
        assert!(said.contains(expected), "{said}");
    };
    let own = std::env::current_exe().unwrap();
    refused("base", own.to_str().unwrap(), "lacks libgcc_s.so.1");
    refused("model", PROGRAM, "no index.json");
    refused("nothing", PROGRAM, "nothing cannot be read");
    let layer = manifest(&place.at("base"))["layers"][0]["digest"].clone();
    let layer = layer.as_str().unwrap();
    fs::write(blob_path(&place.at("base"), layer), "damaged").unwrap();
    refused("base", PROGRAM, &format!("{layer} is missing or damaged"));
    reconfigure(&place, |config| config["architecture"] = json!("riscv64"));
    refused("base", PROGRAM, "0 images for");
}
