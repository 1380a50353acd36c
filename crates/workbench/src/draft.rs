//! A study file while it is being edited: how many runs it would be, how long they would take, what
//! they would cost, before anything is saved.

use std::path::Path;

use diagnostics::read_text;
use model::{Money, Plan, RunId, Status, Study};
use plan::{Recognizer, TypedFactor};
use runner::{Forecast, RunSelection};
use store::Store;

use crate::Tell;
use crate::catalog::catalog;
use crate::error::{Error, ErrorKind};
use crate::forecast::forecast_without_pilot;
use crate::open::{has_question, open_text, results_folder};

/// A text of a study, as far as it is one.
pub struct Draft {
    /// Whose levels can be changed one by one.
    pub factors: Vec<TypedFactor>,
    /// Or what is wrong with it.
    pub outcome: Result<DraftPlan, Error>,
}

/// What the study would be.
pub struct DraftPlan {
    pub study: Study,
    pub plan: Plan,
    /// Runs that the plan has and that were measured already.
    pub kept: usize,
    /// Runs of the results that the study would no longer have.
    pub dropped: usize,
    pub due: Vec<RunId>,
    /// Of the runs that are due; none where nothing like them was measured.
    pub forecast: Option<Forecast>,
    pub budget: Option<Money>,
}

/// The study file at `path`, if it had this text.
pub fn draft(path: &Path, text: &str, scale: Option<&str>, tell: Tell<'_>) -> Draft {
    let opened = open_text(path, text.to_owned(), scale, &catalog(tell));
    Draft {
        factors: plan::typed_factors(text),
        outcome: opened.and_then(|opened| {
            let results = results_folder(path, &opened.study, None);
            DraftPlan::of(opened.study, opened.plan, &results)
        }),
    }
}

impl DraftPlan {
    fn of(study: Study, plan: Plan, results: &Path) -> Result<Self, Error> {
        let records = match has_question(results) {
            true => Store::open(results)?.records()?,
            false => Vec::new(),
        };
        let all = records.len();
        let records = Recognizer::new(&study, &plan).renumbered(records);
        let dropped = all - records.len();
        let statuses = records.iter().map(|r| (r.run, r.outcome.status)).collect();
        let due = runner::due_runs(&plan, &statuses, &RunSelection::default());
        let due = runner::open_runs(&study, &plan, due, &records);
        Ok(DraftPlan {
            kept: plan
                .runs
                .iter()
                .filter(|run| is_kept(statuses.get(run)))
                .count(),
            dropped,
            forecast: forecast_without_pilot(&study, &plan, &due, &records),
            budget: study.budget,
            due,
            study,
            plan,
        })
    }
}

/// A run that was interrupted is made again.
fn is_kept(status: Option<&Status>) -> bool {
    status.is_some_and(|status| *status != Status::Interrupted)
}

/// Writes a study file that nobody else has changed since `before` was read. Mistakes are refused.
pub fn save_draft(path: &Path, before: &str, text: &str, tell: Tell<'_>) -> Result<(), Error> {
    open_text(path, text.to_owned(), None, &catalog(tell))?;
    let failed = |error: std::io::Error| Error::other(format!("{}: {error}", path.display()));
    let current = read_text(path).map_err(failed)?;
    if current != before {
        let message = format!(
            "{} was changed by another program meanwhile: open the editor again",
            path.display()
        );
        return Err(Error::new(ErrorKind::ResultsInUse, message));
    }
    host::write_whole(path, text).map_err(failed)
}
