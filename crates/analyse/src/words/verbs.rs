//! Verbs for more and less of each metric.

use model::run::metric::{self, Comparison};

use crate::words::names::MetricInfo;

/// `{}` is the amount, `{label}` what the metric is called.
pub(crate) struct Words {
    pub(crate) times: &'static str,
    pub(crate) more: &'static str,
    pub(crate) less: &'static str,
    /// How the other way round is said, for ratios below one.
    pub(crate) inverse: Option<&'static str>,
    label: String,
}

impl Words {
    pub(crate) fn fill(&self, template: &str, amount: &str) -> String {
        template
            .replace("{label}", &self.label)
            .replace("{}", amount)
    }
}

pub(crate) fn words(info: &MetricInfo) -> Words {
    let comparison = metric::definition(&info.name).map(|metric| metric.comparison);
    let (times, more, less, inverse) = match comparison.unwrap_or(Comparison::Has) {
        Comparison::Answers => (
            "responds in {} the time of",
            "takes {} longer to respond than",
            "takes {} less time to respond than",
            Some("responds {} as fast as"),
        ),
        Comparison::CostsAnAnswer => (
            "costs {} as much per response as",
            "costs {} more per response than",
            "costs {} less per response than",
            None,
        ),
        Comparison::Costs => (
            "costs {} as much as",
            "costs {} more than",
            "costs {} less than",
            None,
        ),
        Comparison::HandlesImages => (
            "processes {} as many images per second as",
            "processes {} more images per second than",
            "processes {} fewer images per second than",
            None,
        ),
        Comparison::NeedsMemory => (
            "needs {} as much memory as",
            "needs {} more memory than",
            "needs {} less memory than",
            None,
        ),
        Comparison::UsesEnergy => (
            "uses {} the {label} of",
            "uses {} more {label} than",
            "uses {} less {label} than",
            None,
        ),
        Comparison::Emits => (
            "emits {} the {label} of",
            "emits {} more {label} than",
            "emits {} less {label} than",
            None,
        ),
        Comparison::TakesForAnImage => (
            "takes {} as long per image as",
            "takes {} longer per image than",
            "takes {} less time per image than",
            None,
        ),
        Comparison::Takes => (
            "takes {} as long as",
            "takes {} longer than",
            "takes {} less time than",
            Some("is {} as fast as"),
        ),
        Comparison::Has => (
            "has {} the {label} of",
            "has {} more {label} than",
            "has {} less {label} than",
            None,
        ),
    };
    Words {
        times,
        more,
        less,
        inverse,
        label: info.label.clone(),
    }
}
