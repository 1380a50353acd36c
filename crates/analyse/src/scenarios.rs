//! Results of each scenario, over its repetitions.

use std::collections::BTreeMap;

use model::run::{metric, phase};
use model::{LineKind, Money, Plan, RunId, RunRecord, Scenario, Study};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use stats::{Estimate, Summary};

use crate::analysis::{CostResult, LevelFacts, PhaseMean, RunRow, ScenarioResult, StatusCounts};
use crate::lists::entry;
use crate::table::{self, Row, Table};
use crate::words::names::level_phrase;
use crate::{CONFIDENCE, curves, energy, percentiles, profile, unused};

/// The half-width of an interval, relative to its value, that is requested.
pub(crate) const WANTED_PRECISION: f64 = 0.05;

pub(crate) fn scenarios(table: &Table, plan: &Plan) -> Vec<ScenarioResult> {
    let mut planned: BTreeMap<u32, usize> = BTreeMap::new();
    for run in &plan.runs {
        *planned.entry(run.scenario).or_default() += 1;
    }
    let mut known: BTreeMap<u32, &Scenario> =
        plan.scenarios.iter().map(|s| (s.number, s)).collect();
    for row in &table.runs {
        known.insert(row.record.run.scenario, &row.record.scenario);
    }
    let time = table.time_column().map(|c| &table.columns[c].name);
    let one = |(number, scenario): (u32, &Scenario)| {
        let rows = rows_of(table, number);
        let mut runs = StatusCounts::default();
        rows.iter().for_each(|row| runs.add(row.status()));
        let ok = ok_rows(table, number);
        let metrics = summaries(table, &ok);
        let time = time.and_then(|name| metrics.get(name));
        let warned = rows.iter().filter(|row| !row.record.warnings.is_empty());
        ScenarioResult {
            number,
            label: format!("C{number}"),
            levels: level_facts(table.study, scenario),
            environment: environment_of(table.study, scenario, rows),
            planned: planned.get(&number).copied().unwrap_or(0),
            runs,
            warned_runs: warned.count(),
            repetitions_for_five_percent: time
                .and_then(|time| more_repetitions(time, table.confidence())),
            cost: cost(table, &ok, metrics.get(metric::COST)),
            phases: phases(&ok),
            curve: curves::curve(rows),
            profile: profile::profile(&ok),
            metrics,
        }
    };
    known.into_iter().map(one).collect()
}

/// Rows are sorted by run, so those of a scenario stand together.
pub(crate) fn rows_of<'t, 'a>(table: &'t Table<'a>, number: u32) -> &'t [Row<'a>] {
    let begin = table.runs.partition_point(|row| {
        row.record.run
            < RunId {
                scenario: number,
                repetition: 0,
            }
    });
    let length = table.runs[begin..].partition_point(|row| row.record.run.scenario == number);
    &table.runs[begin..begin + length]
}

pub(crate) fn ok_rows<'t, 'a>(table: &'t Table<'a>, number: u32) -> Vec<&'t Row<'a>> {
    let rows = rows_of(table, number).iter();
    rows.filter(|row| row.is_ok()).collect()
}

fn summaries(table: &Table, ok: &[&Row]) -> BTreeMap<String, Summary> {
    let columns = table.columns.iter().enumerate();
    // A mean over measured and modelled runs is neither.
    let is_mixed = energy::sources(ok.iter().copied()).len() > 1;
    let columns = columns.filter(|(_, column)| !(is_mixed && energy::is_energy(&column.name)));
    let summaries = columns.filter_map(|(place, column)| {
        let mut summary = table.dependences.summary(ok, place, table.confidence())?;
        if column.name == metric::COST {
            widen_for_steps(&mut summary.mean, ok, table.confidence());
        }
        corrected(&mut summary.mean, table);
        if percentiles::too_few(&column.name, ok.iter().copied()).is_some() {
            summary.mean.interval = None;
            summary.mean.method = "mean of percentiles of too few requests".to_owned();
        }
        Some((column.name.clone(), summary))
    });
    summaries.collect()
}

/// Where every run is billed by itself in steps, a few runs may all be billed alike although the next one is not: the
/// interval then follows from that of their times.
fn widen_for_steps(mean: &mut Estimate, ok: &[&Row], confidence: f64) {
    let Some((found, per_second)) = billed_in_steps(ok, confidence) else {
        return;
    };
    if let (Some(own), Some(steps)) = (&mut mean.interval, found.interval) {
        own.low = own
            .low
            .min(mean.value + per_second * (steps.low - found.value));
        own.high = own
            .high
            .max(mean.value + per_second * (steps.high - found.value));
        mean.method = "mean, interval from the times through the steps of the bills".to_owned();
    }
}

/// Mean of the seconds that were billed, and what one of them cost.
fn billed_in_steps(ok: &[&Row], confidence: f64) -> Option<(Estimate, f64)> {
    let price = ok.first()?.record.price.as_deref()?;
    let rule = &price.billing;
    let is_alike = |row: &&Row| row.record.price.as_deref() == Some(price);
    if rule.is_shared() || rule.step_seconds == 0 || !ok.iter().all(is_alike) {
        return None;
    }
    let paid = |row: &&Row| {
        let lines = row.record.bill.as_ref()?.lines.iter();
        let times = lines.filter(|line| line.kind == LineKind::Time);
        times.map(|line| line.seconds).sum::<Decimal>().to_f64()
    };
    let seconds: Vec<f64> = ok.iter().map(paid).collect::<Option<_>>()?;
    let steps = stats::Steps {
        step: rule.step_seconds.into(),
        minimum: rule.minimum_seconds.into(),
    };
    let found = stats::billed_mean(&seconds, steps, confidence)?;
    let amounts = ok.iter().map(|row| row.cost?.amount.to_f64());
    let amounts: Vec<f64> = amounts.collect::<Option<_>>()?;
    let per_second = stats::precise::mean(&amounts) / found.value;
    per_second.is_finite().then_some((found, per_second))
}

/// Computed at a higher confidence, so that it holds at the usual one.
fn corrected(mean: &mut Estimate, table: &Table) {
    let looks = table.study.looks();
    if looks > 1 {
        mean.confidence = CONFIDENCE;
        mean.method += &format!(", corrected for {looks} looks");
    }
}

fn more_repetitions(time: &Summary, confidence: f64) -> Option<usize> {
    let margin = time.mean.relative_margin()?;
    let known = stats::Spread {
        mean: time.mean.value,
        sd: time.sd,
        count: time.count,
    };
    let needed = stats::repetitions_for(WANTED_PRECISION, known, confidence)?;
    (margin > WANTED_PRECISION && needed > time.count).then_some(needed)
}

fn cost(table: &Table, ok: &[&Row], summary: Option<&Summary>) -> Option<CostResult> {
    let paid: Vec<(&RunRecord, Money)> = ok
        .iter()
        .filter_map(|row| Some((row.record, row.cost?)))
        .collect();
    let amounts: Vec<Decimal> = paid.iter().map(|(_, money)| money.amount).collect();
    let money = |amount: Decimal| Money::new(amount, table.currency);
    let mean_of = |part: table::CostPart| {
        let part = |(record, cost): &(&RunRecord, Money)| part(table.study, record, *cost);
        let amounts: Option<Vec<Decimal>> = paid.iter().map(part).collect();
        decimal_mean(&amounts?).map(money)
    };
    Some(CostResult {
        mean: money(decimal_mean(&amounts)?),
        total: money(decimal_sum(&amounts)),
        per_epoch: mean_of(table::per_epoch),
        per_thousand_images: mean_of(table::per_thousand_images),
        per_thousand_steps: mean_of(table::per_thousand_steps),
        estimate: summary?.mean.clone(),
    })
}

fn decimal_sum(amounts: &[Decimal]) -> Decimal {
    amounts
        .iter()
        .fold(Decimal::ZERO, |sum, amount| sum.saturating_add(*amount))
}

pub(crate) fn decimal_mean(amounts: &[Decimal]) -> Option<Decimal> {
    decimal_sum(amounts).checked_div(Decimal::from(amounts.len()))
}

pub(crate) fn level_facts(study: &Study, scenario: &Scenario) -> Vec<LevelFacts> {
    let facts = scenario.levels.iter().map(|l| LevelFacts {
        factor: l.factor.clone(),
        level: l.level.to_string(),
        phrase: level_phrase(study, &l.factor, &l.level),
    });
    facts.collect()
}

fn environment_of(study: &Study, scenario: &Scenario, rows: &[Row]) -> String {
    let measured = rows.first().map(|row| row.record.environment.name.clone());
    let varied = || scenario.level("environment").map(|level| level.to_string());
    let only = || study.environments.first().map(|e| e.name.clone());
    measured
        .or_else(varied)
        .or_else(only)
        .unwrap_or_else(|| "local".to_owned())
}

fn phases(ok: &[&Row]) -> Vec<PhaseMean> {
    let mut means: Vec<PhaseMean> = Vec::new();
    let parts = ok.iter().flat_map(|row| &row.record.phases);
    for part in parts.filter(|p| p.seconds.is_finite()) {
        let new = || PhaseMean {
            phase: part.name.clone(),
            seconds: 0.0,
        };
        entry(&mut means, |mean| mean.phase == part.name, new).seconds += part.seconds;
    }
    means.sort_by_key(|mean| phase_place(&mean.phase));
    means
        .iter_mut()
        .for_each(|mean| mean.seconds /= ok.len() as f64);
    means
}

fn excluded(row: &Row) -> Option<String> {
    let unmet: Vec<String> = row.unmet.iter().map(ToString::to_string).collect();
    (!unmet.is_empty()).then(|| unmet.join("; "))
}

/// The order of a run's life; phases of the user's own come after, as first told.
pub(crate) fn phase_place(name: &str) -> usize {
    phase::ORDER
        .iter()
        .position(|known| *known == name)
        .unwrap_or(phase::ORDER.len())
}

/// With the block of each, in their order.
pub(crate) fn run_rows(rows: Vec<Row>, blocks: Option<&[usize]>) -> Vec<RunRow> {
    let row = |(place, row): (usize, Row)| RunRow {
        run: row.record.run,
        scenario: row.record.run.scenario,
        repetition: row.record.run.repetition,
        status: row.record.outcome.status,
        excluded: excluded(&row),
        imported: matches!(row.record.origin, model::run::Origin::Imported { .. }),
        prediction: row.record.prediction().copied(),
        environment: row.record.environment.name.clone(),
        started: row.record.is_dated().then_some(row.record.started),
        cost: row.cost,
        price: row.record.price.clone(),
        bill: row.record.bill.clone(),
        unused: unused::of_run(row.record, row.cost),
        energy_source: row.energy_source,
        warnings: row.record.warnings.len(),
        block: blocks.and_then(|blocks| blocks.get(place).copied()),
        values: row.values,
        steps: row.steps,
        framework: row.record.framework.clone(),
        epochs: row.record.epochs.clone(),
        profile: row.record.profile.clone(),
    };
    rows.into_iter().enumerate().map(row).collect()
}
