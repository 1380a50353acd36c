//! A forecast in words, or as JSON.

use std::process::ExitStatus;

use model::Money;
use predict::progress::eta::{Basis, Estimate};
use predict::progress::{Position, Unit};
use report::format::{amount, duration, interval, percent};
use serde_json::{Value, json};

use super::exit_code;
use super::forecast::{Cost, Forecast, TotalCost};
use crate::printer::Printer;
use crate::progress::with_time;

pub(super) struct View {
    is_json: bool,
    printer: Printer,
}

impl View {
    pub(super) fn new(is_json: bool, printer: Printer) -> Self {
        View { is_json, printer }
    }

    pub(super) fn is_json(&self) -> bool {
        self.is_json
    }

    /// For the last line of a terminal.
    pub(super) fn line(&self, forecast: &Forecast) -> String {
        let parts = [
            Some(position_words(forecast)),
            left_words(forecast),
            cost_words(forecast),
            total_words(forecast),
        ];
        parts
            .into_iter()
            .flatten()
            .collect::<Vec<String>>()
            .join(" · ")
    }

    /// Where there is no terminal. False if there is nothing to print yet.
    pub(super) fn print(&self, forecast: &Forecast) -> bool {
        if self.is_json {
            self.printer
                .data(&with_time(as_json("progress", forecast)).to_string());
            return true;
        }
        if forecast.times.is_none() {
            return false;
        }
        self.printer
            .talk(&format!("bancada: {}", self.line(forecast)));
        true
    }

    pub(super) fn summary(
        &self,
        seconds: f64,
        ended: ExitStatus,
        known: Option<&Forecast>,
        last: &Forecast,
    ) {
        if self.is_json {
            let mut line = as_json("end", known.unwrap_or(last));
            if let Some(fields) = line.as_object_mut() {
                fields.insert("ran_seconds".to_owned(), json!(seconds));
                fields.insert("exit_code".to_owned(), json!(exit_code(ended)));
                fields.insert("stopped".to_owned(), json!(known.is_some()));
            }
            return self.printer.data(&with_time(line).to_string());
        }
        let cost = last
            .cost
            .as_ref()
            .map(|cost| format!(", {}", amount(&cost.so_far)));
        let spent = format!("{}{}", duration(seconds), cost.unwrap_or_default());
        self.printer.talk(&match known {
            Some(known) => format!(
                "bancada: stopped after {spent}, {}: the whole run takes {}.",
                position_words(known),
                total_words(known).unwrap_or_default().trim_start_matches("total ")
            ),
            None if !ended.success() => format!("bancada: exit code {} after {spent}.", exit_code(ended)),
            None if last.position.is_none() => {
                format!("bancada: done in {spent}. No progress bar or counter was recognised in the output.")
            }
            None => format!("bancada: done in {spent}."),
        });
    }
}

fn position_words(forecast: &Forecast) -> String {
    let Some(position) = &forecast.position else {
        return format!("{}, no progress recognised yet", duration(forecast.seconds));
    };
    match position.total {
        Some(total) if forecast.is_of_run() => format!("{} done", percent(position.done / total)),
        Some(total) => format!("{} of {}", count(position.done), count(total)),
        None => match position.unit {
            Unit::Epochs => format!("epoch {}", count(position.done.floor() + 1.0)),
            Unit::Steps => format!("step {}", count(position.done)),
        },
    }
}

fn count(value: f64) -> String {
    report::format::whole(value)
}

fn left_words(forecast: &Forecast) -> Option<String> {
    let unknown = |position: &Position| match (position.total, position.unit) {
        (None, Unit::Epochs) => "end unknown: --epochs N gives it",
        (None, Unit::Steps) => "end unknown: --steps N gives it",
        (Some(_), _) => "for this counter; --epochs N gives how often it is counted",
    };
    let position = forecast.position.as_ref()?;
    let Some(times) = &forecast.times else {
        return (!forecast.is_of_run()).then(|| unknown(position).to_owned());
    };
    let left = estimate_words(&times.left_seconds);
    Some(match forecast.is_of_run() {
        true => format!("{left} left"),
        false => format!("{left} left {}", unknown(position)),
    })
}

fn cost_words(forecast: &Forecast) -> Option<String> {
    let cost = forecast.cost.as_ref()?;
    Some(format!("{} so far", amount(&cost.so_far)))
}

fn total_words(forecast: &Forecast) -> Option<String> {
    let times = forecast.times.as_ref().filter(|_| forecast.is_of_run())?;
    let money = forecast.cost.as_ref().and_then(|cost| cost.total.as_ref());
    let money = money.map(|total| format!(", {}", money_words(total)));
    let without_ends = match forecast.basis() {
        Some(Basis::StepsOfEpochs) => " without the ends of epochs",
        _ => "",
    };
    let total = estimate_words(&times.total_seconds);
    Some(format!(
        "total {total}{without_ends}{}",
        money.unwrap_or_default()
    ))
}

/// `16 min 02 s [15 min 40 s, 16 min 31 s]`.
fn estimate_words(estimate: &Estimate) -> String {
    let value = duration(estimate.value);
    match estimate.interval {
        Some(ends) => format!("{value} {}", interval(ends.low, ends.high, duration)),
        None => format!("about {value}"),
    }
}

fn money_words(total: &TotalCost) -> String {
    let value = amount(&total.value);
    match &total.interval {
        Some([low, high]) => format!("{value} [{}, {}]", amount(low), amount(high)),
        None => format!("about {value}"),
    }
}

fn as_json(event: &str, forecast: &Forecast) -> Value {
    let money = |money: &Money| json!(money);
    let cost = forecast.cost.as_ref().map(|Cost { so_far, total }| {
        let total = total.as_ref().map(|total| {
            json!({ "value": money(&total.value), "interval": total.interval.as_ref().map(|ends| ends.each_ref().map(money)) })
        });
        json!({ "so_far": money(so_far), "total": total })
    });
    json!({
        "event": event,
        "seconds": forecast.seconds,
        "position": forecast.position,
        "loss": forecast.loss,
        "left_seconds": forecast.times.as_ref().map(|times| &times.left_seconds),
        "total_seconds": forecast.times.as_ref().filter(|_| forecast.is_of_run()).map(|times| &times.total_seconds),
        "basis": forecast.basis(),
        "cost": cost,
    })
}
