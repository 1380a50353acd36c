//! Runs → results: estimates per scenario, what explains the variation, with intervals and tests, in
//! numbers and in sentences. Pure: no I/O, no clock; the statistics come from the `stats` crate.

mod along;
mod analysis;
mod answer;
mod assumptions;
mod breakeven;
mod candidates;
mod compare;
mod continued;
mod curves;
mod decides;
mod dependence;
mod design;
mod drift;
mod effects;
mod energy;
mod facts;
mod failures;
mod findings;
mod follows;
mod frameworks;
mod growth;
mod in_time;
mod inputs;
mod levels;
pub mod lists;
mod money;
mod options;
mod pareto;
mod percentiles;
mod predicted;
mod prices;
mod profile;
mod provisioning;
mod ranking;
mod recommend;
mod residuals;
mod rounded;
mod scale;
mod scenarios;
mod searched;
mod sequence;
mod serving;
mod smaller;
mod speedup;
mod stopping;
mod sweeps;
mod table;
mod target;
mod tasks;
mod terms;
mod timeline;
mod unused;
mod variation;
mod warnings;
mod words;

use model::run::metric;
use model::{Plan, RunRecord, Searched, Study};

pub use analysis::{
    ANALYSIS_SCHEMA, Analysis, BillFacts, CostResult, Drift, EnvironmentFacts, FactorFacts,
    Finding, LevelFacts, MachineUse, OutcomeGroup, PhaseMean, Rented, RunRow, SamplerCost,
    ScenarioResult, Spent, StatusCounts, StudyFacts, Topic, Totals, WarnedRun, WarningGroup,
};
pub use answer::{Against, Answer, Goal, Pick, Recommendation, Saving, TaskAnswer};
pub use breakeven::{Basis, BreakEvens, BuyOrRent, Buying, CostVerdict, ExpensiveMachine};
pub use candidates::Candidate;
pub use compare::{CompareRequest, Compared, ComparedScenario, Side, compare};
pub use continued::{PredictedMoment, PredictedTarget, refusal as refusal_of_forecast};
pub use curves::CurvePoint;
pub use decides::{Comparison, FirstChoice, LevelEffect, Noise, Variation, VariationTerm, Verdict};
pub use dependence::Successive;
pub use failures::Outcomes;
pub use frameworks::{CheckState, FrameworkCheck, FrameworkResult, Frameworks};
pub use growth::{CheapestLevel, GrowthLaw, GrowthLine, GrowthPoint, GrowthResult, LevelChance};
pub use money::MoneyResult;
pub use pareto::{Dominated, Reason};
pub use predict::growth::{MOST_EXTRAPOLATION, Predicted};
pub use predicted::spread_of_predictions;
pub use profile::{KindTime, MOST_OPERATORS, OPERATOR_KINDS, OperatorMean, ProfileResult};
pub use provisioning::{Fit, Provisioning};
pub use ranking::{Behind, Best, Ranking, TaskBest, Unranked};
pub use recommend::{Wishes, recommend};
pub use serving::{BreakEven, ColdStart, ServedBy, ServedScenario, Serving};
pub use smaller::ScaleFacts;
pub use speedup::{SpeedUp, SpeedUpKind, SpeedUpLine, SpeedUpPoint};
pub use stats::{Estimate, Scale, Summary};
pub use stopping::{StoppedScenario, StoppingFacts};
pub use sweeps::{CellState, Sweep, SweepCell, SweepLevel, SweepLine};
pub use target::{Target, TargetResult};
pub use timeline::{Timeline, UsePoint, use_over_time};
pub use unused::{PhaseCost, RunUnused, Unused};
pub use words::billing::{billing_words, unit_words};
pub use words::energy::{gram_unit, joule_unit};
pub use words::format;
pub use words::growth::{name as law_name, refused as refusal_of_law};
pub use words::names::{MetricInfo, metric_info, metric_value, phase_words};

use dependence::Dependences;
use levels::{Asked, Levels};
use table::Table;
use variation::Wanted;

/// Of every interval that stands by itself.
pub const CONFIDENCE: f64 = 0.95;
/// Probability that any statement of which scenarios are the fastest and the cheapest is false.
pub(crate) use predict::sequential::RANKING_LEVEL;

pub struct Input<'a> {
    pub study: &'a Study,
    pub plan: &'a Plan,
    pub records: &'a [RunRecord],
    /// Attempts that were re-run: paid for, but no results.
    pub superseded: &'a [RunRecord],
    /// Of a study whose runs were chosen for a goal.
    pub searched: Option<&'a Searched>,
    /// Where bills are not those that were frozen with the runs: how they came about.
    pub repriced: Option<&'a str>,
}

pub fn analyse(input: &Input) -> Analysis {
    let table = Table::new(input.study, input.records);
    let time = table.time_column();
    let scenarios = scenarios::scenarios(&table, input.plan);
    let wanted = wanted(&table, time);
    let asked = wanted.iter().filter(|one| one.is_asked).count();
    let levels = Levels::of(&table, Asked::of(&table, &scenarios, asked));
    let serving = serving::serving(&table, &scenarios, &levels);
    let variations = variations(&table, time, &wanted, &levels);
    let stopping = stopping::stopping(&table, input.plan, time);
    let successive = time.and_then(|column| table.dependences.of_time(&table, column, &scenarios));
    let mut analysis = Analysis {
        schema: ANALYSIS_SCHEMA,
        study: facts::study_facts(&table, input.plan, input.repriced),
        totals: facts::totals(&table, input, stopping.as_ref()),
        time_metric: time.map(|column| table.columns[column].name.clone()),
        best: ranking::best(&table, &scenarios, serving.as_ref(), &levels),
        sweeps: sweeps::sweeps(&table, &scenarios),
        speed_ups: speedup::speed_ups(&table, &scenarios),
        growths: growth::growths(&table, &scenarios, &variations),
        frameworks: frameworks::frameworks(&table, &scenarios),
        money: money::money(&table, &scenarios, input.superseded, &levels),
        serving,
        stopping,
        searched: searched::sentences(&table, input),
        scenarios,
        runs: Vec::new(),
        variations,
        findings: Vec::new(),
        advice: Vec::new(),
        successive,
        dependences: Dependences::default(),
        drift: time.and_then(|column| drift::drift(&table, column, levels.drift)),
        warnings: warnings::warnings(&table),
        outcomes: facts::outcomes(&table),
        bills: prices::bills(&table),
        machines: facts::machines(&table),
        sampler: facts::sampler(&table),
        notes: facts::notes(&table),
        timelines: Vec::new(),
        answer: Answer::default(),
        metrics: table.columns.clone(),
    };
    keep_speed_ups_that_are_known(&mut analysis);
    analysis.notes.extend(analysis.best.left_out.clone());
    analysis.notes.extend(residuals::medians(&analysis));
    analysis.notes.extend(unchecked(&analysis));
    analysis
        .notes
        .extend(time.and_then(|column| rounded::note(&table, column)));
    analysis.answer = answer::answer(&table, &analysis);
    let blocks = candidates::block_of_each(&table).map(|blocks| blocks.of);
    analysis.dependences = table.dependences;
    analysis.runs = scenarios::run_rows(table.runs, blocks.as_deref());
    analysis.findings = findings::findings(&analysis);
    analysis.advice = findings::advice(&analysis);
    analysis
}

/// By how much more cores are faster is said, wherever it is, where they were found to be.
fn keep_speed_ups_that_are_known(analysis: &mut Analysis) {
    let speed_ups = analysis.speed_ups.iter();
    let known = speed_ups.map(|one| findings::is_different(analysis, &one.factor));
    let known: Vec<bool> = known.collect();
    for (speed_up, _) in analysis
        .speed_ups
        .iter_mut()
        .zip(known)
        .filter(|(_, known)| !known)
    {
        speed_up.sentences.clear();
    }
}

/// The metrics that the study asks for, time, and cost where machines have different prices, are tested; others that
/// readers usually want are described.
fn wanted(table: &Table, time: Option<usize>) -> Vec<Wanted> {
    // What a run that serves costs is decided by how long its load was; an answer's cost is not.
    let cost = match table.column(metric::COST_PER_INFERENCE) {
        Some(_) => metric::COST_PER_INFERENCE,
        None => metric::COST,
    };
    let has_value = |column: &usize| table.has_ok_value(*column) && table.is_comparable(*column);
    let mut asked: Vec<usize> = table.asked().chain(time).collect();
    if table.has_several_prices() {
        asked.extend(table.column(cost));
    }
    if asked.is_empty() {
        // What only this workload reports is what it is about.
        let own = |column: &usize| metric::definition(&table.columns[*column].name).is_none();
        asked.extend((0..table.columns.len()).filter(own));
    }
    let asked: Vec<usize> = lists::unique(asked).into_iter().filter(has_value).collect();
    let first = asked.first().copied();
    let usual = [
        cost,
        metric::IMAGES_PER_SECOND,
        metric::PEAK_MEMORY_BYTES,
        metric::ACCURACY,
    ];
    let described = usual.iter().filter_map(|name| table.column(name));
    let described = described.filter(|column| has_value(column) && !asked.contains(column));
    let wanted = |is_asked: bool| {
        move |column| Wanted {
            column,
            is_asked,
            is_first: Some(column) == time || (time.is_none() && Some(column) == first),
        }
    };
    let described: Vec<usize> = described.collect();
    let described = described.into_iter().map(wanted(false));
    asked
        .iter()
        .copied()
        .map(wanted(true))
        .chain(described)
        .collect()
}

fn variations(
    table: &Table,
    time: Option<usize>,
    wanted: &[Wanted],
    levels: &Levels,
) -> Vec<Variation> {
    let mut variations = variation::variations(table, wanted, levels.effects);
    if let Some(time) = time {
        follows::mark_those_like_time(&mut variations, &table.columns[time].name);
    }
    variations
}

/// That nobody can know whether intervals hold.
fn unchecked(analysis: &Analysis) -> Option<String> {
    let successive = analysis.successive.as_ref()?;
    let is_unknown = successive.correlation.is_none();
    is_unknown.then(|| successive.sentence.clone())
}
