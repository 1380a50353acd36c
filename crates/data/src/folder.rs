//! A folder of pictures by class: `train/CLASS/*.png` and `test/CLASS/*.png`, or `CLASS/*.png`
//! alone, of which a fifth is then held out.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use crate::error::DataError;
use crate::images::Images;
use crate::picture::{self, Picture};
use crate::random::Random;
use crate::resample::resample;
use crate::source::OwnShape;

const TRAIN_NAMES: &[&str] = &["train", "training"];
const HELD_OUT_NAMES: &[&str] = &["test", "val", "validation", "valid"];
/// What is read, and what is refused by name rather than left out silently.
const READ_KINDS: &[&str] = &["png", "jpg", "jpeg"];
const REFUSED_KINDS: &[&str] = &[
    "bmp", "gif", "tif", "tiff", "webp", "avif", "heic", "ppm", "pgm",
];
const LAYOUT: &str = "put pictures in train/CLASS and test/CLASS, or only in CLASS";
const DEEPEST: usize = 8;
const SPLIT: u64 = 0x73_70_6C_69_74;
/// Held out: one picture of so many.
const HELD_OUT_SHARE: usize = 5;
/// Side of pictures that are not all of one size, unless they are smaller: what the networks made
/// for photographs expect.
const PHOTOGRAPH_SIDE: u32 = 224;

/// Which pictures there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listing {
    /// In the order of their labels.
    pub(crate) classes: Vec<String>,
    pub(crate) train: Vec<Entry>,
    pub(crate) held_out: Vec<Entry>,
    /// Whether the seed chose which pictures are held out.
    pub(crate) is_split: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) path: PathBuf,
    pub(crate) label: u16,
}

/// Pictures in an order in which classes take turns, so that the first so many hold all of them.
pub(crate) fn list(folder: &Path, seed: u64) -> Result<Listing, DataError> {
    let train_folder = part_folder(folder, TRAIN_NAMES);
    let held_out_folder = match &train_folder {
        Some(_) => part_folder(folder, HELD_OUT_NAMES),
        None => None,
    };
    let mut by_class = classes_in(train_folder.as_deref().unwrap_or(folder))?;
    match by_class.len() {
        found @ (0 | 1) => {
            return Err(DataError::new(format!(
                "{} has {found} classes with pictures, but at least 2 are needed: {LAYOUT}",
                folder.display()
            )));
        }
        2..=0xFFFF => {}
        found => {
            return Err(DataError::new(format!(
                "{} has {found} classes, but at most 65535 are possible",
                folder.display()
            )));
        }
    }
    let mut held_out_by_class = BTreeMap::new();
    match &held_out_folder {
        Some(held_out) => held_out_by_class = classes_in(held_out)?,
        None => {
            for (label, (class, paths)) in by_class.iter_mut().enumerate() {
                held_out_by_class.insert(class.clone(), split(paths, label, seed));
            }
        }
    }
    let classes: Vec<String> = by_class.keys().cloned().collect();
    if let Some(class) = held_out_by_class
        .keys()
        .find(|class| !by_class.contains_key(*class))
    {
        return Err(DataError::new(format!(
            "{} has held-out pictures of `{class}`, a class without training pictures: {LAYOUT}",
            folder.display()
        )));
    }
    Ok(Listing {
        train: in_turns(&classes, by_class),
        held_out: in_turns(&classes, held_out_by_class),
        classes,
        is_split: held_out_folder.is_none(),
    })
}

/// A class may be called `train` too, but has pictures where a part has folders.
fn part_folder(folder: &Path, names: &[&str]) -> Option<PathBuf> {
    let has_folders = |path: &PathBuf| {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| entry.path().is_dir())
    };
    let mut places = names.iter().map(|name| folder.join(name));
    places.find(has_folders)
}

/// Takes a fifth of a class's sorted pictures out, chosen by the seed.
fn split(paths: &mut Vec<PathBuf>, label: usize, seed: u64) -> Vec<PathBuf> {
    let mut order: Vec<usize> = (0..paths.len()).collect();
    Random::at(&[seed, SPLIT, label as u64]).shuffle(&mut order);
    let count = match paths.len() {
        0 | 1 => 0,
        all => (all / HELD_OUT_SHARE).max(1),
    };
    let mut is_held_out = vec![false; paths.len()];
    for &index in order.iter().take(count) {
        is_held_out[index] = true;
    }
    let mut chosen = is_held_out.iter();
    let chosen = |_: &mut PathBuf| chosen.next().copied().unwrap_or_default();
    paths.extract_if(.., chosen).collect()
}

fn in_turns(classes: &[String], mut by_class: BTreeMap<String, Vec<PathBuf>>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (label, class) in classes.iter().enumerate() {
        let paths = by_class.remove(class).unwrap_or_default();
        let turns = paths.into_iter().enumerate();
        entries.extend(turns.map(|(turn, path)| {
            let label = label as u16;
            (turn, Entry { path, label })
        }));
    }
    // Stable: within a turn, classes stay in their order.
    entries.sort_by_key(|(turn, _)| *turn);
    entries.into_iter().map(|(_, entry)| entry).collect()
}

/// Pictures of every folder in `folder` that has some, sorted.
fn classes_in(folder: &Path) -> Result<BTreeMap<String, Vec<PathBuf>>, DataError> {
    let mut classes = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(DataError::read(folder))? {
        let path = entry.map_err(DataError::read(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !path.is_dir() || name.starts_with('.') {
            continue;
        }
        let mut paths = Vec::new();
        pictures_in(&path, 0, &mut paths)?;
        paths.sort();
        if !paths.is_empty() {
            classes.insert(name.into_owned(), paths);
        }
    }
    Ok(classes)
}

fn pictures_in(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), DataError> {
    if depth > DEEPEST {
        return Err(DataError::new(format!(
            "{} has endlessly nested folders: {LAYOUT}",
            folder.display()
        )));
    }
    for entry in fs::read_dir(folder).map_err(DataError::read(folder))? {
        let path = entry.map_err(DataError::read(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let kind = path.extension().map(|kind| kind.to_ascii_lowercase());
        let is_one_of = |kinds: &[&str]| kinds.iter().any(|k| kind.as_deref() == Some(k.as_ref()));
        if name.starts_with('.') {
            continue;
        } else if is_one_of(READ_KINDS) {
            found.push(path);
        } else if is_one_of(REFUSED_KINDS) {
            return Err(DataError::new(format!(
                "{} is neither PNG nor JPEG: convert it, or remove it from the folder",
                path.display()
            )));
        } else if path.is_dir() {
            pictures_in(&path, depth + 1, found)?;
        }
    }
    Ok(())
}

impl Listing {
    /// What all pictures are made alike to, for which every header is read. One channel if all
    /// are grey, three otherwise; their own side if all have one, otherwise the usual shorter
    /// side, at most 224.
    pub(crate) fn shape(&self) -> Result<OwnShape, DataError> {
        let mut shorter_sides = Vec::new();
        let (mut grey, mut alike) = (true, true);
        let mut first = None;
        for Entry { path, .. } in self.train.iter().chain(&self.held_out) {
            let file = File::open(path).map_err(DataError::read(path))?;
            let header = picture::header(BufReader::new(file)).map_err(unusable(path))?;
            grey &= header.grey;
            let size = (header.width, header.height);
            alike &= *first.get_or_insert(size) == size;
            shorter_sides.push(header.width.min(header.height));
        }
        let middle = shorter_sides.len() / 2;
        shorter_sides.sort_unstable();
        let usual = shorter_sides.get(middle).copied().unwrap_or(1);
        let most = match alike {
            true => crate::survey::MAX_SIDE,
            false => PHOTOGRAPH_SIDE,
        };
        let channels = if grey { 1 } else { 3 };
        Ok(OwnShape::square(channels, usual.min(most)))
    }
}

/// The pictures' middle squares, resampled to `side`.
pub(crate) fn read(entries: &[Entry], channels: u32, side: u32) -> Result<Images, DataError> {
    let mut images = Images {
        channels,
        height: side,
        width: side,
        ..Images::default()
    };
    for Entry { path, label } in entries {
        let bytes = fs::read(path).map_err(DataError::read(path))?;
        let picture = picture::decode(&bytes).map_err(unusable(path))?;
        let square = resample(middle_square(&picture, channels), side);
        images.pixels.extend(square.pixels);
        images.labels.push(*label);
    }
    Ok(images)
}

/// Stretching would change what is seen; what is cut off is seldom what the picture shows. Grey
/// pictures among coloured ones have three equal channels.
fn middle_square(picture: &Picture, channels: u32) -> Images {
    let side = picture.width.min(picture.height) as usize;
    let (width, depth) = (picture.width as usize, picture.channels as usize);
    let left = (width - side) / 2;
    let top = (picture.height as usize - side) / 2;
    let mut pixels = Vec::with_capacity(channels as usize * side * side);
    for channel in 0..channels as usize {
        let channel = channel.min(depth - 1);
        for row in picture
            .pixels
            .chunks_exact(width * depth)
            .skip(top)
            .take(side)
        {
            let row = &row[left * depth..(left + side) * depth];
            pixels.extend(row.iter().skip(channel).step_by(depth));
        }
    }
    Images {
        channels,
        height: side as u32,
        width: side as u32,
        pixels,
        labels: Vec::new(),
    }
}

fn unusable(path: &Path) -> impl FnOnce(DataError) -> DataError {
    move |error| DataError::new(format!("{} cannot be used: {error}", path.display()))
}
