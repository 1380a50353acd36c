//! Arguments of `serverless`.

use std::net::{IpAddr, Ipv4Addr};

use clap::Args as ClapArgs;

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "COMMAND must serve GET /ping and POST /invocations on the port given as {port} in its arguments, or \
                  as SAGEMAKER_BIND_TO_PORT in its environment:\n\
                  bancada serverless --memory 2048 --idle 60 -- bancada serve mobilenet --port {port}"
)]
pub(crate) struct ServerlessArgs {
    /// Command of a worker; with --container, the container's arguments [default then: serve]
    #[arg(
        last = true,
        value_name = "COMMAND",
        required_unless_present = "container"
    )]
    pub(crate) command: Vec<String>,
    /// Run workers as containers of this image, with podman or docker
    #[arg(long, value_name = "IMAGE")]
    pub(crate) container: Option<String>,
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub(crate) host: IpAddr,
    /// Port; 0 picks a free one
    #[arg(long, default_value_t = 8080)]
    pub(crate) port: u16,
    /// Memory of a worker: 1024, 2048, 3072, 4096, 5120 or 6144
    #[arg(long, value_name = "MB", default_value_t = 2048, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) memory: u32,
    /// Allow other sizes, priced in proportion
    #[arg(long)]
    pub(crate) any_memory: bool,
    /// Memory per core; the default is AWS Lambda's published proportion
    #[arg(long, value_name = "MB", default_value_t = workloads::serverless::USUAL_MB_PER_CPU)]
    pub(crate) mb_per_cpu: f64,
    /// Maximum number of workers, each with one request at a time; further requests get 429
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = from_one)]
    pub(crate) concurrency: usize,
    /// Seconds without requests after which a worker ends; 0 ends it after every response
    #[arg(long, value_name = "S", default_value_t = 900.0)]
    pub(crate) idle: f64,
    /// Time limit for a worker's first healthy ping, in seconds
    #[arg(long, value_name = "S", default_value_t = 240.0)]
    pub(crate) start_timeout: f64,
    /// Time limit for a response, in seconds
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    pub(crate) timeout: f64,
    /// Maximum size of a request or response in MB
    #[arg(long, value_name = "MB", default_value_t = 4, value_parser = from_one)]
    pub(crate) max_body: usize,
    /// Bill the start of a worker to the request that caused it, as AWS Lambda does
    #[arg(long)]
    pub(crate) bill_setup: bool,
    /// Seconds between SIGTERM and SIGKILL when a worker is ended
    #[arg(long, value_name = "S", default_value_t = 5.0)]
    pub(crate) grace: f64,
    /// Seconds to finish requests in progress on shutdown
    #[arg(long, value_name = "S", default_value_t = 30.0)]
    pub(crate) drain: f64,
}

fn from_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..) => Ok(number),
        _ => Err("it must be a whole number of at least 1".to_owned()),
    }
}
