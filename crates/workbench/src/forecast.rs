//! The forecast, from what is known already or from a pilot.

use std::collections::BTreeMap;

use model::{Asked, Plan, RunId, RunRecord, Scenario, Stop, Study, Workload};
use report::format;
use runner::forecast::{self, Assumption, MoneySpread};
use runner::{
    BadPilot, Forecast, OrderBuilder, Pilot, PilotOptions, RunForecast, RunnerError, ScenarioOrder,
};

use crate::Tell;
use crate::error::{Error, ErrorKind};
use crate::here::Here;
use crate::lacks::Lacks;
use crate::open::Opened;
use crate::places::Places;

pub struct Ask<'a> {
    pub opened: &'a Opened,
    pub earlier: &'a [RunRecord],
    pub due: &'a [RunId],
    pub pilot: bool,
    pub here: &'a Here,
    pub places: &'a Places,
    pub builder: &'a OrderBuilder<'a>,
    pub stop: &'a Stop,
    /// Called before each pilot run.
    pub on_pilot: &'a dyn Fn(&Scenario),
    /// Of the scenarios that are due, where they were built already.
    pub orders: Option<&'a BTreeMap<u32, ScenarioOrder>>,
}

impl Ask<'_> {
    /// Whether there is a machine for it now.
    fn has_place(&self, scenario: &Scenario) -> bool {
        let environment = plan::resolve(&self.opened.study, scenario).environment;
        self.places.of_environment(&environment.name).is_some()
    }
}

/// `None` where nothing is known and no pilot may be run.
pub fn forecast(ask: &Ask<'_>, tell: Tell<'_>) -> Result<Option<Forecast>, Error> {
    let Opened { study, plan, .. } = ask.opened;
    let known = forecast::from_records(ask.earlier);
    let all_known = ask.due.iter().all(|run| known.contains_key(&run.scenario));
    let can_pilot =
        ask.pilot && matches!(study.workload, Workload::Train(_)) && !ask.due.is_empty();
    if all_known || !can_pilot {
        return Ok(forecast_without_pilot(study, plan, ask.due, ask.earlier));
    }
    let Pilot {
        mut expected,
        tried,
        ended_badly,
    } = pilot(ask)?;
    for line in failed_pilots(&ended_badly) {
        tell(&line);
    }
    expected.extend(known);
    if expected.is_empty() {
        return Ok(None);
    }
    forecast::fill_unknown(&mut expected, &plan.scenarios);
    let runs = if tried == 1 { "run" } else { "runs" };
    let expected = Expected {
        scenarios: expected,
        method: format!("from {tried} short pilot {runs}"),
    };
    Ok(expected.add_up(study, plan, ask.due))
}

/// From what is known already, in no time. `None` where nothing is.
pub fn forecast_without_pilot(
    study: &Study,
    plan: &Plan,
    due: &[RunId],
    earlier: &[RunRecord],
) -> Option<Forecast> {
    Expected::of_known(study, plan, due, earlier)?.add_up(study, plan, due)
}

/// Runs as they are expected, and from what.
struct Expected {
    scenarios: BTreeMap<u32, RunForecast>,
    method: String,
}

impl Expected {
    fn of_known(study: &Study, plan: &Plan, due: &[RunId], earlier: &[RunRecord]) -> Option<Self> {
        let mut known = forecast::from_records(earlier);
        let is_known = |run: &RunId| known.contains_key(&run.scenario);
        if due.iter().all(is_known) {
            let method = from_earlier(earlier);
            return Some(Expected {
                scenarios: known,
                method,
            });
        }
        if matches!(study.workload, Workload::Serve(_)) {
            let mut scenarios = runner::from_loads(study, plan);
            if scenarios.is_empty() && known.is_empty() {
                return None;
            }
            scenarios.extend(known);
            forecast::fill_unknown(&mut scenarios, &plan.scenarios);
            let method = "from the length of the loads".to_owned();
            return Some(Expected { scenarios, method });
        }
        if known.is_empty() {
            return None;
        }
        forecast::fill_unknown(&mut known, &plan.scenarios);
        let mut method = from_earlier(earlier);
        if !due.iter().any(|run| known.contains_key(&run.scenario)) {
            let due = runner::scenarios_of(plan, due);
            forecast::fill_with_usual(&mut known, &due);
            method += " of other scenarios";
        }
        Some(Expected {
            scenarios: known,
            method,
        })
    }

    fn add_up(self, study: &Study, plan: &Plan, due: &[RunId]) -> Option<Forecast> {
        let spread = forecast::spread(&self.scenarios, &plan.scenarios);
        let mut forecast = forecast::add_up(study, plan, due, self.scenarios, spread);
        forecast.method = self.method + &assumed(forecast.assumption());
        let is_any = forecast.unknown_runs < forecast.runs || forecast.runs == 0;
        is_any.then_some(forecast)
    }
}

/// Said where an interval rests on more than was measured.
fn assumed(assumption: Option<Assumption>) -> String {
    match assumption {
        None => String::new(),
        Some(Assumption::RunsVary(sd)) => format!(
            " (no run was repeated yet: runs are assumed to vary by {})",
            format::percent(sd)
        ),
        Some(Assumption::PilotsErr(sd)) => {
            format!(" (a pilot is assumed to be off by {})", format::percent(sd))
        }
    }
}

fn from_earlier(records: &[RunRecord]) -> String {
    let runs = records.iter().filter(|r| forecast::tells(r)).count();
    format!(
        "from {runs} earlier run{}",
        if runs == 1 { "" } else { "s" }
    )
}

/// Worth knowing before hours are spent. Pilots that ended for the same reason share a line.
fn failed_pilots(bad: &[BadPilot]) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<&BadPilot>)> = Vec::new();
    for pilot in bad {
        let outcome = &pilot.outcome;
        let cause = outcome.in_a_line();
        let reason = format!(
            "ended as {}{}",
            outcome.status,
            cause.map(|cause| format!(" ({cause})")).unwrap_or_default()
        );
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, pilots)) => pilots.push(pilot),
            None => reasons.push((reason, vec![pilot])),
        }
    }
    let lines = reasons.iter().map(|(reason, pilots)| {
        let names: Vec<String> = pilots.iter().map(|pilot| scenario_words(pilot)).collect();
        let (pilots, times) = match pilots.len() {
            1 => ("the pilot of", "its time is"),
            _ => ("the pilots of", "their times are"),
        };
        let names = format::listed(&names, 3);
        format!("  ! {pilots} {names} {reason}: {times} not known")
    });
    lines.collect()
}

fn scenario_words(pilot: &BadPilot) -> String {
    let label = pilot.scenario.label();
    match pilot.scenario.levels_label() {
        none if none.is_empty() => label,
        levels => format!("{label} ({levels})"),
    }
}

fn pilot(ask: &Ask<'_>) -> Result<Pilot, Error> {
    let opened = ask.opened;
    // What is done already needs no pilot, nor what it would take to run it.
    let due = runner::scenarios_of(&opened.plan, ask.due);
    let due: Vec<&Scenario> = due
        .into_iter()
        .filter(|scenario| ask.has_place(scenario))
        .collect();
    let lacks = Lacks::of(
        &opened.study,
        due.iter().copied(),
        &opened.folder,
        &ask.here.home,
    );
    lacks.refuse(&opened.path)?;
    let scenarios: Vec<Scenario> = due.into_iter().cloned().collect();
    let result = try_scenarios(ask, &scenarios);
    if ask.stop.asked() != Asked::Nothing {
        return Err(Error::new(
            ErrorKind::Interrupted,
            "interrupted before the first run; nothing was changed",
        ));
    }
    result.map_err(Error::other)
}

fn try_scenarios(ask: &Ask<'_>, scenarios: &[Scenario]) -> Result<Pilot, RunnerError> {
    let built;
    let orders = match ask.orders {
        Some(orders) => orders,
        None => {
            built = ask.builder.of_runs(&ask.opened.plan, ask.due)?;
            &built
        }
    };
    let options = PilotOptions {
        orders,
        place_of: &|environment| ask.places.of_environment(environment),
        stop: ask.stop,
        folder: ask.here.scratch.path(),
    };
    runner::pilot(scenarios, &options, &mut |scenario| {
        (ask.on_pilot)(scenario)
    })
}

/// The end of a sentence on what the forecast leaves out.
pub fn without(forecast: &Forecast) -> String {
    match forecast.unknown_runs {
        0 => String::new(),
        1 => ", without 1 run of which nothing is known".to_owned(),
        runs => format!(", without {runs} runs of which nothing is known"),
    }
}

/// `1 min 50 s [1 min 40 s, 2 min 5 s]`.
pub fn time_words(seconds: runner::Spread) -> String {
    format!(
        "{} [{}, {}]",
        format::duration(seconds.value),
        format::duration(seconds.low),
        format::duration(seconds.high)
    )
}

pub fn money_words(money: MoneySpread) -> String {
    format!("{} [{}, {}]", money.value, money.low, money.high)
}

#[cfg(test)]
mod tests {
    use model::study::FactorLevel;
    use model::{Outcome, Scenario, Status};

    use super::*;

    fn bad(number: u32, detail: &str) -> BadPilot {
        BadPilot {
            scenario: Scenario {
                number,
                levels: vec![FactorLevel {
                    factor: "batch".into(),
                    level: i64::from(number).into(),
                }],
            },
            outcome: Outcome {
                status: Status::Failed,
                detail: Some(detail.to_owned()),
                ..Outcome::ok()
            },
        }
    }

    #[test]
    fn what_is_assumed_is_said_and_nothing_else() {
        assert_eq!(assumed(None), "");
        let told = assumed(Some(Assumption::RunsVary(0.4)));
        assert_eq!(
            told,
            " (no run was repeated yet: runs are assumed to vary by 40 %)"
        );
        assert!(assumed(Some(Assumption::PilotsErr(0.4))).contains("a pilot is assumed"));
    }

    #[test]
    fn pilots_that_failed_alike_share_a_line() {
        let all = [bad(1, "no room"), bad(2, "no luck"), bad(3, "no room")];
        let lines = failed_pilots(&all);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("  ! the pilots of C1 (") && lines[0].contains("C3 ("));
        assert!(lines[0].ends_with("ended as failed (no room): their times are not known"));
        assert!(
            lines[1].contains("the pilot of C2") && lines[1].ends_with("its time is not known")
        );
    }
}
