//! Exit codes. Documented in docs/cli.md; numbers never change their meaning.

use std::fmt::Display;
use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok = 0,
    /// Something outside went wrong: a file, the disk, the system.
    Trouble = 1,
    /// The command line itself is wrong: what clap says, and what only a command can say.
    WrongArguments = 2,
    BadStudy = 3,
    Budget = 4,
    /// The study is through, but some runs failed.
    FailedRuns = 5,
    /// Another bancada works on these results, or they belong to another study.
    ResultsInUse = 6,
    /// As a shell says it of a program ended by Ctrl-C.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// Starts with `error:`, is rendered and safe to show.
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Display) -> Self {
        Failure {
            exit,
            message: format!("error: {}", crate::printer::shown(&message.to_string())),
        }
    }

    pub(crate) fn trouble(message: impl Display) -> Self {
        Failure::new(Exit::Trouble, message)
    }

    pub(crate) fn wrong_arguments(message: impl Display) -> Self {
        Failure::new(Exit::WrongArguments, message)
    }

    /// Diagnostics, which bring their own heads.
    pub(crate) fn bad_study(rendered: String) -> Self {
        Failure {
            exit: Exit::BadStudy,
            message: rendered,
        }
    }
}

pub(crate) type CommandResult = Result<Exit, Failure>;
