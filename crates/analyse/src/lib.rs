//! Runs → results: estimates per scenario, what explains the variation, with intervals and tests, in
//! numbers and in sentences. Pure: no I/O, no clock; the statistics come from the `stats` crate.

mod along;
mod analysis;
mod best;
mod breakeven;
mod curves;
mod decides;
mod design;
mod drift;
mod effects;
mod facts;
mod findings;
mod frameworks;
mod inputs;
mod money;
mod prices;
mod profile;
mod provisioning;
mod scenarios;
mod serving;
mod smaller;
mod speedup;
mod sweeps;
mod table;
mod target;
mod timeline;
mod unused;
mod variation;
mod warnings;
mod words;

use model::run::metric;
use model::{Plan, RunRecord, Study};

pub use analysis::{
    ANALYSIS_SCHEMA, Analysis, Best, BillFacts, CostResult, Drift, EnvironmentFacts, FactorFacts,
    Finding, LevelFacts, MachineUse, OutcomeGroup, PhaseMean, Rented, RunRow, SamplerCost,
    ScenarioResult, Spent, StatusCounts, StudyFacts, Topic, Totals, WarnedRun, WarningGroup,
};
pub use breakeven::{Basis, BreakEvens, BuyOrRent, Buying, Dearer, DearerMachine};
pub use curves::CurvePoint;
pub use decides::{Comparison, LevelEffect, Noise, Scale, Variation, VariationTerm, Verdict};
pub use frameworks::{CheckState, FrameworkCheck, FrameworkResult, Frameworks};
pub use money::MoneyResult;
pub use profile::{KindTime, MOST_OPERATORS, OPERATOR_KINDS, OperatorMean, ProfileResult};
pub use provisioning::{Fit, Provisioning};
pub use serving::{BreakEven, ColdStart, Place, ServedScenario, Serving};
pub use smaller::ScaleFacts;
pub use speedup::{SpeedUp, SpeedUpKind, SpeedUpLine, SpeedUpPoint};
pub use stats::Estimate;
pub use sweeps::{CellState, Sweep, SweepCell, SweepLevel, SweepLine};
pub use target::{Target, TargetResult};
pub use timeline::{Timeline, UsePoint, use_over_time};
pub use unused::{PhaseCost, RunUnused, Unused};
pub use words::billing::billing_words;
pub use words::format;
pub use words::names::{MetricInfo, metric_info, metric_value};

use table::Table;

/// Of every interval.
pub const CONFIDENCE: f64 = 0.95;

pub struct Input<'a> {
    pub study: &'a Study,
    pub plan: &'a Plan,
    pub records: &'a [RunRecord],
    /// Attempts that were re-run: paid for, but no results.
    pub superseded: &'a [RunRecord],
    /// Where bills are not those that were frozen with the runs: how they came about.
    pub repriced: Option<&'a str>,
}

pub fn analyse(input: &Input) -> Analysis {
    let table = Table::new(input.study, input.records);
    let time = table.time_column();
    let scenarios = scenarios::scenarios(&table, input.plan, CONFIDENCE);
    let serving = serving::serving(&table, &scenarios, CONFIDENCE);
    let mut analysis = Analysis {
        schema: ANALYSIS_SCHEMA,
        study: facts::study_facts(&table, input.repriced, CONFIDENCE),
        totals: facts::totals(&table, input.plan, input.superseded),
        time_metric: time.map(|column| table.columns[column].name.clone()),
        best: best::best(
            &scenarios,
            time.map(|column| &table.columns[column]),
            serving.as_ref(),
        ),
        sweeps: sweeps::sweeps(&table, &scenarios),
        speed_ups: speedup::speed_ups(&table, &scenarios, CONFIDENCE),
        frameworks: frameworks::frameworks(&table, &scenarios),
        money: money::money(&table, &scenarios, input.superseded, CONFIDENCE),
        serving,
        scenarios,
        runs: Vec::new(),
        variations: variations(&table, time),
        findings: Vec::new(),
        advice: Vec::new(),
        drift: time.and_then(|column| drift::drift(&table, column, CONFIDENCE)),
        warnings: warnings::warnings(&table),
        outcomes: facts::outcomes(&table),
        bills: prices::bills(&table),
        machines: facts::machines(&table),
        sampler: facts::sampler(&table),
        notes: facts::notes(&table),
        timelines: Vec::new(),
        metrics: table.columns,
    };
    analysis.runs = scenarios::run_rows(table.runs);
    analysis.findings = findings::findings(&analysis);
    analysis.advice = findings::advice(&analysis);
    analysis
}

fn variations(table: &Table, time: Option<usize>) -> Vec<Variation> {
    // What a run that serves costs is decided by how long its load was; an answer's cost is not.
    let cost = match table.column(metric::COST_PER_INFERENCE) {
        Some(_) => metric::COST_PER_INFERENCE,
        None => metric::COST,
    };
    let usual = [
        cost,
        metric::IMAGES_PER_SECOND,
        metric::PEAK_MEMORY_BYTES,
        metric::ACCURACY,
    ];
    let mut columns: Vec<usize> = table.asked().collect();
    columns.extend(time);
    columns.extend(usual.iter().filter_map(|name| table.column(name)));
    let mut seen = Vec::new();
    columns.retain(|column| {
        let new = !seen.contains(column);
        seen.push(*column);
        new && table
            .runs
            .iter()
            .any(|row| row.is_ok() && row.values[*column].is_some())
    });
    let one = |column: usize| variation::variation(table, column, CONFIDENCE);
    let mut variations: Vec<Variation> = columns.into_iter().map(one).collect();
    if let Some(time) = time {
        variation::mark_those_like_time(&mut variations, &table.columns[time].name);
    }
    variations
}
