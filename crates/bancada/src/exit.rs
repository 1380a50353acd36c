//! Exit codes. Documented in docs/cli.md; numbers never change their meaning.

use std::fmt::Display;
use std::process::ExitCode;

use diagnostics::Mistakes;
use workbench::ErrorKind;

use crate::printer::Printer;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok,
    /// Something outside went wrong: a file, the disk, the system.
    Trouble,
    /// The command line itself is wrong: what clap says, and what only a command can say.
    WrongArguments,
    BadStudy,
    Budget,
    /// The study is through, but some runs failed.
    FailedRuns,
    /// Another bancada works on these results, or they belong to another study.
    ResultsInUse,
    /// The second of two is worse, and that was asked about.
    Worse,
    /// As a shell says it of a program ended by Ctrl-C.
    Interrupted,
    /// That of the script that was watched.
    Script(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Ok => 0,
            Exit::Trouble => 1,
            Exit::WrongArguments => 2,
            Exit::BadStudy => 3,
            Exit::Budget => 4,
            Exit::FailedRuns => 5,
            Exit::ResultsInUse => 6,
            Exit::Worse => 7,
            Exit::Interrupted => 130,
            Exit::Script(code) => code,
        })
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

    /// They bring their own heads.
    pub(crate) fn mistakes(mistakes: &Mistakes) -> Self {
        Failure {
            exit: Exit::BadStudy,
            message: mistakes.rendered(Printer::from_environment().style()),
        }
    }
}

impl From<workbench::Error> for Failure {
    fn from(error: workbench::Error) -> Self {
        let exit = match error.kind {
            ErrorKind::BadStudy => Exit::BadStudy,
            ErrorKind::ResultsInUse => Exit::ResultsInUse,
            ErrorKind::Interrupted => Exit::Interrupted,
            ErrorKind::RunFailed => Exit::FailedRuns,
            ErrorKind::Other => Exit::Trouble,
        };
        match error.rendered(Printer::from_environment().style()) {
            Some(message) => Failure { exit, message },
            None => Failure::new(exit, error),
        }
    }
}

impl From<workloads::Error> for Failure {
    fn from(error: workloads::Error) -> Self {
        match error {
            workloads::Error::Mistakes(mistakes) => Failure::mistakes(&mistakes),
            workloads::Error::UnknownNetwork(_) => Failure::new(Exit::BadStudy, error),
            workloads::Error::Interrupted(_) => Failure::new(Exit::Interrupted, error),
            workloads::Error::Failed(_) => Failure::trouble(error),
        }
    }
}

impl From<store::StoreError> for Failure {
    fn from(error: store::StoreError) -> Self {
        workbench::Error::from(error).into()
    }
}

pub(crate) type CommandResult = Result<Exit, Failure>;
