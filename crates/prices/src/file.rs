//! Price lists that someone has as files: whatever the format, the parsers of the providers read
//! them.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use cost::Catalog;
use model::Timestamp;

use crate::kind::{HEAD_BYTES, Kind, kind_of};
use crate::whole::whole_rows;
use crate::{About, PriceList, Unreadable, aws_offer, aws_products, azure, gcp, skypilot};

/// Only offer files of AWS are larger, and they are read as a stream.
const LARGEST_TEXT_BYTES: u64 = 1 << 30;

/// What the person says of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Given<'g> {
    /// Whose machines a `vms.csv` lists.
    pub provider: Option<&'g str>,
    /// Of the prices, where the files do not say it.
    pub date: Option<&'g str>,
}

/// Files that belong together, and what was in them.
#[derive(Debug)]
pub struct ReadFiles {
    pub paths: Vec<PathBuf>,
    pub list: Result<PriceList, FileError>,
}

#[derive(Debug)]
pub enum FileError {
    Io { path: PathBuf, error: io::Error },
    UnknownKind { path: PathBuf },
    UnknownProvider { path: PathBuf },
    TooLarge { path: PathBuf },
    Unreadable(Unreadable),
}

impl std::error::Error for FileError {}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Io { path, error } => write!(f, "{}: {error}", path.display()),
            FileError::UnknownKind { path } => write!(
                f,
                "{}: unknown format of price list; known are Azure Retail Prices, AWS offer file or GetProducts, Google SKUs, vms.csv, or Bancada's own CSV (docs/prices.md)",
                path.display()
            ),
            FileError::UnknownProvider { path } => write!(
                f,
                "{}: the provider cannot be derived from the machines' names: set --provider",
                path.display()
            ),
            FileError::TooLarge { path } => {
                write!(f, "{}: larger than 1 GiB", path.display())
            }
            FileError::Unreadable(unreadable) => unreadable.fmt(f),
        }
    }
}

impl From<Unreadable> for FileError {
    fn from(unreadable: Unreadable) -> Self {
        FileError::Unreadable(unreadable)
    }
}

/// Every file by itself, but pages of Azure and of Google together: a machine's parts may stand
/// on several.
pub fn read_files(paths: &[PathBuf], given: &Given<'_>) -> Vec<ReadFiles> {
    let mut read = Vec::new();
    let (mut azure, mut google) = (Vec::new(), Vec::new());
    for path in paths {
        match kind_of_file(path) {
            Ok(Kind::Azure) => azure.push(path.clone()),
            Ok(Kind::Gcp) => google.push(path.clone()),
            Ok(kind) => read.push(ReadFiles {
                paths: vec![path.clone()],
                list: read_one(path, kind, given),
            }),
            Err(error) => read.push(ReadFiles {
                paths: vec![path.clone()],
                list: Err(error),
            }),
        }
    }
    for (paths, kind) in [(azure, Kind::Azure), (google, Kind::Gcp)] {
        if !paths.is_empty() {
            let list = read_pages(&paths, kind, given);
            read.push(ReadFiles { paths, list });
        }
    }
    read
}

fn kind_of_file(path: &Path) -> Result<Kind, FileError> {
    let failed = |error| FileError::Io {
        path: path.to_owned(),
        error,
    };
    let mut head = Vec::new();
    let file = File::open(path).map_err(failed)?;
    let most = u64::try_from(HEAD_BYTES).unwrap_or(u64::MAX);
    file.take(most).read_to_end(&mut head).map_err(failed)?;
    kind_of(&head).ok_or_else(|| FileError::UnknownKind {
        path: path.to_owned(),
    })
}

fn read_pages(paths: &[PathBuf], kind: Kind, given: &Given<'_>) -> Result<PriceList, FileError> {
    let first = paths.first().map_or(Path::new(""), PathBuf::as_path);
    if kind == Kind::Azure {
        let mut reader = azure::Reader::new(about(azure::SOURCE, first, given)?);
        for path in paths {
            reader.page(&name(path), &text(path)?)?;
        }
        return Ok(reader.finish());
    }
    let mut reader = gcp::Reader::new(about(gcp::SOURCE, first, given)?);
    for path in paths {
        reader.page(&name(path), &text(path)?)?;
    }
    Ok(reader.finish())
}

fn read_one(path: &Path, kind: Kind, given: &Given<'_>) -> Result<PriceList, FileError> {
    let file_name = name(path);
    match kind {
        Kind::Azure | Kind::Gcp => read_pages(&[path.to_owned()], kind, given),
        Kind::AwsOffer => {
            let file = File::open(path).map_err(|error| FileError::Io {
                path: path.to_owned(),
                error,
            })?;
            let about = about(aws_offer::SOURCE, path, given)?;
            Ok(aws_offer::read(&file_name, file, &about)?)
        }
        Kind::AwsProducts => {
            let about = about(aws_products::SOURCE, path, given)?;
            Ok(aws_products::read(&file_name, &text(path)?, &about)?)
        }
        Kind::SkyPilot => {
            let text = text(path)?;
            let whole = whole_rows(&file_name, &text)?;
            let provider = given.provider.map(cost::provider_named);
            let provider = provider.or_else(|| skypilot::provider_of(&text));
            let provider = provider.ok_or_else(|| FileError::UnknownProvider {
                path: path.to_owned(),
            })?;
            let about = about(skypilot::SOURCE, path, given)?;
            let mut list = skypilot::read(&file_name, whole.text, provider, &about)?;
            whole.count_cut_row(&mut list);
            Ok(list)
        }
        Kind::Catalog => {
            let text = text(path)?;
            let whole = whole_rows(&file_name, &text)?;
            let read = Catalog::parse(&file_name, whole.text);
            let rows = read.catalog.entries.len() as u64 + read.left_out.total();
            let mut list = PriceList {
                catalog: read.catalog,
                left_out: read.left_out,
                rows,
                repeated: 0,
            };
            whole.count_cut_row(&mut list);
            list.leave_out_disagreeing();
            Ok(list)
        }
    }
}

fn name(path: &Path) -> String {
    path.display().to_string()
}

fn text(path: &Path) -> Result<String, FileError> {
    let failed = |error| FileError::Io {
        path: path.to_owned(),
        error,
    };
    let mut file = File::open(path).map_err(failed)?;
    let length = file.seek(io::SeekFrom::End(0)).map_err(failed)?;
    if length > LARGEST_TEXT_BYTES {
        return Err(FileError::TooLarge {
            path: path.to_owned(),
        });
    }
    fs::read_to_string(path).map_err(failed)
}

/// The date is what the person says, else the day the file was written.
fn about(source: &str, path: &Path, given: &Given<'_>) -> Result<About, FileError> {
    let written = || -> io::Result<String> {
        let time = fs::metadata(path)?.modified()?;
        let time = Timestamp::try_from(time).map_err(io::Error::other)?;
        Ok(time.to_string().chars().take(10).collect())
    };
    let date = match given.date {
        Some(date) => date.to_owned(),
        None => written().map_err(|error| FileError::Io {
            path: path.to_owned(),
            error,
        })?,
    };
    let file = path.file_name().map(|name| name.to_string_lossy());
    Ok(About {
        source: format!("{source} ({})", file.unwrap_or_default()),
        date,
    })
}
