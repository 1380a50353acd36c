//! What runs reported: losses by epoch, times of operators.

use analyse::{Analysis, RunRow};
use model::RunId;

use super::{Grid, Writer, level, number};

/// One row per epoch of a run.
pub(crate) fn losses(analysis: &Analysis) -> Grid {
    let mut table = Told::new(analysis, &["epoch", "loss", "accuracy_percent", "seconds"]);
    for run in &analysis.runs {
        for epoch in &run.epochs {
            let percent = epoch.accuracy.map(|fraction| fraction * 100.0);
            let numbers = [epoch.loss, percent, epoch.seconds].map(number);
            table.row(run, [epoch.epoch.to_string()].into_iter().chain(numbers));
        }
    }
    table.out.finish()
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
    let columns = ["step", "epoch", "loss", "seconds", "images"];
    let mut table = Told::new(analysis, &columns);
    let whole = |number: Option<u64>| number.map(|n| n.to_string()).unwrap_or_default();
    for run in &analysis.runs {
        for told in steps(run.run) {
            table.row(
                run,
                [
                    told.step.to_string(),
                    whole(told.epoch.map(u64::from)),
                    number(told.loss),
                    number(told.seconds),
                    whole(told.images),
                ],
            );
        }
    }
    table.out.finish()
}

/// One row an operator of a run, the largest of each run first.
pub(crate) fn profile(analysis: &Analysis) -> Grid {
    let mut table = Told::new(analysis, &["operator", "kind", "calls", "seconds"]);
    for run in &analysis.runs {
        for operator in &run.profile {
            table.row(
                run,
                [
                    operator.name.clone(),
                    operator.kind.clone(),
                    operator.calls.to_string(),
                    number(Some(operator.seconds)),
                ],
            );
        }
    }
    table.out.finish()
}

/// Rows that begin with the run and its levels.
pub(super) struct Told<'a> {
    analysis: &'a Analysis,
    factors: Vec<&'a str>,
    pub(super) out: Writer,
}

impl<'a> Told<'a> {
    pub(super) fn new(analysis: &'a Analysis, columns: &[&str]) -> Self {
        let factors = analysis.study.factors.iter().map(|f| f.name.as_str());
        let factors: Vec<&str> = factors.collect();
        let mut out = Writer::default();
        out.texts([
            "study",
            "run",
            "scenario",
            "repetition",
            "status",
            "environment",
        ]);
        out.all(factors.iter().map(|f| format!("factor_{f}")));
        out.all(columns.iter().map(|column| (*column).to_owned()));
        out.end_row();
        Told {
            analysis,
            factors,
            out,
        }
    }

    pub(super) fn row(&mut self, run: &RunRow, told: impl IntoIterator<Item = String>) {
        let scenario = crate::tables::scenario(self.analysis, run.scenario);
        self.out.all([
            self.analysis.study.name.clone(),
            run.run.to_string(),
            format!("C{}", run.scenario),
            run.repetition.to_string(),
            run.status.to_string(),
            run.environment.clone(),
        ]);
        let levels = |f: &&str| scenario.map(|s| level(&s.levels, f)).unwrap_or_default();
        self.out.all(self.factors.iter().map(levels));
        self.out.all(told);
        self.out.end_row();
    }
}
