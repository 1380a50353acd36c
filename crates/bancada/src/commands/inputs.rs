//! Inputs that have changed since earlier runs: refused, re-run, or accepted.

use std::collections::BTreeSet;

use model::{RunId, RunRecord};
use runner::{InputChange, InputReader, KeptInputs};

use crate::args::RunArgs;
use crate::claim::named;
use crate::exit::{Exit, Failure};
use crate::locate::Opened;

/// Runs that are to be done again because their inputs have changed. A change that nobody asked to
/// be accepted or done again is an error.
pub(super) fn changed_runs(
    opened: &Opened,
    earlier: &[RunRecord],
    due: &[RunId],
    args: &RunArgs,
) -> Result<BTreeSet<RunId>, Failure> {
    let due: BTreeSet<&RunId> = due.iter().collect();
    let kept = KeptInputs::of(earlier.iter().filter(|record| !due.contains(&record.run)));
    let reader = InputReader::new(&opened.folder);
    let scenarios = &opened.plan.scenarios;
    let changes = runner::input_changes(&opened.study, scenarios, &kept, &reader)
        .map_err(|error| Failure::new(Exit::BadStudy, error))?;
    if args.redo_changed {
        return Ok(changes.into_iter().flat_map(|change| change.runs).collect());
    }
    let is_settled = args.accept_changed || changes.iter().all(|change| change.is_accepted);
    match is_settled {
        true => Ok(BTreeSet::new()),
        false => Err(failure(&changes)),
    }
}

pub(super) fn failure(changes: &[InputChange]) -> Failure {
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
    Failure::new(Exit::ResultsInUse, message)
}
