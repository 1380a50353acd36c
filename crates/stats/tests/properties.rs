//! Algebra that must hold for any numbers.

use proptest::prelude::*;
use stats::distribution::{normal_cdf, normal_quantile, student_quantile, student_two_sided};
use stats::{
    Anova, Design, Observation, Source, Sums, factorial, one_way, pareto, quantile, summary,
    welch_difference,
};

fn values(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-1e3..1e3f64, count)
}

/// A design of two or three factors with values for every cell and repetition.
fn balanced() -> impl Strategy<Value = (Design, Vec<Observation>)> {
    (prop::collection::vec(1usize..4, 2..4), 1usize..4).prop_flat_map(|(levels, repetitions)| {
        let cells: usize = levels.iter().product();
        let count = (cells * repetitions).max(2);
        (Just(levels), Just(cells), values(count..count + 1)).prop_map(|(levels, cells, values)| {
            let observations = values
                .iter()
                .enumerate()
                .map(|(number, value)| Observation {
                    levels: levels_of(number % cells, &levels),
                    value: *value,
                })
                .collect();
            (Design { levels }, observations)
        })
    })
}

fn levels_of(mut cell: usize, levels: &[usize]) -> Vec<usize> {
    levels
        .iter()
        .map(|count| {
            let level = cell % count;
            cell /= count;
            level
        })
        .collect()
}

fn sums(anova: &Anova) -> f64 {
    anova
        .terms
        .iter()
        .map(|term| term.sum_of_squares)
        .sum::<f64>()
        + anova.residual.sum_of_squares
}

fn near(a: f64, b: f64, scale: f64) -> bool {
    (a - b).abs() <= 1e-9 * scale.abs().max(1e-300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn interval_contains_the_mean_and_widens_with_confidence(values in values(2..20)) {
        let narrow = summary(&values, 0.9).unwrap();
        let wide = summary(&values, 0.99).unwrap();
        let interval = narrow.mean.interval.unwrap();
        prop_assert!(interval.contains(narrow.mean.value));
        prop_assert!(narrow.min <= narrow.mean.value && narrow.mean.value <= narrow.max);
        prop_assert!(wide.mean.margin() >= narrow.mean.margin());
    }

    #[test]
    fn summary_moves_and_stretches_with_its_values(values in values(2..20), shift in -1e3..1e3f64, factor in 0.1..10f64) {
        let before = summary(&values, 0.95).unwrap();
        let moved: Vec<f64> = values.iter().map(|value| factor * value + shift).collect();
        let after = summary(&moved, 0.95).unwrap();
        let scale = before.max.abs().max(before.min.abs()) * factor + shift.abs();
        prop_assert!(near(after.mean.value, factor * before.mean.value + shift, scale));
        prop_assert!(near(after.sd, factor * before.sd, scale));
        prop_assert!(near(after.median, factor * before.median + shift, scale));
    }

    #[test]
    fn a_share_lies_in_its_interval_and_mirrors(trials in 1..5000usize, part in 0.0..=1.0f64) {
        let successes = (part * trials as f64) as usize;
        let share = stats::proportion(successes, trials, 0.95).unwrap();
        let other = stats::proportion(trials - successes, trials, 0.95).unwrap();
        let (interval, mirrored) = (share.interval.unwrap(), other.interval.unwrap());
        prop_assert!(interval.contains(share.value));
        prop_assert!(0.0 <= interval.low && interval.high <= 1.0 && interval.low < interval.high);
        prop_assert!(near(interval.low, 1.0 - mirrored.high, 1.0));
        let wide = stats::proportion(successes, trials, 0.99).unwrap();
        prop_assert!(wide.margin() >= share.margin());
    }

    #[test]
    fn quantiles_grow(mut values in values(1..30), a in 0.0..=1.0f64, b in 0.0..=1.0f64) {
        values.sort_by(f64::total_cmp);
        let (low, high) = (a.min(b), a.max(b));
        prop_assert!(quantile(&values, low).unwrap() <= quantile(&values, high).unwrap());
    }

    #[test]
    fn balanced_sums_add_up((design, observations) in balanced()) {
        let anova = factorial(&design, &observations, 2).unwrap();
        prop_assert!(anova.balanced);
        prop_assert_eq!(anova.sums, Sums::Balanced);
        let total = anova.total_sum_of_squares;
        prop_assert!(near(sums(&anova), total, total));
        let shares: f64 = anova.terms.iter().map(|term| term.share).sum::<f64>() + anova.residual.share;
        prop_assert!(near(shares, 1.0, 1.0) || total == 0.0);
        let degrees: usize = anova.terms.iter().map(|term| term.degrees_of_freedom).sum();
        prop_assert_eq!(degrees + anova.residual.degrees_of_freedom, observations.len() - 1);
        for p in anova.terms.iter().filter_map(|term| term.p) {
            prop_assert!((0.0..=1.0).contains(&p));
        }
    }

    #[test]
    fn least_squares_agree_with_means_on_balanced_data((design, observations) in balanced()) {
        let balanced = factorial(&design, &observations, 2).unwrap();
        let general = stats::anova::least_squares(&design, &observations, 2).unwrap();
        prop_assert_eq!(general.terms.len(), balanced.terms.len());
        let total = balanced.total_sum_of_squares;
        for (a, b) in general.terms.iter().zip(&balanced.terms) {
            prop_assert_eq!(&a.factors, &b.factors);
            prop_assert_eq!(a.degrees_of_freedom, b.degrees_of_freedom);
            prop_assert!(near(a.sum_of_squares, b.sum_of_squares, total), "{:?} {:?}", a, b);
        }
        prop_assert_eq!(general.residual.degrees_of_freedom, balanced.residual.degrees_of_freedom);
        prop_assert!(near(general.residual.sum_of_squares, balanced.residual.sum_of_squares, total));
        prop_assert!(general.overlap.abs() < 1e-9);
    }

    #[test]
    fn order_of_observations_does_not_matter((design, observations) in balanced(), keep in 2usize..40, turn in 0usize..40) {
        let mut shuffled: Vec<Observation> = observations.into_iter().take(keep).collect();
        let before = factorial(&design, &shuffled, 2).unwrap();
        let turn = turn % shuffled.len();
        shuffled.rotate_left(turn);
        shuffled.reverse();
        let after = factorial(&design, &shuffled, 2).unwrap();
        let total = before.total_sum_of_squares;
        for (a, b) in before.terms.iter().zip(&after.terms) {
            prop_assert_eq!(a.degrees_of_freedom, b.degrees_of_freedom);
            prop_assert!(near(a.sum_of_squares, b.sum_of_squares, total));
        }
        prop_assert_eq!(before.residual.degrees_of_freedom, after.residual.degrees_of_freedom);
    }

    #[test]
    fn incomplete_data_never_explain_more_than_there_is((design, observations) in balanced(), keep in prop::collection::vec(any::<bool>(), 81)) {
        let kept: Vec<Observation> = observations.into_iter().zip(keep).filter(|(_, keep)| *keep).map(|(o, _)| o).collect();
        if kept.len() < 2 {
            prop_assert!(factorial(&design, &kept, 2).is_err());
            return Ok(());
        }
        let anova = factorial(&design, &kept, 2).unwrap();
        let total = anova.total_sum_of_squares;
        let slack = 1e-9 * total;
        for term in &anova.terms {
            prop_assert!(term.sum_of_squares >= 0.0 && term.sum_of_squares <= total + slack);
        }
        prop_assert!(anova.residual.sum_of_squares <= total + slack);
        let degrees: usize = anova.terms.iter().map(|term| term.degrees_of_freedom).sum();
        prop_assert!(degrees + anova.residual.degrees_of_freedom < kept.len());
        let left = stats::residuals(&design, &kept, 2).unwrap();
        let squares: f64 = left.values.iter().map(|value| value * value).sum();
        prop_assert!(near(squares, anova.residual.sum_of_squares, total), "{} {}", squares, anova.residual.sum_of_squares);
        prop_assert_eq!(left.degrees_of_freedom, anova.residual.degrees_of_freedom);
        stats::check_residuals(&left);
        // Whatever is missing, tests are probabilities or nothing.
        if let Ok(means) = stats::CellMeans::new(&design, &kept, None) {
            for factor in 0..design.levels.len() {
                let p = means.test(&[factor], 2).map(|test| test.p);
                prop_assert!(p.is_none_or(|p| (0.0..=1.0).contains(&p)), "{:?}", p);
            }
            let p = means.test_higher(2).map(|test| test.p);
            prop_assert!(p.is_none_or(|p| (0.0..=1.0).contains(&p)), "{:?}", p);
        }
    }

    #[test]
    fn two_groups_by_anova_are_the_t_test_squared(a in values(5..6), b in values(5..6)) {
        // With equal sizes Welch's t equals Student's, whose square is F.
        let anova = one_way(&[a.clone(), b.clone()]).unwrap();
        let welch = welch_difference(&a, &b, 0.95).unwrap();
        let t = welch.estimate.value / welch.estimate.standard_error.unwrap();
        let f = anova.terms[0].f.unwrap();
        prop_assert_eq!(anova.terms[0].source, Source::Effect);
        prop_assert!(near(t * t, f, f.max(1e-6)));
    }

    #[test]
    fn student_quantile_inverts(p in 1e-9..0.999_999f64, degrees_of_freedom in 0.5..1e5f64) {
        let t = student_quantile(p, degrees_of_freedom);
        let (tail, found) = (p.min(1.0 - p), 0.5 * student_two_sided(t, degrees_of_freedom));
        prop_assert!((found - tail).abs() <= 1e-11 * tail, "{}", found);
        prop_assert_eq!(t > 0.0, p > 0.5);
    }

    #[test]
    fn normal_quantile_inverts(p in 1e-12..0.999_999f64) {
        prop_assert!((normal_cdf(normal_quantile(p)) - p).abs() <= 1e-12 * p);
    }

    #[test]
    fn nothing_beats_the_front(points in prop::collection::vec(prop::collection::vec(0u8..6, 3), 0..40)) {
        let points: Vec<Vec<f64>> = points.iter().map(|p| p.iter().map(|x| f64::from(*x)).collect()).collect();
        let front = pareto(&points);
        let beats = |a: &Vec<f64>, b: &Vec<f64>| (0..3).all(|i| a[i] <= b[i]) && a != b;
        for (index, point) in points.iter().enumerate() {
            let beaten = points.iter().any(|other| beats(other, point));
            prop_assert_eq!(front.contains(&index), !beaten);
        }
    }
}
