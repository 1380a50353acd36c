//! Summaries, comparisons, fits, scale, residual checks and Pareto sets, one worked case each or more.

use stats::{
    Design, Observation, Scale, StatsError, Verdict, check_residuals, choose_scale, pareto,
    proportion, quantile, residuals, slope, summary, welch_difference, welch_ratio,
};

#[track_caller]
fn close(computed: f64, expected: f64, relative: f64) {
    assert!(
        (computed - expected).abs() <= relative * expected.abs(),
        "{computed:e} is not {expected:e}"
    );
}

#[test]
fn summary_of_five() {
    let summary = summary(&[2.0, 4.0, 4.0, 5.0, 10.0], 0.95).unwrap();
    assert_eq!(
        (summary.count, summary.median, summary.min, summary.max),
        (5, 4.0, 2.0, 10.0)
    );
    close(summary.mean.value, 5.0, 1e-15);
    close(summary.sd, 3.0, 1e-15);
    close(summary.cv.unwrap(), 0.6, 1e-15);
    // Student's below; above, wider for values that are skewed.
    let margin = 2.776_445_105_197_794_4 * 3.0 / 5f64.sqrt();
    let interval = summary.mean.interval.unwrap();
    close(summary.mean.value - interval.low, margin, 1e-13);
    assert!(interval.high - summary.mean.value > margin);
    // Values that are not all above zero have no logarithm: both ends are Student's.
    let plain = stats::summary(&[-3.0, -1.0, -1.0, 0.0, 5.0], 0.95).unwrap();
    close(plain.mean.margin().unwrap(), margin, 1e-13);
}

#[test]
fn summary_of_one_or_none() {
    let one = summary(&[3.5], 0.95).unwrap();
    assert_eq!(
        (one.mean.value, one.sd, one.mean.interval, one.cv),
        (3.5, 0.0, None, None)
    );
    assert!(summary(&[], 0.95).is_none());
    assert!(summary(&[1.0, f64::INFINITY], 0.95).is_none());
}

#[test]
fn quantiles_of_type_seven() {
    let sorted = [1.0, 2.0, 4.0, 8.0];
    assert_eq!(quantile(&sorted, 0.5), Some(3.0));
    assert_eq!(quantile(&sorted, 0.25), Some(1.75));
    assert_eq!(quantile(&sorted, 0.0), Some(1.0));
    assert_eq!(quantile(&sorted, 1.0), Some(8.0));
    assert_eq!(quantile(&sorted, 1.1), None);
    assert_eq!(quantile(&[], 0.5), None);
}

#[test]
fn welch() {
    let (first, second) = ([12.1, 13.4, 11.8], [15.2, 14.9, 16.3, 15.5]);
    let difference = welch_difference(&first, &second, 0.95).unwrap();
    close(difference.p, 0.009_149_719_069_123_123, 1e-11);
    let interval = difference.estimate.interval.unwrap();
    close(interval.low, -4.744_179_490_528_294, 1e-11);
    close(interval.high, -1.339_153_842_805_044_7, 1e-11);
    assert_eq!(difference.verdict, Verdict::Lower);
    let ratio = welch_ratio(&second, &first, 0.95).unwrap();
    assert_eq!(ratio.verdict, Verdict::Higher);
    assert!(ratio.estimate.interval.unwrap().low > 1.0);
    assert_eq!(
        welch_ratio(&[1.0, 0.0], &first, 0.95),
        Err(StatsError::NotPositive { index: 1 })
    );
    let same = welch_difference(&[2.0, 2.0], &[2.0, 2.0], 0.95).unwrap();
    assert_eq!((same.p, same.verdict), (1.0, Verdict::NotShown));
}

#[test]
fn lines() {
    let (x, y) = ([1.0, 2.0, 4.0, 8.0, 16.0], [10.2, 5.6, 3.1, 2.0, 1.4]);
    let fitted = slope(&x, &y, 0.95).unwrap();
    close(fitted.interval.unwrap().low, -1.153_405_82, 1e-8);
    assert_eq!(
        slope(&[1.0, 1.0], &[1.0, 2.0], 0.95),
        Err(StatsError::NoSpread)
    );
    assert_eq!(
        slope(&[1.0], &[1.0, 2.0], 0.95),
        Err(StatsError::LengthMismatch {
            first: 1,
            second: 2
        })
    );
    assert_eq!(
        slope(&[1.0, 2.0], &[1.0, 3.0], 0.95).unwrap().interval,
        None
    );
}

#[test]
fn pareto_front() {
    let point = |x: f64, y: f64| vec![x, y];
    let points = [
        point(3.0, 1.0),
        point(1.0, 3.0),
        point(2.0, 2.0),
        point(2.5, 2.0),
        point(f64::NAN, 0.0),
        point(1.0, 3.0),
    ];
    assert_eq!(pareto(&points), [1, 5, 2, 0]);
    assert!(pareto(&[]).is_empty());
    // Worse in two criteria, better in the third.
    let third = [
        vec![1.0, 1.0, 9.0],
        vec![2.0, 2.0, 8.0],
        vec![2.0, 2.0, 9.0],
    ];
    assert_eq!(pareto(&third), [0, 1]);
}

fn grid(value: impl Fn(usize, usize, usize) -> f64) -> Vec<Observation> {
    (0..27)
        .map(|n| {
            let (a, b, repetition) = (n / 9, n / 3 % 3, n % 3);
            Observation {
                levels: vec![a, b],
                value: value(a, b, repetition),
            }
        })
        .collect()
}

#[test]
fn scale_of_a_factorial() {
    let design = Design { levels: vec![3, 3] };
    let jitter = |a: usize, b: usize, r: usize| ((a * 5 + b * 3 + r * 7) % 9) as f64 / 9.0 - 0.5;
    let multiplied =
        grid(|a, b, r| 2f64.powi(a as i32) * 3f64.powi(b as i32) * (1.0 + 0.02 * jitter(a, b, r)));
    let choice = choose_scale(&design, &multiplied).unwrap();
    assert_eq!(choice.scale, Scale::Logarithmic, "{:?}", choice.reason);
    let added = grid(|a, b, r| 5.0 + 4.0 * a as f64 + 9.0 * b as f64 + 0.2 * jitter(a, b, r));
    assert_eq!(choose_scale(&design, &added).unwrap().scale, Scale::Linear);
    let check = |values: [f64; 2], expected: Scale| {
        let observation = |(level, value)| Observation {
            levels: vec![level],
            value,
        };
        let observations: Vec<Observation> =
            values.into_iter().enumerate().map(observation).collect();
        let found = choose_scale(&Design { levels: vec![2] }, &observations).unwrap();
        assert_eq!(found.scale, expected, "{values:?}: {:?}", found.reason);
    };
    check([1.0, 10.0], Scale::Logarithmic);
    check([1.0, 2.0], Scale::Linear);
    check([0.0, 50.0], Scale::Linear);
    let narrow = grid(|a, _, r| 100.0 + a as f64 * 0.1 + jitter(a, 0, r));
    assert_eq!(choose_scale(&design, &narrow).unwrap().scale, Scale::Linear);
}

#[test]
fn residuals_of_one_group_by_published_tests() {
    // normal_ad and levene(center="median") of statsmodels and SciPy.
    let group = |values: &[f64], level: usize| -> Vec<Observation> {
        values
            .iter()
            .map(|value| Observation {
                levels: vec![level],
                value: *value,
            })
            .collect()
    };
    let check = |groups: &[&[f64]]| {
        let observations: Vec<Observation> = groups
            .iter()
            .enumerate()
            .flat_map(|(n, g)| group(g, n))
            .collect();
        let design = Design {
            levels: vec![groups.len()],
        };
        check_residuals(&residuals(&design, &observations, 2).unwrap())
    };
    let odd = check(&[&[2.1, 3.4, 1.9, 2.8, 3.1, 2.2, 2.6, 9.0, 2.4, 2.9]]);
    close(odd.normality_p.unwrap(), 6.105_811_702_734_394e-5, 1e-9);
    assert_eq!(odd.outliers, [7]);
    assert!(!odd.fine);
    let even = check(&[&[2.1, 3.4, 1.9, 2.8, 3.1, 2.2, 2.6, 3.0, 2.4, 2.9]]);
    close(even.normality_p.unwrap(), 0.909_854_492_208_563_1, 1e-9);
    assert!(even.fine && even.outliers.is_empty());
    let spread = check(&[
        &[1.0, 2.0, 3.0, 4.5],
        &[2.0, 5.0, 9.0, 14.0],
        &[1.0, 1.5, 1.2, 1.9],
    ]);
    close(spread.spread_p.unwrap(), 0.015_495_158_917_693_706, 1e-10);
}

/// Newcombe 1998, table I, method 3: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
#[test]
fn shares_have_wilson_s_interval() {
    let check = |successes, trials, low: f64, high: f64| {
        let interval = proportion(successes, trials, 0.95)
            .unwrap()
            .interval
            .unwrap();
        let rounded = [interval.low, interval.high].map(|end| (end * 1e4).round() / 1e4);
        assert_eq!(rounded, [low, high], "{successes} of {trials}");
    };
    check(81, 263, 0.2553, 0.3662);
    check(15, 148, 0.0624, 0.1605);
    check(0, 20, 0.0, 0.1611);
    check(1, 29, 0.0061, 0.1718);
    assert_eq!(proportion(0, 0, 0.95), None);
    assert_eq!(proportion(3, 2, 0.95), None);
    assert_eq!(proportion(1, 2, 1.0), None);
}

/// Of samples of normal and log-normal values, 94 to 97 of 100 intervals contain the mean.
#[test]
fn intervals_of_means_cover() {
    let mut random = seeded::SplitMix64::new(11);
    let mut normal = || {
        let mut uniform = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let (length, angle) = (1.0 - uniform(), uniform());
        (-2.0 * length.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    };
    let samples = 6000;
    for count in [3, 5, 10, 30] {
        for sigma in [0.0, 0.5_f64] {
            let truth = (sigma * sigma / 2.0).exp();
            let mut covered = 0;
            for _ in 0..samples {
                let value = |normal: f64| match sigma > 0.0 {
                    true => (sigma * normal).exp(),
                    false => 1.0 + 0.05 * normal,
                };
                let values: Vec<f64> = (0..count).map(|_| value(normal())).collect();
                let interval = stats::summary(&values, 0.95)
                    .unwrap()
                    .mean
                    .interval
                    .unwrap();
                assert!(interval.low > 0.0, "{values:?}");
                covered += usize::from(interval.contains(truth));
            }
            let rate = covered as f64 / samples as f64;
            assert!(
                (0.938..=0.972).contains(&rate),
                "n = {count}, σ = {sigma}: {rate}"
            );
        }
    }
}
