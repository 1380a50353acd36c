//! Small versions of bench/truth: intervals contain what they are of.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "common/coverage.rs"]
mod coverage;

use coverage::{InSeries, Kind, Of, Percentile, kept_promises};

/// Of 1,000 samples, 95 % ± 4 standard errors; at n = 3 Welch's are wider than they need be.
#[test]
fn intervals_cover() {
    for of in Of::ALL {
        for (kind, count) in [
            (Kind::Normal(0.2), 3),
            (Kind::Normal(0.2), 10),
            (Kind::LogNormal(0.5), 10),
        ] {
            // Hours of a break-even have no end in most samples of three; six values have an interval of the median.
            if [Of::BreakEven, Of::Median].contains(&of) && count == 3 {
                continue;
            }
            let rate = of.coverage(kind, count, 1000).unwrap();
            assert!(
                (0.92..=0.99).contains(&rate),
                "{of:?}, {kind:?}, {count}: {rate}"
            );
        }
    }
}

/// Three runs of one kind may all be billed alike.
#[test]
fn bills_in_steps_cover() {
    for count in [3, 5, 10] {
        let rate = Of::RoundedCost.coverage(Kind::Normal(0.05), count, 1000);
        assert!(rate.unwrap() >= 0.92, "{count}: {rate:?}");
    }
}

/// The mean of runs one in twenty of which takes twice as long is beyond what a few of them can tell; their median is
/// not.
#[test]
fn the_median_covers_where_the_mean_does_not() {
    let of = |of: Of, count| of.coverage(Kind::Outliers, count, 400);
    assert!(of(Of::Mean, 10).unwrap() < 0.6);
    assert!(of(Of::Median, 10).unwrap() > 0.93);
    assert_eq!(of(Of::Median, 5), None);
}

/// Of runs that are each like the one before, few intervals are wrong without a word: they are wide, withheld, or said
/// not to be checked.
#[test]
fn runs_in_series_are_not_taken_for_independent() {
    for (scenarios, repetitions, correlation) in
        [(1, 30, 0.9), (4, 5, 0.6), (4, 10, 0.9), (8, 5, 0.9)]
    {
        let study = InSeries {
            scenarios,
            repetitions,
            correlation,
        };
        let found = study.stated(150);
        assert!(
            !found.unchecked && found.wrong <= 0.1,
            "{study:?}: {found:?}"
        );
    }
    let independent = InSeries {
        scenarios: 4,
        repetitions: 5,
        correlation: 0.0,
    };
    let found = independent.stated(150);
    assert!(found.wrong <= 0.07 && found.withheld <= 0.15, "{found:?}");
}

/// Why runs are checked for dependence: nothing in the numbers of one scenario shows it.
#[test]
fn the_interval_alone_does_not_cover_runs_that_drift() {
    let rate = Of::Mean.coverage(Kind::Drifting, 5, 1000).unwrap();
    assert!(rate < 0.7, "{rate}");
}

#[test]
fn percentiles_over_runs_cover() {
    for (share, requests) in [(0.5, 25), (0.95, 59), (0.99, 299)] {
        let rate = Percentile { share, requests }.coverage(10, 300);
        assert!((0.9..=0.99).contains(&rate), "{share}: {rate}");
    }
}

/// Of 300 promises about four scenarios each, 90 % less three standard errors.
#[test]
fn so_many_repetitions_are_enough_nine_times_in_ten() {
    for kind in [Kind::Normal(0.1), Kind::LogNormal(0.15)] {
        let rate = kept_promises(kind, 4, 5, 300).unwrap();
        assert!(rate >= 0.85, "{kind:?}: {rate}");
        assert_eq!(kept_promises(kind, 1, 3, 300), None);
    }
}
