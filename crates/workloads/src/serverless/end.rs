//! Workers on their way out, and why.

use std::sync::Arc;
use std::time::Duration;

use crate::serverless::emulator::{Emulator, EmulatorEvent};
use crate::serverless::pool::Leaving;
use crate::serverless::process::Process;
use crate::serverless::refusal::Refusal;

impl Emulator {
    /// Reaps a worker that has ended by itself, and says why it has.
    pub(crate) async fn lost(
        self: &Arc<Self>,
        number: u32,
        process: &Process,
        status: u16,
        when: &str,
    ) -> Refusal {
        let last_words = process.log.last_words().await;
        let Some(leaving) = self.pool.ending(number) else {
            return Refusal::failed(503, "the emulator is shutting down");
        };
        reap(&leaving).await;
        let refusal = if process.is_out_of_memory() {
            Refusal::out_of_memory(self.options.size.memory_mb)
        } else {
            let how = process.how_it_ended();
            let why = format!("the worker ended {when} ({how})");
            Refusal::failed(status, with_last_words(&why, &last_words))
        };
        self.gone(number, &refusal.message);
        refusal
    }

    pub(crate) async fn end_now(self: &Arc<Self>, number: u32, why: &str) {
        if let Some(leaving) = self.pool.ending(number) {
            self.retire(leaving, Duration::ZERO, why).await;
        }
    }

    /// Ends a worker, and comes back when nothing of it is left.
    pub(crate) async fn retire(&self, leaving: Leaving, grace: Duration, why: &str) {
        if let Some(process) = &leaving.process {
            process.end(grace).await;
        }
        reap(&leaving).await;
        self.gone(leaving.number, why);
    }

    fn gone(&self, worker: u32, why: &str) {
        self.pool.ended(worker, why);
        self.guard();
        let why = why.to_owned();
        self.tell(EmulatorEvent::Ended { worker, why });
    }
}

/// On another thread: the kernel may take its time.
async fn reap(leaving: &Leaving) {
    if let Some(process) = leaving.process.clone() {
        // Only a panic would be reported, and nothing panics.
        let _ = tokio::task::spawn_blocking(move || process.reap()).await;
    }
}

pub(crate) fn with_last_words(why: &str, last_words: &str) -> String {
    match last_words {
        "" => format!("{why}; it printed nothing"),
        words => format!("{why}; its last lines:\n{words}"),
    }
}
