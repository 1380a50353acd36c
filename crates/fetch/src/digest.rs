//! Whether a file is the published one.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

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
    let found = sha256(path)?;
    match found == wanted.sha256 {
        true => Ok(()),
        false => Err(differs(Difference::Digest { found })),
    }
}

fn sha256(path: &Path) -> Result<String, Why> {
    let mut file = File::open(path).map_err(Why::io(path))?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = file.read(&mut buffer).map_err(Why::io(path))?;
        if count == 0 {
            break;
        }
        digest.update(&buffer[..count]);
    }
    Ok(digest.finalize().iter().fold(String::new(), |mut text, b| {
        let _ = write!(text, "{b:02x}");
        text
    }))
}
