//! The forecast, from what is known already or from a pilot.

use std::collections::BTreeMap;

use measure::Asked;
use model::{RunId, RunRecord, Workload};
use report::format;
use runner::forecast::{self, MoneySpread};
use runner::{Forecast, PilotOptions, RunForecast, Surroundings};

use crate::exit::{Exit, Failure};
use crate::locate::Opened;
use crate::printer::Printer;
use crate::signals::STOP;

pub(super) struct Ask<'a> {
    pub(super) opened: &'a Opened,
    pub(super) earlier: &'a [RunRecord],
    pub(super) due: &'a [RunId],
    pub(super) pilot: bool,
    pub(super) surroundings: Surroundings<'a>,
}

/// None where nothing is known and nothing may be tried.
pub(super) fn make(ask: &Ask<'_>, printer: &Printer) -> Result<Option<Forecast>, Failure> {
    let Opened { study, plan, .. } = ask.opened;
    let known = forecast::from_records(ask.earlier);
    let all_known = ask.due.iter().all(|run| known.contains_key(&run.scenario));
    let can_pilot =
        ask.pilot && matches!(study.workload, Workload::Train(_)) && !ask.due.is_empty();
    let (scenarios, method) = match (all_known, can_pilot) {
        (true, _) => (known, from_earlier(ask.earlier.len())),
        (false, true) => {
            let mut tried = 0;
            let mut expected = pilot(ask, &mut tried, printer)?;
            expected.extend(known);
            (expected, format!("from {tried} short pilot runs"))
        }
        (false, false) if known.is_empty() => return Ok(None),
        (false, false) => {
            let mut expected = known;
            forecast::fill_unknown(&mut expected, &plan.scenarios);
            (expected, from_earlier(ask.earlier.len()))
        }
    };
    Ok(Some(forecast::add_up(
        study, plan, ask.due, scenarios, method,
    )))
}

fn from_earlier(runs: usize) -> String {
    format!(
        "from {runs} earlier run{}",
        if runs == 1 { "" } else { "s" }
    )
}

fn pilot(
    ask: &Ask<'_>,
    tried: &mut usize,
    printer: &Printer,
) -> Result<BTreeMap<u32, RunForecast>, Failure> {
    let folder = std::env::temp_dir().join(format!("bancada-pilot-{}", std::process::id()));
    let failed =
        |e: std::io::Error| Failure::trouble(format!("cannot use {}: {e}", folder.display()));
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let options = PilotOptions {
        surroundings: ask.surroundings,
        stop: &STOP,
        folder: &folder,
    };
    let result = runner::pilot(
        &ask.opened.study,
        &ask.opened.plan,
        &options,
        &mut |scenario| {
            *tried += 1;
            if printer.talk_is_terminal {
                eprint!(
                    "\r\x1b[2K  pilot {}  {}",
                    scenario.label(),
                    scenario.levels_label()
                );
            }
        },
    );
    if printer.talk_is_terminal {
        eprint!("\r\x1b[2K");
    }
    // Left-overs of a pilot are of no use; that they cannot be removed is no reason to stop.
    _ = std::fs::remove_dir_all(&folder);
    let expected = result.map_err(Failure::trouble)?;
    if STOP.asked() != Asked::Nothing {
        return Err(Failure::new(
            Exit::Interrupted,
            "interrupted before the first run; nothing was changed",
        ));
    }
    Ok(expected)
}

/// `1 min 50 s [1 min 40 s, 2 min 5 s]`.
pub(super) fn time_words(seconds: runner::Spread) -> String {
    format!(
        "{} [{}, {}]",
        format::duration(seconds.value),
        format::duration(seconds.low),
        format::duration(seconds.high)
    )
}

pub(super) fn money_words(money: MoneySpread) -> String {
    format!("{} [{}, {}]", money.value, money.low, money.high)
}
