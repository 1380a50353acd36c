//! A layout as one file, with the list by which Docker's own format names its parts.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use serde::Serialize;

use crate::image::blobs::path_of;
use crate::image::error::ImageError;
use crate::image::layer;
use crate::image::report::Report;
use crate::image::tree::{Entry, Tree};

/// Docker's `manifest.json`.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Saved {
    config: String,
    repo_tags: Vec<String>,
    layers: Vec<String>,
}

/// Says how many bytes it has.
pub(crate) fn write(layout: &Path, report: &Report, to: &Path) -> Result<u64, ImageError> {
    let failed = || ImageError::io("written", to);
    let mut tree = Tree::default();
    add_folder(&mut tree, layout, "")?;
    let text = serde_json::to_string(&[Saved::of(report)]);
    let text = text.map_err(|error| failed()(error.into()))?;
    tree.add("manifest.json", Entry::Text { text });
    let file = File::create(to).map_err(failed())?;
    let mut archive = tar::Builder::new(BufWriter::new(file));
    for (path, entry) in &tree.entries {
        layer::append(&mut archive, path, entry)?;
    }
    let mut file = archive.into_inner().map_err(failed())?;
    file.flush().map_err(failed())?;
    let about = fs::metadata(to).map_err(failed())?;
    Ok(about.len())
}

impl Saved {
    fn of(report: &Report) -> Saved {
        let path = |digest: &str| {
            let path = path_of(Path::new(""), digest);
            path.unwrap_or_default().to_string_lossy().into_owned()
        };
        let layers = report.layers.iter();
        Saved {
            config: path(&report.config_digest),
            repo_tags: vec![report.name.clone()],
            layers: layers.map(|layer| path(&layer.digest)).collect(),
        }
    }
}

fn add_folder(tree: &mut Tree, folder: &Path, within: &str) -> Result<(), ImageError> {
    for entry in fs::read_dir(folder).map_err(ImageError::io("read", folder))? {
        let from = entry.map_err(ImageError::io("read", folder))?.path();
        let name = from.file_name().unwrap_or_default().to_string_lossy();
        let at = format!("{within}{name}");
        if from.is_dir() {
            add_folder(tree, &from, &format!("{at}/"))?;
        } else {
            tree.add_file(&at, from, false);
        }
    }
    Ok(())
}
