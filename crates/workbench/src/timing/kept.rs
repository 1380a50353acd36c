//! Where timed runs are kept.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use frameworks::Home;
use model::run::RunInput;
use model::{Environment, RunId, RunRecord, Timestamp};
use runner::{InputReader, RecordOf};
use store::Store;
use worker::Repeated;

use super::cannot;
use crate::Tell;
use crate::claim::{Claim, Claimed};
use crate::error::Error;
use crate::open::{Opened, Results, results_folder, save_question};

/// Of a study that nobody named: its results have the name of the command.
pub(super) const STUDY_STEM: &str = "study";
/// Of studies that nobody named, the newest.
const KEPT_STUDIES: usize = 20;
/// Runs without files are written down together; a program that is killed loses no more than this.
const FLUSH_EVERY: Duration = Duration::from_secs(5);
/// What a run that was sampled leaves.
const RUN_FILES: [&str; 3] = ["events.jsonl", "samples.csv", "log.txt"];

/// A study file of which nobody said where it is to be: in the cache, beside the newest others.
pub fn kept_study(name: &str) -> Result<PathBuf, Error> {
    let home = Home::find().map_err(Error::other)?;
    let parent = home.path().join("time");
    fs::create_dir_all(&parent).map_err(|error| cannot("make", &parent, &error))?;
    remove_oldest(&parent);
    let now: String = Timestamp::now().to_string();
    let now: String = now.chars().filter(char::is_ascii_digit).take(17).collect();
    let free = (1..).map(|count: u32| match count {
        1 => parent.join(format!("{now}-{name}")),
        count => parent.join(format!("{now}-{name}-{count}")),
    });
    for folder in free {
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder.join(STUDY_STEM).with_extension("toml")),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(cannot("make", &folder, &error)),
        }
    }
    Err(Error::other("no name is free for the study"))
}

/// Their names begin with the time.
fn remove_oldest(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.sort();
    let surplus = (folders.len() + 1).saturating_sub(KEPT_STUDIES);
    for folder in folders.iter().take(surplus) {
        // What cannot be removed is looked at again the next time.
        _ = fs::remove_dir_all(folder);
    }
}

/// Takes runs while the study is carried out.
pub(super) struct Keeper {
    claimed: Claimed,
    folder: PathBuf,
    /// By scenario, with the price of what each needs.
    environments: BTreeMap<u32, Environment>,
    inputs: BTreeMap<u32, Vec<RunInput>>,
    opened: Opened,
    rental: String,
    /// Runs that left no files, not written down yet.
    brief: Vec<RunRecord>,
    flushed: Instant,
}

impl Keeper {
    /// From here on there is a study file, with results beside it.
    pub(super) fn open(
        opened: &Opened,
        environments: BTreeMap<u32, Environment>,
        tell: Tell<'_>,
    ) -> Result<Self, Error> {
        let Opened {
            study, plan, text, ..
        } = opened;
        let folder = results_folder(&opened.path, study, None);
        if folder.exists() {
            return Err(Error::other(format!(
                "{} exists already: choose a different name for the study",
                folder.display()
            )));
        }
        let reader = InputReader::new(&opened.folder);
        let read = |scenario| reader.read(study, scenario).map_err(Error::other);
        let inputs = plan.scenarios.iter();
        let inputs = inputs.map(|scenario| Ok((scenario.number, read(scenario)?)));
        let inputs = inputs.collect::<Result<_, Error>>()?;
        fs::write(&opened.path, text).map_err(|error| cannot("write", &opened.path, &error))?;
        let claim = Claim {
            folder: &folder,
            study,
            plan,
            start_again: None,
        };
        let claimed = claim.make(tell)?;
        save_question(&claimed.store, study, plan, text)?;
        Ok(Keeper {
            claimed,
            folder,
            environments,
            inputs,
            opened: opened.clone(),
            rental: Timestamp::now().to_string(),
            brief: Vec::new(),
            flushed: Instant::now(),
        })
    }

    /// `files` is where the run left its own, where it has any.
    pub(super) fn keep(
        &mut self,
        repeated: Repeated,
        run: RunId,
        files: Option<PathBuf>,
    ) -> Result<(), Error> {
        let unknown = || Error::other(format!("{run} is not in the plan"));
        let Repeated {
            mut measurement,
            has_files,
        } = repeated;
        measurement.run = run;
        let scenario = self.opened.plan.scenario(run.scenario);
        let environment = self.environments.get(&run.scenario);
        let of = RecordOf {
            study: &self.opened.study,
            scenario: scenario.ok_or_else(unknown)?,
            environment: environment.ok_or_else(unknown)?,
            inputs: self.inputs.get(&run.scenario).cloned().unwrap_or_default(),
            rental: self.rental.clone(),
        };
        let record = of.record(measurement);
        match files.filter(|_| has_files) {
            Some(files) => keep_with_files(&self.claimed.store, &record, &files),
            None => {
                self.brief.push(record);
                match self.flushed.elapsed() < FLUSH_EVERY {
                    true => Ok(()),
                    false => self.flush(),
                }
            }
        }
    }

    fn flush(&mut self) -> Result<(), Error> {
        let brief = std::mem::take(&mut self.brief);
        self.claimed.store.add_imported(brief)?;
        self.flushed = Instant::now();
        Ok(())
    }

    pub(super) fn results(mut self, opened: Opened) -> Result<Results, Error> {
        self.flush()?;
        let Claimed { store, lock: _lock } = self.claimed;
        Ok(Results {
            study: opened.study,
            plan: opened.plan,
            store,
            folder: self.folder,
        })
    }
}

fn keep_with_files(store: &Store, record: &RunRecord, files: &Path) -> Result<(), Error> {
    let staging = store.begin(record.run)?;
    for name in RUN_FILES {
        let (from, to) = (files.join(name), staging.folder().join(name));
        // The cache may be on another disk.
        let moved = fs::rename(&from, &to).or_else(|_| fs::copy(&from, &to).map(|_| ()));
        moved.map_err(|error| cannot("keep", &from, &error))?;
    }
    staging.commit(record)?;
    Ok(())
}
