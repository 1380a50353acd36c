//! Whether a file is the published one.

use std::path::Path;

use crate::catalog::Wanted;
use crate::error::{Difference, Why};

pub(crate) fn check(path: &Path, wanted: &Wanted) -> Result<(), Why> {
    let differs = |problem| Why::Differs {
        file: wanted.name.to_owned(),
        problem,
    };
    let found = std::fs::metadata(path).map_err(Why::io(path))?.len();
    if found != wanted.bytes {
        let expected = wanted.bytes;
        return Err(differs(Difference::Bytes { expected, found }));
    }
    let found = host::Digest::of_file(path)
        .map_err(Why::io(path))?
        .to_string();
    match found == wanted.sha256 {
        true => Ok(()),
        false => Err(differs(Difference::Digest { found })),
    }
}
