//! Are successive runs alike? Then repetitions say less than their number.
//!
//! Runs of all scenarios are taken in the order in which they were measured, each less the mean of its scenario. Their
//! serial correlation is tested by its exact first two moments under independence (Durbin, Watson 1950), which allow
//! for the means that were taken away; its size is that of the autoregressive process of order one whose expected
//! correlation is the one that was seen. Intervals are then as wide as that process makes them.

use std::collections::BTreeMap;

use crate::distribution::normal_quantile;
use crate::precise::{mean, sum_of_squares};

/// A value of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InOrder {
    /// Values of one cell repeat each other.
    pub cell: usize,
    /// In the order of measurement, growing.
    pub place: usize,
    pub value: f64,
}

/// What successive runs have to do with each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Dependence {
    /// Of so few repetitions it cannot be known.
    Unknown,
    NotSeen,
    /// With this correlation of a run and the next.
    Alike(f64),
}

/// With fewer degrees of freedom even strong dependence is seen too rarely.
const FEWEST: usize = 12;
/// Independent runs that are called alike only get intervals a little too wide, so the test may be generous.
const CALLED_ALIKE: f64 = 0.10;
/// So many standard errors are added to the correlation that was seen: it is known badly, and a smaller one than the true
/// one makes intervals too narrow.
const UNCERTAIN: f64 = 1.5;
/// Beyond this a drift and dependent runs are the same.
const STRONGEST: f64 = 0.98;
/// Runs further apart than this correlation are taken for independent.
const NEGLIGIBLE: f64 = 1e-4;

/// Values in the order of their places.
pub fn dependence(values: &[InOrder]) -> Dependence {
    let series = Series::of(values);
    let free = series.cell_of.len() - series.cells.len();
    if free < FEWEST {
        return Dependence::Unknown;
    }
    let Some(seen) = series.correlation() else {
        return Dependence::NotSeen;
    };
    let (expected, variance) = series.moments(free as f64);
    let limit = expected + normal_quantile(1.0 - CALLED_ALIKE) * variance.sqrt();
    match seen > limit {
        true => Dependence::Alike(series.process(seen + UNCERTAIN * variance.sqrt())),
        false => Dependence::NotSeen,
    }
}

/// What dependent repetitions make of the error of their mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Widened {
    /// By how much the standard error is larger than the usual one.
    pub factor: f64,
    pub degrees_of_freedom: f64,
    /// As many independent values would say as much of the mean.
    pub independent: f64,
}

impl Widened {
    /// Whether so few independent values are left that no interval is believed: their correlation is known too badly.
    pub(crate) fn is_too_much(&self, count: usize) -> bool {
        const FEWEST: f64 = 3.0;
        /// Three values that are nearly independent are as good as any three.
        const NEARLY_ALL: f64 = 0.8;
        self.independent < FEWEST.min(NEARLY_ALL * count as f64)
    }
}

/// Of repetitions at these places, of a process with this correlation of a run and the next.
pub fn widened(places: &[usize], correlation: f64) -> Widened {
    let powers = Powers::of(correlation);
    let count = places.len() as f64;
    let rows: Vec<f64> = places.iter().map(|at| powers.sum(places, *at)).collect();
    let all: f64 = rows.iter().sum();
    let own = (count - all / count).max(f64::MIN_POSITIVE);
    let squared = Powers::of(correlation * correlation);
    let squares: f64 = places.iter().map(|at| squared.sum(places, *at)).sum();
    let product = squares - 2.0 / count * sum_of_squares(rows) + (all / count).powi(2);
    Widened {
        // Of the mean: all / n²; s² is own / (n - 1) times the process's variance on average.
        factor: (all / count * (count - 1.0) / own).sqrt(),
        degrees_of_freedom: (own * own / product).clamp(1.0, count - 1.0),
        independent: count * count / all,
    }
}

/// Correlations of the process at growing distances, as far as they matter.
struct Powers(Vec<f64>);

impl Powers {
    fn of(correlation: f64) -> Self {
        let mut powers = Vec::new();
        let mut power = 1.0;
        while power > NEGLIGIBLE {
            powers.push(power);
            power *= correlation;
        }
        Powers(powers)
    }

    /// Of what was measured at one place with all that was at these, which grow.
    fn sum(&self, places: &[usize], at: usize) -> f64 {
        let reach = self.0.len() - 1;
        let first = places.partition_point(|place| place + reach < at);
        let near = places[first..].iter().map(|place| place.abs_diff(at));
        near.map_while(|distance| self.0.get(distance)).sum()
    }
}

/// Residuals in order, of cells with two values or more.
struct Series {
    places: Vec<usize>,
    residuals: Vec<f64>,
    cell_of: Vec<usize>,
    /// The places of each cell.
    cells: Vec<Vec<usize>>,
    /// Between each two cells, half of how often their values are neighbours, in both orders.
    neighbours: BTreeMap<(usize, usize), f64>,
}

impl Series {
    fn of(values: &[InOrder]) -> Self {
        let mut by_cell: BTreeMap<usize, Vec<&InOrder>> = BTreeMap::new();
        for value in values {
            by_cell.entry(value.cell).or_default().push(value);
        }
        by_cell.retain(|_, own| own.len() > 1);
        let mut all: Vec<(usize, f64, usize)> = Vec::new();
        for (number, own) in by_cell.values().enumerate() {
            let numbers: Vec<f64> = own.iter().map(|one| one.value).collect();
            let mean = mean(&numbers);
            all.extend(own.iter().map(|one| (one.place, one.value - mean, number)));
        }
        all.sort_by_key(|(place, ..)| *place);
        let mut neighbours = BTreeMap::new();
        for pair in all.windows(2) {
            let (one, next) = (pair[0].2, pair[1].2);
            *neighbours.entry((one, next)).or_default() += 0.5;
            *neighbours.entry((next, one)).or_default() += 0.5;
        }
        let places_of = |own: &Vec<&InOrder>| own.iter().map(|one| one.place).collect();
        Series {
            places: all.iter().map(|(place, ..)| *place).collect(),
            residuals: all.iter().map(|(_, residual, _)| *residual).collect(),
            cell_of: all.iter().map(|(.., cell)| *cell).collect(),
            cells: by_cell.values().map(places_of).collect(),
            neighbours,
        }
    }

    /// Of each residual and the next. `None` where they do not vary.
    fn correlation(&self) -> Option<f64> {
        let together: f64 = self.residuals.windows(2).map(|two| two[0] * two[1]).sum();
        let squares = sum_of_squares(self.residuals.iter().copied());
        (squares > 0.0).then(|| together / squares)
    }

    fn count_of(&self, place: usize) -> f64 {
        self.cells[self.cell_of[place]].len() as f64
    }

    /// Mean and variance of the correlation of independent normal values with these cells: of a ratio of quadratic
    /// forms e'Ae / e'e of residuals e = My, by the traces of MA and MAMA.
    fn moments(&self, free: f64) -> (f64, f64) {
        let count = self.cell_of.len();
        let is_same = |a: usize, b: usize| self.cell_of[a] == self.cell_of[b];
        let apart = |distance: usize| {
            let pairs = (distance..count).filter(move |at| is_same(at - distance, *at));
            pairs.map(|at| 1.0 / self.count_of(at)).sum::<f64>()
        };
        let trace = -apart(1);
        let own: f64 = (0..count).map(|at| 0.5 / self.count_of(at)).sum();
        let ends = 0.25 / self.count_of(0) + 0.25 / self.count_of(count - 1);
        let size = |cell: usize| self.cells[cell].len() as f64;
        let between = self.neighbours.iter();
        let between = between.map(|((a, b), pairs)| pairs * pairs / (size(*a) * size(*b)));
        let squared =
            (count as f64 - 1.0) / 2.0 - 2.0 * (own - ends + 0.5 * apart(2)) + between.sum::<f64>();
        let variance = 2.0 * (free * squared - trace * trace) / (free * free * (free + 2.0));
        (trace / free, variance.max(0.0))
    }

    /// The correlation of a process that is expected to show this one here.
    fn process(&self, seen: f64) -> f64 {
        let (mut low, mut high) = (0.0, STRONGEST);
        const HALVINGS: usize = 20;
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            match self.expected(middle) < seen {
                true => low = middle,
                false => high = middle,
            }
        }
        f64::midpoint(low, high)
    }

    /// What residuals of a process with this correlation show on average.
    fn expected(&self, correlation: f64) -> f64 {
        let powers = Powers::of(correlation);
        let count = self.places.len();
        let size = |cell: usize| self.cells[cell].len() as f64;
        let mut together = 0.0;
        for at in 1..count {
            together += powers.sum(&self.places[at - 1..at], self.places[at]);
            for (one, next) in [(at - 1, at), (at, at - 1)] {
                let cell = self.cell_of[one];
                together -= powers.sum(&self.cells[cell], self.places[next]) / size(cell);
            }
        }
        let pair = |a: usize, b: usize| {
            let of_b = self.cells[b].iter();
            let sum: f64 = of_b.map(|at| powers.sum(&self.cells[a], *at)).sum();
            sum / (size(a) * size(b))
        };
        for ((a, b), pairs) in &self.neighbours {
            together += pairs * pair(*a, *b);
        }
        let cells = 0..self.cells.len();
        let squares: f64 = cells
            .map(|cell| size(cell) * (1.0 - pair(cell, cell)))
            .sum();
        together / squares
    }
}
