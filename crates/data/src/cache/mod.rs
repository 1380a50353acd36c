//! Images decoded, resized and normalised once, in files that every framework maps: the same
//! bytes for all of them.
//!
//! A cache is a folder, `NAME-SIDEpx-DIGEST`, whose digest covers everything that decides the
//! images. It is written under another name and renamed when complete.

mod files;
mod make;
mod open;
mod recipe;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

pub use files::write;
pub use open::{CachedImages, Opened, open};

use crate::error::DataError;
use crate::load::DataRequest;
use crate::survey::{Survey, survey};
use make::Making;
use recipe::Recipe;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cached {
    pub folder: PathBuf,
    pub train: u32,
    pub held_out: u32,
    pub channels: u32,
    pub side: u32,
    pub classes: u32,
    /// Of all its files.
    pub bytes: u64,
    /// Whether something was made by this call; otherwise all was there already.
    pub made: bool,
}

/// The folder of all caches below `home`, bancada's cache folder.
pub fn root(home: &Path) -> PathBuf {
    home.join("data").join("cache")
}

/// What all caches take together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AllCaches {
    pub count: u64,
    pub bytes: u64,
}

/// All caches below `home`, whole or not.
pub fn all(home: &Path) -> AllCaches {
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries(&root(home)).map(|entry| entry.path());
    let mut found = AllCaches::default();
    for folder in folders.filter(|path| path.is_dir()) {
        let sizes = entries(&folder).filter_map(|file| Some(file.metadata().ok()?.len()));
        found.count += 1;
        found.bytes += sizes.sum::<u64>();
    }
    found
}

/// The cache of a request; made where it is not there. With `raw` it also has the training images
/// as bytes of their own size, for the frameworks' own loaders.
///
/// Any number of processes may ask for the same cache at once: one makes it, the others wait.
pub fn prepare(request: &DataRequest, home: &Path, raw: bool) -> Result<Cached, DataError> {
    let survey = survey(request, Some(home))?;
    let recipe = Recipe::new(request, &survey)?;
    let root = root(home);
    let folder = root.join(recipe.folder_name());
    if let Some(cached) = found(&folder, &recipe, raw) {
        return Ok(cached);
    }
    fs::create_dir_all(&root).map_err(DataError::written(&root))?;
    let lock = Lock::wait(&root, &recipe.folder_name());
    if let Some(cached) = found(&folder, &recipe, raw) {
        return Ok(cached);
    }
    remove_leftovers(&root, &folder, &lock);
    let made = make_missing(&survey, &recipe, &folder, raw);
    match (found(&folder, &recipe, raw), made) {
        (_, Err(error)) => Err(error),
        (Some(cached), Ok(())) => Ok(Cached {
            made: true,
            ..cached
        }),
        (None, Ok(())) => Err(DataError::CacheLost { folder }),
    }
}

fn make_missing(
    survey: &Survey,
    recipe: &Recipe,
    folder: &Path,
    raw: bool,
) -> Result<(), DataError> {
    let making = Making {
        survey,
        recipe,
        shape: survey.shape()?,
    };
    if found(folder, recipe, false).is_some() {
        return making.add_raw(folder);
    }
    let unfinished = beside(folder);
    let made = making
        .whole(&unfinished, raw)
        .and_then(|()| set_aside(folder))
        .and_then(|()| fs::rename(&unfinished, folder).map_err(DataError::written(folder)));
    if made.is_err() {
        let _ = fs::remove_dir_all(&unfinished);
        // Where locks do not work, another process may have been first.
        if found(folder, recipe, raw).is_some() {
            return Ok(());
        }
    }
    made
}

/// A name that no one else uses, and that says whose it is to be.
fn beside(path: &Path) -> PathBuf {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    path.with_added_extension(format!("part-{}-{number}", std::process::id()))
}

/// Takes a damaged cache away; whoever has its files open still sees them.
fn set_aside(folder: &Path) -> Result<(), DataError> {
    if !folder.exists() {
        return Ok(());
    }
    let aside = beside(folder);
    fs::rename(folder, &aside).map_err(DataError::written(folder))?;
    fs::remove_dir_all(&aside).map_err(DataError::written(&aside))
}

/// The cache in `folder`, if it is whole and made by this recipe.
fn found(folder: &Path, recipe: &Recipe, raw: bool) -> Option<Cached> {
    let description = recipe::read(folder).filter(|d| d.recipe == *recipe)?;
    let arrays = description.arrays(raw);
    let whole = arrays
        .iter()
        .all(|array| open::is_whole(&folder.join(array.name), &array.header));
    let entries = fs::read_dir(folder).ok()?.flatten();
    let bytes = entries.filter_map(|entry| Some(entry.metadata().ok()?.len()));
    whole.then(|| Cached {
        folder: folder.to_owned(),
        train: recipe.train,
        held_out: recipe.held_out,
        channels: description.channels,
        side: recipe.image,
        classes: description.classes,
        bytes: bytes.sum(),
        made: false,
    })
}

/// Held while a cache is made, given back when dropped or when the process ends.
struct Lock {
    name: String,
    /// `None` if the file system has no locks: caches are then made twice, at worst.
    file: Option<File>,
}

impl Lock {
    fn wait(root: &Path, name: &str) -> Self {
        let file = Lock::file(root, name).filter(|file| file.lock().is_ok());
        Lock {
            name: name.to_owned(),
            file,
        }
    }

    fn file(root: &Path, name: &str) -> Option<File> {
        let path = root.join(format!(".{name}.lock"));
        let mut options = File::options();
        options.create(true).truncate(false).write(true);
        options.open(path).ok()
    }
}

/// What processes left behind that ended while they made a cache; it may be large.
fn remove_leftovers(root: &Path, folder: &Path, mine: &Lock) {
    let entries = |folder| fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries(root) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some((of, _)) = name.split_once(".part-") else {
            continue;
        };
        let free = match mine.name == of {
            true => mine.file.is_some(),
            false => Lock::file(root, of).is_some_and(|file| file.try_lock().is_ok()),
        };
        if free {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    for entry in entries(folder).filter(|_| mine.file.is_some()) {
        if entry.file_name().to_string_lossy().contains(".part-") {
            let _ = fs::remove_file(entry.path());
        }
    }
}
