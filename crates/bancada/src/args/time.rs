use std::path::PathBuf;

use clap::Args as ClapArgs;
use report::ExportFormat;
use workbench::Vary;

use crate::completion;

#[derive(Debug, ClapArgs)]
pub(crate) struct TimeArgs {
    /// Run the command once for each value, {NAME} being replaced by it; several --vary: all combinations
    #[arg(long, value_name = "NAME=VALUE,…", value_parser = Vary::parse)]
    pub(crate) vary: Vec<Vary>,
    /// Runs that are not counted, before the first one that is
    #[arg(
        long,
        short,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub(crate) warmup: u32,
    /// Runs of each combination [default: at least 10, and for about 3 s]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: Option<u32>,
    /// Price of this machine: a name in the catalog, or `0.2 USD/h` [default: no cost]
    #[arg(long, value_name = "PRICE", add = completion::machines())]
    pub(crate) price: Option<String>,
    /// Shell command before every run, such as one that empties a cache
    #[arg(long, short, value_name = "CMD")]
    pub(crate) prepare: Option<String>,
    /// Count runs that fail, too
    #[arg(long, short)]
    pub(crate) ignore_failure: bool,
    /// Start the command with `sh -c`, for pipes and wildcards (its start is measured, too)
    #[arg(long)]
    pub(crate) shell: bool,
    /// Write all runs to a file: .csv, .json, .md or .tex
    #[arg(long, value_name = "FILE", value_parser = Exported::parse)]
    pub(crate) export: Option<Exported>,
    /// Write the study file here, with its results beside it [default: in the cache, the newest 20]
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// The command, as it is typed without bancada
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// A file whose name says its format.
#[derive(Debug, Clone)]
pub(crate) struct Exported {
    pub(crate) path: PathBuf,
    pub(crate) format: &'static ExportFormat,
}

impl Exported {
    fn parse(text: &str) -> Result<Exported, String> {
        let path = PathBuf::from(text);
        let end = path.extension().and_then(|end| end.to_str());
        let name = match end {
            Some("md") => "markdown",
            Some("tex") => "latex",
            Some(end) => end,
            None => "",
        };
        let mut formats = report::FORMATS.iter();
        match formats.find(|format| format.name == name) {
            Some(format) => Ok(Exported { path, format }),
            None => Err("the name must end in .csv, .json, .md or .tex".to_owned()),
        }
    }
}
