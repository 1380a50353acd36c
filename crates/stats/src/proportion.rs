//! A share of trials, with its interval.

use crate::distribution::normal_quantile;
use crate::estimate::{Estimate, Interval};

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
