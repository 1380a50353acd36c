//! How much longer a kind of work takes in measured steps than the probe says: non-negative least
//! squares of relative errors, drawn towards one common factor (ridge regression, Hoerl and Kennard
//! 1970), which few observations leave and many do not.

use model::profile::WorkKind;

use super::rates::Rates;
use super::{Observation, Refusal};

/// Steps are explained to about 10 %, kinds differ from the common factor by about 30 %: the square
/// of their ratio.
const RIDGE: f64 = 0.1;
const KINDS: usize = WorkKind::ALL.len();
/// Coordinate descent over seven numbers converges in a few dozen rounds.
const MOST_ROUNDS: usize = 500;
const CLOSE: f64 = 1e-10;

pub(super) struct Efficiency {
    factors: [f64; KINDS],
}

impl Efficiency {
    pub(super) fn of(&self, kind: WorkKind) -> f64 {
        self.factors[place(kind)]
    }

    pub(super) fn learn(
        rates: &Rates<'_>,
        observations: &[Observation<'_>],
    ) -> Result<Self, Refusal> {
        let mut rows = Vec::new();
        for observation in observations {
            let mut row = [0.0; KINDS];
            for layer in observation.work {
                row[place(layer.kind)] += rates.seconds(layer)?.seconds / observation.seconds;
            }
            match row.iter().sum::<f64>() {
                sum if sum.is_finite() && sum > 0.0 => rows.push(row),
                _ => return Err(Refusal::NoWork),
            }
        }
        let common = common_factor(&rows).ok_or(Refusal::NoWork)?;
        // In units of the common factor, so that the ridge means the same for every framework.
        for row in &mut rows {
            row.iter_mut().for_each(|part| *part *= common);
        }
        Ok(Efficiency {
            factors: fit(&rows).map(|factor| factor * common),
        })
    }
}

fn place(kind: WorkKind) -> usize {
    WorkKind::ALL
        .iter()
        .position(|known| *known == kind)
        .unwrap_or(0)
}

/// By which the sums of all rows become 1 as nearly as one factor can make them: the geometric mean.
fn common_factor(rows: &[[f64; KINDS]]) -> Option<f64> {
    let logarithms = rows.iter().map(|row| row.iter().sum::<f64>().ln());
    let mean = logarithms.sum::<f64>() / rows.len() as f64;
    Some((-mean).exp()).filter(|factor| factor.is_finite())
}

/// Σ (row · x − 1)² + ridge · Σ (x − 1)², for x ≥ 0.
fn fit(rows: &[[f64; KINDS]]) -> [f64; KINDS] {
    let mut factors = [1.0; KINDS];
    for _ in 0..MOST_ROUNDS {
        let mut moved: f64 = 0.0;
        for kind in 0..KINDS {
            let (mut above, mut below) = (RIDGE, RIDGE);
            for row in rows {
                let all = row.iter().zip(&factors).map(|(part, factor)| part * factor);
                let others = all.sum::<f64>() - row[kind] * factors[kind];
                above += row[kind] * (1.0 - others);
                below += row[kind] * row[kind];
            }
            let best = (above / below).max(0.0);
            moved = moved.max((best - factors[kind]).abs());
            factors[kind] = best;
        }
        if moved < CLOSE {
            break;
        }
    }
    factors
}
