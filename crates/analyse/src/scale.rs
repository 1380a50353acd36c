//! Whether the logarithmic scale would contradict the means that everything else is said of.
//!
//! Ratios on the logarithmic scale are of geometric means. Where some levels vary much more than others, these may be in
//! another order than the means: "b takes 2.5 times as long" beside "fastest: b".

use stats::{CellMeans, Design, LevelPair, Observation, StatsError};

/// A difference that is less sure than this is no contradiction; it is a question of its own, not one of the study's.
const SURE: f64 = 0.05;
/// Of so many levels pairs are not looked at one by one.
const MOST_LEVELS: usize = 60;

/// Whether any two levels of a factor differ in opposite ways by their means and by the logarithms.
pub(crate) fn contradicts(design: &Design, data: &[Observation]) -> Result<bool, StatsError> {
    let logs: Vec<Observation> = data
        .iter()
        .map(|o| Observation {
            levels: o.levels.clone(),
            value: o.value.ln(),
        })
        .collect();
    let means = CellMeans::new(design, data, None)?;
    let logs = CellMeans::new(design, &logs, None)?;
    let few = design.levels.iter().enumerate();
    let few = few.filter(|(_, levels)| **levels <= MOST_LEVELS);
    let mut pairs = few.flat_map(|(factor, levels)| {
        let pairs = (1..*levels).flat_map(|level| (0..level).map(move |base| (level, base)));
        pairs.map(move |(level, base)| LevelPair {
            factor,
            level,
            base,
        })
    });
    Ok(pairs.any(|pair| {
        let found = [&means, &logs].map(|of| of.difference(pair, &[]));
        let [Some(mean), Some(log)] = found else {
            return false;
        };
        mean.value * log.value < 0.0 && mean.p().min(log.p()) < SURE
    }))
}
