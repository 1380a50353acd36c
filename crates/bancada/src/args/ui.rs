use std::path::PathBuf;

use clap::Args as ClapArgs;

/// A page for the browser on this machine
///
/// The address that is printed contains a token: whoever has it can start and stop studies, so do not
/// share it. Studies that were started from the page go on when the page or this command ends.
#[derive(Debug, ClapArgs)]
pub(crate) struct UiArgs {
    /// The folder with the study files
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// The port to listen on [default: any that is free]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
}
