//! Metrics that decide which runs are made (`until`, a goal): one that no run of the study will have
//! would be paid for in vain, so a mistake is reported before anything runs.

use diagnostics::{Diagnostic, Span};
use model::run::metric::{self, Runs, Source};
use model::{Study, Until, Workload};

/// The metric that a word means in this study. `others` are words that may be used, too.
pub(crate) fn metric_named(
    study: &Study,
    word: &str,
    span: Span,
    others: &[&str],
) -> Result<String, Box<Diagnostic>> {
    let own = own_metrics(study);
    if own.contains(&word) {
        return Ok(word.to_owned());
    }
    let Some(definition) = metric::meant(word) else {
        let known = ["time", "cost", "accuracy"].into_iter();
        let known = known.chain(others.iter().copied()).chain(own);
        let wrong = Diagnostic::unknown("metric", word, span, known);
        return Err(Box::new(match study.workload {
            Workload::Command(_) => wrong.note("a metric that the command reports must be named in `metrics` of [study], or by a pattern of [[workload.log]]"),
            _ => wrong,
        }));
    };
    match why_missing(study, definition) {
        None => Ok(definition.name.to_owned()),
        Some(why) => Err(Box::new(Diagnostic::at(span, why.message).label(why.label))),
    }
}

/// `until` is asked of a metric of every run; it stands at the beginning of its text.
pub fn check_until(until: &Until, study: &Study) -> Result<(), Box<Diagnostic>> {
    match until.metric.as_deref() {
        None | Some("time") => Ok(()),
        Some(word) => metric_named(study, word, 0..word.len(), &[]).map(drop),
    }
}

/// That a command reports, as far as the study names them.
fn own_metrics(study: &Study) -> Vec<&str> {
    let Workload::Command(command) = &study.workload else {
        return Vec::new();
    };
    let logged = command.log.iter().filter_map(|log| log.name.as_ref());
    let asked = study.metrics.iter();
    asked.chain(logged).map(String::as_str).collect()
}

struct Missing {
    message: String,
    label: &'static str,
}

/// Why no run of the study will have a metric of ours.
fn why_missing(study: &Study, metric: &metric::Definition) -> Option<Missing> {
    let name = metric.name;
    let only = |whose: &str, label| {
        let message = format!("only runs that {whose} have the metric `{name}`");
        Some(Missing { message, label })
    };
    match (&study.workload, metric.runs) {
        (Workload::Train(_), Runs::Serving) => return only("serve", "this study trains"),
        (Workload::Serve(_), Runs::Training) => return only("train", "this study serves"),
        // A command may report anything but what its requests were billed.
        (Workload::Command(_), Runs::Serving) if metric.source == Source::Bill => {
            return only("serve", "this study runs a command");
        }
        _ => {}
    }
    let is_free = study.environments.iter().all(|e| e.price.is_none());
    (metric.source == Source::Bill && is_free).then(|| Missing {
        message: format!(
            "no environment of this study has a price, so no run has the metric `{name}`"
        ),
        label: "give [environments.NAME] a `price`",
    })
}
