//! Plackett–Burman designs (1946), by Paley's construction: the signs of a row are the quadratic
//! residues of a prime, the next row is the same moved by one, and the last row is all low.

use crate::{Row, varied};

/// Ways to choose columns that are tried before giving up.
const TRIES: usize = 2000;

/// Numbers of runs: one more than a prime that leaves 3 when divided by 4. Eight runs are a regular
/// fraction.
pub fn sizes() -> impl Iterator<Item = usize> {
    let is_prime = |n: &usize| {
        (2..*n)
            .take_while(|d| d * d <= *n)
            .all(|d| !n.is_multiple_of(d))
    };
    (11..1000)
        .step_by(4)
        .filter(is_prime)
        .map(|prime| prime + 1)
}

/// In so many runs; `None` if there is no such design, or the columns of so few factors repeat rows
/// whatever is chosen.
pub fn plackett_burman(counts: &[usize], runs: usize) -> Option<Vec<Row>> {
    let factors = varied(counts);
    if !sizes().any(|size| size == runs) || factors.len() >= runs {
        return None;
    }
    let signs = signs(runs - 1);
    let mut columns: Vec<usize> = (0..factors.len()).collect();
    for _ in 0..TRIES {
        let row = |signs: &Vec<usize>| {
            let mut row = vec![0; counts.len()];
            for (factor, column) in factors.iter().zip(&columns) {
                row[*factor] = signs[*column];
            }
            row
        };
        let mut rows: Vec<Row> = signs.iter().map(row).collect();
        rows.sort();
        rows.dedup();
        if rows.len() == runs {
            return Some(rows);
        }
        next_choice(&mut columns, runs - 1)?;
    }
    None
}

/// The next set of columns in the order of a dictionary.
fn next_choice(columns: &mut [usize], limit: usize) -> Option<()> {
    let count = columns.len();
    let last = (0..count).rev().find(|i| columns[*i] < limit - count + i)?;
    columns[last] += 1;
    for place in last + 1..count {
        columns[place] = columns[place - 1] + 1;
    }
    Some(())
}

fn signs(prime: usize) -> Vec<Vec<usize>> {
    let mut is_residue = vec![0; prime];
    for root in 0..prime {
        is_residue[root * root % prime] = 1;
    }
    let mut rows: Vec<Vec<usize>> = (0..prime)
        .map(|row| {
            let cell = |column: usize| is_residue[(column + prime - row) % prime];
            (0..prime).map(cell).collect()
        })
        .collect();
    rows.push(vec![0; prime]);
    rows
}
