//! Partial downloads, kept until they are complete.

use std::fs;
use std::path::{Path, PathBuf};

use model::Currency;

use crate::FetchError;
use crate::prices::source::Source;

/// File systems end names at 255 bytes.
const LONGEST_NAME: usize = 100;

/// A folder for what is on its way, of today: yesterday's pages have yesterday's prices.
pub(crate) struct Work {
    pub(crate) folder: PathBuf,
}

impl Work {
    pub(crate) fn open(
        home: &Path,
        source: &Source,
        today: &str,
        currency: Currency,
    ) -> Result<Self, FetchError> {
        let all = home.join("prices").join("work");
        let mut name = encoded(&source.to_string());
        name.truncate(LONGEST_NAME);
        let begin = format!("{name}-{currency}-");
        // Offers of AWS have their version in their names and may be gone on with on any day.
        let day = match source {
            Source::Aws { .. } => "any-day",
            _ => today,
        };
        let folder = all.join(format!("{begin}{day}"));
        fs::create_dir_all(&folder).map_err(FetchError::io(&folder))?;
        for other in fs::read_dir(&all).into_iter().flatten().flatten() {
            let of_this = other.file_name().to_string_lossy().starts_with(&begin);
            if of_this && other.path() != folder {
                _ = fs::remove_dir_all(other.path());
            }
        }
        if !matches!(source, Source::Aws { .. }) {
            remove_parts(&folder);
        }
        // The index is small and says which version is the newest today.
        _ = fs::remove_file(folder.join("region_index.json"));
        Ok(Work { folder })
    }

    pub(crate) fn done(self) {
        _ = fs::remove_dir_all(&self.folder);
    }
}

/// Nothing says that a page is still the one that an earlier program had begun.
fn remove_parts(folder: &Path) {
    for file in fs::read_dir(folder).into_iter().flatten().flatten() {
        if file.path().extension().is_some_and(|e| e == "part") {
            _ = fs::remove_file(file.path());
        }
    }
}

/// Percent-encoded, for a part of an address and for the name of a file.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
