//! How the time grows with a number (cores, workers, batch, image size): a law for each combination of the other
//! factors, and the cheapest level where levels have different prices.

use model::Role;
use predict::growth::{
    self as law, Growth, Kind, Law, LawFit, Level, Parameter, Predicted, Priced,
};
use rust_decimal::prelude::ToPrimitive;
use serde::Serialize;
use stats::{Estimate, Interval};

use crate::along::{Along, Line};
use crate::analysis::{LevelFacts, ScenarioResult};
use crate::decides::Variation;
use crate::lists::unique;
use crate::scenarios::ok_rows;
use crate::speedup::COUNTS;
use crate::table::{Row, Table};
use crate::words::growth::sentences;

/// The time against one numeric factor.
#[derive(Debug, Clone, Serialize)]
pub struct GrowthResult {
    pub factor: String,
    pub kind: Kind,
    /// The time it is computed of.
    pub metric: String,
    /// Whether the factor was found to change the time: only then is a law stated in words.
    pub different: bool,
    /// One for each combination of the other factors.
    pub lines: Vec<GrowthLine>,
    /// Combinations beyond those.
    pub left_out: usize,
    /// In words, the most important first.
    pub sentences: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct GrowthLine {
    /// Of the other factors that vary.
    pub levels: Vec<LevelFacts>,
    pub phrase: String,
    /// Measured, from the smallest level up.
    pub points: Vec<GrowthPoint>,
    /// `None` where it is refused.
    pub law: Option<GrowthLaw>,
    /// Why no law is stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<law::Refusal>,
    /// Where levels have different prices and a law describes what is billed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cheapest: Option<CheapestLevel>,
}

#[derive(Debug, Clone, Serialize)]
pub struct GrowthPoint {
    pub level: LevelFacts,
    pub at: f64,
    pub scenario: u32,
    pub mean: Estimate,
}

/// The law with the lowest AICc, what it predicts, and how the others did.
#[derive(Debug, Clone, Serialize)]
pub struct GrowthLaw {
    pub law: Law,
    /// The level at which the law's shape is 1.
    pub reference: f64,
    pub parameters: Vec<Parameter>,
    pub laws: Vec<LawFit>,
    /// Laws that describe the runs nearly as well.
    pub rivals: Vec<Law>,
    /// Smallest and largest level with results.
    pub measured: Interval,
    pub levels: usize,
    pub runs: usize,
    /// The level from which on more is slower.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turning_point: Option<f64>,
    /// At the reference.
    pub scale: f64,
    /// Predicted along the levels, the last ones beyond those measured.
    pub curve: Vec<Predicted>,
}

#[derive(Debug, Clone, Serialize)]
pub struct CheapestLevel {
    pub level: LevelFacts,
    /// Per run, in the study's currency, by a law of what is billed.
    pub per_run: Estimate,
    /// Levels that are the cheapest in some resampling, the most frequent first.
    pub chances: Vec<LevelChance>,
    pub resamplings: usize,
}

#[derive(Debug, Clone, Serialize)]
pub struct LevelChance {
    pub level: LevelFacts,
    pub share: f64,
    /// Of the cost above the cheapest, as a fraction.
    pub above: f64,
}

impl CheapestLevel {
    pub fn stability(&self) -> f64 {
        let own = self.chances.iter().find(|c| c.level == self.level);
        own.map_or(0.0, |chance| chance.share)
    }
}

/// Further combinations are not fitted.
const MOST_LINES: usize = 24;
/// Points of a curve between the measured levels, and beyond them.
const INSIDE: usize = 24;
const BEYOND: usize = 8;

pub(crate) fn growths(
    table: &Table,
    scenarios: &[ScenarioResult],
    variations: &[Variation],
) -> Vec<GrowthResult> {
    let Some(time) = table.time_column() else {
        return Vec::new();
    };
    let maker = Maker { table, time };
    let factors = table.study.factors.iter().map(|f| f.name.as_str());
    let grown = factors.filter_map(|factor| {
        let metric = &table.columns[time].name;
        let variation = variations.iter().find(|v| v.metric == *metric);
        let different = variation.is_some_and(|v| is_different(v, factor));
        maker.growth(scenarios, factor, different)
    });
    grown.collect()
}

/// Alone or together with others.
fn is_different(variation: &Variation, factor: &str) -> bool {
    let mut found = variation.terms.iter().filter(|t| t.verdict.is_different());
    found.any(|term| term.factors.iter().any(|name| name == factor))
}

struct Maker<'t, 'a> {
    table: &'t Table<'a>,
    time: usize,
}

impl Maker<'_, '_> {
    fn growth(
        &self,
        scenarios: &[ScenarioResult],
        factor: &str,
        different: bool,
    ) -> Option<GrowthResult> {
        let along = Along::new(scenarios, factor);
        let kind = match COUNTS.contains(&factor) {
            true => Kind::Count,
            false => Kind::Size,
        };
        // Of a number of cores people expect a law, and are told what it would need.
        let least = match kind {
            Kind::Count => 2,
            Kind::Size => law::LEAST_LEVELS,
        };
        let is_moment = self.table.study.role(factor) == Role::Block || factor == "seed";
        if along.levels.len() < least || !along.is_numeric() || is_moment {
            return None;
        }
        let measured = along.lines.iter().map(|line| self.points(&along, line));
        let measured = along.lines.iter().zip(measured);
        let worth = measured.filter(|(_, points)| points.len() >= 2);
        let (drawn, rest): (Vec<_>, Vec<_>) = worth
            .enumerate()
            .partition(|(place, _)| *place < MOST_LINES);
        let lines = drawn.into_iter();
        let lines: Vec<GrowthLine> = lines
            .map(|(_, (line, points))| self.line(kind, line, points))
            .collect();
        let mut growth = GrowthResult {
            factor: factor.to_owned(),
            kind,
            metric: self.table.columns[self.time].name.clone(),
            different,
            lines,
            left_out: rest.len(),
            sentences: Vec::new(),
        };
        growth.sentences = sentences(self.table, &growth);
        (!growth.lines.is_empty()).then_some(growth)
    }

    fn points(&self, along: &Along, line: &Line) -> Vec<GrowthPoint> {
        let metric = &self.table.columns[self.time].name;
        let cells = along.levels.iter().zip(&line.cells);
        let point = |(level, cell): (&&LevelFacts, &Option<&ScenarioResult>)| {
            let scenario = (*cell)?;
            Some(GrowthPoint {
                level: (*level).clone(),
                at: level.number()?,
                scenario: scenario.number,
                mean: scenario.mean(metric)?.clone(),
            })
        };
        cells.filter_map(point).collect()
    }

    fn line(&self, kind: Kind, line: &Line, points: Vec<GrowthPoint>) -> GrowthLine {
        let times = self.levels(&points, |row| row.values[self.time]);
        let (law, refusal) = match law::grow(&times, kind, self.table.confidence()) {
            Ok(growth) => (Some(GrowthLaw::of(&growth)), None),
            Err(refusal) => (None, Some(refusal)),
        };
        GrowthLine {
            levels: line.owned_levels(),
            phrase: line.phrase(),
            cheapest: self.cheapest(kind, &points),
            points,
            law,
            refusal,
        }
    }

    fn levels(&self, points: &[GrowthPoint], value: impl Fn(&Row) -> Option<f64>) -> Vec<Level> {
        let level = |point: &GrowthPoint| {
            let rows = ok_rows(self.table, point.scenario).into_iter();
            Level {
                at: point.at,
                values: rows.filter_map(&value).collect(),
            }
        };
        points.iter().map(level).collect()
    }

    /// A bill is a time at a price: the law is that of the time, which is smooth, where the price goes in steps.
    fn cheapest(&self, kind: Kind, points: &[GrowthPoint]) -> Option<CheapestLevel> {
        let priced: Option<Vec<Priced>> = points.iter().map(|p| self.priced(p)).collect();
        let priced = priced?;
        let differ = priced.iter().any(|p| p.rate != priced[0].rate);
        let billed = self.levels(points, |row| {
            let rate = row.record.price.as_ref()?.per_hour.amount;
            row.cost?.amount.checked_div(rate)?.to_f64()
        });
        let growth = law::grow(&billed, kind, self.table.confidence()).ok()?;
        let found = growth.cheapest(&priced, self.table.study.seed)?;
        let level = |at: f64| points.iter().find(|p| p.at == at).map(|p| p.level.clone());
        let chances = found.chances.iter().filter_map(|chance| {
            Some(LevelChance {
                level: level(chance.at)?,
                share: chance.share,
                above: chance.above,
            })
        });
        Some(CheapestLevel {
            level: level(found.at)?,
            per_run: found.expense.clone(),
            chances: chances.collect(),
            resamplings: found.resamplings,
        })
        .filter(|_| differ)
    }

    /// `None` unless all runs of the level were billed at one price.
    fn priced(&self, point: &GrowthPoint) -> Option<Priced> {
        let rows = ok_rows(self.table, point.scenario);
        let rates = rows.iter().map(|row| {
            row.cost?;
            Some(row.record.price.as_ref()?.per_hour)
        });
        let rates: Option<Vec<model::Money>> = rates.collect();
        match unique(rates?).as_slice() {
            [only] => Some(Priced {
                at: point.at,
                rate: only.amount.to_f64()?,
            }),
            _ => None,
        }
    }
}

impl GrowthLaw {
    fn of(growth: &Growth) -> Self {
        let (low, high) = (growth.measured.low, growth.measured.high);
        let furthest = growth.allowed().high;
        let inside = spread(low, high, INSIDE);
        // The last measured level stands on both parts, so that the line does not break.
        let beyond = spread(high, furthest, BEYOND).skip(1);
        let curve = inside.chain(beyond).filter_map(|at| growth.at(at).ok());
        let at_reference = growth.at(growth.reference).ok();
        GrowthLaw {
            law: growth.law,
            reference: growth.reference,
            parameters: growth.parameters.clone(),
            laws: growth.laws.clone(),
            rivals: growth.rivals().map(|fit| fit.law).collect(),
            measured: growth.measured,
            levels: growth.levels,
            runs: growth.runs,
            turning_point: growth.turning_point,
            scale: at_reference.map_or(f64::NAN, |predicted| predicted.typical.value),
            curve: curve.collect(),
        }
    }

    /// The furthest that is predicted.
    pub fn furthest(&self) -> Option<&Predicted> {
        self.curve.last().filter(|predicted| predicted.extrapolated)
    }
}

/// With the same ratio from one to the next; both ends exactly.
fn spread(low: f64, high: f64, steps: usize) -> impl Iterator<Item = f64> {
    (0..=steps).map(move |place| match place {
        0 => low,
        _ if place == steps => high,
        _ => low * (high / low).powf(place as f64 / steps as f64),
    })
}
