//! What explains a metric: its variation by factor (analysis of variance).

use model::{RunId, Study};
use stats::{Anova, Design, Observation, Options, ResidualSource, Source};

use crate::decides::{Comparison, LevelEffect, Noise, Scale, Variation, VariationTerm, Verdict};
use crate::design::{PresentFactor, is_complete, observations, varied_factors};
use crate::effects::{self, Fit};
use crate::table::{Row, Table};
use crate::words::format;
use crate::words::names::{MetricInfo, metric_value};

/// Below this probability a difference is taken as real.
const SURE: f64 = 0.05;
/// Interactions of more factors are taken together.
const MOST_ORDER: usize = 2;

pub(crate) fn variation(table: &Table, column: usize, confidence: f64) -> Variation {
    let info = &table.columns[column];
    let rows: Vec<&Row> = table
        .runs
        .iter()
        .filter(|r| r.is_ok() && r.values[column].is_some())
        .collect();
    let mut result = empty(info, &rows);
    let factors = varied_factors(table.study, &rows);
    if let Some(problem) = nothing_to_explain(info, column, &rows, &factors, table.study) {
        result.problem = Some(problem);
        return result;
    }
    let rows: Vec<&Row> = rows
        .into_iter()
        .filter(|row| is_complete(row, &factors))
        .collect();
    let raw = observations(&rows, column, &factors);
    let design = Design {
        levels: factors.iter().map(|f| f.levels.len()).collect(),
    };
    let choice = choose_scale(info, &design, &raw);
    result.scale = choice.scale;
    result.scale_reason = choice.reason;
    let data = match result.scale {
        Scale::Linear => raw,
        Scale::Logarithmic => raw
            .into_iter()
            .map(|o| Observation {
                value: o.value.ln(),
                ..o
            })
            .collect(),
    };
    let options = Options {
        max_order: MOST_ORDER,
        blocks: false,
    };
    let anova = match stats::factorial(&design, &data, options) {
        Ok(anova) => anova,
        Err(error) => {
            result.problem = Some(format!("The variation could not be analysed: {error}."));
            return result;
        }
    };
    let fit = stats::level_fit(&design, &data, options, &anova).ok();
    let fit = Fit {
        info,
        factors: &factors,
        scale: result.scale,
        data: &data,
        fit,
        confidence,
    };
    result.effects = effects::level_effects(&fit);
    result.terms = terms(&anova, &fit);
    result.noise = Some(noise(&anova, result.scale));
    result.assumptions = assumptions(&anova, &factors, &rows, table.study);
    check_residuals(
        &mut result,
        &rows,
        &stats::residuals(&design, &data, options),
    );
    result
}

/// Marks metrics whose variation is the time's in other words: the same factors, nearly the same
/// shares, and every level changes both alike. Saying it twice would help nobody.
pub(crate) fn mark_those_like_time(variations: &mut [Variation], time: &str) {
    let Some(time) = variations.iter().find(|v| v.metric == time).cloned() else {
        return;
    };
    let like = |other: &Variation| {
        let share = |term: &VariationTerm| {
            let same = time.terms.iter().find(|t| t.factors == term.factors);
            same.map_or(0.0, |t| t.share)
        };
        other.metric != time.metric
            && other.scale == time.scale
            && !other.terms.is_empty()
            && other.terms.len() == time.terms.len()
            && other
                .terms
                .iter()
                .all(|term| (share(term) - term.share).abs() < 0.03)
    };
    for variation in variations {
        let together = match variation.metric.as_str() {
            model::run::metric::COST => Together::Rise,
            model::run::metric::IMAGES_PER_SECOND => Together::Oppose,
            _ => continue,
        };
        variation.follows_time = like(variation) && together.are(&time.effects, &variation.effects);
    }
}

/// How a metric goes with the time, if it does.
#[derive(Clone, Copy)]
enum Together {
    Rise,
    Oppose,
}

impl Together {
    /// A tenth of what a level does may be rounding up, and what does next to nothing says nothing.
    const NEAR: f64 = 0.1;
    const NOTHING: f64 = 0.02;

    fn are(self, time: &[LevelEffect], other: &[LevelEffect]) -> bool {
        let sign = match self {
            Together::Rise => 1.0,
            Together::Oppose => -1.0,
        };
        let sizes = |effects: &[LevelEffect]| -> Vec<f64> { effects.iter().map(size).collect() };
        let (time, other) = (sizes(time), sizes(other));
        let largest = |all: &[f64]| all.iter().copied().map(f64::abs).fold(0.0, f64::max);
        let (most, other_most) = (largest(&time), largest(&other));
        let is_near = |(t, o): (&f64, &f64)| {
            let (t, o) = (t / most, sign * o / other_most);
            (t - o).abs() <= Self::NEAR * t.abs() + Self::NOTHING
        };
        time.len() == other.len()
            && most > 0.0
            && other_most > 0.0
            && time.iter().zip(&other).all(is_near)
    }
}

/// Nought for a level that changes nothing.
fn size(effect: &LevelEffect) -> f64 {
    match effect.comparison {
        Comparison::Ratio => effect.estimate.value.ln(),
        Comparison::Difference => effect.estimate.value,
    }
}

fn empty(info: &MetricInfo, rows: &[&Row]) -> Variation {
    let mut scenarios: Vec<u32> = rows.iter().map(|r| r.record.run.scenario).collect();
    scenarios.dedup();
    Variation {
        metric: info.name.clone(),
        label: info.label.clone(),
        runs: rows.len(),
        scenarios: scenarios.len(),
        scale: Scale::Linear,
        scale_reason: String::new(),
        terms: Vec::new(),
        noise: None,
        residuals: String::new(),
        residuals_fine: true,
        outliers: Vec::new(),
        effects: Vec::new(),
        assumptions: Vec::new(),
        follows_time: false,
        problem: None,
    }
}

fn nothing_to_explain(
    info: &MetricInfo,
    column: usize,
    rows: &[&Row],
    factors: &[PresentFactor],
    study: &Study,
) -> Option<String> {
    let values: Vec<f64> = rows.iter().filter_map(|r| r.values[column]).collect();
    let first = *values.first()?;
    if factors.is_empty() {
        let advice = match study.factors.iter().any(|factor| factor.levels.len() > 1) {
            true => "",
            false => ": give a factor at least two levels",
        };
        return Some(format!(
            "Only one combination of levels has results, so there is nothing to compare the {} with{advice}.",
            info.label
        ));
    }
    if values.len() < 2 || values.iter().all(|v| *v == first) {
        let value = metric_value(info, first);
        return Some(format!(
            "The {} is {value} in every run: no factor affects it.",
            info.label
        ));
    }
    None
}

struct Choice {
    scale: Scale,
    reason: String,
}

fn choose_scale(info: &MetricInfo, design: &Design, data: &[Observation]) -> Choice {
    if info.unit == "%" {
        return Choice {
            scale: Scale::Linear,
            reason: "percentages are compared in points".to_owned(),
        };
    }
    match stats::choose_scale_factorial(design, data) {
        Ok(choice) => Choice {
            scale: match choice.scale {
                stats::Scale::Linear => Scale::Linear,
                stats::Scale::Log => Scale::Logarithmic,
            },
            reason: choice.reason,
        },
        Err(error) => Choice {
            scale: Scale::Linear,
            reason: error.to_string(),
        },
    }
}

fn terms(anova: &Anova, fit: &Fit) -> Vec<VariationTerm> {
    // One group of three is named; several groups together have no name of their own.
    let nameless = fit.factors.len() > MOST_ORDER + 1;
    let names = |term: &stats::Term| match term.source {
        Source::HigherOrder if nameless => Vec::new(),
        _ => term
            .factors
            .iter()
            .filter_map(|f| fit.factors.get(*f))
            .map(|f| f.name.clone())
            .collect(),
    };
    // Repetitions that are all exactly alike, as bills in whole minutes: whatever differs is sure.
    let residual = &anova.residual;
    let never_differs = residual.source == ResidualSource::Replication
        && residual.degrees_of_freedom > 0
        && residual.sum_of_squares <= 0.0;
    let p = |term: &stats::Term| match never_differs {
        true => Some(if term.sum_of_squares > 0.0 { 0.0 } else { 1.0 }),
        false => term.p,
    };
    let term = |term: &stats::Term| {
        let p = p(term);
        let verdict = verdict(term.share, p);
        let sentence = match (term.source, term.factors.as_slice()) {
            _ if term.degrees_of_freedom == 0 => {
                Some("its levels are confounded with those of other factors, so its effect cannot be separated".to_owned())
            }
            (Source::Effect, [factor]) => effects::headline(fit, *factor),
            (Source::Effect, [a, b]) if verdict.is_sure() => Some(effects::interaction(fit, *a, *b)),
            _ => None,
        };
        VariationTerm {
            factors: names(term),
            share: term.share,
            degrees_of_freedom: term.degrees_of_freedom,
            sum_of_squares: term.sum_of_squares,
            f: term.f,
            p,
            verdict,
            sentence,
        }
    };
    let mut terms: Vec<VariationTerm> = anova
        .terms
        .iter()
        .filter(|t| t.source != Source::Block)
        .map(term)
        .collect();
    // Main effects are what a person can choose, so they come before what they do together.
    terms.sort_by(|a, b| {
        (a.factors.len() != 1)
            .cmp(&(b.factors.len() != 1))
            .then(b.share.total_cmp(&a.share))
    });
    terms
}

fn verdict(share: f64, p: Option<f64>) -> Verdict {
    match p {
        None => Verdict::Untested,
        Some(p) if p.is_nan() || p >= SURE => Verdict::NotSeen,
        _ if share >= 0.5 => Verdict::Decides,
        _ if share >= 0.1 => Verdict::Matters,
        _ => Verdict::Small,
    }
}

fn noise(anova: &Anova, scale: Scale) -> Noise {
    let sd = anova.residual.mean_square.max(0.0).sqrt();
    Noise {
        share: anova.residual.share,
        degrees_of_freedom: anova.residual.degrees_of_freedom,
        sum_of_squares: anova.residual.sum_of_squares,
        typical: match scale {
            Scale::Linear => sd,
            Scale::Logarithmic => sd.exp() - 1.0,
        },
    }
}

fn assumptions(
    anova: &Anova,
    factors: &[PresentFactor],
    rows: &[&Row],
    study: &Study,
) -> Vec<String> {
    let mut said = Vec::new();
    let mut cells: Vec<u32> = rows.iter().map(|r| r.record.run.scenario).collect();
    cells.dedup();
    let full: usize = factors
        .iter()
        .map(|f| f.levels.len())
        .fold(1, usize::saturating_mul);
    if cells.len() < full {
        said.push(format!(
            "{} of {} combinations of levels have no result{}: each factor is tested after the others (type II sums of squares), and shares need not add up to 100 %.",
            format::count(full - cells.len()),
            format::count(full),
            if study.exclude.is_empty() { "" } else { " (some are excluded by the study)" }
        ));
    } else if !anova.balanced {
        said.push(
            "Scenarios have different numbers of results: each factor is tested after the others (type II sums of squares), and shares need not add up to 100 %."
                .to_owned(),
        );
    }
    match (anova.residual.degrees_of_freedom, anova.residual.source) {
        (0, _) => said.push(
            "There are no repetitions and no residual degrees of freedom, so no share can be tested: use at least 2 repetitions."
                .to_owned(),
        ),
        (_, ResidualSource::HigherOrder) => said.push(
            format!(
                "There are too few repetitions to estimate noise: {} are assumed to be zero, and their variation is counted as noise. Use at least 2 repetitions to avoid this.",
                match anova.terms.iter().any(|term| term.factors.len() > 1) {
                    true => "interactions of three or more factors",
                    false => "interactions",
                }
            ),
        ),
        (_, ResidualSource::Replication) => {}
    }
    said
}

fn check_residuals(
    result: &mut Variation,
    rows: &[&Row],
    residuals: &Result<stats::Residuals, stats::StatsError>,
) {
    let Ok(residuals) = residuals else {
        result.residuals =
            "The model fit could not be checked: there are too few repetitions.".to_owned();
        return;
    };
    let check = stats::check_residuals(residuals);
    result.residuals_fine = check.fine;
    result.outliers = check
        .outliers
        .iter()
        .filter_map(|index| rows.get(*index))
        .map(|r| r.record.run)
        .collect();
    let mut wrong: Vec<String> = Vec::new();
    if !result.outliers.is_empty() {
        let names: Vec<String> = result.outliers.iter().map(RunId::to_string).collect();
        let from = match result.runs > result.scenarios {
            true => "the other repetitions",
            false => "what the factors predict",
        };
        wrong.push(format!("{} far from {from}", are(&names)));
    }
    if check.spread_p.is_some_and(|p| p < 0.01) {
        wrong.push("some scenarios vary much more than others".to_owned());
    }
    if check.normality_p.is_some_and(|p| p < 0.01) {
        wrong.push("residuals are skewed or heavy-tailed".to_owned());
    }
    result.residuals = match (check.fine, wrong.is_empty()) {
        (true, true) => "Residuals fine: they look random.".to_owned(),
        (true, false) => format!("Residuals fine, though {}.", wrong.join(" and ")),
        (false, _) => format!(
            "Residuals not fine: {}. Large shares remain valid; treat p-values near 0.05 and narrow intervals with caution.",
            if wrong.is_empty() {
                "they do not look random".to_owned()
            } else {
                wrong.join(" and ")
            }
        ),
    };
}

fn are(names: &[String]) -> String {
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", format::listed(names, 4))
}
