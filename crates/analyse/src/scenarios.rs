//! Results of each scenario, over its repetitions.

use std::collections::BTreeMap;

use model::run::phase;
use model::{Level, Money, Plan, RunId, RunRecord, Scenario, Study};
use rust_decimal::Decimal;
use stats::Summary;

use crate::analysis::{CostResult, LevelFacts, PhaseMean, RunRow, ScenarioResult, StatusCounts};
use crate::table::{self, Row, Table};
use crate::words::names::level_phrase;
use crate::{curves, profile, unused};

/// The half-width of an interval, relative to its value, that is requested.
pub(crate) const WANTED_PRECISION: f64 = 0.05;

pub(crate) fn scenarios(table: &Table, plan: &Plan, confidence: f64) -> Vec<ScenarioResult> {
    let mut planned: BTreeMap<u32, usize> = BTreeMap::new();
    for run in &plan.runs {
        *planned.entry(run.scenario).or_default() += 1;
    }
    let mut known: BTreeMap<u32, &Scenario> =
        plan.scenarios.iter().map(|s| (s.number, s)).collect();
    for row in &table.runs {
        known.insert(row.record.run.scenario, &row.record.scenario);
    }
    let builder = Builder {
        table,
        confidence,
        time: table.time_column(),
    };
    let one = |(number, scenario): (u32, &Scenario)| {
        let rows = rows_of(table, number);
        builder.scenario(
            scenario,
            number,
            planned.get(&number).copied().unwrap_or(0),
            rows,
        )
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

struct Builder<'t, 'a> {
    table: &'t Table<'a>,
    confidence: f64,
    time: Option<usize>,
}

impl Builder<'_, '_> {
    fn scenario(
        &self,
        scenario: &Scenario,
        number: u32,
        planned: usize,
        rows: &[Row],
    ) -> ScenarioResult {
        let mut runs = StatusCounts::default();
        rows.iter().for_each(|row| runs.add(row.status()));
        let ok: Vec<&Row> = rows.iter().filter(|row| row.is_ok()).collect();
        let metrics = self.summaries(&ok);
        let time = self
            .time
            .and_then(|column| metrics.get(&self.table.columns[column].name));
        ScenarioResult {
            number,
            label: format!("C{number}"),
            levels: levels(self.table.study, scenario),
            environment: environment_of(self.table.study, scenario, rows),
            planned,
            runs,
            warned_runs: rows
                .iter()
                .filter(|row| !row.record.warnings.is_empty())
                .count(),
            repetitions_for_five_percent: time.and_then(|summary| self.more_repetitions(summary)),
            cost: self.cost(&ok),
            phases: phases(&ok),
            curve: curves::curve(rows),
            profile: profile::profile(&ok),
            metrics,
        }
    }

    fn summaries(&self, ok: &[&Row]) -> BTreeMap<String, Summary> {
        let columns = self.table.columns.iter().enumerate();
        let summarise = |(place, column): (usize, &crate::words::names::MetricInfo)| {
            let values: Vec<f64> = ok.iter().filter_map(|row| row.values[place]).collect();
            Some((
                column.name.clone(),
                stats::summary(&values, self.confidence)?,
            ))
        };
        columns.filter_map(summarise).collect()
    }

    fn more_repetitions(&self, time: &Summary) -> Option<usize> {
        let margin = time.mean.relative_margin()?;
        let needed = stats::repetitions_for_student(
            WANTED_PRECISION,
            time.sd,
            time.mean.value,
            self.confidence,
        )?;
        (margin > WANTED_PRECISION && needed > time.count).then_some(needed)
    }

    fn cost(&self, ok: &[&Row]) -> Option<CostResult> {
        let paid: Vec<(&RunRecord, Money)> = ok
            .iter()
            .filter_map(|row| Some((row.record, row.cost?)))
            .collect();
        let amounts: Vec<Decimal> = paid.iter().map(|(_, money)| money.amount).collect();
        let column = self.table.column(model::run::metric::COST)?;
        let values: Vec<f64> = ok.iter().filter_map(|row| row.values[column]).collect();
        let money = |amount: Decimal| Money::new(amount, self.table.currency);
        let mean_of = |each: &dyn Fn(&RunRecord, Money) -> Option<Decimal>| {
            let amounts: Option<Vec<Decimal>> = paid
                .iter()
                .map(|(record, cost)| each(record, *cost))
                .collect();
            decimal_mean(&amounts?).map(money)
        };
        let study = self.table.study;
        Some(CostResult {
            mean: money(decimal_mean(&amounts)?),
            total: money(decimal_sum(&amounts)),
            per_epoch: mean_of(&table::per_epoch),
            per_thousand_images: mean_of(&table::per_thousand_images),
            per_thousand_steps: mean_of(&|record, cost| {
                table::per_thousand_steps(study, record, cost)
            }),
            estimate: stats::summary(&values, self.confidence)?.mean,
        })
    }
}

fn decimal_sum(amounts: &[Decimal]) -> Decimal {
    amounts
        .iter()
        .fold(Decimal::ZERO, |sum, amount| sum.saturating_add(*amount))
}

pub(crate) fn decimal_mean(amounts: &[Decimal]) -> Option<Decimal> {
    decimal_sum(amounts).checked_div(Decimal::from(amounts.len()))
}

fn levels(study: &Study, scenario: &Scenario) -> Vec<LevelFacts> {
    let facts = |factor: &str, level: &Level| LevelFacts {
        factor: factor.to_owned(),
        level: level.to_string(),
        phrase: level_phrase(study, factor, level),
    };
    scenario
        .levels
        .iter()
        .map(|l| facts(&l.factor, &l.level))
        .collect()
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
    let mut names: Vec<&str> = Vec::new();
    let mut seconds: BTreeMap<&str, f64> = BTreeMap::new();
    for part in ok
        .iter()
        .flat_map(|row| &row.record.phases)
        .filter(|p| p.seconds.is_finite())
    {
        if !names.contains(&part.name.as_str()) {
            names.push(&part.name);
        }
        *seconds.entry(&part.name).or_default() += part.seconds;
    }
    names.sort_by_key(|name| phase_place(name));
    let mean = |name: &str| seconds.get(name).copied().unwrap_or(0.0) / ok.len() as f64;
    names
        .iter()
        .map(|name| PhaseMean {
            phase: (*name).to_owned(),
            seconds: mean(name),
        })
        .collect()
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

pub(crate) fn run_rows(rows: Vec<Row>) -> Vec<RunRow> {
    let row = |row: Row| RunRow {
        run: row.record.run,
        scenario: row.record.run.scenario,
        repetition: row.record.run.repetition,
        status: row.record.outcome.status,
        excluded: excluded(&row),
        imported: matches!(row.record.origin, model::run::Origin::Imported { .. }),
        environment: row.record.environment.name.clone(),
        started: row.record.is_dated().then_some(row.record.started),
        cost: row.cost,
        price: row.record.price.clone(),
        bill: row.record.bill.clone(),
        unused: unused::of_run(row.record, row.cost),
        warnings: row.record.warnings.len(),
        values: row.values,
        framework: row.record.framework.clone(),
        epochs: row.record.epochs.clone(),
        profile: row.record.profile.clone(),
    };
    rows.into_iter().map(row).collect()
}
