//! Levels as written to the scenarios of a plan.

use std::collections::HashMap;

use model::{Factor, Level, Plan, Scenario, Study};

use crate::RowProblem;
use crate::rows::{Row, Rows};

pub(crate) struct Scenarios<'p> {
    factors: &'p [Factor],
    /// By the place of each factor's level in the study.
    by_places: HashMap<Vec<usize>, &'p Scenario>,
}

/// A row and the scenario it is of.
#[derive(Debug, Clone)]
pub(crate) struct Placed<'p> {
    pub(crate) row: Row,
    pub(crate) scenario: &'p Scenario,
}

/// Where the level of one factor of the study is found.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// The place among the row's levels.
    Row(usize),
    /// The factor has one level.
    Only,
}

impl<'p> Scenarios<'p> {
    pub(crate) fn of(study: &'p Study, plan: &'p Plan) -> Self {
        let places = |scenario: &Scenario| -> Option<Vec<usize>> {
            let place = |factor: &Factor| {
                let level = scenario.level(&factor.name)?;
                factor.levels.iter().position(|known| known == level)
            };
            study.factors.iter().map(place).collect()
        };
        let by_places = plan
            .scenarios
            .iter()
            .filter_map(|s| Some((places(s)?, s)))
            .collect();
        Scenarios {
            factors: &study.factors,
            by_places,
        }
    }

    /// For each factor of the study, where its level is; or what is wrong with the mapping.
    /// Ignoring a factor would take different things for repetitions of one.
    fn columns(&self, mapped: &[String]) -> Result<Vec<Source>, Vec<String>> {
        let mut problems = Vec::new();
        let same = |a: &str, b: &str| a.to_lowercase() == b.to_lowercase();
        for factor in mapped {
            if !self.factors.iter().any(|known| same(&known.name, factor)) {
                let known: Vec<&str> = self.factors.iter().map(|f| f.name.as_str()).collect();
                problems.push(format!(
                    "the study has no factor `{factor}`; its factors are {}",
                    known.join(", ")
                ));
            }
        }
        let mut sources = Vec::new();
        for factor in self.factors {
            match mapped.iter().position(|name| same(name, &factor.name)) {
                Some(place) => sources.push(Source::Row(place)),
                None if factor.levels.len() == 1 => sources.push(Source::Only),
                None => problems.push(format!(
                    "the level of the factor `{}` is missing: name its column, put it in the file pattern, or give one level for all rows; known levels: {}",
                    factor.name,
                    known(factor)
                )),
            }
        }
        if problems.is_empty() {
            Ok(sources)
        } else {
            Err(problems)
        }
    }

    /// Takes the rows out and gives each its scenario; what cannot be placed is a problem. What is
    /// wrong with the mapping is reported of the file `first`.
    pub(crate) fn place(&self, read: &mut Rows, first: &str) -> Vec<Placed<'p>> {
        let rows = std::mem::take(&mut read.rows);
        let sources = match self.columns(&read.factors) {
            Ok(sources) => sources,
            Err(problems) => {
                let whole = |what| RowProblem::new(first, 1, what);
                read.problems.extend(problems.into_iter().map(whole));
                return Vec::new();
            }
        };
        let mut placed = Vec::with_capacity(rows.len());
        for row in rows {
            match self.scenario(&row, &sources) {
                Ok(scenario) => placed.push(Placed { row, scenario }),
                Err(what) => read.problems.push(row.problem(what)),
            }
        }
        placed
    }

    fn scenario(&self, row: &Row, sources: &[Source]) -> Result<&'p Scenario, String> {
        let text = |source: &Source| match source {
            Source::Only => None,
            Source::Row(place) => Some(row.levels.get(*place).map_or("", |text| text.trim())),
        };
        let mapped = || self.factors.iter().zip(sources.iter().map(text));
        if let Some((factor, _)) = mapped().find(|(_, text)| *text == Some("")) {
            let known = known(factor);
            return Err(format!(
                "the level of `{}` is missing; known: {known}; the row is skipped",
                factor.name
            ));
        }
        let place = |(factor, text): (&Factor, Option<&str>)| match text {
            None => Ok(0),
            Some(text) => find(text, &factor.levels).ok_or_else(|| {
                let known = known(factor);
                format!(
                    "`{text}` is not a level of `{}`; known: {known}; the row is skipped",
                    factor.name
                )
            }),
        };
        let places: Vec<usize> = mapped().map(place).collect::<Result<_, _>>()?;
        let found = self.by_places.get(&places).copied();
        found.ok_or_else(|| {
            "the study excludes this combination of levels; the row is skipped".to_owned()
        })
    }
}

/// `64`, `64.0` and 64 are one; so are `PyTorch` and `pytorch`.
fn find(text: &str, levels: &[Level]) -> Option<usize> {
    let number: Option<f64> = text.parse().ok();
    let lower = text.to_lowercase();
    let same = |level: &Level| match level {
        Level::Text(known) if number.is_some() => known.trim().parse().ok() == number,
        Level::Text(known) => known.trim().to_lowercase() == lower,
        Level::Bool(true) => ["true", "yes", "1", "on"].contains(&lower.as_str()),
        Level::Bool(false) => ["false", "no", "0", "off"].contains(&lower.as_str()),
        Level::Int(_) | Level::Float(_) => number.is_some() && level.as_float() == number,
    };
    let exact = levels.iter().position(|level| level.to_string() == text);
    exact.or_else(|| levels.iter().position(same))
}

fn known(factor: &Factor) -> String {
    let levels: Vec<String> = factor.levels.iter().map(Level::to_string).collect();
    levels.join(", ")
}
