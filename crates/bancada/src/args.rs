//! Arguments as typed.

mod compare;
mod image;
mod import;
mod infra;
mod load;
mod price;
mod probe;
mod quantise;
mod reconcile;
mod serve;
mod serverless;
mod time;
mod tip;
mod ui;
mod watch;
mod work;

use std::net::SocketAddr;
use std::path::PathBuf;

use workbench::{ResultsRequest, WhatIfRequest};
use workloads::models::InputWish;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use messages::Language;
use model::Until;
use report::{ExportFormat, ExportTable};

use crate::completion;

pub(crate) use self::compare::{CompareArgs, CompareFormat, Gate};
pub(crate) use self::image::{ImageBuildArgs, ImageCommand};
pub(crate) use self::import::{ImportArgs, ImportCommand, ImportLogArgs};
pub(crate) use self::infra::{
    InfraApplyArgs, InfraCommand, InfraDestroyArgs, InfraListArgs, InfraPlanArgs, OnboardArgs,
    RentedArgs, WatchNoticeArgs,
};
pub(crate) use self::load::{LoadArgs, SeriesArg};
pub(crate) use self::price::{
    PriceCommand, PriceCompareArgs, PriceFindArgs, PriceSort, PriceUpdateArgs,
};
pub(crate) use self::probe::ProbeArgs;
pub(crate) use self::quantise::QuantiseArgs;
pub(crate) use self::reconcile::ReconcileArgs;
pub(crate) use self::serve::{InstanceArgs, ServeCommandArgs};
pub(crate) use self::serverless::ServerlessArgs;
pub(crate) use self::time::{Exported as TimeExport, TimeArgs};
pub(crate) use self::tip::with_tip;
pub(crate) use self::ui::UiArgs;
pub(crate) use self::watch::WatchArgs;
pub(crate) use self::work::{AgentArgs, MakeReadyArgs, WorkArgs};

use crate::exit::{CommandResult, Failure};

/// Measure how long a neural network takes to train or serve, and what it costs
///
/// One study file describes the experiments; Bancada runs them, computes cost and statistics, and
/// writes one report. Start with `bancada init`, then `bancada run study.toml`.
#[derive(Debug, Parser)]
#[command(
    name = "bancada",
    version,
    max_term_width = 100,
    disable_help_subcommand = true
)]
#[command(
    after_help = "Exit codes: 0 ok, 1 I/O or system error, 2 invalid arguments, 3 invalid study, 4 budget, \
                        5 some runs failed, 6 results in use, 7 worse (`compare --gate`), 130 interrupted."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a study: measure what is missing, then analyse and report
    Run(RunArgs),
    /// Show scenarios with forecast time and cost (runs a few short pilots; --no-pilot skips them)
    Plan(PlanArgs),
    /// Check study files and show all their errors
    Check(CheckArgs),
    /// Write a study file: asks what it should answer, or writes a template (--from, --list)
    Init(InitArgs),
    /// List the studies of a folder: state, runs, age, cost
    Studies(StudiesArgs),
    /// Print the JSON schema of study files, for editors
    Schema,
    /// Print the results of a study as tables
    Show(Box<ShowArgs>),
    /// Compare two scenarios, two studies or two versions of one: one sentence, and a gate for CI
    Compare(CompareArgs),
    /// Write the HTML report of a study again
    Report(Box<ReportArgs>),
    /// Write the results of a study for other programs: tables, figures, runs of MLflow
    Export(Box<ExportArgs>),
    /// Import measurements made elsewhere (CSV, logs) into a study
    Import(Box<ImportArgs>),
    /// Time a command: runs it often enough, with CPU, memory, cost and intervals; --vary compares values
    Time(Box<TimeArgs>),
    /// Run any training script: its progress becomes time left, total time and cost
    Watch(WatchArgs),
    /// Open all studies of a folder in the browser: runs live, plans, decisions, comparisons
    Ui(UiArgs),
    /// Compare a provider's bills with a study's estimate and explain the difference
    Reconcile(ReconcileArgs),
    /// Check that all frameworks compute the same network
    Verify(VerifyArgs),
    /// Serve models over HTTP: networks of the zoo, trained runs, or any ONNX file
    Serve(Box<ServeCommandArgs>),
    /// Convert a model to 8 bits and measure the loss of accuracy
    Quantise(Box<QuantiseArgs>),
    /// Emulate a serverless service in front of a server: workers on demand, billed by GB-second
    Serverless(Box<ServerlessArgs>),
    /// Build container images of the server
    #[command(subcommand)]
    Image(ImageCommand),
    /// Send requests to a server and measure its responses
    Load(Box<LoadArgs>),
    /// Prices of machines: find, show, rules, compare, update
    #[command(subcommand)]
    Price(PriceCommand),
    /// Measure this machine in half a minute, to predict times of other machines
    Probe(ProbeArgs),
    /// List and describe networks
    #[command(subcommand)]
    Network(NetworkCommand),
    /// Create, list and destroy rented machines (Terraform)
    #[command(subcommand)]
    Infra(InfraCommand),
    /// Print one line for a new machine that runs its part of a study
    Onboard(OnboardArgs),
    /// List, download and describe datasets
    #[command(subcommand)]
    Data(DataCommand),
    /// Install frameworks in their own environments, list them, or remove them
    Setup(SetupArgs),
    /// Check which frameworks are set up and work, and how to fix the rest
    Doctor(DoctorArgs),
    /// Print the script that completes commands, names and levels in a shell
    Completions { shell: ShellArg },
    /// Print the manual page (roff); with --dir, write one page per command
    Man {
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Load a server as described in a job file (started by `run`)
    #[command(hide = true)]
    Ask,
    /// Carry out one order on this machine and leave a measurement (started by `run`)
    #[command(hide = true)]
    Work(WorkArgs),
    /// Decode images and convert models before the first order comes (started by `run`)
    #[command(hide = true)]
    MakeReady(MakeReadyArgs),
    /// Carry out orders that come over stdin (started on other machines by `run`)
    #[command(hide = true)]
    Agent(AgentArgs),
    /// Wait for the provider's notice that it takes this machine back (started on rented machines)
    #[command(hide = true)]
    WatchNotice(WatchNoticeArgs),
    /// Train the network of a job file with the embedded engine (started by `run`)
    #[command(hide = true)]
    EngineTrain,
    /// Train the network of a job file with the `caffe` program (started by `run`)
    #[command(hide = true)]
    CaffeTrain,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShellArg {
    Bash,
    Zsh,
    Fish,
    Elvish,
    Powershell,
}

impl ShellArg {
    pub(crate) fn name(self) -> &'static str {
        match self {
            ShellArg::Bash => "bash",
            ShellArg::Zsh => "zsh",
            ShellArg::Fish => "fish",
            ShellArg::Elvish => "elvish",
            ShellArg::Powershell => "powershell",
        }
    }
}

/// What people read; names of columns and keys are English.
#[derive(Debug, ClapArgs)]
pub(crate) struct LanguageArgs {
    /// Language of results and reports: en, pt, es or ru [default: BANCADA_LANG, otherwise en]
    #[arg(long, value_name = "LANGUAGE")]
    lang: Option<Language>,
}

impl LanguageArgs {
    /// Not that of LANG: what scripts read must not depend on who starts them.
    pub(crate) fn chosen(&self) -> Result<Language, Failure> {
        let variable = || std::env::var("BANCADA_LANG").ok().filter(|v| !v.is_empty());
        match (self.lang, variable()) {
            (Some(language), _) => Ok(language),
            (None, None) => Ok(Language::English),
            (None, Some(text)) => text
                .parse::<Language>()
                .map_err(|wrong| Failure::wrong_arguments(format!("BANCADA_LANG: {wrong}"))),
        }
    }

    pub(crate) fn scope(&self, work: impl FnOnce() -> CommandResult) -> CommandResult {
        self.chosen()?.scope(work)
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    /// The study file
    pub(crate) study: PathBuf,
    /// Folder of the results [default: results/NAME next to the study file]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Run at the reduced scale [scale.NAME] of the study
    #[arg(long, value_name = "NAME")]
    pub(crate) scale: Option<String>,
    /// Stop repeating when enough is known: 5% (precision of the time), "cost 5%", decided, "cost decided"
    #[arg(long, value_name = "RULE", conflicts_with = "predict")]
    pub(crate) until: Option<Until>,
    /// Search for the best choice of each task instead of running everything: "min cost where time < 2h"
    #[arg(long, value_name = "GOAL", conflicts_with_all = ["predict", "until"])]
    pub(crate) goal: Option<String>,
    /// Re-run runs with this outcome (comma-separated)
    #[arg(long, value_name = "OUTCOME", value_delimiter = ',')]
    pub(crate) retry: Vec<RetryArg>,
    /// Re-run runs whose inputs or study file have changed since
    #[arg(long)]
    pub(crate) redo_changed: bool,
    /// Serve progress, cost and resource use at http://ADDRESS/metrics for Prometheus, while it runs
    #[arg(long, value_name = "ADDRESS", value_parser = crate::metrics::address)]
    pub(crate) metrics_listen: Option<SocketAddr>,
    /// Keep runs whose inputs have changed since, and mark the new runs
    #[arg(long, conflicts_with = "redo_changed")]
    pub(crate) accept_changed: bool,
    /// First set up missing frameworks and download missing datasets
    #[arg(long)]
    pub(crate) prepare: bool,
    /// Do not destroy rented machines afterwards: they cost money until `bancada infra destroy`
    #[arg(long)]
    pub(crate) keep_machines: bool,
    /// Run only scenarios with one of these levels of a factor
    #[arg(long, value_name = "FACTOR=LEVEL,…", add = completion::levels())]
    pub(crate) only: Vec<String>,
    /// Count interrupted runs as done, with the results they reported
    #[arg(long)]
    pub(crate) keep_interrupted: bool,
    /// Continue even if the forecast exceeds the budget, or the budget is spent
    #[arg(long)]
    pub(crate) over_budget: bool,
    /// Use the real cloud endpoints (costs money) instead of the local emulation
    #[arg(long)]
    pub(crate) real: bool,
    /// Skip the short pilot runs that forecast time and cost
    #[arg(long)]
    pub(crate) no_pilot: bool,
    /// Run only the beginning of each training (at most 4 % of its steps) or command (until its output says how long it takes) and predict the whole
    #[arg(long)]
    pub(crate) predict: bool,
    /// With --predict: run this many scenarios to their end and report the error of the predictions
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        requires = "predict",
        hide_default_value = true
    )]
    pub(crate) measure_some: usize,
    /// Print events as JSON lines on stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only the results, no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RetryArg {
    Failed,
    OutOfMemory,
    TimedOut,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct PlanArgs {
    /// The study file
    pub(crate) study: PathBuf,
    /// Folder of earlier results to forecast from [default: results/NAME next to the study file]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Plan the reduced scale [scale.NAME] of the study
    #[arg(long, value_name = "NAME")]
    pub(crate) scale: Option<String>,
    /// Plan only scenarios with one of these levels of a factor
    #[arg(long, value_name = "FACTOR=LEVEL,…", add = completion::levels())]
    pub(crate) only: Vec<String>,
    /// As for `run`: stop repeating when enough is known
    #[arg(long, value_name = "RULE")]
    pub(crate) until: Option<Until>,
    /// Skip the short pilot runs that forecast time and cost
    #[arg(long)]
    pub(crate) no_pilot: bool,
    /// The study will run on a different machine: allow more cores and memory than this one has, and skip pilot runs
    #[arg(long)]
    pub(crate) elsewhere: bool,
    /// Print the plan and forecast as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Also list the runs, in order
    #[arg(long)]
    pub(crate) runs: bool,
    /// Compare designs instead: what each can tell apart, its runs, forecast time and cost
    #[arg(long, conflicts_with = "only", conflicts_with = "runs")]
    pub(crate) design: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CheckArgs {
    /// Study files
    #[arg(required = true)]
    pub(crate) studies: Vec<PathBuf>,
    /// The studies will run on a different machine: allow more cores and memory than this one has
    #[arg(long)]
    pub(crate) elsewhere: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct InitArgs {
    /// The file to write; it must not exist
    #[arg(default_value = "study.toml")]
    pub(crate) file: PathBuf,
    /// Write this template instead of asking [default: ask on a terminal, else train]
    #[arg(long, value_name = "NAME", value_parser = templates())]
    pub(crate) from: Option<&'static plan::Template>,
    /// List the templates
    #[arg(long, conflicts_with = "from")]
    pub(crate) list: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct StudiesArgs {
    /// The folder of the study files
    #[arg(default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Print the list as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn templates() -> impl TypedValueParser<Value = &'static plan::Template> {
    let templates = plan::TEMPLATES.iter();
    let values = templates.map(|t| PossibleValue::new(t.name).help(t.about));
    let named = |name: String| plan::TEMPLATES.iter().find(|t| t.name == name);
    PossibleValuesParser::new(values).try_map(move |name| named(name).ok_or("not a template"))
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ResultsArgs {
    /// The study file, or the folder of its results
    pub(crate) study: PathBuf,
    /// Folder of the results [default: results/NAME next to the study file]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Show results of scale NAME
    #[arg(long, value_name = "NAME")]
    pub(crate) scale: Option<String>,
}

impl ResultsArgs {
    pub(crate) fn request(&self) -> ResultsRequest<'_> {
        ResultsRequest {
            study: &self.study,
            out: self.out.as_deref(),
            scale: self.scale.as_deref(),
        }
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) results: ResultsArgs,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    /// Recommend the cheapest scenario whose run takes no longer, 19 times in 20, such as 2h
    #[arg(long, value_name = "TIME", value_parser = plan::duration_seconds)]
    pub(crate) deadline: Option<f64>,
    /// Recommend the fastest scenario whose run costs no more, 19 times in 20, such as "5 USD"
    #[arg(long, value_name = "MONEY")]
    pub(crate) most_cost: Option<model::Money>,
    /// Recommend a scenario whose run uses no more energy, 19 times in 20, such as "50 kJ" or "2 kWh"
    #[arg(long, value_name = "ENERGY", value_parser = plan::joules)]
    pub(crate) most_energy: Option<f64>,
    #[command(flatten)]
    pub(crate) criteria: CriteriaArgs,
    #[command(flatten)]
    pub(crate) what_if: WhatIfArgs,
}

/// What the Pareto set is over.
#[derive(Debug, Default, ClapArgs)]
pub(crate) struct CriteriaArgs {
    /// Pareto set over these metrics, such as time,cost,accuracy [default: `pareto` of the study, or time,cost]
    #[arg(long, value_name = "METRICS", value_delimiter = ',')]
    pub(crate) pareto: Vec<String>,
}

/// Different prices for the same measurements.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "What-if prices (nothing is re-run, stored results do not change)")]
pub(crate) struct WhatIfArgs {
    /// Bill with the current study file and catalog instead of those of each run
    #[arg(long)]
    pub(crate) reprice: bool,
    /// TOML file whose prices, rates and environments override the study's
    #[arg(long, value_name = "FILE")]
    pub(crate) what_if: Option<PathBuf>,
    /// Price of one environment, or of all priced ones: a name in the catalog, or `0.2 USD/h`
    #[arg(long, value_name = "[ENVIRONMENT=]PRICE", add = completion::machines())]
    pub(crate) price: Vec<String>,
    /// The same machines in a different region
    #[arg(long, value_name = "REGION")]
    pub(crate) region: Option<String>,
    /// Show costs in this currency; needs a rate
    #[arg(long, value_name = "CODE")]
    pub(crate) currency: Option<String>,
    /// Exchange rate, such as USD:BRL=5.42
    #[arg(long, value_name = "FROM:TO=RATE")]
    pub(crate) rate: Vec<String>,
    /// Tax in percent, added to everything
    #[arg(long, value_name = "PERCENT")]
    pub(crate) tax: Option<String>,
}

impl WhatIfArgs {
    pub(crate) fn request(&self) -> WhatIfRequest {
        WhatIfRequest {
            reprice: self.reprice,
            file: self.what_if.clone(),
            prices: self.price.clone(),
            region: self.region.clone(),
            currency: self.currency.clone(),
            rates: self.rate.clone(),
            tax: self.tax.clone(),
            asked_in: workbench::AskedIn::Options,
        }
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) results: ResultsArgs,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    #[command(flatten)]
    pub(crate) criteria: CriteriaArgs,
    #[command(flatten)]
    pub(crate) what_if: WhatIfArgs,
    /// The file to write [default: report.html in the folder of the results; with what-if prices
    /// report-what-if.html]
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) results: ResultsArgs,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    #[command(flatten)]
    pub(crate) what_if: WhatIfArgs,
    #[arg(long, short, value_parser = export_formats(), default_value = report::FORMATS[0].name)]
    pub(crate) format: &'static ExportFormat,
    /// Export one table only [default: csv, parquet: runs; latex: means of the scenarios; json, markdown: all]
    #[arg(long, value_parser = export_tables())]
    pub(crate) table: Option<&'static ExportTable>,
    /// The file to write, or the folder for formats of several files [default: stdout]
    #[arg(long, value_name = "PATH")]
    pub(crate) to: Option<PathBuf>,
}

fn export_formats() -> impl TypedValueParser<Value = &'static ExportFormat> {
    let formats = report::FORMATS.iter();
    let values = formats.map(|format| PossibleValue::new(format.name).help(format.about));
    let named = |name: String| report::FORMATS.iter().find(|format| format.name == name);
    PossibleValuesParser::new(values).try_map(move |name| named(name).ok_or("not a format"))
}

fn export_tables() -> impl TypedValueParser<Value = &'static ExportTable> {
    let tables = report::TABLES.iter();
    let values = tables.map(|table| PossibleValue::new(table.name).help(table.about));
    let named = |name: String| report::TABLES.iter().find(|table| table.name == name);
    PossibleValuesParser::new(values).try_map(move |name| named(name).ok_or("not a table"))
}

#[derive(Debug, ClapArgs)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["network", "study"])))]
pub(crate) struct VerifyArgs {
    /// A network of the zoo, or a network file (.toml)
    #[arg(add = completion::networks())]
    pub(crate) network: Option<String>,
    /// Verify every network of this study, at its sizes, in its frameworks
    #[arg(long, value_name = "STUDY", conflicts_with_all = ["image", "channels", "classes", "framework"])]
    pub(crate) study: Option<PathBuf>,
    /// Use the reduced scale [scale.NAME] of the study
    #[arg(long, value_name = "NAME", requires = "study")]
    pub(crate) scale: Option<String>,
    /// Frameworks to verify (comma-separated) [default: all that are set up]
    #[arg(long, value_name = "FRAMEWORK", value_delimiter = ',', add = completion::frameworks())]
    pub(crate) framework: Vec<String>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Batch size
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) batch: u32,
    /// Steps of gradient descent
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) steps: u32,
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Time limit per framework in seconds
    #[arg(long, default_value_t = 900, value_name = "SECONDS")]
    pub(crate) timeout: u32,
    /// Print the results as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum NetworkCommand {
    /// List the networks of the zoo
    List,
    /// Show layers, shapes, parameters, FLOPs and memory of a network
    Show {
        /// A network of the zoo, or a network file (.toml)
        #[arg(add = completion::networks())]
        network: String,
        #[command(flatten)]
        input: InputArgs,
        /// Batch size, for the memory needed to train
        #[arg(long, default_value_t = 32)]
        batch: u32,
    },
    /// Print the description of a network of the zoo, to copy and edit
    Print {
        #[arg(add = completion::networks())]
        network: String,
    },
    /// Write a network with its weights as an ONNX model, for serving
    Onnx(OnnxArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// List the datasets, and which are downloaded
    List,
    /// Download the files of a dataset, and check them
    Fetch {
        /// mnist, fashion-mnist, cifar10 or cifar100
        #[arg(value_name = "NAME", required = true, add = completion::datasets())]
        datasets: Vec<String>,
        /// Copy them from a folder or URL instead
        #[arg(long, value_name = "DIR|URL")]
        from: Option<String>,
    },
    /// Describe a dataset: sizes, classes, images per class
    Show(DataShowArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct DataShowArgs {
    /// A dataset, or a folder of pictures with one subfolder per class
    #[arg(value_name = "NAME|DIR", add = completion::datasets())]
    pub(crate) dataset: String,
    /// Folder of its files [default: where fetch puts them]
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Write the first images as one contact sheet (PNG)
    #[arg(long, value_name = "FILE")]
    pub(crate) sheet: Option<PathBuf>,
    /// Number of images on the sheet
    #[arg(long, value_name = "COUNT", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) images: u32,
    /// Side of the images in pixels [default: their native size]
    #[arg(long, value_name = "PIXELS")]
    pub(crate) image: Option<u32>,
}

/// Input of a network, where it differs from the network's own.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(crate) struct InputArgs {
    /// Side of the input in pixels [default: the network's own, or 32]
    #[arg(long)]
    pub(crate) image: Option<u32>,
    /// Channels of the input [default: the network's own, or 3]
    #[arg(long)]
    pub(crate) channels: Option<u32>,
    /// Number of classes [default: the network's own, or 10]
    #[arg(long)]
    pub(crate) classes: Option<u32>,
}

impl InputArgs {
    pub(crate) fn wish(self) -> InputWish {
        InputWish {
            image: self.image,
            channels: self.channels,
            classes: self.classes,
        }
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct OnnxArgs {
    /// A network of the zoo, or a network file (.toml)
    #[arg(add = completion::networks())]
    pub(crate) network: String,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Trained weights, a run's model.safetensors [default: initial weights]
    #[arg(long, value_name = "FILE", conflicts_with = "seed")]
    pub(crate) weights: Option<PathBuf>,
    /// Seed of the initial weights
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    pub(crate) to: PathBuf,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Uses uv if it is found (on PATH, or named by BANCADA_UV), otherwise Python's venv and \
                  pip. Environments are stored in BANCADA_CACHE, by default ~/.cache/bancada."
)]
pub(crate) struct SetupArgs {
    /// Frameworks, such as pytorch or pytorch@2.2.0, or `all`; without any, list them
    #[arg(value_name = "FRAMEWORK", value_parser = FrameworkArg::parse, add = completion::frameworks())]
    pub(crate) frameworks: Vec<FrameworkArg>,
    /// Install the GPU packages
    #[arg(long)]
    pub(crate) gpu: bool,
    /// List which are set up, with their sizes
    #[arg(long, conflicts_with_all = ["frameworks", "remove", "gpu"])]
    pub(crate) list: bool,
    /// Remove the environments of these frameworks
    #[arg(long, requires = "frameworks", conflicts_with = "gpu")]
    pub(crate) remove: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum FrameworkArg {
    All,
    One(frameworks::Spec),
}

impl FrameworkArg {
    fn parse(text: &str) -> Result<FrameworkArg, frameworks::SpecError> {
        match text {
            "all" => Ok(FrameworkArg::All),
            _ => frameworks::Spec::parse(text).map(FrameworkArg::One),
        }
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct DoctorArgs {
    /// Only these frameworks [default: all]
    #[arg(value_name = "FRAMEWORK", value_parser = FrameworkArg::parse, add = completion::frameworks())]
    pub(crate) frameworks: Vec<FrameworkArg>,
    /// Print the results as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
