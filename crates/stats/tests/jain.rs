//! Worked examples of R. Jain, The Art of Computer Systems Performance Analysis (1991).

use stats::{CellMeans, Design, LevelPair, Observation, factorial, repetitions_for};

#[track_caller]
fn near(computed: f64, expected: f64, within: f64) {
    assert!(
        (computed - expected).abs() <= within,
        "{computed} is not {expected}"
    );
}

/// Values of the cells (1), a, b, ab.
fn two_by_two(cells: [&[f64]; 4]) -> Vec<Observation> {
    let observations = cells.into_iter().enumerate().flat_map(|(cell, values)| {
        values.iter().map(move |value| Observation {
            levels: vec![cell & 1, cell >> 1],
            value: *value,
        })
    });
    observations.collect()
}

#[test]
fn two_by_two_memory_and_cache() {
    // Example 17.1 and section 17.4: effects 20, 10 and 5, a total variation of 2100.
    let observations = two_by_two([&[15.0], &[45.0], &[25.0], &[75.0]]);
    let anova = factorial(&Design { levels: vec![2, 2] }, &observations, 2).unwrap();
    let sums: Vec<f64> = anova.terms.iter().map(|term| term.sum_of_squares).collect();
    for (computed, expected) in sums.iter().zip([1600.0, 400.0, 100.0]) {
        near(*computed, expected, 1e-10);
    }
    near(anova.total_sum_of_squares, 2100.0, 1e-10);
    assert!(!anova.replicated);
}

#[test]
fn two_by_two_replicated() {
    // Examples 18.1 to 18.5: effects 21.5 and 9.5, half the change from level to level; 90 % intervals ± 1.92.
    let observations = two_by_two([
        &[15.0, 18.0, 12.0],
        &[45.0, 48.0, 51.0],
        &[25.0, 28.0, 19.0],
        &[75.0, 75.0, 81.0],
    ]);
    let design = Design { levels: vec![2, 2] };
    let means = CellMeans::new(&design, &observations, None).unwrap();
    for (factor, effect) in [(0, 21.5), (1, 9.5)] {
        let pair = LevelPair {
            factor,
            level: 1,
            base: 0,
        };
        let found = means.difference(pair, &[]).unwrap();
        near(found.value / 2.0, effect, 1e-12);
        // Each cell with its own spread: all have three values, so the error is the book's.
        near(found.standard_error / 2.0, 1.03, 5e-3);
    }
}

#[test]
fn two_by_two_allocation_of_variation() {
    let observations = two_by_two([
        &[15.0, 18.0, 12.0],
        &[45.0, 48.0, 51.0],
        &[25.0, 28.0, 19.0],
        &[75.0, 75.0, 81.0],
    ]);
    let design = Design { levels: vec![2, 2] };
    let anova = factorial(&design, &observations, 2).unwrap();
    let sums: Vec<f64> = anova.terms.iter().map(|term| term.sum_of_squares).collect();
    for (computed, expected) in sums.iter().zip([5547.0, 1083.0, 300.0]) {
        near(*computed, expected, 1e-9);
    }
    near(anova.residual.sum_of_squares, 102.0, 1e-10);
    near(anova.total_sum_of_squares, 7032.0, 1e-9);
    near(anova.mean, 41.0, 1e-13);
    assert_eq!(anova.residual.degrees_of_freedom, 8);
    near(anova.terms[0].f.unwrap(), 5547.0 / (102.0 / 8.0), 1e-9);
    assert!(anova.balanced && anova.replicated);
}

#[test]
fn one_factor_code_sizes() {
    // Examples 20.1 to 20.5: workload code sizes of three processors, SSA 10992, SSE 94365, F 0.7.
    let groups = [
        vec![144.0, 120.0, 176.0, 288.0, 144.0],
        vec![101.0, 144.0, 211.0, 288.0, 72.0],
        vec![130.0, 180.0, 141.0, 374.0, 302.0],
    ];
    let anova = stats::one_way(&groups).unwrap();
    near(anova.mean, 187.7, 0.05);
    near(anova.terms[0].sum_of_squares, 10_992.1, 0.1);
    near(anova.residual.sum_of_squares, 94_365.2, 0.1);
    near(anova.terms[0].share, 0.104, 5e-4);
    near(anova.terms[0].f.unwrap(), 0.7, 0.05);
}

#[test]
fn repetitions() {
    let check = |precision: f64, sd: f64, mean: f64, count: usize| {
        let known = stats::Spread { mean, sd, count };
        repetitions_for(precision, known, 0.95)
    };
    // Example 13.8: mean 20, sd 5, within 5 % at 95 %: 97 observations by the normal distribution, 99 by Student's.
    let known_well = 1 << 40;
    assert_eq!(check(0.05, 5.0, 20.0, known_well), Some(99));
    assert_eq!(check(0.05, 0.0, 20.0, known_well), Some(2));
    assert_eq!(check(0.05, 5.0, 0.0, known_well), None);
    assert_eq!(check(0.0, 5.0, 20.0, known_well), None);
    assert_eq!(check(0.05, f64::NAN, 20.0, known_well), None);
    // A spread that was seen in three runs may be three times as large.
    assert!(check(0.05, 5.0, 20.0, 3) > Some(900));
    assert_eq!(check(0.05, 5.0, 20.0, 1), None);
}
