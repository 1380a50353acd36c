//! Arguments of `probe`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::InputArgs;
use crate::completion;

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "The profile is stored in BANCADA_CACHE, by default ~/.cache/bancada. `bancada price compare` uses it. \
                  On another machine: run `bancada probe --json > there.json` there and `bancada probe --add there.json` here."
)]
pub(crate) struct ProbeArgs {
    /// Name of this machine, such as aws/c7g.xlarge from the price catalog [default: its host name]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Probe with these cores only
    #[arg(long, value_parser = cores)]
    pub(crate) cores: Option<f64>,
    /// Also probe with these frameworks (comma-separated); each takes about half a minute more
    #[arg(long, value_name = "FRAMEWORK", value_delimiter = ',', add = completion::frameworks())]
    pub(crate) framework: Vec<String>,
    /// Also measure training steps of these networks, to check predictions (comma-separated)
    #[arg(long, value_name = "NETWORK", value_delimiter = ',', add = completion::networks())]
    pub(crate) network: Vec<String>,
    /// Batch size of these networks
    #[arg(long, default_value_t = 16, requires = "network", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) batch: u32,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Rounds of measurements; fewer are faster and give wider intervals
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) rounds: u32,
    /// Add the profile of another machine, as `probe --json` printed it there, under its name or --name
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cores", "framework", "network", "list"])]
    pub(crate) add: Option<PathBuf>,
    /// List the machines that were probed
    #[arg(long, conflicts_with_all = ["cores", "framework", "network", "name"])]
    pub(crate) list: bool,
    /// Print the profile as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn cores(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(cores) if cores > 0.0 && cores.is_finite() => Ok(cores),
        _ => Err(format!("`{text}` is not a number of cores")),
    }
}
