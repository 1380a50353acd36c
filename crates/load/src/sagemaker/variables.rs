//! The environment variables that matter here, taken once, so that tests pass their own.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

#[derive(Clone, Default)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    pub fn of_process() -> Self {
        let wanted =
            |name: &str| name.starts_with("AWS_") || ["HOME", "USERPROFILE"].contains(&name);
        let pairs = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| wanted(name));
        Variables(pairs.collect())
    }

    /// `None` if it is empty, too: that is how variables are switched off.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let value = self.0.get(name)?.trim();
        (!value.is_empty()).then_some(value)
    }

    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.get(name)
            .is_some_and(|value| value.eq_ignore_ascii_case("true") || value == "1")
    }

    /// `~/.aws/NAME`, or the file that `variable` names.
    pub(crate) fn file(&self, variable: &str, name: &str) -> Option<PathBuf> {
        let home = self.get("HOME").or_else(|| self.get("USERPROFILE"));
        match self.get(variable) {
            Some(path) => Some(match (path.strip_prefix("~/"), home) {
                (Some(rest), Some(home)) => PathBuf::from(home).join(rest),
                _ => PathBuf::from(path),
            }),
            None => Some(PathBuf::from(home?).join(".aws").join(name)),
        }
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Variables {
    fn from(pairs: [(&str, &str); N]) -> Self {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Variables(pairs.into_iter().map(owned).collect())
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_and_values_are_not() {
        let variables = Variables::from([("AWS_SECRET_ACCESS_KEY", "hidden"), ("AWS_REGION", " ")]);
        let shown = format!("{variables:?}");
        assert!(shown.contains("AWS_SECRET_ACCESS_KEY") && !shown.contains("hidden"));
        assert_eq!(variables.get("AWS_REGION"), None);
    }

    #[test]
    fn files_are_found() {
        let check = |pairs: [(&str, &str); 2], expected: &str| {
            let found = Variables::from(pairs).file("AWS_CONFIG_FILE", "config");
            assert_eq!(found, Some(PathBuf::from(expected)));
        };
        check([("HOME", "/h"), ("AWS_X", "")], "/h/.aws/config");
        check([("HOME", "/h"), ("AWS_CONFIG_FILE", "~/c")], "/h/c");
        check([("HOME", "/h"), ("AWS_CONFIG_FILE", "/d/c")], "/d/c");
        assert_eq!(Variables::default().file("AWS_CONFIG_FILE", "config"), None);
    }
}
