//! What is answered when a request cannot be fulfilled.

/// How a request went, in the words of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Failed,
    OutOfMemory,
    TimedOut,
    Throttled,
    /// The request itself is wrong.
    Refused,
}

impl Outcome {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Outcome::Failed => "failed",
            Outcome::OutOfMemory => "out-of-memory",
            Outcome::TimedOut => "timed-out",
            Outcome::Throttled => "throttled",
            Outcome::Refused => "refused",
        }
    }
}

/// A status, and a sentence for the one who asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) outcome: Outcome,
    pub(crate) message: String,
}

impl Refusal {
    fn new(outcome: Outcome, status: u16, message: impl Into<String>) -> Refusal {
        Refusal {
            status,
            outcome,
            message: message.into(),
        }
    }

    pub(crate) fn of_request(status: u16, message: impl Into<String>) -> Refusal {
        Refusal::new(Outcome::Refused, status, message)
    }

    pub(crate) fn failed(status: u16, message: impl Into<String>) -> Refusal {
        Refusal::new(Outcome::Failed, status, message)
    }

    pub(crate) fn timed_out(status: u16, message: String) -> Refusal {
        Refusal::new(Outcome::TimedOut, status, message)
    }

    pub(crate) fn too_large(most_bytes: usize) -> Refusal {
        Refusal::of_request(413, format!("the body has more than {most_bytes} bytes"))
    }

    pub(crate) fn throttled(concurrency: usize) -> Refusal {
        let workers = match concurrency {
            1 => "the only worker is busy, and no more".to_owned(),
            many => format!("all {many} workers are busy, and no more"),
        };
        let message = format!("{workers} are allowed: retry later, or raise --concurrency");
        Refusal::new(Outcome::Throttled, 429, message)
    }

    pub(crate) fn out_of_memory(memory_mb: u32) -> Refusal {
        let message = format!("the worker exceeded {memory_mb} MB of memory and was killed");
        Refusal::new(Outcome::OutOfMemory, 500, message)
    }

    /// Whether it may work in a moment.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self.status, 429 | 503)
    }
}
