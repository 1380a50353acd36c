//! How long a run that serves takes, from its load alone: a study says most of it itself.

use std::collections::BTreeMap;

use model::run::phase;
use model::{LoadShape, Phase, Plan, ServeWorkload, Service, Study, Workload};

use crate::forecast::{ExpectedRequests, Grounds, RunForecast};

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
        let length = Length::of(&serve, resolved.environment.service.as_ref())?;
        let parts = [
            (phase::SETUP, SETUP_SECONDS),
            (phase::WARM, length.seconds),
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
            requests: Some(ExpectedRequests {
                count: length.requests,
                seconds: length.requests * length.each_seconds,
            }),
            grounds: Grounds::of_load(),
            ..RunForecast::exactly(phases.to_vec())
        };
        Some((scenario.number, forecast))
    };
    plan.scenarios.iter().filter_map(one).collect()
}

struct Length {
    seconds: f64,
    requests: f64,
    /// In which the server handles one of them.
    each_seconds: f64,
}

impl Length {
    fn of(serve: &ServeWorkload, service: Option<&Service>) -> Option<Length> {
        let series = |count: u64, pause: f64, each_seconds: f64| {
            let requests = serve.requests.unwrap_or(count) as f64;
            let pause = serve.pause_at(service).unwrap_or(pause);
            Length {
                seconds: requests * (pause + each_seconds),
                requests,
                each_seconds,
            }
        };
        let during = |seconds: f64, rate: f64| Length {
            seconds: WITH_WARM_UP * seconds,
            requests: WITH_WARM_UP * seconds * rate,
            each_seconds: ANSWER_SECONDS,
        };
        // Each client waits for its answer, so that it is the server that decides.
        let rate_of_clients = f64::from(serve.clients) / ANSWER_SECONDS;
        let at = |rate: f64| match serve.requests {
            Some(requests) => during(requests as f64 / rate, rate),
            None => during(serve.seconds, rate),
        };
        Some(match serve.load {
            LoadShape::Warm | LoadShape::RealTime => series(25, 5.0, ANSWER_SECONDS),
            LoadShape::Cold => series(
                10,
                model::serving::COLD_PAUSE_SECONDS,
                SETUP_SECONDS + ANSWER_SECONDS,
            ),
            LoadShape::Clients => at(rate_of_clients),
            LoadShape::Rate | LoadShape::Poisson => at(serve.rate?),
            // It begins low and ends where the server is full.
            LoadShape::Search => during(TRIALS * serve.seconds, rate_of_clients),
            LoadShape::Trace => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use plan::ReadOptions;

    use super::*;
    use crate::forecast;

    fn forecast_of(load: &str) -> forecast::Forecast {
        let text = format!(
            "[study]\nname = \"s\"\nrepetitions = 1\n[workload]\nkind = \"serve\"\nmodel = \"lenet5\"\n{load}\n[environments.demand]\nserverless = {{ memory = 1024 }}\nprice = \"aws/lambda\""
        );
        let options = ReadOptions {
            folder: None,
            read: &|_| Err(std::io::ErrorKind::NotFound.into()),
            requests_in: &|_| Err("is not there".to_owned()),
            scale: None,
            catalog: cost::catalog(),
            today: None,
        };
        let study = plan::read_study(&text, &options).unwrap();
        let plan = plan::plan(&study);
        let expected = from_loads(&study, &plan);
        let spread = forecast::spread(&expected, &plan.scenarios);
        forecast::add_up(&study, &plan, &plan.runs, expected, spread)
    }

    #[test]
    fn pauses_are_waited_for_and_not_paid() {
        let warm = forecast_of("load = \"warm\"");
        assert!(warm.seconds.value > 120.0, "{:?}", warm.seconds);
        let asked = warm.scenarios[&1].requests.unwrap();
        assert_eq!((asked.count, asked.seconds), (25.0, 2.5));
        // 2.5 s of one gigabyte, and 25 requests.
        let paid = warm.money.unwrap().value.amount.to_string();
        let by_hand = 2.5 * 0.000_016_666_7 + 25.0 * 0.2e-6;
        assert!(
            (paid.parse::<f64>().unwrap() - by_hand).abs() < 1e-7,
            "{paid}"
        );
    }

    #[test]
    fn the_same_requests_cost_the_same_however_fast_they_come() {
        let money = |load: &str| forecast_of(load).money.unwrap().value.amount;
        let slow = money("load = \"rate\"\nrate = 1\nrequests = 100");
        let fast = money("load = \"rate\"\nrate = 10\nrequests = 100");
        assert_eq!(slow, fast);
        assert!(money("load = \"rate\"\nrate = 10\nrequests = 200") > fast);
    }
}
