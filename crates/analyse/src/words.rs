//! How more and less of each metric is said.

use model::run::metric;

use crate::phrase::{
    COST_PER_EPOCH, COST_PER_THOUSAND_IMAGES, COST_PER_THOUSAND_STEPS, COST_TO_TARGET, MetricInfo,
    SECONDS_PER_IMAGE, TO_TARGET_SECONDS,
};

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
    let label = info.label.clone();
    match info.name.as_str() {
        metric::LATENCY_SECONDS => Words {
            times: "answers in {} the time of",
            more: "takes {} longer to answer than",
            less: "takes {} less time to answer than",
            inverse: Some("answers {} as fast as"),
            label,
        },
        metric::COST_PER_INFERENCE => Words {
            times: "costs {} as much an answer as",
            more: "costs {} more an answer than",
            less: "costs {} less an answer than",
            inverse: None,
            label,
        },
        metric::COST
        | COST_PER_EPOCH
        | COST_PER_THOUSAND_IMAGES
        | COST_PER_THOUSAND_STEPS
        | COST_TO_TARGET => Words {
            times: "costs {} as much as",
            more: "costs {} more than",
            less: "costs {} less than",
            inverse: None,
            label,
        },
        metric::IMAGES_PER_SECOND => Words {
            times: "handles {} as many images per second as",
            more: "handles {} more images per second than",
            less: "handles {} fewer images per second than",
            inverse: None,
            label,
        },
        metric::PEAK_MEMORY_BYTES => Words {
            times: "needs {} as much memory as",
            more: "needs {} more memory than",
            less: "needs {} less memory than",
            inverse: None,
            label,
        },
        SECONDS_PER_IMAGE => Words {
            times: "takes {} as long for an image as",
            more: "takes {} longer for an image than",
            less: "takes {} less time for an image than",
            inverse: None,
            label,
        },
        metric::TRAIN_SECONDS
        | metric::TOTAL_SECONDS
        | metric::EPOCH_SECONDS
        | metric::STEP_SECONDS
        | TO_TARGET_SECONDS => Words {
            times: "takes {} as long as",
            more: "takes {} longer than",
            less: "takes {} less time than",
            inverse: Some("is {} as fast as"),
            label,
        },
        _ => Words {
            times: "has {} the {label} of",
            more: "has {} more {label} than",
            less: "has {} less {label} than",
            inverse: None,
            label,
        },
    }
}
