//! The files that a run depends on: those its command names, and those the study lists. Their
//! digests are kept with every run, so that runs of different programs are not averaged unnoticed.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use host::{Digest, Digester};
use model::run::{Origin, RunInput};
use model::{RunId, RunRecord, Scenario, Status, Study, Timestamp, Warning};

/// A larger file is known by its size and the time it was written: reading it before a run would
/// take long and fill the memory that the run is measured with.
const LARGEST_READ: u64 = 64 << 20;
/// A pattern that matches more is a mistake.
const MOST_FILES: usize = 10_000;

/// Reads the inputs of scenarios. A file that did not change is read once.
#[derive(Debug)]
pub struct InputReader {
    /// Of the study file.
    folder: PathBuf,
    digests: RefCell<HashMap<PathBuf, (Stamp, String)>>,
}

/// Changes whenever a file's content does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    device_and_inode: (u64, u64),
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl InputReader {
    pub fn new(study_folder: &Path) -> Self {
        InputReader {
            folder: study_folder.to_owned(),
            digests: RefCell::default(),
        }
    }

    /// As they are now, by path. Frameworks of our own are known by their versions.
    pub fn read(&self, study: &Study, scenario: &Scenario) -> Result<Vec<RunInput>, InputError> {
        let workload = plan::resolve(study, scenario).workload;
        let Some(program) = workload.user_program() else {
            return Ok(Vec::new());
        };
        let folder = match program.directory {
            Some(directory) => self.folder.join(directory),
            None => self.folder.clone(),
        };
        let mut inputs = BTreeMap::new();
        for path in named_in(program.command, &folder) {
            if let Ok(input) = self.file(&path, false) {
                inputs.insert(input.path.clone(), input);
            }
        }
        for pattern in program.inputs {
            for input in self.listed(pattern, &folder)? {
                inputs.insert(input.path.clone(), input);
            }
        }
        Ok(inputs.into_values().collect())
    }

    /// None where there is no such file, or it is too large to be read.
    pub(crate) fn digest_of(&self, path: &Path) -> Option<String> {
        path.is_file()
            .then(|| self.file(path, false).ok()?.sha256)?
    }

    /// After the run: a file of the command that the run itself wrote is no input of it.
    pub(crate) fn settle(&self, before: Vec<RunInput>) -> Settled {
        let mut settled = Settled::default();
        for input in before {
            let now = self.file(&self.folder.join(&input.path), input.listed);
            let is_same = now.is_ok_and(|now| now.has_same_content(&input));
            match (
                is_same || input.listed && is_pattern(&input.path),
                input.listed,
            ) {
                (true, _) => settled.inputs.push(input),
                (false, true) => {
                    settled
                        .changed
                        .push(format!("{} (changed during the run)", input.path));
                    settled.inputs.push(input);
                }
                (false, false) => {}
            }
        }
        settled
    }

    /// The files, and where the pattern has wildcards an entry for the names it matches.
    fn listed(&self, pattern: &str, folder: &Path) -> Result<Vec<RunInput>, InputError> {
        let mut inputs = Vec::new();
        for path in matching(pattern, folder)? {
            let input = self.file(&path, true).map_err(|e| InputError {
                pattern: pattern.to_owned(),
                why: format!("cannot read {}: {e}", path.display()),
            });
            inputs.push(input?);
        }
        if is_pattern(pattern) {
            let names: Vec<&str> = inputs.iter().map(|input| input.path.as_str()).collect();
            inputs.push(RunInput {
                path: self.shown(&folder.join(pattern)),
                bytes: names.len() as u64,
                sha256: Some(Digest::of(names.join("\n")).to_string()),
                modified: None,
                listed: true,
            });
        }
        Ok(inputs)
    }

    fn file(&self, path: &Path, listed: bool) -> io::Result<RunInput> {
        let metadata = fs::metadata(path)?;
        let is_large = metadata.len() > LARGEST_READ;
        Ok(RunInput {
            path: self.shown(path),
            bytes: metadata.len(),
            sha256: match is_large {
                true => None,
                false => Some(self.digest(path, &metadata)?),
            },
            modified: match is_large {
                true => metadata
                    .modified()
                    .ok()
                    .and_then(|t| Timestamp::try_from(t).ok()),
                false => None,
            },
            listed,
        })
    }

    fn digest(&self, path: &Path, metadata: &Metadata) -> io::Result<String> {
        let stamp = Stamp::of(metadata);
        if let Some((known, digest)) = self.digests.borrow().get(path)
            && *known == stamp
        {
            return Ok(digest.clone());
        }
        let digest = digest(path)?;
        let entry = (stamp, digest.clone());
        self.digests.borrow_mut().insert(path.to_owned(), entry);
        Ok(digest)
    }

    /// Relative to the study file where it is below its folder.
    fn shown(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.folder).unwrap_or(path);
        let parts = path.components().filter(|part| *part != Component::CurDir);
        parts.collect::<PathBuf>().to_string_lossy().into_owned()
    }
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Stamp {
            device_and_inode: (metadata.dev(), metadata.ino()),
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// What is left of a run's inputs when it is over.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    pub(crate) inputs: Vec<RunInput>,
    /// Listed ones that did not stay what they were.
    pub(crate) changed: Vec<String>,
}

/// What is wrong with patterns of `inputs`, without reading the files that they match.
pub fn wrong_inputs(patterns: &[String], folder: &Path) -> Vec<InputError> {
    let wrong = |pattern: &String| matching(pattern, folder).err();
    patterns.iter().filter_map(wrong).collect()
}

/// One file at least.
fn matching(pattern: &str, folder: &Path) -> Result<Vec<PathBuf>, InputError> {
    let wrong = |why: String| InputError {
        pattern: pattern.to_owned(),
        why,
    };
    let from = glob::Pattern::escape(&folder.to_string_lossy());
    let from = if Path::new(pattern).is_absolute() {
        pattern.to_owned()
    } else {
        format!("{from}/{pattern}")
    };
    let mut files = Vec::new();
    for path in glob::glob(&from).map_err(|e| wrong(e.to_string()))? {
        let path = path.map_err(|e| wrong(e.to_string()))?;
        if !path.is_file() {
            continue;
        }
        if files.len() == MOST_FILES {
            return Err(wrong(format!("matches more than {MOST_FILES} files")));
        }
        files.push(path);
    }
    if files.is_empty() {
        let why = "matches no file; for all files in a folder write folder/**/*";
        return Err(wrong(why.to_owned()));
    }
    Ok(files)
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Arguments that are regular files, also behind `--name=`.
fn named_in(command: &[String], folder: &Path) -> Vec<PathBuf> {
    let values = command
        .iter()
        .filter_map(|word| word.strip_prefix('-')?.split_once('='))
        .map(|(_, value)| value);
    let words = command.iter().map(String::as_str).chain(values);
    let paths = words.map(|word| folder.join(word));
    // Files of the kernel differ at every reading.
    let is_system = |path: &Path| {
        ["/proc", "/sys", "/dev"]
            .iter()
            .any(|at| path.starts_with(at))
    };
    paths
        .filter(|path| !is_system(path) && path.is_file())
        .collect()
}

fn digest(path: &Path) -> io::Result<String> {
    let mut digester = Digester::default();
    io::copy(&mut File::open(path)?.take(LARGEST_READ + 1), &mut digester)?;
    Ok(digester.finish().to_string())
}

/// The versions of every input that the kept runs had.
#[derive(Debug, Default)]
pub struct KeptInputs {
    by_path: BTreeMap<String, Vec<Version>>,
}

#[derive(Debug)]
struct Version {
    input: RunInput,
    runs: Vec<RunId>,
}

/// An input that is not what it was for runs that are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputChange {
    pub path: String,
    pub now: String,
    /// The first of the other versions.
    pub before: String,
    /// That had other versions.
    pub runs: Vec<RunId>,
    /// Whether some kept run has this version already: that it differs was accepted then.
    pub is_accepted: bool,
}

impl InputChange {
    /// `train.py (sha256 1a2b3c instead of sha256 9f8e7d)`.
    fn said(&self) -> String {
        format!("{} ({} instead of {})", self.path, self.now, self.before)
    }
}

impl KeptInputs {
    /// Of runs whose results stay. A failed run has none, and may have been the reason of a change.
    pub fn of<'r>(records: impl IntoIterator<Item = &'r RunRecord>) -> Self {
        let mut kept = KeptInputs::default();
        records.into_iter().for_each(|record| kept.add(record));
        kept
    }

    pub(crate) fn add(&mut self, record: &RunRecord) {
        let is_measured = matches!(record.origin, Origin::Measured { .. });
        if !is_measured || record.outcome.status == Status::Failed {
            return;
        }
        for input in &record.inputs {
            let versions = self.by_path.entry(input.path.clone()).or_default();
            let same = versions
                .iter_mut()
                .find(|version| version.input.has_same_content(input));
            match same {
                Some(version) => version.runs.push(record.run),
                None => versions.push(Version {
                    input: input.clone(),
                    runs: vec![record.run],
                }),
            }
        }
    }

    pub fn changes(&self, now: &[RunInput]) -> Vec<InputChange> {
        let change = |input: &RunInput| {
            let versions = self.by_path.get(&input.path)?;
            let is_same = |version: &&Version| version.input.has_same_content(input);
            let others: Vec<&Version> = versions.iter().filter(|v| !is_same(v)).collect();
            Some(InputChange {
                path: input.path.clone(),
                now: input.version(),
                before: others.first()?.input.version(),
                runs: others.iter().flat_map(|v| v.runs.iter().copied()).collect(),
                is_accepted: versions.iter().any(|version| is_same(&version)),
            })
        };
        now.iter().filter_map(change).collect()
    }
}

/// All changes of these scenarios' inputs, each path once.
pub fn input_changes(
    study: &Study,
    scenarios: &[Scenario],
    kept: &KeptInputs,
    reader: &InputReader,
) -> Result<Vec<InputChange>, InputError> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for scenario in scenarios {
        let mut inputs = reader.read(study, scenario)?;
        inputs.retain(|input| seen.insert(input.path.clone()));
        all.extend(kept.changes(&inputs));
    }
    Ok(all)
}

/// What a run is marked with whose inputs are not those of earlier runs, or changed while it ran.
pub(crate) fn warning(changes: &[InputChange], during: Vec<String>) -> Option<Warning> {
    let files: Vec<String> = changes
        .iter()
        .map(InputChange::said)
        .chain(during)
        .collect();
    (!files.is_empty()).then_some(Warning::InputsChanged { files })
}

/// An entry of `inputs` that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("inputs: `{pattern}` {why}")]
pub struct InputError {
    pattern: String,
    why: String,
}

#[cfg(test)]
mod tests;
