//! What a reader must know before relying on a number. The text says what happened and what to do.

use std::fmt;

use messages::{message, number};
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

impl Warning {
    /// What the run's file calls it: `machine-busy`.
    pub fn kind(&self) -> String {
        let written = serde_json::to_value(self).unwrap_or_default();
        written["kind"].as_str().unwrap_or_default().to_owned()
    }
}

/// What happened and what to do, in the language of the scope.
impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

/// So many digits after the point.
fn digits(value: f64, places: usize) -> String {
    number(&format!("{value:.places$}"))
}

impl Warning {
    fn text(&self) -> String {
        match self {
            Warning::MachineBusy {
                others_cores,
                cores,
            } => {
                let (others, cores) = (digits(*others_cores, 1), digits(*cores, 0));
                message!("warn-machine-busy", others, cores)
            }
            Warning::FewerCores { got, asked } => {
                let (got, asked) = (digits(*got, 1), digits(*asked, 1));
                message!("warn-fewer-cores", got, asked)
            }
            Warning::Stolen { percent } => {
                message!("warn-stolen", percent = digits(*percent, 0))
            }
            Warning::Throttled { detail } => message!("warn-throttled", detail),
            Warning::LimitsWeak { asked, by, reason } => {
                message!("warn-limits-weak", asked, by, reason)
            }
            Warning::LimitUnmet { unmet } => unmet.to_string(),
            Warning::Governor { governor } => message!("warn-governor", governor),
            Warning::SamplesLate {
                asked_seconds,
                worst_seconds,
            } => {
                let asked = number(&asked_seconds.to_string());
                message!(
                    "warn-samples-late",
                    asked,
                    worst = digits(*worst_seconds, 2)
                )
            }
            Warning::Swapped { bytes } => {
                let megabytes = (bytes / 1_000_000).to_string();
                message!("warn-swapped", megabytes)
            }
            Warning::LeftBehind { processes } => message!("warn-left-behind", processes),
            Warning::StillRunning { processes } => message!("warn-still-running", processes),
            Warning::NoRate { from, to } => message!("warn-no-rate", one = from, other = to),
            Warning::InputsChanged { files } => {
                message!("warn-inputs-changed", files = files.join(", "))
            }
            reported => reported.text_of_workload(),
        }
    }

    /// Of what a workload, a framework or a load reported.
    fn text_of_workload(&self) -> String {
        match self {
            Warning::PatternUnmatched { pattern } => message!("warn-pattern-unmatched", pattern),
            Warning::PatternNotANumber {
                pattern,
                lines,
                first,
            } => message!("warn-pattern-not-a-number", pattern, lines, first),
            Warning::MetricRefused { name } if name.trim().is_empty() => {
                message!("warn-metric-nameless")
            }
            Warning::MetricRefused { name } => message!("warn-metric-refused", name),
            Warning::EventsCut { kept, left_out } => {
                let left_out = left_out.to_string();
                message!("warn-events-cut", kept, left_out)
            }
            Warning::BadEvents { lines, first } => message!("warn-bad-events", lines, first),
            Warning::Diverged { epoch } => {
                let when = if epoch.is_some() { "epoch" } else { "end" };
                message!("warn-diverged", when, epoch = epoch.unwrap_or_default())
            }
            Warning::NotVerified {
                framework,
                network,
                cannot,
            } => {
                let why = if cannot.is_some() { "some" } else { "none" };
                let cannot = cannot.as_deref().unwrap_or_default();
                message!("warn-not-verified", framework, network, why, cannot)
            }
            Warning::ComputesOtherwise {
                framework,
                network,
                layer,
            } => message!("warn-computes-otherwise", framework, network, layer),
            Warning::ImagesLeftOut { images, of, why } => {
                let (images, all) = (images.to_string(), of.to_string());
                message!("warn-images-left-out", images, all, why)
            }
            Warning::NoOnnx { reason } => message!("warn-no-onnx", reason),
            Warning::ClientLimited { reason } => message!("warn-client-limited", reason),
            Warning::FailedRequests {
                failed,
                requests,
                first,
            } => {
                let (failed, requests) = (failed.to_string(), requests.to_string());
                message!("warn-failed-requests", failed, requests, first)
            }
            Warning::EndpointLeft {
                endpoint,
                region,
                why,
            } => {
                let command = format!(
                    "aws sagemaker delete-endpoint --region {region} --endpoint-name {endpoint}"
                );
                message!("warn-endpoint-left", endpoint, region, why, command)
            }
            // All others are in `text`.
            _ => self.kind(),
        }
    }
}
