//! A study run at a reduced scale: what a reader must know before any number.

use model::Study;
use model::study::{Scale, ScaleChange};
use serde::Serialize;

/// How the study was made smaller.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScaleFacts {
    /// `small`, as the study file calls it.
    pub name: String,
    pub changes: Vec<ScaleChange>,
    /// ``Run at scale `small`: images 1024 (of 60000) …``: for everybody who reads a result.
    pub sentence: String,
}

pub(crate) fn scale_facts(study: &Study) -> Option<ScaleFacts> {
    let scale = study.scale.as_ref()?;
    Some(ScaleFacts {
        name: scale.name.clone(),
        changes: scale.changes.clone(),
        sentence: sentence(study, scale),
    })
}

fn sentence(study: &Study, scale: &Scale) -> String {
    let changes: Vec<String> = scale.changes.iter().map(|c| said(study, c)).collect();
    let changes = match changes.is_empty() {
        true => String::new(),
        false => format!(": {}", changes.join(", ")),
    };
    format!(
        "Run at scale `{}`{changes}. Times and costs are those of these runs, not of the full study.",
        scale.name
    )
}

/// Fields of the study and its workload; whatever else is changed is a factor.
const FIELDS: [&str; 7] = [
    "repetitions",
    "epochs",
    "images",
    "held_out",
    "image",
    "batch",
    "dataset",
];

fn said(study: &Study, change: &ScaleChange) -> String {
    let ScaleChange { what, from, to } = change;
    if study.factor(what).is_some() || !FIELDS.contains(&what.as_str()) {
        return format!("{what}: {to} only");
    }
    let name = match what.as_str() {
        "held_out" => "held-out images",
        "image" => "image side",
        other => other,
    };
    match from {
        Some(from) if from.parse::<f64>().is_ok() => format!("{name} {to} (of {from})"),
        Some(from) => format!("{name} {to} (instead of {from})"),
        None if matches!(what.as_str(), "images" | "held_out") => format!("{name} {to} (of all)"),
        None => format!("{name} {to}"),
    }
}
