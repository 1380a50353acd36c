//! An order that is carried out again and again, without a new worker for each run.

use std::path::{Path, PathBuf};

use measure::{Series, Watched};
use model::{Happening, Measurement, Order, RunId, Work};

use crate::bind::{Bound, bind};
use crate::error::WorkError;
use crate::work::Worker;

/// A command of the user's, bound to this machine once.
pub struct Repeats<'a> {
    worker: Worker<'a>,
    order: Order,
    bound: Bound,
    series: Series,
    folder: PathBuf,
}

/// One run of it.
#[derive(Debug)]
pub struct Repeated {
    pub measurement: Measurement,
    /// Whether it lasted long enough to leave files in the folder, which the next run writes over.
    pub has_files: bool,
}

impl<'a> Worker<'a> {
    /// `folder` exists and is that of all runs.
    pub fn repeats(&self, order: &Order, folder: &Path) -> Result<Repeats<'a>, WorkError> {
        if !matches!(order.work, Work::Command(_)) || self.context.container.is_some() {
            return Err(WorkError::NotRepeated);
        }
        let bound = bind(order, self.ready, self.context)?;
        let request = measure::Request {
            command: bound.command.clone(),
            env: bound.env.clone(),
            directory: bound.directory.clone(),
            folder: folder.to_owned(),
            limits: order.limits.clone(),
            settings: order.measure.clone(),
            log: bound.log.clone(),
            progress: None,
            reports_steps: false,
            client: None,
            container: None,
            outlives: false,
            cgroup_name: format!("bancada-{}", std::process::id()),
        };
        Ok(Repeats {
            worker: *self,
            order: order.clone(),
            series: Series::open(request).map_err(WorkError::Measure)?,
            bound,
            folder: folder.to_owned(),
        })
    }
}

impl Repeats<'_> {
    /// The next run, under this name.
    pub fn next(
        &mut self,
        run: RunId,
        report: &mut dyn FnMut(Happening),
    ) -> Result<Repeated, WorkError> {
        self.order.run = run;
        self.order.id = format!("{}-{run}", self.order.environment);
        let watch = &mut |watched: Watched<'_>| match watched {
            Watched::Event(event) => report(Happening::Event(event.clone())),
            Watched::Sample(sample) => report(Happening::Sample(Box::new(sample.clone()))),
            Watched::Tick { .. } => {}
        };
        let repeated = self.series.run(self.worker.stop, watch);
        let measure::Repeated {
            measured,
            has_files,
        } = repeated.map_err(WorkError::Measure)?;
        let bound = self.bound.clone();
        Ok(Repeated {
            measurement: self
                .worker
                .measurement(&self.order, bound, measured, &self.folder),
            has_files,
        })
    }

    /// Where the files of its runs are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}
