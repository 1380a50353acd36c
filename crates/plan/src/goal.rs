//! `min cost where time < 2h`: a goal as people write it.

use diagnostics::{Diagnostic, Span};
use model::Study;
use model::goal::{Goal, GoalLimit};
use model::run::metric::{self, Better};
use rust_decimal::prelude::ToPrimitive as _;

use crate::{asked, values};

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
        match &self.text[span.clone()] {
            "" => {
                let wrong = Diagnostic::at(span, "what is to be best is missing");
                Err(Box::new(wrong.note(EXAMPLE)))
            }
            "time" => Ok("time".to_owned()),
            PER_ANSWER => asked::metric_named(self.study, metric::COST_PER_INFERENCE, span, &[]),
            word => asked::metric_named(self.study, word, span, &[PER_ANSWER]),
        }
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
        } else if metric::definition(metric).is_some_and(|m| m.unit == metric::Unit::Percent) {
            values::percent(text).map_err(wrong)?
        } else {
            let number = text.parse::<f64>();
            number.map_err(|_| wrong(format!("`{text}` is not a number")))?
        };
        match value > 0.0 && value.is_finite() {
            true => Ok(value),
            false => Err(wrong("a limit must be above zero".to_owned())),
        }
    }
}
