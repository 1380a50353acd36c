//! Arguments of `serverless`.

use std::net::{IpAddr, Ipv4Addr};

use clap::Args as ClapArgs;

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "COMMAND serves GET /ping and POST /invocations on the port that {port} in its arguments, or \
                  SAGEMAKER_BIND_TO_PORT in its environment, says:\n\
                  bancada serverless --memory 2048 --idle 60 -- bancada serve mobilenet --port {port}"
)]
pub(crate) struct ServerlessArgs {
    /// What a worker runs; with --container, the container's arguments [default there: serve]
    #[arg(
        last = true,
        value_name = "COMMAND",
        required_unless_present = "container"
    )]
    pub(crate) command: Vec<String>,
    /// A worker is a container of this image, by podman or docker
    #[arg(long, value_name = "IMAGE")]
    pub(crate) container: Option<String>,
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub(crate) host: IpAddr,
    /// 0 is any that is free
    #[arg(long, default_value_t = 8080)]
    pub(crate) port: u16,
    /// Memory of a worker: 1024, 2048, 3072, 4096, 5120 or 6144
    #[arg(long, value_name = "MB", default_value_t = 2048, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) memory: u32,
    /// Take other sizes too, priced in proportion
    #[arg(long)]
    pub(crate) any_memory: bool,
    /// Memory that brings a whole core with it: AWS Lambda's published proportion
    #[arg(long, value_name = "MB", default_value_t = serverless::USUAL_MB_PER_CPU)]
    pub(crate) mb_per_cpu: f64,
    /// Workers at most, each with one request at a time; more requests get 429
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = from_one)]
    pub(crate) concurrency: usize,
    /// Seconds after its last answer in which a worker stays; 0 ends it after every answer
    #[arg(long, value_name = "S", default_value_t = 900.0)]
    pub(crate) idle: f64,
    /// Seconds for a worker's first healthy ping
    #[arg(long, value_name = "S", default_value_t = 240.0)]
    pub(crate) start_timeout: f64,
    /// Seconds for an answer
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    pub(crate) timeout: f64,
    /// Largest request and answer in MB
    #[arg(long, value_name = "MB", default_value_t = 4, value_parser = from_one)]
    pub(crate) max_body: usize,
    /// Bill the start of a worker to the request that caused it, as AWS Lambda does
    #[arg(long)]
    pub(crate) bill_setup: bool,
    /// Seconds between SIGTERM and SIGKILL for a worker that shall end
    #[arg(long, value_name = "S", default_value_t = 5.0)]
    pub(crate) grace: f64,
    /// Seconds for requests to end when the emulator is told to
    #[arg(long, value_name = "S", default_value_t = 30.0)]
    pub(crate) drain: f64,
}

fn from_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..) => Ok(number),
        _ => Err("it must be a whole number from 1 on".to_owned()),
    }
}
