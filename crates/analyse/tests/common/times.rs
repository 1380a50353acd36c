//! Studies of given times.

use model::run::metric;
use model::{Level, Metric, RunRecord};

use super::{Recipe, World, factor};

/// Times of every scenario, in the order of the factors' levels, the last factor fastest.
pub fn world(factors: &[(&str, &[&str])], times: &[&[f64]]) -> World {
    let factors = factors.iter().map(|(name, levels)| {
        let levels: Vec<Level> = levels.iter().map(|level| Level::from(*level)).collect();
        factor(name, &levels)
    });
    let repetitions = times.iter().map(|values| values.len()).max().unwrap();
    let mut world = Recipe {
        factors: factors.collect(),
        repetitions: repetitions as u32,
        noise: 0.0,
        ..Recipe::default()
    }
    .world();
    world.records.retain_mut(|record| {
        let values = times[record.run.scenario as usize - 1];
        let Some(value) = values.get(record.run.repetition as usize - 1) else {
            return false;
        };
        set(record, metric::TRAIN_SECONDS, *value);
        record.seconds = *value;
        (record.bill, record.price) = (None, None);
        true
    });
    world
}

pub fn set(record: &mut RunRecord, name: &str, value: f64) {
    let unit = "s".to_owned();
    record
        .metrics
        .insert(name.to_owned(), Metric { value, unit });
}
