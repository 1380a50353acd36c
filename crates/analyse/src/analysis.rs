//! Everything a report prints, as plain data. `bancada export --json` writes it as it is, so a
//! field's name is part of the documented schema (docs/results.md).

use std::collections::BTreeMap;

use messages::{message, word};
use model::machine::Inventory;
use model::run::{Epoch, FrameworkRecord, OperatorTime, Prediction, Status};
use model::{
    Bill, EnergySource, Limits, Money, Price, Role, RunId, RunSequence, Shared, Timestamp,
};
use rust_decimal::Decimal;
use serde::Serialize;
use stats::{Estimate, Summary};

use crate::answer::Answer;
use crate::curves::CurvePoint;
use crate::decides::Variation;
use crate::dependence::{Dependences, Successive};
use crate::frameworks::Frameworks;
use crate::growth::GrowthResult;
use crate::lists::unique;
use crate::money::MoneyResult;
use crate::profile::ProfileResult;
use crate::ranking::Best;
use crate::serving::Serving;
use crate::smaller::ScaleFacts;
use crate::speedup::SpeedUp;
use crate::stopping::StoppingFacts;
use crate::sweeps::Sweep;
use crate::timeline::Timeline;
use crate::unused::RunUnused;
use crate::words::format;
use crate::words::names::MetricInfo;

pub const ANALYSIS_SCHEMA: u32 = 1;

#[derive(Debug, Clone, Serialize)]
pub struct Analysis {
    pub schema: u32,
    pub study: StudyFacts,
    pub totals: Totals,
    /// The columns: what every name in `scenarios[].metrics` and `runs[].values` means.
    pub metrics: Vec<MetricInfo>,
    /// The metric that "time" means here: `train_seconds`, `latency_seconds` of a study that
    /// serves, or `total_seconds` where no run told of either.
    pub time_metric: Option<String>,
    pub scenarios: Vec<ScenarioResult>,
    pub runs: Vec<RunRow>,
    /// The study's own metrics first, then time, cost, images per second, memory, accuracy.
    pub variations: Vec<Variation>,
    /// A time along each numeric factor, with what did not fit.
    pub sweeps: Vec<Sweep>,
    /// Of workers, cores and threads, then of devices.
    pub speed_ups: Vec<SpeedUp>,
    /// Laws of the time against numeric factors.
    pub growths: Vec<GrowthResult>,
    /// `None` if only the embedded engine trained, or nothing did.
    pub frameworks: Option<Frameworks>,
    /// Of a study that serves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serving: Option<Serving>,
    pub money: MoneyResult,
    pub best: Best,
    /// What to choose for each task, how sure that is, and what it saves.
    pub answer: Answer,
    /// The result in sentences, the most important first.
    pub findings: Vec<Finding>,
    /// What to do next.
    pub advice: Vec<String>,
    /// Whether successive runs are alike in time; `None` if not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub successive: Option<Successive>,
    /// Of every metric.
    #[serde(skip)]
    pub(crate) dependences: Dependences,
    pub drift: Option<Drift>,
    pub warnings: Vec<WarningGroup>,
    /// Unsuccessful runs.
    pub outcomes: Vec<OutcomeGroup>,
    pub bills: Vec<BillFacts>,
    pub machines: Vec<MachineUse>,
    pub sampler: Option<SamplerCost>,
    /// Of a study that stopped repeating when enough was known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopping: Option<StoppingFacts>,
    /// Of a study whose runs were chosen for a goal: what was tried and what never was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub searched: Vec<String>,
    /// What a reader must know besides: imported runs, metrics that nobody told.
    pub notes: Vec<String>,
    /// Empty unless whoever has the samples puts them here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub timelines: Vec<Timeline>,
}

impl Analysis {
    pub fn metric(&self, name: &str) -> Option<&MetricInfo> {
        self.metrics.iter().find(|m| m.name == name)
    }

    pub fn variation(&self, metric: &str) -> Option<&Variation> {
        self.variations.iter().find(|v| v.metric == metric)
    }

    /// Whether the metric is what "time" means here.
    pub fn is_time(&self, metric: &str) -> bool {
        self.time_metric.as_deref() == Some(metric)
    }

    pub fn time_of<'s>(&self, scenario: &'s ScenarioResult) -> Option<&'s Estimate> {
        scenario.mean(self.time_metric.as_deref()?)
    }

    pub fn scenario(&self, number: u32) -> Option<&ScenarioResult> {
        // Scenarios are in the order of their numbers.
        let found = self.scenarios.binary_search_by_key(&number, |s| s.number);
        found.ok().map(|place| &self.scenarios[place])
    }

    /// What the metric is called in "what decides the …".
    pub fn noun<'v>(&self, variation: &'v Variation) -> &'v str {
        match self.is_time(&variation.metric) {
            true => word!("noun-time"),
            false => &variation.label,
        }
    }

    /// Names of the environments runs happened in, in the order of the scenarios.
    pub fn environments(&self) -> Vec<&str> {
        unique(self.scenarios.iter().map(|s| s.environment.as_str()))
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct StudyFacts {
    pub name: String,
    pub objective: Option<String>,
    pub repetitions: u32,
    pub seed: u64,
    pub order: RunSequence,
    pub budget: Option<Money>,
    /// The code of the currency that costs are said in.
    pub currency: String,
    pub factors: Vec<FactorFacts>,
    /// `training rede1 for 2 epochs, batch 64`: a sentence without its point.
    pub workload: String,
    /// Every result comes from a file, or there is nothing to run.
    pub import_only: bool,
    /// Of `bancada run`, as far as the results show them: `--predict`, `--only image=64`.
    #[serde(skip)]
    pub run_options: Vec<String>,
    pub environments: Vec<EnvironmentFacts>,
    pub interval_seconds: f64,
    pub timeout_seconds: Option<f64>,
    pub excluded_rules: usize,
    /// Metrics the study asks to see first, as far as runs told them.
    pub metrics: Vec<String>,
    /// Of every interval: 0.95.
    pub confidence: f64,
    /// Set where the study was run smaller than it is written.
    pub scale: Option<ScaleFacts>,
    /// Set where bills are not those that were frozen with the runs: a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repriced: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct FactorFacts {
    pub name: String,
    pub role: Role,
    pub levels: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct EnvironmentFacts {
    pub name: String,
    pub limits: Limits,
    pub device: Option<String>,
    pub price: Option<Shared<Price>>,
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct Totals {
    pub scenarios: usize,
    pub planned: usize,
    pub runs: StatusCounts,
    /// Planned runs of which nothing is kept; none where there is nothing to run.
    pub missing: usize,
    /// Sum of all runs, however they ended.
    pub seconds: f64,
    /// From the first start to the last end.
    pub span_seconds: Option<f64>,
    pub first_started: Option<Timestamp>,
    pub last_ended: Option<Timestamp>,
    /// Per environment, and per currency where a rate was missing.
    pub spent: Vec<Spent>,
    /// Of all results, wherever they were measured, one entry a currency.
    pub cost_total: Vec<Money>,
    /// What a budget counts, in the study's currency: runs measured for this study, and attempts
    /// that were re-run. `None` if nothing of that was billed.
    pub spent_total: Option<Money>,
    /// The part of it for re-run attempts, unless zero.
    pub spent_again: Option<Money>,
    /// Runs whose expected lost attempts were too many to count. The sums of money are lower bounds
    /// where there are any.
    pub capped_losses: usize,
    pub imported: usize,
    /// Of which only the beginning was carried out.
    pub predicted: usize,
}

impl Totals {
    /// Beside a sum of money: `at least`, where losses were capped.
    pub fn bound(&self) -> String {
        match self.capped_losses {
            0 => String::new(),
            _ => format!("{} ", word!("totals-at-least")),
        }
    }

    /// Why a sum is a lower bound, where it is.
    pub fn bound_reason(&self) -> Option<String> {
        match self.capped_losses {
            0 => None,
            runs => Some(message!("totals-capped", runs)),
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct Spent {
    pub environment: String,
    pub runs: usize,
    pub seconds: f64,
    pub money: Money,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct StatusCounts {
    pub ok: usize,
    pub failed: usize,
    pub out_of_memory: usize,
    pub timed_out: usize,
    pub interrupted: usize,
    /// However they ended: a limit of their environment was not met, so that they measured
    /// something else.
    pub not_measurable: usize,
}

impl StatusCounts {
    /// `None` means a run that measured something else than its scenario.
    pub fn add(&mut self, status: Option<Status>) {
        *match status {
            Some(Status::Ok) => &mut self.ok,
            Some(Status::Failed) => &mut self.failed,
            Some(Status::OutOfMemory) => &mut self.out_of_memory,
            Some(Status::TimedOut) => &mut self.timed_out,
            Some(Status::Interrupted) => &mut self.interrupted,
            None => &mut self.not_measurable,
        } += 1;
    }

    fn all(&self) -> [(usize, &'static str); 6] {
        [
            (self.ok, Status::Ok.word()),
            (self.failed, Status::Failed.word()),
            (self.out_of_memory, Status::OutOfMemory.word()),
            (self.timed_out, Status::TimedOut.word()),
            (self.interrupted, Status::Interrupted.word()),
            (self.not_measurable, "not-measurable"),
        ]
    }

    pub fn total(&self) -> usize {
        self.all().iter().map(|(runs, _)| runs).sum()
    }

    /// `22 ok, 2 out-of-memory`; what is zero is left out.
    pub fn text(&self) -> String {
        let there = self.all().into_iter().filter(|(runs, _)| *runs > 0);
        let parts: Vec<String> = there
            .map(|(runs, status)| {
                let status = messages::named("status", status).unwrap_or(status);
                format!("{} {status}", format::count(runs))
            })
            .collect();
        match parts.is_empty() {
            true => word!("status-none").to_owned(),
            false => parts.join(", "),
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct ScenarioResult {
    pub number: u32,
    /// `C3`.
    pub label: String,
    pub levels: Vec<LevelFacts>,
    pub environment: String,
    pub planned: usize,
    pub runs: StatusCounts,
    pub warned_runs: usize,
    /// By name, over the successful runs.
    pub metrics: BTreeMap<String, Summary>,
    pub cost: Option<CostResult>,
    pub phases: Vec<PhaseMean>,
    pub curve: Vec<CurvePoint>,
    /// Time by operator; `None` if no run was profiled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileResult>,
    /// Repetitions that would bring the interval of the time to ±5 %, when it is wider.
    pub repetitions_for_five_percent: Option<usize>,
}

impl ScenarioResult {
    /// `rede2 · 64 px · batch 32`.
    pub fn phrase(&self) -> String {
        LevelFacts::phrase_of(&self.levels)
    }

    pub fn level(&self, factor: &str) -> Option<&LevelFacts> {
        self.levels.iter().find(|level| level.factor == factor)
    }

    pub fn mean(&self, metric: &str) -> Option<&Estimate> {
        self.metrics.get(metric).map(|summary| &summary.mean)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LevelFacts {
    pub factor: String,
    pub level: String,
    /// As it is said inside a sentence: `64 px`.
    pub phrase: String,
}

impl LevelFacts {
    /// `rede2 · 64 px`; empty for none.
    pub fn phrase_of<'a>(levels: impl IntoIterator<Item = &'a LevelFacts>) -> String {
        let phrases: Vec<&str> = levels.into_iter().map(|l| l.phrase.as_str()).collect();
        phrases.join(" · ")
    }

    /// As a number, where it is one.
    pub fn number(&self) -> Option<f64> {
        self.level.parse().ok().filter(|n: &f64| n.is_finite())
    }
}

/// Money is exact; the estimate is next to it for its interval.
#[derive(Debug, Clone, Serialize)]
pub struct CostResult {
    pub mean: Money,
    pub total: Money,
    pub per_epoch: Option<Money>,
    pub per_thousand_images: Option<Money>,
    pub per_thousand_steps: Option<Money>,
    pub estimate: Estimate,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PhaseMean {
    pub phase: String,
    pub seconds: f64,
}

#[derive(Debug, Clone, Serialize)]
pub struct RunRow {
    pub run: RunId,
    pub scenario: u32,
    pub repetition: u32,
    pub status: Status,
    /// Why nothing is concluded from it: a limit of its environment that was not met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excluded: Option<String>,
    pub imported: bool,
    /// What it was predicted from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prediction: Option<Prediction>,
    pub environment: String,
    /// `None` if nobody told it.
    pub started: Option<Timestamp>,
    pub cost: Option<Money>,
    /// As in `run.json`, or billed anew where other prices are requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Shared<Price>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bill: Option<Shared<Bill>>,
    /// Parts of the cost that were paid and not used, or not for the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unused: Option<RunUnused>,
    /// `None` without an energy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy_source: Option<EnergySource>,
    pub warnings: usize,
    /// The day or the repetition of everything that it belongs to, where the study has blocks.
    #[serde(skip)]
    pub(crate) block: Option<usize>,
    /// In the order of `Analysis::metrics`.
    pub values: Vec<Option<f64>>,
    /// What each of them was rounded to; zero where it was not.
    #[serde(skip)]
    pub steps: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub framework: Option<FrameworkRecord>,
    /// As in `run.json`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub epochs: Vec<Epoch>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub profile: Vec<OperatorTime>,
}

impl RunRow {
    /// Whether anything is concluded from it.
    pub(crate) fn is_ok(&self) -> bool {
        self.status == Status::Ok && self.excluded.is_none()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub topic: Topic,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topic {
    Time,
    Cost,
    Metric,
    SpeedUp,
    Growth,
    Serving,
    Best,
    Caution,
}

impl Topic {
    pub(crate) fn finding(self, text: String) -> Finding {
        Finding { topic: self, text }
    }
}

/// Whether the machine changed while the study ran.
#[derive(Debug, Clone, Serialize)]
pub struct Drift {
    pub metric: String,
    /// From the first run to the last, as a fraction of the value.
    pub change: f64,
    pub p: f64,
    /// Whether whole repetitions differ from each other.
    pub repetition_p: Option<f64>,
    pub seen: bool,
    pub sentence: String,
}

/// Warnings of one kind.
#[derive(Debug, Clone, Serialize)]
pub struct WarningGroup {
    pub kind: String,
    /// `C6-r1 got 1.4 of 2 cores …`, or of how many runs, and whether they count.
    pub text: String,
    pub runs: Vec<WarnedRun>,
}

#[derive(Debug, Clone, Serialize)]
pub struct WarnedRun {
    pub run: RunId,
    pub text: String,
}

/// Runs of one scenario that ended alike, and not as ok.
#[derive(Debug, Clone, Serialize)]
pub struct OutcomeGroup {
    pub scenario: u32,
    pub phrase: String,
    pub status: Status,
    pub runs: Vec<RunId>,
    /// Of the first of the runs, with the end of its log.
    pub detail: Option<String>,
    /// The same in a line.
    pub cause: Option<String>,
}

/// One price of one environment, with one run's bill to follow the arithmetic by.
#[derive(Debug, Clone, Serialize)]
pub struct BillFacts {
    pub environment: String,
    pub price: Shared<Price>,
    pub runs: usize,
    pub rented: Rented,
    pub example_run: RunId,
    pub example: Shared<Bill>,
}

/// What was paid for at one price: machines, and their time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rented {
    /// Machines that were rented one after the other; runs with a machine of their own are one each.
    pub rentals: usize,
    /// Time on the bills, rounded up.
    pub seconds: Decimal,
    pub idle_seconds: Decimal,
    pub rounding_seconds: Decimal,
    pub minimum_seconds: Decimal,
    /// In the currency of the price.
    pub total: Money,
}

#[derive(Debug, Clone, Serialize)]
pub struct MachineUse {
    pub machine: Inventory,
    pub environments: Vec<String>,
    /// How limits were enforced there.
    pub limits_by: Vec<String>,
    pub runs: usize,
}

/// What watching cost.
#[derive(Debug, Clone, Serialize)]
pub struct SamplerCost {
    pub cpu_seconds: f64,
    /// Of the time of one core.
    pub share: f64,
}
