use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use infra::notice::Provider;

#[derive(Debug, Subcommand)]
pub(crate) enum InfraCommand {
    /// Show the machines that a study rents, what would be created and what it costs (dry run)
    Plan(InfraPlanArgs),
    /// Create the machines that a study rents, and leave them on
    Apply(InfraApplyArgs),
    /// Destroy the machines of a study, one machine by name, or all
    Destroy(InfraDestroyArgs),
    /// List every machine that was created and not yet seen destroyed
    List(InfraListArgs),
    /// Take a machine off the list that you know to be gone
    Forget {
        /// Its name in `bancada infra list`
        machine: String,
    },
    /// Write a Terraform module into a folder, to read or change
    Module {
        #[arg(value_parser = module_names())]
        name: String,
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

fn module_names() -> PossibleValuesParser {
    PossibleValuesParser::new(infra::modules::MODULES.iter().map(|module| module.name))
}

#[derive(Debug, Args)]
pub(crate) struct InfraPlanArgs {
    #[command(flatten)]
    pub(crate) which: RentedArgs,
    /// Print the plan as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InfraApplyArgs {
    #[command(flatten)]
    pub(crate) which: RentedArgs,
    /// How long to wait for a machine to answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub(crate) patience: u64,
}

#[derive(Debug, Args)]
pub(crate) struct RentedArgs {
    /// The study file
    pub(crate) study: PathBuf,
    /// Only these environments (comma-separated)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) environment: Vec<String>,
    /// Addresses that may connect by SSH, such as 203.0.113.7/32 [default: this machine's, asked from checkip.amazonaws.com]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) caller: Option<String>,
}

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("which").required(true).args(["study", "all"])))]
pub(crate) struct InfraDestroyArgs {
    /// A study file, or the name of a machine
    pub(crate) study: Option<PathBuf>,
    /// Only these environments (comma-separated)
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        conflicts_with = "all"
    )]
    pub(crate) environment: Vec<String>,
    /// Every machine on the list
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InfraListArgs {
    /// Also those that are gone
    #[arg(long)]
    pub(crate) all: bool,
    /// Print the list as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WatchNoticeArgs {
    #[arg(long, value_parser = PossibleValuesParser::new(Provider::ALL.map(Provider::word)))]
    pub(crate) provider: String,
    /// The metadata service [default: the provider's]
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint: Option<String>,
    /// The file to write [default: ~/.cache/bancada/notice.json]
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct OnboardArgs {
    /// The study file
    pub(crate) study: PathBuf,
    /// The environment whose runs the new machine carries out
    #[arg(long, value_name = "NAME")]
    pub(crate) environment: String,
    /// The file to write: one script with Bancada, the study and its files
    #[arg(long, value_name = "FILE", default_value = "onboard.sh")]
    pub(crate) kit: PathBuf,
    /// Where the new machine finds that file: an https:// address, HOST:PATH for scp, or a path
    /// [default: the line sends it over ssh]
    #[arg(long, value_name = "URL|HOST:PATH|PATH")]
    pub(crate) from: Option<String>,
    /// Where the results go: a folder of the new machine, HOST:PATH for scp, or an https:// address
    /// that takes a PUT (object storage)
    #[arg(long, value_name = "DIR|HOST:PATH|URL")]
    pub(crate) to: String,
    /// More files of the study's folder that its runs need
    #[arg(long, value_name = "PATH")]
    pub(crate) include: Vec<PathBuf>,
    /// The bancada program for the new machine [default: this one]
    #[arg(long, value_name = "FILE")]
    pub(crate) program: Option<PathBuf>,
    /// Switch the machine off afterwards, whatever happened
    #[arg(long)]
    pub(crate) power_off: bool,
}
