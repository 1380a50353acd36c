//! What levels do to a metric, and how two factors act together, with verdicts.

use messages::{message, word};
use model::{Role, Study};
use stats::{Answer, At, CellMeans, Contrast, Estimate, LevelPair, Scale};

use crate::decides::{Comparison, LevelEffect, Verdict};
use crate::design::PresentFactor;
use crate::findings::MOST_REPETITIONS;
use crate::words::comparison::Pair;
use crate::words::names::MetricInfo;

/// Cell means with what their numbers are called.
pub(crate) struct Fit<'a> {
    pub(crate) study: &'a Study,
    pub(crate) info: &'a MetricInfo,
    pub(crate) factors: &'a [PresentFactor],
    pub(crate) scale: Scale,
    /// Of logarithms on the logarithmic scale.
    pub(crate) means: &'a CellMeans,
    /// Differences within it count as none; on the scale of the means.
    pub(crate) margin: f64,
    /// Of every scenario, at least.
    pub(crate) repetitions: usize,
    pub(crate) is_asked: bool,
    /// Factors whose effects may be those of the time of measurement.
    pub(crate) in_time: Vec<usize>,
}

/// What is said of a term.
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    pub(crate) repetitions: Option<usize>,
    pub(crate) sentence: Option<String>,
}

impl Judged {
    /// Its levels were not measured in turn, while successive runs are alike.
    pub(crate) fn in_time() -> Self {
        Judged {
            verdict: Verdict::Inconclusive,
            repetitions: None,
            sentence: Some(word!("effect-in-time").to_owned()),
        }
    }

    pub(crate) fn not_estimable(sentence: &str) -> Self {
        Judged {
            verdict: Verdict::NotEstimable,
            repetitions: None,
            sentence: Some(sentence.to_owned()),
        }
    }
}

impl Fit<'_> {
    fn comparison(&self) -> Comparison {
        match self.scale {
            Scale::Linear => Comparison::Difference,
            Scale::Logarithmic => Comparison::Ratio,
        }
    }

    fn estimate(&self, contrast: &Contrast, confidence: f64) -> Estimate {
        match self.scale {
            Scale::Linear => contrast.estimate(confidence, METHOD, |value| value),
            Scale::Logarithmic => contrast.estimate(confidence, METHOD, f64::exp),
        }
    }

    /// Of a difference whose interval holds together with those of the other pairs.
    fn verdict(&self, contrast: &Contrast, level: f64) -> Verdict {
        if !self.is_asked {
            return Verdict::Described;
        }
        match contrast.p() <= level {
            true => Verdict::Different,
            false if self.is_equal(contrast, level, self.margin) => Verdict::PracticallyEqual,
            false => Verdict::Inconclusive,
        }
    }

    /// Whether the whole interval is within a margin.
    pub(crate) fn is_equal(&self, contrast: &Contrast, level: f64, margin: f64) -> bool {
        let estimate = contrast.estimate(1.0 - level, METHOD, |value| value);
        let interval = estimate.interval;
        interval.is_some_and(|i| i.low >= -margin && i.high <= margin)
    }

    fn sentence(&self, pair: LevelPair, contrast: &Contrast, level: f64) -> String {
        self.sentence_as(pair, contrast, level, self.verdict(contrast, level))
    }

    fn sentence_as(
        &self,
        pair: LevelPair,
        contrast: &Contrast,
        level: f64,
        verdict: Verdict,
    ) -> String {
        let factor = &self.factors[pair.factor];
        let said = Pair {
            metric: self.info,
            level: &factor.levels[pair.level].phrase,
            baseline: &factor.levels[pair.base].phrase,
            comparison: self.comparison(),
            estimate: &self.estimate(contrast, 1.0 - level),
            verdict,
        };
        said.sentence()
    }

    fn levels(&self, factor: usize) -> usize {
        self.factors.get(factor).map_or(0, |f| f.levels.len())
    }

    /// All pairs of levels of a factor, the higher number first.
    fn pairs(&self, factor: usize) -> Vec<LevelPair> {
        let pairs = |level| (0..level).map(move |base| pair(factor, level, base));
        (1..self.levels(factor)).flat_map(pairs).collect()
    }

    /// The pair that lies furthest apart of those that may be said, the higher mean first.
    fn furthest(
        &self,
        factor: usize,
        is_said: impl Fn(&Contrast) -> bool,
    ) -> Option<(LevelPair, Contrast)> {
        let found = self.pairs(factor).into_iter().filter_map(|pair| {
            let contrast = self.means.difference(pair, &[])?;
            Some(match contrast.value < 0.0 {
                true => (turned(pair), self.means.difference(turned(pair), &[])?),
                false => (pair, contrast),
            })
        });
        let said = found.filter(|(_, contrast)| is_said(contrast));
        said.max_by(|a, b| a.1.value.total_cmp(&b.1.value))
    }
}

const METHOD: &str =
    "difference of equally weighted cell means, each with its own variance (Welch–Satterthwaite)";

fn pair(factor: usize, level: usize, base: usize) -> LevelPair {
    LevelPair {
        factor,
        level,
        base,
    }
}

fn turned(pair: LevelPair) -> LevelPair {
    LevelPair {
        level: pair.base,
        base: pair.level,
        ..pair
    }
}

/// Every level against the first of its factor. `level` is each factor's own error rate.
pub(crate) fn level_effects(fit: &Fit, level_of: impl Fn(usize) -> f64) -> Vec<LevelEffect> {
    let mut effects = Vec::new();
    for (place, factor) in fit.factors.iter().enumerate() {
        let level_each = level_of(place) / fit.pairs(place).len().max(1) as f64;
        for level in 1..factor.levels.len() {
            let pair = pair(place, level, 0);
            let Some(contrast) = fit.means.difference(pair, &[]) else {
                continue;
            };
            let mut effect = LevelEffect {
                factor: factor.name.clone(),
                level: factor.levels[level].text.clone(),
                baseline: factor.levels[0].text.clone(),
                comparison: fit.comparison(),
                verdict: fit.verdict(&contrast, level_each),
                sentence: fit.sentence(pair, &contrast, level_each),
                estimate: fit.estimate(&contrast, 1.0 - level_each),
            };
            if fit.in_time.contains(&place) && fit.is_asked {
                effect.verdict = Verdict::Inconclusive;
                effect.estimate.interval = None;
                effect.sentence = message!(
                    "pair-in-time",
                    level = factor.levels[level].phrase,
                    baseline = factor.levels[0].phrase
                );
            }
            effects.push(effect);
        }
    }
    effects
}

/// A factor by itself: its second level against the first, or the pair that says most.
pub(crate) fn main_effect(fit: &Fit, factor: usize, answer: &Answer) -> Judged {
    let pairs = fit.pairs(factor);
    // The pair is picked from the data: every other might have been the one.
    let level = answer.level / pairs.len().max(1) as f64;
    let is_said = |contrast: &Contrast| !answer.is_yes || contrast.p() <= level;
    let found = match pairs.as_slice() {
        [only] => fit.means.difference(*only, &[]).map(|c| (*only, c)),
        _ => fit.furthest(factor, is_said),
    };
    let Some((pair, contrast)) = found else {
        return Judged::not_estimable(word!("effect-confounded"));
    };
    let verdict = match (fit.is_asked, answer.is_yes) {
        (false, _) => Verdict::Described,
        (true, true) => Verdict::Different,
        // The furthest pair within the margin holds for all of them.
        (true, false) => match fit.verdict(&contrast, level) {
            Verdict::Different => Verdict::Inconclusive,
            other => other,
        },
    };
    let mut sentence = fit.sentence_as(pair, &contrast, level, verdict);
    if pairs.len() > 1 {
        let levels = fit.levels(factor);
        let furthest = fit.furthest(factor, |_| true);
        sentence = match furthest.is_some_and(|(furthest, _)| furthest == pair) {
            true => message!("effect-of-extremes", sentence, levels),
            false => message!("effect-of-largest", sentence, levels),
        };
    }
    let wanted = stats::Decision {
        margin: fit.margin,
        level,
        repetitions: fit.repetitions,
    };
    let repetitions = (verdict == Verdict::Inconclusive)
        .then(|| stats::repetitions_to_decide(&contrast, wanted))
        .flatten();
    if let Some(repetitions) = repetitions.filter(|needed| *needed <= MOST_REPETITIONS) {
        sentence += &message!("repetitions-would-decide", repetitions);
    }
    Judged {
        verdict,
        repetitions,
        sentence: Some(sentence),
    }
}

/// Two factors together: where the effect of one is weakest and where strongest.
pub(crate) struct Interaction {
    pub(crate) sentence: String,
    /// Factors whose effect changes its direction with the other's level.
    pub(crate) reversed: Vec<ReversedEffect>,
}

pub(crate) struct ReversedEffect {
    pub(crate) factor: usize,
    pub(crate) sentence: String,
}

/// Of an interaction that was found.
pub(crate) fn interaction(fit: &Fit, a: usize, b: usize, level: f64) -> Interaction {
    let simple = [simple_effects(fit, a, b), simple_effects(fit, b, a)];
    let reversed = simple.iter().flatten();
    let reversed = reversed.filter(|simple| simple.is_reversed(fit, level));
    let reversed = reversed.map(|simple| ReversedEffect {
        factor: simple.pair.factor,
        sentence: simple.sentence(fit, level),
    });
    // The factor whose effect changes most is the one a reader thinks of as acting; a reversed one first, and what one
    // may choose before what is to be done.
    let acting = simple.iter().flatten().max_by(|x, y| {
        let is_choice = |s: &SimpleEffects| {
            let factor = &fit.factors[s.pair.factor].name;
            fit.study.role(factor) == Role::Choice
        };
        let key = |s: &SimpleEffects| (s.is_reversed(fit, level), is_choice(s));
        let size = |s: &SimpleEffects| s.largest().abs();
        key(x).cmp(&key(y)).then(size(x).total_cmp(&size(y)))
    });
    let name = |factor: usize| fit.factors.get(factor).map_or("?", |f| f.name.as_str());
    let sentence = match acting {
        None => message!("effect-depends", a = name(a), b = name(b)),
        Some(simple) => simple.sentence(fit, level),
    };
    Interaction {
        sentence,
        reversed: reversed.collect(),
    }
}

/// A pair of levels of one factor, within the two levels of another between which it changes most.
struct SimpleEffects {
    pair: LevelPair,
    other: usize,
    ends: [(usize, Contrast); 2],
}

fn simple_effects(fit: &Fit, acting: usize, other: usize) -> Option<SimpleEffects> {
    // A table of so many numbers is for the reader's own eyes.
    const MOST: usize = 4000;
    if fit.pairs(acting).len() * fit.levels(other) > MOST {
        return None;
    }
    let mut best: Option<(f64, SimpleEffects)> = None;
    for pair in fit.pairs(acting) {
        let within = |level: usize| {
            let at = At {
                factor: other,
                level,
            };
            Some((level, fit.means.difference(pair, &[at])?))
        };
        let effects: Vec<(usize, Contrast)> = (0..fit.levels(other)).filter_map(within).collect();
        let by_value =
            |x: &&(usize, Contrast), y: &&(usize, Contrast)| x.1.value.total_cmp(&y.1.value);
        let low = effects.iter().min_by(by_value)?;
        let high = effects.iter().max_by(by_value)?;
        let change = high.1.value - low.1.value;
        if low.0 != high.0 && best.as_ref().is_none_or(|(most, _)| change > *most) {
            let ends = [*low, *high];
            best = Some((change, SimpleEffects { pair, other, ends }));
        }
    }
    best.map(|(_, simple)| simple)
}

impl SimpleEffects {
    fn largest(&self) -> f64 {
        let [low, high] = &self.ends;
        match low.1.value.abs() > high.1.value.abs() {
            true => low.1.value,
            false => high.1.value,
        }
    }

    /// Each of two ends, picked among all pairs and levels.
    fn level(&self, fit: &Fit, level: f64) -> f64 {
        let picked = fit.pairs(self.pair.factor).len() * fit.levels(self.other);
        level / picked.max(1) as f64
    }

    /// Significant in both directions, and beyond the margin.
    fn is_reversed(&self, fit: &Fit, level: f64) -> bool {
        let level = self.level(fit, level);
        let [low, high] = &self.ends;
        let is_sure = |end: &Contrast| end.p() <= level;
        low.1.value < -fit.margin
            && high.1.value > fit.margin
            && is_sure(&low.1)
            && is_sure(&high.1)
    }

    /// `with tf, B takes 30 s longer than A [28, 32]; with pytorch, B takes 18 s less time than A [16, 20]`.
    fn sentence(&self, fit: &Fit, level: f64) -> String {
        let level = self.level(fit, level);
        let others = &fit.factors[self.other].levels;
        let mut ends = self.ends;
        ends.sort_by(|x, y| y.1.value.abs().total_cmp(&x.1.value.abs()));
        let said = ends.map(|(place, contrast)| {
            let said = fit.sentence(self.pair, &contrast, level);
            message!("effect-within", level = others[place].phrase, said)
        });
        said.join("; ")
    }
}
