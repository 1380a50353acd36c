//! Why a serving run has no result.

use std::fmt;
use std::io;
use std::path::PathBuf;

use aws_endpoint::{AwsError, SetUpError};
use load::{LoadError, TraceError};

#[derive(Debug)]
pub enum AskError {
    File {
        path: PathBuf,
        error: io::Error,
    },
    /// No ping was answered in time; what the last one gave.
    NotHealthy {
        seconds: f64,
        last: String,
    },
    /// The first request was not answered well.
    NoAnswer(String),
    /// Not one of the requests that count was answered well.
    NoneAnswered {
        requests: u64,
        why: String,
    },
    NoRateHolds,
    /// A header names a variable that is not set.
    NoVariable(String),
    /// A load that names no rate, no trace, …
    Incomplete(&'static str),
    /// A load that is not for endpoints that are paid for, as the end of a sentence.
    NotHere(&'static str),
    Trace {
        path: PathBuf,
        error: TraceError,
    },
    Load(LoadError),
    SetUp(SetUpError),
    Aws(AwsError),
    Stopped,
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AskError::File { path, error } => write!(f, "{}: {error}", path.display()),
            AskError::NotHealthy { seconds, last } => {
                write!(
                    f,
                    "the server had no healthy ping within {seconds} s: {last}"
                )
            }
            AskError::NoAnswer(why) => write!(f, "the first request failed: {why}"),
            AskError::NoneAnswered { requests, why } => {
                write!(f, "all {requests} requests failed: {why}")
            }
            AskError::NoRateHolds => f.write_str(
                "even the lowest rate exceeds the requested latency: allow a higher one",
            ),
            AskError::NoVariable(name) => {
                write!(
                    f,
                    "a header uses the environment variable {name}, which is not set"
                )
            }
            AskError::Incomplete(what) => write!(f, "the load has no {what}"),
            AskError::NotHere(why) => write!(f, "a SageMaker endpoint {why}"),
            AskError::Trace { path, error } => {
                write!(f, "the trace {}: {error}", path.display())
            }
            AskError::Load(error) => error.fmt(f),
            AskError::SetUp(error) => error.fmt(f),
            AskError::Aws(error) => error.fmt(f),
            AskError::Stopped => f.write_str("was interrupted"),
        }
    }
}

impl std::error::Error for AskError {}
