//! When `--stop-when-known` ends a script, its interval is to hold: speed that varies over seconds,
//! and that drifts. `--example watch_truth` has more of it.

mod simulated;

use simulated::{Ended, Truth, ended};

#[test]
fn intervals_hold_when_a_script_is_ended() {
    const RUNS: u64 = 100;
    let check = |noise: f64, correlated_seconds: f64, drift: f64| {
        let truth = Truth {
            minutes: 10.0,
            noise,
            correlated_seconds,
            drift,
        };
        let ended: Vec<Ended> = (0..RUNS)
            .filter_map(|seed| ended(&truth, 0.05, seed))
            .collect();
        let inside = ended.iter().filter(|one| one.is_inside).count();
        // Half of the run is enough in every second case.
        assert!(ended.len() as u64 > RUNS / 2, "{truth:?}: {}", ended.len());
        assert!(
            100 * inside >= 93 * ended.len(),
            "{truth:?}: {inside} of {}",
            ended.len()
        );
        let is_sane = |one: &Ended| one.seconds > 10.0 && one.error.abs() < 0.2;
        assert!(ended.iter().all(is_sane), "{truth:?}");
    };
    check(0.1, 0.3, 0.0);
    check(0.1, 8.0, 0.03);
    check(0.1, 30.0, 0.0);
    check(0.05, 30.0, 0.03);
    check(0.01, 1.0, 0.05);
}
