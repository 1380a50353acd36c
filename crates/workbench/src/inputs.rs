//! Inputs that have changed since earlier runs: refused, re-run, or accepted.

use std::collections::BTreeSet;

use model::{RunId, RunRecord};
use runner::{InputChange, InputReader, KeptInputs};

use crate::claim::named;
use crate::error::{Error, ErrorKind};
use crate::open::Opened;

/// What to do about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    Refuse,
    Redo,
    Accept,
}

/// Runs that are to be done again because their inputs have changed.
pub fn changed_runs(
    opened: &Opened,
    earlier: &[RunRecord],
    due: &[RunId],
    changed: Changed,
) -> Result<BTreeSet<RunId>, Error> {
    if earlier.is_empty() {
        // What is missing is said with everything else that the machine lacks.
        return Ok(BTreeSet::new());
    }
    let due: BTreeSet<&RunId> = due.iter().collect();
    let kept = KeptInputs::of(earlier.iter().filter(|record| !due.contains(&record.run)));
    let reader = InputReader::new(&opened.folder);
    let scenarios = &opened.plan.scenarios;
    let changes = runner::input_changes(&opened.study, scenarios, &kept, &reader)
        .map_err(Error::bad_study)?;
    if changed == Changed::Redo {
        return Ok(changes.into_iter().flat_map(|change| change.runs).collect());
    }
    let is_settled = changed == Changed::Accept || changes.iter().all(|change| change.is_accepted);
    match is_settled {
        true => Ok(BTreeSet::new()),
        false => Err(changed_inputs(&changes)),
    }
}

/// Refuses them, with the choices.
pub fn changed_inputs(changes: &[InputChange]) -> Error {
    let one = |change: &InputChange| {
        let InputChange {
            path,
            now,
            before,
            runs,
            ..
        } = change;
        format!(
            "{path} has changed since {} ({before} → {now})",
            named(runs)
        )
    };
    let all: Vec<String> = changes.iter().map(one).collect();
    let message = format!(
        "{}\n  = runs before and after it would be averaged. Choose: --redo-changed re-runs what used the old version, \
         --accept-changed keeps it and marks the runs that follow, --out DIR starts new results",
        all.join("\n       ")
    );
    Error::new(ErrorKind::ResultsInUse, message)
}
