//! The scenario table before it is written: the same columns and digits in the terminal, in HTML,
//! in Markdown and in LaTeX.

use analyse::format::{self, Unit};
use analyse::{
    Analysis, MetricInfo, Scale, ScenarioResult, Target, Totals, Variation, VariationTerm, Verdict,
};
use messages::{message, word};
use model::run::metric::{self, Digits};
use model::{Money, Status};

pub(crate) struct ScenarioTable {
    pub(crate) columns: Vec<Column>,
    /// One a scenario, in the order of the analysis.
    pub(crate) rows: Vec<Vec<Cell>>,
}

pub(crate) struct Column {
    pub(crate) header: String,
    /// Empty where the header says all; `s`, `MB`, `%`.
    pub(crate) unit: String,
    pub(crate) kind: ColumnKind,
    /// A narrow terminal drops the highest first; zero stays.
    pub(crate) priority: u8,
}

impl Column {
    pub(crate) fn is_number(&self) -> bool {
        self.kind == ColumnKind::Number
    }

    /// `training time (s)`.
    pub(crate) fn header_with_unit(&self) -> String {
        match self.unit.as_str() {
            "" => self.header.clone(),
            unit => format!("{} ({unit})", self.header),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Scenario,
    Factor,
    Number,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    pub(crate) value: String,
    /// Half the width of the interval; empty for none.
    pub(crate) half_width: String,
    /// What to sort by.
    pub(crate) sort: Option<f64>,
}

impl Cell {
    fn text(value: impl Into<String>) -> Self {
        Cell {
            value: value.into(),
            ..Cell::default()
        }
    }

    pub(crate) fn none() -> Self {
        Cell::text(format::NONE)
    }

    /// `1.92 ± 0.03`.
    pub(crate) fn joined(&self) -> String {
        match self.half_width.as_str() {
            "" => self.value.clone(),
            half => format!("{} ± {half}", self.value),
        }
    }
}

/// What fits on a line; `is_wide` adds what only a wide page has room for.
pub(crate) fn scenario_table(analysis: &Analysis, is_wide: bool) -> ScenarioTable {
    let numbers = number_columns(analysis, is_wide);
    let factors: Vec<&str> = varied_factors(analysis);
    let incomplete = runs_are_told(analysis);
    let mut columns = vec![column(
        word!("column-scenario"),
        "",
        ColumnKind::Scenario,
        0,
    )];
    columns.extend(
        factors
            .iter()
            .map(|name| column(name, "", ColumnKind::Factor, 0)),
    );
    if incomplete {
        columns.push(column(word!("column-runs"), "", ColumnKind::Factor, 3));
    }
    columns.extend(
        numbers
            .iter()
            .map(|n| column(&n.header, n.unit.name, ColumnKind::Number, n.priority)),
    );
    let rows = analysis.scenarios.iter().map(|scenario| {
        let mut cells = vec![Cell {
            sort: Some(f64::from(scenario.number)),
            ..Cell::text(&scenario.label)
        }];
        cells.extend(factors.iter().map(|factor| level_cell(scenario, factor)));
        if incomplete {
            cells.push(Cell::text(runs_text(scenario)));
        }
        cells.extend(numbers.iter().map(|number| number.cell(scenario)));
        cells
    });
    ScenarioTable {
        rows: rows.collect(),
        columns,
    }
}

/// Where scenarios have different runs, or runs without a result.
fn runs_are_told(analysis: &Analysis) -> bool {
    let scenarios = &analysis.scenarios;
    let is_complete = |s: &ScenarioResult| s.runs.ok == s.planned.max(1);
    let has_ended = |s: &ScenarioResult| s.runs.ok != s.runs.total() || s.runs.ok == 0;
    let differ = scenarios
        .windows(2)
        .any(|two| two[0].runs.ok != two[1].runs.ok);
    !scenarios.iter().all(is_complete) && (differ || scenarios.iter().any(has_ended))
}

fn column(header: &str, unit: &str, kind: ColumnKind, priority: u8) -> Column {
    Column {
        header: header.to_owned(),
        unit: unit.to_owned(),
        kind,
        priority,
    }
}

/// Factors that take two levels or more; all of them where none does.
pub(crate) fn varied_factors(analysis: &Analysis) -> Vec<&str> {
    let varied = |name: &str| {
        let mut levels = analysis.scenarios.iter().filter_map(|s| level_of(s, name));
        let first = levels.next();
        levels.any(|level| Some(level) != first)
    };
    let factors = analysis.study.factors.iter().map(|f| f.name.as_str());
    factors.filter(|name| varied(name)).collect()
}

pub(crate) fn level_of<'a>(scenario: &'a ScenarioResult, factor: &str) -> Option<&'a str> {
    scenario.level(factor).map(|l| l.level.as_str())
}

fn level_cell(scenario: &ScenarioResult, factor: &str) -> Cell {
    match level_of(scenario, factor) {
        Some(level) => Cell {
            sort: level.parse().ok(),
            ..Cell::text(level)
        },
        None => Cell::none(),
    }
}

/// `3 ok`, `2 ok, 1 failed`, `out-of-memory`.
fn runs_text(scenario: &ScenarioResult) -> String {
    let total = scenario.runs.total();
    match total {
        0 => word!("column-not-yet").to_owned(),
        _ if scenario.runs.out_of_memory == total => word!("status-out-of-memory").to_owned(),
        _ if scenario.runs.timed_out == total => word!("status-timed-out").to_owned(),
        _ if scenario.runs.not_measurable == total => word!("status-not-measurable").to_owned(),
        _ => scenario.runs.text(),
    }
}

struct NumberColumn<'a> {
    header: String,
    unit: Unit,
    info: &'a MetricInfo,
    target: Option<&'a Target>,
    priority: u8,
}

impl NumberColumn<'_> {
    fn cost_to_target(&self, scenario: &ScenarioResult) -> Option<Money> {
        let found = self.target?.scenarios.iter();
        found
            .into_iter()
            .find(|result| result.scenario == scenario.number)
            .and_then(|result| result.mean_cost)
    }

    fn cell(&self, scenario: &ScenarioResult) -> Cell {
        let Some(mean) = scenario.mean(&self.info.name) else {
            return Cell::none();
        };
        let money = match (self.info.name.as_str(), &scenario.cost) {
            (metric::COST, Some(cost)) => Some(cost.mean),
            (metric::COST_PER_EPOCH, Some(cost)) => cost.per_epoch,
            (metric::COST_PER_THOUSAND_IMAGES, Some(cost)) => cost.per_thousand_images,
            (metric::COST_PER_THOUSAND_STEPS, Some(cost)) => cost.per_thousand_steps,
            (metric::COST_TO_TARGET, _) => self.cost_to_target(scenario),
            _ => None,
        };
        let is_whole = match metric::definition(&self.info.name) {
            Some(metric) => metric.digits == Digits::Whole,
            None => self.info.name.ends_with("_percent"),
        };
        let quantity = format::quantity(mean, self.unit.scale);
        let is_count = metric::is_count(&self.info.name) && mean.value.fract() == 0.0;
        let (value, half_width) = if self.info.name == metric::COST_PER_INFERENCE {
            (
                crate::tables::money(1e6 * mean.value, &self.info.unit),
                String::new(),
            )
        } else if let Some(money) = money {
            (format::money(&money), String::new())
        } else if is_count && quantity.half_width.is_empty() && self.unit.scale == 1.0 {
            let text = analyse::metric_value(self.info, mean.value);
            (text, String::new())
        } else if is_whole {
            let whole = format::whole(mean.value / self.unit.scale);
            (whole, String::new())
        } else {
            (quantity.value, quantity.half_width)
        };
        Cell {
            value,
            half_width,
            sort: Some(mean.value),
        }
    }
}

fn number_columns(analysis: &Analysis, is_wide: bool) -> Vec<NumberColumn<'_>> {
    let mut names: Vec<&str> = Vec::new();
    // What the study asks for and what its workload reports comes first: it is what it is about.
    names.extend(analysis.study.metrics.iter().map(String::as_str));
    // The bill of a run that serves depends on how long its load was; an answer's does not.
    let answers = analysis.metric(metric::COST_PER_INFERENCE).is_some();
    let own = own_metrics(analysis).take(match names.is_empty() {
        true => MOST_OWN,
        false => 0,
    });
    let own: Vec<&str> = own.collect();
    // What serves is about latency and cost.
    if analysis.serving.is_some() {
        names.extend(analysis.time_metric.as_deref());
        names.extend([metric::LATENCY_SECONDS, metric::COST_PER_INFERENCE]);
    }
    names.extend(own);
    names.extend(analysis.time_metric.as_deref());
    let usual = metric::ALL.iter().filter(|metric| match metric.column {
        metric::Column::Usual(_) => !answers || metric.name != metric::COST,
        metric::Column::Wide(_) => is_wide,
        metric::Column::OnRequest => false,
    });
    names.extend(usual.map(|metric| metric.name));
    let mut columns: Vec<NumberColumn> = Vec::new();
    for name in names {
        let Some(info) = analysis.metric(name) else {
            continue;
        };
        if columns.iter().any(|c| c.info.name == name) {
            continue;
        }
        let means = analysis
            .scenarios
            .iter()
            .filter_map(|s| s.mean(name).map(|e| e.value));
        let Some(typical) = typical(means) else {
            continue;
        };
        let unit = unit_of(info, typical);
        columns.push(NumberColumn {
            header: header(analysis, info),
            unit,
            info,
            target: analysis.money.target.as_ref(),
            priority: priority(analysis, name, columns.is_empty()),
        });
    }
    columns
}

/// Of metrics that nobody asked for by name.
const MOST_OWN: usize = 3;

/// Reported by the workload.
fn own_metrics(analysis: &Analysis) -> impl Iterator<Item = &str> {
    let names = analysis.metrics.iter().map(|m| m.name.as_str());
    names.filter(|name| metric::definition(name).is_none())
}

fn priority(analysis: &Analysis, name: &str, is_first: bool) -> u8 {
    let asked = analysis.study.metrics.iter().any(|m| m == name);
    let is_time = analysis.is_time(name);
    match metric::definition(name).map(|metric| metric.column) {
        _ if is_first || is_time => 0,
        Some(metric::Column::Usual(rank) | metric::Column::Wide(rank)) if !asked => rank,
        _ => 1,
    }
}

fn header(analysis: &Analysis, info: &MetricInfo) -> String {
    let target = analysis.money.target.as_ref();
    match (info.name.as_str(), target) {
        (metric::TO_TARGET_SECONDS, Some(target)) => {
            message!("column-to-target", target = target.name())
        }
        (metric::COST_TO_TARGET, Some(target)) => {
            message!("column-cost-to-target", target = target.name())
        }
        (name, _) => messages::named("header", name)
            .unwrap_or(&info.label)
            .to_owned(),
    }
}

/// How a run ended.
pub(crate) fn status_words(status: Status) -> &'static str {
    messages::named("status", status.word()).unwrap_or(status.word())
}

/// The unit a column is written in, by a typical value of it.
pub(crate) fn unit_of(info: &MetricInfo, typical: f64) -> Unit {
    match info.unit.as_str() {
        "s" => format::seconds_unit(typical),
        "B" => format::byte_unit(typical),
        "%" => Unit::new("%", 1.0),
        "J" => analyse::joule_unit(typical),
        "g" => analyse::gram_unit(typical),
        // Images per second have their unit in the label, money in every cell.
        _ => Unit::new("", 1.0),
    }
}

/// The one in the middle, by which a unit is chosen for all.
pub(crate) fn typical(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Nothing is known of a share that could not be separated from others.
pub(crate) fn share_text(share: Option<f64>) -> String {
    share.map_or_else(|| format::NONE.to_owned(), format::percent)
}

/// `image 71 %, network 22 %, noise 2 %`: the largest shares of what differs, or of all where nobody asked.
pub(crate) fn largest_shares(variation: &Variation, most: usize) -> String {
    let terms = variation.terms.iter();
    let is_said = |t: &&VariationTerm| t.verdict.is_different() || !variation.is_asked;
    let said = terms.filter(|t| is_said(t) && t.share >= 0.01);
    let share = |t: &VariationTerm| format!("{} {}", t.name(), format::percent(t.share));
    let mut parts: Vec<String> = said.take(most).map(share).collect();
    if parts.is_empty() && variation.is_asked {
        let mains = variation.terms.iter().filter(|t| t.factors.len() == 1);
        let equal = mains
            .map(|t| t.verdict)
            .all(|v| v == Verdict::PracticallyEqual);
        return match equal {
            true => word!("verdict-equal").to_owned(),
            false => word!("verdict-inconclusive").to_owned(),
        };
    }
    let noise = variation.noise.as_ref();
    parts.extend(noise.map(|n| message!("screen-noise-share", share = format::percent(n.share))));
    let shares = parts.join(", ");
    match variation.is_asked {
        true => shares,
        false => message!("screen-described", shares),
    }
}

/// Of the usual test, unless nobody asked: a probability reads like a test.
pub(crate) fn tested_p(term: &VariationTerm) -> Option<f64> {
    term.p.filter(|_| term.verdict != Verdict::Described)
}

/// `repetitions of one scenario differ by 1.2 %`.
pub(crate) fn noise_text(analysis: &Analysis, variation: &Variation) -> String {
    let Some(noise) = &variation.noise else {
        return String::new();
    };
    if noise.degrees_of_freedom == 0 {
        return message!("noise-unknown");
    }
    let size = match (variation.scale, analysis.metric(&variation.metric)) {
        (Scale::Linear, Some(info)) if info.unit == "%" => {
            message!("points", value = format::significant(noise.typical, 2))
        }
        (Scale::Linear, Some(info)) => analyse::metric_value(info, noise.typical),
        _ => format::percent(noise.typical),
    };
    match variation.runs > variation.scenarios {
        true if noise.typical <= 0.0 => message!("noise-never"),
        true => message!("noise-repetitions", size),
        false => message!("noise-rest", size),
    }
}

/// Whether the results cost something else than what was spent on them here.
pub(crate) fn costs_besides_spent(totals: &Totals) -> bool {
    let again = totals
        .spent_again
        .map_or_else(Default::default, |m| m.amount);
    let on_results = totals.spent_total.map(|spent| Money {
        amount: spent.amount.saturating_sub(again),
        ..spent
    });
    match totals.cost_total.as_slice() {
        [] => false,
        [cost] => Some(*cost) != on_results,
        _ => true,
    }
}
