//! Times on machines that were probed, in `price compare`.

use std::path::{Path, PathBuf};

use cost::Comparison;
use model::RunRecord;
use report::format;
use serde_json::{Value, json};
use workbench::{Carried, CarriedScenario};

/// Said wherever times are not predicted: people would read a prediction into it.
const SAME_TIME: &str =
    "The same time is assumed on every machine: this compares prices, it does not predict speed.";
const ELSEWHERE: &str = "On every other machine the same time is assumed: that compares prices, it does not predict speed.";
pub(super) const NOT_INCLUDED: &str = "Discounts, disks, traffic, fees, taxes and lost attempts are not included; `bancada show --price` includes them.";
/// Where networks of the study's own are: beside its file, which results do not know.
pub(super) fn study_folder(first: &str) -> PathBuf {
    let path = Path::new(first);
    match path.is_dir() {
        true => path.to_owned(),
        false => path.parent().unwrap_or(Path::new("")).to_owned(),
    }
}

/// Bills at the time that was predicted for a machine.
pub(super) fn use_predicted(
    comparison: &mut Comparison,
    carried: &Carried,
    records: &[RunRecord],
    superseded: &[RunRecord],
) {
    let mut machines = comparison.machines.iter_mut();
    let own = machines.find(|machine| machine.price.machine == carried.machine);
    if let Some(own) = own.filter(|_| carried.outcome.is_ok()) {
        let there = carried.records(records);
        let prices = [own.price.clone()];
        let mut billed = cost::compare(&there, superseded, &prices).machines;
        if let Some(billed) = billed.pop() {
            *own = billed;
        }
    }
}

/// Which times of so many machines are predicted, from what, and which are only multiplied.
pub(super) fn time_words(carried: &[Carried], machines: usize) -> String {
    let mut text = String::new();
    let mut predicted = 0;
    for carried in carried {
        match &carried.outcome {
            Ok(scenarios) => {
                predicted += 1;
                text += &predicted_words(carried, scenarios);
            }
            Err(why) => {
                text += &format!("No time is predicted for {}: {why}.\n", carried.machine);
            }
        }
    }
    match predicted {
        0 => text + SAME_TIME + "\n",
        _ if predicted < machines => text + ELSEWHERE + "\n",
        _ => text,
    }
}

fn predicted_words(carried: &Carried, scenarios: &[CarriedScenario]) -> String {
    let mut text = format!(
        "{}: time predicted from its probe of {}; start, loading and saving are assumed to take as long as here.\n",
        carried.machine, carried.probed
    );
    for scenario in scenarios {
        let transfer = &scenario.transfer;
        text += &format!(
            "  C{}: a step takes {} there, 95 % interval {} to {} ({} the time here{})\n",
            scenario.number,
            format::duration(transfer.seconds),
            format::duration(transfer.low),
            format::duration(transfer.high),
            format::ratio(transfer.slowdown),
            match transfer.by_engine() {
                true => "; only the embedded engine was probed on both",
                false => "",
            },
        );
    }
    text
}

pub(super) fn carried_json(carried: &Carried) -> Value {
    match &carried.outcome {
        Ok(scenarios) => {
            let steps = scenarios
                .iter()
                .map(|scenario| json!({ "scenario": scenario.number, "step": scenario.transfer }));
            json!({ "probed": carried.probed, "scenarios": steps.collect::<Vec<Value>>() })
        }
        Err(why) => json!({ "probed": carried.probed, "refused": why }),
    }
}
