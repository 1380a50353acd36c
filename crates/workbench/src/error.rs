use std::fmt::{self, Display};

use diagnostics::{Diagnostic, Mistakes, Style};
use store::StoreError;

/// Why it could not be done.
#[derive(Debug)]
pub struct Error {
    pub kind: ErrorKind,
    message: Message,
}

/// What a program's exit code, or the status of a page, depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// A mistake of the user in the study, in an option, or in what they name.
    BadStudy,
    /// Another process works on these results, or they belong to another study.
    ResultsInUse,
    Interrupted,
    /// A command that was to be measured failed.
    RunFailed,
    /// A file, the disk, the system.
    Other,
}

#[derive(Debug)]
enum Message {
    Sentence(String),
    Mistakes(Mistakes),
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Display) -> Self {
        Error {
            kind,
            message: Message::Sentence(message.to_string()),
        }
    }

    pub(crate) fn other(message: impl Display) -> Self {
        Error::new(ErrorKind::Other, message)
    }

    pub(crate) fn bad_study(message: impl Display) -> Self {
        Error::new(ErrorKind::BadStudy, message)
    }

    /// Mistakes in a text, which is shown with them. `name` is what the user calls it.
    pub fn mistakes(name: &str, text: &str, found: Vec<Diagnostic>) -> Self {
        Error {
            kind: ErrorKind::BadStudy,
            message: Message::Mistakes(Mistakes::new(name, text, found)),
        }
    }

    /// The mistakes alone, with the text they are in, for who calls that text by a different name.
    pub fn found(&self) -> Option<&Mistakes> {
        match &self.message {
            Message::Sentence(_) => None,
            Message::Mistakes(mistakes) => Some(mistakes),
        }
    }

    /// The mistakes with the lines they are on, ready to be shown; `None` for a sentence.
    pub fn rendered(&self, style: Style) -> Option<String> {
        match &self.message {
            Message::Sentence(_) => None,
            Message::Mistakes(mistakes) => Some(mistakes.rendered(style)),
        }
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.message {
            Message::Sentence(sentence) => f.write_str(sentence),
            Message::Mistakes(mistakes) => mistakes.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let kind = match error {
            StoreError::Locked { .. } | StoreError::OtherStudy { .. } => ErrorKind::ResultsInUse,
            _ => ErrorKind::Other,
        };
        Error::new(kind, error)
    }
}
