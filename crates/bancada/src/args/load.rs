//! Arguments of `load`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Without --clients, --rate, --trace, --series or --under, one client sends as fast as it is answered."
)]
pub(crate) struct LoadArgs {
    /// Where to: http://127.0.0.1:8080/invocations
    pub(crate) url: String,
    /// Files to send in turn; without any, GET is asked
    #[arg(long = "body", value_name = "FILE")]
    pub(crate) bodies: Vec<PathBuf>,
    /// [default: by the files' names]
    #[arg(long, value_name = "TYPE")]
    pub(crate) content_type: Option<String>,
    /// A header to send, `name: value`
    #[arg(long = "header", value_name = "HEADER")]
    pub(crate) headers: Vec<String>,
    /// So many clients, each sending as soon as it is answered
    #[arg(long, value_name = "N", group = "shape")]
    pub(crate) clients: Option<usize>,
    /// Requests a second, whether earlier ones are answered or not; latency counts from the intended time
    #[arg(long, value_name = "N", group = "shape")]
    pub(crate) rate: Option<f64>,
    /// As recorded: a file with a time in seconds on each line
    #[arg(long, value_name = "FILE", group = "shape")]
    pub(crate) trace: Option<PathBuf>,
    /// One by one with pauses, by the protocol of that name
    #[arg(long, value_enum, group = "shape")]
    pub(crate) series: Option<SeriesArg>,
    /// Look for the highest rate that keeps p99 under so many milliseconds
    #[arg(long, value_name = "MS", group = "shape")]
    pub(crate) under: Option<f64>,
    /// Requests at a rate come as independent users do, not evenly
    #[arg(long)]
    pub(crate) poisson: bool,
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Stop after so many requests
    #[arg(long, value_name = "N")]
    pub(crate) requests: Option<u64>,
    /// Stop after so many seconds; of each trial with --under [default: 10, or the series' or trace's own end]
    #[arg(long, value_name = "S")]
    pub(crate) seconds: Option<f64>,
    /// Warm-up seconds, excluded from results [default: a tenth of the time, or of --requests]
    #[arg(long, value_name = "S")]
    pub(crate) warm_up: Option<f64>,
    /// Seconds between the requests of a series [default: the protocol's]
    #[arg(long, value_name = "S")]
    pub(crate) pause: Option<f64>,
    /// Seconds a request may take
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    pub(crate) timeout: f64,
    /// Open connections at most, at a rate
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) connections: usize,
    /// Threads that send
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) threads: usize,
    /// Certificates (PEM) that https trusts too
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Print what was found as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SeriesArg {
    /// One not counted, then 25, 5 s apart
    Warm,
    /// 10, 15 minutes apart
    Cold,
    /// 25, 5 s apart
    RealTime,
}
