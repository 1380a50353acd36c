//! Whether what the factors leave looks like noise, and what follows where it does not, in sentences.

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
        result.residuals =
            "The model fit could not be checked: there are too few repetitions.".to_owned();
        return;
    };
    let check = &checked.check;
    let outliers = check.outliers.iter().filter_map(|index| rows.get(*index));
    result.outliers = outliers.map(|r| r.record.run).collect();
    let mut wrong: Vec<String> = Vec::new();
    if !result.outliers.is_empty() {
        let names: Vec<String> = result.outliers.iter().map(RunId::to_string).collect();
        wrong.push(format!("{} far from the other repetitions", are(&names)));
    }
    if checked.is_unequal() {
        wrong.push("some scenarios vary much more than others".to_owned());
    }
    if checked.is_heavy() {
        wrong.push("residuals are skewed or heavy-tailed".to_owned());
    }
    let few = checked.degrees_of_freedom < FEWEST;
    result.residuals_fine = (!few || !check.fine).then_some(check.fine);
    result.residuals = match check.fine {
        true if few => {
            "There are too few repetitions to check whether residuals look random.".to_owned()
        }
        true => "Residuals fine: they look random.".to_owned(),
        false => format!(
            "Residuals not fine: {}. {}",
            wrong.join(" and "),
            what_follows(checked, model)
        ),
    };
}

fn what_follows(checked: &Checked, model: &Model) -> &'static str {
    match (model.means.is_trimmed, checked.needs_robust_means()) {
        (true, _) => {
            "Effects therefore compare trimmed means (Yuen), in which the most extreme fifth of each scenario's runs at either end does not count. Everything else includes all runs."
        }
        (false, true) => {
            "All runs are included; the tests do not suppose equal spread, and intervals are as wide as the spread of their own scenarios makes them. Means that such runs do not decide need at least 10 repetitions of every scenario."
        }
        (false, false) => {
            "All runs are included; the tests do not suppose equal spread, and intervals are as wide as the spread of their own scenarios makes them."
        }
    }
}

fn are(names: &[String]) -> String {
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", format::listed(names, 4))
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
            None => "without an interval".to_owned(),
        };
        scenarios
            .contains(&scenario.number)
            .then(|| format!("{} {} {interval}", scenario.label, value(found.median)))
    });
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| {
        format!(
            "{} of {} runs {} far from the other repetitions. Means and their intervals depend on how many such runs each scenario happened to have; medians do not: {}.",
            format::count(variation.outliers.len()),
            format::count(variation.runs),
            if variation.outliers.len() == 1 { "is" } else { "are" },
            format::listed(&said, 6)
        )
    })
}
