//! How many images of each class there are.

use std::path::Path;

use crate::error::DataError;
use crate::load::DataRequest;
use crate::survey::{Part, survey};

/// Labels read at once: a few megabytes with the pixels that lie between them.
const ROWS_AT_ONCE: usize = 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    /// Images of each label.
    pub train: Vec<u64>,
    pub held_out: Vec<u64>,
    /// By label; empty where classes are numbers only.
    pub class_names: Vec<String>,
}

/// Reads every label that the request asks for; `home` is bancada's cache folder.
pub fn count(request: &DataRequest, home: &Path) -> Result<Counts, DataError> {
    let survey = survey(request, Some(home))?;
    Ok(Counts {
        train: count_part(&survey.train, survey.classes)?,
        held_out: count_part(&survey.held_out, survey.classes)?,
        class_names: survey.class_names(),
    })
}

fn count_part(part: &Part, classes: u32) -> Result<Vec<u64>, DataError> {
    let mut counts = vec![0; classes as usize];
    for begin in (0..part.count).step_by(ROWS_AT_ONCE) {
        let rows = begin..part.count.min(begin + ROWS_AT_ONCE);
        for label in part.source.labels(rows)? {
            if let Some(count) = counts.get_mut(usize::from(label)) {
                *count += 1;
            }
        }
    }
    Ok(counts)
}
