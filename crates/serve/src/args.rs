//! Arguments of the server, the same in `bancada serve` and `bancada-serve serve`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;

use crate::body::Limits;
use crate::meaning::{Meaning, Outputs};
use crate::queue::Batching;
use crate::server::Options;

/// Where containers find their model.
const MODEL_FOLDER: &str = "/opt/ml/model";
/// The platform sets the port here.
const PORT_VARIABLE: &str = "SAGEMAKER_BIND_TO_PORT";
/// Set in container images, which are reached from outside.
const HOST_VARIABLE: &str = "BANCADA_HOST";

#[derive(Debug, Clone, Args)]
pub struct ServeArgs {
    /// The model: an .onnx file, a folder with one, … [default: /opt/ml/model]; NAME=MODEL sets its name
    #[arg(value_name = "MODEL")]
    pub models: Vec<String>,
    /// Address to listen on [default: BANCADA_HOST, or 127.0.0.1 (loopback only)]
    #[arg(long, value_name = "ADDRESS")]
    pub host: Option<IpAddr>,
    /// Port [default: SAGEMAKER_BIND_TO_PORT, or 8080]
    #[arg(long)]
    pub port: Option<u16>,
    /// Queue length; further requests get 503
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = from_one)]
    pub queue: usize,
    /// Maximum body size in MB
    #[arg(long, value_name = "MB", default_value_t = 10, value_parser = from_one)]
    pub max_body: usize,
    /// Maximum picture size in megapixels
    #[arg(long, value_name = "MP", default_value_t = 25, value_parser = from_one)]
    pub max_pixels: usize,
    /// Maximum batch size: requests computed together
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = from_one)]
    pub batch: usize,
    /// How long to wait to fill a batch
    #[arg(long, value_name = "MS", default_value_t = 2, value_parser = clap::value_parser!(u64).range(..=10_000))]
    pub linger: u64,
    /// Requests computed in parallel [default: one per core]
    #[arg(long, value_name = "N", value_parser = from_one)]
    pub workers: Option<usize>,
    /// Threads per request [default: all cores for a single request, otherwise an equal share]
    #[arg(long, value_name = "N", value_parser = from_one)]
    pub threads: Option<usize>,
    /// Number of most likely classes in a response
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub top: usize,
    /// Meaning of an output: raw, logits or probabilities; only named outputs are returned [default: model.json,
    /// otherwise the output of a final softmax is probabilities, and all other outputs are raw]
    #[arg(long, value_name = "NAME=MEANING", value_parser = output)]
    pub output: Vec<(String, Meaning)>,
    /// Seconds to finish requests in progress at shutdown
    #[arg(long, value_name = "S", default_value_t = 30)]
    pub drain: u64,
    /// Write copies that start faster on this type of processor next to the models, then exit
    #[arg(long)]
    pub prepare: bool,
    /// ONNX Runtime's shared library [default: detected]
    #[arg(long, value_name = "FILE")]
    pub library: Option<PathBuf>,
}

impl ServeArgs {
    pub fn options(&self) -> Result<Options, String> {
        let port = setting(self.port, PORT_VARIABLE, "a port", 8080)?;
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let host = setting(self.host, HOST_VARIABLE, "an IP address", loopback)?;
        Ok(Options {
            address: SocketAddr::new(host, port),
            queue: self.queue,
            limits: Limits {
                body_bytes: self.max_body.saturating_mul(1_000_000),
                pixels: (self.max_pixels as u64).saturating_mul(1_000_000),
                receiving_bytes: self.max_body.saturating_mul(1_000_000).max(RECEIVING_BYTES),
                head: HEAD,
                receiving: RECEIVING,
                connections: CONNECTIONS,
            },
            batching: Batching {
                most: self.batch.max(1),
                linger: Duration::from_millis(self.linger),
            },
            workers: self.workers,
            threads: self.threads,
            top: self.top,
            drain: Duration::from_secs(self.drain),
        })
    }

    /// The outputs given on the command line, which override a description file.
    pub fn outputs(&self) -> Result<Option<Outputs>, String> {
        match (self.output.is_empty(), self.models.len()) {
            (true, _) => Ok(None),
            (false, ..=1) => Ok(Some(Outputs::Named(self.output.iter().cloned().collect()))),
            (false, _) => Err(
                "--output works with one model only: for several, write model.json files"
                    .to_owned(),
            ),
        }
    }

    /// Names and models; the container's folder if none is given.
    pub fn named(&self) -> Vec<(Option<&str>, &str)> {
        let named = self.models.iter().map(|model| match model.split_once('=') {
            Some((name, model)) if is_name(name) => (Some(name), model),
            _ => (None, model.as_str()),
        });
        let models: Vec<_> = named.collect();
        match models.is_empty() {
            true => vec![(None, MODEL_FOLDER)],
            false => models,
        }
    }
}

const RECEIVING_BYTES: usize = 200_000_000;
const HEAD: Duration = Duration::from_secs(30);
const RECEIVING: Duration = Duration::from_secs(30);
const CONNECTIONS: usize = 20_000;

/// What was given, or else what the variable says.
fn setting<T: FromStr>(
    given: Option<T>,
    variable: &str,
    what: &str,
    usual: T,
) -> Result<T, String> {
    match (given, std::env::var(variable)) {
        (Some(given), _) => Ok(given),
        (None, Ok(told)) => told
            .parse()
            .map_err(|_| format!("{variable} is `{told}`, which is not {what}")),
        (None, Err(_)) => Ok(usual),
    }
}

/// More threads, queued requests or megabytes than this are a typing error.
const MOST: usize = 4096;

fn from_one(text: &str) -> Result<usize, String> {
    let number = text
        .parse()
        .ok()
        .filter(|number| (1..=MOST).contains(number));
    number.ok_or_else(|| format!("expected a whole number from 1 to {MOST}"))
}

fn output(text: &str) -> Result<(String, Meaning), String> {
    let (name, meaning) = text
        .rsplit_once('=')
        .ok_or("expected NAME=MEANING, such as y=logits")?;
    Ok((name.to_owned(), meaning.parse()?))
}

/// Allowed in a path.
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}
