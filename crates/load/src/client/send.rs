//! Runs a load on its own thread, so that an interrupted client can abandon the last
//! responses.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Load, Options, Outcome, Request, Watch, run_watched};

use super::ClientError;

/// How often it is looked whether to stop.
const LOOK: Duration = Duration::from_millis(50);

pub(crate) struct Sending {
    pub(crate) request: Request,
    pub(crate) load: Load,
    pub(crate) options: Options,
}

impl Sending {
    /// After `until` nothing more is sent, and the answers in progress are waited for. After `stop`
    /// nothing is waited for: an endpoint costs money meanwhile, and the process is about to end.
    pub(crate) fn carry_out(
        self,
        until: Option<Instant>,
        stop: &AtomicBool,
    ) -> Result<Outcome, ClientError> {
        let watch = Arc::new(Watch::default());
        let (tell, told) = mpsc::channel();
        let watched = Arc::clone(&watch);
        let work = move || {
            let outcome = run_watched(&self.request, &self.load, &self.options, &watched);
            // Nobody listens any more after a stop.
            _ = tell.send(outcome);
        };
        let started = thread::Builder::new().name("send".to_owned()).spawn(work);
        started.map_err(|error| no_thread(&error))?;
        loop {
            match told.recv_timeout(LOOK) {
                Ok(outcome) => return outcome.map_err(ClientError::failed),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(no_thread(&"it ended unexpectedly"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if stop.load(Ordering::Relaxed) {
                watch.stop();
                return Err(ClientError::Stopped);
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                watch.stop();
            }
        }
    }
}

fn no_thread(why: &dyn std::fmt::Display) -> ClientError {
    ClientError::failed(format!("the sending thread: {why}"))
}
