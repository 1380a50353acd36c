//! More and less of each metric, in the metric's own words.

use messages::message;
use model::run::metric::{self, Comparison};

use crate::words::names::MetricInfo;

/// A difference as it is written.
pub(crate) struct Said<'a> {
    pub(crate) info: &'a MetricInfo,
    /// `2.9×`, `15 %`, `3.20 s`.
    pub(crate) amount: &'a str,
    pub(crate) way: Way,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Times,
    More,
    Less,
    /// The other way round, for ratios below one; see [`has_inverse`].
    AsFast,
}

/// Whether less of it is more speed.
pub(crate) fn has_inverse(info: &MetricInfo) -> bool {
    matches!(comparison(info), Comparison::Answers | Comparison::Takes)
}

impl Said<'_> {
    /// `64 px takes 2.9× as long as 32 px [2.8, 3.0]`.
    pub(crate) fn of(&self, level: &str, baseline: &str, bounds: &str) -> String {
        let Said { info, amount, way } = self;
        let (kind, label) = (kind(info), &info.label);
        let many = is_plural(level);
        match way {
            Way::Times => message!(
                "pair-times",
                level,
                baseline,
                kind,
                many,
                amount,
                label,
                bounds
            ),
            Way::More => message!(
                "pair-more",
                level,
                baseline,
                kind,
                many,
                amount,
                label,
                bounds
            ),
            Way::Less => message!(
                "pair-less",
                level,
                baseline,
                kind,
                many,
                amount,
                label,
                bounds
            ),
            Way::AsFast => {
                message!("pair-as-fast", level, baseline, kind, many, amount, bounds)
            }
        }
    }

    /// `takes 2.9× as long`: behind a name, with what it is compared with known.
    pub(crate) fn alone(&self) -> String {
        let Said { info, amount, way } = self;
        let (kind, label) = (kind(info), &info.label);
        match way {
            Way::More => message!("alone-more", kind, amount, label),
            Way::Less => message!("alone-less", kind, amount, label),
            Way::Times | Way::AsFast => message!("alone-times", kind, amount, label),
        }
    }
}

fn comparison(info: &MetricInfo) -> Comparison {
    let definition = metric::definition(&info.name);
    definition.map_or(Comparison::Has, |metric| metric.comparison)
}

/// As messages choose their verb by it.
fn kind(info: &MetricInfo) -> &'static str {
    match comparison(info) {
        Comparison::Answers => "answers",
        Comparison::CostsAnAnswer => "costs-an-answer",
        Comparison::Costs => "costs",
        Comparison::HandlesImages => "handles-images",
        Comparison::NeedsMemory => "needs-memory",
        Comparison::UsesEnergy => "uses-energy",
        Comparison::Emits => "emits",
        Comparison::TakesForAnImage => "takes-for-an-image",
        Comparison::Takes => "takes",
        Comparison::Has => "has",
    }
}

/// `4 cores`, `2 workers`: made by `level_phrase`, never a level's own name. Only English verbs go by it.
fn is_plural(level: &str) -> bool {
    let count = level
        .split_once(' ')
        .filter(|(number, _)| number.parse::<f64>().is_ok());
    count.is_some_and(|(_, what)| {
        matches!(what, "cores" | "threads" | "workers" | "GPUs" | "epochs")
    })
}
