//! The helpers beside a run: one waits for its end, one samples, one keeps its log.

use std::io::PipeWriter;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::Instant;

use model::Sample;

use crate::error::MeasureError;
use crate::log::{self, Log, Logging};
use crate::process::Process;
use crate::progress::Said;
use crate::sampler::{self, SampleRequest, Sampled, Sampling};

/// The helpers beside the run, and how they are reached.
pub(crate) struct Threads {
    pub(crate) ends: Receiver<Instant>,
    pub(crate) wishes: Sender<SampleRequest>,
    pub(crate) samples: Receiver<Sample>,
    pub(crate) said: Receiver<Said>,
    /// Closing it tells the log's thread to wait for no more.
    enough: Option<PipeWriter>,
    sampler: Option<JoinHandle<Result<Sampled, MeasureError>>>,
    log: Option<JoinHandle<Result<Log, MeasureError>>>,
    kept_log: Option<Log>,
}

impl Threads {
    pub(crate) fn begin(
        pid: i32,
        sampling: Sampling,
        logging: Logging,
        enough: PipeWriter,
    ) -> Result<Self, MeasureError> {
        let (ends_sender, ends) = mpsc::channel();
        let (wishes, wishes_receiver) = mpsc::channel();
        let (samples_sender, samples) = mpsc::channel();
        let (log_sender, said) = mpsc::channel();
        spawn("waiter", move || {
            Process::wait_for_end(pid);
            // Nobody listening means that the run was given up.
            let _ = ends_sender.send(Instant::now());
        })?;
        let sampler = spawn("sampler", move || {
            sampler::sample_until_last(sampling, &wishes_receiver, &samples_sender)
        })?;
        let log = spawn("log", move || log::keep(logging, &log_sender))?;
        Ok(Threads {
            ends,
            wishes,
            samples,
            said,
            enough: Some(enough),
            sampler: Some(sampler),
            log: Some(log),
            kept_log: None,
        })
    }

    /// A helper ends before the run only when it cannot write.
    pub(crate) fn check(&mut self) -> Result<(), MeasureError> {
        if self.sampler.as_ref().is_some_and(JoinHandle::is_finished) {
            self.last_sample()?;
        }
        // A process may close its output and go on.
        if let Some(log) = self.log.take_if(|log| log.is_finished()) {
            self.kept_log = Some(join(log)?);
        }
        Ok(())
    }

    pub(crate) fn last_sample(&mut self) -> Result<Sampled, MeasureError> {
        let _ = self.wishes.send(SampleRequest::Last);
        self.sampler
            .take()
            .map_or_else(|| Ok(Sampled::default()), join)
    }

    pub(crate) fn last_line(&mut self) -> Result<Log, MeasureError> {
        self.enough = None;
        match self.log.take() {
            Some(log) => join(log),
            None => Ok(self.kept_log.take().unwrap_or_default()),
        }
    }
}

fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, MeasureError> {
    let thread = std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(work);
    thread.map_err(MeasureError::system("a thread"))
}

fn join<T>(thread: JoinHandle<Result<T, MeasureError>>) -> Result<T, MeasureError> {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
