//! Regular fractions of two-level designs, 2^(k−p).

use crate::Row;

/// A generated factor: its sign is the product of the signs of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub factor: usize,
    pub product: Vec<usize>,
    pub negative: bool,
}

/// The rows of two-level factors that satisfy all generators; other factors have one level.
/// Products name no factor that is generated itself.
pub fn fraction(counts: &[usize], columns: &[Column]) -> Vec<Row> {
    let is_generated = |factor: usize| columns.iter().any(|column| column.factor == factor);
    let limit = |(factor, count): (usize, &usize)| match is_generated(factor) {
        true => 1,
        false => *count,
    };
    let base: Vec<usize> = counts.iter().enumerate().map(limit).collect();
    let mut rows: Vec<Row> = crate::full(base)
        .map(|mut row| {
            for column in columns {
                let low = column.product.iter().filter(|f| row[**f] == 0).count();
                // A product of signs is positive where an even number of them is negative.
                row[column.factor] = usize::from((low % 2 == 0) != column.negative);
            }
            row
        })
        .collect();
    rows.sort();
    rows
}
