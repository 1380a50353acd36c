//! Least squares of a law on logarithms, and the region of shapes that the data allow. A law depends
//! on the level alone, so the means of the levels and the spread inside them are all that is needed.
//! The scale has a closed form given the shape, which leaves two numbers to search at most.

use super::law::{Law, Shape, Slot};

/// What was measured at one level.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mean {
    /// Level over reference.
    pub(crate) u: f64,
    pub(crate) ln_mean: f64,
    pub(crate) count: f64,
}

/// The best shape of a law.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Best {
    pub(crate) shape: Shape,
    pub(crate) ln_scale: f64,
    /// Weighted squares of the means about the law.
    pub(crate) squares: f64,
}

#[derive(Clone, Copy)]
pub(crate) struct Fitter<'m> {
    pub(crate) law: Law,
    pub(crate) means: &'m [Mean],
}

/// First candidates over the whole range of a parameter.
const CANDIDATES: usize = 24;
/// Golden sections: 0.618⁴⁰ of a candidate's distance.
const SECTIONS: usize = 40;
const BISECTIONS: usize = 40;
/// Points of a region along each parameter.
const GRID: usize = 41;

impl Fitter<'_> {
    pub(crate) fn at(&self, shape: Shape) -> Best {
        let rest = |mean: &Mean| mean.ln_mean - self.law.ln_shape(shape, mean.u);
        let weight: f64 = self.means.iter().map(|mean| mean.count).sum();
        let sum: f64 = self.means.iter().map(|mean| mean.count * rest(mean)).sum();
        let ln_scale = sum / weight;
        let squares = |mean: &Mean| mean.count * (rest(mean) - ln_scale).powi(2);
        let squares: f64 = self.means.iter().map(squares).sum();
        Best {
            shape,
            ln_scale,
            squares: if squares.is_finite() {
                squares
            } else {
                f64::INFINITY
            },
        }
    }

    pub(crate) fn best(&self) -> Best {
        match self.law.slots() {
            [] => self.at([0.0, 0.0]),
            [outer, ..] => {
                let found = minimise(outer, |a| self.inner(a).squares);
                self.inner(found)
            }
        }
    }

    /// The best with the first parameter given.
    fn inner(&self, a: f64) -> Best {
        match self.law.slots() {
            [_, inner] => self.at([a, minimise(inner, |b| self.at([a, b]).squares)]),
            _ => self.at([a, 0.0]),
        }
    }

    /// Shapes whose squares are at most `limit`, on a grid.
    pub(crate) fn region(&self, best: &Best, limit: f64) -> Vec<Best> {
        let [outer, rest @ ..] = self.law.slots() else {
            return vec![*best];
        };
        let [from, to] = ends(outer, best.shape[0], limit, |a| self.inner(a).squares);
        let mut points = vec![*best];
        for a in grid(from, to) {
            let conditional = self.inner(a);
            match rest.first() {
                Some(inner) => {
                    let squares = |b: f64| self.at([a, b]).squares;
                    let [from, to] = ends(inner, conditional.shape[1], limit, squares);
                    points.extend(grid(from, to).map(|b| self.at([a, b])));
                }
                None => points.push(conditional),
            }
        }
        points.retain(|point| point.squares <= limit);
        points
    }
}

fn grid(from: f64, to: f64) -> impl Iterator<Item = f64> {
    let steps = if to > from { GRID } else { 1 };
    (0..steps).map(move |place| from + (to - from) * place as f64 / (steps.max(2) - 1) as f64)
}

/// Candidates over the range, then golden sections around the best of them.
fn minimise(slot: &Slot, value: impl Fn(f64) -> f64) -> f64 {
    let candidate = |place: usize| slot.candidate(place as f64 / (CANDIDATES - 1) as f64);
    let by_value = |place: &usize| value(candidate(*place));
    let places = (0..CANDIDATES).map(|place| (place, by_value(&place)));
    let best = places.min_by(|a, b| a.1.total_cmp(&b.1));
    let (place, least) = best.unwrap_or((0, f64::INFINITY));
    let (mut low, mut high) = (
        candidate(place.saturating_sub(1)),
        candidate((place + 1).min(CANDIDATES - 1)),
    );
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    let (mut left, mut right) = (high - golden * (high - low), low + golden * (high - low));
    let (mut at_left, mut at_right) = (value(left), value(right));
    for _ in 0..SECTIONS {
        if at_left <= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - golden * (high - low);
            at_left = value(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + golden * (high - low);
            at_right = value(right);
        }
    }
    // A bound is reached exactly, not nearly.
    let found = [candidate(place), low, high, 0.5 * (low + high)];
    let better = |best: (f64, f64), at: f64| match value(at) {
        own if own < best.1 => (at, own),
        _ => best,
    };
    found.into_iter().fold((candidate(place), least), better).0
}

/// How far a parameter can go from its best before the squares pass the limit.
fn ends(slot: &Slot, best: f64, limit: f64, squares: impl Fn(f64) -> f64) -> [f64; 2] {
    [slot.low, slot.high].map(|bound| {
        if squares(bound) <= limit {
            return bound;
        }
        let (mut inside, mut outside) = (best, bound);
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (inside + outside);
            match squares(middle) <= limit {
                true => inside = middle,
                false => outside = middle,
            }
        }
        inside
    })
}
