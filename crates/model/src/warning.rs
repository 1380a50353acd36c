//! What a reader must know before relying on a number. The text says what happened and what to do.

use serde::{Deserialize, Serialize};

use crate::capacity::UnmetLimit;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Warning {
    /// Others used the machine while the run was in progress.
    #[error(
        "other programs used {others_cores:.1} of {cores:.0} cores: close them, or repeat more often"
    )]
    MachineBusy { others_cores: f64, cores: f64 },
    /// The run had work for more cores than it got.
    #[error(
        "got {got:.1} of {asked:.1} cores (the machine was busy): repeat it on a quiet machine"
    )]
    FewerCores { got: f64, asked: f64 },
    /// The hypervisor gave the time to other guests.
    #[error(
        "the hypervisor gave {percent:.0} % of the time to other guests: repeat, or take a dedicated machine"
    )]
    Stolen { percent: f64 },
    /// The CPU ran below its speed (thermal or power limit).
    #[error("the CPU was throttled ({detail}): let it cool, or check its power limit")]
    Throttled { detail: String },
    /// A limit was enforced in a weaker way than a cgroup would.
    #[error("{asked} was enforced by {by} ({reason})")]
    LimitsWeak {
        asked: String,
        by: String,
        reason: String,
    },
    /// A limit was not what was requested: nothing is concluded from the run.
    #[error("{unmet}")]
    LimitUnmet { unmet: UnmetLimit },
    /// A log pattern of the study found nothing in the whole log.
    #[error("the log pattern `{pattern}` matched no line: compare it with log.txt")]
    PatternUnmatched { pattern: String },
    /// A log pattern found texts where numbers belong.
    #[error("the log pattern `{pattern}` captured `{first}`, which is not a usable number ({}): check its groups", counted(*.lines, "line", "lines"))]
    PatternNotANumber {
        pattern: String,
        lines: u64,
        first: String,
    },
    /// Samples came later than requested.
    #[error(
        "samples every {asked_seconds} s were requested but were up to {worst_seconds:.2} s apart: use a longer interval"
    )]
    SamplesLate {
        asked_seconds: f64,
        worst_seconds: f64,
    },
    /// A metric that a workload reported and that was not taken.
    #[error("{}", refused(.name))]
    MetricRefused { name: String },
    /// More was reported than is kept.
    #[error("only the first {kept} are kept, and {left_out} more were reported: report less often")]
    EventsCut {
        /// `64 MB of events`.
        kept: String,
        left_out: u64,
    },
    /// Lines of the event file that are not events.
    #[error("{}, the first: {first}", counted(*.lines, "line of the event file is not an event and was ignored", "lines of the event file are not events and were ignored"))]
    BadEvents { lines: u64, first: String },
    /// The run swapped: its times are the disk's.
    #[error("{} MB went to swap: give it more memory", .bytes / 1_000_000)]
    Swapped { bytes: u64 },
    /// The process ended but left others behind, which were ended.
    #[error("left {}: wait for child processes before exiting", counted(u64::from(*.processes), "process running, which was ended", "processes running, which were ended"))]
    LeftBehind { processes: u32 },
    /// Processes of the run that could not be ended.
    #[error("{} of the run could not be ended and may still be running: end them manually, then re-run the runs after this one", counted(u64::from(*.processes), "process", "processes"))]
    StillRunning { processes: u32 },
    /// The governor does not hold the CPU at its full speed.
    #[error("the CPU governor is `{governor}`: set `performance` for repeatable times")]
    Governor { governor: String },
    /// The loss stopped being a number, from this epoch on where epochs tell it.
    #[error("the loss was NaN {} and is omitted: lower the learning rate, or check the data", epoch.map_or("at the end".to_owned(), |e| format!("from epoch {e} on")))]
    Diverged {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        epoch: Option<u32>,
    },
    /// The bill could not be said in the study's currency.
    #[error("no exchange rate from {from} to {to}: add one under [[rates]]")]
    NoRate { from: String, to: String },
    /// Nobody has shown that this framework computes the same as the others.
    #[error("{framework} was not verified to train the same {network} as the others{}", .cannot.as_ref().map_or(" before it ran: run bancada verify --study FILE first".to_owned(), |cannot| format!(": {cannot}")))]
    NotVerified {
        framework: String,
        network: String,
        /// Why `bancada verify` cannot show it, as the end of a sentence; `None` if it can.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cannot: Option<String>,
    },
    /// It was shown that it does not.
    #[error(
        "{framework} does not compute the same {network} as the others, from layer `{layer}` on: do not compare its losses"
    )]
    ComputesOtherwise {
        framework: String,
        network: String,
        layer: String,
    },
    /// Images of every epoch that were not trained on.
    #[error("{images} of {of} images of every epoch were skipped: {why}")]
    ImagesLeftOut { images: u32, of: u32, why: String },
    /// The trained network could not be written for other programs.
    #[error("the trained model has no model.onnx: {reason}")]
    NoOnnx { reason: String },
    /// The figures of a load tell about the client that sent it.
    #[error("the client, not the server, was the bottleneck: {reason}")]
    ClientLimited { reason: String },
    /// Requests of a load that were not answered well.
    #[error(
        "{failed} of {requests} requests failed and are excluded from latencies, the first: {first}"
    )]
    FailedRequests {
        failed: u64,
        requests: u64,
        first: String,
    },
    /// What was made at a provider was not wholly deleted again.
    #[error(
        "the endpoint `{endpoint}` in {region} MAY STILL EXIST AND COST MONEY ({why}): aws sagemaker delete-endpoint --region {region} --endpoint-name {endpoint}"
    )]
    EndpointLeft {
        endpoint: String,
        region: String,
        why: String,
    },
    /// The program is not the one that earlier runs ran, or did not stay the same.
    #[error("inputs differ from those of earlier runs: {}; compare only runs with the same inputs, or re-run all with --redo-changed", .files.join(", "))]
    InputsChanged {
        /// Each with its version and an earlier one.
        files: Vec<String>,
    },
}

impl Warning {
    /// What the run's file calls it: `machine-busy`.
    pub fn kind(&self) -> String {
        let written = serde_json::to_value(self).unwrap_or_default();
        written["kind"].as_str().unwrap_or_default().to_owned()
    }
}

fn refused(name: &str) -> String {
    match name.trim().is_empty() {
        true => "a metric without a name was reported and ignored: give it a name".to_owned(),
        false => format!(
            "the reported metric `{name}` was ignored: the name is Bancada's own, too long, or one too many; use a different one"
        ),
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    }
}
