//! What explains a metric: its variation by factor, asked as one family of questions per study.

use std::collections::BTreeMap;

use messages::message;
use model::Study;
use model::design::AliasTable;
use model::run::metric;
use stats::{
    Anova, Answer, CellMeans, Design, LevelPair, Observation, Question, Scale, Source, StatsError,
};

use crate::assumptions;
use crate::decides::Variation;
use crate::design::{
    Counted, PresentFactor, RowBlocks, block_factors, by_scenario, is_complete, observations,
    varied_factors,
};
use crate::effects::{self, Fit};
use crate::in_time::InTime;
use crate::percentiles;
use crate::residuals::{self, Checked, Trimming};
use crate::scale;
use crate::table::{Row, Table};
use crate::tasks::Tasks;
use crate::terms;
use crate::words::names::{MetricInfo, metric_value};

/// Interactions of more factors are taken together.
pub(crate) const MOST_ORDER: usize = 2;

/// A column, and whether the study asks about it.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) column: usize,
    pub(crate) is_asked: bool,
    /// What the study is about above all: it gets as much of the level as all others together.
    pub(crate) is_first: bool,
}

/// All of them, with every statement of the study in one family.
/// `level` is its error rate.
pub(crate) fn variations(table: &Table, wanted: &[Wanted], level: f64) -> Vec<Variation> {
    let fitted: Vec<Fitted> = wanted.iter().map(|one| fit(table, *one)).collect();
    let answers = ask(&fitted, level);
    let finished = fitted.into_iter().zip(answers);
    finished
        .map(|(fitted, answers)| fitted.finish(table, &answers))
        .collect()
}

/// A metric with its model, before anything is said.
struct Fitted<'t, 'a> {
    info: &'t MetricInfo,
    is_asked: bool,
    is_first: bool,
    result: Variation,
    rows: Vec<&'t Row<'a>>,
    model: Option<Model>,
}

pub(crate) struct Model {
    pub(crate) factors: Vec<PresentFactor>,
    pub(crate) tasks: Tasks,
    /// On the scale of the model, as tests count them.
    pub(crate) data: Vec<Observation>,
    /// Every run on that scale.
    pub(crate) runs: Vec<Observation>,
    /// The rows behind each of `data`.
    pub(crate) rows_of: Vec<Vec<usize>>,
    pub(crate) anova: Anova,
    pub(crate) means: CellMeans,
    pub(crate) order: usize,
    /// In the order of the analysis of variance; none where it cannot be distinguished from others.
    pub(crate) p: Vec<Option<f64>>,
    /// `None` where nothing can be checked.
    pub(crate) residuals: Option<Checked>,
    pub(crate) trimming: Trimming,
    /// Of incomplete designs.
    pub(crate) aliases: Option<AliasTable>,
    /// Terms that may be the time of measurement instead.
    pub(crate) in_time: Vec<bool>,
}

impl Model {
    fn factors_in_time(&self) -> Vec<usize> {
        let terms = self.anova.terms.iter().zip(&self.in_time);
        let single = terms.filter(|(term, in_time)| **in_time && term.factors.len() == 1);
        single.map(|(term, _)| term.factors[0]).collect()
    }
}

impl Model {
    /// Whether main effects hold only if factors do not interact.
    pub(crate) fn supposes_no_interactions(&self) -> bool {
        self.order < MOST_ORDER && self.factors.len() > 1
    }
}

fn fit<'t, 'a>(table: &'t Table<'a>, wanted: Wanted) -> Fitted<'t, 'a> {
    let Wanted {
        column,
        is_asked,
        is_first,
    } = wanted;
    let info = &table.columns[column];
    let has_value = |r: &&Row| r.is_ok() && r.values[column].is_some();
    let rows: Vec<&Row> = table.runs.iter().filter(has_value).collect();
    let mut fitted = Fitted {
        info,
        is_asked,
        is_first,
        result: empty(info, &rows, is_asked),
        rows,
        model: None,
    };
    if let Some(few) = percentiles::too_few(&info.name, fitted.rows.iter().copied()) {
        fitted.result.problem = Some(message!(
            "variation-too-few-requests",
            label = info.label,
            needed = few.needed,
            requests = few.requests
        ));
        return fitted;
    }
    let factors = varied_factors(table.study, &fitted.rows);
    let problem = nothing_to_explain(info, column, &fitted.rows, &factors, table.study);
    if problem.is_some() {
        fitted.result.problem = problem;
        return fitted;
    }
    fitted.rows.retain(|row| is_complete(row, &factors));
    match model(table, column, &fitted.rows, factors, &mut fitted.result) {
        Ok(model) => fitted.model = Some(model),
        Err(StatsError::NoRepetitions | StatsError::FewRepetitions)
            if RowBlocks::new(table.study, &fitted.rows).is_some_and(|b| b.is_declared) =>
        {
            fitted.result.problem = Some(message!(
                "variation-few-blocks",
                label = info.label,
                names = block_factors(table.study).join(" × ")
            ));
        }
        Err(StatsError::NoRepetitions) => {
            fitted.result.problem = Some(message!("variation-no-repetitions", label = info.label));
        }
        Err(StatsError::FewRepetitions) => {
            fitted.result.problem = Some(few_repetitions(info, &fitted.rows));
        }
        Err(error) => {
            let error = error.to_string();
            fitted.result.problem = Some(message!("variation-failed", error));
        }
    }
    fitted
}

fn model(
    table: &Table,
    column: usize,
    rows: &[&Row],
    factors: Vec<PresentFactor>,
    result: &mut Variation,
) -> Result<Model, StatsError> {
    let raw = observations(rows, column, &factors);
    let tasks = Tasks::of(table.study, &factors, &raw);
    let design = Design {
        levels: factors.iter().map(|f| f.levels.len()).collect(),
    };
    let choice = scale::choose(&table.columns[column], &design, &raw);
    result.scale = choice.scale;
    result.scale_reason = choice.why;
    let value = |value: f64| match choice.scale {
        Scale::Linear => value,
        Scale::Logarithmic => value.ln(),
    };
    let scaled = raw.iter().map(|o| Observation {
        value: value(o.value),
        levels: o.levels.clone(),
    });
    let runs: Vec<Observation> = scaled.collect();
    let steps = rows.iter().map(|row| on_scale(choice.scale, row, column));
    let counted = Counted::new(table.study, rows, &raw);
    let data = counted.observations(&runs);
    let values = Values {
        design: &design,
        measured: &counted.observations(&raw),
        scaled: &data,
        steps: counted.means(&steps.collect::<Vec<_>>()),
    };
    let Known {
        means,
        residuals,
        trimming,
    } = values.known(counted.blocks.as_ref())?;
    let order = order(&means, factors.len());
    let anova = stats::factorial(&design, &data, order)?;
    let p = |term: &stats::Term| match term.source {
        Source::Effect => of_effect(&means, &design, term, order),
        Source::HigherOrder => means.test_higher(order).map_or(term.p, |test| Some(test.p)),
    };
    let confounded = InTime::of(table, column, rows, &factors);
    let is_in_time = |term: &stats::Term| {
        let confounded = confounded.as_ref();
        confounded.is_some_and(|time| time.confounds(&term.factors))
    };
    let in_time: Vec<bool> = anova.terms.iter().map(is_in_time).collect();
    let known = anova.terms.iter().zip(&in_time);
    let p = known.map(|(term, in_time)| if *in_time { None } else { p(term) });
    let p = p.collect();
    let aliases = (!means.is_complete() || means.is_parted()).then(|| {
        let scenarios = by_scenario(rows).into_iter();
        let scenarios = scenarios.map(|group| group[0].record.scenario.clone());
        design::alias_table(&table.study.factors, &scenarios.collect::<Vec<_>>())
    });
    Ok(Model {
        factors,
        tasks,
        data,
        runs,
        rows_of: counted.rows,
        anova,
        means,
        order,
        p,
        residuals,
        trimming,
        aliases,
        in_time,
    })
}

/// Cell means, and what was seen of the values beside them.
struct Known {
    means: CellMeans,
    residuals: Option<Checked>,
    trimming: Trimming,
}

struct Values<'v> {
    design: &'v Design,
    measured: &'v [Observation],
    /// On the scale of the model.
    scaled: &'v [Observation],
    /// What each was rounded to, on that scale.
    steps: Vec<f64>,
}

impl Values<'_> {
    fn known(&self, blocks: Option<&RowBlocks>) -> Result<Known, StatsError> {
        let blocks = blocks.map(RowBlocks::numbers);
        let mut means = CellMeans::new(self.design, self.scaled, blocks)?.rounded(&self.steps);
        // Days that differ are no heavy tails.
        let residuals = match means.residuals() {
            Some(residuals) => Some(Checked::of(residuals)),
            None => {
                let residuals = stats::residuals(self.design, self.scaled, MOST_ORDER);
                residuals.as_ref().ok().map(Checked::of)
            }
        };
        let mut trimming = Trimming::NotNeeded;
        let is_heavy = residuals.as_ref().is_some_and(Checked::needs_robust_means);
        if is_heavy && means.without_blocks {
            trimming = Trimming::NotInBlocks;
        } else if is_heavy {
            (means, trimming) = self.trimmed(means)?;
        }
        Ok(Known {
            means,
            residuals,
            trimming,
        })
    }

    /// Trimmed means in the place of plain ones, where they can be had and do not contradict the means as measured,
    /// which the ranking and everything else is said of.
    fn trimmed(&self, means: CellMeans) -> Result<(CellMeans, Trimming), StatsError> {
        let measured = CellMeans::new(self.design, self.measured, None)?;
        Ok(match CellMeans::trimmed(self.design, self.scaled) {
            Err(_) => (means, Trimming::TooFew),
            Ok(trimmed) if scale::contradict(self.design, &measured, &trimmed) => {
                (means, Trimming::Contradicts)
            }
            Ok(trimmed) => (trimmed.rounded(&self.steps), Trimming::Done),
        })
    }
}

/// Up to which order there are interactions. Where the combinations do not tell main effects from them, or tell none of
/// them at all, they are left out.
fn order(means: &CellMeans, factors: usize) -> usize {
    let tells = (0..factors).all(|f| means.test(&[f], MOST_ORDER).is_some());
    match tells && (factors < 2 || means.is_complete() || means.has_interactions(MOST_ORDER)) {
        true => MOST_ORDER,
        false => 1,
    }
}

/// What the value was rounded to.
fn on_scale(scale: Scale, row: &Row, column: usize) -> f64 {
    match (scale, row.values[column]) {
        (Scale::Logarithmic, Some(value)) => row.steps[column] / value.abs(),
        _ => row.steps[column],
    }
}

/// A factor of several levels differs if one of its pairs does: the approximation for all levels together says too
/// often that they differ when one of them varies much more than the others (9 % of studies instead of 5).
fn of_effect(means: &CellMeans, design: &Design, term: &stats::Term, order: usize) -> Option<f64> {
    if !term.inseparable.is_empty() {
        let others = term.inseparable.iter().map(Vec::as_slice);
        let all: Vec<&[usize]> = std::iter::once(term.factors.as_slice())
            .chain(others)
            .collect();
        return Some(means.test_joint(&all, order)?.p);
    }
    let together = means.test(&term.factors, order)?.p;
    let [factor] = *term.factors.as_slice() else {
        return Some(together);
    };
    let levels = design.levels[factor];
    let pairs = (1..levels).flat_map(|level| (0..level).map(move |base| (level, base)));
    let p = pairs.filter_map(|(level, base)| {
        let pair = LevelPair {
            factor,
            level,
            base,
        };
        Some(means.difference(pair, &[])?.p())
    });
    let smallest = p.min_by(f64::total_cmp)?;
    Some((smallest * (levels * (levels - 1) / 2) as f64).min(1.0))
}

/// Main effects are what a person asks first, then pairs, then the rest: shares of the metric's part of the level.
fn group_share(factors: usize) -> f64 {
    match factors {
        1 => 6.0,
        2 => 3.0,
        _ => 1.0,
    }
}

/// The answers to all questions of the study, term by term.
fn ask(fitted: &[Fitted], level: f64) -> Vec<Vec<Option<Answer>>> {
    let others = fitted
        .iter()
        .filter(|f| f.is_asked && !f.is_first && f.model.is_some());
    let others = others.count().max(1) as f64;
    let mut places = Vec::new();
    let mut questions = Vec::new();
    for (metric, fitted) in fitted.iter().enumerate().filter(|(_, f)| f.is_asked) {
        let Some(model) = &fitted.model else { continue };
        let terms = || model.anova.terms.iter().zip(&model.p).enumerate();
        let asked = || terms().filter_map(|(place, (term, p))| Some((place, term, (*p)?)));
        let size = |term: &stats::Term| match term.source {
            Source::Effect => term.factors.len().min(3),
            Source::HigherOrder => 3,
        };
        let in_group = |group: usize| asked().filter(|(_, term, _)| size(term) == group).count();
        let groups = (1..=3).filter(|group| in_group(*group) > 0);
        let all: f64 = groups.map(group_share).sum();
        for (place, term, p) in asked() {
            places.push((metric, place));
            questions.push(Question {
                p,
                share: if fitted.is_first { others } else { 1.0 } * group_share(size(term))
                    / all
                    / in_group(size(term)) as f64,
                // Pairs of several levels are still to be asked about.
                is_all: term.degrees_of_freedom == 1,
            });
        }
    }
    let mut answers: Vec<Vec<Option<Answer>>> = fitted
        .iter()
        .map(|f| vec![None; f.model.as_ref().map_or(0, |m| m.anova.terms.len())])
        .collect();
    let given = stats::weighted_holm(&questions, level);
    for ((metric, term), answer) in places.into_iter().zip(given) {
        answers[metric][term] = Some(answer);
    }
    answers
}

impl Fitted<'_, '_> {
    fn finish(mut self, table: &Table, answers: &[Option<Answer>]) -> Variation {
        let Some(model) = self.model.take() else {
            return self.result;
        };
        let fit = Fit {
            info: self.info,
            factors: &model.factors,
            scale: self.result.scale,
            means: &model.means,
            margin: model.tasks.margin(table.study, self.result.scale),
            study: table.study,
            repetitions: fewest(&model.data),
            is_asked: self.is_asked,
            in_time: model.factors_in_time(),
        };
        let level = |factor: usize| {
            let term = model.anova.terms.iter();
            let mut term = term.zip(answers).filter(|(t, _)| t.factors == [factor]);
            let answer = term.find_map(|(_, answer)| *answer);
            answer.map_or(1.0 - table.confidence(), |answer| answer.level)
        };
        self.result.effects = effects::level_effects(&fit, level);
        let confidence = table.confidence();
        self.result.terms = terms::terms(&model, &fit, answers, confidence);
        self.result.tasks = model.tasks.count();
        self.result.first_choices = model.tasks.first_choices(&fit, &model, 1.0 - confidence);
        self.result.noise = Some(terms::noise(&model, &fit, &self.rows));
        self.result.assumptions = assumptions::assumptions(&model, &self.rows, table);
        residuals::say(&mut self.result, &self.rows, &model);
        self.result
    }
}

fn few_repetitions(info: &MetricInfo, rows: &[&Row]) -> String {
    let groups = by_scenario(rows);
    let repeated = groups.iter().filter(|group| group.len() > 1).count();
    message!(
        "variation-few-repetitions",
        label = info.label,
        repeated,
        scenarios = groups.len()
    )
}

/// Of any combination.
fn fewest(data: &[Observation]) -> usize {
    let mut counts: BTreeMap<&[usize], usize> = BTreeMap::new();
    for one in data {
        *counts.entry(&one.levels).or_default() += 1;
    }
    counts.into_values().min().unwrap_or(0)
}

fn empty(info: &MetricInfo, rows: &[&Row], is_asked: bool) -> Variation {
    Variation {
        metric: info.name.clone(),
        label: info.label.clone(),
        is_asked,
        runs: rows.len(),
        scenarios: by_scenario(rows).len(),
        scale: Scale::Linear,
        scale_reason: String::new(),
        terms: Vec::new(),
        noise: None,
        residuals: String::new(),
        residuals_fine: None,
        outliers: Vec::new(),
        effects: Vec::new(),
        assumptions: Vec::new(),
        follows_time: false,
        tasks: 1,
        first_choices: Vec::new(),
        problem: None,
    }
}

/// What values differ by that were meant to be the same: their last bits, and the last decimal that amounts are kept to.
fn rounding(info: &MetricInfo, value: f64) -> f64 {
    let of_amount = match metric::is_of_bills(&info.name) {
        true => 1.5 * 0.1_f64.powi(cost::AMOUNT_PLACES as i32),
        false => 0.0,
    };
    of_amount.max(4.0 * f64::EPSILON * value.abs())
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
        let advice = study.factors.iter().all(|factor| factor.levels.len() < 2);
        return Some(message!(
            "variation-one-combination",
            label = info.label,
            advice
        ));
    }
    let is_same = |value: &f64| (value - first).abs() <= rounding(info, first);
    if values.len() < 2 || values.iter().all(is_same) {
        let value = metric_value(info, first);
        return Some(message!("variation-constant", label = info.label, value));
    }
    None
}
