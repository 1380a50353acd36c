//! Errors of setting up and removing.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::caffe::caffe_advice;
use crate::home::HomeError;
use crate::spec::Spec;

#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error(transparent)]
    Home(#[from] HomeError),
    /// Another program works on it.
    #[error("another bancada{} is working on {environment}: wait until it is finished", process.map(|id| format!(" (process {id})")).unwrap_or_default())]
    Locked {
        environment: String,
        process: Option<u32>,
    },
    #[error("{} is not available for {platform}: packages exist only for {}", .spec.name(), .spec.framework.platforms.join(", "))]
    Platform { spec: Spec, platform: String },
    #[error("{spec} needs {}", no_python(.accepted, .found, *.uv_failed))]
    NoPython {
        spec: Spec,
        accepted: Vec<String>,
        found: Vec<String>,
        /// uv was there, and could not bring one.
        uv_failed: bool,
    },
    /// The environment it extends has a Python that it does not accept.
    #[error("{spec} needs Python {}, but the environment of {base}, which it extends, has {found}: remove {base}, install Python {}, and set up {spec} again", either(.accepted), .accepted.first().map(String::as_str).unwrap_or_default())]
    BasePython {
        spec: Spec,
        base: Spec,
        found: String,
        accepted: Vec<String>,
    },
    #[error("cannot start {program}: {source}{}", uv_advice(.program))]
    CannotStart {
        program: PathBuf,
        source: std::io::Error,
    },
    /// In the way, and not made by `setup`.
    #[error("{folder} was not created by `bancada setup` and is not touched: move it elsewhere")]
    Foreign { folder: PathBuf },
    #[error("{0}")]
    Failed(Box<Failed>),
    #[error("stopped; to continue: bancada setup {spec}")]
    Stopped { spec: Spec },
    #[error(
        "no package index provides Caffe: build it, and put the program `caffe` on PATH or set BANCADA_CAFFE"
    )]
    NoCaffe,
    /// The machine's `caffe` cannot train.
    #[error("the installed caffe does not work: {problem}{}", more_caffe_advice(.problem))]
    CaffeFails { problem: String },
    /// To remove: it is not there.
    #[error("{spec} is not set up")]
    NotThere { spec: Spec },
    /// To remove: it has no environment of its own.
    #[error(
        "{spec} has no environment of its own, it runs in that of {owner}: bancada setup --remove {owner}"
    )]
    Shared { spec: Spec, owner: &'static str },
    /// To remove: others extend it.
    #[error("{spec} is needed by {}: bancada setup --remove {} {spec}", .by.join(", "), .by.join(" "))]
    Used { spec: Spec, by: Vec<String> },
}

/// A step that went wrong.
#[derive(Debug)]
pub struct Failed {
    pub spec: Spec,
    /// `installing its packages`.
    pub what: String,
    pub last_lines: Vec<String>,
    pub hint: String,
    pub log: PathBuf,
}

impl SetupError {
    /// Whether nothing that a person does with this program on this machine changes it.
    pub fn cannot_be_had(&self) -> bool {
        matches!(
            self,
            SetupError::Platform { .. } | SetupError::NoPython { .. } | SetupError::NoCaffe
        )
    }
}

fn no_python(accepted: &[String], found: &[String], uv_failed: bool) -> String {
    let first = accepted.first().map(String::as_str).unwrap_or("3");
    let found = match found {
        [] => "no Python".to_owned(),
        found => found.join(", "),
    };
    let advice = match uv_failed {
        true => {
            format!("; uv could not download it. Install Python {first} (pyenv install {first})")
        }
        false => format!(
            ": install Python {first} (pyenv install {first}), or install uv, which downloads it"
        ),
    };
    format!(
        "Python {}, and this machine has {found}{advice}",
        either(accepted)
    )
}

fn uv_advice(program: &Path) -> &'static str {
    match program.ends_with("uv") {
        true => "; set BANCADA_UV to the uv to use, or to an empty value for none",
        false => "",
    }
}

fn more_caffe_advice(problem: &str) -> String {
    match caffe_advice(problem) {
        Some(advice) if !problem.contains(advice) => format!("; {advice}"),
        _ => String::new(),
    }
}

fn either(versions: &[String]) -> String {
    match versions {
        [] => String::new(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {} failed", self.spec, self.what)?;
        for line in &self.last_lines {
            writeln!(f, "  │ {line}")?;
        }
        writeln!(f, "  = {}", self.hint)?;
        write!(f, "  = complete output: {}", self.log.display())
    }
}

/// What to do, told from what an installer or an import said.
pub(super) fn hint(said: &str, spec: &Spec, gpu: bool) -> String {
    let said = said.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| said.contains(part));
    if has(&[
        "no space left on device",
        "disk quota exceeded",
        "os error 28",
    ]) {
        return "the disk is full: free some space, or set BANCADA_CACHE to a folder on a different disk"
            .to_owned();
    }
    if has(&[
        "hash mismatch",
        "do not match the hashes",
        "don't match any known hash",
    ]) {
        return format!(
            "a downloaded file does not match the lock file of {spec} and was rejected: ask the operator of the package index why it differs"
        );
    }
    if has(&["ensurepip is not available"]) {
        return "this Python has no venv: apt-get install python3-venv, or install uv".to_owned();
    }
    if has(&[
        "error sending request",
        "dns error",
        "failed to fetch",
        "could not connect",
        "connection refused",
        "connection timed out",
        "temporary failure in name resolution",
        "name or service not known",
        "max retries exceeded",
        "read timed out",
        "newconnectionerror",
    ]) {
        return format!(
            "a package index could not be reached: check the network (PIP_INDEX_URL and UV_DEFAULT_INDEX set a different index), then run bancada setup {spec} to continue"
        );
    }
    if has(&["(from versions: none)"]) {
        return "no package index has it for this Python, or none could be reached (PIP_INDEX_URL and UV_DEFAULT_INDEX set a different one)"
            .to_owned();
    }
    if has(&[
        "no matching distribution",
        "no solution found",
        "no version of",
        "could not find a version",
    ]) {
        return match &spec.version {
            _ if gpu => format!(
                "GPU packages of {} may be in its vendor's own index: set UV_INDEX (pip: PIP_EXTRA_INDEX_URL)",
                spec.name()
            ),
            Some(version) => format!(
                "the package index may have no version {version} of {} for this Python",
                spec.name()
            ),
            None => "the package index does not have all these versions for this Python".to_owned(),
        };
    }
    if has(&["illegal instruction", "avx"]) {
        return "its build may need CPU instructions that this processor lacks".to_owned();
    }
    format!("fix the reported error, then run bancada setup {spec} to continue")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_tell_what_to_do() {
        let spec = Spec::parse("pytorch@2.2.0").unwrap();
        let check = |said: &str, expected: &str| {
            let hint = hint(said, &spec, false);
            assert!(hint.contains(expected), "{said}: {hint}");
        };
        check(
            "error: No space left on device (os error 28)",
            "disk is full",
        );
        check(
            "  cause: dns error\n  cause: error resolving DNS",
            "network",
        );
        check(
            "ERROR: No matching distribution found for torch==2.2.0",
            "no version 2.2.0 of pytorch",
        );
        check(
            "The virtual environment was not created successfully because ensurepip is not available.",
            "python3-venv",
        );
        check(
            "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.",
            "does not match the lock file of pytorch@2.2.0",
        );
        check("error: Hash mismatch for `numpy==2.4.6`", "was rejected");
        check("tinygrad==1 (from versions: none)", "none could be reached");
        check(
            "something else",
            "run bancada setup pytorch@2.2.0 to continue",
        );
    }
}
