//! Names of frameworks: `pytorch`, `pytorch@2.2.0`.

use std::cmp::Ordering;
use std::fmt;

use crate::registry::{self, Framework, Kind};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    pub framework: &'static Framework,
    /// `None` means the version that `frameworks.toml` pins.
    pub version: Option<String>,
}

impl Spec {
    /// In the version that `frameworks.toml` names.
    pub fn pinned(framework: &'static Framework) -> Spec {
        Spec {
            framework,
            version: None,
        }
    }

    pub fn parse(text: &str) -> Result<Spec, SpecError> {
        let (name, version) = match text.split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (text, None),
        };
        let Some(framework) = registry::find(name) else {
            return Err(SpecError::UnknownName {
                name: name.to_owned(),
                closest: diagnostics::closest(name, registry::all().map(|f| f.name.as_str())),
            });
        };
        match version {
            Some(_) if !framework.kind.is_installed() => Err(SpecError::NoVersions { framework }),
            Some(version) if !is_version(version) => Err(SpecError::BadVersion {
                framework,
                version: version.to_owned(),
            }),
            // The pinned version, written out, is the same thing.
            Some(version) => Ok(Spec {
                framework,
                version: (Some(version) != framework.version.as_deref())
                    .then(|| version.to_owned()),
            }),
            None => Ok(Spec::pinned(framework)),
        }
    }

    pub fn name(&self) -> &'static str {
        &self.framework.name
    }

    /// The version requested, or else the pinned one; None for what has no versions.
    pub fn wanted_version(&self) -> Option<&str> {
        self.version
            .as_deref()
            .or(self.framework.version.as_deref())
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Some(version) => write!(f, "{}@{version}", self.framework.name),
            None => write!(f, "{}", self.framework.name),
        }
    }
}

/// Why a text names no framework.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}", self.message(), self.hint())]
pub enum SpecError {
    UnknownName {
        name: String,
        /// What was probably meant.
        closest: Option<&'static str>,
    },
    BadVersion {
        framework: &'static Framework,
        version: String,
    },
    /// A version for what this program or the machine has in one version only.
    NoVersions { framework: &'static Framework },
}

impl SpecError {
    /// What to do about it, for where head and hint stand apart.
    pub fn hint(&self) -> String {
        match self {
            SpecError::UnknownName {
                closest: Some(name),
                ..
            } => format!("did you mean `{name}`?"),
            SpecError::UnknownName { .. } => {
                let names: Vec<&str> = registry::names().collect();
                format!("known: {}", names.join(", "))
            }
            SpecError::BadVersion { framework, .. } => format!(
                "write it as in `{}@{}`",
                framework.name,
                framework.version.as_deref().unwrap_or_default()
            ),
            SpecError::NoVersions { framework } => format!("write `{}`", framework.name),
        }
    }

    /// What is wrong, without what to do.
    pub fn message(&self) -> String {
        match self {
            SpecError::UnknownName { name, .. } => format!("unknown framework `{name}`"),
            SpecError::BadVersion { framework, version } => {
                format!("`{version}` is not a version of {}", framework.name)
            }
            SpecError::NoVersions { framework } => match framework.kind {
                Kind::Engine => "the engine has the same version as bancada".to_owned(),
                _ => format!("the version of {} is the installed one", framework.name),
            },
        }
    }
}

/// Numbers with points, and what may follow them in a release: `2.2.0`, `2.1.0rc1`, `1.9.1.post0`,
/// `2.3.0+cpu`. It becomes part of a folder's name and of the installer's arguments.
fn is_version(text: &str) -> bool {
    let marks = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-' | '_' | '!');
    text.len() <= 40
        && text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(marks)
        && !text.contains("..")
}

/// By the numbers between the points; what follows a number in its part does not count.
pub(crate) fn compare_versions(a: &str, b: &str) -> Ordering {
    let numbers = |text: &str| -> Vec<u64> {
        let number = |part: &str| {
            let end = part
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(part.len());
            part[..end].parse().unwrap_or(0)
        };
        let mut numbers: Vec<u64> = text.split('.').map(number).collect();
        while numbers.last() == Some(&0) {
            numbers.pop();
        }
        numbers
    };
    numbers(a).cmp(&numbers(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_read_as_written() {
        let check = |text: &str, expected: &str| {
            let said = match Spec::parse(text) {
                Ok(spec) => format!("{spec} ({})", spec.wanted_version().unwrap_or("-")),
                Err(error) => error.to_string(),
            };
            assert_eq!(said, expected);
        };
        check("engine", "engine (-)");
        check("pytorch", "pytorch (2.15.0)");
        check("pytorch@2.2.0", "pytorch@2.2.0 (2.2.0)");
        check("pytorch@2.15.0", "pytorch (2.15.0)");
        check("keras-jax@3.9.0rc1", "keras-jax@3.9.0rc1 (3.9.0rc1)");
        check(
            "pytorhc",
            "unknown framework `pytorhc`: did you mean `pytorch`?",
        );
        check(
            "cntk",
            "unknown framework `cntk`: known: engine, pytorch, tensorflow, keras-tensorflow, \
             keras-jax, keras-torch, mxnet, jax, paddle, chainer, tinygrad, onnxruntime-training, theano, \
             caffe",
        );
        for bad in [
            "",
            "2.0/../..",
            "latest",
            ">=2",
            "2..0",
            "2.",
            "2 0",
            "2.0;x",
        ] {
            check(
                &format!("pytorch@{bad}"),
                &format!("`{bad}` is not a version of pytorch: write it as in `pytorch@2.15.0`"),
            );
        }
        check(
            "engine@1",
            "the engine has the same version as bancada: write `engine`",
        );
        check(
            "caffe@1.0",
            "the version of caffe is the installed one: write `caffe`",
        );
    }

    #[test]
    fn versions_compare_by_numbers() {
        let check = |a, b, expected| assert_eq!(compare_versions(a, b), expected, "{a} {b}");
        check("2.2.0", "2.3", Ordering::Less);
        check("2.10", "2.9", Ordering::Greater);
        check("2.3.0", "2.3", Ordering::Equal);
        check("2.3.0rc1", "2.3", Ordering::Equal);
        check("", "1", Ordering::Less);
        check("99999999999999999999999", "1", Ordering::Less);
    }
}
