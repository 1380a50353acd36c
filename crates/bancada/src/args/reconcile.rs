use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::ResultsArgs;

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Bills are FOCUS 1.0 to 1.2 (CSV), AWS Cost and Usage Reports, Azure cost exports or Google \
                  billing exports (CSV, JSON lines), plain or gzip; docs/reconcile.md says more."
)]
pub(crate) struct ReconcileArgs {
    #[command(flatten)]
    pub(crate) results: ResultsArgs,
    /// Files of the bill; several parts are one bill
    #[arg(value_name = "BILL", required = true)]
    pub(crate) bills: Vec<PathBuf>,
    /// What marks the study's resources [default: bancada=NAME, else machine and time]
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) tag: Option<::reconcile::Tag>,
    /// Print what was found as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
