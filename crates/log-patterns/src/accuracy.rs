//! Accuracy, however programs write it.

/// A fraction: programs write 0.97 or 97, and more than one whole is percent. None for what no
/// accuracy can be.
pub fn fraction(value: f64) -> Option<f64> {
    if value > 1.0 {
        of_percent(value)
    } else {
        (value >= 0.0).then_some(value)
    }
}

/// The same of what is surely percent.
pub fn of_percent(percent: f64) -> Option<f64> {
    (0.0..=100.0).contains(&percent).then(|| percent / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accuracy_is_a_fraction_or_percent_and_nothing_else() {
        let check = |value: f64, expected: Option<f64>| {
            assert_eq!(fraction(value), expected, "{value}");
        };
        check(0.0, Some(0.0));
        check(0.97, Some(0.97));
        check(1.0, Some(1.0));
        check(97.0, Some(0.97));
        check(100.0, Some(1.0));
        check(100.5, None);
        check(-0.1, None);
        check(f64::NAN, None);
        check(f64::INFINITY, None);
        assert_eq!(of_percent(0.5), Some(0.005));
        assert_eq!(of_percent(-1.0), None);
    }
}
