//! A study and its plan, after checking: what the file means, not how it was typed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::design::Design;
use crate::energy::{CarbonIntensity, PowerModel};
use crate::goal::Goal;
use crate::hosts::Hosts;
use crate::location::Location;
use crate::money::{Currency, ExchangeRate, Money, Price};
use crate::role::Role;
use crate::run::RunId;
use crate::serving::{ServeWorkload, Service};
use crate::shared::Shared;
use crate::until::Until;

/// A question: what is varied, what is measured, how often, within which budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Study {
    pub name: String,
    pub objective: Option<String>,
    pub repetitions: u32,
    pub seed: u64,
    pub order: RunSequence,
    pub budget: Option<Money>,
    /// Currency of the report.
    pub currency: Currency,
    /// Dated inputs, never fetched in silence.
    pub rates: Vec<ExchangeRate>,
    /// In the order of the file: the first factor varies slowest.
    pub factors: Vec<Factor>,
    pub exclude: Vec<Exclusion>,
    #[serde(default, skip_serializing_if = "Design::is_full")]
    pub design: Design,
    pub workload: Workload,
    /// Never empty: a file without environments means this machine, unpriced, named `local`.
    pub environments: Vec<Environment>,
    pub measure: MeasureSettings,
    /// Names of the metrics the report puts first; empty means the default set.
    pub metrics: Vec<String>,
    /// The text of every network file the study names, by the path as typed: what was read once
    /// is what all runs train, whatever becomes of the file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub network_files: BTreeMap<String, String>,
    /// What it costs to get there is asked, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_accuracy_percent: Option<f64>,
    /// Of factors that the study gives another role than their name does.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, Role>,
    /// Differences within this percentage, up or down, count as none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equal_within_percent: Option<f64>,
    /// Metrics that the Pareto set is over; empty means time and cost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pareto: Vec<String>,
    /// Of all environments that have none of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carbon: Option<CarbonIntensity>,
    /// Stops repeating before `repetitions` where enough is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// Runs are made where they serve this goal, not everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Goal>,
    /// How to read measurements made elsewhere.
    #[serde(default)]
    pub import: Option<ImportSettings>,
    /// Set where the study is run smaller than it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
}

/// A study made smaller (`[scale.small]`): the report says how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    pub name: String,
    pub changes: Vec<ScaleChange>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScaleChange {
    /// `images`, `epochs`, `repetitions`, or the name of a factor.
    pub what: String,
    /// As the study is written; `None` if it said nothing.
    pub from: Option<String>,
    pub to: String,
}

impl Study {
    pub fn environment(&self, name: &str) -> Option<&Environment> {
        self.environments.iter().find(|e| e.name == name)
    }

    pub fn factor(&self, name: &str) -> Option<&Factor> {
        self.factors.iter().find(|f| f.name == name)
    }

    /// Percentage within which a difference counts as none.
    pub fn equal_within(&self) -> f64 {
        const USUAL: f64 = 2.0;
        self.equal_within_percent.unwrap_or(USUAL)
    }

    /// How many times it may be decided whether a scenario is repeated again; one if their number is fixed.
    pub fn looks(&self) -> usize {
        match (&self.until, &self.goal) {
            // A search may stop after any of them.
            (_, Some(_)) => self.repetitions.max(1) as usize,
            (Some(_), None) => Until::looks(self.repetitions).len(),
            (None, None) => 1,
        }
    }

    pub fn role(&self, factor: &str) -> Role {
        let given = self.roles.get(factor).copied();
        // `image` is the side of pictures, unless it names images of containers.
        let is_name = |level: &Level| matches!(level, Level::Text(_));
        let is_container = |f: &Factor| f.name == "image" && f.levels.iter().any(is_name);
        given.unwrap_or_else(|| match self.factor(factor).is_some_and(is_container) {
            true => Role::Choice,
            false => Role::usual(factor),
        })
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    pub name: String,
    pub levels: Vec<Level>,
}

/// One value of a factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Level {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

impl Level {
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Level::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_int(&self) -> Option<i64> {
        match self {
            Level::Int(value) => Some(*value),
            _ => None,
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Level::Bool(value) => Some(*value),
            _ => None,
        }
    }

    pub fn as_float(&self) -> Option<f64> {
        match self {
            Level::Int(value) => Some(*value as f64),
            Level::Float(value) => Some(*value),
            _ => None,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Level::Bool(value) => value.fmt(f),
            Level::Int(value) => value.fmt(f),
            Level::Float(value) => value.fmt(f),
            Level::Text(value) => f.pad(value),
        }
    }
}

impl From<&str> for Level {
    fn from(text: &str) -> Self {
        Level::Text(text.to_owned())
    }
}

impl From<i64> for Level {
    fn from(value: i64) -> Self {
        Level::Int(value)
    }
}

/// Scenarios that have all of these levels are left out.
pub type Exclusion = BTreeMap<String, Level>;

/// How runs follow one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunSequence {
    /// Blocks of one repetition of every scenario, shuffled inside: drift of a shared machine
    /// then falls on all scenarios alike.
    #[default]
    Blocks,
    /// All runs shuffled together.
    Random,
    /// As numbered: C1-r1, C2-r1, … For debugging; drift falls on the later scenarios.
    Listed,
}

/// What a run does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Workload {
    Train(TrainWorkload),
    Serve(ServeWorkload),
    Command(CommandWorkload),
}

/// What the kinds have in common, so that most readers need not tell them apart.
impl Workload {
    pub fn as_train(&self) -> Option<&TrainWorkload> {
        match self {
            Workload::Train(train) => Some(train),
            _ => None,
        }
    }

    pub fn as_serve(&self) -> Option<&ServeWorkload> {
        match self {
            Workload::Serve(serve) => Some(serve),
            _ => None,
        }
    }

    /// The network or the model, after the key of the study file that names it.
    pub fn network(&self) -> Option<(&'static str, &str)> {
        match self {
            Workload::Train(train) => Some(("network", &train.network)),
            Workload::Serve(serve) => Some(("model", &serve.model)),
            Workload::Command(_) => None,
        }
    }

    /// The framework or the serving stack that `bancada setup` may have to install.
    pub fn framework(&self) -> Option<&str> {
        match self {
            Workload::Train(train) => Some(&train.framework),
            Workload::Serve(serve) => Some(&serve.stack),
            Workload::Command(_) => None,
        }
    }

    /// Whether anything of a run is drawn from the study's seed.
    pub fn is_seeded(&self) -> bool {
        !matches!(self, Workload::Command(_))
    }

    /// The program that the user brings.
    pub fn user_program(&self) -> Option<UserProgram<'_>> {
        match self {
            Workload::Train(_) => None,
            Workload::Serve(serve) => Some(UserProgram {
                command: &serve.command,
                inputs: &serve.inputs,
                env: &serve.env,
                directory: None,
            }),
            Workload::Command(command) => Some(UserProgram {
                command: &command.command,
                inputs: &command.inputs,
                env: &command.env,
                directory: command.directory.as_deref(),
            }),
        }
    }
}

/// A program of the user's, and what it depends on.
#[derive(Debug, Clone, Copy)]
pub struct UserProgram<'a> {
    pub command: &'a [String],
    pub inputs: &'a [String],
    pub env: &'a BTreeMap<String, String>,
    pub directory: Option<&'a Path>,
}

/// Train a described network. A factor of the same name as a field takes the field's place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainWorkload {
    /// `engine` is the embedded one; `pytorch@2.2.0` names a version.
    pub framework: String,
    /// A name of the zoo or the path of a network file.
    pub network: String,
    /// A name (`digits`, `digits-colour`, `mnist`, `cifar10`).
    pub dataset: String,
    /// Folder of the dataset's files, for datasets that are files.
    pub data_dir: Option<PathBuf>,
    /// Side of the square input in pixels; `None` keeps the dataset's own.
    pub image: Option<u32>,
    pub epochs: u32,
    pub batch: u32,
    /// Training images used; `None` means all the dataset has.
    pub images: Option<u32>,
    /// Held-out images for accuracy; `None` means all the dataset has.
    pub held_out: Option<u32>,
    pub optimizer: Optimizer,
    pub threads: Option<u32>,
    pub device: String,
    /// Whether the trained weights stay in the bundle. They are saved either way: saving is a
    /// phase of the run.
    #[serde(default = "yes")]
    pub keep_model: bool,
    // What holds by default is left out of files, so that older results answer the same question.
    #[serde(default, skip_serializing_if = "is_default")]
    pub precision: Precision,
    /// `torch.compile`, XLA and their like; `None` means the framework's custom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compile: Option<bool>,
    /// Processes that share every batch.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub workers: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub pipeline: Pipeline,
    /// Time by kind of operator, from the framework's own profiler.
    #[serde(default, skip_serializing_if = "is_default")]
    pub profile: bool,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn is_one(value: &u32) -> bool {
    *value == 1
}

fn one() -> u32 {
    1
}

/// What the numbers of a training are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    #[default]
    Float32,
    /// Half-precision products, 32-bit weights: what the framework calls mixed.
    Mixed,
}

/// Who brings the images to the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pipeline {
    /// The cache that all frameworks map: the same bytes in the same order.
    #[default]
    Cache,
    /// The framework's own loader, which shuffles, resizes and normalises by itself.
    Own,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Optimizer {
    Sgd {
        learning_rate: f64,
        momentum: f64,
    },
    Adam {
        learning_rate: f64,
        beta1: f64,
        beta2: f64,
        epsilon: f64,
    },
}

/// Any program of the user's. `{factor}` in arguments and variables stands for the level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommandWorkload {
    pub command: Vec<String>,
    pub env: BTreeMap<String, String>,
    /// Where it is started; relative to the study file.
    pub directory: Option<PathBuf>,
    /// How to read its log, for programs that tell no events.
    pub log: Vec<LogPattern>,
    /// Files that the program consists of, in addition to those named in the command; `*` and `?` stand for
    /// any characters, `**` for any folders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
}

/// A regular expression over one line of the log. Named groups give the fields of the event:
/// `step`, `epoch`, `loss`, `seconds`, `images`, `accuracy`, `phase`, `value`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogPattern {
    pub event: LogEvent,
    pub pattern: String,
    /// The metric's name, for `event = "metric"`.
    pub name: Option<String>,
    pub unit: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogEvent {
    Step,
    Epoch,
    Accuracy,
    Phase,
    Metric,
}

/// Where a run happens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    pub name: String,
    pub price: Option<Shared<Price>>,
    pub limits: Limits,
    /// Overrides the workload's device.
    pub device: Option<String>,
    /// Where requests are answered, for a workload that serves; `None` means a server started here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Service>,
    /// Machines for its workers; `None` means this one for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Hosts>,
    #[serde(default, skip_serializing_if = "Location::is_here")]
    pub location: Location,
    /// What its machine draws, where no counter measures it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<PowerModel>,
    /// Goes before the study's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carbon: Option<CarbonIntensity>,
}

/// What a run may use of its machine; none means all of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Whole or part cores.
    pub cores: Option<f64>,
    pub memory_bytes: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasureSettings {
    pub interval_seconds: f64,
    pub timeout_seconds: Option<f64>,
    /// Time between SIGTERM and SIGKILL.
    pub grace_seconds: f64,
}

/// What columns and names of files of measurements made elsewhere mean: words as typed, which the
/// importer understands.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ImportSettings {
    /// `run`, `request` or `step`.
    pub row: Option<String>,
    /// Columns and the factors whose levels they hold.
    pub factors: Vec<ImportColumn>,
    /// Columns and what they hold: `METRIC:UNIT` or `UNIT`.
    pub metrics: Vec<ImportColumn>,
    /// Levels that all rows have.
    pub levels: BTreeMap<String, Level>,
    /// `{framework}-{image}px-r{repetition}.csv`.
    pub file_pattern: Option<String>,
    pub repetition: Option<String>,
    pub status: Option<String>,
    pub started: Option<String>,
    pub delimiter: Option<char>,
    /// `auto`, `point` or `comma`.
    pub decimal_mark: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportColumn {
    pub column: String,
    pub means: String,
}

/// One combination of levels. Its number is stable: it is the place among the scenarios of the
/// design before exclusions are applied, closed up after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    pub number: u32,
    /// In the order of the study's factors.
    pub levels: Vec<FactorLevel>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactorLevel {
    pub factor: String,
    pub level: Level,
}

impl Scenario {
    pub fn level(&self, factor: &str) -> Option<&Level> {
        self.levels
            .iter()
            .find(|l| l.factor == factor)
            .map(|l| &l.level)
    }

    /// `C3`.
    pub fn label(&self) -> String {
        format!("C{}", self.number)
    }

    /// `rede2 · 64 · 32`: the levels alone, for a line that has no room for names.
    pub fn levels_label(&self) -> String {
        let levels: Vec<String> = self.levels.iter().map(|l| l.level.to_string()).collect();
        levels.join(" · ")
    }
}

/// Scenarios and their runs in the order of carrying out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub scenarios: Vec<Scenario>,
    pub runs: Vec<RunId>,
    /// The seed the order came from.
    pub seed: u64,
}

impl Plan {
    pub fn scenario(&self, number: u32) -> Option<&Scenario> {
        self.scenarios.iter().find(|s| s.number == number)
    }
}
