//! Arguments of `load`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Without --clients, --rate, --trace, --series or --under, one client sends requests back to back."
)]
pub(crate) struct LoadArgs {
    /// Address, such as http://127.0.0.1:8080/invocations
    pub(crate) url: String,
    /// Files to send as request bodies, in turn; without any, send GET requests
    #[arg(long = "body", value_name = "FILE")]
    pub(crate) bodies: Vec<PathBuf>,
    /// Content type of the bodies [default: from the file names]
    #[arg(long, value_name = "TYPE")]
    pub(crate) content_type: Option<String>,
    /// A header to send, `name: value`
    #[arg(long = "header", value_name = "HEADER")]
    pub(crate) headers: Vec<String>,
    /// Number of clients, each sends as soon as it has its response (closed loop)
    #[arg(long, value_name = "N", group = "shape")]
    pub(crate) clients: Option<usize>,
    /// Requests per second, whether earlier ones have finished or not (open loop); latency counts from the intended time
    #[arg(long, value_name = "N", group = "shape")]
    pub(crate) rate: Option<f64>,
    /// Send at recorded times: a file with one time in seconds per line
    #[arg(long, value_name = "FILE", group = "shape")]
    pub(crate) trace: Option<PathBuf>,
    /// Send one request after the other with pauses, as the named protocol defines
    #[arg(long, value_enum, group = "shape")]
    pub(crate) series: Option<SeriesArg>,
    /// Find the highest rate that keeps p99 below MS milliseconds
    #[arg(long, value_name = "MS", group = "shape")]
    pub(crate) under: Option<f64>,
    /// With --rate: Poisson arrivals, like independent users, instead of even spacing
    #[arg(long)]
    pub(crate) poisson: bool,
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Stop after N requests
    #[arg(long, value_name = "N")]
    pub(crate) requests: Option<u64>,
    /// Stop after S seconds; with --under, the length of each trial [default: 10, or the end of the series or trace]
    #[arg(long, value_name = "S")]
    pub(crate) seconds: Option<f64>,
    /// Warm-up seconds, excluded from results [default: a tenth of the time, or of --requests]
    #[arg(long, value_name = "S")]
    pub(crate) warm_up: Option<f64>,
    /// Seconds between the requests of a series [default: the protocol's]
    #[arg(long, value_name = "S")]
    pub(crate) pause: Option<f64>,
    /// Time limit of a request in seconds
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    pub(crate) timeout: f64,
    /// Maximum number of open connections, with --rate
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) connections: usize,
    /// Number of sending threads
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) threads: usize,
    /// Additional trusted certificates (PEM) for https
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Print the results as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SeriesArg {
    /// One warm-up request (excluded), then 25, 5 s apart
    Warm,
    /// 10, 15 minutes apart
    Cold,
    /// 25, 5 s apart
    RealTime,
}
