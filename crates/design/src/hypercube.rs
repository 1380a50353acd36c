//! Latin hypercubes (McKay, Beckman and Conover 1979): each factor has one scenario in each of
//! its strata.

use crate::{Row, Shuffler};

/// Drawn hypercubes, of which the one with the largest smallest distance is taken.
const DRAWN: u64 = 100;

/// So many rows. A factor with fewer levels has each of them as often, or once more.
pub fn latin_hypercube(counts: &[usize], size: usize, seed: u64) -> Vec<Row> {
    let draw = |number: u64| {
        let mut random = Shuffler::stream(seed, number);
        let column = |count: &usize| {
            let mut column: Vec<usize> = (0..size).map(|row| row * count / size).collect();
            random.shuffle(&mut column);
            column
        };
        let columns: Vec<Vec<usize>> = counts.iter().map(column).collect();
        let row = |row: usize| columns.iter().map(|column| column[row]).collect();
        let mut rows: Vec<Row> = (0..size).map(row).collect();
        rows.sort();
        rows
    };
    let mut best = draw(0);
    let mut best_distance = smallest_distance(&best, counts);
    for number in 1..DRAWN {
        let rows = draw(number);
        let distance = smallest_distance(&rows, counts);
        if distance > best_distance {
            (best, best_distance) = (rows, distance);
        }
    }
    best
}

/// Of any two rows, squared, where each factor goes from 0 to 1.
fn smallest_distance(rows: &[Row], counts: &[usize]) -> f64 {
    let distance = |a: &Row, b: &Row| -> f64 {
        let each = a.iter().zip(b).zip(counts);
        each.map(|((a, b), count)| (a.abs_diff(*b) as f64 / *count as f64).powi(2))
            .sum()
    };
    let mut smallest = f64::INFINITY;
    for (place, row) in rows.iter().enumerate() {
        for other in &rows[place + 1..] {
            smallest = smallest.min(distance(row, other));
        }
    }
    smallest
}
