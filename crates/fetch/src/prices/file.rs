//! Price lists that someone has as files: whatever the format, the parsers of the providers read
//! them.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use cost::Catalog;
use model::Timestamp;

use crate::FetchError;
use crate::prices::kind::{HEAD_BYTES, Kind, kind_of};
use crate::prices::whole::whole_rows;
use crate::prices::{About, PriceList, aws_offer, aws_products, azure, gcp, skypilot};

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
    pub list: Result<PriceList, FetchError>,
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
            other => read.push(ReadFiles {
                paths: vec![path.clone()],
                list: other.and_then(|kind| read_one(path, kind, given)),
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

fn kind_of_file(path: &Path) -> Result<Kind, FetchError> {
    let mut head = Vec::new();
    let file = File::open(path).map_err(FetchError::io(path))?;
    let most = u64::try_from(HEAD_BYTES).unwrap_or(u64::MAX);
    let read = file.take(most).read_to_end(&mut head);
    read.map_err(FetchError::io(path))?;
    kind_of(&head).ok_or_else(|| {
        let known = "Azure Retail Prices, AWS offer file or GetProducts, Google SKUs, vms.csv, or Bancada's own CSV (docs/prices.md)";
        let problem = format!("unknown format of price list; known are {known}");
        FetchError::of(path.display(), problem)
    })
}

fn read_pages(paths: &[PathBuf], kind: Kind, given: &Given<'_>) -> Result<PriceList, FetchError> {
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

fn read_one(path: &Path, kind: Kind, given: &Given<'_>) -> Result<PriceList, FetchError> {
    let file_name = name(path);
    match kind {
        Kind::Azure | Kind::Gcp => read_pages(&[path.to_owned()], kind, given),
        Kind::AwsOffer => {
            let file = File::open(path).map_err(FetchError::io(path))?;
            aws_offer::read(&file_name, file, &about(aws_offer::SOURCE, path, given)?)
        }
        Kind::AwsProducts => {
            let about = about(aws_products::SOURCE, path, given)?;
            aws_products::read(&file_name, &text(path)?, &about)
        }
        Kind::SkyPilot => {
            let text = text(path)?;
            let whole = whole_rows(&file_name, &text)?;
            let provider = given.provider.map(cost::provider_named);
            let provider = provider.or_else(|| skypilot::provider_of(&text));
            let provider = provider.ok_or_else(|| {
                let problem =
                    "the provider cannot be derived from the machines' names: set --provider";
                FetchError::of(&file_name, problem)
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

fn text(path: &Path) -> Result<String, FetchError> {
    let length = File::open(path).and_then(|mut file| file.seek(io::SeekFrom::End(0)));
    if length.map_err(FetchError::io(path))? > LARGEST_TEXT_BYTES {
        return Err(FetchError::of(path.display(), "larger than 1 GiB"));
    }
    fs::read_to_string(path).map_err(FetchError::io(path))
}

/// The date is what the person says, else the day the file was written.
fn about(source: &str, path: &Path, given: &Given<'_>) -> Result<About, FetchError> {
    let written = || -> io::Result<String> {
        let time = fs::metadata(path)?.modified()?;
        let time = Timestamp::try_from(time).map_err(io::Error::other)?;
        Ok(time.to_string().chars().take(10).collect())
    };
    let date = match given.date {
        Some(date) => date.to_owned(),
        None => written().map_err(FetchError::io(path))?,
    };
    let file = path.file_name().map(|name| name.to_string_lossy());
    Ok(About {
        source: format!("{source} ({})", file.unwrap_or_default()),
        date,
    })
}
