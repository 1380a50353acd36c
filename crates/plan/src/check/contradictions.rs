//! Levels that are fine by themselves but not together, in scenarios that would be run.

use std::collections::HashSet;

use data::DatasetInfo;
use diagnostics::{Diagnostic, Problems};
use frameworks::{Capability, Spec};
use model::{
    Environment, Level, Limits, LoadShape, Pipeline, Precision, Scenario, ServeWorkload, Service,
    Study, TrainWorkload,
};
use network::InputSpec;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;

use super::networks::Networks;
use super::{Origin, origin, serving};
use crate::read::{Draft, DraftWorkload};
use crate::resolve::{CORES, ENVIRONMENT, MEMORY, Resolved, resolve};

/// Every contradiction once, however many scenarios have it.
pub(super) fn check(
    draft: &Draft,
    study: &Study,
    scenarios: &[Scenario],
    networks: &Networks,
    problems: &Problems,
) {
    let mut checker = Checker {
        draft,
        networks,
        seen: HashSet::new(),
        problems,
    };
    for scenario in scenarios {
        let Resolved {
            environment,
            workload,
        } = resolve(study, scenario);
        checker.check_price(scenario, &environment);
        if let Some(serve) = workload.as_serve() {
            checker.check_serving(serve, &environment);
            checker.check_served(serve, &environment);
            checker.check_trace(serve);
            checker.check_worker(scenario, &environment);
        }
        let Some(train) = workload.as_train() else {
            continue;
        };
        if let (Some(device), Some(level)) = (&environment.device, scenario.level("device")) {
            checker.check_device(&environment.name, device, level);
        }
        checker.check_momentum(scenario);
        checker.check_framework(train);
        checker.check_shares(train);
        checker.check_pictures(train);
        checker.check_folder(train);
        if let Some(info) = data::info(&train.dataset) {
            checker.check_shape(train, &info);
            checker.check_counts(train, &info);
        }
    }
}

struct Checker<'c> {
    draft: &'c Draft,
    networks: &'c Networks<'c>,
    /// What was looked at already.
    seen: HashSet<String>,
    problems: &'c Problems,
}

impl Checker<'_> {
    fn check_serving(&mut self, workload: &ServeWorkload, environment: &Environment) {
        let Some(DraftWorkload::Serve(serve)) = &self.draft.workload else {
            return;
        };
        for wrong in serving::wrong(workload, environment.service.as_ref()) {
            let is_there = |field: &str| self.draft.place(field).is_some();
            if !wrong.needs.is_some_and(is_there) && self.seen.insert(wrong.message.clone()) {
                let span = serving::place(self.draft, serve, wrong.field);
                self.problems.push(Diagnostic::at(span, wrong.message));
            }
        }
    }

    /// A stack that builds the network anew needs its layers.
    fn check_served(&mut self, workload: &ServeWorkload, environment: &Environment) {
        let is_elsewhere = matches!(environment.service, Some(Service::Url(_)));
        let model = &workload.model;
        let is_there = !model.is_empty() && !self.networks.is_missing(model);
        let needs_layers = workload.stack == serving::TENSORFLOW;
        if is_elsewhere || !needs_layers || !is_there || self.networks.has_layers(model) {
            return;
        }
        let reason = "it serves layer graphs (the zoo, network files, runs), not ONNX files";
        let stack = ("stack", Level::Text(workload.stack.clone()));
        self.contradict(("model", Level::Text(model.clone())), stack, reason);
    }

    fn check_trace(&mut self, workload: &ServeWorkload) {
        let trace = workload
            .trace
            .as_ref()
            .filter(|_| workload.load == LoadShape::Trace);
        let (Some(trace), Some(asked)) = (trace.and_then(|path| path.to_str()), workload.requests)
        else {
            return;
        };
        if let Some(has) = self
            .networks
            .requests_in_trace(trace)
            .filter(|has| *has < asked)
        {
            let asked = Level::Int(i64::try_from(asked).unwrap_or(i64::MAX));
            let reason = format!("it has {has} times");
            self.contradict(("requests", asked), ("trace", Level::from(trace)), &reason);
        }
    }

    /// The size of a worker on demand is its environment's: limits would hold the emulator and all
    /// its workers together.
    fn check_worker(&mut self, scenario: &Scenario, environment: &Environment) {
        if !matches!(environment.service, Some(Service::Serverless(_))) {
            return;
        }
        for factor in [CORES, MEMORY] {
            if let Some(level) = scenario.level(factor) {
                let place = (ENVIRONMENT, Level::Text(environment.name.clone()));
                let reason =
                    "a worker there has the memory set in `serverless`, and cores in proportion";
                self.contradict((factor, level.clone()), place, reason);
            }
        }
    }

    /// Who has more than the machine they pay for would be told too low a cost.
    fn check_price(&mut self, scenario: &Scenario, environment: &Environment) {
        let Some(price) = &environment.price else {
            return;
        };
        let Limits {
            cores,
            memory_bytes,
        } = environment.limits;
        let shape = &price.shape;
        let machine = &price.machine;
        if let (Some(vcpus), Some(cores)) = (shape.vcpus, cores)
            && !shape.holds(cores)
        {
            let reason = format!("{machine} has {vcpus} of them");
            self.more_than_paid(scenario, environment, CORES, &reason);
        }
        let Some(gib) = shape.memory_gib else {
            return;
        };
        let bytes = (gib * Decimal::from(1_u64 << 30)).to_u64();
        if let (Some(has), Some(limit)) = (bytes, memory_bytes)
            && limit > has
        {
            let reason = format!("{machine} has {gib} GiB");
            self.more_than_paid(scenario, environment, MEMORY, &reason);
        }
        // A price of memory alone is that of a worker.
        if let (None, Some(Service::Serverless(worker))) = (shape.vcpus, &environment.service) {
            let memory_mb = (gib * Decimal::from(1024)).to_u32();
            if memory_mb.is_some_and(|mb| mb != worker.memory_mb) {
                let reason = format!("{machine} is the price of {gib} GiB");
                self.more_than_paid(scenario, environment, "serverless", &reason);
            }
        }
    }

    fn more_than_paid(
        &mut self,
        scenario: &Scenario,
        environment: &Environment,
        what: &str,
        reason: &str,
    ) {
        if let Some(level) = scenario.level(what) {
            let place = (ENVIRONMENT, Level::Text(environment.name.clone()));
            self.contradict((what, level.clone()), place, reason);
            return;
        }
        let mut places = self.draft.environments.iter();
        let place = places.find(|place| place.name.value == environment.name);
        let message = format!("`{what}` does not match the price: {reason}");
        if let Some(place) = place
            && self.seen.insert(format!("{} {message}", environment.name))
        {
            let wrong = place.name.wrong(message);
            self.problems
                .push(wrong.label("name the machine to be billed, or an amount"));
        }
    }

    fn check_shape(&mut self, train: &TrainWorkload, info: &DatasetInfo) {
        let side = train.image.unwrap_or(info.side);
        let channels = info.channels;
        if !self.seen.insert(format!(
            "shape {} {channels} {side} {}",
            train.network, info.classes
        )) {
            return;
        }
        let Some(description) = self.networks.get(&train.network) else {
            return;
        };
        let Err(mistakes) =
            description.instantiate(InputSpec::square(channels, side, info.classes))
        else {
            return;
        };
        let network = self.origin("network", Level::Text(train.network.clone()));
        let size = match train.image {
            Some(side) => self.origin("image", Level::Int(i64::from(side))),
            None => self.origin("dataset", Level::Text(train.dataset.clone())),
        };
        let reason = mistakes
            .first()
            .map(ToString::to_string)
            .unwrap_or_default();
        let diagnostic = contradiction(&size, &network, &reason);
        // Other datasets of as many channels may share the complaint word for word.
        if self.seen.insert(diagnostic.message.clone()) {
            self.problems.push(diagnostic);
        }
    }

    fn check_counts(&mut self, train: &TrainWorkload, info: &DatasetInfo) {
        let dataset = || Level::Text(train.dataset.clone());
        for (field, asked, has) in [
            ("images", train.images, info.images),
            ("held_out", train.held_out, info.held_out),
        ] {
            if let Some(asked) = asked.filter(|asked| info.needs_folder && *asked > has) {
                let count = Level::Int(i64::from(asked));
                self.contradict(
                    (field, count),
                    ("dataset", dataset()),
                    &format!("it has {has}"),
                );
            }
        }
        let images = train.images.unwrap_or(info.images);
        if train.batch > images {
            let batch = ("batch", Level::Int(i64::from(train.batch)));
            let reason = format!("with {images} images no batch would ever be full");
            match train.images {
                Some(images) => {
                    self.contradict(batch, ("images", Level::Int(i64::from(images))), &reason)
                }
                None => self.contradict(batch, ("dataset", dataset()), &reason),
            }
        }
    }

    fn check_folder(&mut self, train: &TrainWorkload) {
        let name = &train.dataset;
        let info = data::info(name);
        if name != data::FOLDER && !info.is_some_and(|info| info.needs_folder) {
            return;
        }
        // Without a folder of one's own, a dataset lies where `bancada data fetch` puts it.
        let Some(folder) = train.data_dir.as_ref().map(|dir| dir.display().to_string()) else {
            return;
        };
        if !self.seen.insert(format!("folder {name} {folder}")) {
            return;
        }
        let dataset = self.origin("dataset", Level::Text(name.clone()));
        if self.networks.is_missing(&folder) {
            let typed = self.draft.value("data_dir");
            let place = Origin {
                span: typed.map(|v| v.level.span.clone()).or(dataset.span),
                ..dataset
            };
            let message = format!("the folder `{folder}` of dataset `{name}` does not exist");
            let relative = "the path is relative to the folder of the study file";
            self.problems.push(at(&place, message).note(relative));
        }
    }

    fn check_pictures(&mut self, train: &TrainWorkload) {
        if train.dataset == data::FOLDER && train.data_dir.is_none() {
            let dataset = self.origin("dataset", Level::Text(train.dataset.clone()));
            let message = format!(
                "{} needs data_dir: the folder of your pictures",
                dataset.words
            );
            if self.seen.insert(message.clone()) {
                self.problems.push(at(&dataset, message));
            }
        }
    }

    /// What the framework cannot do on any device; the rest its adapter tells when it starts.
    fn check_framework(&mut self, train: &TrainWorkload) {
        let typed = self.draft.value("framework");
        // A name that is wrong was complained about, and the default stands in its place.
        let is_wrong =
            |text: &str| text != train.framework && self.draft.factor("framework").is_none();
        if typed.is_some_and(|value| value.level.value.as_text().is_some_and(is_wrong)) {
            return;
        }
        let Ok(spec) = Spec::parse(&train.framework) else {
            return;
        };
        let workers = match train.device.contains(',') {
            true => ("device", Level::Text(train.device.clone())),
            false => ("workers", Level::Int(i64::from(train.workers))),
        };
        let asked = [
            (train.workers > 1, Capability::Workers, workers.0, workers.1),
            (
                train.precision == Precision::Mixed,
                Capability::Mixed,
                "precision",
                Level::Text("mixed".to_owned()),
            ),
            (
                train.compile == Some(true),
                Capability::Compile,
                "compile",
                Level::Bool(true),
            ),
            (
                train.compile == Some(false),
                Capability::Eager,
                "compile",
                Level::Bool(false),
            ),
            (
                train.pipeline == Pipeline::Own,
                Capability::OwnLoader,
                "pipeline",
                Level::Text("own".to_owned()),
            ),
        ];
        for (is_asked, wish, field, level) in asked {
            if let Some(reason) = spec.framework.cannot.get(&wish).filter(|_| is_asked) {
                let framework = ("framework", Level::Text(train.framework.clone()));
                self.contradict((field, level), framework, reason);
            }
        }
    }

    /// Workers' gradients are averaged, so that their shares of a batch must be alike.
    fn check_shares(&mut self, train: &TrainWorkload) {
        if !train.batch.is_multiple_of(train.workers.max(1)) {
            let batch = ("batch", Level::Int(i64::from(train.batch)));
            let workers = ("workers", Level::Int(i64::from(train.workers)));
            self.contradict(
                batch,
                workers,
                "all workers must get an equal share of a batch",
            );
        }
    }

    /// Two levels of `momentum` with Adam would be one scenario twice.
    fn check_momentum(&mut self, scenario: &Scenario) {
        let adam = |level: &&Level| level.as_text() == Some("adam");
        let optimizer = scenario.level("optimizer").filter(adam);
        if let (Some(momentum), Some(optimizer)) = (scenario.level("momentum"), optimizer) {
            let reason = "it has no momentum";
            self.contradict(
                ("momentum", momentum.clone()),
                ("optimizer", optimizer.clone()),
                reason,
            );
        }
    }

    fn check_device(&mut self, environment: &str, device: &str, level: &Level) {
        if level.as_text() != Some(device) {
            let environment = (ENVIRONMENT, Level::Text(environment.to_owned()));
            let reason = format!("that environment has device = \"{device}\"");
            self.contradict(("device", level.clone()), environment, &reason);
        }
    }

    fn contradict(&mut self, one: (&str, Level), other: (&str, Level), reason: &str) {
        let (one, other) = (self.origin(one.0, one.1), self.origin(other.0, other.1));
        let diagnostic = contradiction(&one, &other, reason);
        if self.seen.insert(diagnostic.message.clone()) {
            self.problems.push(diagnostic);
        }
    }

    fn origin(&self, field: &str, value: Level) -> Origin {
        origin(self.draft, field, &value)
    }
}

fn contradiction(one: &Origin, other: &Origin, reason: &str) -> Diagnostic {
    let message = format!("{} contradicts {}: {reason}", one.words, other.words);
    let mut diagnostic = at(one, message);
    match (&one.span, &other.span) {
        (Some(_), Some(span)) => {
            diagnostic = diagnostic.other(span.clone(), "contradicted by this")
        }
        (None, Some(span)) => diagnostic.span = Some(span.clone()),
        _ => {}
    }
    if one.is_factor && other.is_factor {
        let condition = |origin: &Origin| origin.condition.clone();
        let rule = format!("{{ {}, {} }}", condition(other), condition(one));
        diagnostic = diagnostic.note(format!(
            "to exclude these scenarios, add to [study]: exclude = [{rule}]"
        ));
    }
    diagnostic
}

fn at(origin: &Origin, message: String) -> Diagnostic {
    match &origin.span {
        Some(span) => Diagnostic::at(span.clone(), message),
        None => Diagnostic::whole(message),
    }
}
