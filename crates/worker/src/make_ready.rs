//! Everything that no run should wait for, made before the first: images decoded, models converted,
//! hosts asked for what their workers need.

use std::collections::BTreeSet;
use std::path::Path;

use model::measurement::{DecodedImages, MadeModel, ReadyRequest};
use model::order::{ModelWish, TrainOrder};
use model::{Inventory, Order, Ready, ReadyModel, Work};

use crate::bind::{Context, bind};
use crate::container::{self, Engine, ImageWish};
use crate::error::WorkError;
use crate::{hosts, training_files};

/// Turns a model into what its stack reads. The worker does not link what it measures.
pub type MakeModel<'a> = &'a dyn Fn(&ModelWish) -> Result<ReadyModel, String>;

/// What this machine is, and has ready for these orders.
pub fn make_ready(
    request: &ReadyRequest,
    machine: Inventory,
    context: Context<'_>,
    make_model: MakeModel<'_>,
) -> Ready {
    let mut making = Making {
        context,
        results: request.results.as_deref(),
        make_model,
        ready: Ready {
            machine,
            capacity: measure::capacity(),
            ..Ready::default()
        },
        looked_at: BTreeSet::new(),
        engine: None,
    };
    for order in &request.orders {
        if let Err(error) = making.order(order) {
            let problem = error.to_string();
            if !making.ready.problems.contains(&problem) {
                making.ready.problems.push(problem);
            }
        }
    }
    making.ready
}

struct Making<'a> {
    context: Context<'a>,
    results: Option<&'a Path>,
    make_model: MakeModel<'a>,
    ready: Ready,
    /// As JSON: orders of one study share most of what they need.
    looked_at: BTreeSet<String>,
    engine: Option<Engine>,
}

impl Making<'_> {
    fn order(&mut self, order: &Order) -> Result<(), WorkError> {
        self.image(order)?;
        if let Work::Serve(serve) = &order.work
            && let Some(wish) = serve.model_wish()
        {
            self.model(wish)?;
        }
        let bound = bind(order, &self.ready, self.context)?;
        if let (Work::Train(train), Some(training)) = (&order.work, &bound.training)
            && !train.discard_images
        {
            self.hosts(train, &training.job, &bound.command)?;
            self.images(&training.job)?;
        }
        Ok(())
    }

    /// Of the container, where the runs are in one.
    fn image(&mut self, order: &Order) -> Result<(), WorkError> {
        let Some(container) = self.context.container else {
            return Ok(());
        };
        container::check(order)?;
        let spec = container::python_of(order)?;
        let wish = ImageWish {
            container,
            spec: spec.as_ref(),
            gpu: order.device.as_ref().is_some_and(|d| d.starts_with("cuda")),
        };
        let framework = wish.framework();
        if !self.is_new(&("image", container, &framework)) {
            return Ok(());
        }
        let engine = match self.engine.take() {
            Some(engine) => engine,
            None => {
                let wanted = container.engine.as_deref();
                let engine = Engine::find(wanted).map_err(WorkError::Container)?;
                engine.remove_leftovers();
                engine
            }
        };
        let image = container::make(&engine, &wish, self.context);
        self.engine = Some(engine);
        let image = image.map_err(WorkError::Container)?;
        self.ready.images.push(image);
        Ok(())
    }

    fn model(&mut self, wish: ModelWish) -> Result<(), WorkError> {
        if self.ready.model(&wish).is_some() || !self.is_new(&wish) {
            return Ok(());
        }
        let made = (self.make_model)(&wish);
        let failed = |why| WorkError::Serving(format!("model `{}`: {why}", wish.model));
        let model = made.map_err(failed)?;
        self.ready.models.push(MadeModel { wish, model });
        Ok(())
    }

    fn images(&mut self, job: &model::TrainJob) -> Result<(), WorkError> {
        if !self.is_new(&job.data) {
            return Ok(());
        }
        let cached = training_files::cache(job, self.context.home).map_err(WorkError::Data)?;
        if cached.made {
            self.ready.decoded.push(DecodedImages {
                dataset: job.data.dataset.clone(),
                images: cached.train + cached.held_out,
                side: cached.side,
                bytes: cached.bytes,
            });
        }
        Ok(())
    }

    fn hosts(
        &mut self,
        train: &TrainOrder,
        job: &model::TrainJob,
        command: &[String],
    ) -> Result<(), WorkError> {
        let Some((hosts, results)) = train.hosts.as_ref().zip(self.results) else {
            return Ok(());
        };
        if !self.is_new(&(&job.hosts, command)) {
            return Ok(());
        }
        let needs = hosts::Needs {
            hosts,
            job,
            command,
            folders: [self.context.home.path(), results],
        };
        hosts::check(&needs).map_err(WorkError::Hosts)
    }

    fn is_new(&mut self, what: &impl serde::Serialize) -> bool {
        // What cannot be written as JSON is looked at again.
        serde_json::to_string(what).map_or(true, |json| self.looked_at.insert(json))
    }
}
