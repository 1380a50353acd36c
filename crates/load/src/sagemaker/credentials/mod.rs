//! Credentials: what they are, and the chain of places that may have them.

mod chain;
mod container;
mod error;
mod instance;
mod local;
mod process;
mod profile;
mod wire;

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

pub use chain::find_credentials;
pub use error::CredentialsError;
pub(crate) use profile::Profile;

use crate::sagemaker::Secret;

/// Credentials that end sooner are requested again: a signature counts for five minutes.
const REFRESH_BEFORE: Duration = Duration::from_secs(5 * 60);

#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    pub access_key_id: String,
    pub secret_access_key: Secret,
    pub session_token: Option<Secret>,
    /// `None` for those that do not end.
    pub expires: Option<Timestamp>,
    /// The place they came from, in words.
    pub source: &'static str,
}

impl Credentials {
    pub(crate) fn is_fresh(&self, now: Timestamp) -> bool {
        self.expires
            .is_none_or(|expires| now.duration_until(expires) > signed(REFRESH_BEFORE))
    }

    /// A text of the service's without anything secret.
    pub(crate) fn hide_in(&self, text: &str) -> String {
        let text = self.secret_access_key.hide_in(text);
        match &self.session_token {
            Some(token) => token.hide_in(&text),
            None => text,
        }
    }
}

fn signed(duration: Duration) -> jiff::SignedDuration {
    jiff::SignedDuration::try_from(duration).unwrap_or(jiff::SignedDuration::MAX)
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials(from {})", self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials(expires: Option<&str>) -> Credentials {
        Credentials {
            access_key_id: "AKIDEXAMPLE".to_owned(),
            secret_access_key: Secret::new("hidden-key"),
            session_token: Some(Secret::new("hidden-token")),
            expires: expires.map(|time| time.parse().unwrap()),
            source: "a test",
        }
    }

    #[test]
    fn nothing_secret_is_shown() {
        let shown = format!("{:?} {:#?}", credentials(None), Some(credentials(None)));
        assert!(
            !shown.contains("hidden") && !shown.contains("AKID"),
            "{shown}"
        );
        let cleaned = credentials(None).hide_in("a hidden-token b hidden-key");
        assert_eq!(cleaned, "a … b …");
    }

    #[test]
    fn those_about_to_end_are_not_fresh() {
        let now = "2026-01-01T12:00:00Z".parse().unwrap();
        let check = |expires, expected| {
            assert_eq!(credentials(expires).is_fresh(now), expected, "{expires:?}");
        };
        check(None, true);
        check(Some("2026-01-01T13:00:00Z"), true);
        check(Some("2026-01-01T12:04:00Z"), false);
        check(Some("2026-01-01T11:00:00Z"), false);
    }
}
