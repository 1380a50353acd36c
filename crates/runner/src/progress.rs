//! What happens while a study is carried out, as owned values: the terminal, `--json`, a live page
//! and tests read the same stream.

use model::{Event, Money, RunId, RunRecord, Sample, Scenario};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "progress", rename_all = "kebab-case")]
pub enum Progress {
    RunBegins {
        run: RunId,
        /// Where.
        place: String,
        scenario: Scenario,
        count: Count,
        projected: Option<Money>,
    },
    Event {
        run: RunId,
        event: Event,
    },
    Sample {
        run: RunId,
        sample: Box<Sample>,
    },
    /// Some times a second for every run in progress.
    Tick {
        run: RunId,
        seconds: f64,
        seconds_left: f64,
        /// With all runs in progress.
        spent: Money,
    },
    RunEnds {
        record: Box<RunRecord>,
        count: Count,
        seconds_left: f64,
        spent: Money,
        /// The budget.
        allowed: Option<Money>,
        /// What is spent and what the runs left are expected to cost; none where that of one of
        /// them is not known.
        projected: Option<Money>,
    },
    /// A place that failed too often, or is gone: its runs are not carried out.
    PlaceSetAside {
        place: String,
        why: String,
    },
}

/// Runs of the study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    pub done: usize,
    pub total: usize,
}
