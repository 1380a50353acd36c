//! A Gaussian process over the scenarios: what a quantity's logarithm probably is where it was not measured.
//!
//! Logarithms of times are nearly sums of main effects, with interactions that are smaller the more factors they have.
//! The kernel says that: a product over factors of 1 + w·k (ANOVA kernel; Durrande and others 2013), where k compares two
//! levels by what is known of them, and as names. Weights, length and noise are those with the highest likelihood, times
//! a weak prior that keeps them sensible while there are few runs (Rasmussen, Williams 2006, chapter 5).

use super::linear::{backward, cholesky, forward, forward_block};
use super::space::Space;

/// One value of a point: a logarithm.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub point: usize,
    pub value: f64,
    /// Standard deviation beyond the usual noise of a run.
    pub noise: f64,
}

/// Rows that weights are found from, at most; all rows count for what is predicted.
const MOST_FITTED: usize = 120;
/// Points that are predicted together: as many as fit a processor's cache.
const BLOCK: usize = 256;

/// Logarithms of what decides the kernel.
#[derive(Debug, Clone)]
struct Weights {
    variance: f64,
    /// By factor.
    factors: Vec<f64>,
    length: f64,
    noise: f64,
    /// Logit of the share of a level that is its own, whatever is known of it.
    own: f64,
}

impl Weights {
    fn usual(factors: usize) -> Self {
        Weights {
            variance: (4.0_f64).ln(),
            factors: vec![(0.1_f64).ln(); factors],
            length: 0.0,
            noise: (0.03_f64 * 0.03).ln(),
            own: -1.0,
        }
    }

    fn get(&mut self, place: usize) -> &mut f64 {
        match place {
            0 => &mut self.variance,
            1 => &mut self.length,
            2 => &mut self.noise,
            3 => &mut self.own,
            other => &mut self.factors[other - 4],
        }
    }

    /// Log of a normal prior around the usual ones.
    fn prior(&self) -> f64 {
        let usual = Weights::usual(self.factors.len());
        let part = |value: f64, middle: f64, sd: f64| -0.5 * ((value - middle) / sd).powi(2);
        let factors = self.factors.iter().zip(&usual.factors);
        part(self.variance, usual.variance, 1.5)
            + part(self.length, usual.length, 0.5)
            + part(self.own, usual.own, 1.0)
            + part(self.noise, usual.noise, 1.0)
            + factors.map(|(a, b)| part(*a, *b, 2.0)).sum::<f64>()
    }
}

/// 1 + w·k of every pair of levels, by factor.
struct Tables {
    variance: f64,
    factors: Vec<Vec<Vec<f64>>>,
}

impl Tables {
    fn new(weights: &Weights, distances: &[Distances]) -> Self {
        let length = weights.length.exp();
        let own = 1.0 / (1.0 + (-weights.own).exp());
        let table = |(of, weight): (&Distances, &f64)| -> Vec<Vec<f64>> {
            let weight = weight.exp();
            let alike = |a: usize, b: usize| {
                let same = f64::from(u8::from(a == b));
                let near = of.squared.as_ref().map_or(same, |squared| {
                    let near = (-squared[a][b] / (2.0 * length * length)).exp();
                    // What is known of a level is not all that there is to it.
                    (1.0 - own) * near + own * same
                });
                1.0 + weight * near
            };
            let levels = 0..of.levels;
            let row = |a: usize| levels.clone().map(|b| alike(a, b)).collect();
            levels.clone().map(row).collect()
        };
        let factors = distances.iter().zip(&weights.factors).map(table);
        Tables {
            variance: weights.variance.exp(),
            factors: factors.collect(),
        }
    }

    fn of(&self, a: &[usize], b: &[usize]) -> f64 {
        let pairs = self.factors.iter().zip(a.iter().zip(b));
        self.variance * pairs.map(|(table, (a, b))| table[*a][*b]).product::<f64>()
    }
}

struct Distances {
    levels: usize,
    squared: Option<Vec<Vec<f64>>>,
}

/// What is known of a quantity at every point.
pub struct Posterior {
    pub mean: Vec<f64>,
    /// Of the truth, without the noise of a run.
    pub sd: Vec<f64>,
    /// Of a run.
    pub noise_sd: f64,
    /// By how much rows that were left out differ from what the others say of them, in units of what was expected: all
    /// uncertainty is multiplied by it where it is above one.
    pub surprise: f64,
    tables: Tables,
    rows: Vec<Row>,
    lower: Vec<f64>,
}

impl Posterior {
    pub fn new(space: &Space, rows: &[Row], offsets: &[f64]) -> Self {
        let offset = |point: usize| offsets.get(point).copied().unwrap_or(0.0);
        let mut rows: Vec<Row> = rows.to_vec();
        rows.iter_mut()
            .for_each(|row| row.value -= offset(row.point));
        if rows.is_empty() {
            return Posterior::unknown(space);
        }
        let centre = rows.iter().map(|row| row.value).sum::<f64>() / rows.len() as f64;
        rows.iter_mut().for_each(|row| row.value -= centre);
        let distances: Vec<Distances> = space
            .factors
            .iter()
            .map(|factor| Distances {
                levels: factor.levels.len(),
                squared: factor.distances(),
            })
            .collect();
        let weights = fit(space, &distances, &rows);
        let tables = Tables::new(&weights, &distances);
        let noise = weights.noise.exp();
        let size = rows.len();
        let mut lower = covariance(space, &tables, &rows, noise);
        if !cholesky(&mut lower, size) {
            return Posterior::unknown(space);
        }
        let mut alpha: Vec<f64> = rows.iter().map(|row| row.value).collect();
        forward(&lower, size, &mut alpha);
        backward(&lower, size, &mut alpha);
        let mut posterior = Posterior {
            mean: Vec::new(),
            sd: Vec::new(),
            noise_sd: noise.sqrt(),
            surprise: 1.0,
            tables,
            rows,
            lower,
        };
        posterior.predict(space, &alpha);
        let surprise = posterior.surprise(&alpha);
        posterior.sd.iter_mut().for_each(|sd| *sd *= surprise);
        posterior.surprise = surprise;
        for (point, mean) in posterior.mean.iter_mut().enumerate() {
            *mean += centre + offset(point);
        }
        posterior
    }

    /// Nothing is known.
    pub fn unknown(space: &Space) -> Self {
        Posterior {
            mean: vec![0.0; space.points.len()],
            sd: vec![1.0; space.points.len()],
            noise_sd: 0.05,
            surprise: 1.0,
            tables: Tables {
                variance: 1.0,
                factors: Vec::new(),
            },
            rows: Vec::new(),
            lower: Vec::new(),
        }
    }

    fn predict(&mut self, space: &Space, alpha: &[f64]) {
        let all: Vec<usize> = (0..space.points.len()).collect();
        let own = self.tables.variance
            * self
                .tables
                .factors
                .iter()
                .map(|table| table[0][0])
                .product::<f64>();
        for points in all.chunks(BLOCK) {
            let mut block = self.cross(space, points);
            let width = points.len();
            let mut means = vec![0.0; width];
            for (row, alpha) in block.chunks_exact(width).zip(alpha) {
                means
                    .iter_mut()
                    .zip(row)
                    .for_each(|(mean, k)| *mean += alpha * k);
            }
            forward_block(&self.lower, self.rows.len(), &mut block, width);
            let mut left = vec![own; width];
            for row in block.chunks_exact(width) {
                left.iter_mut()
                    .zip(row)
                    .for_each(|(left, v)| *left -= v * v);
            }
            self.mean.extend(means);
            self.sd
                .extend(left.iter().map(|left| left.max(1e-12).sqrt()));
        }
    }

    /// From each row left out in turn (Rasmussen, Williams 2006, section 5.4.2).
    fn surprise(&self, alpha: &[f64]) -> f64 {
        let size = self.rows.len();
        let mut inverse = vec![0.0; size * size];
        (0..size).for_each(|place| inverse[place * size + place] = 1.0);
        forward_block(&self.lower, size, &mut inverse, size);
        let squares = (0..size).map(|place| {
            let column = inverse.chunks_exact(size).map(|row| row[place]);
            let precision: f64 = column.map(|value| value * value).sum();
            alpha[place] * alpha[place] / precision
        });
        let mean = squares.sum::<f64>() / size as f64;
        mean.sqrt().max(1.0)
    }

    /// Covariances of rows with points: a row of the block for each.
    fn cross(&self, space: &Space, points: &[usize]) -> Vec<f64> {
        let mut block = vec![self.tables.variance; self.rows.len() * points.len()];
        for (line, row) in block.chunks_exact_mut(points.len()).zip(&self.rows) {
            let levels = &space.points[row.point].levels;
            for (factor, table) in self.tables.factors.iter().enumerate() {
                let table = &table[levels[factor]];
                for (value, point) in line.iter_mut().zip(points) {
                    *value *= table[space.points[*point].levels[factor]];
                }
            }
        }
        block
    }

    /// Covariance of the truth at these points, row by row.
    pub(super) fn joint(&self, space: &Space, points: &[usize]) -> Vec<f64> {
        let width = points.len();
        let mut block = self.cross(space, points);
        forward_block(&self.lower, self.rows.len(), &mut block, width);
        let mut joint = vec![0.0; width * width];
        for (line, a) in joint.chunks_exact_mut(width).zip(points) {
            for (value, b) in line.iter_mut().zip(points) {
                *value = self
                    .tables
                    .of(&space.points[*a].levels, &space.points[*b].levels);
            }
        }
        for row in block.chunks_exact(width) {
            for (a, line) in joint.chunks_exact_mut(width).enumerate() {
                line.iter_mut()
                    .zip(row)
                    .for_each(|(value, v)| *value -= row[a] * v);
            }
        }
        let surprise = self.surprise * self.surprise;
        joint.iter_mut().for_each(|value| *value *= surprise);
        joint
    }

    /// As if these points had been measured and came out as expected.
    pub(super) fn believe(&mut self, space: &Space, points: &[usize]) {
        if self.rows.is_empty() {
            points.iter().for_each(|point| self.sd[*point] *= 0.5);
            return;
        }
        let means = std::mem::take(&mut self.mean);
        self.sd.clear();
        let more = points.iter().map(|point| Row {
            point: *point,
            value: 0.0,
            noise: 0.0,
        });
        self.rows.extend(more);
        let noise = self.noise_sd * self.noise_sd;
        self.lower = covariance(space, &self.tables, &self.rows, noise);
        cholesky(&mut self.lower, self.rows.len());
        self.predict(space, &vec![0.0; self.rows.len()]);
        self.mean = means;
        let surprise = self.surprise;
        self.sd.iter_mut().for_each(|sd| *sd *= surprise);
    }
}

fn covariance(space: &Space, tables: &Tables, rows: &[Row], noise: f64) -> Vec<f64> {
    let size = rows.len();
    let mut matrix = vec![0.0; size * size];
    for (a, row) in rows.iter().enumerate() {
        for (b, other) in rows[..=a].iter().enumerate() {
            let (a_levels, b_levels) = (
                &space.points[row.point].levels,
                &space.points[other.point].levels,
            );
            matrix[a * size + b] = tables.of(a_levels, b_levels);
        }
        matrix[a * size + a] += noise + row.noise * row.noise + 1e-9;
    }
    matrix
}

/// One weight after the other, with smaller and smaller steps.
fn fit(space: &Space, distances: &[Distances], rows: &[Row]) -> Weights {
    let mut weights = Weights::usual(distances.len());
    let chosen = fitted_rows(rows);
    let score = |weights: &Weights| {
        let tables = Tables::new(weights, distances);
        likelihood(space, &tables, &chosen, weights.noise.exp()) + weights.prior()
    };
    let mut best = score(&weights);
    for step in [1.5, 1.0, 0.7, 0.4] {
        for place in 0..4 + distances.len() {
            for sign in [1.0, -1.0] {
                let mut tried = weights.clone();
                *tried.get(place) += sign * step;
                let found = score(&tried);
                if found > best {
                    (best, weights) = (found, tried);
                    break;
                }
            }
        }
    }
    weights
}

/// The lowest, which are searched among, and every so many of the others.
fn fitted_rows(rows: &[Row]) -> Vec<Row> {
    if rows.len() <= MOST_FITTED {
        return rows.to_vec();
    }
    let mut sorted = rows.to_vec();
    sorted.sort_by(|a, b| a.value.total_cmp(&b.value));
    let rest = sorted.split_off(MOST_FITTED / 2);
    let every = rest.len().div_ceil(MOST_FITTED / 2);
    sorted.extend(rest.into_iter().step_by(every));
    sorted
}

fn likelihood(space: &Space, tables: &Tables, rows: &[Row], noise: f64) -> f64 {
    let size = rows.len();
    let mut lower = covariance(space, tables, rows, noise);
    if !cholesky(&mut lower, size) {
        return f64::NEG_INFINITY;
    }
    let mut values: Vec<f64> = rows.iter().map(|row| row.value).collect();
    forward(&lower, size, &mut values);
    let squares: f64 = values.iter().map(|value| value * value).sum();
    let determinant: f64 = (0..size).map(|row| lower[row * size + row].ln()).sum();
    -0.5 * squares - determinant
}
