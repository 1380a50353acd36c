//! Events that a workload emits: one JSON object per line. Documented in
//! docs/protocol.md.

use serde::{Deserialize, Serialize};

/// The variable that names the file to append events to.
pub const EVENTS_VARIABLE: &str = "BANCADA_EVENTS";
/// The variable that names the job file.
pub const JOB_VARIABLE: &str = "BANCADA_JOB";
/// The variable that tells a client when the server next to it was started, in seconds since 1970.
pub const STARTED_VARIABLE: &str = "BANCADA_STARTED";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Seconds since the Unix epoch by the workload's clock. A workload may leave it out; the
    /// moment of reading is taken then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    #[serde(flatten)]
    pub kind: EventKind,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum EventKind {
    /// A phase begins, and the one before ends.
    Phase {
        phase: String,
    },
    Step {
        step: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        epoch: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        loss: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<f64>,
        /// Images (or rows, or tokens) this step worked on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        images: Option<u64>,
    },
    Epoch {
        epoch: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        loss: Option<f64>,
        /// A fraction: 0.97.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        accuracy: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<f64>,
    },
    /// Accuracy on held-out data, a fraction: 0.97.
    Accuracy {
        value: f64,
    },
    /// Any other number of the run's own.
    Metric {
        name: String,
        value: f64,
        #[serde(default)]
        unit: String,
    },
    Note {
        text: String,
    },
    /// How far the run is by the bars and counters in its output: written by the worker, which
    /// recognised them, and never emitted by a workload.
    Recognised {
        unit: CountUnit,
        /// In units; whole numbers of epochs are epochs that are over.
        done: f64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
        /// Whether `total` is the end of the run: else of one counter, which others may follow.
        of_run: bool,
        /// Of the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        left: Option<TimeLeft>,
    },
    /// What trains, by its own word.
    Framework {
        name: String,
        version: String,
    },
    /// Time spent in one kind of operator, from the framework's profiler.
    Operator {
        /// As the profiler names it: `aten::mkldnn_convolution`.
        name: String,
        /// `convolution`, `matrix-product`, `pooling`, `normalisation`, `activation`, `copy`,
        /// `optimiser`, `other`.
        kind: String,
        calls: u64,
        seconds: f64,
    },
    /// Why the workload is about to fail, in a sentence. Of several the first counts.
    Error {
        text: String,
    },
    /// The workload met the end of its memory and says so itself.
    OutOfMemory {
        #[serde(default)]
        detail: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountUnit {
    Epochs,
    #[default]
    Steps,
}

/// Seconds that a run still takes; predicted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TimeLeft {
    pub seconds: f64,
    /// 95 %; none where too little was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What docs/protocol.md promises.
    #[test]
    fn a_line_of_the_protocol_is_an_event() {
        let check = |line: &str, expected: EventKind| {
            let event: Event = serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
            assert_eq!(event.kind, expected);
        };
        check(
            r#"{"event": "phase", "phase": "train"}"#,
            EventKind::Phase {
                phase: "train".into(),
            },
        );
        check(
            r#"{"event": "step", "step": 3, "loss": 0.5, "at": 1.5, "unknown": true}"#,
            EventKind::Step {
                step: 3,
                epoch: None,
                loss: Some(0.5),
                seconds: None,
                images: None,
            },
        );
        check(
            r#"{"event": "accuracy", "value": 0.97}"#,
            EventKind::Accuracy { value: 0.97 },
        );
        check(
            r#"{"event": "out-of-memory"}"#,
            EventKind::OutOfMemory {
                detail: String::new(),
            },
        );
        assert!(serde_json::from_str::<Event>(r#"{"event": "stepp", "step": 3}"#).is_err());
    }
}
