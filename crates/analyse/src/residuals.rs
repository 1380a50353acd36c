//! Whether what the factors leave looks like noise, and what follows where it does not, in sentences.

use messages::message;
use model::RunId;
use stats::{ResidualCheck, Residuals};

use crate::analysis::Analysis;
use crate::decides::Variation;
use crate::lists::unique;
use crate::table::Row;
use crate::variation::Model;
use crate::words::format;
use crate::words::names::metric_value;

/// Of fewer values nothing can be said.
const FEWEST: usize = 8;
const LEVEL: f64 = 0.01;

/// What became of means that single runs do not decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trimming {
    NotNeeded,
    Done,
    TooFew,
    /// Means are compared within blocks, which have few values each.
    NotInBlocks,
    /// Levels would be in another order than by their means.
    Contradicts,
}

pub(crate) struct Checked {
    check: ResidualCheck,
    degrees_of_freedom: usize,
}

impl Checked {
    pub(crate) fn of(residuals: &Residuals) -> Self {
        Checked {
            check: stats::check_residuals(residuals),
            degrees_of_freedom: residuals.degrees_of_freedom,
        }
    }

    fn is_heavy(&self) -> bool {
        self.check.normality_p.is_some_and(|p| p < LEVEL)
    }

    fn is_unequal(&self) -> bool {
        self.check.spread_p.is_some_and(|p| p < LEVEL)
    }

    /// Unequal spread, which looks like heavy tails of all runs together, is allowed for anyway; single runs far from
    /// the others are not.
    pub(crate) fn needs_robust_means(&self) -> bool {
        !self.is_unequal() && (self.is_heavy() || !self.check.outliers.is_empty())
    }
}

pub(crate) fn say(result: &mut Variation, rows: &[&Row], model: &Model) {
    let Some(checked) = &model.residuals else {
        result.residuals = message!("residuals-unchecked");
        return;
    };
    let check = &checked.check;
    let found = check
        .outliers
        .iter()
        .filter_map(|index| model.rows_of.get(*index));
    let outliers = found.flatten().filter_map(|place| rows.get(*place));
    result.outliers = outliers.map(|r| r.record.run).collect();
    let mut wrong: Vec<String> = Vec::new();
    if !result.outliers.is_empty() {
        let names: Vec<String> = result.outliers.iter().map(RunId::to_string).collect();
        wrong.push(message!(
            "residuals-far",
            names = format::listed(&names, 4),
            count = names.len()
        ));
    }
    if checked.is_unequal() {
        wrong.push(message!("residuals-unequal"));
    }
    if checked.is_heavy() {
        wrong.push(message!("residuals-skewed"));
    }
    let few = checked.degrees_of_freedom < FEWEST;
    result.residuals_fine = (!few || !check.fine).then_some(check.fine);
    result.residuals = match check.fine {
        true if few => message!("residuals-few"),
        true => message!("residuals-fine"),
        false => {
            let and = |first: String, next: String| message!("residuals-and", first, next);
            let wrong = wrong.into_iter().reduce(and).unwrap_or_default();
            let follows = match model.trimming {
                Trimming::Done => "trimmed",
                Trimming::TooFew => "too-few-to-trim",
                Trimming::Contradicts => "contradicts",
                Trimming::NotNeeded | Trimming::NotInBlocks => "nothing",
            };
            message!("residuals-not-fine", wrong, follows)
        }
    };
}

/// Where runs of the time lie far from their repetitions: what a mean cannot say.
pub(crate) fn medians(analysis: &Analysis) -> Option<String> {
    let name = analysis.time_metric.as_deref()?;
    let (variation, info) = (analysis.variation(name)?, analysis.metric(name)?);
    let scenarios = unique(variation.outliers.iter().map(|run| run.scenario));
    let said = analysis.scenarios.iter().filter_map(|scenario| {
        let found = scenario.metrics.get(name)?;
        let value = |value: f64| metric_value(info, value);
        let interval = match found.median_interval {
            Some(i) => format::interval(i.low, i.high, value),
            None => message!("medians-no-interval"),
        };
        scenarios
            .contains(&scenario.number)
            .then(|| format!("{} {} {interval}", scenario.label, value(found.median)))
    });
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| {
        message!(
            "medians",
            outliers = variation.outliers.len(),
            runs = variation.runs,
            said = format::listed(&said, 6)
        )
    })
}
