//! Effects that may be those of the time of measurement: levels that were not measured in turn, while successive runs are
//! alike.

use stats::Interleaving;

use crate::dependence::is_apart;
use crate::design::{PresentFactor, by_scenario};
use crate::table::{Row, Table};

pub(crate) struct InTime {
    interleaving: Interleaving,
    /// Of every scenario, the place of its level of each factor.
    levels: Vec<Vec<usize>>,
    /// How many levels each factor has.
    counts: Vec<usize>,
}

impl InTime {
    /// `None` unless successive runs are alike.
    pub(crate) fn of(
        table: &Table,
        column: usize,
        rows: &[&Row],
        factors: &[PresentFactor],
    ) -> Option<Self> {
        let groups = by_scenario(rows);
        let interleaving = table.dependences.interleaving(&groups, column)?;
        let place = |row: &Row, factor: &PresentFactor| {
            let level = row.record.scenario.level(&factor.name)?.to_string();
            factor.levels.iter().position(|known| known.text == level)
        };
        let levels = |group: &&[&Row]| factors.iter().map(|f| place(group[0], f)).collect();
        Some(InTime {
            interleaving,
            levels: groups.iter().map(levels).collect::<Option<_>>()?,
            counts: factors.iter().map(|factor| factor.levels.len()).collect(),
        })
    }

    /// Whether what these factors do together cannot be separated from the time of measurement.
    pub(crate) fn confounds(&self, factors: &[usize]) -> bool {
        let pairs = |factor: usize| match (factors.len(), self.counts[factor]) {
            (1, levels) => pairs_of(levels),
            (2, levels) => (1..levels).map(|level| (level, 0)).collect(),
            // Products of more would be too many.
            (_, levels) => vec![(levels - 1, 0)],
        };
        let mut products = vec![Vec::new()];
        for factor in factors {
            products = products
                .iter()
                .flat_map(|known: &Vec<(usize, usize, usize)>| {
                    let each = pairs(*factor).into_iter();
                    each.map(|(level, base)| [known.as_slice(), &[(*factor, level, base)]].concat())
                })
                .collect();
        }
        products.iter().any(|pairs| self.is_apart(pairs))
    }

    fn is_apart(&self, pairs: &[(usize, usize, usize)]) -> bool {
        let sign = |levels: &Vec<usize>| {
            let signs = pairs
                .iter()
                .map(|(factor, level, base)| match levels[*factor] {
                    own if own == *level => 1.0,
                    own if own == *base => -1.0,
                    _ => 0.0,
                });
            signs.product::<f64>()
        };
        let mut weights: Vec<f64> = self.levels.iter().map(sign).collect();
        let of = |one: f64| weights.iter().filter(|sign| **sign == one).count() as f64;
        let (above, below) = (of(1.0), of(-1.0));
        for weight in &mut weights {
            *weight /= if *weight > 0.0 { above } else { below.max(1.0) };
        }
        above > 0.0 && below > 0.0 && is_apart(&self.interleaving, &weights)
    }
}

fn pairs_of(levels: usize) -> Vec<(usize, usize)> {
    let pairs = |level| (0..level).map(move |base| (level, base));
    (1..levels).flat_map(pairs).collect()
}
