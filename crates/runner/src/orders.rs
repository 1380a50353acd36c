//! A scenario → the order of its runs, built once.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use data::{DataError, DatasetInfo};
use model::job::{DataJob, JOB_PROTOCOL};
use model::order::{ORDER_PROTOCOL, ServeOrder, TrainOrder};
use model::{
    Environment, Order, Plan, RunId, Scenario, ServeWorkload, Study, TrainJob, TrainWorkload, Work,
    Workload,
};
use network::InputSpec;
use predict::whole_run::Length;

use crate::datasets::Datasets;
use crate::inputs::InputReader;
use crate::preview::Preview;

/// Builds the orders of a study.
pub struct OrderBuilder<'a> {
    pub study: &'a Study,
    /// Paths in the study are relative to its file's folder.
    pub folder: &'a Path,
    /// Where `bancada data fetch` puts datasets.
    pub cache: &'a Path,
    /// Whether endpoints at a provider are used where the study describes them, and paid for.
    pub real: bool,
    /// Of trainings and commands only the beginning is wanted.
    pub preview: Option<Preview>,
    datasets: Datasets,
    digests: RefCell<HashMap<String, Option<String>>>,
}

/// What a run of one scenario is, and where the study wants it.
#[derive(Debug, Clone)]
pub struct ScenarioOrder {
    pub order: Order,
    /// Of the whole training.
    pub length: Option<Length>,
    /// With the price of what the scenario needs.
    pub environment: Environment,
}

impl ScenarioOrder {
    /// Of one attempt at one run. The same seed for all scenarios: initial weights and order of
    /// images then do not differ between what is compared; it differs between repetitions, so that
    /// the spread is honest.
    pub fn for_run(&self, run: RunId, id: String, study_seed: u64) -> Order {
        let mut order = self.order.clone();
        order.id = id;
        order.run = run;
        let seed = study_seed.wrapping_add(u64::from(run.repetition.saturating_sub(1)));
        match &mut order.work {
            Work::Train(train) => train.job.seed = seed,
            Work::Serve(serve) => serve.seed = seed,
            Work::Command(_) => {}
        }
        order
    }
}

impl<'a> OrderBuilder<'a> {
    pub fn new(study: &'a Study, folder: &'a Path, cache: &'a Path) -> Self {
        OrderBuilder {
            study,
            folder,
            cache,
            real: false,
            preview: None,
            datasets: Datasets::default(),
            digests: RefCell::default(),
        }
    }

    /// Of every scenario that these runs are of, by its number.
    pub fn of_runs(
        &self,
        plan: &Plan,
        runs: &[RunId],
    ) -> Result<BTreeMap<u32, ScenarioOrder>, OrderError> {
        let scenarios = scenarios_of(plan, runs).into_iter();
        let built = scenarios.map(|scenario| Ok((scenario.number, self.of_scenario(scenario)?)));
        built.collect()
    }

    pub fn of_scenario(&self, scenario: &Scenario) -> Result<ScenarioOrder, OrderError> {
        let plan::Resolved {
            environment,
            workload,
        } = plan::resolve(self.study, scenario);
        let mut length = None;
        let work = match workload {
            Workload::Train(train) => {
                length = Some(self.length(&train)?);
                Work::Train(Box::new(self.training(&train, &environment)?))
            }
            Workload::Serve(serve) => Work::Serve(Box::new(self.serving(serve, &environment))),
            Workload::Command(command) if command.command.is_empty() => {
                return Err(OrderError::Nothing);
            }
            Workload::Command(command) => Work::Command(command),
        };
        let known_at = self.preview.and_then(|preview| preview.of_command(&work));
        let order = Order {
            protocol: ORDER_PROTOCOL,
            id: scenario.label(),
            run: RunId {
                scenario: scenario.number,
                repetition: 1,
            },
            environment: environment.name.clone(),
            work,
            limits: environment.limits.clone(),
            device: environment.device.clone(),
            measure: self.study.measure.clone(),
            expected_seconds: None,
            known_at,
            inputs: Vec::new(),
        };
        Ok(ScenarioOrder {
            order,
            length,
            environment,
        })
    }

    fn length(&self, train: &TrainWorkload) -> Result<Length, OrderError> {
        let info = self.dataset(&train.dataset, train.data_dir.as_deref());
        let info = info.map_err(OrderError::Data)?;
        Ok(Length {
            epochs: train.epochs,
            images: train.images.unwrap_or(info.images),
            batch: train.batch,
            held_out: train.held_out.unwrap_or(info.held_out),
            validates_each_epoch: self.study.target_accuracy_percent.is_some(),
        })
    }

    fn training(
        &self,
        train: &TrainWorkload,
        environment: &Environment,
    ) -> Result<TrainOrder, OrderError> {
        let info = self
            .dataset(&train.dataset, train.data_dir.as_deref())
            .map_err(OrderError::Data)?;
        let image = train.image.unwrap_or(info.side);
        let input = InputSpec {
            channels: info.channels,
            height: image,
            width: image,
            classes: info.classes,
        };
        let failed = |why: String| OrderError::Network {
            network: train.network.clone(),
            why,
        };
        let graph = self.describe(&train.network)?.instantiate(input);
        let graph = graph.map_err(|problems| {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            failed(problems.join("; "))
        })?;
        let mut job = TrainJob {
            protocol: JOB_PROTOCOL,
            framework: name_of(&train.framework).to_owned(),
            network: serde_json::to_value(&graph).map_err(|e| failed(e.to_string()))?,
            data: DataJob {
                dataset: train.dataset.clone(),
                data_dir: train.data_dir.clone(),
                image,
                images: train.images,
                held_out: train.held_out,
                seed: self.study.seed,
                cache: None,
                pipeline: train.pipeline,
            },
            epochs: train.epochs,
            batch: train.batch,
            optimizer: train.optimizer.clone(),
            threads: None,
            device: environment
                .device
                .clone()
                .unwrap_or_else(|| train.device.clone()),
            seed: self.study.seed,
            weights: None,
            precision: train.precision,
            compile: train.compile,
            workers: train.workers,
            hosts: None,
            accuracy_each_epoch: self.study.target_accuracy_percent.is_some(),
            profile: train.profile,
            checkpoint: None,
            preview: None,
            verify: None,
            probe: None,
        };
        if let Some(preview) = &self.preview {
            job.preview = preview.of(&self.length(train)?);
            // The part of a validation at its end is enough.
            job.accuracy_each_epoch &= job.preview.is_none();
        }
        Ok(TrainOrder {
            framework: train.framework.clone(),
            network: train.network.clone(),
            threads: train.threads,
            hosts: environment.hosts.clone(),
            data_digest: self.data_digest(&train.dataset, train.data_dir.as_deref()),
            job,
            keep_model: train.keep_model,
            discard_images: false,
        })
    }

    fn serving(&self, workload: ServeWorkload, environment: &Environment) -> ServeOrder {
        ServeOrder {
            model_digest: self.model_digest(&workload.model),
            workload,
            service: environment.service.clone(),
            real: self.real,
            seed: self.study.seed,
        }
    }

    /// In a folder of the study, or where `bancada data fetch` puts it.
    pub(crate) fn dataset(
        &self,
        name: &str,
        folder: Option<&Path>,
    ) -> Result<DatasetInfo, DataError> {
        let folder = match folder {
            Some(folder) => Some(self.folder.join(folder)),
            None => data::info(name)
                .filter(|info| info.needs_folder)
                .map(|info| data::fetched_folder(self.cache, info.name)),
        };
        self.datasets.describe(name, folder.as_deref())
    }

    /// Of the user's own pictures. Published datasets are known by their names: `data fetch` checks
    /// them byte for byte.
    fn data_digest(&self, dataset: &str, data_dir: Option<&Path>) -> Option<String> {
        let folder = self
            .folder
            .join(data_dir.filter(|_| dataset == data::FOLDER)?);
        let key = folder.to_string_lossy().into_owned();
        self.once(key, || data::folder_digest(&folder).ok())
    }

    /// Of a file; a name of the zoo and a folder have none.
    fn model_digest(&self, model: &str) -> Option<String> {
        let path = self.folder.join(model);
        self.once(model.to_owned(), || {
            InputReader::new(self.folder).digest_of(&path)
        })
    }

    fn once(&self, key: String, digest: impl FnOnce() -> Option<String>) -> Option<String> {
        if let Some(known) = self.digests.borrow().get(&key) {
            return known.clone();
        }
        let digest = digest();
        self.digests.borrow_mut().insert(key, digest.clone());
        digest
    }

    /// A zoo name, or a file of which the study holds the text.
    fn describe(&self, network: &str) -> Result<network::Description, OrderError> {
        let failed = |why: String| OrderError::Network {
            network: network.to_owned(),
            why,
        };
        let Some(text) = self.study.network_files.get(network) else {
            return network::load(network).map_err(|e| failed(e.to_string()));
        };
        network::parse(text).map_err(|diagnostics| {
            let messages: Vec<String> = diagnostics.into_iter().map(|d| d.message).collect();
            failed(messages.join("; "))
        })
    }
}

/// `pytorch` of `pytorch@2.2.0`.
fn name_of(framework: &str) -> &str {
    framework.split('@').next().unwrap_or(framework).trim()
}

/// The scenarios of these runs, each once, in their order.
pub fn scenarios_of<'p>(plan: &'p Plan, runs: &[RunId]) -> Vec<&'p Scenario> {
    let numbers: std::collections::HashSet<u32> = runs.iter().map(|run| run.scenario).collect();
    let all = plan.scenarios.iter();
    all.filter(|s| numbers.contains(&s.number)).collect()
}

/// Why a scenario cannot be ordered anywhere.
#[derive(Debug, thiserror::Error)]
pub enum OrderError {
    /// The study holds measurements made elsewhere.
    #[error(
        "the study has no [workload], so there is nothing to run: its measurements come from bancada import"
    )]
    Nothing,
    #[error(transparent)]
    Data(DataError),
    #[error("network `{network}`: {why}")]
    Network { network: String, why: String },
}
