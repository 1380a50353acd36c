use std::time::Duration;

/// How often and after which pauses a request is sent again that was refused for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The first one counts.
    pub tries: u32,
    /// Before the second try; doubled before each further one.
    pub first: Duration,
    pub most: Duration,
}

impl Default for Backoff {
    /// Half a minute in all: throttles of these services are counted by the second.
    fn default() -> Self {
        Backoff {
            tries: 7,
            first: Duration::from_millis(500),
            most: Duration::from_secs(10),
        }
    }
}

impl Backoff {
    /// The pause after so many tries that failed; `None` if there were enough.
    pub(crate) fn pause(&self, failed: u32) -> Option<Duration> {
        if failed >= self.tries {
            return None;
        }
        let doubled = 2_u32.saturating_pow(failed.saturating_sub(1));
        Some(self.first.saturating_mul(doubled).min(self.most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_end() {
        let backoff = Backoff::default();
        let pauses: Vec<u128> = (1..)
            .map_while(|failed| backoff.pause(failed))
            .map(|pause| pause.as_millis())
            .collect();
        assert_eq!(pauses, [500, 1000, 2000, 4000, 8000, 10_000]);
        assert_eq!(backoff.pause(u32::MAX), None);
    }
}
