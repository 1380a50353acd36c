//! Times on machines that were probed, in `price compare`.

use std::path::{Path, PathBuf};

use cost::{Comparison, Repriced};
use model::{Money, RunRecord, Status};
use report::format;
use serde_json::{Value, json};
use workbench::{Bound, Carried, CarriedScenario};

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

/// The runs at a machine that was probed.
pub(super) struct Elsewhere {
    pub(super) carried: Carried,
    /// None where no time is predicted.
    whole: Option<Whole>,
}

/// All runs there, and at the low and high ends of the intervals of their steps.
struct Whole {
    runs: usize,
    seconds: [f64; 3],
    money: [Money; 3],
}

const BOUNDS: [Bound; 3] = [Bound::Middle, Bound::Low, Bound::High];

impl Elsewhere {
    /// Bills at the time that was predicted for the machine.
    pub(super) fn new(
        carried: Carried,
        comparison: &mut Comparison,
        records: &[RunRecord],
        superseded: &[RunRecord],
    ) -> Self {
        let mut machines = comparison.machines.iter_mut();
        let own = machines.find(|machine| machine.price.machine == carried.machine);
        let own = own.filter(|_| carried.outcome.is_ok());
        let whole = own.and_then(|own| {
            let prices = [own.price.clone()];
            let there = BOUNDS.map(|bound| carried.records(records, bound));
            let mut billed = Vec::new();
            for records in &there {
                billed.push(cost::compare(records, superseded, &prices).machines.pop()?);
            }
            let [middle, low, high] = <[Repriced; 3]>::try_from(billed).ok()?;
            let money = [middle.total, low.total, high.total];
            *own = middle;
            let ok = |record: &&RunRecord| record.outcome.status == Status::Ok;
            let seconds =
                |records: &Vec<RunRecord>| records.iter().filter(ok).map(|r| r.seconds).sum();
            Some(Whole {
                runs: records.iter().filter(ok).count(),
                seconds: there.each_ref().map(seconds),
                money,
            })
        });
        Elsewhere { carried, whole }
    }
}

impl Whole {
    fn words(&self) -> String {
        let [seconds, low_seconds, high_seconds] = self.seconds.map(format::duration);
        let [money, low, high] = self.money.each_ref().map(format::amount);
        format!(
            "  {} there: {seconds} [{low_seconds}, {high_seconds}], {money} [{low}, {high}]\n",
            format::counted(self.runs, "run", "runs")
        )
    }

    fn json(&self) -> Value {
        let [seconds, low, high] = self.seconds;
        let [money, lowest, highest] = &self.money;
        json!({
            "runs": self.runs,
            "seconds": { "value": seconds, "low": low, "high": high },
            "money": { "value": money, "low": lowest, "high": highest },
        })
    }
}

/// Which times of so many machines are predicted, from what, and which are only multiplied.
pub(super) fn time_words(elsewhere: &[Elsewhere], machines: usize) -> String {
    let mut text = String::new();
    let mut predicted = 0;
    for Elsewhere { carried, whole } in elsewhere {
        match &carried.outcome {
            Ok(scenarios) => {
                predicted += 1;
                text += &predicted_words(carried, scenarios);
                text += &whole.as_ref().map(Whole::words).unwrap_or_default();
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

pub(super) fn carried_json(elsewhere: &Elsewhere) -> Value {
    let Elsewhere { carried, whole } = elsewhere;
    match &carried.outcome {
        Ok(scenarios) => {
            let steps = scenarios
                .iter()
                .map(|scenario| json!({ "scenario": scenario.number, "step": scenario.transfer }));
            json!({
                "probed": carried.probed,
                "scenarios": steps.collect::<Vec<Value>>(),
                "all": whole.as_ref().map(Whole::json),
            })
        }
        Err(why) => json!({ "probed": carried.probed, "refused": why }),
    }
}
