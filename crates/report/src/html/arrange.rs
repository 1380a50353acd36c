//! Which scenario is drawn in which small figure, in which colour: the factor with the most
//! numeric levels gives the colours, a small one the dashes, the others a figure each.

use analyse::lists::{entry, push_new};
use analyse::{LevelFacts, ScenarioResult};
use messages::message;

use crate::figure::{Colour, Dash};
use crate::view::level_of;

pub(super) struct Arrangement<'a> {
    pub(super) placed: Vec<Placed<'a>>,
    /// What colours, dashes and figures stand for; begins with a space, or is empty.
    pub(super) sentence: String,
}

pub(super) struct Placed<'a> {
    pub(super) scenario: &'a ScenarioResult,
    /// The title of its figure.
    pub(super) panel: String,
    /// The same in all figures.
    pub(super) name: String,
    /// Stands for the name where it must be a plain word.
    pub(super) group: String,
    pub(super) colour: Colour,
    pub(super) dash: Dash,
}

/// So many lines fit in one figure, whatever they are.
const MOST_LINES: usize = 8;

struct Factor<'a> {
    name: &'a str,
    levels: Vec<&'a str>,
    numeric: bool,
}

impl<'a> Arrangement<'a> {
    pub(super) fn new(scenarios: &[&'a ScenarioResult]) -> Self {
        let factors = varied(scenarios);
        if scenarios.len() <= MOST_LINES {
            return Self::in_one(scenarios, &factors);
        }
        let coloured = colour_factor(&factors);
        let dashed = coloured
            .filter(|f| f.levels.len() <= Dash::ALL.len())
            .and_then(|coloured| {
                let others = factors.iter().filter(|f| f.name != coloured.name);
                others.rev().find(|f| f.levels.len() <= Dash::ALL.len())
            });
        let lines = [coloured, dashed];
        let inside = |name: &str| lines.iter().flatten().any(|f| f.name == name);
        let place = |scenario: &&'a ScenarioResult| Placed {
            scenario,
            panel: phrase(scenario, &factors, |name| !inside(name)),
            name: phrase(scenario, &factors, inside),
            group: lines
                .iter()
                .flatten()
                .map(|f| format!("-{}", f.place(scenario)))
                .collect(),
            colour: coloured.map_or(Colour::Series(0), |f| f.colour(scenario)),
            dash: Dash::ALL[dashed.map_or(0, |f| f.place(scenario)) % Dash::ALL.len()],
        };
        let mut sentence = String::new();
        if let Some(coloured) = coloured {
            let dashes = dashed.map_or_else(String::new, |dashed| {
                message!("figure-dashes", factor = dashed.name)
            });
            sentence = message!("figure-colours", factor = coloured.name, dashes);
        }
        Arrangement {
            placed: scenarios.iter().map(place).collect(),
            sentence,
        }
    }

    fn in_one(scenarios: &[&'a ScenarioResult], factors: &[Factor]) -> Self {
        let place = |(place, scenario): (usize, &&'a ScenarioResult)| {
            let levels = phrase(scenario, factors, |_| true);
            Placed {
                scenario,
                panel: String::new(),
                name: format!("{} {levels}", scenario.label).trim_end().to_owned(),
                group: scenario.label.clone(),
                colour: Colour::Series(place),
                dash: Dash::Solid,
            }
        };
        Arrangement {
            placed: scenarios.iter().enumerate().map(place).collect(),
            sentence: String::new(),
        }
    }
}

impl Factor<'_> {
    fn place(&self, scenario: &ScenarioResult) -> usize {
        let level = level_of(scenario, self.name);
        let place = self.levels.iter().position(|l| Some(*l) == level);
        place.unwrap_or(0)
    }

    /// Numbers along a scale, words each in a colour of its own.
    fn colour(&self, scenario: &ScenarioResult) -> Colour {
        let place = self.place(scenario);
        match self.numeric && self.levels.len() > 2 {
            true => Colour::Scale(place as f64 / (self.levels.len() - 1) as f64),
            false => Colour::Series(place),
        }
    }
}

/// The numeric factor with the most levels where that is a scale; otherwise simply the largest.
fn colour_factor<'f, 'a>(factors: &'f [Factor<'a>]) -> Option<&'f Factor<'a>> {
    let largest = |numeric: bool| {
        let fits = factors.iter().filter(|f| f.numeric || !numeric);
        // The first of equals.
        fits.rev().max_by_key(|f| f.levels.len())
    };
    largest(true)
        .filter(|f| f.levels.len() > 2)
        .or_else(|| largest(false))
}

fn varied<'a>(scenarios: &[&'a ScenarioResult]) -> Vec<Factor<'a>> {
    let mut factors: Vec<Factor> = Vec::new();
    for level in scenarios.iter().flat_map(|s| &s.levels) {
        let new = || Factor {
            name: &level.factor,
            levels: Vec::new(),
            numeric: false,
        };
        let factor = entry(&mut factors, |f| f.name == level.factor, new);
        push_new(&mut factor.levels, level.level.as_str());
    }
    factors.retain(|f| f.levels.len() > 1);
    for factor in &mut factors {
        let number = |l: &&str| l.parse::<f64>().ok().filter(|n| n.is_finite());
        factor.numeric = factor.levels.iter().all(|l| number(l).is_some());
        if factor.numeric {
            let value = |l: &&str| number(l).unwrap_or(0.0);
            factor.levels.sort_by(|a, b| value(a).total_cmp(&value(b)));
        }
    }
    factors
}

fn phrase(scenario: &ScenarioResult, factors: &[Factor], wanted: impl Fn(&str) -> bool) -> String {
    let levels = scenario.levels.iter().filter(|l| {
        let varied = factors.iter().any(|f| f.name == l.factor);
        varied && wanted(&l.factor)
    });
    LevelFacts::phrase_of(levels)
}
