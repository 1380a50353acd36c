//! Results of a load.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::histogram::Times;

/// The result of a load. Every request that was begun is in `counts` or `uncounted`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Outcome {
    /// Seconds since 1970 when the load began.
    pub began_unix_seconds: f64,
    pub counts: Counts,
    /// The warm-up's requests, which stand in no histogram.
    pub uncounted: Counts,
    /// From the first counted request's time to the last counted answer.
    pub wall_seconds: f64,
    /// Answers that are ok: from the time the request was meant to be sent. In series and in a
    /// closed loop that is when it was sent.
    pub latency: Times,
    /// The same answers: from the time the request was really sent, connecting included.
    pub service: Times,
    /// The server's own time, of the answers that are ok and told one.
    pub prediction: Times,
    /// How long workers took to start, of the answers that are ok and had to wait for one.
    pub setup: Times,
    /// The total latency of these answers.
    pub cold: Times,
    /// How long the other requests took to fail, from the time they were meant to be sent.
    pub failed: Times,
    /// Open loop: how late the client itself was in sending.
    pub late: Times,
    pub connections: Connections,
    pub client: Client,
    /// Of a series: every request, in order.
    pub singles: Vec<Single>,
    /// What was wrong with the first request that failed.
    pub first_failure: Option<String>,
    /// Why the figures tell about the client rather than the server, if they do.
    pub client_limited: Option<String>,
}

impl Outcome {
    /// Answers that are ok, for each second of the counted part.
    pub fn ok_per_second(&self) -> f64 {
        match self.wall_seconds > 0.0 {
            true => self.counts.ok as f64 / self.wall_seconds,
            false => 0.0,
        }
    }

    /// The same load gone on with: what came of its next part.
    pub fn append(&mut self, mut next: Outcome) {
        if self.counts.total() + self.uncounted.total() == 0 {
            *self = next;
            return;
        }
        let later = next.began_unix_seconds - self.began_unix_seconds;
        for single in &mut next.singles {
            single.started_seconds += later;
        }
        self.wall_seconds += next.wall_seconds;
        self.merge(next);
    }

    /// Adds another part's requests; its times of day and its client are not looked at.
    pub(crate) fn merge(&mut self, other: Outcome) {
        self.counts.merge(&other.counts);
        self.uncounted.merge(&other.uncounted);
        let times = [
            (&mut self.latency, &other.latency),
            (&mut self.service, &other.service),
            (&mut self.prediction, &other.prediction),
            (&mut self.setup, &other.setup),
            (&mut self.cold, &other.cold),
            (&mut self.failed, &other.failed),
            (&mut self.late, &other.late),
        ];
        times.into_iter().for_each(|(all, part)| all.merge(part));
        self.connections.merge(&other.connections);
        self.singles.extend(other.singles);
        self.first_failure = self.first_failure.take().or(other.first_failure);
        self.client_limited = self.client_limited.take().or(other.client_limited);
    }

    /// Mean prediction time over mean total latency, `None` where no prediction time was reported.
    pub fn prediction_share(&self) -> Option<f64> {
        let latency = self
            .latency
            .mean_seconds()
            .filter(|seconds| *seconds > 0.0)?;
        Some(self.prediction.mean_seconds()? / latency)
    }
}

/// How requests ended. Each is counted once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Answered with a status of 200 to 299.
    pub ok: u64,
    /// Answered with another status, by status.
    pub status: BTreeMap<u16, u64>,
    /// No whole answer in time.
    pub timed_out: u64,
    /// Open loop: no connection was free in time, so the request was never sent.
    pub not_sent: u64,
    /// No connection could be made.
    pub refused: u64,
    /// What came was no answer.
    pub broken: u64,
    /// The connection was closed before the answer was whole.
    pub closed: u64,
}

impl Counts {
    pub fn failed(&self) -> u64 {
        let statuses: u64 = self.status.values().sum();
        statuses + self.timed_out + self.not_sent + self.refused + self.broken + self.closed
    }

    pub fn total(&self) -> u64 {
        self.ok + self.failed()
    }

    pub(crate) fn add(&mut self, end: &End) {
        match end {
            End::Answered(200..=299) => self.ok += 1,
            End::Answered(status) => *self.status.entry(*status).or_default() += 1,
            End::TimedOut => self.timed_out += 1,
            End::NotSent => self.not_sent += 1,
            End::Refused => self.refused += 1,
            End::Broken => self.broken += 1,
            End::Closed => self.closed += 1,
        }
    }

    pub(crate) fn merge(&mut self, other: &Counts) {
        self.ok += other.ok;
        for (status, number) in &other.status {
            *self.status.entry(*status).or_default() += number;
        }
        self.timed_out += other.timed_out;
        self.not_sent += other.not_sent;
        self.refused += other.refused;
        self.broken += other.broken;
        self.closed += other.closed;
    }
}

/// How one request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    Answered(u16),
    TimedOut,
    NotSent,
    Refused,
    Broken,
    Closed,
}

impl End {
    pub fn is_ok(self) -> bool {
        matches!(self, End::Answered(200..=299))
    }
}

/// One request of a series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Single {
    pub counted: bool,
    /// Since the load began.
    pub started_seconds: f64,
    pub latency_seconds: f64,
    pub prediction_seconds: Option<f64>,
    /// Of the worker that had to be started for it.
    pub setup_seconds: Option<f64>,
    pub end: End,
}

/// What became of the connections, warm-up included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Connections {
    pub opened: u64,
    /// Requests sent again on a fresh connection, because the server had closed the kept one before
    /// a byte of the answer came. Their time goes on from the first sending.
    pub sent_again: u64,
    /// Connections given up because bytes came that nobody had requested.
    pub unasked: u64,
    /// Counted requests of an open loop that waited for a free connection.
    pub waited: u64,
}

impl Connections {
    pub(crate) fn merge(&mut self, other: &Connections) {
        self.opened += other.opened;
        self.sent_again += other.sent_again;
        self.unasked += other.unasked;
        self.waited += other.waited;
    }
}

/// What the client itself needed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Client {
    pub threads: usize,
    /// Of its busiest thread in the counted part: the share of the time it computed.
    pub busy_share: f64,
    /// Of the same thread: the share of the time it could have computed, but others had the cores.
    pub queued_share: f64,
}

impl Client {
    /// The share of the time in which the busiest thread had something to do.
    pub fn wanted_share(&self) -> f64 {
        self.busy_share + self.queued_share
    }
}
