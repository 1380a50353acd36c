//! What this program becomes when it is started again to be measured: a training with the embedded
//! engine or with Caffe, the models that its server offers, and the emulator of a serverless service
//! in front of any server; and the container image of that server.
//!
//! Read `protocol` (job in, events out), `caffe`, `models` (how a model is named, written as a file,
//! made ready for a serving stack), `quantise` (models in 8 bits), `serverless`, `image`.

pub mod caffe;
mod error;
pub mod image;
pub mod models;
mod probe;
pub mod protocol;
pub mod quantise;
pub mod serverless;

pub use error::Error;

use model::TrainJob;
use model::run::phase;

use crate::protocol::{Events, begins};

/// A training with the embedded engine, its part of a comparison of frameworks, or of a probe.
pub fn train_with_engine() -> Result<(), Error> {
    let job: TrainJob = protocol::read_job()?;
    if let Some(asked) = &job.verify {
        let report = engine::verify(&job, asked).map_err(Error::failed)?;
        return protocol::write_report(&report, &asked.report);
    }
    if let Some(asked) = &job.probe {
        return probe::probe(&job, asked);
    }
    let mut events = Events::open()?;
    engine::train(&job, &mut |kind| events.tell(kind)).map_err(Error::failed)?;
    events.tell(begins(phase::SHUTDOWN));
    Ok(())
}
