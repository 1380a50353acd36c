//! What is said of every term of a metric's variation.

use messages::{message, word};
use stats::{Answer, Scale, Source};

use crate::assumptions;
use crate::decides::{Noise, VariationTerm, Verdict};
use crate::design::by_scenario;
use crate::effects::{self, Fit, Judged};
use crate::table::Row;
use crate::variation::{MOST_ORDER, Model};

pub(crate) fn terms(
    model: &Model,
    fit: &Fit,
    answers: &[Option<Answer>],
    confidence: f64,
) -> Vec<VariationTerm> {
    // Of a metric that nobody asked for: a level for its intervals, and no verdict.
    let unasked = Answer {
        adjusted_p: 1.0,
        level: 1.0 - confidence,
        is_yes: false,
    };
    let mut reversed: Vec<Reversed> = Vec::new();
    let mut found = Vec::new();
    for (place, (term, answer)) in model.anova.terms.iter().zip(answers).enumerate() {
        let named = Named::of(term, model, fit);
        let level = answer.map_or(unasked.level, |answer| answer.level);
        let judged = match &model.p[place] {
            None if model.in_time[place] => Judged::in_time(),
            None => {
                Judged::not_estimable(&assumptions::confounded(&named.factors, model, fit.study))
            }
            Some(_) => judged(fit, term, &named, answer.as_ref(), &unasked),
        };
        if let (Verdict::Different, [a, b]) = (judged.verdict, term.factors.as_slice())
            && named.any_of.is_empty()
        {
            reversed.extend(Reversed::of(fit, *a, *b, level));
        }
        found.push(VariationTerm {
            is_free: match (judged.verdict, term.factors.as_slice()) {
                (Verdict::PracticallyEqual, [factor]) => {
                    model.tasks.is_free(fit, model, *factor, level)
                }
                _ => false,
            },
            factors: named.factors,
            any_of: named.any_of,
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
    reversed.iter().for_each(|one| one.say(fit, &mut found));
    // Main effects are what a person can choose, so they come before what they do together.
    found.sort_by(|a, b| {
        (a.factors.len() != 1)
            .cmp(&(b.factors.len() != 1))
            .then(b.share.total_cmp(&a.share))
    });
    found
}

fn judged(
    fit: &Fit,
    term: &stats::Term,
    named: &Named,
    answer: Option<&Answer>,
    unasked: &Answer,
) -> Judged {
    match term.factors.as_slice() {
        [factor] if term.source == Source::Effect => {
            effects::main_effect(fit, *factor, answer.unwrap_or(unasked))
        }
        _ if !named.any_of.is_empty() => one_of(&named.any_of, answer),
        factors => together(fit, factors, answer),
    }
}

/// What a term is called.
struct Named {
    factors: Vec<String>,
    any_of: Vec<Vec<String>>,
}

impl Named {
    fn of(term: &stats::Term, model: &Model, fit: &Fit) -> Named {
        let names = |factors: &[usize]| -> Vec<String> {
            let known = factors.iter().filter_map(|f| fit.factors.get(*f));
            known.map(|factor| factor.name.clone()).collect()
        };
        let pairs = || {
            let all = &term.factors;
            let second = |place: usize| all[place + 1..].iter().map(move |b| [all[place], *b]);
            let pairs = (0..all.len()).flat_map(second);
            pairs.map(|pair| names(&pair)).collect()
        };
        let (factors, any_of) = match term.source {
            Source::Effect if term.inseparable.is_empty() => (names(&term.factors), Vec::new()),
            Source::Effect => {
                let others = term.inseparable.iter().map(|other| names(other));
                let all = std::iter::once(names(&term.factors)).chain(others);
                (Vec::new(), all.collect())
            }
            // Main effects only: everything else is in it.
            Source::HigherOrder if model.order < MOST_ORDER => (Vec::new(), pairs()),
            // One group of three is named; several groups together have no name of their own.
            Source::HigherOrder if fit.factors.len() > MOST_ORDER + 1 => (Vec::new(), Vec::new()),
            Source::HigherOrder => (names(&term.factors), Vec::new()),
        };
        Named { factors, any_of }
    }
}

/// A factor whose effect changes its direction with another's level.
struct Reversed {
    factor: usize,
    by: usize,
    sentence: String,
}

impl Reversed {
    fn of(fit: &Fit, a: usize, b: usize, level: f64) -> Vec<Reversed> {
        let found = effects::interaction(fit, a, b, level).reversed.into_iter();
        let reversed = found.map(|reversed| Reversed {
            factor: reversed.factor,
            by: if reversed.factor == a { b } else { a },
            sentence: reversed.sentence,
        });
        reversed.collect()
    }

    fn say(&self, fit: &Fit, terms: &mut [VariationTerm]) {
        let name = |factor: usize| fit.factors[factor].name.clone();
        let (factor, by) = (name(self.factor), name(self.by));
        let is_it =
            |term: &&mut VariationTerm| term.factors.len() == 1 && term.factors[0] == factor;
        if let Some(term) = terms.iter_mut().find(is_it) {
            let sentence = &self.sentence;
            term.sentence = Some(message!("effect-opposite", factor, by, sentence));
            term.reversed_by = Some(by);
            term.is_free = false;
        }
    }
}

/// Interactions that the combinations cannot tell apart.
fn one_of(interactions: &[Vec<String>], answer: Option<&Answer>) -> Judged {
    let (verdict, sentence) = match answer {
        None => (Verdict::Described, None),
        Some(answer) if answer.is_yes => {
            let names = crate::decides::one_of(interactions);
            let said = message!("effect-one-of", names);
            (Verdict::Different, Some(said))
        }
        Some(_) => (Verdict::Inconclusive, None),
    };
    Judged {
        verdict,
        repetitions: None,
        sentence,
    }
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

/// The share is the analysis of variance's; what repetitions differ by is seen in repetitions only, whatever else its
/// residual has to contain.
pub(crate) fn noise(model: &Model, fit: &Fit, rows: &[&Row]) -> Noise {
    let residual = &model.anova.residual;
    let sd = within_scenarios(model, rows).or_else(|| after_blocks(model));
    let sd = sd.unwrap_or(residual.mean_square.max(0.0).sqrt());
    Noise {
        share: residual.share,
        degrees_of_freedom: residual.degrees_of_freedom,
        sum_of_squares: residual.sum_of_squares,
        typical: match fit.scale {
            Scale::Linear => sd,
            Scale::Logarithmic => sd.exp() - 1.0,
        },
        is_small: sd <= fit.margin,
    }
}

fn after_blocks(model: &Model) -> Option<f64> {
    let left = model.means.residuals()?;
    let squares = stats::precise::sum_of_squares(left.values.iter().copied());
    Some((squares / left.degrees_of_freedom as f64).sqrt())
}

fn within_scenarios(model: &Model, rows: &[&Row]) -> Option<f64> {
    let mut rest = model.runs.as_slice();
    let (mut squares, mut free) = (0.0, 0);
    for group in by_scenario(rows) {
        let (own, after) = rest.split_at_checked(group.len())?;
        rest = after;
        let values: Vec<f64> = own.iter().map(|one| one.value).collect();
        let mean = stats::precise::mean(&values);
        let deviations = values.iter().map(|value| value - mean);
        squares += stats::precise::sum_of_squares(deviations);
        free += values.len() - 1;
    }
    (free > 0).then(|| (squares / free as f64).sqrt())
}
