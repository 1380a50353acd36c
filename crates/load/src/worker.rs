//! One thread: takes requests as they are due, moves bytes as sockets are ready.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::time::Duration;

use crate::clock::Clock;
use crate::connection::{Connection, Job, Step};
use crate::outcome::End;
use crate::pace::{Nanos, Pace, Share, Ticket};
use crate::plan::Plan;
use crate::poller::{Event, Poller};
use crate::prediction::ServerTimes;
use crate::record::{Ended, Record};
use crate::watch::Watch;
use crate::wire::Wire;

/// How long a thread waits at most before it looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(100);
/// Large enough for most answers in one read, shared by all connections of a thread.
const BUFFER: usize = 64 * 1024;

pub(crate) struct Worker<'a> {
    plan: &'a Plan,
    watch: &'a Watch,
    clock: Clock,
    poller: Poller,
    pace: Pace,
    record: Record,
    connections: Vec<Connection>,
    /// Places without a request, taken from the back; those left without a connection wait in front.
    idle: VecDeque<u32>,
    most: usize,
    /// When a connection was last freed after all had been busy.
    free_since: Nanos,
    in_flight: usize,
    deadlines: BinaryHeap<Reverse<(Nanos, u32)>>,
    buffer: Vec<u8>,
    /// Which of the host's addresses answers.
    address: usize,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        watch: &'a Watch,
        clock: Clock,
        share: Share,
    ) -> io::Result<Self> {
        Ok(Worker {
            plan,
            watch,
            clock,
            poller: Poller::new()?,
            pace: Pace::new(&plan.load, share),
            record: Record::new(plan.keeps_singles()),
            connections: Vec::new(),
            idle: VecDeque::new(),
            most: share.of(plan.load.connections() as u64) as usize,
            free_since: 0,
            in_flight: 0,
            deadlines: BinaryHeap::new(),
            buffer: vec![0; BUFFER],
            address: 0,
        })
    }

    pub(crate) fn run(mut self) -> io::Result<Record> {
        loop {
            let now = self.clock.now();
            self.expire(now);
            let next = self.send_due(now);
            if next.is_none() && self.in_flight == 0 {
                break;
            }
            self.wait(next)?;
            for index in 0..self.poller.len() {
                if let Some(event) = self.poller.event(index) {
                    self.handle(event);
                    // What became due meanwhile must not wait for the other events. Without times of
                    // their own, requests sent together cost less.
                    if self.pace.is_timed() {
                        self.send_due(self.clock.now());
                    }
                }
            }
        }
        self.record.close();
        Ok(self.record)
    }

    fn wait(&mut self, next: Option<Next>) -> io::Result<()> {
        let now = self.clock.now();
        let exactly = match next {
            Some(Next::At(due)) => Some(due.saturating_sub(now)),
            Some(Next::WhenFree) | None => None,
        };
        let deadline = self
            .deadlines
            .peek()
            .map_or(u64::MAX, |Reverse((deadline, _))| *deadline);
        let until = Duration::from_nanos(deadline.saturating_sub(now));
        self.poller.wait(exactly, until.min(LOOK))
    }

    /// Sends all that is due; says when the next one is, `None` when there will be none.
    fn send_due(&mut self, mut now: Nanos) -> Option<Next> {
        loop {
            if self.watch.stops() {
                return None;
            }
            let due = self.pace.due(now)?;
            if due > now {
                return Some(Next::At(due));
            }
            let late = self.pace.is_timed() && now >= due + self.plan.timeout;
            if late {
                self.give_up(now);
                continue;
            }
            let Some(place) = self.free_place() else {
                return Some(Next::WhenFree);
            };
            let ticket = self.take(now);
            self.begin(place, ticket, now);
            now = self.clock.now();
        }
    }

    fn take(&mut self, now: Nanos) -> Ticket {
        let ticket = self.pace.take(now);
        if ticket.counted {
            self.record.begin(ticket.intended);
            if self.pace.is_timed() {
                let could = ticket.intended.max(self.free_since);
                self.record
                    .outcome
                    .late
                    .record_nanos(now.saturating_sub(could));
                let waited = self.free_since > ticket.intended;
                self.record.outcome.connections.waited += u64::from(waited);
            }
        }
        ticket
    }

    /// Its time ran out while it waited for a connection, as a user's patience would.
    fn give_up(&mut self, now: Nanos) {
        let ticket = self.pace.take(now);
        if ticket.counted {
            self.record.begin(ticket.intended);
            self.record.outcome.connections.waited += 1;
        }
        self.note(Some(
            "a request timed out waiting for a free connection".to_owned(),
        ));
        self.record.add(&Ended {
            ticket,
            sent: None,
            finished: now,
            told: ServerTimes::default(),
            end: End::NotSent,
        });
        self.watch.ended(false);
    }

    fn free_place(&mut self) -> Option<u32> {
        if let Some(place) = self.idle.pop_back() {
            return Some(place);
        }
        if self.connections.len() >= self.most {
            return None;
        }
        self.connections.push(Connection::new());
        Some((self.connections.len() - 1) as u32)
    }

    fn begin(&mut self, place: u32, ticket: Ticket, now: Nanos) {
        let body = (ticket.index % self.plan.messages.len() as u64) as usize;
        let deadline = ticket.intended.saturating_add(self.plan.timeout);
        let connection = &mut self.connections[place as usize];
        connection.job = Some(Job::new(ticket, now, deadline, body));
        if !connection.timed {
            connection.timed = true;
            self.deadlines.push(Reverse((deadline, place)));
        }
        self.in_flight += 1;
        let step = match connection.is_open() {
            true => connection.start(&self.plan.messages[body]),
            false => self.connect(place),
        };
        self.follow(place, step);
    }

    fn connect(&mut self, place: u32) -> Step {
        let address = self.plan.addresses[self.address % self.plan.addresses.len()];
        let connection = &mut self.connections[place as usize];
        let opened = Wire::open(address, self.plan.tls.as_ref()).and_then(|wire| {
            connection.attach(wire);
            self.record.outcome.connections.opened += 1;
            let token = u64::from(connection.generation) << 32 | u64::from(place);
            connection.watch(&self.poller, token)
        });
        match opened {
            Ok(()) => Step::Waiting,
            Err(error) => Step::Refused(error),
        }
    }

    fn handle(&mut self, event: Event) {
        let place = event.token as u32;
        let Some(connection) = self.connections.get_mut(place as usize) else {
            return;
        };
        if connection.generation != (event.token >> 32) as u32 || !connection.is_open() {
            return;
        }
        let message: &[u8] = match &connection.job {
            Some(job) => &self.plan.messages[job.body],
            None => &[],
        };
        let step = connection.advance(message, &mut self.buffer, event.hung_up);
        self.follow(place, step);
    }

    /// Does what a step asks for.
    fn follow(&mut self, place: u32, mut step: Step) {
        loop {
            let connection = &mut self.connections[place as usize];
            step = match step {
                Step::Waiting => return,
                Step::Ended { end, told, why } => {
                    self.note(why);
                    return self.end(place, end, told);
                }
                Step::Stale => {
                    connection.close();
                    if let Some(job) = &mut connection.job {
                        job.again = true;
                    }
                    self.record.outcome.connections.sent_again += 1;
                    self.connect(place)
                }
                Step::Refused(error) => {
                    connection.close();
                    let refusals = connection.refused();
                    if refusals < self.plan.addresses.len() {
                        self.address += 1;
                        self.connect(place)
                    } else {
                        self.note(Some(format!("could not connect: {error}")));
                        return self.end(place, End::Refused, ServerTimes::default());
                    }
                }
                Step::Unasked => {
                    self.record.outcome.connections.unasked += 1;
                    return connection.close();
                }
                Step::Gone => return connection.close(),
            };
        }
    }

    fn end(&mut self, place: u32, end: End, told: ServerTimes) {
        let finished = self.clock.now();
        let connection = &mut self.connections[place as usize];
        let Some(job) = connection.job.take() else {
            return;
        };
        if !matches!(end, End::Answered(_)) {
            connection.close();
        }
        let open = connection.is_open();
        if std::mem::take(&mut connection.surplus) {
            self.record.outcome.connections.unasked += 1;
        }
        if self.idle.is_empty() && self.connections.len() >= self.most {
            self.free_since = finished;
        }
        match open {
            true => self.idle.push_back(place),
            false => self.idle.push_front(place),
        }
        self.in_flight -= 1;
        self.pace.ended(finished, end == End::Refused);
        self.record.add(&Ended {
            ticket: job.ticket,
            sent: Some(job.sent),
            finished,
            told,
            end,
        });
        self.watch.ended(end.is_ok());
    }

    /// Ends requests whose time is over. Each connection has one entry, which may be an earlier
    /// request's: then it is put back with the present one's deadline.
    fn expire(&mut self, now: Nanos) {
        while let Some(Reverse((deadline, place))) = self.deadlines.peek().copied() {
            if deadline > now {
                return;
            }
            self.deadlines.pop();
            let connection = &mut self.connections[place as usize];
            match connection.job.map(|job| job.deadline) {
                None => connection.timed = false,
                Some(deadline) if deadline > now => {
                    self.deadlines.push(Reverse((deadline, place)));
                }
                Some(_) => {
                    connection.timed = false;
                    let seconds = self.plan.timeout as f64 / 1e9;
                    self.note(Some(format!("no complete response within {seconds} s")));
                    self.end(place, End::TimedOut, ServerTimes::default());
                }
            }
        }
    }

    fn note(&mut self, why: Option<String>) {
        if self.record.outcome.first_failure.is_none() {
            self.record.outcome.first_failure = why;
        }
    }
}

/// What the thread waits for before it can send.
enum Next {
    At(Nanos),
    WhenFree,
}
