//! An image that another is built on: an OCI layout, as a folder or as an archive of it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use serde::de::DeserializeOwned;

use crate::image::architecture::Architecture;
use crate::image::blobs::{Blobs, Digesting, path_of};
use crate::image::error::ImageError;
use crate::image::oci::{self, Descriptor, ImageConfig, Index, Manifest};
use crate::image::report::{Layer, LayerKind, Size, Warning};

/// Indexes of indexes; nobody nests them deeper than twice.
const DEEPEST: u32 = 4;

pub(crate) struct BaseImage {
    reader: Reader,
    pub config: ImageConfig,
    layers: Vec<Descriptor>,
}

/// What its layers hold.
#[derive(Default)]
pub(crate) struct Copied {
    pub descriptors: Vec<Descriptor>,
    pub layers: Vec<Layer>,
    pub warnings: Vec<Warning>,
    file_names: BTreeSet<String>,
}

impl BaseImage {
    /// An archive is unpacked to `scratch`.
    pub(crate) fn open(
        path: &Path,
        architecture: Architecture,
        scratch: &Path,
    ) -> Result<BaseImage, ImageError> {
        let is_folder = path.is_dir();
        if !is_folder {
            unpack(path, scratch)?;
        }
        let reader = Reader {
            named: path.to_owned(),
            layout: if is_folder { path } else { scratch }.to_owned(),
        };
        let index = fs::read(reader.layout.join("index.json")).map_err(|_| {
            reader.problem(
                "it has no index.json, so it is not an OCI layout: `skopeo copy` writes one (oci:FOLDER)",
            )
        })?;
        let manifest = reader.manifest(&index, architecture, 0)?;
        let config: ImageConfig =
            reader.parse(&reader.blob(&manifest.config)?, "its configuration")?;
        if config.os != "linux" || config.architecture != architecture.word() {
            return Err(reader.problem(&format!(
                "it is for {} {}, but the image is for linux {architecture}",
                config.os, config.architecture
            )));
        }
        if config.rootfs.diff_ids.len() != manifest.layers.len() {
            return Err(reader.problem("its configuration does not list the layers it has"));
        }
        Ok(BaseImage {
            reader,
            config,
            layers: manifest.layers,
        })
    }

    /// Each layer is checked against its digest on the way.
    pub(crate) fn copy_to(&self, blobs: &Blobs) -> Result<Copied, ImageError> {
        let reader = &self.reader;
        let mut copied = Copied::default();
        for (layer, diff_id) in self.layers.iter().zip(&self.config.rootfs.diff_ids) {
            let media_type = oci::layer_type(&layer.media_type).ok_or_else(|| {
                reader.problem(&format!(
                    "its layer type {} is not supported",
                    layer.media_type
                ))
            })?;
            let path = reader.path(&layer.digest)?;
            let (blob, _) = blobs.add(|to| {
                let mut from = File::open(&path).map_err(ImageError::io("read", &path))?;
                io::copy(&mut from, to).map_err(ImageError::io("copied", &path))
            })?;
            if blob.digest != layer.digest {
                return Err(reader.damaged(&layer.digest));
            }
            let mut looked = Looked::default();
            if media_type == oci::LAYER_ZSTD {
                let digest = layer.digest.clone();
                copied.warnings.push(Warning::BaseNotRead { digest });
            } else {
                looked = look_into(&path, media_type).map_err(ImageError::io("read", &path))?;
            }
            copied.file_names.extend(looked.file_names);
            copied.layers.push(Layer {
                kind: LayerKind::Base,
                digest: layer.digest.clone(),
                diff_id: diff_id.clone(),
                size: Size {
                    compressed_bytes: blob.bytes,
                    disk_bytes: looked.disk_bytes,
                },
                files: looked.files,
            });
            let descriptor = Descriptor::new(media_type, &layer.digest, blob.bytes);
            copied.descriptors.push(descriptor);
        }
        Ok(copied)
    }

    /// Libraries are not added to a base: two C libraries in one image help nobody.
    pub(crate) fn check<'a>(
        &self,
        copied: &Copied,
        needed: impl Iterator<Item = &'a str>,
    ) -> Result<(), ImageError> {
        if !copied.warnings.is_empty() {
            return Ok(());
        }
        let lacking: BTreeSet<&str> = needed
            .filter(|name| !copied.file_names.contains(*name))
            .collect();
        if lacking.is_empty() {
            return Ok(());
        }
        let lacking: Vec<&str> = lacking.into_iter().collect();
        Err(ImageError::new(format!(
            "the base {} lacks {}, which the server needs",
            self.reader.named.display(),
            lacking.join(", ")
        )))
    }
}

struct Reader {
    /// As the user named it.
    named: PathBuf,
    layout: PathBuf,
}

impl Reader {
    fn problem(&self, problem: &str) -> ImageError {
        ImageError::new(format!("the base {}: {problem}", self.named.display()))
    }

    fn damaged(&self, digest: &str) -> ImageError {
        self.problem(&format!("its {digest} is missing or damaged"))
    }

    fn parse<T: DeserializeOwned>(&self, bytes: &[u8], what: &str) -> Result<T, ImageError> {
        serde_json::from_slice(bytes)
            .map_err(|error| self.problem(&format!("{what} cannot be read: {error}")))
    }

    fn path(&self, digest: &str) -> Result<PathBuf, ImageError> {
        let path = path_of(&self.layout, digest).filter(|path| path.is_file());
        path.ok_or_else(|| self.damaged(digest))
    }

    /// A document; layers are not read whole.
    fn blob(&self, descriptor: &Descriptor) -> Result<Vec<u8>, ImageError> {
        let path = self.path(&descriptor.digest)?;
        let file = File::open(&path).map_err(ImageError::io("read", &path))?;
        let mut from = Digesting::new(file);
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes)
            .map_err(ImageError::io("read", &path))?;
        match from.finish().digest == descriptor.digest {
            true => Ok(bytes),
            false => Err(self.damaged(&descriptor.digest)),
        }
    }

    /// The only one for this architecture.
    fn manifest(
        &self,
        index: &[u8],
        architecture: Architecture,
        depth: u32,
    ) -> Result<Manifest, ImageError> {
        let index: Index = self.parse(index, "its index")?;
        let fits = |descriptor: &&Descriptor| {
            let platform = descriptor.platform.as_ref();
            platform.is_none_or(|is| is.os == "linux" && is.architecture == architecture.word())
        };
        let mut fitting = index.manifests.iter().filter(fits);
        let (Some(chosen), None) = (fitting.next(), fitting.next()) else {
            let count = index.manifests.iter().filter(fits).count();
            return Err(self.problem(&format!(
                "it has {count} images for {architecture}, expected one"
            )));
        };
        let bytes = self.blob(chosen)?;
        match chosen.media_type.as_str() {
            oci::MANIFEST | oci::DOCKER_MANIFEST => self.parse(&bytes, "its manifest"),
            oci::INDEX | oci::DOCKER_INDEX if depth < DEEPEST => {
                self.manifest(&bytes, architecture, depth + 1)
            }
            other => Err(self.problem(&format!("it contains {other}, which is not an image"))),
        }
    }
}

/// Only what a layout consists of, by names that lead nowhere else.
fn unpack(archive: &Path, to: &Path) -> Result<(), ImageError> {
    let failed = || ImageError::io("read", archive);
    let file = File::open(archive).map_err(failed())?;
    Blobs::make(to)?;
    let mut archive = tar::Archive::new(file);
    for entry in archive.entries().map_err(failed())? {
        let mut entry = entry.map_err(failed())?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let name = name.trim_start_matches("./");
        let path = match name.strip_prefix("blobs/sha256/") {
            Some(hex) => path_of(to, &format!("sha256:{hex}")),
            None => (name == "index.json").then(|| to.join(name)),
        };
        if let Some(path) = path {
            let mut file = File::create(&path).map_err(ImageError::io("written", &path))?;
            io::copy(&mut entry, &mut file).map_err(ImageError::io("written", &path))?;
        }
    }
    Ok(())
}

#[derive(Default)]
struct Looked {
    disk_bytes: u64,
    files: u64,
    file_names: BTreeSet<String>,
}

fn look_into(layer: &Path, media_type: &str) -> io::Result<Looked> {
    let file = io::BufReader::new(File::open(layer)?);
    let content: Box<dyn Read> = match media_type {
        oci::LAYER_GZIP => Box::new(MultiGzDecoder::new(file)),
        _ => Box::new(file),
    };
    let mut looked = Looked::default();
    for entry in tar::Archive::new(content).entries()? {
        let entry = entry?;
        if entry.header().entry_type().is_dir() {
            continue;
        }
        looked.files += 1;
        looked.disk_bytes += entry.size();
        if let Some(name) = entry.path()?.file_name() {
            looked
                .file_names
                .insert(name.to_string_lossy().into_owned());
        }
    }
    Ok(looked)
}
