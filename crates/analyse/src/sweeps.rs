//! A metric along a numeric factor: seconds per image against batch, and where it does not fit.

use messages::word;
use model::run::metric;
use serde::Serialize;

use crate::along::Along;
use crate::analysis::{LevelFacts, ScenarioResult};
use crate::table::Table;

/// All scenarios arranged along one numeric factor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sweep {
    pub factor: String,
    /// What is to be read along it: `seconds_per_image`, or the time where nobody told of images.
    pub metric: String,
    /// From the smallest up.
    pub levels: Vec<SweepLevel>,
    /// One for each combination of the other factors.
    pub lines: Vec<SweepLine>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepLevel {
    pub level: String,
    pub value: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepLine {
    /// Of the other factors that vary.
    pub levels: Vec<LevelFacts>,
    /// `rede2 · 64 px`; empty where nothing else varies.
    pub phrase: String,
    /// In the order of the levels.
    pub cells: Vec<SweepCell>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepCell {
    /// `None` if the study leaves the combination out.
    pub scenario: Option<u32>,
    pub state: CellState,
}

/// What became of a combination. That it does not fit is a result like any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellState {
    /// At least one run ended as ok.
    Measured,
    OutOfMemory,
    TimedOut,
    Failed,
    Interrupted,
    /// A limit was not met: something else was measured.
    NotMeasurable,
    NotRun,
    LeftOut,
}

impl CellState {
    pub fn words(self) -> &'static str {
        match self {
            CellState::Measured => word!("cell-measured"),
            CellState::OutOfMemory => word!("cell-out-of-memory"),
            CellState::TimedOut => word!("cell-timed-out"),
            CellState::Failed => word!("cell-failed"),
            CellState::Interrupted => word!("cell-interrupted"),
            CellState::NotMeasurable => word!("cell-not-measurable"),
            CellState::NotRun => word!("cell-not-run"),
            CellState::LeftOut => word!("cell-excluded"),
        }
    }

    fn of(scenario: &ScenarioResult) -> Self {
        let runs = &scenario.runs;
        match () {
            () if runs.ok > 0 => CellState::Measured,
            () if runs.out_of_memory > 0 => CellState::OutOfMemory,
            () if runs.timed_out > 0 => CellState::TimedOut,
            () if runs.failed > 0 => CellState::Failed,
            () if runs.interrupted > 0 => CellState::Interrupted,
            () if runs.not_measurable > 0 => CellState::NotMeasurable,
            () => CellState::NotRun,
        }
    }
}

/// The factor with the most levels first. Two levels are a pair of bars, not a curve, except for
/// the batch, whose curve is what people look for.
pub(crate) fn sweeps(table: &Table, scenarios: &[ScenarioResult]) -> Vec<Sweep> {
    let Some(time) = metric_of(table, scenarios) else {
        return Vec::new();
    };
    let per_image = time == metric::SECONDS_PER_IMAGE;
    let names = table.study.factors.iter().map(|f| f.name.as_str());
    let mut sweeps: Vec<Sweep> = names
        .filter(|name| !(per_image && NOT_PER_IMAGE.contains(name)))
        .filter_map(|name| sweep(scenarios, name, &time))
        .collect();
    sweeps.sort_by_key(|s| std::cmp::Reverse(s.levels.len()));
    let costs = scenarios.iter().any(|s| s.mean(metric::COST).is_some());
    let with_cost = |time: Sweep| {
        let cost = (costs && PAID_FOR.contains(&time.factor.as_str())).then(|| Sweep {
            metric: metric::COST.to_owned(),
            ..time.clone()
        });
        [Some(time), cost].into_iter().flatten()
    };
    sweeps.into_iter().flat_map(with_cost).collect()
}

/// More of these costs more by the hour and less in hours: which is cheapest is the question.
const PAID_FOR: [&str; 3] = ["cores", "workers", "threads"];

/// More of these is more work, not another time per image.
const NOT_PER_IMAGE: [&str; 4] = ["epochs", "images", "held_out", "seed"];

fn metric_of(table: &Table, scenarios: &[ScenarioResult]) -> Option<String> {
    let told = |name: &str| scenarios.iter().any(|s| s.mean(name).is_some());
    if told(metric::SECONDS_PER_IMAGE) {
        return Some(metric::SECONDS_PER_IMAGE.to_owned());
    }
    table.time_column().map(|c| table.columns[c].name.clone())
}

fn sweep(scenarios: &[ScenarioResult], factor: &str, metric: &str) -> Option<Sweep> {
    let along = Along::new(scenarios, factor);
    let least = if factor == "batch" { 2 } else { 3 };
    if along.levels.len() < least || !along.is_numeric() {
        return None;
    }
    let cell = |scenario: &Option<&ScenarioResult>| SweepCell {
        scenario: scenario.map(|s| s.number),
        state: scenario.map_or(CellState::LeftOut, CellState::of),
    };
    Some(Sweep {
        factor: factor.to_owned(),
        metric: metric.to_owned(),
        levels: along
            .levels
            .iter()
            .map(|l| SweepLevel {
                level: l.level.clone(),
                value: l.number().unwrap_or(f64::NAN),
            })
            .collect(),
        lines: along
            .lines
            .iter()
            .map(|line| SweepLine {
                levels: line.owned_levels(),
                phrase: line.phrase(),
                cells: line.cells.iter().map(cell).collect(),
            })
            .collect(),
    })
}
