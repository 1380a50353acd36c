//! A text that must not be seen. It has no `Display`, no serialisation, and a `Debug` that shows
//! nothing, so that no log, report or error can contain it by accident.

use std::fmt;

#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// For signing and sending alone.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// `text` without this secret: services repeat what they were sent in their complaints.
    pub(crate) fn hide_in(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        text.replace(&self.0, "…")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_shown() {
        let secret = Secret::new("wJalrXUtnFEMI");
        assert_eq!(format!("{secret:?} {secret:#?}"), "Secret(…) Secret(…)");
        assert_eq!(secret.hide_in("a wJalrXUtnFEMI b wJalrXUtnFEMI"), "a … b …");
        assert_eq!(Secret::new("").hide_in("abc"), "abc");
    }
}
