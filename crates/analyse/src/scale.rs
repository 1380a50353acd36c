//! The scale that effects are compared on, and whether it, or trimmed means, would contradict the means that everything
//! else is said of.
//!
//! Ratios on the logarithmic scale are of geometric means. Where some levels vary much more than others, these may be in
//! another order than the means: "b takes 2.5 times as long" beside "fastest: b".

use messages::{message, word};
use stats::{CellMeans, Design, LevelPair, Observation, Scale, ScaleChoice, ScaleReason};

use crate::words::names::MetricInfo;

/// A difference that is less sure than this is no contradiction; it is a question of its own, not one of the study's.
const SURE: f64 = 0.05;
/// Of so many levels pairs are not looked at one by one.
const MOST_LEVELS: usize = 60;

fn logarithms_contradict(design: &Design, data: &[Observation]) -> bool {
    let logs: Vec<Observation> = data
        .iter()
        .map(|o| Observation {
            levels: o.levels.clone(),
            value: o.value.ln(),
        })
        .collect();
    let means = |data: &[Observation]| CellMeans::new(design, data, None).ok();
    match (means(data), means(&logs)) {
        (Some(means), Some(logs)) => contradict(design, &means, &logs),
        // Without repetitions nothing is sure enough to contradict.
        _ => false,
    }
}

/// Whether any two levels of a factor differ in opposite ways by two kinds of means of the same values.
pub(crate) fn contradict(design: &Design, means: &CellMeans, others: &CellMeans) -> bool {
    let few = design.levels.iter().enumerate();
    let few = few.filter(|(_, levels)| **levels <= MOST_LEVELS);
    let mut pairs = few.flat_map(|(factor, levels)| {
        let pairs = (1..*levels).flat_map(|level| (0..level).map(move |base| (level, base)));
        pairs.map(move |(level, base)| LevelPair {
            factor,
            level,
            base,
        })
    });
    pairs.any(|pair| {
        let found = [means, others].map(|of| of.difference(pair, &[]));
        let [Some(mean), Some(other)] = found else {
            return false;
        };
        mean.value * other.value < 0.0 && mean.p().min(other.p()) < SURE
    })
}

pub(crate) struct ChosenScale {
    pub(crate) scale: Scale,
    /// The end of a sentence.
    pub(crate) why: String,
}

/// The scale that fits better, unless its levels would be in another order than their means.
pub(crate) fn choose(info: &MetricInfo, design: &Design, data: &[Observation]) -> ChosenScale {
    let choice = best_fitting(info, design, data);
    match choice.scale == Scale::Logarithmic && logarithms_contradict(design, data) {
        true => ChosenScale {
            scale: Scale::Linear,
            why: message!("scale-order"),
        },
        false => choice,
    }
}

fn best_fitting(info: &MetricInfo, design: &Design, data: &[Observation]) -> ChosenScale {
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
            why: scale_words(&choice, varying(design)),
        },
        Err(error) => linear(error.to_string()),
    }
}

/// Factors of several levels.
fn varying(design: &Design) -> usize {
    design.levels.iter().filter(|levels| **levels > 1).count()
}

fn scale_words(choice: &ScaleChoice, factors: usize) -> String {
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
        // Whether effects add or multiply takes two of them; of one factor it is its spread that decides.
        ScaleReason::Multiplicative { gain } if factors < 2 => {
            message!("scale-spread", gain = signed(gain))
        }
        ScaleReason::Multiplicative { gain } => {
            message!("scale-multiplicative", gain = signed(gain))
        }
        ScaleReason::NoBetter { gain } => message!("scale-no-better", gain = signed(gain)),
    }
}
