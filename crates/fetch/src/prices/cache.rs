//! The refreshed catalog: one file in Bancada's cache folder, put over the embedded one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cost::{Builder, Catalog, CatalogFile, Tally, write_catalog};

/// Where it lies below the cache folder. It may be deleted: the embedded prices stay.
pub fn catalog_file(home: &Path) -> PathBuf {
    home.join("prices").join("catalog.csv")
}

/// All prices that are known on this machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loaded {
    pub catalog: Catalog,
    /// Of the updated catalog; `None` without one.
    pub kept: Option<Kept>,
    /// Rows of the refreshed catalog that could not be used.
    pub left_out: Tally,
    /// Why the refreshed catalog could not be read at all.
    pub problem: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kept {
    pub entries: usize,
    /// Date of the newest price.
    pub newest: String,
}

/// Whatever is wrong with the refreshed catalog, the embedded prices are there.
pub fn load(home: &Path) -> Loaded {
    let path = catalog_file(home);
    let embedded = cost::catalog();
    match read(&path) {
        Ok(Some(refreshed)) => Loaded {
            kept: kept(&refreshed.catalog),
            left_out: refreshed.left_out,
            catalog: refreshed.catalog.over(embedded),
            problem: None,
        },
        Ok(None) => Loaded {
            catalog: embedded.clone(),
            ..Loaded::default()
        },
        Err(error) => Loaded {
            catalog: embedded.clone(),
            problem: Some(format!("{}: {error}", path.display())),
            ..Loaded::default()
        },
    }
}

fn read(path: &Path) -> io::Result<Option<CatalogFile>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(Catalog::parse(&path.display().to_string(), &text))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn kept(catalog: &Catalog) -> Option<Kept> {
    let entries = catalog.entries.iter();
    let quotes = entries.flat_map(|entry| [entry.on_demand.as_ref(), entry.spot.as_ref()]);
    let newest = quotes.flatten().map(|quote| quote.date.as_str()).max()?;
    Some(Kept {
        entries: catalog.entries.len(),
        newest: newest.to_owned(),
    })
}

/// Adds prices to the refreshed catalog; the newest of each stays.
pub fn keep(home: &Path, new: Catalog) -> io::Result<Kept> {
    let path = catalog_file(home);
    let known = read(&path)?.unwrap_or_default();
    let mut builder = Builder::from(known.catalog);
    builder.extend(new);
    let catalog = builder.finish();
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    host::write_whole(&path, write_catalog(&catalog))?;
    Ok(kept(&catalog).unwrap_or_default())
}
