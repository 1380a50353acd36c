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

/// For an interval, before a line without one is printed.
const WAITED_SECONDS: f64 = 5.0;

/// What a line has room for.
struct Shown {
    interval_of_left: bool,
    interval_of_money: bool,
    interval_of_total: bool,
    cost_so_far: bool,
}

const WHOLE: &Shown = &Shown {
    interval_of_left: true,
    interval_of_money: true,
    interval_of_total: true,
    cost_so_far: true,
};
const SHORTEST: &Shown = &Shown {
    interval_of_left: false,
    interval_of_money: false,
    interval_of_total: false,
    cost_so_far: false,
};
const SHORTER: [&Shown; 5] = [
    WHOLE,
    &Shown {
        interval_of_left: false,
        ..*WHOLE
    },
    &Shown {
        interval_of_left: false,
        interval_of_money: false,
        ..*WHOLE
    },
    &Shown {
        cost_so_far: true,
        ..*SHORTEST
    },
    SHORTEST,
];

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

    /// For the last line of a terminal: of what does not fit, intervals go first.
    pub(super) fn line(&self, forecast: &Forecast, room: usize) -> String {
        let lines = SHORTER.iter().map(|shown| line(forecast, shown));
        let mut shorter = lines.skip_while(|line| line.chars().count() > room);
        shorter.next().unwrap_or_else(|| line(forecast, SHORTEST))
    }

    /// Where there is no terminal. A first line without an interval says little, and the next one
    /// comes late.
    pub(super) fn has_to_print(&self, forecast: &Forecast) -> bool {
        let times = forecast.times.as_ref();
        let has_interval = times.is_some_and(|times| times.left_seconds.interval.is_some());
        self.is_json || has_interval || (times.is_some() && forecast.seconds >= WAITED_SECONDS)
    }

    pub(super) fn print(&self, forecast: &Forecast) {
        match self.is_json {
            true => self
                .printer
                .data(&with_time(as_json("progress", forecast)).to_string()),
            false => self
                .printer
                .talk(&format!("bancada: {}", line(forecast, WHOLE))),
        }
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
                total_words(known, WHOLE).unwrap_or_default().trim_start_matches("total ")
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
            Unit::Epochs => epoch_words(position),
            Unit::Steps => format!("step {}", count(position.done)),
        },
    }
}

/// The number of an epoch that goes on, or of those that are over.
fn epoch_words(position: &Position) -> String {
    let over = position.done.floor();
    match position.done > over || position.ahead > 0.0 || over == 0.0 {
        true => format!("epoch {}", count(over + 1.0)),
        false if over == 1.0 => "1 epoch done".to_owned(),
        false => format!("{} epochs done", count(over)),
    }
}

/// As it was printed: whole numbers stay whole.
fn count(value: f64) -> String {
    match value.fract() == 0.0 {
        true => report::format::count(value as usize),
        false => report::format::whole(value),
    }
}

fn line(forecast: &Forecast, shown: &Shown) -> String {
    let parts = [
        Some(position_words(forecast)),
        left_words(forecast, shown),
        cost_words(forecast).filter(|_| shown.cost_so_far),
        total_words(forecast, shown),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(" · ")
}

fn left_words(forecast: &Forecast, shown: &Shown) -> Option<String> {
    let unknown = |position: &Position| match (position.total, position.unit) {
        (None, Unit::Epochs) => "end unknown: --epochs N gives it",
        (None, Unit::Steps) => "end unknown: --steps N gives it",
        (Some(_), _) => "for this counter; --epochs N gives how often it is counted",
    };
    let position = forecast.position.as_ref()?;
    let Some(times) = &forecast.times else {
        return (!forecast.is_of_run()).then(|| unknown(position).to_owned());
    };
    let left = estimate_words(&times.left_seconds, shown.interval_of_left);
    Some(match forecast.is_of_run() {
        true => format!("{left} left"),
        false => format!("{left} left {}", unknown(position)),
    })
}

fn cost_words(forecast: &Forecast) -> Option<String> {
    let cost = forecast.cost.as_ref()?;
    Some(format!("{} so far", amount(&cost.so_far)))
}

fn total_words(forecast: &Forecast, shown: &Shown) -> Option<String> {
    let times = forecast.times.as_ref().filter(|_| forecast.is_of_run())?;
    let money = forecast.cost.as_ref().and_then(|cost| cost.total.as_ref());
    let money = money.map(|total| {
        let words = money_words(total, shown.interval_of_money);
        format!(", {words}")
    });
    let without_ends = match forecast.basis() {
        Some(Basis::StepsOfEpochs) => " without the ends of epochs",
        _ => "",
    };
    let total = estimate_words(&times.total_seconds, shown.interval_of_total);
    Some(format!(
        "total {total}{without_ends}{}",
        money.unwrap_or_default()
    ))
}

/// `16 min 02 s [15 min 40 s, 16 min 31 s]`.
fn estimate_words(estimate: &Estimate, has_interval: bool) -> String {
    let value = duration(estimate.value);
    match estimate.interval {
        Some(_) if !has_interval => value,
        Some(ends) => format!("{value} {}", interval(ends.low, ends.high, duration)),
        None => format!("about {value}"),
    }
}

fn money_words(total: &TotalCost, has_interval: bool) -> String {
    let value = amount(&total.value);
    match &total.interval {
        Some(_) if !has_interval => value,
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

#[cfg(test)]
mod tests {
    use predict::progress::{Given, OwnPatterns};

    use super::super::forecast::Forecaster;
    use super::super::streams::Source;
    use super::*;

    /// What is known of lines that come every tenth of a second.
    fn forecast(price: Option<&str>, lines: impl Iterator<Item = String>) -> Forecast {
        let price = price.map(|text| workbench::price_as_typed(text, &|_: &str| ()).unwrap());
        let mut forecaster = Forecaster::new(Given::default(), OwnPatterns::default(), price);
        let mut seconds = 0.0;
        for line in lines {
            seconds += 0.1;
            forecaster.read(Source::Output, format!("{line}\n").as_bytes(), seconds);
        }
        forecaster.forecast(seconds)
    }

    fn view() -> View {
        let printer = Printer {
            talk_coloured: false,
            data_coloured: false,
            talk_is_terminal: true,
        };
        View::new(false, printer)
    }

    fn epochs(price: Option<&str>) -> Forecast {
        let lines = (1..=8).flat_map(|epoch| (1..=10).map(move |step| (epoch, step)));
        forecast(
            price,
            lines.map(|(epoch, step)| format!("Epoch {epoch}/20 step {step}/10")),
        )
    }

    #[test]
    fn of_a_narrow_terminal_intervals_go_first_and_totals_last() {
        let forecast = epochs(Some("0.5 USD/h"));
        let check = |room: usize, intervals: usize, with: &[&str], without: &[&str]| {
            let line = view().line(&forecast, room);
            assert!(line.chars().count() <= room, "{line}");
            assert_eq!(line.matches('[').count(), intervals, "{line}");
            assert!(with.iter().all(|part| line.contains(part)), "{line}");
            assert!(!without.iter().any(|part| line.contains(part)), "{line}");
        };
        let all = ["40 % done", " left", " so far", "total ", ", US$ "];
        check(200, 3, &all, &[]);
        check(120, 2, &all, &[]);
        check(79, 0, &all, &[]);
        check(60, 0, &["total ", ", US$ "], &["so far"]);
    }

    #[test]
    fn whole_numbers_are_printed_whole() {
        let check = |line: &str, count: u32, expected: &str| {
            let lines = (1..=count).map(|at| line.replace('#', &at.to_string()));
            let words = position_words(&forecast(None, lines));
            assert_eq!(words, expected);
        };
        check("Epoch # loss 0.5", 6, "6 epochs done");
        check("Epoch # loss 0.5", 1, "1 epoch done");
        check("Epoch #", 6, "epoch 6");
        check("step #/200", 5, "5 of 200");
        check("step #", 1200, "step 1200");
    }

    #[test]
    fn the_first_line_waits_for_an_interval() {
        let lines = |count: u32, total: u32| {
            forecast(
                None,
                (1..=count).map(move |epoch| format!("Epoch {epoch}/{total} loss 1")),
            )
        };
        assert!(!view().has_to_print(&lines(3, 100)));
        assert!(view().has_to_print(&lines(20, 100)));
        // For a while.
        let mut late = lines(3, 100);
        late.seconds = WAITED_SECONDS;
        assert!(view().has_to_print(&late));
        assert!(!view().has_to_print(&forecast(None, std::iter::empty())));
    }
}
