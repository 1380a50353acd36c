//! What a reader must know before relying on a number. The text says what happened and what to do.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::capacity::UnmetLimit;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Warning {
    /// Others used the machine while the run was in progress.
    MachineBusy { others_cores: f64, cores: f64 },
    /// The run had work for more cores than it got.
    FewerCores { got: f64, asked: f64 },
    /// The hypervisor gave the time to other guests.
    Stolen { percent: f64 },
    /// The CPU ran below its speed (thermal or power limit).
    Throttled { detail: String },
    /// A limit was enforced in a weaker way than a cgroup would.
    LimitsWeak {
        asked: String,
        by: String,
        reason: String,
    },
    /// A limit was not what was requested: nothing is concluded from the run.
    LimitUnmet { unmet: UnmetLimit },
    /// A log pattern of the study found nothing in the whole log.
    PatternUnmatched { pattern: String },
    /// A log pattern found texts where numbers belong.
    PatternNotANumber {
        pattern: String,
        lines: u64,
        first: String,
    },
    /// Samples came later than requested.
    SamplesLate {
        asked_seconds: f64,
        worst_seconds: f64,
    },
    /// A metric that a workload reported and that was not taken.
    MetricRefused { name: String },
    /// More was reported than is kept.
    EventsCut {
        /// `64 MB of events`.
        kept: String,
        left_out: u64,
    },
    /// Lines of the event file that are not events.
    BadEvents { lines: u64, first: String },
    /// The run swapped: its times are the disk's.
    Swapped { bytes: u64 },
    /// The process ended but left others behind, which were ended.
    LeftBehind { processes: u32 },
    /// Processes of the run that could not be ended.
    StillRunning { processes: u32 },
    /// The governor does not hold the CPU at its full speed.
    Governor { governor: String },
    /// The loss stopped being a number, from this epoch on where epochs tell it.
    Diverged {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        epoch: Option<u32>,
    },
    /// The bill could not be said in the study's currency.
    NoRate { from: String, to: String },
    /// Nobody has shown that this framework computes the same as the others.
    NotVerified {
        framework: String,
        network: String,
        /// Why `bancada verify` cannot show it, as the end of a sentence; `None` if it can.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cannot: Option<String>,
    },
    /// It was shown that it does not.
    ComputesOtherwise {
        framework: String,
        network: String,
        layer: String,
    },
    /// Images of every epoch that were not trained on.
    ImagesLeftOut { images: u32, of: u32, why: String },
    /// The trained network could not be written for other programs.
    NoOnnx { reason: String },
    /// The figures of a load tell about the client that sent it.
    ClientLimited { reason: String },
    /// Requests of a load that were not answered well.
    FailedRequests {
        failed: u64,
        requests: u64,
        first: String,
    },
    /// What was made at a provider was not wholly deleted again.
    EndpointLeft {
        endpoint: String,
        region: String,
        why: String,
    },
    /// The program is not the one that earlier runs ran, or did not stay the same.
    InputsChanged {
        /// Each with its version and an earlier one.
        files: Vec<String>,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::MachineBusy {
                others_cores,
                cores,
            } => write!(
                f,
                "other programs used {others_cores:.1} of {cores:.0} cores: close them, or repeat more often"
            ),
            Warning::FewerCores { got, asked } => write!(
                f,
                "got {got:.1} of {asked:.1} cores (the machine was busy): repeat it on a quiet machine"
            ),
            Warning::Stolen { percent } => write!(
                f,
                "the hypervisor gave {percent:.0} % of the time to other guests: repeat, or take a dedicated machine"
            ),
            Warning::Throttled { detail } => {
                write!(
                    f,
                    "the CPU was throttled ({detail}): let it cool, or check its power limit"
                )
            }
            Warning::LimitsWeak { asked, by, reason } => {
                write!(f, "{asked} was enforced by {by} ({reason})")
            }
            Warning::LimitUnmet { unmet } => unmet.fmt(f),
            Warning::PatternUnmatched { pattern } => write!(
                f,
                "the log pattern `{pattern}` matched no line: compare it with log.txt"
            ),
            Warning::PatternNotANumber {
                pattern,
                lines,
                first,
            } => write!(
                f,
                "the log pattern `{pattern}` captured `{first}`, which is not a usable number ({}): check its groups",
                counted(*lines, "line", "lines")
            ),
            Warning::SamplesLate {
                asked_seconds,
                worst_seconds,
            } => write!(
                f,
                "samples every {asked_seconds} s were requested but were up to {worst_seconds:.2} s apart: use a longer interval"
            ),
            Warning::MetricRefused { name } if name.trim().is_empty() => {
                f.write_str("a metric without a name was reported and ignored: give it a name")
            }
            Warning::MetricRefused { name } => write!(
                f,
                "the reported metric `{name}` was ignored: the name is Bancada's own, too long, or one too many; use a different one"
            ),
            Warning::EventsCut { kept, left_out } => write!(
                f,
                "only the first {kept} are kept, and {left_out} more were reported: report less often"
            ),
            Warning::BadEvents { lines, first } => {
                write!(
                    f,
                    "{lines} line(s) of the event file are not events and were ignored, the first: {first}"
                )
            }
            Warning::Swapped { bytes } => {
                write!(
                    f,
                    "{} MB went to swap: give it more memory",
                    bytes / 1_000_000
                )
            }
            Warning::LeftBehind { processes } => {
                write!(
                    f,
                    "left {} running, which were ended: wait for child processes before exiting",
                    counted(u64::from(*processes), "process", "processes")
                )
            }
            Warning::StillRunning { processes } => write!(
                f,
                "{} of the run could not be ended and may still be running: end them manually, then re-run the runs after this one",
                counted(u64::from(*processes), "process", "processes")
            ),
            Warning::Governor { governor } => write!(
                f,
                "the CPU governor is `{governor}`: set `performance` for repeatable times"
            ),
            Warning::Diverged { epoch } => {
                let since = epoch.map_or("at the end".to_owned(), |e| format!("from epoch {e} on"));
                write!(
                    f,
                    "the loss was NaN {since} and is omitted: lower the learning rate, or check the data"
                )
            }
            Warning::NotVerified {
                framework,
                network,
                cannot,
            } => {
                let when_and_why = match cannot {
                    Some(cannot) => format!(": {cannot}"),
                    None => " before it ran: run bancada verify --study FILE first".to_owned(),
                };
                write!(
                    f,
                    "{framework} was not verified to train the same {network} as the others{when_and_why}"
                )
            }
            Warning::ComputesOtherwise {
                framework,
                network,
                layer,
            } => write!(
                f,
                "{framework} does not compute the same {network} as the others, from layer `{layer}` on: do not compare its losses"
            ),
            Warning::ImagesLeftOut { images, of, why } => write!(
                f,
                "{images} of {of} images of every epoch were skipped: {why}"
            ),
            Warning::NoOnnx { reason } => {
                write!(f, "the trained model has no model.onnx: {reason}")
            }
            Warning::ClientLimited { reason } => {
                write!(
                    f,
                    "the client, not the server, was the bottleneck: {reason}"
                )
            }
            Warning::FailedRequests {
                failed,
                requests,
                first,
            } => write!(
                f,
                "{failed} of {requests} requests failed and are excluded from latencies, the first: {first}"
            ),
            Warning::EndpointLeft {
                endpoint,
                region,
                why,
            } => write!(
                f,
                "the endpoint `{endpoint}` in {region} MAY STILL EXIST AND COST MONEY ({why}): \
                 aws sagemaker delete-endpoint --region {region} --endpoint-name {endpoint}"
            ),
            Warning::InputsChanged { files } => write!(
                f,
                "inputs differ from those of earlier runs: {}; compare only runs with the same inputs, or re-run all \
                 with --redo-changed",
                files.join(", ")
            ),
            Warning::NoRate { from, to } => {
                write!(
                    f,
                    "no exchange rate from {from} to {to}: add one under [[rates]]"
                )
            }
        }
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    }
}
