//! What explains a metric: its variation by factor, asked as one family of questions per study.

use messages::{message, word};
use model::design::AliasTable;
use model::{RunSequence, Study};
use stats::{
    Anova, Answer, CellMeans, Design, LevelPair, Observation, Question, Scale, ScaleChoice,
    ScaleReason, Source, StatsError,
};

use crate::assumptions;
use crate::decides::{Noise, Variation, VariationTerm, Verdict};
use crate::design::{
    PresentFactor, blocks, by_scenario, is_complete, observations, varied_factors,
};
use crate::effects::{self, Fit, Judged};
use crate::in_time::InTime;
use crate::percentiles;
use crate::residuals::{self, Checked};
use crate::scale;
use crate::sequence::is_imported;
use crate::table::{Row, Table};
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
    pub(crate) anova: Anova,
    pub(crate) means: CellMeans,
    pub(crate) order: usize,
    /// In the order of the analysis of variance; none where it cannot be distinguished from others.
    pub(crate) p: Vec<Option<f64>>,
    /// `None` where nothing can be checked.
    pub(crate) residuals: Option<Checked>,
    /// Of incomplete designs.
    pub(crate) aliases: Option<AliasTable>,
    /// Terms that may be the time of measurement instead.
    in_time: Vec<bool>,
}

impl Model {
    fn factors_in_time(&self) -> Vec<usize> {
        let terms = self.anova.terms.iter().zip(&self.in_time);
        let single = terms.filter(|(term, in_time)| **in_time && term.factors.len() == 1);
        single.map(|(term, _)| term.factors[0]).collect()
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
        Err(StatsError::NoRepetitions) => {
            fitted.result.problem = Some(message!("variation-no-repetitions", label = info.label));
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
    let design = Design {
        levels: factors.iter().map(|f| f.levels.len()).collect(),
    };
    let mut choice = choose_scale(&table.columns[column], &design, &raw);
    if choice.scale == Scale::Logarithmic && scale::contradicts(&design, &raw)? {
        choice = ChosenScale {
            scale: Scale::Linear,
            why: message!("scale-order"),
        };
    }
    result.scale = choice.scale;
    result.scale_reason = choice.why;
    let value = |value: f64| match choice.scale {
        Scale::Linear => value,
        Scale::Logarithmic => value.ln(),
    };
    let logged = raw.into_iter().map(|o| Observation {
        value: value(o.value),
        ..o
    });
    let data: Vec<Observation> = logged.collect();
    let is_blocked =
        table.study.order == RunSequence::Blocks && !rows.iter().any(|r| is_imported(r));
    let blocks = blocks(table.study, rows, is_blocked);
    let steps: Vec<f64> = rows
        .iter()
        .map(|row| on_scale(choice.scale, row, column))
        .collect();
    let mut means = CellMeans::new(&design, &data, blocks.as_deref())?.rounded(&steps);
    let residuals = stats::residuals(&design, &data, MOST_ORDER);
    let residuals = residuals.as_ref().ok().map(Checked::of);
    if residuals.as_ref().is_some_and(Checked::needs_robust_means) {
        let trimmed = CellMeans::trimmed(&design, &data).map(|means| means.rounded(&steps));
        means = trimmed.unwrap_or(means);
    }
    // A fraction of a design may not tell main effects from interactions: then these are left out.
    let tells = |order: usize| (0..factors.len()).all(|f| means.test(&[f], order).is_some());
    let order = match tells(MOST_ORDER) {
        true => MOST_ORDER,
        false => 1,
    };
    let anova = stats::factorial(&design, &data, order)?;
    let p = |term: &stats::Term| match term.source {
        Source::Effect => of_effect(&means, &design, &term.factors, order),
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
    let aliases = (!means.is_complete()).then(|| {
        let scenarios = by_scenario(rows).into_iter();
        let scenarios = scenarios.map(|group| group[0].record.scenario.clone());
        design::alias_table(&table.study.factors, &scenarios.collect::<Vec<_>>())
    });
    Ok(Model {
        factors,
        anova,
        means,
        order,
        p,
        residuals,
        aliases,
        in_time,
    })
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
fn of_effect(means: &CellMeans, design: &Design, factors: &[usize], order: usize) -> Option<f64> {
    let together = means.test(factors, order)?.p;
    let [factor] = *factors else {
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
            margin: margin(table.study, self.result.scale, model.anova.mean),
            repetitions: fewest(&self.rows),
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
        self.result.terms = terms(&model, &fit, answers, table.confidence());
        self.result.noise = Some(noise(&model.anova, self.result.scale));
        self.result.assumptions = assumptions::assumptions(&model, &self.rows, table);
        residuals::say(&mut self.result, &self.rows, &model);
        self.result
    }
}

/// On the scale of the means.
fn margin(study: &Study, scale: Scale, mean: f64) -> f64 {
    let share = study.equal_within() / 100.0;
    match scale {
        Scale::Linear => share * mean.abs(),
        Scale::Logarithmic => share.ln_1p(),
    }
}

/// Of any scenario.
fn fewest(rows: &[&Row]) -> usize {
    let counts = by_scenario(rows).into_iter().map(<[_]>::len);
    counts.min().unwrap_or(0)
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
        let advice = study.factors.iter().all(|factor| factor.levels.len() < 2);
        return Some(message!(
            "variation-one-combination",
            label = info.label,
            advice
        ));
    }
    if values.len() < 2 || values.iter().all(|v| *v == first) {
        let value = metric_value(info, first);
        return Some(message!("variation-constant", label = info.label, value));
    }
    None
}

struct ChosenScale {
    scale: Scale,
    /// The end of a sentence.
    why: String,
}

fn choose_scale(info: &MetricInfo, design: &Design, data: &[Observation]) -> ChosenScale {
    let linear = |why: String| ChosenScale {
        scale: Scale::Linear,
        why,
    };
    if info.unit == "%" {
        return linear(word!("variation-points").to_owned());
    }
    match stats::choose_scale(design, data) {
        Ok(choice) => ChosenScale {
            scale: choice.scale,
            why: scale_words(&choice),
        },
        Err(error) => linear(error.to_string()),
    }
}

fn scale_words(choice: &ScaleChoice) -> String {
    let signed = |gain: f64| {
        let plain = messages::number(&format!("{gain:.1}"));
        if gain < 0.0 {
            plain
        } else {
            format!("+{plain}")
        }
    };
    match choice.reason {
        ScaleReason::NotPositive => message!("scale-not-positive"),
        ScaleReason::Spans { ratio } => {
            let ratio = messages::number(&format!("{ratio:.3}"));
            let undecided = choice.scale == Scale::Logarithmic;
            message!("scale-spans", ratio, undecided)
        }
        ScaleReason::Narrow { range } => {
            let percent = messages::number(&format!("{:.2}", 100.0 * range));
            message!("scale-narrow", percent)
        }
        ScaleReason::LogarithmsFitExactly => message!("scale-exact"),
        ScaleReason::Multiplicative { gain } => {
            message!("scale-multiplicative", gain = signed(gain))
        }
        ScaleReason::NoBetter { gain } => message!("scale-no-better", gain = signed(gain)),
    }
}

fn terms(
    model: &Model,
    fit: &Fit,
    answers: &[Option<Answer>],
    confidence: f64,
) -> Vec<VariationTerm> {
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
    // Of a metric that nobody asked for: a level for its intervals, and no verdict.
    let unasked = Answer {
        adjusted_p: 1.0,
        level: 1.0 - confidence,
        is_yes: false,
    };
    let mut reversed: Vec<Reversed> = Vec::new();
    let mut found = Vec::new();
    for (place, (term, answer)) in model.anova.terms.iter().zip(answers).enumerate() {
        let judged = match (&model.p[place], term.factors.as_slice()) {
            (None, _) if model.in_time[place] => Judged::in_time(),
            (None, _) => Judged::not_estimable(&assumptions::confounded(
                &names(term),
                model.aliases.as_ref(),
            )),
            (Some(_), [factor]) if term.source == Source::Effect => {
                effects::main_effect(fit, *factor, &answer.unwrap_or(unasked))
            }
            (Some(_), factors) => {
                let judged = together(fit, factors, answer.as_ref());
                if let (Verdict::Different, [a, b]) = (judged.verdict, factors) {
                    let level = answer.map_or(unasked.level, |answer| answer.level);
                    let found = effects::interaction(fit, *a, *b, level);
                    reversed.extend(found.reversed.into_iter().map(|factor| Reversed {
                        factor,
                        by: if factor == *a { *b } else { *a },
                        sentence: found.sentence.clone(),
                    }));
                }
                judged
            }
        };
        found.push(VariationTerm {
            factors: names(term),
            share: term.share,
            degrees_of_freedom: term.degrees_of_freedom,
            sum_of_squares: term.sum_of_squares,
            f: term.f,
            p: term.p,
            adjusted_p: answer.map(|answer| answer.adjusted_p),
            verdict: judged.verdict,
            repetitions: judged.repetitions,
            reversed_by: None,
            sentence: judged.sentence,
        });
    }
    for Reversed {
        factor,
        by,
        sentence,
    } in reversed
    {
        let name = |factor: usize| fit.factors[factor].name.clone();
        if let Some(term) = found.iter_mut().find(|t| t.factors == [name(factor)]) {
            let (name, by) = (name(factor), name(by));
            term.sentence = Some(message!("effect-opposite", factor = name, by, sentence));
            term.reversed_by = Some(by);
        }
    }
    // Main effects are what a person can choose, so they come before what they do together.
    found.sort_by(|a, b| {
        (a.factors.len() != 1)
            .cmp(&(b.factors.len() != 1))
            .then(b.share.total_cmp(&a.share))
    });
    found
}

/// A factor whose effect changes its direction with another's level.
struct Reversed {
    factor: usize,
    by: usize,
    sentence: String,
}

/// Several factors whose effects may depend on each other.
fn together(fit: &Fit, factors: &[usize], answer: Option<&Answer>) -> Judged {
    let (verdict, sentence) = match (answer, factors) {
        (None, _) => (Verdict::Described, None),
        (Some(answer), [a, b]) if answer.is_yes => {
            let said = effects::interaction(fit, *a, *b, answer.level).sentence;
            (Verdict::Different, Some(said))
        }
        (Some(answer), _) if answer.is_yes => {
            let said = word!("effect-three-factors").to_owned();
            (Verdict::Different, Some(said))
        }
        _ => (Verdict::Inconclusive, None),
    };
    Judged {
        verdict,
        repetitions: None,
        sentence,
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
