//! When a scenario has been repeated often enough.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::run::metric;

/// `5%`, `cost 5%`, `decided`, `cost decided`. The study's `repetitions` are the maximum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Until {
    /// As written; none is the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    pub rule: UntilRule,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UntilRule {
    /// The interval of each scenario's mean is within so many percent of it, up and down.
    Within { percent: f64 },
    /// Which choice is the best is settled for every task.
    Decided,
}

impl Until {
    /// Fewer say nothing of their spread.
    pub const MINIMUM: u32 = 3;

    /// Numbers of repetitions after which it is decided whether more follow: every one at first, then a
    /// quarter more each time, and the maximum. Fewer looks cost less precision.
    pub fn looks(maximum: u32) -> Vec<u32> {
        let mut looks = Vec::new();
        let mut look = Until::MINIMUM;
        while look < maximum {
            looks.push(look);
            look = (look + 1).max((look * 5).div_ceil(4));
        }
        looks.push(maximum);
        looks
    }
}

impl FromStr for Until {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            format!(
                "`{text}` is not a precision such as \"5%\" or \"cost 5%\", nor \"decided\" or \"cost decided\""
            )
        };
        let text = text.trim();
        let (metric, rule) = match text.strip_suffix('%').map(str::trim_end) {
            Some(number) => {
                let (metric, number) = number.rsplit_once(' ').unwrap_or(("", number));
                let percent: f64 = number.parse().map_err(|_| expected())?;
                if !(percent > 0.0 && percent <= 50.0) {
                    return Err(format!(
                        "`{text}`: the precision must be above 0 % and at most 50 %"
                    ));
                }
                (metric.trim(), UntilRule::Within { percent })
            }
            None => {
                let metric = text.strip_suffix("decided").ok_or_else(expected)?;
                (metric.trim(), UntilRule::Decided)
            }
        };
        if metric.contains(char::is_whitespace) {
            return Err(expected());
        }
        let ranked = ["", "time", metric::COST];
        if rule == UntilRule::Decided && !ranked.contains(&metric) {
            return Err(format!(
                "`{text}`: only the time and the cost are ranked; write \"decided\" or \"cost decided\""
            ));
        }
        Ok(Until {
            metric: Some(metric.to_owned()).filter(|metric| !metric.is_empty()),
            rule,
        })
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(metric) = &self.metric {
            write!(f, "{metric} ")?;
        }
        match self.rule {
            UntilRule::Within { percent } => write!(f, "{percent}%"),
            UntilRule::Decided => f.write_str("decided"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_written_again() {
        for text in ["5%", "cost 2.5%", "decided", "cost decided"] {
            let read: Result<Until, String> = text.parse();
            assert_eq!(read.map(|until| until.to_string()), Ok(text.to_owned()));
        }
        assert_eq!(
            "  5 % ".parse::<Until>().map(|u| u.to_string()),
            Ok("5%".to_owned())
        );
        for wrong in [
            "",
            "5",
            "0%",
            "60%",
            "-1%",
            "a b 5%",
            "undecided yet",
            "accuracy decided",
        ] {
            assert!(wrong.parse::<Until>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn looks_end_at_the_maximum() {
        assert_eq!(Until::looks(3), [3]);
        assert_eq!(Until::looks(10), [3, 4, 5, 7, 9, 10]);
        assert_eq!(Until::looks(30), [3, 4, 5, 7, 9, 12, 15, 19, 24, 30]);
    }
}
