//! What runs reported: losses by epoch, times of steps and operators.

use analyse::{Analysis, RunRow};
use model::RunId;
use model::run::{Epoch, OperatorTime};

use super::{Columns, Grid, number};

/// One row per epoch of a run.
pub(crate) fn losses(analysis: &Analysis) -> Grid {
    type Row<'a> = (&'a RunRow, &'a Epoch);
    let mut table = Columns::of_runs(analysis, |(run, _): &Row| run);
    table.add("epoch", |(_, epoch)| epoch.epoch.to_string());
    table.add("loss", |(_, epoch)| number(epoch.loss));
    table.add("accuracy_percent", |(_, epoch)| {
        number(epoch.accuracy.map(|fraction| fraction * 100.0))
    });
    table.add("seconds", |(_, epoch)| number(epoch.seconds));
    let runs = analysis.runs.iter();
    table.grid(runs.flat_map(|run| run.epochs.iter().map(move |epoch| (run, epoch))))
}

/// A step as a run told it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToldStep {
    pub step: u64,
    pub epoch: Option<u32>,
    pub loss: Option<f64>,
    pub seconds: Option<f64>,
    pub images: Option<u64>,
}

/// One row per step of a run. Steps are too many to be part of an analysis: `steps` finds those of a
/// run.
pub(crate) fn steps(analysis: &Analysis, steps: &dyn Fn(RunId) -> Vec<ToldStep>) -> Grid {
    type Row<'a> = (&'a RunRow, ToldStep);
    let whole = |number: Option<u64>| number.map(|n| n.to_string()).unwrap_or_default();
    let mut table = Columns::of_runs(analysis, |(run, _): &Row| run);
    table.add("step", |(_, told)| told.step.to_string());
    table.add("epoch", move |(_, told)| whole(told.epoch.map(u64::from)));
    table.add("loss", |(_, told)| number(told.loss));
    table.add("seconds", |(_, told)| number(told.seconds));
    table.add("images", move |(_, told)| whole(told.images));
    let runs = analysis.runs.iter();
    table.grid(runs.flat_map(|run| steps(run.run).into_iter().map(move |step| (run, step))))
}

/// One row an operator of a run, the largest of each run first.
pub(crate) fn profile(analysis: &Analysis) -> Grid {
    type Row<'a> = (&'a RunRow, &'a OperatorTime);
    let mut table = Columns::of_runs(analysis, |(run, _): &Row| run);
    table.add("operator", |(_, operator)| operator.name.clone());
    table.add("kind", |(_, operator)| operator.kind.clone());
    table.add("calls", |(_, operator)| operator.calls.to_string());
    table.add("seconds", |(_, operator)| number(Some(operator.seconds)));
    let runs = analysis.runs.iter();
    table.grid(runs.flat_map(|run| run.profile.iter().map(move |one| (run, one))))
}
