//! A first idea of time and cost, before anything has run: arithmetic on the networks alone.

use frameworks::Home;
use model::run::phase;
use model::{Environment, Phase, Scenario, Work};
use network::Graph;
use runner::forecast::{self, Forecast};
use runner::{OrderBuilder, RunForecast};

use crate::open::Opened;

/// Of small networks in 32 bits, as measured on cores of cloud machines: between 5 and 30.
const FLOPS_PER_CORE: f64 = 10e9;
/// A training step computes the network, and twice as much backwards.
const TRAINING_PASSES: f64 = 3.0;
/// Start of the process, reading and decoding.
const START_SECONDS: f64 = 1.0;

/// As a person should hear it.
pub const ROUGH: &str =
    "rough: from the networks' FLOPs, at 10 GFLOP/s a core; time on a GPU is not estimated";

/// None where nothing can be said, as of a user's own command, or of a GPU: their rates are far apart.
pub fn rough_forecast(opened: &Opened) -> Option<Forecast> {
    let Opened { study, plan, .. } = opened;
    let home = Home::find().ok()?;
    let builder = OrderBuilder::new(study, &opened.folder, home.path());
    let mut scenarios = runner::from_loads(study, plan);
    for scenario in &plan.scenarios {
        if let Some(seconds) = training_seconds(&builder, scenario) {
            let phases = [(phase::STARTUP, START_SECONDS), (phase::TRAIN, seconds)];
            scenarios.insert(scenario.number, RunForecast::exactly(in_sequence(&phases)));
        }
    }
    if scenarios.is_empty() {
        return None;
    }
    let spread = forecast::spread(&scenarios, &plan.scenarios);
    Some(forecast::add_up(study, plan, &plan.runs, scenarios, spread))
}

fn in_sequence(parts: &[(&str, f64)]) -> Vec<Phase> {
    let mut begin_seconds = 0.0;
    let phases = parts.iter().map(|(name, seconds)| {
        let phase = Phase {
            name: (*name).to_owned(),
            begin_seconds,
            seconds: *seconds,
        };
        begin_seconds += seconds;
        phase
    });
    phases.collect()
}

fn training_seconds(builder: &OrderBuilder<'_>, scenario: &Scenario) -> Option<f64> {
    let built = builder.of_scenario(scenario).ok()?;
    let (Work::Train(train), Some(length)) = (&built.order.work, built.length) else {
        return None;
    };
    let graph: Graph = serde_json::from_value(train.job.network.clone()).ok()?;
    let images =
        f64::from(length.epochs) * length.images as f64 * TRAINING_PASSES + length.held_out as f64;
    let rate = flops_per_second(&built.environment)?;
    Some(images * graph.flops() as f64 / rate)
}

fn flops_per_second(environment: &Environment) -> Option<f64> {
    let device = environment.device.as_deref();
    if device.is_some_and(|device| device != "cpu") {
        return None;
    }
    let shape = environment.price.as_ref().map(|price| &price.shape);
    let sold = shape.and_then(|shape| shape.vcpus);
    let sold = sold.and_then(|vcpus| vcpus.to_string().parse().ok());
    let is_here = environment.location.is_here();
    let has = match (is_here, sold) {
        (false, Some(vcpus)) => vcpus,
        _ => measure::usable_cores(),
    };
    Some(FLOPS_PER_CORE * environment.limits.cores.map_or(has, |cores| cores.min(has)))
}
