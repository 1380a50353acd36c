//! Factorial analysis where formulas from means do not apply, against least squares by an independent program
//! (statsmodels 0.14, `anova_lm(typ=2)`).
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use stats::{
    Anova, CellMeans, Design, LevelPair, Observation, ResidualSource, Source, StatsError, Sums,
    check_residuals, factorial, residuals,
};

fn observe(levels: &[usize], value: f64) -> Observation {
    Observation {
        levels: levels.to_vec(),
        value,
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
        .flat_map(|(levels, values)| values.iter().map(|value| observe(levels, *value)))
        .collect();
    (Design { levels: vec![2, 3] }, observations)
}

#[track_caller]
fn check_term(
    anova: &Anova,
    factors: &[usize],
    sum_of_squares: f64,
    degrees_of_freedom: usize,
    f: f64,
    p: f64,
) {
    let term = anova.term(factors).unwrap();
    close(term.sum_of_squares, sum_of_squares, 1e-11);
    assert_eq!(term.degrees_of_freedom, degrees_of_freedom);
    close(term.f.unwrap(), f, 1e-11);
    close(term.p.unwrap(), p, 1e-10);
}

#[track_caller]
fn close(computed: f64, expected: f64, relative: f64) {
    assert!(
        (computed - expected).abs() <= relative * expected.abs(),
        "{computed:e} is not {expected:e}"
    );
}

#[test]
fn unequal_cells_by_type_two() {
    let (design, observations) = unequal_cells();
    let anova = factorial(&design, &observations, 2).unwrap();
    check_term(
        &anova,
        &[0],
        14.747_25,
        1,
        35.779_822_078_447_4,
        0.000_135_389_298_181_333,
    );
    check_term(
        &anova,
        &[1],
        265.925_091_269_841,
        2,
        322.594_126_085_533,
        8.282_653_464_032_79e-10,
    );
    check_term(
        &anova,
        &[0, 1],
        33.603_083_333_333_6,
        2,
        40.763_950_667_206_1,
        1.556_798_762_987_98e-5,
    );
    close(anova.residual.sum_of_squares, 4.121_666_666_666_66, 1e-12);
    assert_eq!(anova.residual.degrees_of_freedom, 10);
    assert!(!anova.balanced && anova.replicated);
    assert_eq!(anova.sums, Sums::TypeII);
    let shares: f64 = anova.terms.iter().map(|term| term.share).sum();
    close(shares + anova.residual.share + anova.overlap, 1.0, 1e-14);
}

#[test]
fn a_missing_cell() {
    // Levels of three factors and the value; the cell (1, 2, 1) is missing.
    let rows = [
        (0, 0, 0, 10.0),
        (0, 0, 0, 10.3),
        (0, 0, 0, 11.16),
        (0, 0, 1, 8.41),
        (0, 0, 1, 9.27),
        (0, 1, 0, 11.52),
        (0, 1, 0, 12.38),
        (0, 1, 1, 11.74),
        (0, 1, 1, 10.49),
        (0, 2, 0, 14.85),
        (0, 2, 0, 13.6),
        (0, 2, 1, 12.96),
        (0, 2, 1, 13.26),
        (0, 2, 1, 12.57),
        (1, 0, 0, 13.93),
        (1, 0, 0, 12.68),
        (1, 0, 1, 12.04),
        (1, 0, 1, 12.34),
        (1, 1, 0, 15.85),
        (1, 1, 0, 16.15),
        (1, 1, 1, 13.96),
        (1, 1, 1, 14.82),
        (1, 1, 1, 15.12),
        (1, 2, 0, 18.63),
        (1, 2, 0, 18.93),
        (1, 2, 0, 18.24),
    ];
    let observations: Vec<Observation> = rows
        .iter()
        .map(|(a, b, c, y)| observe(&[*a, *b, *c], *y))
        .collect();
    let anova = factorial(
        &Design {
            levels: vec![2, 3, 2],
        },
        &observations,
        2,
    )
    .unwrap();
    let expected: [(&[usize], f64, usize); 5] = [
        (&[0], 73.254_377_857_143_1, 1),
        (&[1], 75.941_495_375_653_6, 2),
        (&[2], 9.052_571_428_571_39, 1),
        (&[0, 1], 1.306_082_727_272_72, 2),
        (&[1, 2], 0.085_758_930_481_284_8, 2),
    ];
    for (factors, sum_of_squares, degrees_of_freedom) in expected {
        let term = anova.term(factors).unwrap();
        close(term.sum_of_squares, sum_of_squares, 1e-10);
        assert_eq!(term.degrees_of_freedom, degrees_of_freedom);
    }
    // What two-way interactions leave between cells is a term of its own; repetitions are the residual.
    let higher = anova.terms.last().unwrap();
    assert_eq!(
        (higher.source, higher.degrees_of_freedom),
        (Source::HigherOrder, 1)
    );
    close(
        higher.sum_of_squares,
        5.410_65 - 5.102_283_333_333_332,
        1e-10,
    );
    close(anova.residual.sum_of_squares, 5.102_283_333_333_332, 1e-12);
    assert_eq!(anova.residual.degrees_of_freedom, 15);
}

#[test]
fn without_repetition_the_highest_interaction_is_the_residual() {
    let value = |a: usize, b: usize| [[3.0, 5.0, 8.0], [4.0, 7.5, 9.0]][a][b];
    let observations: Vec<Observation> = (0..6)
        .map(|n| observe(&[n / 3, n % 3], value(n / 3, n % 3)))
        .collect();
    let anova = factorial(&Design { levels: vec![2, 3] }, &observations, 2).unwrap();
    assert!(!anova.replicated && anova.balanced);
    assert_eq!(anova.residual.source, ResidualSource::HigherOrder);
    assert_eq!(anova.residual.degrees_of_freedom, 2);
    assert!(anova.term(&[0, 1]).is_none());
    let whole: f64 = anova.terms.iter().map(|term| term.sum_of_squares).sum();
    close(
        whole + anova.residual.sum_of_squares,
        anova.total_sum_of_squares,
        1e-13,
    );
}

#[test]
fn levels_that_never_occur_and_factors_that_do_not_vary() {
    let observations: Vec<Observation> = [(0, 1.0), (0, 1.2), (3, 2.0), (3, 2.4)]
        .iter()
        .map(|(level, value)| observe(&[*level, 1], *value))
        .collect();
    let design = Design { levels: vec![4, 2] };
    let anova = factorial(&design, &observations, 2).unwrap();
    assert!(anova.balanced);
    assert_eq!(anova.term(&[0]).unwrap().degrees_of_freedom, 1);
    assert_eq!(anova.term(&[1]).unwrap().degrees_of_freedom, 0);
    assert_eq!(anova.term(&[1]).unwrap().p, None);
    let means = CellMeans::new(&design, &observations, None).unwrap();
    let difference = |level: usize| {
        let pair = LevelPair {
            factor: 0,
            level,
            base: 0,
        };
        means.difference(pair, &[])
    };
    assert_eq!(difference(1), None);
    close(difference(3).unwrap().value, 1.1, 1e-14);
}

#[test]
fn constant_values_have_no_variation_to_explain() {
    let observations: Vec<Observation> = (0..8).map(|n| observe(&[n % 2, n / 4], 7.25)).collect();
    let design = Design { levels: vec![2, 2] };
    let anova = factorial(&design, &observations, 2).unwrap();
    assert_eq!(anova.total_sum_of_squares, 0.0);
    assert!(
        anova
            .terms
            .iter()
            .all(|term| term.share == 0.0 && term.p.is_none())
    );
    let check = check_residuals(&residuals(&design, &observations, 2).unwrap());
    assert!(check.fine && check.outliers.is_empty());
}

#[test]
fn wrong_input_is_refused() {
    let design = Design { levels: vec![2] };
    let check = |observations: &[Observation]| factorial(&design, observations, 2).unwrap_err();
    let good = observe(&[0], 1.0);
    assert_eq!(
        check(&[]),
        StatsError::TooFew {
            needed: 2,
            given: 0
        }
    );
    assert_eq!(
        check(&[good.clone(), observe(&[1], f64::NAN)]),
        StatsError::NotFinite { index: 1 }
    );
    let out = StatsError::LevelOutOfRange {
        index: 1,
        factor: 0,
        level: 2,
        levels: 2,
    };
    assert_eq!(check(&[good.clone(), observe(&[2], 1.0)]), out);
    let count = StatsError::WrongFactorCount {
        index: 1,
        expected: 1,
        given: 2,
    };
    assert_eq!(check(&[good, observe(&[0, 0], 1.0)]), count);
}

/// The reactor of Box, Hunter and Hunter (Statistics for Experimenters, 2^5, percent reacted, standard order).
#[test]
fn the_reactor_has_its_published_effects() {
    let reacted = [
        61.0, 53.0, 63.0, 61.0, 53.0, 56.0, 54.0, 61.0, 69.0, 61.0, 94.0, 93.0, 66.0, 60.0, 95.0,
        98.0, 56.0, 63.0, 70.0, 65.0, 59.0, 55.0, 67.0, 65.0, 44.0, 45.0, 78.0, 77.0, 49.0, 42.0,
        81.0, 82.0,
    ];
    let levels = |cell: usize| (0..5).map(|factor| cell >> factor & 1).collect::<Vec<_>>();
    let cells = reacted.iter().enumerate();
    let observations: Vec<Observation> = cells
        .map(|(cell, value)| observe(&levels(cell), *value))
        .collect();
    let design = Design { levels: vec![2; 5] };
    let found = factorial(&design, &observations, 2).unwrap();
    // Published as the change from the low to the high level: its square times a quarter of the values is the sum.
    let published: [(&[usize], f64); 5] = [
        (&[1], 19.5),
        (&[3], 10.75),
        (&[4], -6.25),
        (&[1, 3], 13.25),
        (&[3, 4], -11.0),
    ];
    for (factors, expected) in published {
        let term = found.terms.iter().find(|t| t.factors == factors).unwrap();
        close(term.sum_of_squares, 8.0 * expected * expected, 1e-12);
    }
}
