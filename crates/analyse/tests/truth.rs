//! Small versions of bench/truth: what is said of studies whose truth is known.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
#[path = "common/truth.rs"]
mod truth;

use truth::{KINDS, Kind, Setting, power, rate_of_false_claims};

/// 100 studies with a true rate of 5 % say something false in more than 11 less than one time in a hundred.
#[test]
fn studies_in_which_nothing_differs_say_so() {
    for kind in KINDS {
        for (levels, metrics) in [(vec![4], 1), (vec![2, 2, 2], 6)] {
            let setting = Setting::new(&levels, 3, metrics, kind);
            let rate = rate_of_false_claims(&setting, 100);
            assert!(rate <= 0.11, "{setting:?}: {rate}");
        }
    }
}

#[test]
fn an_effect_is_found() {
    let mut setting = Setting::new(&[2, 2, 2], 5, 1, Kind::Normal);
    setting.effect = 2.0;
    assert!(power(&setting, 100) >= 0.9);
}
