//! A study run at a reduced scale: what a reader must know before any number.

use messages::message;
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
    message!("scale-run", name = scale.name, changes)
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
        return message!("scale-only", what, to);
    }
    let is_images = matches!(what.as_str(), "images" | "held_out");
    let what = messages::named("field", what).unwrap_or(what);
    match from {
        Some(from) if from.parse::<f64>().is_ok() => message!("scale-of", what, to, from),
        Some(from) => message!("scale-instead", what, to, from),
        None if is_images => message!("scale-of-all", what, to),
        None => message!("scale-now", what, to),
    }
}
