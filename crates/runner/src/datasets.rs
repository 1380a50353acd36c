//! What is known of datasets, asked once: of a folder, every picture's header is read for it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use data::{DataError, DatasetInfo};

/// Of one study; a folder that changes meanwhile is noticed by what makes its cache.
#[derive(Debug, Default)]
pub(crate) struct Datasets {
    known: RefCell<HashMap<(String, Option<PathBuf>), DatasetInfo>>,
}

impl Datasets {
    pub(crate) fn describe(
        &self,
        name: &str,
        data_dir: Option<&Path>,
    ) -> Result<DatasetInfo, DataError> {
        let key = (name.to_owned(), data_dir.map(Path::to_owned));
        if let Some(&info) = self.known.borrow().get(&key) {
            return Ok(info);
        }
        let info = data::describe(name, data_dir)?;
        self.known.borrow_mut().insert(key, info);
        Ok(info)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dataset_is_asked_once() {
        let datasets = Datasets::default();
        let nowhere = Path::new("/nowhere");
        assert!(datasets.describe(data::FOLDER, Some(nowhere)).is_err());
        let info = data::describe("mnist", None).unwrap();
        let key = (data::FOLDER.to_owned(), Some(nowhere.to_owned()));
        datasets.known.borrow_mut().insert(key, info);
        let found = datasets.describe(data::FOLDER, Some(nowhere)).unwrap();
        assert_eq!(found, info, "the folder was looked at again");
    }
}
