//! An image from its parts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use host::Unfinished;

use crate::image::architecture::Architecture;
use crate::image::archive;
use crate::image::base::BaseImage;
use crate::image::blobs::Blobs;
use crate::image::closure::{Binary, closure};
use crate::image::contents;
use crate::image::error::ImageError;
use crate::image::layer;
use crate::image::model_files::ModelFiles;
use crate::image::name::ImageName;
use crate::image::oci::{self, Descriptor, ImageConfig, Index, Manifest, Platform};
use crate::image::prepare::prepare;
use crate::image::report::{Layer, LayerKind, Report, Size, Warning};
use crate::image::settings;
use crate::image::tree::Tree;

#[derive(Debug, Clone)]
pub struct Image {
    pub name: ImageName,
    /// Label of it; so is the version.
    pub title: String,
    pub version: String,
    pub architecture: Architecture,
    /// The server.
    pub program: PathBuf,
    /// ONNX Runtime's.
    pub library: PathBuf,
    /// A folder or an .onnx file; without one, the platform is expected to bring it.
    pub model: Option<PathBuf>,
    /// Let the server write the model's optimised copy first, for this kind of processor.
    pub prepare: bool,
    pub base: Base,
}

#[derive(Debug, Clone)]
pub enum Base {
    /// The loader and libraries of this system; of these folders first, as for another architecture.
    Scratch { folders: Vec<PathBuf> },
    /// An OCI layout, as a folder or an archive.
    Given(PathBuf),
}

/// At least one of both.
#[derive(Debug, Clone, Default)]
pub struct Output {
    /// An OCI layout.
    pub folder: Option<PathBuf>,
    /// One file that engines load.
    pub archive: Option<PathBuf>,
    /// Also where an earlier image lies there.
    pub replace: bool,
}

/// Writes the image and says what it is. Where it fails, nothing is left and what was there before stays.
pub fn build(image: &Image, output: &Output) -> Result<Report, ImageError> {
    output.check()?;
    let place = output.folder.as_ref().or(output.archive.as_ref());
    let place = place
        .ok_or_else(|| ImageError::new("give a folder or an archive to write the image to"))?;
    let unfinished = || Unfinished::folder(place).map_err(ImageError::io("made", place));
    let (work, layout) = (unfinished()?, unfinished()?);
    let mut built = Building::start(image, layout.path())?;
    built.add_base_and_server(work.path())?;
    built.add_model(work.path())?;
    let mut report = built.finish()?;
    if let Some(to) = &output.archive {
        if let Some(above) = to.parent() {
            fs::create_dir_all(above).map_err(ImageError::io("made", above))?;
        }
        let archive = Unfinished::beside(to);
        let bytes = archive::write(layout.path(), &report, archive.path())?;
        report.archive_bytes = Some(bytes);
        archive.publish(to).map_err(ImageError::io("written", to))?;
    }
    if let Some(to) = &output.folder {
        layout.replace(to).map_err(ImageError::io("written", to))?;
    }
    Ok(report)
}

impl Output {
    /// Only an image is replaced by an image.
    fn check(&self) -> Result<(), ImageError> {
        let folder = self.folder.as_ref();
        let folder = folder.map(|path| (path, path.join("oci-layout")));
        let archive = self.archive.as_ref().map(|path| (path, path.clone()));
        for (path, mark) in folder.into_iter().chain(archive) {
            let is_replaced = self.replace && mark.is_file();
            if path.symlink_metadata().is_ok() && !is_replaced {
                let advice = "already exists: choose a different path, or use --replace";
                return Err(ImageError::of(path, advice));
            }
        }
        Ok(())
    }
}

struct Building<'a> {
    image: &'a Image,
    layout: &'a Path,
    blobs: Blobs,
    config: ImageConfig,
    descriptors: Vec<Descriptor>,
    layers: Vec<Layer>,
    warnings: Vec<Warning>,
}

impl<'a> Building<'a> {
    fn start(image: &'a Image, layout: &'a Path) -> Result<Building<'a>, ImageError> {
        Ok(Building {
            image,
            layout,
            blobs: Blobs::make(layout)?,
            config: settings::empty(image.architecture),
            descriptors: Vec::new(),
            layers: Vec::new(),
            warnings: Vec::new(),
        })
    }

    fn add_base_and_server(&mut self, work: &Path) -> Result<(), ImageError> {
        let image = self.image;
        let program = Binary::open(&image.program, image.architecture)?;
        let library = Binary::open(&image.library, image.architecture)?;
        match &image.base {
            Base::Scratch { folders } => {
                let closure = closure(&[&program, &library], image.architecture, folders)?;
                self.add(LayerKind::Libraries, &contents::libraries(closure))?;
            }
            Base::Given(path) => {
                let base = BaseImage::open(path, image.architecture, &work.join("base"))?;
                let copied = base.copy_to(&self.blobs)?;
                let needed = program.elf.needed.iter().chain(&library.elf.needed);
                base.check(&copied, needed.map(String::as_str))?;
                self.config = base.config;
                self.descriptors = copied.descriptors;
                self.layers = copied.layers;
                self.warnings = copied.warnings;
            }
        }
        let server = contents::server(&image.program, &image.library)?;
        self.add(LayerKind::Server, &server)
    }

    fn add_model(&mut self, work: &Path) -> Result<(), ImageError> {
        let Some(path) = &self.image.model else {
            return Ok(());
        };
        let files = ModelFiles::find(path)?;
        if !self.image.prepare {
            self.warnings.extend(files.warnings());
            return self.add(LayerKind::Model, &contents::model(&files));
        }
        let files = prepare(self.image, &files, &work.join("model"))?;
        let (files, copies) = files.split();
        self.add(LayerKind::Model, &contents::model(&files))?;
        self.add(LayerKind::Prepared, &contents::model(&copies))
    }

    fn add(&mut self, kind: LayerKind, tree: &Tree) -> Result<(), ImageError> {
        let layer = layer::write(tree, kind, &self.blobs)?;
        settings::add_layer(&mut self.config, &layer.diff_id, kind);
        let bytes = layer.size.compressed_bytes;
        let descriptor = Descriptor::new(oci::LAYER_GZIP, &layer.digest, bytes);
        self.descriptors.push(descriptor);
        self.layers.push(layer);
        Ok(())
    }

    /// The documents that hold the layers together.
    fn finish(mut self) -> Result<Report, ImageError> {
        let image = self.image;
        settings::extend(&mut self.config, image);
        let config = self.document(oci::CONFIG, &self.config)?;
        let config_digest = config.digest.clone();
        let manifest = Manifest {
            schema_version: 2,
            media_type: Some(oci::MANIFEST.to_owned()),
            config,
            layers: self.descriptors.clone(),
        };
        let mut manifest = self.document(oci::MANIFEST, &manifest)?;
        let digest = manifest.digest.clone();
        manifest.platform = Some(Platform {
            architecture: self.config.architecture.clone(),
            os: self.config.os.clone(),
            variant: self.config.variant.clone(),
        });
        manifest.annotations = names(&image.name);
        self.write_index(manifest)?;
        let of_model =
            |layer: &&Layer| matches!(layer.kind, LayerKind::Model | LayerKind::Prepared);
        Ok(Report {
            name: image.name.to_string(),
            architecture: image.architecture,
            digest,
            config_digest,
            total: Size::of(&self.layers),
            without_model: Size::of(self.layers.iter().filter(|layer| !of_model(layer))),
            layers: self.layers,
            archive_bytes: None,
            warnings: self.warnings,
        })
    }

    fn document(
        &self,
        media_type: &str,
        document: &impl serde::Serialize,
    ) -> Result<Descriptor, ImageError> {
        let blob = self.blobs.add_bytes(&self.json(document)?)?;
        Ok(Descriptor::new(media_type, &blob.digest, blob.bytes))
    }

    fn write_index(&self, manifest: Descriptor) -> Result<(), ImageError> {
        let index = self.json(&Index {
            schema_version: 2,
            media_type: Some(oci::INDEX.to_owned()),
            manifests: vec![manifest],
        })?;
        for (name, text) in [
            ("index.json", index.as_slice()),
            ("oci-layout", oci::LAYOUT.as_bytes()),
        ] {
            let path = self.layout.join(name);
            fs::write(&path, text).map_err(ImageError::io("written", &path))?;
        }
        Ok(())
    }

    fn json(&self, document: &impl serde::Serialize) -> Result<Vec<u8>, ImageError> {
        serde_json::to_vec(document)
            .map_err(|error| ImageError::io("written", self.layout)(error.into()))
    }
}

/// The specification's annotation has the tag; containerd and Docker read the whole name from their own.
fn names(name: &ImageName) -> BTreeMap<String, String> {
    let annotations = [
        ("io.containerd.image.name", name.full()),
        ("org.opencontainers.image.ref.name", name.tag().to_owned()),
    ];
    annotations
        .map(|(key, value)| (key.to_owned(), value))
        .into()
}
