//! Means, differences and ratios of levels, against least squares by an independent program (statsmodels 0.14).

use stats::{
    Design, LevelPair, Observation, Options, factorial, level_difference, level_fit, level_ratio,
};

fn observe(levels: &[usize], block: usize, value: f64) -> Observation {
    Observation {
        levels: levels.to_vec(),
        value,
        block: Some(block),
    }
}

fn unequal_cells() -> (Design, Vec<Observation>) {
    let cells: [(&[usize], &[f64]); 6] = [
        (&[0, 0], &[12.1, 13.4, 11.8]),
        (&[0, 1], &[15.2, 14.9]),
        (&[0, 2], &[19.5, 20.1, 18.7, 19.9]),
        (&[1, 0], &[10.3, 11.1]),
        (&[1, 1], &[16.8, 17.5, 16.1]),
        (&[1, 2], &[25.4, 24.8]),
    ];
    let observations = cells
        .iter()
        .flat_map(|(levels, values)| {
            values
                .iter()
                .enumerate()
                .map(|(block, value)| observe(levels, block, *value))
        })
        .collect();
    (Design { levels: vec![2, 3] }, observations)
}

#[track_caller]
fn close(computed: f64, expected: f64, relative: f64) {
    assert!(
        (computed - expected).abs() <= relative * expected.abs(),
        "{computed:e} is not {expected:e}"
    );
}

#[test]
fn confounded_levels_are_not_compared() {
    // Both factors always change together: neither can be blamed.
    let observations: Vec<Observation> = [(0, 1.0), (0, 1.1), (1, 2.0), (1, 2.3)]
        .iter()
        .map(|(level, value)| observe(&[*level, *level], 0, *value))
        .collect();
    let design = Design { levels: vec![2, 2] };
    let anova = factorial(&design, &observations, Options::default()).unwrap();
    assert_eq!(anova.term(&[0]).unwrap().degrees_of_freedom, 0);
    let fit = level_fit(&design, &observations, Options::default(), &anova).unwrap();
    let pair = LevelPair {
        factor: 0,
        level: 1,
        base: 0,
    };
    assert_eq!(level_difference(&fit, pair, 0.95), None);
}

#[test]
fn level_differences_are_adjusted_for_unequal_cells() {
    let (design, observations) = unequal_cells();
    let anova = factorial(&design, &observations, Options::default()).unwrap();
    let fit = level_fit(&design, &observations, Options::default(), &anova).unwrap();
    let cases = [
        (0, 1, 1.9875, 0.267_857_142_857_142_9),
        (1, 1, 3.9625, 0.410_714_285_714_285_7),
        (1, 2, 9.7925, 0.367_857_142_857_142_9),
    ];
    for (factor, level, difference, unit_variance) in cases {
        let pair = LevelPair {
            factor,
            level,
            base: 0,
        };
        let estimate = level_difference(&fit, pair, 0.95).unwrap();
        close(estimate.value, difference, 1e-12);
        let standard_error = (0.412_166_666_666_666_f64 * unit_variance).sqrt();
        close(estimate.standard_error.unwrap(), standard_error, 1e-10);
        // t with 10 degrees of freedom: 2.228138851964939.
        close(
            estimate.margin().unwrap(),
            2.228_138_851_964_939 * standard_error,
            1e-10,
        );
    }
}

#[test]
fn ratio_of_levels_on_logarithms() {
    // Exactly three times as long, with noise that cancels.
    let noise = [0.02, -0.01, -0.01];
    let observations: Vec<Observation> = (0..6)
        .map(|n| {
            observe(
                &[n / 3],
                n % 3,
                (10.0 * 3f64.powi((n / 3) as i32)).ln() + noise[n % 3],
            )
        })
        .collect();
    let design = Design { levels: vec![2] };
    let anova = factorial(&design, &observations, Options::default()).unwrap();
    let fit = level_fit(&design, &observations, Options::default(), &anova).unwrap();
    let pair = LevelPair {
        factor: 0,
        level: 1,
        base: 0,
    };
    let ratio = level_ratio(&fit, pair, 0.95).unwrap();
    close(ratio.value, 3.0, 1e-13);
    let interval = ratio.interval.unwrap();
    // sd = √(0.0006 / 2), se = sd · √(2/3), t with 4 degrees of freedom = 2.7764.
    let margin: f64 = 2.776_445_105_197_794 * (0.0003f64 * 2.0 / 3.0).sqrt();
    close(interval.low, 3.0 * (-margin).exp(), 1e-11);
    close(interval.high, 3.0 * margin.exp(), 1e-11);
}
