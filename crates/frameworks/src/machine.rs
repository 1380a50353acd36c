//! What this machine brings: its platform, Pythons, uv, and the programs frameworks need.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Serialize;

use crate::process::{Answer, ask};
use crate::registry::Need;
use crate::spec::compare_versions;

/// A Python that does not respond by then is ignored.
const PATIENCE: Duration = Duration::from_secs(20);
const SERVERS: [&str; 2] = ["/usr/local/sbin", "/usr/sbin"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// `linux-x86_64`, as `frameworks.toml` writes it.
    pub platform: String,
    /// Folders in which programs are looked for.
    pub path: Vec<PathBuf>,
    /// pyenv's folder.
    pub pyenv: Option<PathBuf>,
    pub uv: Option<PathBuf>,
    /// Caffe's program: `$BANCADA_CAFFE`, or `caffe` where programs are.
    pub caffe: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Python {
    pub path: PathBuf,
    pub version: String,
}

impl Machine {
    pub fn here() -> Machine {
        let variable = |name: &str| env::var_os(name);
        let mut path: Vec<PathBuf> = variable("PATH")
            .map(|path| env::split_paths(&path).collect())
            .unwrap_or_default();
        // Where Debian keeps servers, such as NGINX; a person's PATH may not have it.
        path.extend(SERVERS.map(PathBuf::from));
        let pyenv = variable("PYENV_ROOT")
            .map(PathBuf::from)
            .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".pyenv")));
        Machine {
            platform: format!("{}-{}", env::consts::OS, env::consts::ARCH),
            uv: named_program(variable("BANCADA_UV"), "uv", &path),
            caffe: named_program(variable("BANCADA_CAFFE"), "caffe", &path),
            path,
            pyenv,
        }
    }

    pub fn program(&self, name: &str) -> Option<PathBuf> {
        find_program(name, &self.path)
    }

    /// The first of these versions (`3.11`) that is here.
    pub fn python(&self, accepted: &[String]) -> Option<Python> {
        accepted.iter().find_map(|minor| self.python_of(minor))
    }

    fn python_of(&self, minor: &str) -> Option<Python> {
        let is_it = |python: &Python| minor_of(&python.version) == minor;
        let named = self.program(&format!("python{minor}"));
        let candidates = named
            .into_iter()
            .chain(self.pyenv_pythons(minor))
            .chain(self.program("python3"))
            .chain(self.program("python"));
        candidates
            .filter_map(|path| inquire(&path))
            .find(is_it)
            .or_else(|| self.python_of_uv(minor).filter(is_it))
    }

    /// The newest first.
    fn pyenv_pythons(&self, minor: &str) -> Vec<PathBuf> {
        let Some(versions) = self.pyenv.as_ref().map(|root| root.join("versions")) else {
            return Vec::new();
        };
        let Ok(entries) = fs::read_dir(&versions) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| minor_of(name) == minor)
            .collect();
        names.sort_by(|a, b| compare_versions(b, a));
        names
            .iter()
            .map(|name| versions.join(name).join("bin/python"))
            .collect()
    }

    fn python_of_uv(&self, minor: &str) -> Option<Python> {
        let mut command = Command::new(self.uv.as_ref()?);
        command.args([
            "python",
            "find",
            "--no-python-downloads",
            "--no-project",
            minor,
        ]);
        let answer = ask(&mut command, PATIENCE).ok().filter(|a| a.success)?;
        inquire(Path::new(answer.stdout.trim()))
    }

    /// Every Python of these versions, one each.
    pub fn pythons(&self, versions: &[String]) -> Vec<Python> {
        versions.iter().filter_map(|v| self.python_of(v)).collect()
    }

    /// What of a framework's needs is not here.
    pub fn missing<'n>(&self, needs: &'n [Need]) -> Vec<&'n Need> {
        let has = |need: &Need| {
            let program = need.program.as_ref();
            let library = need.library.as_ref();
            program.is_none_or(|name| self.program(name).is_some())
                && library.is_none_or(|name| self.has_library(name))
        };
        needs.iter().filter(|need| !has(need)).collect()
    }

    /// Asks the compiler, which is what will look for it.
    fn has_library(&self, name: &str) -> bool {
        let Some(compiler) = self.program("g++").or_else(|| self.program("cc")) else {
            return false;
        };
        let mut command = Command::new(compiler);
        command.arg(format!("-print-file-name={name}"));
        let answer = ask(&mut command, PATIENCE);
        answer.is_ok_and(|a| a.success && Path::new(a.stdout.trim()).is_absolute())
    }
}

/// `3.11` of `3.11.7`.
pub(crate) fn minor_of(version: &str) -> &str {
    let mut points = version.match_indices('.');
    match points.nth(1) {
        Some((at, _)) => &version[..at],
        None => version,
    }
}

/// The program a variable names, or else one on the path. A variable set to nothing means none.
fn named_program(variable: Option<OsString>, name: &str, path: &[PathBuf]) -> Option<PathBuf> {
    match variable {
        Some(value) if value.is_empty() => None,
        // Caffe is started elsewhere: a path stays the one meant here. A mere name is looked for.
        Some(value) if Path::new(&value).components().count() > 1 => {
            std::path::absolute(&value).ok()
        }
        Some(value) => Some(PathBuf::from(value)),
        None => find_program(name, path),
    }
}

fn find_program(name: &str, path: &[PathBuf]) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let runs = |file: &PathBuf| {
        fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    path.iter().map(|folder| folder.join(name)).find(runs)
}

/// Programs named `python3.8` may be wrappers that know no Python 3.8, so each is asked. Inside a
/// virtual environment the answer is the Python beneath it, which outlives it.
fn inquire(path: &Path) -> Option<Python> {
    const QUESTION: &str = "import sys; \
        print('%d.%d.%d' % tuple(sys.version_info[:3])); \
        print(getattr(sys, '_base_executable', None) or sys.executable)";
    let mut command = Command::new(path);
    command.args(["-c", QUESTION]);
    let Answer {
        success, stdout, ..
    } = ask(&mut command, PATIENCE).ok()?;
    let mut lines = stdout.lines();
    let (version, executable) = (lines.next()?, lines.next()?);
    success.then(|| Python {
        path: PathBuf::from(executable),
        version: version.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minors() {
        let check = |version, expected| assert_eq!(minor_of(version), expected);
        check("3.11.7", "3.11");
        check("3.8", "3.8");
        check("3.13.0rc1", "3.13");
        check("pypy", "pypy");
        check("", "");
    }
}
