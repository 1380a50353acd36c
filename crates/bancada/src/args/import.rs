//! Arguments of `import`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct ImportArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ImportCommand>,
    /// CSV files with a header line, JSON lines, or a tracking folder of MLflow
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The study the rows belong to; its [import] defines the columns, and flags override it.
    /// Without it, a study is created from the rows' levels
    #[arg(long, value_name = "STUDY")]
    pub(crate) study: Option<PathBuf>,
    /// Name of the study created from the rows
    #[arg(long, value_name = "NAME", conflicts_with = "study")]
    pub(crate) name: Option<String>,
    /// Folder of the results [default: results/NAME next to the study file, or here]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// What a row is: run, request, step or sample [default: the study's [import], or run]
    #[arg(long, value_name = "KIND")]
    pub(crate) row: Option<import::RowKind>,
    /// A column that holds a factor's levels
    #[arg(long, value_name = "COLUMN[=FACTOR]")]
    pub(crate) factor: Vec<import::ColumnFactor>,
    /// A column that holds a metric, and its unit, such as time=train_seconds:ms; overrides the
    /// study's [import] for the same column or metric. For steps, add :cumulative to a time since
    /// the start: elapsed=step_seconds:s:cumulative
    #[arg(long, value_name = "COLUMN=[METRIC:]UNIT")]
    pub(crate) metric: Vec<import::ColumnMetric>,
    /// Read only the metrics given with --metric, not those of the study's [import]
    #[arg(long, requires = "study", requires = "metric")]
    pub(crate) no_study_metrics: bool,
    /// A level shared by all rows: FACTOR=LEVEL
    #[arg(long, value_name = "FACTOR=LEVEL")]
    pub(crate) level: Vec<String>,
    /// Levels contained in file names, such as "{framework}-{image}px-r{repetition}.csv"
    #[arg(long, value_name = "PATTERN")]
    pub(crate) file_pattern: Option<import::FilePattern>,
    /// The column with the number of the repetition
    #[arg(long, value_name = "COLUMN")]
    pub(crate) repetition: Option<String>,
    /// The column with the outcome (ok, failed, …) of a run
    #[arg(long, value_name = "COLUMN")]
    pub(crate) status: Option<String>,
    /// The column with the start time of a run (RFC 3339)
    #[arg(long, value_name = "COLUMN")]
    pub(crate) started: Option<String>,
    /// Separator of the columns [default: detected from the header]
    #[arg(long, value_name = "CHARACTER")]
    pub(crate) delimiter: Option<char>,
    /// Decimal mark: auto, point or comma [default: detected from the numbers]
    #[arg(long, value_name = "MARK")]
    pub(crate) decimal_mark: Option<import::DecimalMark>,
    /// Price of the environment for runs without one: azure/Standard_F4s_v2@eastus, or "0.526 USD/h"
    #[arg(long, value_name = "PRICE", conflicts_with = "study")]
    pub(crate) price: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// Import logs of training programs into a study, one file per run (for a CSV file named `log`,
    /// write ./log)
    Log(ImportLogArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ImportLogArgs {
    /// Logs of Caffe, TensorFlow (slim, estimators), Keras, PyTorch's examples or DAWNBench; of other
    /// programs, if the study has [[workload.log]]
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Format of the logs: caffe, tensorflow-slim, keras, keras-csv, pytorch, dawnbench or auto
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = log_format)]
    pub(crate) format: LogFormatArg,
    /// The study the runs belong to; without it, a study is created from the logs' levels
    #[arg(long, value_name = "STUDY")]
    pub(crate) study: Option<PathBuf>,
    /// Name of the study created from the logs
    #[arg(long, value_name = "NAME", conflicts_with = "study")]
    pub(crate) name: Option<String>,
    /// Folder of the results [default: results/NAME next to the study file, or here]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// A level shared by all logs: FACTOR=LEVEL
    #[arg(long, value_name = "FACTOR=LEVEL")]
    pub(crate) level: Vec<String>,
    /// Levels contained in file names, such as "{network}-{batch}-r{repetition}.log"
    #[arg(long, value_name = "PATTERN")]
    pub(crate) file_pattern: Option<import::FilePattern>,
    /// Images per epoch, for losses by epoch [default: the level of the factor `images`]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) images: Option<u64>,
    /// Images per step [default: the level of the factor `batch`, or from the log]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) batch: Option<u64>,
    /// Year of the first line, for logs without a year [default: from the file's modification time]
    #[arg(long, value_name = "YEAR", value_parser = clap::value_parser!(i16).range(1970..=9999))]
    pub(crate) year: Option<i16>,
    /// Price of the environment: azure/Standard_F4s_v2@eastus, or "0.526 USD/h"
    #[arg(long, value_name = "PRICE", conflicts_with = "study")]
    pub(crate) price: Option<String>,
}

/// `None` detects it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogFormatArg(pub(crate) Option<import::LogFormat>);

fn log_format(text: &str) -> Result<LogFormatArg, import::SpecError> {
    match text {
        "auto" => Ok(LogFormatArg(None)),
        _ => text.parse().map(|format| LogFormatArg(Some(format))),
    }
}
