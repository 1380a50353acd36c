//! What can go wrong on the way, in sentences.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use data::DataError;

#[derive(Debug)]
pub enum FetchError {
    /// Not a dataset of files that are published.
    NotFetched { name: String },
    /// No place gave the files.
    Nowhere {
        dataset: &'static str,
        tried: Vec<Tried>,
    },
    /// Another process is fetching the same.
    Busy { dataset: &'static str },
    Io {
        what: &'static str,
        path: PathBuf,
        error: io::Error,
    },
    /// The files came and are right, and still cannot be read.
    Unreadable(DataError),
}

/// A place that did not give the files.
#[derive(Debug)]
pub struct Tried {
    pub place: String,
    pub why: Why,
}

#[derive(Debug)]
pub enum Why {
    /// Not reached at all: another try would not help.
    Unreachable {
        problem: String,
    },
    /// The server answered with this.
    Status {
        status: u16,
        url: String,
    },
    /// The server wants to be left alone for longer than anyone waits.
    Later {
        status: u16,
        url: String,
        seconds: u64,
    },
    /// Every try was interrupted.
    BrokenOff {
        url: String,
        problem: String,
    },
    TooLarge {
        what: String,
        most_bytes: u64,
    },
    /// Not the published file.
    Differs {
        file: String,
        problem: Difference,
    },
    /// The place is there and has no such file.
    Missing {
        file: String,
    },
    Archive {
        what: String,
        problem: String,
    },
    NoProgram {
        program: &'static str,
    },
    Program {
        program: &'static str,
        said: String,
    },
    TimedOut {
        program: &'static str,
        seconds: u64,
    },
    Io {
        path: PathBuf,
        error: io::Error,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    Bytes { expected: u64, found: u64 },
    Digest { found: String },
}

impl Why {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Why {
        let path = path.to_owned();
        move |error| Why::Io { path, error }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FetchError::NotFetched { name } => {
                let known: Vec<&str> = crate::names().collect();
                let known = known.join(", ");
                match data::info(name) {
                    Some(_) => write!(
                        f,
                        "`{name}` is generated and needs no files; downloadable: {known}"
                    ),
                    None if name == data::FOLDER => write!(
                        f,
                        "`folder` is a folder of your own pictures: set it as `data_dir` in the study; downloadable: {known}"
                    ),
                    None => write!(f, "unknown dataset `{name}`; downloadable: {known}"),
                }
            }
            FetchError::Nowhere { dataset, tried } => {
                write!(f, "{dataset} could not be downloaded")?;
                for tried in tried {
                    write!(f, "\n  {}: {}", tried.place, tried.why)?;
                }
                write!(
                    f,
                    "\n  Try again later, or use a copy: bancada data fetch {dataset} --from FOLDER or URL"
                )
            }
            FetchError::Busy { dataset } => {
                write!(f, "another bancada is downloading {dataset}: wait for it")
            }
            FetchError::Io { what, path, error } => {
                write!(f, "cannot {what} {}: {error}", path.display())
            }
            FetchError::Unreadable(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FetchError {}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Unreachable { problem } => write!(f, "cannot be reached ({problem})"),
            Why::Status { status, url } => write!(f, "returned {status} for {url}"),
            Why::Later {
                status,
                url,
                seconds,
            } => write!(
                f,
                "returned {status} for {url} and asks to retry in {seconds} s"
            ),
            Why::BrokenOff { url, problem } => {
                write!(f, "{url} was interrupted every time ({problem})")
            }
            Why::TooLarge { what, most_bytes } => {
                write!(
                    f,
                    "{what} is larger than {most_bytes} bytes: not the expected file"
                )
            }
            Why::Differs { file, problem } => match problem {
                Difference::Bytes { expected, found } => write!(
                    f,
                    "{file} has {found} bytes, the published file has {expected}"
                ),
                Difference::Digest { found } => {
                    write!(f, "{file} is not the published file (SHA-256 {found})")
                }
            },
            Why::Missing { file } => write!(f, "has no {file}"),
            Why::Archive { what, problem } => write!(f, "{what} cannot be unpacked: {problem}"),
            Why::NoProgram { program } => write!(f, "{program} is not installed"),
            Why::Program { program, said } => write!(f, "{program} failed: {said}"),
            Why::TimedOut { program, seconds } => {
                write!(f, "{program} did not end within {seconds} s")
            }
            Why::Io { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}
