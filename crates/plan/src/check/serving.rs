//! A workload that serves: whether its settings, its stack and its environments go together.

use diagnostics::{Diagnostic, Problems, Span};
use model::{LoadShape, ServePrecision, ServeWorkload, Service};

use crate::placeholder::{Piece, pieces};
use crate::read::{Draft, DraftEnvironment, DraftServe, DraftWorkload};
use crate::serve::{self, COMMAND};

/// The stack that builds a network anew from its layers.
pub(super) const TENSORFLOW: &str = "fastapi-tensorflow";

/// What `{…}` stands for in the command of a server, beside factors.
const PORT: &str = "port";

pub(super) fn check(draft: &Draft, serve: &DraftServe, problems: &Problems) {
    let mut stacks = draft.levels("stack").into_iter();
    let uses_command = stacks.any(|stack| stack.as_text() == Some(COMMAND));
    let has_command = !serve.command.command.is_empty();
    if uses_command && !has_command && !is_open(draft) {
        let missing = Diagnostic::at(serve.span.clone(), "stack = \"command\" needs `command`");
        problems.push(missing.label("add command = [\"python3\", \"server.py\", \"{port}\"]"));
    }
    if has_command && !uses_command {
        let span = serve.command.span.clone();
        let unused = Diagnostic::at(span, "no stack of this study uses `command`");
        problems.push(unused.label("add stack = \"command\", or remove it"));
    }
    check_placeholders(draft, serve, problems);
    check_idle_settings(draft, problems);
}

/// Settings that no load of the study looks at.
fn check_idle_settings(draft: &Draft, problems: &Problems) {
    let loads = loads(draft);
    for (field, users) in USERS {
        let Some(place) = draft.place(field) else {
            continue;
        };
        if !loads.iter().any(|load| users.contains(load)) {
            let words: Vec<&str> = users.iter().map(|load| load.word()).collect();
            let message = format!("`{field}` has no effect with this load");
            let idle = Diagnostic::at(place, message);
            problems.push(idle.label(format!("it is for {}", words.join(", "))));
        }
    }
}

/// Which loads look at a setting; the others are everybody's.
const USERS: &[(&str, &[LoadShape])] = &[
    ("clients", &[LoadShape::Clients]),
    ("rate", &[LoadShape::Rate, LoadShape::Poisson]),
    ("pause", &[LoadShape::Warm, LoadShape::RealTime]),
    ("cold_pause", &[LoadShape::Cold]),
    (
        "duration",
        &[
            LoadShape::Clients,
            LoadShape::Rate,
            LoadShape::Poisson,
            LoadShape::Search,
        ],
    ),
    ("under", &[LoadShape::Search]),
    ("trace", &[LoadShape::Trace]),
];

fn loads(draft: &Draft) -> Vec<LoadShape> {
    let levels = draft.levels("load").into_iter();
    let known: Vec<LoadShape> = levels
        .filter_map(|level| LoadShape::named(level.as_text()?))
        .collect();
    match (draft.factor("load"), draft.value("load")) {
        // A word that is wrong was told already; with it, nothing can be said of the rest.
        (None, Some(_)) if known.is_empty() => LoadShape::ALL.to_vec(),
        (None, None) => vec![serve::defaults().load],
        _ => known,
    }
}

/// Whether models, stacks and factors may be any: what was measured elsewhere needs nothing to be served here.
pub(super) fn is_open(draft: &Draft) -> bool {
    draft.import.is_some() && matches!(draft.workload, Some(DraftWorkload::Serve(_)))
}

/// A server of one's own, one that runs already, and measurements made elsewhere have their model.
pub(super) fn needs_model(draft: &Draft) -> bool {
    if is_open(draft) {
        return false;
    }
    let stacks = draft.levels("stack");
    let all_own = draft.place("stack").is_some()
        && stacks.iter().all(|stack| stack.as_text() == Some(COMMAND));
    let is_elsewhere = |e: &DraftEnvironment| {
        let service = e.service.as_ref().map(|service| &service.value);
        matches!(service, Some(Service::Url(_)))
    };
    let all_elsewhere =
        !draft.environments.is_empty() && draft.environments.iter().all(is_elsewhere);
    !all_own && !all_elsewhere
}

fn check_placeholders(draft: &Draft, serve: &DraftServe, problems: &Problems) {
    let factors = || draft.factors.iter().map(|f| f.name.value.as_str());
    let known = || factors().chain([PORT]);
    let variables = serve.command.env.iter().map(|v| &v.value);
    for text in serve.command.command.iter().chain(variables) {
        for piece in pieces(&text.value, |name| known().any(|k| k == name)) {
            let Piece::Placeholder { name, .. } = piece else {
                continue;
            };
            if !known().any(|k| k == name) {
                let kind = "name in braces";
                problems.push(Diagnostic::unknown(kind, name, text.span.clone(), known()));
            }
        }
    }
}

/// What a scenario that serves lacks or has too much, as a sentence, with the field to show.
pub(super) struct Wrong {
    pub(super) field: &'static str,
    /// What is missing: told better where it is there and wrong.
    pub(super) needs: Option<&'static str>,
    pub(super) message: String,
}

pub(super) fn wrong(workload: &ServeWorkload, service: Option<&Service>) -> Vec<Wrong> {
    let mut found = Vec::new();
    let mut say = |field: &'static str, message: String| {
        let needs = match (field, workload.load) {
            ("load", LoadShape::Rate | LoadShape::Poisson) => Some("rate"),
            ("load", LoadShape::Search) => Some("under"),
            ("load", LoadShape::Trace) => Some("trace"),
            _ => None,
        };
        found.push(Wrong {
            field,
            needs,
            message,
        });
    };
    let word = workload.load.word();
    match workload.load {
        LoadShape::Rate | LoadShape::Poisson if workload.rate.is_none() => {
            say(
                "load",
                format!("load = \"{word}\" needs `rate`: requests per second"),
            );
        }
        LoadShape::Search if workload.under_seconds.is_none() => {
            let message =
                "load = \"search\" needs `under`: the highest p99 latency, such as \"50ms\"";
            say("load", message.to_owned());
        }
        LoadShape::Trace if workload.trace.is_none() => {
            let message =
                "load = \"trace\" needs `trace`: a file with one time in seconds per line";
            say("load", message.to_owned());
        }
        _ => {}
    }
    if workload.precision == ServePrecision::Int8 && workload.stack == TENSORFLOW {
        let message = "precision = \"int8\" produces an ONNX model, which TensorFlow cannot serve";
        say("precision", message.to_owned());
    }
    if let Some(Service::Serverless(serverless)) = service {
        let idle = serverless.idle_seconds;
        let pause = workload.pause_at(service);
        if workload.load == LoadShape::Cold && pause.is_some_and(|pause| pause <= idle) {
            let pause = pause.unwrap_or_default();
            let message = format!(
                "with a pause of {pause} s, cold requests would find a worker that is still running: it ends after {idle} s idle"
            );
            say("cold_pause", message);
        }
        let usual = pause.unwrap_or(SERIES_PAUSE_SECONDS);
        let is_warm = matches!(workload.load, LoadShape::Warm | LoadShape::RealTime);
        if is_warm && usual >= idle {
            let message = format!(
                "with a pause of {usual} s, {word} requests would find no worker: it ends after {idle} s idle"
            );
            say("pause", message);
        }
    }
    found
}

/// Of the protocols `warm` and `real-time` (study B of docs/studies.md).
const SERIES_PAUSE_SECONDS: f64 = 5.0;

/// A service without a workload that asks it.
pub(super) fn check_services(draft: &Draft, serves: bool, problems: &Problems) {
    if serves {
        return;
    }
    let services = draft.environments.iter().filter_map(|e| e.service.as_ref());
    for span in services.map(|service| service.span.clone()) {
        let message = "an environment that serves requests needs a serving workload";
        let label = "add kind = \"serve\" to [workload]";
        problems.push(Diagnostic::at(span, message).label(label));
    }
}

/// The place of a field's value, or of the whole workload.
pub(super) fn place(draft: &Draft, serve: &DraftServe, field: &str) -> Span {
    let of_factor = || draft.factor(field).map(|factor| factor.name.span.clone());
    let of_value = draft.value(field).map(|value| value.level.span.clone());
    of_value
        .or_else(of_factor)
        .unwrap_or_else(|| serve.span.clone())
}
