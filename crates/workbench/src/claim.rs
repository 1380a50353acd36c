//! Opens a results folder for writing, after checking whose runs it contains. A study that has
//! grown keeps its runs; runs of other studies are set aside; what cannot be decided is refused.

use std::path::Path;

use model::{Plan, RunId, RunRecord, Study};
use plan::Recognizer;
use report::format;
use store::{Arranged, Store, StudyLock};

use crate::Tell;
use crate::error::{Error, ErrorKind};
use crate::open::{create_store, saved_study};

/// More are counted, not named.
const MOST_NAMED: usize = 5;

/// Held until the work is done.
pub struct Claimed {
    pub store: Store,
    pub lock: StudyLock,
}

impl Claimed {
    /// Nothing came of it: a folder that was made for it goes again.
    pub fn give_up(self) {
        self.store.remove_if_empty(self.lock);
    }
}

pub struct Claim<'a> {
    pub folder: &'a Path,
    pub study: &'a Study,
    pub plan: &'a Plan,
    /// Whether runs of an earlier version of the study, of which none fits any more, may be set
    /// aside; `None` if the command has no such option.
    pub start_again: Option<bool>,
}

impl Claim<'_> {
    pub fn make(&self, tell: Tell<'_>) -> Result<Claimed, Error> {
        let store = create_store(self.folder, self.study)?;
        let lock = store.lock()?;
        let claimed = Claimed { store, lock };
        match self.arrange(&claimed.store, tell) {
            Ok(()) => Ok(claimed),
            Err(error) => {
                claimed.give_up();
                Err(error)
            }
        }
    }

    fn arrange(&self, store: &Store, tell: Tell<'_>) -> Result<(), Error> {
        let recognizer = Recognizer::new(self.study, self.plan);
        let records = store.records()?;
        let said = self.decide(store, &records, &recognizer)?;
        let arranged = store.arrange(&|record| recognizer.scenario_of(record).cloned())?;
        said.iter().for_each(|line| tell(line));
        for line in arranged_lines(&arranged, &self.study.name) {
            tell(&line);
        }
        Ok(())
    }

    /// Whether the runs that are there may be arranged for this study, and what is to be said of it.
    fn decide(
        &self,
        store: &Store,
        records: &[RunRecord],
        recognizer: &Recognizer<'_>,
    ) -> Result<Option<String>, Error> {
        if records.is_empty() {
            return Ok(None);
        }
        let is_foreign = |record: &&RunRecord| recognizer.scenario_of(record).is_none();
        let foreign: Vec<RunId> = records.iter().filter(is_foreign).map(|r| r.run).collect();
        let Some(identity) = store.recorded_identity()? else {
            return match foreign.is_empty() {
                true => Ok(Some(self.repaired(records.len()))),
                false => Err(self.nameless(&foreign)),
            };
        };
        if identity.fingerprint == plan::digest(self.study) {
            return Ok(None);
        }
        let before = saved_study(store);
        let differences = before.map(|before| plan::differences(&before, self.study));
        let differences = match differences {
            Some(all) if !all.is_empty() => format!(" ({})", all.join("; ")),
            _ => String::new(),
        };
        let fitting = records.len() - foreign.len();
        if fitting == 0 && self.start_again != Some(true) {
            return Err(self.nothing_fits(records.len(), &differences));
        }
        let runs = format::counted(records.len(), "finished run", "finished runs");
        Ok(Some(format!(
            "! the study has changed since its last run{differences}: {fitting} of {runs} kept"
        )))
    }

    fn repaired(&self, runs: usize) -> String {
        format!(
            "! identity.json in {} was missing or damaged; all {} match this study, so it was rewritten",
            self.folder.display(),
            format::counted(runs, "run", "runs"),
        )
    }

    fn nameless(&self, foreign: &[RunId]) -> Error {
        let message = format!(
            "identity.json in {} is missing or damaged, and {} not of the study `{}`\n  = restore identity.json, move these runs elsewhere, or choose a different folder with --out",
            self.folder.display(),
            match foreign {
                [one] => format!("{one} is"),
                several => format!("{} are", named(several)),
            },
            self.study.name,
        );
        Error::new(ErrorKind::ResultsInUse, message)
    }

    fn nothing_fits(&self, runs: usize, differences: &str) -> Error {
        let again = match self.start_again {
            Some(_) => ", or set these runs aside and start over with --redo-changed",
            None => "",
        };
        let message = format!(
            "{} contains {} of an earlier version of `{}`, none of which matches the current study{differences}\n  \
             = choose a different folder with --out{again}",
            self.folder.display(),
            format::counted(runs, "run", "runs"),
            self.study.name,
        );
        Error::new(ErrorKind::ResultsInUse, message)
    }
}

fn arranged_lines(arranged: &Arranged, study: &str) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(first) = arranged.renumbered.first() {
        let runs = format::counted(arranged.renumbered.len(), "run was", "runs were");
        let (from, to) = (first.from, first.to);
        lines.push(format!(
            "  {runs} renumbered with the scenarios ({from} is now {to})"
        ));
    }
    if !arranged.restored.is_empty() {
        let runs = format::counted(arranged.restored.len(), "run", "runs");
        let names = named(&arranged.restored);
        lines.push(format!(
            "  {runs} that had been set aside match again: {names}"
        ));
    }
    for aside in arranged.set_aside.iter().take(MOST_NAMED) {
        let why = match aside.study == study {
            true => "the study no longer has this scenario".to_owned(),
            false => format!("it is a run of the study `{}`", aside.study),
        };
        lines.push(format!(
            "! {} was set aside as {}: {why}",
            aside.run,
            aside.path.display(),
        ));
    }
    if arranged.set_aside.len() > MOST_NAMED {
        let more = arranged.set_aside.len() - MOST_NAMED;
        let more = format::counted(more, "more run was", "more runs were");
        lines.push(format!("! {more} set aside with it"));
    }
    lines
}

pub(crate) fn named(runs: &[RunId]) -> String {
    let names: Vec<String> = runs.iter().map(ToString::to_string).collect();
    format::listed(&names, MOST_NAMED)
}
