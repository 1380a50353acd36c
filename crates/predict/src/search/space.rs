//! The scenarios of a study as points.

/// Scenarios and the factors that make them.
#[derive(Debug, Clone)]
pub struct Space {
    pub factors: Vec<FactorSpace>,
    pub points: Vec<Point>,
}

/// What is known of the levels of a factor, on scales on which differences mean ratios: the logarithm of a batch size;
/// of a machine those of its cores, memory, price and speed. Nothing where a level is only a name.
#[derive(Debug, Clone)]
pub struct FactorSpace {
    pub levels: Vec<Vec<f64>>,
}

#[derive(Debug, Clone)]
pub struct Point {
    /// By factor.
    pub levels: Vec<usize>,
    /// Scenarios of one task are compared with each other.
    pub task: usize,
}

impl Space {
    pub fn tasks(&self) -> usize {
        self.points
            .iter()
            .map(|point| point.task + 1)
            .max()
            .unwrap_or(0)
    }

    /// Twice as many as effects of levels: with fewer, surrogates are surer than they should be.
    pub fn fewest_runs(&self) -> usize {
        let levels = self.factors.iter();
        let effects = levels.map(|factor| factor.levels.len().saturating_sub(1));
        2 * (1 + effects.sum::<usize>())
    }

    pub(super) fn level_counts(&self) -> Vec<Vec<usize>> {
        self.factors
            .iter()
            .map(|factor| vec![0; factor.levels.len()])
            .collect()
    }
}

impl FactorSpace {
    /// Squared distances of levels, each feature in units of its spread; none where levels are only names.
    pub(super) fn distances(&self) -> Option<Vec<Vec<f64>>> {
        let features = self.levels.iter().map(Vec::len).min()?;
        if features == 0 {
            return None;
        }
        let spreads: Vec<f64> = (0..features)
            .map(|feature| {
                let values: Vec<f64> = self.levels.iter().map(|level| level[feature]).collect();
                stats::summary(&values, 0.95).map_or(0.0, |summary| summary.sd)
            })
            .collect();
        let distance = |a: &Vec<f64>, b: &Vec<f64>| -> f64 {
            let parts = a.iter().zip(b).zip(&spreads);
            let parts = parts.filter(|(_, spread)| **spread > 0.0);
            let sum: f64 = parts
                .map(|((a, b), spread)| ((a - b) / spread).powi(2))
                .sum();
            sum / features as f64
        };
        let row = |a: &Vec<f64>| self.levels.iter().map(|b| distance(a, b)).collect();
        Some(self.levels.iter().map(row).collect())
    }
}
