//! Minimum-aberration fractions (Fries and Hunter 1980): of all sets of generators of a size, one
//! with the fewest short words.
//!
//! Sets grow by one factor at a time and the best of every word-length pattern are kept, as Chen, Sun
//! and Wu (1993) did for their catalogue. Lengths of words come from the weights of the 2^m runs
//! by the identities of MacWilliams, so that 2^p words need not be written out.

use std::collections::BTreeMap;

/// Sets kept after each step (fewer where there are many runs), and of each pattern.
const KEPT: usize = 120;
const KEPT_OF_MANY_RUNS: usize = 24;
const MANY_RUNS: usize = 8;
const KEPT_OF_PATTERN: usize = 3;
/// Runs of a fraction that is searched for: 2^10.
const MAX_BASE: usize = 10;
const MAX_FACTORS: usize = 24;

/// Factors from `base` on are generated, by products of the first ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    pub base: usize,
    /// Places of the factors in each product.
    pub products: Vec<Vec<usize>>,
    /// Length of the shortest word; `None` where there is none.
    pub resolution: Option<usize>,
    /// How many words have length 3, 4, …
    pub pattern: Vec<u64>,
}

/// The smallest fraction of this resolution; every combination, where no fraction has it. `None`
/// beyond 24 factors or 1024 runs.
pub fn with_resolution(factors: usize, resolution: usize) -> Option<Chosen> {
    (1..=factors.min(MAX_BASE))
        .filter_map(|base| minimum_aberration(factors, base))
        .find(|chosen| chosen.resolution.is_none_or(|r| r >= resolution))
}

/// In 2^base runs; `None` if that is too few or too many.
pub fn minimum_aberration(factors: usize, base: usize) -> Option<Chosen> {
    let is_possible = base <= factors && base <= MAX_BASE && factors <= MAX_FACTORS;
    if !is_possible || factors >= 1 << base {
        return None;
    }
    // Shorter products first, then in the order of letters: AB, AC, BC, ABC.
    let mut candidates: Vec<u32> = (1..1_u32 << base).filter(|c| c.count_ones() > 1).collect();
    candidates.sort_by_key(|c| (c.count_ones(), places(*c)));
    let kept = if base < MANY_RUNS {
        KEPT
    } else {
        KEPT_OF_MANY_RUNS
    };
    let mut sets = vec![Set::of_base(base)];
    for size in base + 1..=factors {
        let krawtchouk = Krawtchouk::new(size);
        let mut patterns: BTreeMap<Vec<u64>, Vec<Set>> = BTreeMap::new();
        for set in &sets {
            for column in candidates.iter().filter(|c| !set.columns.contains(c)) {
                let pattern = krawtchouk.pattern(set.weights_with(*column), set.weights.len());
                let same = patterns.entry(pattern).or_default();
                if same.len() < KEPT_OF_PATTERN {
                    same.push(set.with(*column));
                }
            }
        }
        sets = patterns.into_values().flatten().take(kept).collect();
    }
    let mut best = sets.into_iter().next()?;
    let weights = best.weights.iter().copied();
    let pattern = Krawtchouk::new(factors).pattern(weights, best.weights.len());
    best.columns.sort_by_key(|c| (c.count_ones(), places(*c)));
    Some(Chosen {
        base,
        products: best.columns.iter().map(|c| places(*c)).collect(),
        resolution: pattern.iter().position(|count| *count > 0).map(|i| i + 3),
        pattern,
    })
}

fn places(mask: u32) -> Vec<usize> {
    (0..32).filter(|place| mask >> place & 1 == 1).collect()
}

/// Generated columns as products of base factors, and how many factors are high in each run.
#[derive(Clone)]
struct Set {
    columns: Vec<u32>,
    weights: Vec<u8>,
}

impl Set {
    fn of_base(base: usize) -> Set {
        let weight = |run: u32| run.count_ones() as u8;
        Set {
            columns: Vec::new(),
            weights: (0..1_u32 << base).map(weight).collect(),
        }
    }

    fn with(&self, column: u32) -> Set {
        Set {
            columns: [&self.columns[..], &[column]].concat(),
            weights: self.weights_with(column).collect(),
        }
    }

    fn weights_with(&self, column: u32) -> impl Iterator<Item = u8> {
        let runs = (0_u32..).zip(&self.weights);
        runs.map(move |(run, weight)| weight + ((run & column).count_ones() % 2) as u8)
    }
}

/// Polynomials of Krawtchouk for so many factors: rows are lengths of words, columns weights.
struct Krawtchouk {
    values: Vec<Vec<i64>>,
}

impl Krawtchouk {
    fn new(factors: usize) -> Self {
        // Coefficients of (1 − z)^w (1 + z)^(factors − w).
        let column = |weight: usize| {
            let mut polynomial = vec![1_i64];
            for factor in 0..factors {
                let sign = if factor < weight { -1 } else { 1 };
                let mut next = polynomial.clone();
                next.push(0);
                for (place, value) in polynomial.iter().enumerate() {
                    next[place + 1] += sign * value;
                }
                polynomial = next;
            }
            polynomial
        };
        Krawtchouk {
            values: (0..=factors).map(column).collect(),
        }
    }

    /// How many words have length 3, 4, … up to the number of factors.
    fn pattern(&self, weights: impl Iterator<Item = u8>, runs: usize) -> Vec<u64> {
        let mut of_weight = vec![0_i64; self.values.len()];
        for weight in weights {
            of_weight[usize::from(weight)] += 1;
        }
        let words = |length: usize| {
            let sum: i64 = of_weight
                .iter()
                .zip(&self.values)
                .filter(|(count, _)| **count > 0)
                .map(|(count, column)| count * column[length])
                .sum();
            (sum / runs as i64).unsigned_abs()
        };
        (3..self.values.len()).map(words).collect()
    }
}
