use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::ResultsArgs;

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Bills are FOCUS 1.0 to 1.2 (CSV), AWS Cost and Usage Reports, Azure cost exports or Google \
                  billing exports (CSV, JSON lines), plain or gzip; see docs/reconcile.md."
)]
pub(crate) struct ReconcileArgs {
    #[command(flatten)]
    pub(crate) results: ResultsArgs,
    /// Files of the bill; several files form one bill
    #[arg(value_name = "BILL", required = true)]
    pub(crate) bills: Vec<PathBuf>,
    /// Tag of the study's resources [default: bancada=NAME, or by machine and time]
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) tag: Option<::reconcile::Tag>,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
