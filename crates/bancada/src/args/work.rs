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
