//! `min cost where time < 2h`: a goal as people write it.

use diagnostics::{Diagnostic, Span};
use model::goal::{Goal, GoalLimit};
use model::run::metric::{self, Better};
use model::{Study, Workload};
use rust_decimal::prelude::ToPrimitive as _;

use crate::values;

const EXAMPLE: &str =
    "such as \"min cost where time < 2h\", \"max accuracy where cost < 5 USD\" or \"min time\"";
const PER_ANSWER: &str = "cost per answer";

/// The error is at its place in the text.
pub fn read_goal(text: &str, study: &Study) -> Result<Goal, Box<Diagnostic>> {
    let reader = Reader { text, study };
    let body = text.find(" where ").unwrap_or(text.len());
    let head = reader.trimmed(0..body);
    let (word, rest) = head_and_rest(&text[head.clone()]);
    let is_max = match word {
        "min" => false,
        "max" => true,
        _ => {
            let wrong = Diagnostic::at(
                head.start..head.start + word.len(),
                "a goal begins with `min` or `max`",
            );
            return Err(Box::new(wrong.note(EXAMPLE)));
        }
    };
    let objective = reader.trimmed(head.end - rest.len()..head.end);
    let metric = reader.metric(objective.clone())?;
    let better = match metric.as_str() {
        "time" => Some(Better::Lower),
        name => metric::definition(name).map(|metric| metric.better),
    };
    let (least, most) = (Some(Better::Lower), Some(Better::Higher));
    if (is_max && better == least) || (!is_max && better == most) {
        let (word, other) = if is_max {
            ("highest", "min")
        } else {
            ("lowest", "max")
        };
        let named = &text[objective.clone()];
        let wrong = Diagnostic::at(
            objective.clone(),
            format!("the {word} {named} is not a goal"),
        );
        return Err(Box::new(wrong.label(format!("write `{other} {named}`"))));
    }
    let mut limits = Vec::new();
    let mut at = body + " where ".len();
    while at <= text.len() && body < text.len() {
        let end = text[at..]
            .find(" and ")
            .map_or(text.len(), |found| at + found);
        limits.push(reader.limit(reader.trimmed(at..end))?);
        at = end + " and ".len();
    }
    Ok(Goal {
        text: text.trim().to_owned(),
        is_max,
        metric,
        limits,
    })
}

fn head_and_rest(text: &str) -> (&str, &str) {
    text.split_once(' ').unwrap_or((text, ""))
}

struct Reader<'a> {
    text: &'a str,
    study: &'a Study,
}

impl Reader<'_> {
    fn trimmed(&self, span: Span) -> Span {
        let text = &self.text[span.clone()];
        let start = span.start + (text.len() - text.trim_start().len());
        start..start + text.trim().len()
    }

    fn metric(&self, span: Span) -> Result<String, Box<Diagnostic>> {
        let word = &self.text[span.clone()];
        let own = self.own_metrics();
        let known = ["time", "cost", PER_ANSWER, "accuracy"];
        let known: Vec<&str> = known.into_iter().chain(own.iter().copied()).collect();
        match word {
            "" => {
                let wrong = Diagnostic::at(span, "what is to be best is missing");
                Err(Box::new(wrong.note(EXAMPLE)))
            }
            "time" => Ok("time".to_owned()),
            PER_ANSWER => Ok(metric::COST_PER_INFERENCE.to_owned()),
            _ if metric::meant(word).is_some() => {
                Ok(metric::meant(word).map_or(word, |m| m.name).to_owned())
            }
            _ if own.contains(&word) => Ok(word.to_owned()),
            _ => {
                let wrong = Diagnostic::unknown("metric", word, span, known);
                let is_command = matches!(self.study.workload, Workload::Command(_));
                Err(Box::new(match is_command {
                    true => wrong.note("a metric that the command reports must be named in `metrics` of [study], or by a pattern of [[workload.log]]"),
                    false => wrong,
                }))
            }
        }
    }

    /// That a command reports, as far as the study names them: runs that do not report the metric of a
    /// goal count as failed, and a typing error must not be paid for.
    fn own_metrics(&self) -> Vec<&str> {
        let Workload::Command(command) = &self.study.workload else {
            return Vec::new();
        };
        let asked = self.study.metrics.iter();
        let logged = command
            .log
            .iter()
            .filter_map(|pattern| pattern.name.as_ref());
        asked.chain(logged).map(String::as_str).collect()
    }

    fn limit(&self, span: Span) -> Result<GoalLimit, Box<Diagnostic>> {
        let text = &self.text[span.clone()];
        let Some(place) = text.find(['<', '>']) else {
            let wrong = Diagnostic::at(span, "a limit needs `<` or `>`");
            let example = "such as \"where time < 2h and cost < 5 USD\"";
            return Err(Box::new(wrong.note(example)));
        };
        let sign = if text[place + 1..].starts_with('=') {
            2
        } else {
            1
        };
        let metric = self.metric(self.trimmed(span.start..span.start + place))?;
        let value = self.trimmed(span.start + place + sign..span.end);
        Ok(GoalLimit {
            is_upper: text[place..].starts_with('<'),
            value: self.value(&metric, value)?,
            metric,
        })
    }

    fn value(&self, metric: &str, span: Span) -> Result<f64, Box<Diagnostic>> {
        let text = &self.text[span.clone()];
        let wrong = |why: String| Box::new(Diagnostic::at(span.clone(), why));
        let is_seconds = |m: &metric::Definition| m.unit == metric::Unit::Seconds;
        let value = if metric == "time" || metric::definition(metric).is_some_and(is_seconds) {
            values::duration_seconds(text).map_err(wrong)?
        } else if metric::is_of_bills(metric) {
            let money = values::money(text).map_err(wrong)?;
            let own = cost::convert(money, self.study.currency, &self.study.rates);
            let own = own.and_then(|own| own.amount.to_f64());
            own.ok_or_else(|| {
                let currency = self.study.currency;
                wrong(format!(
                    "{text} cannot be converted to {currency}, the study's currency"
                ))
            })?
        } else {
            let number = text.trim_end_matches('%').trim_end();
            let number = number.parse::<f64>();
            number.map_err(|_| wrong(format!("`{text}` is not a number")))?
        };
        match value > 0.0 && value.is_finite() {
            true => Ok(value),
            false => Err(wrong("a limit must be above zero".to_owned())),
        }
    }
}
