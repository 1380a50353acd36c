//! How long a run that serves takes, from its load alone: a study says most of it itself.

use std::collections::BTreeMap;

use model::run::phase;
use model::{LoadShape, Phase, Plan, ServeWorkload, Service, Study, Workload};

use crate::forecast::RunForecast;

/// Between servers that start in a twentieth of a second and those that take ten.
const SETUP_SECONDS: f64 = 2.0;
/// Of an answer, in series: small beside any pause.
const ANSWER_SECONDS: f64 = 0.1;
/// A tenth comes before what counts.
const WITH_WARM_UP: f64 = 1.1;
/// Rates that a search tries.
const TRIALS: f64 = 12.0;
const SHUTDOWN_SECONDS: f64 = 0.5;

/// Expected runs by scenario number; none of scenarios whose load does not say its length.
pub fn from_loads(study: &Study, plan: &Plan) -> BTreeMap<u32, RunForecast> {
    let one = |scenario: &model::Scenario| {
        let resolved = plan::resolve(study, scenario);
        let Workload::Serve(serve) = resolved.workload else {
            return None;
        };
        let asked = seconds(&serve, resolved.environment.service.as_ref())?;
        let parts = [
            (phase::SETUP, SETUP_SECONDS),
            (phase::WARM, asked),
            (phase::SHUTDOWN, SHUTDOWN_SECONDS),
        ];
        let mut begin_seconds = 0.0;
        let phases = parts.map(|(name, seconds)| {
            let phase = Phase {
                name: name.to_owned(),
                begin_seconds,
                seconds,
            };
            begin_seconds += seconds;
            phase
        });
        let forecast = RunForecast {
            phases: phases.to_vec(),
            // How long the server itself takes is not known yet.
            low_factor: 0.7,
            high_factor: 2.0,
        };
        Some((scenario.number, forecast))
    };
    plan.scenarios.iter().filter_map(one).collect()
}

fn seconds(serve: &ServeWorkload, service: Option<&Service>) -> Option<f64> {
    let series = |count: u64, pause: f64| {
        let requests = serve.requests.unwrap_or(count) as f64;
        let pause = serve.pause_at(service).unwrap_or(pause);
        requests * (pause + ANSWER_SECONDS)
    };
    let at = |rate: Option<f64>| match (serve.requests, rate) {
        (Some(requests), Some(rate)) => requests as f64 / rate,
        (Some(requests), None) => requests as f64 * ANSWER_SECONDS / f64::from(serve.clients),
        (None, _) => serve.seconds,
    };
    Some(match serve.load {
        LoadShape::Warm | LoadShape::RealTime => series(25, 5.0),
        LoadShape::Cold => series(10, model::serving::COLD_PAUSE_SECONDS),
        LoadShape::Clients => WITH_WARM_UP * at(None),
        LoadShape::Rate | LoadShape::Poisson => WITH_WARM_UP * at(serve.rate),
        LoadShape::Search => TRIALS * WITH_WARM_UP * serve.seconds,
        LoadShape::Trace => return None,
    })
}
