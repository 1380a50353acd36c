//! A few short training runs, to say beforehand how long the whole will take.
//!
//! One scenario is tried and then each other level of each factor in turn, the rest unchanged:
//! the fewest runs that show every level once (Jain 1991, simple designs). The scenarios between
//! them follow from the product of the effects.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use model::order::TrainOrder;
use model::run::phase;
use model::{
    Asked, EventKind, Happening, Order, Outcome, Phase, Scenario, Status, Stop, TrainJob, Work,
};
use place::{Cancel, Place, PlaceError, Ticket};

use crate::error::RunnerError;
use crate::forecast::{Grounds, RunForecast, fill_unknown};
use crate::orders::{OrderBuilder, ScenarioOrder};

pub struct PilotOptions<'a> {
    /// By scenario number.
    pub orders: &'a BTreeMap<u32, ScenarioOrder>,
    pub builder: &'a OrderBuilder<'a>,
    /// By environment; scenarios without one are not tried.
    pub place_of: &'a dyn Fn(&str) -> Option<&'a dyn Place>,
    pub stop: &'a Stop,
    /// Emptied by the caller afterwards.
    pub folder: &'a Path,
}

/// Full steps a pilot takes, after one that warms up.
const STEPS: u32 = 4;
const HELD_OUT: u32 = 64;
const LOOK: Duration = Duration::from_millis(100);

/// What the short runs showed.
#[derive(Debug, Default)]
pub struct Pilot {
    /// By scenario number; those that were not tried, or did not end well, from the others.
    pub expected: BTreeMap<u32, RunForecast>,
    pub tried: usize,
    /// Not fitting in memory, say, is a result that the study itself will give: here it only
    /// means that nothing is known of the scenario's time.
    pub ended_badly: Vec<BadPilot>,
}

#[derive(Debug)]
pub struct BadPilot {
    pub scenario: Scenario,
    pub outcome: Outcome,
}

/// Expected runs of all scenarios of a training study. Commands cannot be shortened: for them
/// there is nothing to pilot.
pub fn pilot(
    scenarios: &[Scenario],
    options: &PilotOptions<'_>,
    tell: &mut dyn FnMut(&Scenario),
) -> Result<Pilot, RunnerError> {
    let mut pilot = Pilot::default();
    for scenario in one_at_a_time(scenarios) {
        if options.stop.asked() != Asked::Nothing {
            break;
        }
        let order = options.orders.get(&scenario.number);
        let Some(ScenarioOrder { order, .. }) = order else {
            continue;
        };
        let Work::Train(train) = &order.work else {
            break;
        };
        let Some(place) = (options.place_of)(&order.environment) else {
            continue;
        };
        if pilot.tried == 0 {
            // So that no pilot finds out for itself what the machine is.
            place.describe()?;
        }
        tell(scenario);
        pilot.tried += 1;
        let (short, lengths) = shortened(order, train, options.builder);
        match short_run(scenario.number, &short, &lengths, place, options)? {
            ShortRun::Seen(forecast) => _ = pilot.expected.insert(scenario.number, forecast),
            ShortRun::EndedBadly(outcome) => pilot.ended_badly.push(BadPilot {
                scenario: scenario.clone(),
                outcome,
            }),
        }
    }
    fill_unknown(&mut pilot.expected, scenarios);
    Ok(pilot)
}

/// The first scenario, those that differ from it in one factor, and, where exclusions or the design
/// keep a level from standing beside the first one's, one scenario that shows it; then others,
/// until there are as many as levels' effects.
fn one_at_a_time(scenarios: &[Scenario]) -> Vec<&Scenario> {
    let Some(base) = scenarios.first() else {
        return Vec::new();
    };
    let differences = |s: &Scenario| {
        s.levels
            .iter()
            .zip(&base.levels)
            .filter(|(a, b)| a != b)
            .count()
    };
    let mut tried: Vec<&Scenario> = scenarios.iter().filter(|s| differences(s) <= 1).collect();
    for scenario in scenarios {
        let is_new = |place: usize| {
            let level = &scenario.levels[place];
            !tried.iter().any(|s| s.levels.get(place) == Some(level))
        };
        if (0..scenario.levels.len()).any(is_new) {
            tried.push(scenario);
        }
    }
    let mut levels: Vec<(usize, String)> = scenarios
        .iter()
        .flat_map(|s| s.levels.iter().enumerate())
        .map(|(place, level)| (place, level.level.to_string()))
        .collect();
    levels.sort();
    levels.dedup();
    let needed = 1 + levels.len() - base.levels.len();
    let others = scenarios.iter().filter(|s| !tried.contains(s));
    let others: Vec<&Scenario> = others.take(needed.saturating_sub(tried.len())).collect();
    tried.extend(others);
    tried
}

enum ShortRun {
    Seen(RunForecast),
    EndedBadly(Outcome),
}

/// A few steps of the same training.
fn shortened(order: &Order, train: &TrainOrder, builder: &OrderBuilder<'_>) -> (Order, Lengths) {
    let whole = &train.job;
    let counts = Counts::of(whole, builder);
    let mut short = train.clone();
    let data = &mut short.job.data;
    data.images = Some(counts.images.min(whole.batch.saturating_mul(STEPS + 1)));
    data.held_out = Some(counts.held_out.min(HELD_OUT));
    short.job.epochs = 1;
    short.keep_model = false;
    // The images of the run itself are kept; fewer are of no use to anyone.
    short.discard_images = Counts::of(&short.job, builder) != counts;
    let lengths = Lengths::new(whole, &short.job, &counts);
    let order = Order {
        id: format!("{}-pilot", order.id),
        work: Work::Train(Box::new(short)),
        ..order.clone()
    };
    (order, lengths)
}

fn short_run(
    scenario: u32,
    order: &Order,
    lengths: &Lengths,
    place: &dyn Place,
    options: &PilotOptions<'_>,
) -> Result<ShortRun, RunnerError> {
    let folder = options.folder.join(&order.id);
    let made = std::fs::create_dir_all(&folder);
    made.map_err(|error| PlaceError::Refused(format!("{}: {error}", folder.display())))?;
    let ticket = place.start(order, &folder)?;
    let steps = follow(&ticket, place, options.stop);
    let measurement = place.fetch(&ticket, &folder);
    place.clean_up(&ticket)?;
    let (steps, measurement) = (steps?, measurement?);
    if measurement.outcome.status != Status::Ok || steps.is_empty() {
        return Ok(ShortRun::EndedBadly(measurement.outcome));
    }
    let forecast = stretch(scenario, &measurement.phases, &steps, lengths);
    Ok(ShortRun::Seen(forecast))
}

/// Seconds of each step.
fn follow(ticket: &Ticket, place: &dyn Place, stop: &Stop) -> Result<Vec<f64>, PlaceError> {
    let mut steps = Vec::new();
    loop {
        match stop.asked() {
            Asked::Nothing => {}
            Asked::Finish => place.cancel(ticket, Cancel::Finish)?,
            Asked::Now => place.cancel(ticket, Cancel::Now)?,
        }
        let followed = place.follow(ticket, LOOK)?;
        steps.extend(followed.happenings.iter().filter_map(|happened| {
            let Happening::Event(event) = happened else {
                return None;
            };
            match event.kind {
                EventKind::Step { seconds, .. } => seconds,
                _ => None,
            }
        }));
        if followed.has_ended {
            return Ok(steps);
        }
    }
}

/// Images of a run.
#[derive(PartialEq)]
struct Counts {
    images: u32,
    held_out: u32,
}

impl Counts {
    fn of(job: &TrainJob, builder: &OrderBuilder<'_>) -> Self {
        let data = &job.data;
        let info = builder
            .dataset(&data.dataset, data.data_dir.as_deref())
            .ok();
        Counts {
            images: data.images.or(info.map(|i| i.images)).unwrap_or(1),
            held_out: data.held_out.or(info.map(|i| i.held_out)).unwrap_or(0),
        }
    }
}

/// How much longer the whole run is than the pilot.
struct Lengths {
    steps: f64,
    held_out: f64,
}

impl Lengths {
    fn new(whole: &TrainJob, short: &TrainJob, counts: &Counts) -> Self {
        let &Counts { images, held_out } = counts;
        let ratio = |whole: u32, short: Option<u32>| {
            f64::from(whole) / f64::from(short.unwrap_or(whole).max(1))
        };
        Lengths {
            steps: f64::from(images.div_ceil(whole.batch.max(1))) * f64::from(whole.epochs),
            held_out: ratio(held_out, short.data.held_out),
        }
    }
}

fn stretch(scenario: u32, phases: &[Phase], steps: &[f64], lengths: &Lengths) -> RunForecast {
    let warm = if steps.len() > 1 { &steps[1..] } else { steps };
    let mut sorted = warm.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];
    let stretched = phases.iter().map(|p| {
        let seconds = match p.name.as_str() {
            phase::TRAIN => steps[0] + median * (lengths.steps - 1.0),
            phase::VERIFY => p.seconds * lengths.held_out,
            _ => p.seconds,
        };
        Phase {
            seconds,
            ..p.clone()
        }
    });
    // A pilot sees neither heat nor neighbours: how far its steps lie apart says little.
    RunForecast {
        grounds: Grounds::of_pilot(scenario),
        ..RunForecast::exactly(stretched.collect())
    }
}

#[cfg(test)]
mod tests {
    use model::study::FactorLevel;

    use super::*;

    #[test]
    fn every_level_is_tried_once() {
        let levels = |a: i64, b: i64| {
            let level = |factor: &str, value: i64| FactorLevel {
                factor: factor.into(),
                level: value.into(),
            };
            vec![level("a", a), level("b", b)]
        };
        let mut scenarios = Vec::new();
        for a in 0..3 {
            for b in 0..4 {
                scenarios.push(Scenario {
                    number: scenarios.len() as u32 + 1,
                    levels: levels(a, b),
                });
            }
        }
        // Exclusions took every scenario that shows b = 3 beside the first one's a.
        let gaps: Vec<Scenario> = scenarios
            .iter()
            .filter(|s| s.number != 4)
            .cloned()
            .collect();
        let tried: Vec<u32> = one_at_a_time(&gaps).iter().map(|s| s.number).collect();
        assert_eq!(tried, [1, 2, 3, 5, 9, 8]);
        let tried: Vec<u32> = one_at_a_time(&scenarios).iter().map(|s| s.number).collect();
        assert_eq!(tried, [1, 2, 3, 4, 5, 9]);
    }

    #[test]
    fn the_first_step_is_counted_once() {
        let phases = [Phase {
            name: "train".into(),
            begin_seconds: 0.0,
            seconds: 3.0,
        }];
        let lengths = Lengths {
            steps: 11.0,
            held_out: 1.0,
        };
        let forecast = stretch(1, &phases, &[1.0, 0.1, 0.1, 0.1], &lengths);
        assert!((forecast.seconds().value - 2.0).abs() < 1e-9);
    }
}
