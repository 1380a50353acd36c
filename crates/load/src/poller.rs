//! Waiting for sockets, and for a point in time.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{Timespec, epoll};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use crate::pace::Nanos;

/// Marks the timer's own event.
const TIMER: u64 = u64::MAX;
const MOST_EVENTS: usize = 256;

/// Sockets are watched on edges: registered once, never changed.
pub(crate) struct Poller {
    epoll: OwnedFd,
    /// epoll's own timeout counts whole milliseconds; a timer of the kernel is exact.
    timer: OwnedFd,
    armed: bool,
    events: Vec<epoll::Event>,
}

/// Something happened to a socket.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event {
    pub(crate) token: u64,
    /// The other side will send no more, or the socket failed.
    pub(crate) hung_up: bool,
}

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        let watched = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&epoll, &timer, epoll::EventData::new_u64(TIMER), watched)?;
        Ok(Poller {
            epoll,
            timer,
            armed: false,
            events: Vec::with_capacity(MOST_EVENTS),
        })
    }

    /// Watches a socket until it is closed.
    pub(crate) fn watch(&self, socket: BorrowedFd<'_>, token: u64) -> io::Result<()> {
        use epoll::EventFlags as On;
        let flags = On::IN | On::OUT | On::RDHUP | On::ET;
        Ok(epoll::add(
            &self.epoll,
            socket,
            epoll::EventData::new_u64(token),
            flags,
        )?)
    }

    /// Waits for events, until `exactly` from now if given, and never longer than about `at_most`.
    pub(crate) fn wait(&mut self, exactly: Option<Nanos>, at_most: Duration) -> io::Result<()> {
        self.events.clear();
        self.arm(exactly)?;
        let timeout = Timespec {
            tv_sec: at_most.as_secs() as i64,
            tv_nsec: i64::from(at_most.subsec_nanos()),
        };
        let room = rustix::buffer::spare_capacity(&mut self.events);
        match epoll::wait(&self.epoll, room, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// An event of the last wait, `None` for the timer's.
    pub(crate) fn event(&self, index: usize) -> Option<Event> {
        use epoll::EventFlags as On;
        let event = self.events.get(index)?;
        let flags = event.flags;
        let data = event.data;
        let token = data.u64();
        let hung_up = flags.intersects(On::RDHUP | On::HUP | On::ERR);
        (token != TIMER).then_some(Event { token, hung_up })
    }

    fn arm(&mut self, exactly: Option<Nanos>) -> io::Result<()> {
        if exactly.is_none() && !self.armed {
            return Ok(());
        }
        self.armed = exactly.is_some();
        // Zero would disarm it.
        let nanos = exactly.map_or(0, |nanos| nanos.max(1));
        let value = Timespec {
            tv_sec: (nanos / 1_000_000_000) as i64,
            tv_nsec: (nanos % 1_000_000_000) as i64,
        };
        let never = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let spec = Itimerspec {
            it_interval: never,
            it_value: value,
        };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &spec)?;
        Ok(())
    }
}
