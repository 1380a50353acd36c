//! Worked examples of R. Jain, The Art of Computer Systems Performance Analysis (1991).

use stats::{Design, Observation, effects_2k, factorial, repetitions_for};

#[track_caller]
fn near(computed: f64, expected: f64, within: f64) {
    assert!(
        (computed - expected).abs() <= within,
        "{computed} is not {expected}"
    );
}

#[test]
fn two_by_two_memory_and_cache() {
    // Example 17.1 and section 17.4.
    let result = effects_2k(&[vec![15.0], vec![45.0], vec![25.0], vec![75.0]], 0.95).unwrap();
    let effects: Vec<f64> = result
        .effects
        .iter()
        .map(|effect| effect.effect.value)
        .collect();
    assert_eq!(effects, [40.0, 20.0, 10.0, 5.0]);
    assert_eq!(result.effects[3].factors, [0, 1]);
    assert_eq!(result.total_sum_of_squares, 2100.0);
    near(result.effects[1].share, 1600.0 / 2100.0, 1e-15);
    near(result.effects[2].share, 400.0 / 2100.0, 1e-15);
    near(result.effects[3].share, 100.0 / 2100.0, 1e-15);
    assert!(
        result.effects[1].effect.interval.is_none(),
        "no replication, no interval"
    );
}

#[test]
fn two_by_two_replicated() {
    // Examples 18.1 to 18.5: 90 % intervals 41 ± 1.92 and so on.
    let cells = [
        vec![15.0, 18.0, 12.0],
        vec![45.0, 48.0, 51.0],
        vec![25.0, 28.0, 19.0],
        vec![75.0, 75.0, 81.0],
    ];
    let result = effects_2k(&cells, 0.90).unwrap();
    let effects: Vec<f64> = result
        .effects
        .iter()
        .map(|effect| effect.effect.value)
        .collect();
    assert_eq!(effects, [41.0, 21.5, 9.5, 5.0]);
    assert_eq!(result.residual_sum_of_squares, 102.0);
    assert_eq!(result.total_sum_of_squares, 7032.0);
    near(result.effects[1].share, 0.7888, 5e-5);
    near(result.effects[2].share, 0.1540, 5e-5);
    near(result.effects[3].share, 0.0427, 5e-5);
    near(result.residual_share, 0.0145, 5e-5);
    for effect in &result.effects {
        near(effect.effect.standard_error.unwrap(), 1.03, 5e-3);
        near(effect.effect.margin().unwrap(), 1.92, 5e-3);
    }
}

#[test]
fn the_factorial_analysis_agrees_with_the_sign_table() {
    let cells = [
        [15.0, 18.0, 12.0],
        [45.0, 48.0, 51.0],
        [25.0, 28.0, 19.0],
        [75.0, 75.0, 81.0],
    ];
    let observations: Vec<Observation> = cells
        .iter()
        .enumerate()
        .flat_map(|(cell, values)| {
            values.iter().map(move |value| Observation {
                levels: vec![cell & 1, cell >> 1],
                value: *value,
            })
        })
        .collect();
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
