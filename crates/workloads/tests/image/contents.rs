//! What lies in the layers.

use std::fs;

use workloads::image::Warning;

use crate::support::{Listed, PROGRAM, Place, layers};

#[test]
fn entries_are_sorted_and_tell_nothing_of_who_built_them() {
    let place = Place::new();
    place.build(&place.image());
    for layer in layers(&place.at("image")) {
        let paths: Vec<&str> = layer
            .iter()
            .map(|entry| entry.path.trim_end_matches('/'))
            .collect();
        assert!(paths.is_sorted(), "{paths:?}");
        for entry in &layer {
            assert_eq!(
                (entry.owner, entry.group, entry.time),
                (0, 0, 0),
                "{}",
                entry.path
            );
            let above = entry.path.trim_end_matches('/').rsplit_once('/');
            assert!(
                above.is_none_or(|(above, _)| paths.contains(&above)),
                "{}",
                entry.path
            );
        }
    }
}

#[test]
fn libraries_server_and_model_lie_where_they_are_looked_for() {
    let place = Place::new();
    place.build(&place.image());
    let layers = layers(&place.at("image"));
    let find = |layer: &[Listed], path: &str| {
        let found = layer.iter().find(|entry| entry.path == path);
        let found = found.unwrap_or_else(|| panic!("{path}"));
        (found.mode, found.content.clone())
    };
    let [libraries, server, model] = layers.as_slice() else {
        panic!("three layers")
    };
    let passwd = String::from_utf8(find(libraries, "etc/passwd").1).unwrap();
    assert!(passwd.contains("bancada:x:10001:10001:"), "{passwd}");
    find(libraries, "etc/group");
    let is_c = |entry: &&Listed| entry.path.ends_with("/libc.so.6");
    assert_eq!(libraries.iter().filter(is_c).count(), 1);
    let program = fs::read(PROGRAM).unwrap();
    assert_eq!(
        find(server, "usr/bin/bancada-serve"),
        (0o755, program.clone())
    );
    assert_eq!(
        find(server, "usr/bin/libonnxruntime.so.1.2.3"),
        (0o755, program)
    );
    find(server, "opt/ml/model/");
    assert_eq!(
        find(model, "opt/ml/model/model.onnx"),
        (0o644, b"weights".to_vec())
    );
    assert_eq!(
        find(model, "opt/ml/model/model.json"),
        (0o644, b"{}".to_vec())
    );
}

#[test]
fn a_model_that_is_a_file_takes_along_what_belongs_to_it() {
    let place = Place::new();
    for name in [
        "eye.onnx",
        "eye.json",
        "eye.onnx.data",
        "eye.onnx.12ab.ort",
        "ear.onnx",
        "notes",
    ] {
        fs::write(place.at(name), "x").unwrap();
    }
    let mut image = place.image();
    image.model = Some(place.at("eye.onnx"));
    let report = place.build(&image);
    let layers = layers(&place.at("image"));
    let files = layers[2].iter().filter(|entry| !entry.path.ends_with('/'));
    let names: Vec<&str> = files
        .map(|entry| entry.path.rsplit('/').next().unwrap())
        .collect();
    assert_eq!(
        names,
        ["eye.json", "eye.onnx", "eye.onnx.12ab.ort", "eye.onnx.data"]
    );
    let copy = place.at("eye.onnx.12ab.ort").canonicalize().unwrap();
    assert_eq!(report.warnings, [Warning::NotPrepared { copy }]);
}

#[test]
fn without_a_model_the_folder_waits_for_one() {
    let place = Place::new();
    let mut image = place.image();
    image.model = None;
    let report = place.build(&image);
    assert_eq!(report.layers.len(), 2);
    assert_eq!(report.total, report.without_model);
}

#[test]
fn long_names_and_folders_within_folders_are_kept() {
    let place = Place::new();
    let within = format!("model/{}", "a".repeat(90));
    fs::create_dir(place.at(&within)).unwrap();
    let long = format!("{within}/{}.bin", "b".repeat(90));
    fs::write(place.at(&long), "long").unwrap();
    place.build(&place.image());
    let layers = layers(&place.at("image"));
    let found = layers[2]
        .iter()
        .find(|entry| entry.path == format!("opt/ml/{long}"));
    assert_eq!(found.unwrap().content, b"long");
}

#[cfg(unix)]
#[test]
fn a_link_within_the_model_s_folder_is_the_file_it_leads_to() {
    let place = Place::new();
    std::os::unix::fs::symlink("model.json", place.at("model/other.json")).unwrap();
    place.build(&place.image());
    let layers = layers(&place.at("image"));
    let found = layers[2]
        .iter()
        .find(|entry| entry.path.ends_with("/other.json"));
    assert_eq!(found.unwrap().content, b"{}");
}
