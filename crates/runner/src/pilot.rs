//! A few short training runs, to say beforehand how long the whole will take.
//!
//! One scenario is tried and then each other level of each factor in turn, the rest unchanged:
//! the fewest runs that show every level once (Jain 1991, simple designs). The scenarios between
//! them follow from the product of the effects.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use model::job::PreviewJob;
use model::order::TrainOrder;
use model::{Asked, Order, Outcome, Phase, Scenario, Status, Stop, Work};
use place::{Cancel, Place, PlaceError, Ticket};
use predict::whole_run::{self, Length};

use crate::error::RunnerError;
use crate::forecast::{Grounds, RunForecast, fill_unknown};
use crate::orders::ScenarioOrder;
use crate::preview;

pub struct PilotOptions<'a> {
    /// By scenario number.
    pub orders: &'a BTreeMap<u32, ScenarioOrder>,
    /// By environment; scenarios without one are not tried.
    pub place_of: &'a dyn Fn(&str) -> Option<&'a dyn Place>,
    pub stop: &'a Stop,
    /// Emptied by the caller afterwards.
    pub folder: &'a Path,
}

/// At most so many steps of a pilot, over few images, or seconds of training.
const STEPS: u32 = 32;
const STEPS_IN_AN_EPOCH: u32 = 8;
const SECONDS: f64 = 2.0;
/// At which the time of a step is known well enough for a forecast.
const PRECISION: f64 = 0.05;
const HELD_OUT_BATCHES: u32 = 3;
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
        let Some(ScenarioOrder { order, length, .. }) = order else {
            continue;
        };
        let (Work::Train(train), Some(length)) = (&order.work, length) else {
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
        let short = shortened(order, train, length);
        match short_run(&short, length, place, options)? {
            ShortRun::Seen(phases) => {
                // It sees neither heat nor neighbours: how far its steps lie apart says little.
                let forecast = RunForecast {
                    grounds: Grounds::of_pilot(scenario.number),
                    ..RunForecast::exactly(phases)
                };
                pilot.expected.insert(scenario.number, forecast);
            }
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
    /// Phases of the whole run.
    Seen(Vec<Phase>),
    EndedBadly(Outcome),
}

/// A few steps of the same training.
fn shortened(order: &Order, train: &TrainOrder, length: &Length) -> Order {
    let mut short = train.clone();
    let batch = length.batch.max(1);
    let images = length.images.min(batch.saturating_mul(STEPS_IN_AN_EPOCH));
    let held_out = length.held_out.min(batch.saturating_mul(HELD_OUT_BATCHES));
    short.job.data.images = Some(images);
    short.job.data.held_out = Some(held_out);
    short.job.epochs = STEPS;
    short.job.accuracy_each_epoch = false;
    short.job.preview = Some(PreviewJob {
        steps: u32::try_from(length.whole_steps()).map_or(STEPS, |whole| whole.min(STEPS)),
        held_out_batches: HELD_OUT_BATCHES,
        enough: None,
        precision: PRECISION,
        seconds: Some(SECONDS),
    });
    short.keep_model = false;
    // The images of the run itself are kept; fewer are of no use to anyone.
    short.discard_images = (images, held_out) != (length.images, length.held_out);
    Order {
        id: format!("{}-pilot", order.id),
        work: Work::Train(Box::new(short)),
        ..order.clone()
    }
}

fn short_run(
    order: &Order,
    length: &Length,
    place: &dyn Place,
    options: &PilotOptions<'_>,
) -> Result<ShortRun, RunnerError> {
    let folder = options.folder.join(&order.id);
    let made = std::fs::create_dir_all(&folder);
    made.map_err(|error| PlaceError::Refused(format!("{}: {error}", folder.display())))?;
    let ticket = place.start(order, &folder)?;
    let followed = follow(&ticket, place, options.stop);
    let measurement = place.fetch(&ticket, &folder);
    place.clean_up(&ticket)?;
    followed?;
    let measurement = measurement?;
    let whole = match &order.work {
        Work::Train(train) if measurement.outcome.status == Status::Ok => {
            let preview = train.job.preview.as_ref();
            preview.and_then(|preview| {
                let seen = preview::beginning(&folder, &measurement, preview);
                let whole = whole_run::predict(&seen, length);
                let whole = whole.map(|whole| whole.phases);
                whole.or_else(|| whole_run::roughly(&seen, length))
            })
        }
        _ => None,
    };
    Ok(match whole {
        Some(phases) => ShortRun::Seen(phases),
        None => ShortRun::EndedBadly(measurement.outcome),
    })
}

/// To its end.
fn follow(ticket: &Ticket, place: &dyn Place, stop: &Stop) -> Result<(), PlaceError> {
    loop {
        match stop.asked() {
            Asked::Nothing | Asked::Pause => {}
            Asked::Finish => place.cancel(ticket, Cancel::Finish)?,
            Asked::Now => place.cancel(ticket, Cancel::Now)?,
        }
        if place.follow(ticket, LOOK)?.has_ended {
            return Ok(());
        }
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
}
