//! Observations gathered by combination of levels.

use std::collections::BTreeMap;

use super::{Design, Explained, Observation};
use crate::error::StatsError;
use crate::precise::{centre, sum, sum_of_squares};

/// Observations gathered by combination of levels, centred, with levels that never occur left out.
#[derive(Debug)]
pub(crate) struct Cells {
    /// For each factor, how many of its levels occur.
    pub(crate) levels: Vec<usize>,
    /// For each factor and original level, its place among those that occur.
    pub(crate) place_of_level: Vec<Vec<Option<usize>>>,
    /// The cells that occur, in order of their levels.
    pub(crate) cells: Vec<Cell>,
    /// For each observation, its cell.
    pub(crate) cell_of: Vec<usize>,
    /// Values less their mean.
    pub(crate) values: Vec<f64>,
    pub(crate) mean: f64,
    pub(crate) total_sum_of_squares: f64,
    pub(crate) balanced: bool,
    pub(crate) replicated: bool,
}

#[derive(Debug)]
pub(crate) struct Cell {
    /// Level of each factor, among those that occur.
    pub(crate) levels: Vec<usize>,
    pub(crate) count: usize,
    /// Mean of its values, which are centred.
    pub(crate) mean: f64,
}

/// Terms are kept as sets of bits.
const MOST_FACTORS: usize = 32;

impl Cells {
    pub(crate) fn new(design: &Design, observations: &[Observation]) -> Result<Self, StatsError> {
        check(design, observations)?;
        let place_of_level = occurring_levels(design, observations);
        let levels: Vec<usize> = place_of_level
            .iter()
            .map(|places| places.iter().flatten().count())
            .collect();
        let mut index: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for (number, observation) in observations.iter().enumerate() {
            let key = observation
                .levels
                .iter()
                .zip(&place_of_level)
                .filter_map(|(level, places)| places.get(*level).copied().flatten())
                .collect();
            index.entry(key).or_default().push(number);
        }
        let centred = centre_on_mean(observations);
        let mut cell_of = vec![0; observations.len()];
        let mut cells = Vec::with_capacity(index.len());
        for (levels, members) in index {
            let values: Vec<f64> = members
                .iter()
                .map(|member| centred.values[*member])
                .collect();
            for member in &members {
                cell_of[*member] = cells.len();
            }
            cells.push(Cell {
                levels,
                count: members.len(),
                mean: sum(&values) / values.len() as f64,
            });
        }
        let mut gathered = Self {
            levels,
            place_of_level,
            cells,
            cell_of,
            total_sum_of_squares: sum_of_squares(centred.values.iter().copied()),
            mean: centred.shift,
            values: centred.values,
            balanced: false,
            replicated: false,
        };
        gathered.balanced = gathered.is_balanced();
        gathered.replicated = gathered.is_replicated();
        Ok(gathered)
    }

    pub(crate) fn count(&self) -> usize {
        self.values.len()
    }

    /// Factors that vary, counted as the caller does.
    pub(crate) fn varying(&self) -> Vec<usize> {
        (0..self.levels.len())
            .filter(|factor| self.levels[*factor] > 1)
            .collect()
    }

    /// The highest order of interaction that can have a term: without replication the highest of all is needed
    /// as residual.
    pub(crate) fn usable_order(&self, max_order: usize) -> usize {
        let varying = self.varying().len();
        if self.replicated {
            max_order.min(varying)
        } else {
            max_order.min(varying.saturating_sub(1)).max(1)
        }
    }

    /// Each observation less the mean of its cell.
    pub(crate) fn within(&self) -> Vec<f64> {
        self.values
            .iter()
            .zip(&self.cell_of)
            .map(|(value, cell)| value - self.cells[*cell].mean)
            .collect()
    }

    /// What repetitions of the same combination differ by.
    pub(crate) fn within_cells(&self) -> Explained {
        Explained {
            degrees_of_freedom: self.count() - self.cells.len(),
            sum_of_squares: sum_of_squares(self.within()),
        }
    }

    /// All combinations of levels occur equally often.
    fn is_balanced(&self) -> bool {
        let combinations = self
            .levels
            .iter()
            .try_fold(1usize, |product, levels| product.checked_mul(*levels));
        let each = self.cells.first().map_or(0, |cell| cell.count);
        combinations == Some(self.cells.len()) && self.cells.iter().all(|cell| cell.count == each)
    }

    /// At least half of the cells are repeated: fewer would leave a residual too uncertain to test against.
    fn is_replicated(&self) -> bool {
        let repeated = self.cells.iter().filter(|cell| cell.count > 1).count();
        2 * repeated >= self.cells.len()
    }
}

fn check(design: &Design, observations: &[Observation]) -> Result<(), StatsError> {
    if design.levels.len() > MOST_FACTORS {
        return Err(StatsError::TooManyFactors {
            most: MOST_FACTORS,
            given: design.levels.len(),
        });
    }
    if observations.len() < 2 {
        return Err(StatsError::TooFew {
            needed: 2,
            given: observations.len(),
        });
    }
    for (index, observation) in observations.iter().enumerate() {
        if observation.levels.len() != design.levels.len() {
            return Err(StatsError::WrongFactorCount {
                index,
                expected: design.levels.len(),
                given: observation.levels.len(),
            });
        }
        for (factor, (level, levels)) in observation.levels.iter().zip(&design.levels).enumerate() {
            if level >= levels {
                return Err(StatsError::LevelOutOfRange {
                    index,
                    factor,
                    level: *level,
                    levels: *levels,
                });
            }
        }
        if !observation.value.is_finite() {
            return Err(StatsError::NotFinite { index });
        }
    }
    Ok(())
}

fn occurring_levels(design: &Design, observations: &[Observation]) -> Vec<Vec<Option<usize>>> {
    design
        .levels
        .iter()
        .enumerate()
        .map(|(factor, levels)| {
            let mut occurs = vec![false; *levels];
            for observation in observations {
                occurs[observation.levels[factor]] = true;
            }
            let mut next = 0;
            occurs
                .into_iter()
                .map(|occurs| {
                    occurs.then(|| {
                        next += 1;
                        next - 1
                    })
                })
                .collect()
        })
        .collect()
}

/// The values less their mean; the shift is the mean.
fn centre_on_mean(observations: &[Observation]) -> crate::precise::Centred {
    let values: Vec<f64> = observations
        .iter()
        .map(|observation| observation.value)
        .collect();
    let mut centred = centre(&values);
    let rest = sum(&centred.values) / values.len() as f64;
    for value in &mut centred.values {
        *value -= rest;
    }
    centred.shift += rest;
    centred
}
