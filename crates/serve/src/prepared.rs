//! A model as ONNX Runtime has optimised it, kept next to the model or in the cache: read by mapping it, it is
//! there in milliseconds, and all sessions share its weights.
//!
//! Weights are laid out for one kind of processor by one version of the runtime, so both are in its name: on
//! another machine the model itself is read.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Of the model's file, from each end.
const LOOKED_AT_BYTES: u64 = 64 << 10;

/// Where prepared copies are looked for, and made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keep {
    /// In this folder; it is made where it is missing.
    In(PathBuf),
    /// Beside the model: for images of containers.
    Beside,
    /// Only used where they are.
    Nowhere,
}

/// Before the checksum in a copy's name.
const QUANTISED: &str = "int8-";
/// The operator that makes whole numbers of what comes in; names stand in a model's file as they are.
const OPERATOR: &[u8] = b"QuantizeLinear";
const PIECE_BYTES: usize = 1 << 20;

/// The prepared copies of one model.
pub(crate) struct Copies {
    beside: Shelf,
    kept: Option<Shelf>,
}

/// A folder, and how the names of a model's copies begin there. They end with a checksum: a copy that a
/// disk or a person has damaged computes something else without a word.
#[derive(Clone)]
struct Shelf {
    folder: PathBuf,
    beginning: String,
}

impl Copies {
    pub(crate) fn new(model: &Path, runtime: &str, keep: &Keep) -> io::Result<Copies> {
        let key = key(model, runtime)?;
        let name = model.file_name().unwrap_or_default().to_string_lossy();
        let beside = Shelf {
            folder: model.parent().unwrap_or(Path::new("")).to_owned(),
            beginning: format!("{name}.{key}-"),
        };
        let kept = match keep {
            Keep::In(folder) => Some(Shelf {
                folder: folder.clone(),
                beginning: format!("{key}-"),
            }),
            Keep::Beside => Some(beside.clone()),
            Keep::Nowhere => None,
        };
        Ok(Copies { beside, kept })
    }

    /// Whole or not: [`is_whole`] tells.
    pub(crate) fn find(&self) -> Vec<PathBuf> {
        let shelves = [Some(&self.beside), self.kept.as_ref()];
        shelves
            .into_iter()
            .flatten()
            .flat_map(Shelf::find)
            .collect()
    }

    /// `write` makes the file that is named; others see it whole or not at all. Of a quantised model its name tells.
    pub(crate) fn make<E: From<io::Error>>(
        &self,
        quantised: bool,
        write: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<Option<PathBuf>, E> {
        let Some(Shelf { folder, beginning }) = &self.kept else {
            return Ok(None);
        };
        if !folder.as_os_str().is_empty() {
            fs::create_dir_all(folder)?;
        }
        let unfinished = host::Unfinished::beside(&folder.join(beginning));
        write(unfinished.path())?;
        let mark = if quantised { QUANTISED } else { "" };
        let path = folder.join(format!(
            "{beginning}{mark}{:016x}.ort",
            checksum(&fs::read(unfinished.path())?)
        ));
        unfinished.publish(&path)?;
        Ok(Some(path))
    }
}

impl Shelf {
    fn find(&self) -> Vec<PathBuf> {
        let here = Path::new(".");
        let folder = if self.folder.as_os_str().is_empty() {
            here
        } else {
            &self.folder
        };
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let ours = entries.filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with(&self.beginning) && name.ends_with(".ort")
        });
        ours.map(|entry| entry.path()).collect()
    }
}

/// Whether a file has what its name promises at its end: `…-CHECKSUM.ort`.
pub fn is_whole(path: &Path, bytes: &[u8]) -> bool {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let sum = name.rsplit_once('-').map(|(_, sum)| sum);
    let promised = sum.and_then(|sum| u64::from_str_radix(sum, 16).ok());
    promised == Some(checksum(bytes))
}

/// Whether a prepared copy is of a quantised model.
pub(crate) fn is_copy_of_quantised(copy: &Path) -> bool {
    let name = copy.file_name().unwrap_or_default().to_string_lossy();
    name.contains(&format!("-{QUANTISED}"))
}

/// Whether a model computes in whole numbers.
pub(crate) fn is_quantised(mut model: impl io::Read) -> io::Result<bool> {
    let mut piece = vec![0; PIECE_BYTES];
    let mut kept = 0;
    loop {
        let read = model.read(&mut piece[kept..])?;
        let there = kept + read;
        if read == 0 || memchr::memmem::find(&piece[..there], OPERATOR).is_some() {
            return Ok(read > 0);
        }
        // The name may lie across two pieces.
        kept = there.min(OPERATOR.len() - 1);
        piece.copy_within(there - kept..there, 0);
    }
}

/// Against damage, not against forgery: four lanes of multiplications, as fast as memory.
pub fn checksum(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut lanes = [1, 2, 3, 4_u64];
    let (chunks, rest) = bytes.as_chunks::<32>();
    for chunk in chunks {
        let (words, _) = chunk.as_chunks::<8>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane = (*lane ^ u64::from_le_bytes(*word))
                .wrapping_mul(PRIME)
                .rotate_left(29);
        }
    }
    let length = bytes.len() as u64;
    seeded::fnv1a(
        &[
            &lanes.map(u64::to_le_bytes).concat(),
            rest,
            &length.to_le_bytes(),
        ]
        .concat(),
    )
}

/// The same for the same model, runtime and kind of processor. The model's ends, length and time stand for all of it:
/// reading half a gigabyte takes longer than starting.
fn key(model: &Path, runtime: &str) -> io::Result<String> {
    let mut file = File::open(model)?;
    let about = file.metadata()?;
    let changed = about
        .modified()?
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let mut ends = Vec::new();
    (&file).take(LOOKED_AT_BYTES).read_to_end(&mut ends)?;
    file.seek(SeekFrom::Start(about.len().saturating_sub(LOOKED_AT_BYTES)))?;
    file.take(LOOKED_AT_BYTES).read_to_end(&mut ends)?;
    let told = format!(
        "{runtime} {} {} {}",
        processor(),
        about.len(),
        changed.as_secs()
    );
    Ok(format!(
        "{:016x}",
        seeded::fnv1a(&[told.as_bytes(), &ends].concat())
    ))
}

/// What decides how ONNX Runtime lays weights out.
fn processor() -> String {
    #[cfg(target_arch = "x86_64")]
    let features = [
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
        ("avx512bw", is_x86_feature_detected!("avx512bw")),
        ("avx512vnni", is_x86_feature_detected!("avx512vnni")),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let features: [(&str, bool); 0] = [];
    let there = features
        .iter()
        .filter(|(_, there)| *there)
        .map(|(name, _)| *name);
    [std::env::consts::ARCH]
        .into_iter()
        .chain(there)
        .collect::<Vec<_>>()
        .join("+")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_model_or_runtime_has_another_copy() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model.onnx");
        fs::write(&model, vec![7; 200_000]).unwrap();
        let first = key(&model, "1.31").unwrap();
        assert_eq!(key(&model, "1.31").unwrap(), first);
        assert_ne!(key(&model, "1.32").unwrap(), first);
        fs::write(&model, [vec![7; 199_999], vec![8]].concat()).unwrap();
        assert_ne!(key(&model, "1.31").unwrap(), first);
    }

    #[test]
    fn every_byte_counts() {
        let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
        let right = checksum(&bytes);
        for place in 0..bytes.len() {
            let mut other = bytes.clone();
            other[place] ^= 1;
            assert_ne!(checksum(&other), right, "{place}");
            assert_ne!(checksum(&bytes[..place]), right, "{place}");
        }
    }

    #[test]
    fn whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model.onnx");
        fs::write(&model, "x").unwrap();
        let place = Copies::new(&model, "r", &Keep::In(folder.path().join("cache"))).unwrap();
        assert!(place.find().is_empty());
        let failed = place.make(false, |path| {
            fs::write(path, "half")?;
            Err(io::Error::other("full"))
        });
        assert!(failed.is_err());
        assert_eq!(
            fs::read_dir(folder.path().join("cache")).unwrap().count(),
            0
        );
        let made = place
            .make(true, |path| fs::write(path, "whole"))
            .unwrap()
            .unwrap();
        assert_eq!(place.find(), std::slice::from_ref(&made));
        assert!(is_copy_of_quantised(&made) && !is_copy_of_quantised(&model));
        assert!(is_whole(&made, b"whole"));
        assert!(!is_whole(&made, b"whoel"));
        assert!(!is_whole(&model, b"x"));
        let nowhere = Copies::new(&model, "r", &Keep::Nowhere).unwrap();
        let made = nowhere.make(false, |path| fs::write(path, ""));
        assert_eq!(made.unwrap(), None);
    }

    #[test]
    fn quantised_models_are_told_wherever_the_name_stands() {
        let check = |before: usize, name: &str, expected: bool| {
            let bytes = [&vec![7; before], name.as_bytes(), &[7; 3]].concat();
            assert_eq!(
                is_quantised(&bytes[..]).unwrap(),
                expected,
                "{before} {name}"
            );
        };
        check(0, "QuantizeLinear", true);
        check(100, "DynamicQuantizeLinear", true);
        for across in 1..20 {
            check(PIECE_BYTES - across, "QuantizeLinear", true);
        }
        check(100, "QuantizeLinea", false);
        check(PIECE_BYTES * 2, "Conv", false);
    }
}
