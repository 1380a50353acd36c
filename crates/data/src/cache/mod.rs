//! Images decoded, resized and normalised once, in files that every framework maps: the same
//! bytes for all of them.
//!
//! A cache is a folder, `NAME-SIDEpx-DIGEST`, whose digest covers everything that decides the
//! images. It is written under another name and renamed when complete.

mod files;
mod make;
mod open;
mod recipe;

use std::fs;
use std::path::{Path, PathBuf};

use host::{FileLock, Unfinished};

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
        (None, Ok(())) => Err(DataError::new(format!(
            "{} was created but is already damaged or gone: is something clearing that folder?",
            folder.display()
        ))),
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
    let unfinished = Unfinished::beside(folder);
    // A damaged one is replaced; who has its files open still sees them.
    let made = making.whole(unfinished.path(), raw).and_then(|()| {
        unfinished
            .replace(folder)
            .map_err(DataError::written(folder))
    });
    match found(folder, recipe, raw) {
        // Where locks do not work, another process may have been first.
        Some(_) => Ok(()),
        None => made,
    }
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

/// Held while a cache is made, released when dropped or when the process ends.
struct Lock {
    name: String,
    /// None where the file system has no locks: caches are then made twice, at worst.
    held: Option<FileLock>,
}

impl Lock {
    fn wait(root: &Path, name: &str) -> Self {
        Lock {
            name: name.to_owned(),
            held: FileLock::wait(&Lock::path(root, name)).ok(),
        }
    }

    fn path(root: &Path, name: &str) -> PathBuf {
        root.join(format!(".{name}.lock"))
    }
}

/// What processes left behind that ended while they made a cache; it may be large. The lock says
/// so, not the process id: the folder may be shared with other machines.
fn remove_leftovers(root: &Path, folder: &Path, mine: &Lock) {
    for left in host::leftovers(root) {
        let free = match mine.name == left.name {
            true => mine.held.is_some(),
            false => FileLock::take(&Lock::path(root, &left.name)).is_ok(),
        };
        if free {
            left.remove();
        }
    }
    if mine.held.is_some() {
        host::leftovers(folder)
            .iter()
            .for_each(host::Leftover::remove);
    }
}
