//! Files of the datasets that come in few large ones: where they lie, and reading some images.

use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::cifar::{self, Layout};
use crate::error::DataError;
use crate::idx::{self, IMAGES_HEADER_BYTES, ImagesHeader};
use crate::images::Images;

/// The dataset's own folder, or those its usual archives and libraries unpack into.
const MNIST_FOLDERS: &[&str] = &["", "MNIST/raw", "raw", "mnist"];
const FASHION_FOLDERS: &[&str] = &["", "FashionMNIST/raw", "raw", "fashion-mnist", "fashion"];
const CIFAR10_FOLDERS: &[&str] = &["", "cifar-10-batches-bin"];
const CIFAR100_FOLDERS: &[&str] = &["", "cifar-100-binary"];

/// One part of MNIST, or of a dataset that looks like it.
#[derive(Debug)]
pub(crate) struct IdxFiles {
    pub(crate) images_path: PathBuf,
    pub(crate) labels_path: PathBuf,
    file: File,
    pub(crate) header: ImagesHeader,
    labels: Vec<u16>,
}

impl IdxFiles {
    pub(crate) fn open(dataset: &str, folder: &Path, held_out: bool) -> Result<Self, DataError> {
        let below = match dataset {
            "fashion-mnist" => FASHION_FOLDERS,
            _ => MNIST_FOLDERS,
        };
        let part = if held_out { "t10k" } else { "train" };
        let names = |what: &str, kind: &str| {
            let named = |mark| format!("{part}-{what}{mark}{kind}");
            ["-", "."].map(named).to_vec()
        };
        let images_path = find(folder, below, names("images", "idx3-ubyte"))?;
        let labels_path = find(folder, below, names("labels", "idx1-ubyte"))?;
        let file = File::open(&images_path).map_err(DataError::read(&images_path))?;
        let header = read_header(&file, &images_path)?;
        let label_bytes = fs::read(&labels_path).map_err(DataError::read(&labels_path))?;
        let labels = idx::labels(&label_bytes, 10).map_err(malformed(&labels_path))?;
        if header.count != labels.len() {
            return Err(DataError::labels_differ(
                (&images_path, header.count),
                (&labels_path, labels.len()),
            ));
        }
        Ok(IdxFiles {
            images_path,
            labels_path,
            file,
            header,
            labels,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }

    pub(crate) fn read(&self, rows: Range<usize>) -> Result<Images, DataError> {
        let ImagesHeader { height, width, .. } = self.header;
        let image_bytes = height as usize * width as usize;
        let mut pixels = vec![0; rows.len() * image_bytes];
        let offset = IMAGES_HEADER_BYTES as u64 + rows.start as u64 * image_bytes as u64;
        let read = self.file.read_exact_at(&mut pixels, offset);
        read.map_err(DataError::read(&self.images_path))?;
        Ok(Images {
            channels: 1,
            height,
            width,
            pixels,
            labels: self.labels(rows).to_vec(),
        })
    }

    pub(crate) fn labels(&self, rows: Range<usize>) -> &[u16] {
        self.labels.get(rows).unwrap_or_default()
    }
}

fn read_header(file: &File, path: &Path) -> Result<ImagesHeader, DataError> {
    let failed = || DataError::read(path);
    let file_bytes = file.metadata().map_err(failed())?.len();
    let mut beginning = vec![0; file_bytes.min(IMAGES_HEADER_BYTES as u64) as usize];
    file.read_exact_at(&mut beginning, 0).map_err(failed())?;
    idx::images_header(&beginning, file_bytes).map_err(malformed(path))
}

/// One part of CIFAR: the batches in their order.
#[derive(Debug)]
pub(crate) struct CifarFiles {
    layout: Layout,
    pub(crate) batches: Vec<CifarBatch>,
}

#[derive(Debug)]
pub(crate) struct CifarBatch {
    pub(crate) path: PathBuf,
    file: File,
    count: usize,
}

impl CifarFiles {
    /// Files are looked for only until there are `enough` images.
    pub(crate) fn open(
        dataset: &str,
        folder: &Path,
        held_out: bool,
        enough: usize,
    ) -> Result<Self, DataError> {
        let fine = dataset == "cifar100";
        let (layout, below) = match fine {
            true => (Layout::CIFAR100, CIFAR100_FOLDERS),
            false => (Layout::CIFAR10, CIFAR10_FOLDERS),
        };
        let names: Vec<String> = match (fine, held_out) {
            (true, true) => vec!["test.bin".to_owned()],
            (true, false) => vec!["train.bin".to_owned()],
            (false, true) => vec!["test_batch.bin".to_owned()],
            (false, false) => (1..=5).map(|n| format!("data_batch_{n}.bin")).collect(),
        };
        let mut files = CifarFiles {
            layout,
            batches: Vec::new(),
        };
        for name in names {
            if files.len() < enough.max(1) {
                let path = find(folder, below, vec![name])?;
                let file = File::open(&path).map_err(DataError::read(&path))?;
                let bytes = file.metadata().map_err(DataError::read(&path))?.len();
                let count = layout.count(bytes).map_err(malformed(&path))?;
                files.batches.push(CifarBatch { path, file, count });
            }
        }
        Ok(files)
    }

    pub(crate) fn len(&self) -> usize {
        self.batches.iter().map(|batch| batch.count).sum()
    }

    pub(crate) fn read(&self, rows: Range<usize>) -> Result<Images, DataError> {
        let record_bytes = self.layout.record_bytes();
        let mut images = cifar::empty();
        let mut begin = 0;
        for batch in &self.batches {
            let first = rows.start.clamp(begin, begin + batch.count) - begin;
            let last = rows.end.clamp(begin, begin + batch.count) - begin;
            begin += batch.count;
            if first < last {
                let mut records = vec![0; (last - first) * record_bytes];
                let offset = first as u64 * record_bytes as u64;
                let read = batch.file.read_exact_at(&mut records, offset);
                read.map_err(DataError::read(&batch.path))?;
                let parsed = self.layout.parse_into(&records, first, &mut images);
                parsed.map_err(malformed(&batch.path))?;
            }
        }
        Ok(images)
    }
}

fn find(folder: &Path, below: &[&str], wanted: Vec<String>) -> Result<PathBuf, DataError> {
    let places = || {
        below
            .iter()
            .flat_map(|sub| wanted.iter().map(move |name| folder.join(sub).join(name)))
    };
    if let Some(path) = places().find(|path| path.is_file()) {
        return Ok(path);
    }
    let compressed = places()
        .map(|path| path.with_added_extension("gz"))
        .find(|path| path.is_file());
    let todo = compressed.map_or_else(String::new, |path| {
        format!("; unpack it first: gunzip -k {}", path.display())
    });
    Err(DataError::new(format!(
        "no file {} in {}{todo}",
        wanted.join(" or "),
        folder.display()
    )))
}

fn malformed(path: &Path) -> impl FnOnce(DataError) -> DataError {
    move |error| DataError::new(format!("{}: {error}", path.display()))
}
