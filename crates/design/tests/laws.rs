//! What holds for every design.

mod common;

use std::collections::BTreeSet;

use common::{correlation, signs, table_of};
use design::{Column, Wanted, d_optimal, fraction, latin_hypercube, plackett_burman};
use model::design::Estimable;
use proptest::prelude::*;

fn counts() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(1_usize..5, 1..5)
}

/// Two to seven base factors, and generators that are products of them.
fn fractions() -> impl Strategy<Value = (usize, Vec<Column>)> {
    (2_usize..6).prop_flat_map(|base| {
        let product = (
            prop::collection::btree_set(0..base, 2..=base),
            any::<bool>(),
        );
        prop::collection::vec(product, 0..4).prop_map(move |products| {
            let column = |(place, (product, negative)): (usize, (BTreeSet<usize>, bool))| Column {
                factor: base + place,
                product: product.into_iter().collect(),
                negative,
            };
            (base, products.into_iter().enumerate().map(column).collect())
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rows_of_a_fraction_satisfy_its_generators((base, columns) in fractions()) {
        let factors = base + columns.len();
        let rows = fraction(&vec![2; factors], &columns);
        prop_assert_eq!(rows.len(), 1 << base);
        let distinct: BTreeSet<&Vec<usize>> = rows.iter().collect();
        prop_assert_eq!(distinct.len(), rows.len());
        for row in &rows {
            let signs = signs(row);
            for column in &columns {
                let product: f64 = column.product.iter().map(|f| signs[*f]).product();
                let sign = if column.negative { -1.0 } else { 1.0 };
                prop_assert_eq!(signs[column.factor], sign * product);
            }
        }
        // A regular fraction is defined by its words: none but those of the generators.
        let table = table_of(&rows, &vec![2; factors]);
        prop_assert_eq!(table.defining_words.len() + 1, 1 << columns.len());
        for row in &rows {
            for word in &table.defining_words {
                let place = |name: &String| usize::from(name.as_bytes()[0] - b'A');
                let product: f64 = word.effect.0.iter().map(|f| signs(row)[place(f)]).product();
                prop_assert_eq!(product < 0.0, word.negative);
            }
        }
    }

    #[test]
    fn aliases_are_mutual(counts in counts(), kept in prop::collection::vec(any::<bool>(), 256)) {
        let rows: Vec<Vec<usize>> = design::full(counts.clone())
            .zip(&kept)
            .filter(|(_, kept)| **kept)
            .map(|(row, _)| row)
            .collect();
        let table = table_of(&rows, &counts);
        for row in &table.effects {
            for alias in &row.aliases {
                let other = table.of(&alias.effect).unwrap();
                let back = other.aliases.iter().find(|a| a.effect == row.effect).unwrap();
                prop_assert!((back.correlation - alias.correlation).abs() < 1e-6);
            }
            // What cannot be distinguished from a main effect cannot be estimated beside it.
            if row.inseparable().next().is_some() {
                prop_assert_ne!(row.estimable, Estimable::WithAll);
            }
        }
    }

    #[test]
    fn a_full_factorial_is_the_best(counts in counts()) {
        let rows: Vec<Vec<usize>> = design::full(counts.clone()).collect();
        let table = table_of(&rows, &counts);
        if let Some(efficiency) = table.d_efficiency {
            prop_assert!((efficiency - 1.0).abs() < 1e-9);
        }
        prop_assert!(table.effects.iter().all(|row| row.aliases.is_empty()));
    }

    #[test]
    fn an_optimal_design_has_no_excluded_scenario(
        counts in counts(),
        scenarios in 1_usize..20,
        excluded in prop::collection::btree_set(prop::collection::vec(0_usize..4, 4), 0..40),
        seed: u64,
    ) {
        let is_excluded = |row: &[usize]| excluded.iter().any(|other| other.starts_with(row));
        let wanted = Wanted {
            counts: &counts,
            scenarios,
            interactions: &[],
            is_excluded: &is_excluded,
            seed,
        };
        let rows = d_optimal(&wanted);
        let allowed = design::full(counts.clone()).filter(|row| !is_excluded(row)).count();
        prop_assert_eq!(rows.len(), scenarios.min(allowed));
        prop_assert!(rows.iter().all(|row| !is_excluded(row)));
        prop_assert!(rows.windows(2).all(|two| two[0] < two[1]));
        prop_assert_eq!(&rows, &d_optimal(&wanted));
    }

    #[test]
    fn a_latin_hypercube_has_one_row_in_each_stratum(size in 1_usize..30, factors in 1_usize..6, seed: u64) {
        let rows = latin_hypercube(&vec![size; factors], size, seed);
        for factor in 0..factors {
            let mut column: Vec<usize> = rows.iter().map(|row| row[factor]).collect();
            column.sort_unstable();
            prop_assert_eq!(column, (0..size).collect::<Vec<usize>>());
        }
    }

    #[test]
    fn plackett_burman_designs_are_orthogonal(factors in 5_usize..47) {
        let runs = design::plackett_burman_sizes().find(|size| *size > factors).unwrap();
        let rows = plackett_burman(&vec![2; factors], runs).unwrap();
        prop_assert_eq!(rows.len(), runs);
        for a in 0..factors {
            let high = rows.iter().filter(|row| row[a] == 1).count();
            prop_assert_eq!(high * 2, runs);
            for b in 0..a {
                prop_assert_eq!(correlation(&rows, a, b), 0.0);
            }
        }
    }
}

/// A design in as many runs as a regular fraction is as good as it.
#[test]
fn an_optimal_design_finds_an_orthogonal_one() {
    let check = |counts: &[usize], scenarios: usize, expected: f64| {
        let wanted = Wanted {
            counts,
            scenarios,
            interactions: &[],
            is_excluded: &|_| false,
            seed: 1,
        };
        let found = table_of(&d_optimal(&wanted), counts).d_efficiency.unwrap();
        assert!(
            found > expected - 1e-9,
            "{counts:?} in {scenarios}: {found}"
        );
    };
    check(&[2; 7], 8, 1.0);
    check(&[3; 4], 9, 1.0);
    check(&[2; 11], 12, 0.9);
    check(&[2, 3, 4], 12, 0.95);
}
