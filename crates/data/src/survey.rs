//! What a request means on this machine, found without reading a pixel.

use std::path::{Path, PathBuf};

use crate::digits::{Series, Style};
use crate::error::DataError;
use crate::files::{CifarFiles, IdxFiles};
use crate::folder::{self, Entry, Listing};
use crate::info::{self, DatasetInfo, FOLDER, fetched_folder};
use crate::load::DataRequest;
use crate::source::{OwnShape, Source};

/// Largest side an image may be asked in.
pub(crate) const MAX_SIDE: u32 = 1024;

#[derive(Debug)]
pub(crate) struct Survey {
    pub(crate) train: Part,
    pub(crate) held_out: Part,
    pub(crate) classes: u32,
    /// The seed, where images depend on it.
    pub(crate) seed: Option<u64>,
    /// Where the files lie, if there are some.
    pub(crate) folder: Option<PathBuf>,
    shape: Shape,
}

/// The first `count` images of a source.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) source: Source,
    pub(crate) count: usize,
}

#[derive(Debug)]
enum Shape {
    Known(OwnShape),
    /// Known when all pictures have been looked at.
    InHeaders(Listing),
}

impl Survey {
    pub(crate) fn shape(&self) -> Result<OwnShape, DataError> {
        match &self.shape {
            Shape::Known(shape) => Ok(*shape),
            Shape::InHeaders(listing) => listing.shape(),
        }
    }

    /// By label; empty where classes are numbers only.
    pub(crate) fn class_names(&self) -> Vec<String> {
        match &self.shape {
            Shape::Known(_) => Vec::new(),
            Shape::InHeaders(listing) => listing.classes.clone(),
        }
    }
}

/// `home` is bancada's cache folder, where files are looked for when the request names no folder.
pub(crate) fn survey(request: &DataRequest, home: Option<&Path>) -> Result<Survey, DataError> {
    if request.image == 0 || request.image > MAX_SIDE {
        return Err(DataError::new(format!(
            "an image side of {} pixels is not possible: choose 1 to {MAX_SIDE}",
            request.image
        )));
    }
    if request.images == Some(0) {
        return Err(DataError::new(
            "0 training images requested: use at least 1",
        ));
    }
    if request.dataset == FOLDER {
        return survey_folder(request);
    }
    let info =
        info::info(&request.dataset).ok_or_else(|| DataError::unknown_dataset(&request.dataset))?;
    let folder = match info.needs_folder {
        true => Some(folder_of(request, home)?),
        false => None,
    };
    let train = part(request, &info, folder.as_deref(), false)?;
    let held_out = part(request, &info, folder.as_deref(), true)?;
    let own = train.source.shape();
    let shape = own.unwrap_or(OwnShape::square(info.channels, info.side));
    Ok(Survey {
        train,
        held_out,
        classes: info.classes,
        seed: (!info.needs_folder).then_some(request.seed),
        folder,
        shape: Shape::Known(shape),
    })
}

fn folder_of(request: &DataRequest, home: Option<&Path>) -> Result<PathBuf, DataError> {
    let dataset = &request.dataset;
    let fetched = home.map(|home| fetched_folder(home, dataset));
    let folder = request.data_dir.clone().or(fetched.clone());
    let folder = folder.ok_or_else(|| DataError::folder_needed(dataset))?;
    if Some(&folder) == fetched.as_ref() && !folder.is_dir() {
        return Err(DataError::new(format!(
            "{dataset} is not downloaded: bancada data fetch {dataset}"
        )));
    }
    Ok(folder)
}

fn part(
    request: &DataRequest,
    info: &DatasetInfo,
    folder: Option<&Path>,
    held_out: bool,
) -> Result<Part, DataError> {
    let (asked, all) = match held_out {
        true => (request.held_out, info.held_out),
        false => (request.images, info.images),
    };
    let enough = asked.unwrap_or(all) as usize;
    let drawn = |style| {
        Source::Drawn(Series {
            style,
            seed: request.seed,
            held_out,
        })
    };
    let folder = folder.unwrap_or(Path::new(""));
    let source = match info.name {
        "digits" => drawn(Style::Grey),
        "digits-colour" => drawn(Style::Colour),
        "mnist" | "fashion-mnist" => Source::Idx(IdxFiles::open(info.name, folder, held_out)?),
        _ => Source::Cifar(CifarFiles::open(info.name, folder, held_out, enough)?),
    };
    let there = source.there().unwrap_or(enough);
    counted(request, source, there.min(enough), held_out)
}

fn survey_folder(request: &DataRequest) -> Result<Survey, DataError> {
    let folder = folder_of(request, None)?;
    let listing = folder::list(&folder, request.seed)?;
    let part = |entries: &[Entry], held_out| {
        let source = Source::Pictures(entries.to_vec());
        counted(request, source, entries.len(), held_out)
    };
    Ok(Survey {
        train: part(&listing.train, false)?,
        held_out: part(&listing.held_out, true)?,
        classes: listing.classes.len() as u32,
        seed: listing.is_split.then_some(request.seed),
        folder: Some(folder),
        shape: Shape::InHeaders(listing),
    })
}

/// As many as were requested, or `all`.
fn counted(
    request: &DataRequest,
    source: Source,
    all: usize,
    held_out: bool,
) -> Result<Part, DataError> {
    let (asked, part) = match held_out {
        true => (request.held_out, "held-out"),
        false => (request.images, "training"),
    };
    let count = match (asked, source.there()) {
        (Some(asked), Some(there)) if asked as usize > there => {
            return Err(DataError::new(format!(
                "{asked} {part} images requested, but `{}` has {there}: use fewer",
                request.dataset
            )));
        }
        (Some(asked), _) => asked as usize,
        (None, _) => all,
    };
    Ok(Part { source, count })
}
