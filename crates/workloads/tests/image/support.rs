use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::Value;
use workloads::image::{Architecture, Base, Image, Output, Report, build};

/// Small, and linked to nothing but the C library.
pub(crate) const PROGRAM: &str = "/bin/sh";

/// A folder with a library and a model, and room for images.
pub(crate) struct Place {
    pub folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        fs::copy(PROGRAM, folder.path().join("libonnxruntime.so.1.2.3")).unwrap();
        fs::create_dir(folder.path().join("model")).unwrap();
        fs::write(folder.path().join("model/model.onnx"), "weights").unwrap();
        fs::write(folder.path().join("model/model.json"), "{}").unwrap();
        Place { folder }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn image(&self) -> Image {
        Image {
            name: "bancada/test:1".parse().unwrap(),
            title: "test".to_owned(),
            version: "0.1.0".to_owned(),
            architecture: Architecture::host().unwrap(),
            program: PROGRAM.into(),
            library: self.at("libonnxruntime.so.1.2.3"),
            model: Some(self.at("model")),
            prepare: false,
            base: Base::Scratch {
                folders: Vec::new(),
            },
        }
    }

    /// Into the folder `image` and the archive `image.tar`.
    pub(crate) fn build(&self, image: &Image) -> Report {
        build(image, &self.output()).unwrap()
    }

    pub(crate) fn output(&self) -> Output {
        Output {
            folder: Some(self.at("image")),
            archive: Some(self.at("image.tar")),
            replace: false,
        }
    }

    /// The sentence that building ends with; it leaves nothing behind.
    pub(crate) fn refused(&self, image: &Image) -> String {
        let before = self.names();
        let error = build(image, &self.output()).unwrap_err();
        assert_eq!(self.names(), before, "{error}");
        error.to_string()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

pub(crate) fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    format!("sha256:{}", host::Digest::of(bytes))
}

pub(crate) fn blob_path(layout: &Path, digest: &str) -> PathBuf {
    let hex = digest.strip_prefix("sha256:").unwrap();
    layout.join("blobs/sha256").join(hex)
}

/// What a descriptor points to, once its size and digest are seen to be right.
pub(crate) fn blob(layout: &Path, descriptor: &Value) -> Vec<u8> {
    let digest = descriptor["digest"].as_str().unwrap();
    let bytes = fs::read(blob_path(layout, digest)).unwrap();
    assert_eq!(descriptor["size"], bytes.len());
    assert_eq!(digest, sha256(&bytes));
    bytes
}

pub(crate) fn manifest(layout: &Path) -> Value {
    let index = json(&fs::read(layout.join("index.json")).unwrap());
    json(&blob(layout, &index["manifests"][0]))
}

pub(crate) fn config(layout: &Path) -> Value {
    json(&blob(layout, &manifest(layout)["config"]))
}

pub(crate) fn unzipped(bytes: &[u8]) -> Vec<u8> {
    let mut unzipped = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut unzipped).unwrap();
    unzipped
}

#[derive(Debug, PartialEq)]
pub(crate) struct Listed {
    pub path: String,
    pub mode: u32,
    pub owner: u64,
    pub group: u64,
    pub time: u64,
    pub content: Vec<u8>,
}

pub(crate) fn listed(archive: &[u8]) -> Vec<Listed> {
    let mut archive = tar::Archive::new(archive);
    let entries = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        Listed {
            path: entry.path().unwrap().to_str().unwrap().to_owned(),
            mode: entry.header().mode().unwrap(),
            owner: entry.header().uid().unwrap(),
            group: entry.header().gid().unwrap(),
            time: entry.header().mtime().unwrap(),
            content,
        }
    });
    entries.collect()
}

/// Of all layers of a layout, lowest first.
pub(crate) fn layers(layout: &Path) -> Vec<Vec<Listed>> {
    let manifest = manifest(layout);
    let layers = manifest["layers"].as_array().unwrap().iter();
    layers
        .map(|layer| listed(&unzipped(&blob(layout, layer))))
        .collect()
}

/// Replaces bytes of a copy of the program.
pub(crate) fn patched(to: &Path, patch: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = Vec::new();
    let mut program = File::open(PROGRAM).unwrap();
    program.read_to_end(&mut bytes).unwrap();
    patch(&mut bytes);
    fs::write(to, bytes).unwrap();
}
