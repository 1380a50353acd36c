//! D-optimal designs by exchange of coordinates (Meyer and Nachtsheim 1995): of all sets of so many
//! scenarios, one whose estimates have the smallest joint confidence region. Several random starts;
//! no scenario twice, none that is excluded.

use std::collections::BTreeSet;

use crate::contrasts::ModelMatrix;
use crate::linear::{Matrix, gram, invert};
use crate::{Row, Shuffler, varied};

const STARTS: u64 = 12;
const PASSES: usize = 30;
/// Draws for a start before giving up: exclusions may leave little.
const DRAWS: usize = 200;
/// Keeps a start invertible that cannot estimate everything yet.
const RIDGE: f64 = 1e-6;
/// An exchange must be better by more than rounding.
const BETTER: f64 = 1e-9;
/// Where there are no more combinations, a start is drawn from their list.
const LISTED: usize = 20_000;

pub struct Wanted<'a> {
    pub counts: &'a [usize],
    pub scenarios: usize,
    /// In the model beside the main effects, as sets of factors.
    pub interactions: &'a [Vec<usize>],
    pub is_excluded: &'a dyn Fn(&[usize]) -> bool,
    pub seed: u64,
}

/// Fewer rows where exclusions leave no more.
pub fn d_optimal(wanted: &Wanted<'_>) -> Vec<Row> {
    let mut effects: Vec<Vec<usize>> = varied(wanted.counts).into_iter().map(|f| vec![f]).collect();
    effects.extend(wanted.interactions.iter().cloned());
    let search = Search {
        matrix: ModelMatrix::new(wanted.counts, effects),
        listed: listed(wanted),
        wanted,
    };
    if let Some(all) = search
        .listed
        .as_ref()
        .filter(|all| all.len() <= wanted.scenarios)
    {
        return all.clone();
    }
    let starts = (0..STARTS).map(|start| search.improved(Shuffler::stream(wanted.seed, start)));
    // The first of equals, so that more starts would change nothing.
    let best = starts.reduce(|a, b| {
        if b.log_determinant > a.log_determinant + BETTER {
            b
        } else {
            a
        }
    });
    let mut rows = best.map(|found| found.rows).unwrap_or_default();
    rows.sort();
    rows
}

fn listed(wanted: &Wanted<'_>) -> Option<Vec<Row>> {
    let mut counts = wanted.counts.iter();
    let all = counts.try_fold(1_usize, |all, count| all.checked_mul(*count))?;
    let is_kept = |row: &Row| !(wanted.is_excluded)(row);
    (all <= LISTED).then(|| {
        crate::full(wanted.counts.to_vec())
            .filter(is_kept)
            .collect()
    })
}

struct Search<'a> {
    wanted: &'a Wanted<'a>,
    matrix: ModelMatrix,
    /// All rows that are not excluded, where they are few.
    listed: Option<Vec<Row>>,
}

struct Found {
    rows: Vec<Row>,
    log_determinant: f64,
}

impl Search<'_> {
    fn start(&self, random: &mut Shuffler) -> Vec<Row> {
        let size = self.wanted.scenarios;
        if let Some(all) = &self.listed {
            let mut all = all.clone();
            random.shuffle(&mut all);
            all.truncate(size);
            return all;
        }
        let mut rows: Vec<Row> = Vec::new();
        for _ in 0..DRAWS * size {
            if rows.len() == size {
                break;
            }
            let draw = |count: &usize| random.below(*count as u64) as usize;
            let row: Row = self.wanted.counts.iter().map(draw).collect();
            if !(self.wanted.is_excluded)(&row) && !rows.contains(&row) {
                rows.push(row);
            }
        }
        rows
    }

    fn improved(&self, mut random: Shuffler) -> Found {
        let mut rows = self.start(&mut random);
        let mut taken: BTreeSet<Row> = rows.iter().cloned().collect();
        let mut inverse = self.inverse(&rows).1;
        for _ in 0..PASSES {
            let mut is_better = false;
            for place in 0..rows.len() {
                if let Some(better) = self.better(&rows[place], rows.len(), &taken, &inverse) {
                    taken.remove(&rows[place]);
                    taken.insert(better.clone());
                    rows[place] = better;
                    inverse = self.inverse(&rows).1;
                    is_better = true;
                }
            }
            if !is_better {
                break;
            }
        }
        let log_determinant = self.inverse(&rows).0;
        Found {
            rows,
            log_determinant,
        }
    }

    /// Of the mean of outer products, with a little added.
    fn inverse(&self, rows: &[Row]) -> (f64, Matrix) {
        let rows = rows.iter().map(|row| self.matrix.row(row));
        let mut gram = gram(self.matrix.columns(), rows);
        for (place, row) in gram.iter_mut().enumerate() {
            row[place] += RIDGE;
        }
        invert(&gram).unwrap_or((f64::NEG_INFINITY, gram))
    }

    /// The row with one level changed that raises the determinant most.
    fn better(
        &self,
        row: &Row,
        size: usize,
        taken: &BTreeSet<Row>,
        inverse: &Matrix,
    ) -> Option<Row> {
        let old = self.matrix.row(row);
        let (of_old, size) = (times(inverse, &old), size as f64);
        let old_variance = dot(&old, &of_old) / size;
        let mut best: Option<(f64, Row)> = None;
        for factor in 0..row.len() {
            for level in (0..self.wanted.counts[factor]).filter(|l| *l != row[factor]) {
                let mut changed = row.clone();
                changed[factor] = level;
                if taken.contains(&changed) || (self.wanted.is_excluded)(&changed) {
                    continue;
                }
                let new = self.matrix.row(&changed);
                let new_variance = dot(&new, &times(inverse, &new)) / size;
                let both = dot(&new, &of_old) / size;
                // How much larger the determinant becomes (Fedorov 1972).
                let ratio = (1.0 + new_variance) * (1.0 - old_variance) + both * both;
                if ratio > 1.0 + BETTER && best.as_ref().is_none_or(|(other, _)| ratio > *other) {
                    best = Some((ratio, changed));
                }
            }
        }
        best.map(|(_, row)| row)
    }
}

fn times(matrix: &Matrix, vector: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| dot(row, vector)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
