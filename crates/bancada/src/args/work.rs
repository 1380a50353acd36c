//! Arguments of `work` and `make-ready`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

#[derive(Debug, ClapArgs)]
pub(crate) struct WorkArgs {
    /// The order, JSON
    pub(crate) order: PathBuf,
    /// Folder for the run's files; measurement.json is written last
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Folder that paths in the order are relative to
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) files: PathBuf,
    /// What `make-ready` wrote [default: it is made for this order]
    #[arg(long, value_name = "FILE")]
    pub(crate) ready: Option<PathBuf>,
    /// Whoever ordered it cannot see this process: claim DIR, show a pulse in it, and end when a
    /// file `cancel` appears there
    #[arg(long)]
    pub(crate) unattended: bool,
    /// Container in which the workload is started, JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) container: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct MakeReadyArgs {
    /// Orders to make this machine ready for, JSON
    pub(crate) request: PathBuf,
    /// File to write: what the machine is and has ready, JSON
    pub(crate) ready: PathBuf,
    /// Folder that paths in the orders are relative to
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) files: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct AgentArgs {
    /// Folder for the runs and what is made for them; it stays
    pub(crate) root: PathBuf,
    /// Folder of the study's files
    #[arg(long, value_name = "DIR")]
    pub(crate) files: PathBuf,
    /// What runs are started in, as JSON [default: plain processes]
    #[arg(long, value_name = "JSON")]
    pub(crate) within: Option<String>,
    /// Wait for a notice of this provider that it takes the machine back: aws, azure, gcp
    #[arg(long, value_name = "PROVIDER")]
    pub(crate) notices_of: Option<String>,
}
