//! Small versions of bench/truth: do forecasts cover what happens?

use runner::forecast::Assumption;

use crate::forecast_truth::Setting;

/// Of 60 studies, 95 % less 4 standard errors.
#[test]
fn the_sum_of_the_runs_lies_in_the_interval() {
    for (levels, known, sigma, rental) in [
        (&[2_usize, 2, 2][..], 1, 0.2, "study"),
        (&[2, 2], 2, 0.4, "run"),
        (&[2, 2], 3, 0.05, "study"),
    ] {
        let setting = Setting {
            levels,
            known,
            due: 2,
            sigma,
            rental,
        };
        let found = setting.coverage(60);
        for rate in [found.time, found.cost] {
            assert!(rate >= 0.84, "{levels:?} × {known}: {found:?}");
        }
        // The old interval added up all upper ends: it was several times as wide as the runs differ.
        assert!(found.width < 8.0 * sigma, "{found:?}");
    }
}

/// One run of each level of one factor says nothing of how far runs lie apart.
#[test]
fn a_forecast_from_single_runs_is_too_wide_rather_than_wrong() {
    let setting = |sigma| Setting {
        levels: &[4],
        known: 1,
        due: 2,
        sigma,
        rental: "study",
    };
    assert!(setting(0.05).coverage(20).time > 0.99);
    assert!(setting(0.4).coverage(40).time >= 0.81);
}

#[test]
fn an_assumed_spread_is_named_and_a_measured_one_is_not() {
    let assumption = |levels, known| {
        let setting = Setting {
            levels,
            known,
            due: 1,
            sigma: 0.1,
            rental: "study",
        };
        setting.forecast(1).assumption()
    };
    assert_eq!(assumption(&[4][..], 1), Some(Assumption::RunsVary(0.4)));
    // Two runs of one scenario, or scenarios enough for the effects of their levels, show it.
    assert_eq!(assumption(&[1], 2), None);
    assert_eq!(assumption(&[2, 2], 1), None);
}
