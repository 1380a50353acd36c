//! One connection and the request it carries.

use std::io::{self, ErrorKind};

use crate::answer::{AnswerReader, Fed};
use crate::outcome::End;
use crate::pace::{Nanos, Ticket};
use crate::poller::Poller;
use crate::prediction::ServerTimes;
use crate::wire::Wire;

/// A request on its way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job {
    pub(crate) ticket: Ticket,
    /// When the client first did something for it.
    pub(crate) sent: Nanos,
    pub(crate) deadline: Nanos,
    /// Which of the bodies.
    pub(crate) body: usize,
    written: usize,
    pub(crate) again: bool,
    /// Addresses of the host that refused it.
    refusals: usize,
}

impl Job {
    pub(crate) fn new(ticket: Ticket, sent: Nanos, deadline: Nanos, body: usize) -> Self {
        Job {
            ticket,
            sent,
            deadline,
            body,
            written: 0,
            again: false,
            refusals: 0,
        }
    }
}

/// What moving bytes led to.
pub(crate) enum Step {
    /// The rest comes with a later event.
    Waiting,
    /// The request has ended; a sentence if it failed.
    Ended {
        end: End,
        told: ServerTimes,
        why: Option<String>,
    },
    /// The kept connection had been closed before a byte came: the request may be sent again.
    Stale,
    /// This address of the host refuses.
    Refused(io::Error),
    /// Nothing was asked, but bytes came.
    Unasked,
    /// Closed while nothing was asked, as servers do after a while.
    Gone,
}

impl Step {
    fn failed(end: End, why: impl Into<String>) -> Step {
        Step::Ended {
            end,
            told: ServerTimes::default(),
            why: Some(why.into()),
        }
    }
}

pub(crate) struct Connection {
    wire: Option<Wire>,
    connecting: bool,
    /// Whether it has carried an answer before.
    used: bool,
    /// Part of the request is not written yet.
    unsent: bool,
    /// Tells events of an earlier socket in this place from those of the present one.
    pub(crate) generation: u32,
    pub(crate) job: Option<Job>,
    reader: AnswerReader,
    /// Bytes came after the end of an answer.
    pub(crate) surplus: bool,
    /// Has an entry among the deadlines.
    pub(crate) timed: bool,
}

impl Connection {
    pub(crate) fn new() -> Self {
        Connection {
            wire: None,
            connecting: false,
            used: false,
            unsent: false,
            generation: 0,
            job: None,
            reader: AnswerReader::new(),
            surplus: false,
            timed: false,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.wire.is_some()
    }

    pub(crate) fn attach(&mut self, wire: Wire) {
        self.close();
        self.wire = Some(wire);
        self.connecting = true;
    }

    pub(crate) fn watch(&self, poller: &Poller, token: u64) -> io::Result<()> {
        match &self.wire {
            Some(wire) => poller.watch(wire.fd(), token),
            None => Ok(()),
        }
    }

    /// One more address refused the request; how many have.
    pub(crate) fn refused(&mut self) -> usize {
        self.job.as_mut().map_or(0, |job| {
            job.refusals += 1;
            job.refusals
        })
    }

    pub(crate) fn close(&mut self) {
        self.wire = None;
        self.connecting = false;
        self.used = false;
        self.generation = self.generation.wrapping_add(1);
        self.reader.clear();
        if let Some(job) = &mut self.job {
            job.written = 0;
        }
    }

    /// Begins a request on an open connection: nothing can have come yet, so nothing is read.
    pub(crate) fn start(&mut self, message: &[u8]) -> Step {
        match self.write(message) {
            Ok(()) => Step::Waiting,
            Err(error) => self.lost(error),
        }
    }

    /// Moves what can be moved after an event.
    pub(crate) fn advance(&mut self, message: &[u8], buffer: &mut [u8], hung_up: bool) -> Step {
        if self.connecting
            && let Some(error) = self.connected()
        {
            return Step::Refused(error);
        }
        if self.job.is_some()
            && let Err(error) = self.write(message)
        {
            // An answer may have come before the server closed: 413 for instance.
            return match self.read(buffer, true) {
                Step::Waiting => self.lost(error),
                step => step,
            };
        }
        self.read(buffer, hung_up)
    }

    /// Why it could not connect; `None` once it has.
    fn connected(&mut self) -> Option<io::Error> {
        let error = self.wire.as_ref().and_then(Wire::connect_error);
        self.connecting = error.is_some();
        error
    }

    /// Writes what is left of the request until the socket takes no more.
    fn write(&mut self, message: &[u8]) -> io::Result<()> {
        let (Some(wire), Some(job)) = (&mut self.wire, &mut self.job) else {
            return Ok(());
        };
        self.unsent = true;
        while job.written < message.len() {
            match wire.send(&message[job.written..]) {
                Ok(written) => job.written += written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.unsent = false;
        wire.flush()
    }

    fn read(&mut self, buffer: &mut [u8], hung_up: bool) -> Step {
        loop {
            let Some(wire) = &mut self.wire else {
                return Step::Waiting;
            };
            let short_is_last = wire.short_read_is_last();
            let got = match wire.receive(buffer) {
                Ok(0) => return self.ended(),
                Ok(got) => got,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Waiting,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return self.lost(error),
            };
            if self.job.is_none() {
                return Step::Unasked;
            }
            match self.reader.feed(&buffer[..got]) {
                Ok(Fed::Whole { surplus }) => return self.answered(surplus, hung_up),
                Ok(Fed::More) => {}
                Err(broken) => {
                    return Step::failed(End::Broken, format!("invalid response: {}", broken.0));
                }
            }
            // A short read has emptied the socket; more comes with another event. Not so where the
            // other side has closed: that was the last event.
            if short_is_last && got < buffer.len() && !hung_up {
                return Step::Waiting;
            }
        }
    }

    fn answered(&mut self, surplus: usize, hung_up: bool) -> Step {
        self.surplus = surplus > 0;
        let status = self.reader.status();
        let end = End::Answered(status);
        let step = Step::Ended {
            end,
            told: self.reader.told(),
            why: (!end.is_ok()).then(|| match self.reader.complaint() {
                Some(said) => format!("a response had the status {status}: {said}"),
                None => format!("a response had the status {status}"),
            }),
        };
        // An early answer leaves a request half sent: what would follow it is no request.
        let unsent = self.unsent || self.wire.as_ref().is_some_and(Wire::holds_back);
        let keep = self.reader.keep_alive() && !hung_up && surplus == 0 && !unsent;
        self.reader.clear();
        self.used = true;
        if !keep {
            self.close();
        }
        step
    }

    /// The server closed its side.
    fn ended(&mut self) -> Step {
        if self.job.is_none() {
            return Step::Gone;
        }
        if self.reader.end() {
            return self.answered(0, true);
        }
        self.lost(ErrorKind::UnexpectedEof.into())
    }

    fn lost(&mut self, error: io::Error) -> Step {
        let Some(job) = &self.job else {
            return Step::Gone;
        };
        if self.wire.as_ref().is_some_and(Wire::is_handshaking) {
            return Step::Refused(error);
        }
        if self.used && !self.reader.begun() && !job.again {
            return Step::Stale;
        }
        let when = if self.reader.begun() {
            "during"
        } else {
            "before"
        };
        Step::failed(
            End::Closed,
            format!("the connection was closed {when} a response ({error})"),
        )
    }
}
