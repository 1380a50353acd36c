//! One order carried out: bound to this machine, measured, and written down.

use std::path::Path;

use frameworks::Home;
use measure::{ClientCommand, Recognition, Watched};
use model::event::JOB_VARIABLE;
use model::{Happening, MachineProfile, Measurement, Order, Ready, Stop, Work};

use crate::bind::{Bound, Context, Training, bind};
use crate::container::{Wrapped, Wrapping, image_of};
use crate::error::WorkError;
use crate::finish::{add_image, add_serving, endpoint_left, model_metrics};
use crate::machines::machines;
use crate::training_files::{self, MODEL_FILE};
use crate::verification;

/// An endpoint that is being made can be deleted only when it is in service, minutes later: whoever
/// has no patience stops twice, and is warned of what may be left.
const TEAR_DOWN_SECONDS: f64 = 900.0;

/// A worker on its machine.
#[derive(Debug, Clone, Copy)]
pub struct Worker<'a> {
    pub context: Context<'a>,
    /// What this machine is and has ready.
    pub ready: &'a Ready,
    pub version: &'a str,
    /// Shared with the signal handler.
    pub stop: &'a Stop,
}

/// How the process of a run is started.
struct Starting<'a> {
    bound: &'a Bound,
    wrapped: Option<&'a Wrapped>,
    client: Option<ClientCommand>,
}

impl Worker<'_> {
    /// Carries out an order in a folder that exists and is the run's own. How the run ended, well or
    /// badly, is in the measurement; an error means that it could not be measured.
    ///
    /// `report` is called on the measuring thread: it must hand over and return.
    pub fn work(
        &self,
        order: &Order,
        folder: &Path,
        report: &mut dyn FnMut(Happening),
    ) -> Result<Measurement, WorkError> {
        let mut bound = match bind(order, self.ready, self.context) {
            Ok(bound) => bound,
            // What was there when the study began may be gone by now: that run has failed.
            Err(why) => return self.not_begun(order, folder, &why),
        };
        let mut warnings = Vec::new();
        warnings.extend(self.write_job(&mut bound, folder)?);
        let client = self.write_client_job(&mut bound, folder)?;
        let wrapped = match self.wrap(order, &bound, folder) {
            Ok(wrapped) => wrapped,
            Err(why) => return self.not_begun(order, folder, &why),
        };
        let started = Starting {
            bound: &bound,
            wrapped: wrapped.as_ref(),
            client,
        };
        let measured = self.measure(order, started, folder, report);
        wrapped.iter().for_each(Wrapped::tidy);
        let measured = measured?;
        let training = bound.training.as_ref();
        let trainer = training.map(|training| &training.trainer);
        let keep_model = training.is_none_or(|training| training.keep_model);
        warnings.extend(training_files::tidy(folder, trainer, keep_model)?);
        warnings.extend(endpoint_left(folder));
        let mut measurement = self.measurement(order, bound, measured, folder);
        measurement.warnings.extend(warnings);
        Ok(measurement)
    }

    fn not_begun(
        &self,
        order: &Order,
        folder: &Path,
        why: &WorkError,
    ) -> Result<Measurement, WorkError> {
        let measured =
            measure::could_not_begin(folder, &why.to_string()).map_err(WorkError::Measure)?;
        Ok(self.measurement(order, Bound::default(), measured, folder))
    }

    fn write_job(
        &self,
        bound: &mut Bound,
        folder: &Path,
    ) -> Result<Option<model::Warning>, WorkError> {
        let Some(Training {
            trainer,
            job,
            discard_images,
            ..
        }) = &mut bound.training
        else {
            return Ok(None);
        };
        // A worker on another host begins in another folder.
        let folder = std::path::absolute(folder).map_err(|e| WorkError::write(folder, e))?;
        job.checkpoint = Some(folder.join(MODEL_FILE));
        let own = Home::at(&folder);
        let home = if *discard_images {
            &own
        } else {
            self.context.home
        };
        let left_out = training_files::fill_job(job, trainer, &folder, home)?;
        let path = folder.join("job.json");
        write_json(&path, job)?;
        bound
            .env
            .push((JOB_VARIABLE.to_owned(), path.to_string_lossy().into_owned()));
        Ok(left_out)
    }

    /// The client's job; a client that is the run itself finds it in its own variables.
    fn write_client_job(
        &self,
        bound: &mut Bound,
        folder: &Path,
    ) -> Result<Option<ClientCommand>, WorkError> {
        let Some(client) = &mut bound.client else {
            return Ok(None);
        };
        let job = &mut client.job;
        for path in [
            &mut job.requests,
            &mut job.outcome,
            &mut job.record,
            &mut job.endpoint,
        ] {
            *path = folder.join(&*path);
        }
        let path = folder.join("ask.json");
        write_json(&path, job)?;
        let variable = (JOB_VARIABLE.to_owned(), path.to_string_lossy().into_owned());
        if client.alone {
            bound.env.push(variable);
            return Ok(None);
        }
        let program = self.context.bancada;
        Ok(Some(ClientCommand {
            command: vec![program.to_string_lossy().into_owned(), "ask".to_owned()],
            env: vec![variable],
        }))
    }

    /// None where the run is a process of this machine.
    fn wrap(
        &self,
        order: &Order,
        bound: &Bound,
        folder: &Path,
    ) -> Result<Option<Wrapped>, WorkError> {
        let Some(container) = self.context.container else {
            return Ok(None);
        };
        let wrapping = Wrapping {
            order,
            bound,
            image: image_of(order, container, self.ready)?,
            folder,
            context: self.context,
        };
        wrapping.wrap().map(Some)
    }

    fn measure(
        &self,
        order: &Order,
        starting: Starting<'_>,
        folder: &Path,
        report: &mut dyn FnMut(Happening),
    ) -> Result<Measurement, WorkError> {
        let makes_endpoint = order.makes_endpoint();
        let mut settings = order.measure.clone();
        if makes_endpoint {
            settings.grace_seconds = settings.grace_seconds.max(TEAR_DOWN_SECONDS);
        }
        let Starting {
            bound,
            wrapped,
            client,
        } = starting;
        let request = measure::Request {
            command: wrapped.map_or(&bound.command, |w| &w.command).clone(),
            env: wrapped.map_or(&bound.env, |w| &w.env).clone(),
            directory: bound.directory.clone(),
            folder: folder.to_owned(),
            limits: order.limits.clone(),
            settings,
            log: bound.log.clone(),
            progress: recognition(order),
            reports_steps: bound.training.is_some(),
            client,
            container: wrapped.map(|wrapped| wrapped.container.clone()),
            // The provider is asked to delete what was made there.
            outlives: makes_endpoint,
            cgroup_name: format!("bancada-{}", std::process::id()),
        };
        let watch = &mut |watched: Watched<'_>| match watched {
            Watched::Event(event) => report(Happening::Event(event.clone())),
            Watched::Sample(sample) => report(Happening::Sample(Box::new(sample.clone()))),
            Watched::Tick { .. } => {}
        };
        measure::run(&request, self.stop, watch).map_err(WorkError::Measure)
    }

    pub(crate) fn measurement(
        &self,
        order: &Order,
        bound: Bound,
        measured: Measurement,
        folder: &Path,
    ) -> Measurement {
        let job = bound.job();
        let trainer = bound.training.as_ref().map(|training| &training.trainer);
        let reported = measured.framework.as_ref();
        let home = self.context.home;
        let framework = trainer.map(|trainer| verification::of_run(trainer, job, reported, home));
        let not_verified =
            trainer.and_then(|trainer| verification::warning(trainer, job, framework.as_ref()));
        let device = job.map(|job| job.device.clone());
        let mut measurement = Measurement {
            order: order.id.clone(),
            run: order.run,
            bancada: self.version.to_owned(),
            device: device.or_else(|| order.device.clone()),
            command: bound.command,
            machine: self.ready.machine.clone(),
            framework,
            machine_profile: self.profile(order).map(Box::new),
            ..measured
        };
        measurement.warnings.extend(not_verified);
        let model = bound.client.and_then(|client| client.model);
        if let Some(model) = &model {
            measurement.metrics.extend(model_metrics(model));
        }
        let container = self.context.container;
        let image = container.and_then(|c| image_of(order, c, self.ready).ok());
        if let Some(image) = image {
            add_image(&mut measurement, image);
        }
        add_serving(&mut measurement, model.and_then(|m| m.runtime), folder);
        measurement
    }

    /// Of this machine, as the run used it.
    fn profile(&self, order: &Order) -> Option<MachineProfile> {
        let machine = &self.ready.machine;
        let cores = order.limits.cores.unwrap_or(machine.usable_cores);
        let machines = machines(self.context.home.path());
        machines.into_profile_of(machine, cores.min(machine.usable_cores))
    }
}

/// Of commands: all others emit their steps.
fn recognition(order: &Order) -> Option<Recognition> {
    matches!(order.work, Work::Command(_)).then_some(Recognition {
        known_at: order.known_at,
        least_seconds: predict::progress::eta::KNOWN_AFTER_SECONDS,
    })
}

pub(crate) fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), WorkError> {
    let failed = |error| WorkError::write(path, error);
    let bytes = serde_json::to_vec_pretty(value).map_err(|e| failed(e.into()))?;
    std::fs::write(path, bytes).map_err(failed)
}
