//! Designs that a study could have, side by side: what each can tell apart, how long it takes and
//! what it costs.

use std::collections::{BTreeMap, HashMap};

use model::{AliasTable, Design, Scenario, Study};
use runner::forecast::{self, MoneySpread};
use runner::{Forecast, RunForecast, Spread};
use serde::Serialize;

use crate::Tell;
use crate::error::Error;
use crate::open::{Opened, with_options};

#[derive(Debug, Serialize)]
pub struct Designs {
    /// The study's own first.
    pub options: Vec<DesignOption>,
    pub impossible: Vec<Impossible>,
}

#[derive(Debug, Serialize)]
pub struct DesignOption {
    /// `fractional 2^(7−3)`.
    pub title: String,
    pub is_own: bool,
    pub design: Design,
    pub scenarios: usize,
    pub runs: usize,
    /// Of all its runs; none where nothing is known.
    pub seconds: Option<Spread>,
    pub money: Option<MoneySpread>,
    pub aliases: AliasTable,
}

/// A design that the study cannot have.
#[derive(Debug, PartialEq, Serialize)]
pub struct Impossible {
    pub design: &'static str,
    pub why: String,
}

/// `forecast` is of the study's own scenarios; those of other designs follow from the effects of
/// their levels.
pub fn designs(
    opened: &Opened,
    scale: Option<&str>,
    forecast: Option<&Forecast>,
    tell: Tell<'_>,
) -> Result<Designs, Error> {
    let found = with_options(&opened.folder, scale, tell, |options| {
        plan::alternatives(&opened.text, options)
    });
    let found = found.map_err(|found| {
        Error::mistakes(&opened.path.display().to_string(), &opened.text, found)
    })?;
    let mut designs = Designs {
        options: Vec::new(),
        impossible: Vec::new(),
    };
    for alternative in found {
        match alternative.study {
            Ok(study) => {
                let is_own = designs.options.is_empty();
                let option = option(&study, is_own, opened, forecast);
                designs.options.push(option);
            }
            Err(why) => {
                let impossible = Impossible {
                    design: alternative.kind,
                    why,
                };
                if !designs.impossible.contains(&impossible) {
                    designs.impossible.push(impossible);
                }
            }
        }
    }
    Ok(designs)
}

fn option(
    study: &Study,
    is_own: bool,
    opened: &Opened,
    forecast: Option<&Forecast>,
) -> DesignOption {
    let plan = plan::plan(study);
    let whole = forecast
        .map(|known| {
            let expected = expected(&plan.scenarios, opened, known);
            forecast::add_up(study, &plan, &plan.runs, expected, known.spread)
        })
        .filter(|whole| whole.unknown_runs == 0);
    DesignOption {
        title: plan::design_title(study),
        is_own,
        design: study.design.clone(),
        scenarios: plan.scenarios.len(),
        runs: plan.runs.len(),
        seconds: whole.as_ref().map(|whole| whole.seconds),
        money: whole.and_then(|whole| whole.money),
        aliases: design::alias_table(&study.factors, &plan.scenarios),
    }
}

/// By the numbers of a design's own scenarios.
fn expected(
    scenarios: &[Scenario],
    opened: &Opened,
    forecast: &Forecast,
) -> BTreeMap<u32, RunForecast> {
    let mut known = forecast.scenarios.clone();
    let own = &opened.plan.scenarios;
    let beyond = own.iter().map(|s| s.number).max().unwrap_or(0);
    let levels_of = |scenario: &Scenario| scenario.levels_label();
    let numbers: HashMap<String, u32> = own.iter().map(|s| (levels_of(s), s.number)).collect();
    let number_of = |scenario: &Scenario| {
        let same = numbers.get(&levels_of(scenario)).copied();
        same.unwrap_or(beyond + scenario.number)
    };
    let renumbered = |scenario: &Scenario| Scenario {
        number: number_of(scenario),
        levels: scenario.levels.clone(),
    };
    let mut all = own.clone();
    all.extend(
        scenarios
            .iter()
            .map(renumbered)
            .filter(|s| s.number > beyond),
    );
    forecast::fill_unknown(&mut known, &all);
    forecast::fill_with_usual(&mut known, &all.iter().collect::<Vec<&Scenario>>());
    let pick = |scenario: &Scenario| {
        let found = known.get(&number_of(scenario))?;
        Some((scenario.number, found.clone()))
    };
    scenarios.iter().filter_map(pick).collect()
}
