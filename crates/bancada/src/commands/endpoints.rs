//! Studies that create endpoints at a provider: messages for the user.

use model::{Asked, RunRecord, Service, Study, Warning};
use runner::Progress;

use crate::args::RunArgs;
use crate::exit::{Exit, Failure};
use crate::progress::Reporter;
use crate::signals::STOP;

/// What is made at a provider costs money until it is gone.
pub(super) struct Endpoints {
    /// Whether there may be any.
    real: bool,
    is_told: bool,
    /// A sentence for each that may still be there.
    pub(super) left: Vec<String>,
}

impl Endpoints {
    pub(super) fn new(real: bool) -> Self {
        Endpoints {
            real,
            is_told: false,
            left: Vec::new(),
        }
    }

    pub(super) fn on(&mut self, progress: &Progress, reporter: &Reporter) {
        match progress {
            Progress::Tick { .. } => self.tell_end(reporter),
            Progress::RunEnds { record, .. } => {
                let left = record
                    .warnings
                    .iter()
                    .filter(|warning| matches!(warning, Warning::EndpointLeft { .. }))
                    .map(|warning| format!("error: {}: {warning}", record.run));
                self.left.extend(left);
            }
            _ => {}
        }
    }

    fn tell_end(&mut self, reporter: &Reporter) {
        if self.real && !self.is_told && STOP.asked() != Asked::Nothing {
            self.is_told = true;
            reporter.say(
                "Shutting down: deleting the endpoint first, which may take minutes. A second Ctrl-C ends immediately and may leave an endpoint that costs money.",
            );
        }
    }
}

/// Answers of the emulator here and of the provider are not of one kind: one folder, one of them.
pub(super) fn refuse_mixture(
    study: &Study,
    earlier: &[RunRecord],
    args: &RunArgs,
) -> Result<(), Failure> {
    let differs = |record: &&RunRecord| {
        let environment = study.environment(&record.environment.name);
        let service = environment.and_then(|e| e.service.as_ref());
        let may_be_real = match service {
            Some(Service::Serverless(serverless)) => serverless.sagemaker.is_some(),
            Some(Service::RealTime(_)) => true,
            Some(Service::Url(_)) | None => false,
        };
        may_be_real && runner::was_elsewhere(record) != args.real
    };
    let Some(record) = earlier.iter().find(differs) else {
        return Ok(());
    };
    let (theirs, other) = match args.real {
        true => ("was measured on this machine", "at the provider"),
        false => ("was measured at the provider", "on this machine"),
    };
    let message = format!(
        "{} of these results {theirs}; runs {other} need a separate folder\n  = choose one with --out",
        record.run
    );
    Err(Failure::new(Exit::ResultsInUse, message))
}
