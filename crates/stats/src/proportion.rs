//! A share of trials, with its interval, and two shares compared.

use crate::distribution::normal_quantile;
use crate::estimate::{Estimate, Interval};
use crate::special::ln_gamma;

/// Share of successes with Wilson's score interval (Wilson 1927; Brown, Cai, DasGupta 2001), which holds near 0 and 1
/// too. `None` for no trials, more successes than trials, or a confidence outside 0 to 1.
pub fn proportion(successes: usize, trials: usize, confidence: f64) -> Option<Estimate> {
    if trials == 0 || successes > trials || !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let (count, share) = (trials as f64, successes as f64 / trials as f64);
    let z = normal_quantile(0.5 + confidence / 2.0);
    let scale = 1.0 + z * z / count;
    let middle = (share + z * z / (2.0 * count)) / scale;
    let half = z / scale * (share * (1.0 - share) / count + z * z / (4.0 * count * count)).sqrt();
    Some(Estimate {
        value: share,
        // Rounding must not leave the share itself outside.
        interval: Some(Interval {
            low: (middle - half).clamp(0.0, share),
            high: (middle + half).clamp(share, 1.0),
        }),
        standard_error: Some((share * (1.0 - share) / count).sqrt()),
        confidence,
        count: trials,
        method: "share, Wilson's score interval".to_owned(),
    })
}

/// Successes and failures of each of two: the chance that the first has at least as many of all successes, if both
/// succeed alike (the one-sided exact test of Fisher 1935).
pub fn chance_of_so_many(first: (usize, usize), second: (usize, usize)) -> f64 {
    let (successes, trials) = (first.0 + second.0, first.0 + first.1);
    let others = second.0 + second.1;
    let chosen = |from: usize, of: usize| {
        let factorial = |count: usize| ln_gamma(count as f64 + 1.0);
        factorial(from) - factorial(of) - factorial(from - of)
    };
    let all = chosen(trials + others, successes);
    let most = successes.min(trials);
    let possible = (first.0..=most).filter(|own| successes - own <= others);
    let each =
        possible.map(|own| (chosen(trials, own) + chosen(others, successes - own) - all).exp());
    each.sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tea of Fisher's lady: three of four cups, of eight, and all four.
    #[test]
    fn the_exact_test_is_that_of_the_hypergeometric_distribution() {
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-9, "{found}");
        near(chance_of_so_many((3, 1), (1, 3)), 17.0 / 70.0);
        near(chance_of_so_many((4, 0), (0, 4)), 1.0 / 70.0);
        near(chance_of_so_many((0, 4), (3, 1)), 1.0);
        near(chance_of_so_many((1, 23), (0, 24)), 0.5);
        near(chance_of_so_many((0, 0), (0, 0)), 1.0);
    }
}
