//! Bad input gets a sentence, and nothing is left.

use std::fs;

use workloads::image::{Architecture, Output, build};

use crate::support::{PROGRAM, Place, patched};

fn check(place: &Place, change: impl FnOnce(&mut workloads::image::Image), expected: &[&str]) {
    let mut image = place.image();
    change(&mut image);
    let said = place.refused(&image);
    for part in expected {
        assert!(said.contains(part), "{said}");
    }
}

fn other_architecture() -> Architecture {
    match Architecture::host().unwrap() {
        Architecture::Amd64 => Architecture::Arm64,
        Architecture::Arm64 => Architecture::Amd64,
    }
}

#[test]
fn files_of_another_processor() {
    let place = Place::new();
    let other = other_architecture();
    check(
        &place,
        |image| image.architecture = other,
        &[
            PROGRAM,
            "is built for",
            &format!("the image is for {other}"),
        ],
    );
    let library = place.at("libonnxruntime.so.2");
    patched(&library, |bytes| bytes[18..20].copy_from_slice(&[0, 0]));
    check(
        &place,
        |image| image.library = library,
        &["libonnxruntime.so.2", "another processor"],
    );
}

#[test]
fn files_that_are_no_programs() {
    let place = Place::new();
    check(
        &place,
        |image| image.program = place.at("model/model.json"),
        &["model.json", "not an ELF file"],
    );
    check(
        &place,
        |image| image.program = place.at("nothing"),
        &["nothing cannot be read"],
    );
}

#[test]
fn a_library_that_is_nowhere() {
    let place = Place::new();
    let program = place.at("server");
    patched(&program, |bytes| {
        let name = b"libc.so.6\0";
        let at = bytes.windows(name.len()).position(|part| part == name);
        bytes[at.unwrap() + 3] = b'~';
    });
    check(
        &place,
        |image| image.program = program,
        &["lib~.so.6", "server needs", "/usr/lib", "add its folder"],
    );
}

#[test]
fn models_that_are_none() {
    let place = Place::new();
    check(
        &place,
        |image| image.model = Some(place.at("nothing")),
        &["there is no model at", "nothing"],
    );
    fs::create_dir(place.at("empty")).unwrap();
    check(
        &place,
        |image| image.model = Some(place.at("empty")),
        &["there is no model at", "empty"],
    );
    check(
        &place,
        |image| image.model = Some(place.at("model/model.json")),
        &["there is no model at", "model.json"],
    );
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_model_s_folder_is_not_followed() {
    let place = Place::new();
    for target in ["/etc/passwd", "../libonnxruntime.so.1.2.3", "/etc", "."] {
        let link = place.at("model/link");
        std::os::unix::fs::symlink(target, &link).unwrap();
        check(&place, |_| (), &["model/link is a link to"]);
        fs::remove_file(&link).unwrap();
    }
    let _socket = std::os::unix::net::UnixListener::bind(place.at("model/socket")).unwrap();
    check(&place, |_| (), &["neither a file nor a folder"]);
}

#[test]
fn preparing_that_fails_says_what_the_server_said() {
    let place = Place::new();
    // A shell takes `serve` for a script that is not there.
    check(
        &place,
        |image| image.prepare = true,
        &[PROGRAM, "could not prepare the model", "serve"],
    );
}

#[test]
fn only_an_image_is_replaced_and_only_if_asked() {
    let place = Place::new();
    let image = place.image();
    place.build(&image);
    assert!(place.refused(&image).contains("image already exists"));
    let mut output = Output {
        replace: true,
        ..place.output()
    };
    let before = place.names();
    build(&image, &output).unwrap();
    assert_eq!(place.names(), before);
    output.folder = Some(place.at("model"));
    let said = build(&image, &output).unwrap_err().to_string();
    assert!(said.contains("model already exists"), "{said}");
    let said = build(&image, &Output::default()).unwrap_err().to_string();
    assert!(said.contains("give a folder or an archive"), "{said}");
}

#[test]
fn an_image_that_was_there_survives_a_build_that_fails() {
    let place = Place::new();
    let mut image = place.image();
    let report = place.build(&image);
    image.model = Some(place.at("nothing"));
    let output = Output {
        replace: true,
        ..place.output()
    };
    build(&image, &output).unwrap_err();
    let index = fs::read_to_string(place.at("image/index.json")).unwrap();
    assert!(index.contains(&report.digest));
}
