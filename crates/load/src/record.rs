//! What one sending thread records.

use crate::clock::Usage;
use crate::outcome::{Client, End, Outcome, Single};
use crate::pace::{Nanos, Ticket};
use crate::prediction::ServerTimes;

/// A request that has ended.
pub(crate) struct Ended {
    pub(crate) ticket: Ticket,
    /// `None` if it never was sent.
    pub(crate) sent: Option<Nanos>,
    pub(crate) finished: Nanos,
    pub(crate) told: ServerTimes,
    pub(crate) end: End,
}

#[derive(Default)]
pub(crate) struct Record {
    pub(crate) outcome: Outcome,
    keep_singles: bool,
    first: Option<Nanos>,
    last: Nanos,
    /// What the thread had used when the first counted request was taken, and from then to the end.
    usage_before: Usage,
    usage: Usage,
}

impl Record {
    pub(crate) fn new(keep_singles: bool) -> Self {
        Record {
            keep_singles,
            ..Record::default()
        }
    }

    /// A counted request is taken: from here on the thread's CPU time counts.
    pub(crate) fn begin(&mut self, at: Nanos) {
        if self.first.is_none() {
            self.first = Some(at);
            self.usage_before = Usage::now();
        }
    }

    pub(crate) fn close(&mut self) {
        self.usage = Usage::now().since(self.usage_before);
    }

    pub(crate) fn add(&mut self, ended: &Ended) {
        let outcome = &mut self.outcome;
        if self.keep_singles {
            outcome.singles.push(single(ended));
        }
        if !ended.ticket.counted {
            outcome.uncounted.add(&ended.end);
            return;
        }
        outcome.counts.add(&ended.end);
        self.last = self.last.max(ended.finished);
        let latency = ended.finished.saturating_sub(ended.ticket.intended);
        if !ended.end.is_ok() {
            outcome.failed.record_nanos(latency);
            return;
        }
        outcome.latency.record_nanos(latency);
        if let Some(sent) = ended.sent {
            let service = ended.finished.saturating_sub(sent);
            outcome.service.record_nanos(service);
        }
        if let Some(ms) = ended.told.prediction_ms {
            outcome.prediction.record_nanos((ms * 1e6) as Nanos);
        }
        if let Some(ms) = ended.told.setup_ms {
            outcome.setup.record_nanos((ms * 1e6) as Nanos);
            outcome.cold.record_nanos(latency);
        }
    }

    pub(crate) fn merge(&mut self, other: Record) {
        self.outcome.merge(other.outcome);
        self.first = match (self.first, other.first) {
            (Some(mine), Some(theirs)) => Some(mine.min(theirs)),
            (mine, theirs) => mine.or(theirs),
        };
        self.last = self.last.max(other.last);
    }

    /// What this thread needed of its counted part's time.
    pub(crate) fn client(&self) -> Client {
        let wall = self.last.saturating_sub(self.first.unwrap_or(self.last));
        let share = |time: Nanos| match wall {
            0 => 0.0,
            wall => time as f64 / wall as f64,
        };
        Client {
            threads: 1,
            busy_share: share(self.usage.cpu),
            queued_share: share(self.usage.queued),
        }
    }

    pub(crate) fn outcome(self, began_unix_seconds: f64, client: Client) -> Outcome {
        let first = self.first.unwrap_or(self.last);
        Outcome {
            began_unix_seconds,
            wall_seconds: self.last.saturating_sub(first) as f64 / 1e9,
            client,
            ..self.outcome
        }
    }
}

fn single(ended: &Ended) -> Single {
    let latency = ended.finished.saturating_sub(ended.ticket.intended);
    Single {
        counted: ended.ticket.counted,
        started_seconds: ended.ticket.intended as f64 / 1e9,
        latency_seconds: latency as f64 / 1e9,
        prediction_seconds: ended.told.prediction_ms.map(|ms| ms / 1e3),
        setup_seconds: ended.told.setup_ms.map(|ms| ms / 1e3),
        end: ended.end,
    }
}
