//! Rows as scenarios of factors A, B, …

#![allow(dead_code, reason = "each binary uses a part of it")]

use model::study::FactorLevel;
use model::{AliasTable, Factor, Level, Scenario};

pub(crate) fn factors(counts: &[usize]) -> Vec<Factor> {
    let factor = |(place, count): (usize, &usize)| Factor {
        name: char::from(b'A' + place as u8).to_string(),
        levels: (0..*count as i64).map(Level::Int).collect(),
    };
    counts.iter().enumerate().map(factor).collect()
}

pub(crate) fn scenarios(rows: &[Vec<usize>], counts: &[usize]) -> Vec<Scenario> {
    let factors = factors(counts);
    let scenario = |(number, row): (u32, &Vec<usize>)| Scenario {
        number,
        levels: row
            .iter()
            .zip(&factors)
            .map(|(level, factor)| FactorLevel {
                factor: factor.name.clone(),
                level: factor.levels[*level].clone(),
            })
            .collect(),
    };
    (1..).zip(rows).map(scenario).collect()
}

pub(crate) fn table_of(rows: &[Vec<usize>], counts: &[usize]) -> AliasTable {
    design::alias_table(&factors(counts), &scenarios(rows, counts))
}

/// Of so many factors with as many levels each.
pub(crate) fn table(rows: &[Vec<usize>], factors: usize, levels: usize) -> AliasTable {
    table_of(rows, &vec![levels; factors])
}

pub(crate) fn signs(row: &[usize]) -> Vec<f64> {
    row.iter().map(|level| 2.0 * *level as f64 - 1.0).collect()
}

/// Of two columns of signs.
pub(crate) fn correlation(rows: &[Vec<usize>], a: usize, b: usize) -> f64 {
    let product = |row: &Vec<usize>| signs(row)[a] * signs(row)[b];
    rows.iter().map(product).sum::<f64>() / rows.len() as f64
}
