//! What scenarios can tell apart, from the model matrix: for any design.

use std::ops::Range;

use model::design::{Alias, AliasTable, Effect, EffectAliases, Estimable, Word};
use model::{Factor, Scenario};

use crate::Row;
use crate::contrasts::ModelMatrix;
use crate::linear::{Eigen, Matrix, NOTHING, eigen, gram, invert, null_space, rank};
use crate::words::constant_words;

/// Multiplications that are worth waiting for: less than a second.
const MOST_WORK: usize = 300_000_000;

/// Of the factors that vary in these scenarios. Interactions are left out where there are too many.
pub fn alias_table(factors: &[Factor], scenarios: &[Scenario]) -> AliasTable {
    let seen = Seen::of(factors, scenarios);
    let main: Vec<Vec<usize>> = (0..seen.names.len()).map(|factor| vec![factor]).collect();
    let mut effects = main.clone();
    for first in 0..main.len() {
        effects.extend((first + 1..main.len()).map(|second| vec![first, second]));
    }
    if seen.is_full() {
        return full_table(&seen, &effects);
    }
    let matrix = ModelMatrix::new(&seen.counts, effects.clone());
    let has_interactions = matrix.work(seen.rows.len()) <= MOST_WORK;
    if !has_interactions {
        effects.truncate(main.len());
    }
    let examined = Examined::new(&seen, effects);
    let rows: Vec<EffectAliases> = examined.rows(&seen);
    let words = seen.words();
    AliasTable {
        scenarios: scenarios.len(),
        resolution: resolution(&seen, &words, &rows),
        d_efficiency: examined.d_efficiency(main.len()),
        effects: rows,
        has_interactions,
        defining_words: words,
    }
}

/// Every combination once: all effects are orthogonal, however many there are.
fn full_table(seen: &Seen, effects: &[Vec<usize>]) -> AliasTable {
    let contrasts = |effect: &Vec<usize>| effect.iter().map(|f| seen.counts[*f] - 1).product();
    let row = |effect: &Vec<usize>| EffectAliases {
        effect: seen.effect(effect.iter().copied()),
        contrasts: contrasts(effect),
        estimable: Estimable::WithAll,
        aliases: Vec::new(),
    };
    AliasTable {
        scenarios: seen.rows.len(),
        effects: effects.iter().map(row).collect(),
        has_interactions: true,
        defining_words: Vec::new(),
        resolution: None,
        d_efficiency: (!effects.is_empty()).then_some(1.0),
    }
}

/// Scenarios as places among the levels that occur.
struct Seen {
    names: Vec<String>,
    counts: Vec<usize>,
    rows: Vec<Row>,
}

impl Seen {
    fn of(factors: &[Factor], scenarios: &[Scenario]) -> Seen {
        let mut names = Vec::new();
        let mut counts = Vec::new();
        let mut columns: Vec<Vec<usize>> = Vec::new();
        for factor in factors {
            let level_of = |s: &Scenario| {
                let level = s.level(&factor.name)?;
                factor.levels.iter().position(|l| l == level)
            };
            let Some(column) = scenarios
                .iter()
                .map(level_of)
                .collect::<Option<Vec<usize>>>()
            else {
                continue;
            };
            let mut used = column.clone();
            used.sort_unstable();
            used.dedup();
            if used.len() > 1 {
                let place = |level: &usize| used.partition_point(|other| other < level);
                columns.push(column.iter().map(place).collect());
                counts.push(used.len());
                names.push(factor.name.clone());
            }
        }
        let row = |place: usize| columns.iter().map(|column| column[place]).collect();
        Seen {
            names,
            counts,
            rows: (0..scenarios.len()).map(row).collect(),
        }
    }

    /// Scenarios are different from each other.
    fn is_full(&self) -> bool {
        let mut counts = self.counts.iter();
        let all = counts.try_fold(1_usize, |all, count| all.checked_mul(*count));
        all == Some(self.rows.len())
    }

    fn effect(&self, factors: impl Iterator<Item = usize>) -> Effect {
        Effect(factors.map(|factor| self.names[factor].clone()).collect())
    }

    /// Of the two-level factors.
    fn words(&self) -> Vec<Word> {
        let two_level: Vec<usize> = (0..self.counts.len())
            .filter(|factor| self.counts[*factor] == 2)
            .collect();
        let bits = |row: &Row| {
            let high = two_level.iter().enumerate().filter(|(_, f)| row[**f] == 1);
            high.fold(0_u64, |bits, (place, _)| {
                bits | 1_u64.wrapping_shl(place as u32)
            })
        };
        let rows: Vec<u64> = self.rows.iter().map(bits).collect();
        let words = constant_words(&rows, two_level.len()).into_iter();
        words
            .map(|word| Word {
                effect: self.effect(
                    (0..two_level.len())
                        .filter(|place| word.mask >> place & 1 == 1)
                        .map(|place| two_level[place]),
                ),
                negative: word.negative,
            })
            .collect()
    }
}

struct Examined {
    effects: Vec<Vec<usize>>,
    spans: Vec<Range<usize>>,
    /// Means of products of the columns.
    gram: Matrix,
}

impl Examined {
    fn new(seen: &Seen, effects: Vec<Vec<usize>>) -> Self {
        let matrix = ModelMatrix::new(&seen.counts, effects.clone());
        let rows = seen.rows.iter().map(|row| matrix.row(row));
        Examined {
            spans: matrix.spans(),
            gram: gram(matrix.columns(), rows),
            effects,
        }
    }

    fn rows(&self, seen: &Seen) -> Vec<EffectAliases> {
        if self.gram.is_empty() {
            return Vec::new();
        }
        let mains = self.effects.iter().filter(|e| e.len() == 1).count();
        let of_all = null_space(&self.gram);
        let of_mains = null_space(&self.block(0..self.spans[..mains].last().map_or(1, |s| s.end)));
        let centred = self.centred();
        let whitened: Vec<Matrix> = self.spans.iter().map(|s| whitener(&centred, s)).collect();
        let row = |place: usize| {
            let span = &self.spans[place];
            let is_free = |null: &[Vec<f64>]| missing(null, span) == 0;
            let estimable = if is_free(&of_all) {
                Estimable::WithAll
            } else if self.is_estimable_with_mains(place, mains, &of_mains) {
                Estimable::WithMainEffects
            } else {
                Estimable::No
            };
            let mut aliases: Vec<Alias> = (0..self.effects.len())
                .filter(|other| *other != place)
                .map(|other| Alias {
                    effect: seen.effect(self.effects[other].iter().copied()),
                    correlation: correlation(
                        &centred,
                        (span, &whitened[place]),
                        (&self.spans[other], &whitened[other]),
                    ),
                })
                .filter(|alias| alias.correlation > NOTHING.sqrt())
                .collect();
            aliases.sort_by(|a, b| b.correlation.total_cmp(&a.correlation));
            EffectAliases {
                effect: seen.effect(self.effects[place].iter().copied()),
                contrasts: span.len(),
                estimable,
                aliases,
            }
        };
        (0..self.effects.len()).map(row).collect()
    }

    fn is_estimable_with_mains(&self, place: usize, mains: usize, of_mains: &[Vec<f64>]) -> bool {
        let span = &self.spans[place];
        if place < mains {
            return missing(of_mains, span) == 0;
        }
        let end = self.spans[..mains].last().map_or(1, |s| s.end);
        let columns: Vec<usize> = (0..end).chain(span.clone()).collect();
        let pick = |row: &usize| columns.iter().map(|c| self.gram[*row][*c]).collect();
        let gram: Matrix = columns.iter().map(pick).collect();
        missing(&null_space(&gram), &(end..columns.len())) == 0
    }

    fn block(&self, span: Range<usize>) -> Matrix {
        let row = |row: usize| self.gram[row][span.clone()].to_vec();
        span.clone().map(row).collect()
    }

    /// Without the mean.
    fn centred(&self) -> Matrix {
        let means = &self.gram[0];
        let row = |(row, mean): (&Vec<f64>, &f64)| {
            let cells = row.iter().zip(means);
            cells.map(|(cell, other)| cell - mean * other).collect()
        };
        self.gram.iter().zip(means).map(row).collect()
    }

    /// The p-th root of the determinant: 1 for columns that are orthogonal and of full length.
    fn d_efficiency(&self, mains: usize) -> Option<f64> {
        let end = self.spans[..mains].last()?.end;
        let (log_determinant, _) = invert(&self.block(0..end))?;
        Some((log_determinant / end as f64).exp())
    }
}

/// How many contrasts of an effect are confounded with something else.
fn missing(null: &[Vec<f64>], span: &Range<usize>) -> usize {
    rank(span.len(), null.iter().map(|v| v[span.clone()].to_vec()))
}

/// Takes the columns of an effect to orthonormal ones; fewer, where some are dependent.
fn whitener(gram: &Matrix, span: &Range<usize>) -> Matrix {
    let block: Matrix = span
        .clone()
        .map(|row| gram[row][span.clone()].to_vec())
        .collect();
    let kept = eigen(&block).into_iter().filter(|e| e.value > NOTHING);
    let scaled = |Eigen { value, vector }: Eigen| {
        let root = value.sqrt();
        vector.iter().map(|cell| cell / root).collect()
    };
    kept.map(scaled).collect()
}

/// The largest canonical correlation of two effects (Hotelling 1936).
fn correlation(
    gram: &Matrix,
    (rows, left): (&Range<usize>, &Matrix),
    (columns, right): (&Range<usize>, &Matrix),
) -> f64 {
    let cross = |a: &Vec<f64>, b: &Vec<f64>| -> f64 {
        let row = |(row, a): (usize, &f64)| -> f64 {
            let cells = gram[row][columns.clone()].iter().zip(b);
            a * cells.map(|(cell, b)| cell * b).sum::<f64>()
        };
        rows.clone().zip(a).map(row).sum()
    };
    let products: Matrix = left
        .iter()
        .map(|a| right.iter().map(|b| cross(a, b)).collect())
        .collect();
    let square = |a: &Vec<f64>, b: &Vec<f64>| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let squares: Matrix = products
        .iter()
        .map(|a| products.iter().map(|b| square(a, b)).collect())
        .collect();
    let largest = eigen(&squares).iter().map(|e| e.value).fold(0.0, f64::max);
    largest.sqrt().min(1.0)
}

/// Of two-level designs whose main effects are orthogonal to each other.
fn resolution(seen: &Seen, words: &[Word], rows: &[EffectAliases]) -> Option<u32> {
    if seen.counts.iter().any(|count| *count != 2) {
        return None;
    }
    let is_of = |alias: &Alias, order: usize| alias.effect.0.len() == order;
    let correlated = |order: usize, with: usize| {
        let mut rows = rows.iter().filter(|row| row.effect.0.len() == order);
        rows.any(|row| row.aliases.iter().any(|alias| is_of(alias, with)))
    };
    let shortest = words.first().map(|word| word.effect.0.len() as u32);
    let seen = if correlated(1, 1) {
        return shortest.filter(|length| *length <= 2);
    } else if correlated(1, 2) {
        Some(3)
    } else if correlated(2, 2) {
        Some(4)
    } else {
        None
    };
    shortest.into_iter().chain(seen).min()
}
