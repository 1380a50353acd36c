//! What figures share: a metric with its unit, scenarios as categories, what a scenario says.

use analyse::lists::entry;
use analyse::{Analysis, MetricInfo, ScenarioResult, format, metric_value};
use messages::{message, word};

use crate::figure::{Axis, Category, Colour, Mark, Point, Series};
use crate::view::{typical, unit_of};

/// Part of a scenario's room that its single runs are spread over.
const RUNS_WIDTH: f64 = 0.5;

/// Scenarios that belong in one figure.
pub(super) struct Group<'a> {
    pub(super) scenarios: Vec<&'a ScenarioResult>,
    /// ` on gpu`, or nothing where there is only one environment.
    pub(super) place: String,
}

/// Those that have run, however they ended.
pub(super) fn by_environment(analysis: &Analysis) -> Vec<Group<'_>> {
    let environments = analysis.environments();
    let several = environments.len() > 1;
    let group = |environment: &str| Group {
        scenarios: analysis
            .scenarios
            .iter()
            .filter(|s| s.environment == environment && s.runs.total() > 0)
            .collect(),
        place: match several {
            true => message!("place-on", environment),
            false => String::new(),
        },
    };
    environments.into_iter().map(group).collect()
}

/// Scenarios of several environments in one figure.
const MOST_TOGETHER: usize = 20;
/// More bars than this are too thin to be read.
const MOST_BARS: usize = 60;
/// More parts than this are cut by number alone.
const MOST_PARTS: usize = 12;

/// Environments are compared, so few scenarios share a figure; more have one for each environment. A large one is
/// divided by the first factor whose levels make parts that can be read, or else simply by number.
pub(super) fn figures_of(analysis: &Analysis) -> Vec<Group<'_>> {
    let all = measured(analysis);
    if all.scenarios.len() <= MOST_TOGETHER {
        return vec![all];
    }
    let groups = by_environment(analysis).into_iter();
    groups.flat_map(|group| divided(analysis, group)).collect()
}

/// All environments in one figure, where that can be read.
pub(super) fn together(analysis: &Analysis) -> Vec<Group<'_>> {
    let all = measured(analysis);
    match all.scenarios.len() <= MOST_BARS {
        true => vec![all],
        false => figures_of(analysis),
    }
}

fn measured(analysis: &Analysis) -> Group<'_> {
    let measured = analysis.scenarios.iter().filter(|s| s.runs.total() > 0);
    Group {
        scenarios: measured.collect(),
        place: String::new(),
    }
}

fn divided<'a>(analysis: &'a Analysis, group: Group<'a>) -> Vec<Group<'a>> {
    if group.scenarios.len() <= MOST_BARS {
        return vec![group];
    }
    let mut factors = analysis.study.factors.iter();
    let parts = factors.find_map(|factor| by_level(&group, &factor.name));
    parts.unwrap_or_else(|| {
        let parts = group.scenarios.chunks(MOST_BARS).map(|part| {
            let ends = (part.first(), part.last());
            let named = ends.0.zip(ends.1);
            let named = named.map(|(a, b)| {
                let (from, to) = (&a.label, &b.label);
                message!("place-from-to", from, to)
            });
            Group {
                scenarios: part.to_vec(),
                place: format!("{}{}", group.place, named.unwrap_or_default()),
            }
        });
        parts.collect()
    })
}

fn by_level<'a>(group: &Group<'a>, factor: &str) -> Option<Vec<Group<'a>>> {
    let mut parts: Vec<(&str, Group<'a>)> = Vec::new();
    for scenario in &group.scenarios {
        let level = scenario.level(factor)?;
        let new = || {
            let part = Group {
                scenarios: Vec::new(),
                place: format!("{}, {}", group.place, level.phrase),
            };
            (level.level.as_str(), part)
        };
        let part = entry(&mut parts, |(known, _)| *known == level.level, new);
        part.1.scenarios.push(scenario);
    }
    let is_readable = |(_, part): &(&str, Group)| part.scenarios.len() <= MOST_BARS;
    let fits = (2..=MOST_PARTS).contains(&parts.len()) && parts.iter().all(is_readable);
    fits.then(|| parts.into_iter().map(|(_, part)| part).collect())
}

/// A metric in the unit its axis is drawn in.
pub(super) struct MetricAxis<'a> {
    pub(super) info: &'a MetricInfo,
    unit: format::Unit,
}

impl<'a> MetricAxis<'a> {
    pub(super) fn new(info: &'a MetricInfo, scenarios: &[&ScenarioResult]) -> Self {
        let means = scenarios.iter().filter_map(|s| s.mean(&info.name));
        MetricAxis {
            info,
            unit: unit_of(info, typical(means.map(|e| e.value)).unwrap_or(0.0)),
        }
    }

    pub(super) fn title(&self) -> String {
        match self.unit.name {
            "" => self.info.label.clone(),
            unit => format!("{} ({unit})", self.info.label),
        }
    }

    pub(super) fn value(&self, scenario: &ScenarioResult) -> Option<f64> {
        let mean = scenario.mean(&self.info.name);
        mean.map(|mean| self.scaled(mean.value))
    }

    /// In the unit of the axis.
    pub(super) fn scaled(&self, value: f64) -> f64 {
        value / self.unit.scale
    }

    pub(super) fn text(&self, scenario: &ScenarioResult) -> String {
        let Some(mean) = scenario.mean(&self.info.name) else {
            return format::NONE.to_owned();
        };
        let quantity = format::quantity(mean, self.unit.scale).text();
        format!("{} {quantity} {}", self.info.label, self.unit.name)
    }

    /// A bar for each scenario, at its place among them.
    pub(super) fn bars(&self, scenarios: &[&ScenarioResult], colour: Colour) -> Series {
        let bar = |(place, scenario): (usize, &&ScenarioResult)| {
            let mean = scenario.mean(&self.info.name);
            let margin = mean.and_then(|e| e.margin());
            Point::new(place as f64, self.value(scenario))
                .margin(margin.map(|m| m / self.unit.scale))
                .says(self.text(scenario))
        };
        Series::new(self.title(), colour, Mark::Bars).with(scenarios.iter().enumerate().map(bar))
    }

    pub(super) fn single_runs(&self, analysis: &Analysis, scenarios: &[&ScenarioResult]) -> Series {
        let column = analysis
            .metrics
            .iter()
            .position(|m| m.name == self.info.name);
        let ok = analysis
            .runs
            .iter()
            .filter(|r| r.status == model::Status::Ok && r.excluded.is_none());
        let mut met = vec![0; scenarios.len()];
        let points = ok.filter_map(|run| {
            let place = scenarios.iter().position(|s| s.number == run.scenario)?;
            let value = run.values.get(column?).copied().flatten()?;
            let text = format!("{}: {}", run.run, metric_value(self.info, value));
            // Side by side, so that equal ones do not hide each other.
            let all = scenarios[place].runs.ok.max(1) as f64;
            let beside = ((f64::from(met[place]) + 0.5) / all - 0.5) * RUNS_WIDTH;
            met[place] += 1;
            Some(Point::new(place as f64 + beside, value / self.unit.scale).says(text))
        });
        Series::new(
            word!("figure-single-runs"),
            Colour::Faint,
            Mark::Symbols { size: 5.0 },
        )
        .with(points)
    }
}

/// Scenarios as categories, at their places.
pub(super) fn scenario_axis(scenarios: &[&ScenarioResult]) -> Axis {
    Axis::categories(
        word!("head-scenario"),
        scenarios.iter().map(|s| category(s)).collect(),
    )
}

pub(super) fn category(scenario: &ScenarioResult) -> Category {
    Category {
        short: scenario.label.clone(),
        long: scenario.levels.iter().map(|l| l.phrase.clone()).collect(),
    }
}

/// What a point of a scenario says where the axis does not name it.
pub(super) fn heading(scenario: &ScenarioResult) -> String {
    format!("{} {}", scenario.label, scenario.phrase())
        .trim_end()
        .to_owned()
}
