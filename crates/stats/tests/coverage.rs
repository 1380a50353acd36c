//! Small versions of bench/truth: intervals contain what they are of.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "common/coverage.rs"]
mod coverage;

use coverage::{Kind, Of, Percentile, kept_promises};

/// Of 1,000 samples, 95 % ± 4 standard errors; at n = 3 Welch's are wider than they need be.
#[test]
fn intervals_cover() {
    for of in Of::ALL {
        for (kind, count) in [
            (Kind::Normal(0.2), 3),
            (Kind::Normal(0.2), 10),
            (Kind::LogNormal(0.5), 10),
        ] {
            // Hours of a break-even have no end in most samples of three.
            if of == Of::BreakEven && count == 3 {
                continue;
            }
            let rate = of.coverage(kind, count, 1000);
            assert!(
                (0.92..=0.99).contains(&rate),
                "{of:?}, {kind:?}, {count}: {rate}"
            );
        }
    }
}

/// Runs that drift, or one in twenty of which is an outlier, are beyond what a few of them can tell. The page on
/// statistics says so; if this fails, it must say something better.
#[test]
fn what_does_not_cover_is_known() {
    assert!(Of::Mean.coverage(Kind::Drifting, 10, 200) < 0.6);
    assert!(Of::Mean.coverage(Kind::Outliers, 5, 200) < 0.6);
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
        let rate = kept_promises(kind, 4, 5, 300);
        assert!(rate >= 0.85, "{kind:?}: {rate}");
    }
}
