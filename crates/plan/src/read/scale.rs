//! `[scale.NAME]`: a reduced version of the study.

use diagnostics::{Diagnostic, Located, Problems, Table};
use model::study::{Scale, ScaleChange};
use model::{Level, Service};

use super::draft::{
    Draft, DraftEnvironment, DraftExclusion, DraftFactor, DraftScale, DraftWorkload, FieldValue,
};
use super::{factors, study, take, workload};
use crate::resolve::ENVIRONMENT;
use crate::{serve, train, values};

/// What may be smaller beside repetitions and levels.
const FIELDS: [&str; 6] = ["epochs", "images", "held_out", "image", "batch", "dataset"];
/// The same of a workload that serves.
const SERVE_FIELDS: [&str; 5] = ["requests", "pause", "cold_pause", "duration", "image"];

pub(super) fn read(top: &Table<'_>, workload: Option<&DraftWorkload>) -> Vec<DraftScale> {
    let Some(table) = top.table("scale") else {
        return Vec::new();
    };
    let mut scales = Vec::new();
    for (name, value) in table.entries() {
        let Some(inner) = value.table(&format!("scale.{}", name.value)) else {
            continue;
        };
        if !crate::is_study_name(name.value) {
            let message = format!("`{}` cannot be part of a folder's name", name.value);
            top.complain(name.wrong(message));
        }
        let span = inner.span.clone();
        let repetitions = take::whole(&inner, "repetitions", 1..=study::MAX_REPETITIONS);
        scales.push(DraftScale {
            name: name.clone().map(str::to_owned),
            repetitions: repetitions
                .map(|r| Located::new(u32::try_from(r.value).unwrap_or(u32::MAX), r.span)),
            values: match workload {
                Some(DraftWorkload::Serve(_)) => {
                    refuse(&inner, &FIELDS, &SERVE_FIELDS, "training");
                    let wanted = |name: &str| SERVE_FIELDS.contains(&name);
                    workload::field_values(&inner, serve::FIELDS, wanted)
                }
                _ => {
                    refuse(&inner, &SERVE_FIELDS, &FIELDS, "serving");
                    let wanted = |name: &str| FIELDS.contains(&name);
                    workload::field_values(&inner, train::FIELDS, wanted)
                }
            },
            idle: take::parsed(&inner, "idle", values::duration_seconds),
            here: inner.boolean("here").is_some_and(|here| here.value),
            factors: factors::read(&inner),
        });
        if scales.last().is_some_and(DraftScale::is_empty) {
            let nothing = Diagnostic::at(span, format!("scale `{}` has no effect", name.value));
            top.complain(nothing.label("set repetitions, epochs, images, or fewer levels"));
        }
        inner.finish();
    }
    scales
}

/// What makes another kind of workload smaller.
fn refuse(table: &Table<'_>, keys: &[&str], own: &[&str], goes: &str) {
    for key in keys.iter().filter(|key| !own.contains(key)) {
        table.get(key);
        if let Some(span) = table.key_span(key) {
            table.complain(Diagnostic::at(span, format!("`{key}` is for {goes}")));
        }
    }
}

/// The study as it is at that scale, and what was changed.
pub(super) fn apply(draft: &mut Draft, name: &str, problems: &Problems) -> Option<Scale> {
    let Some(place) = draft.scales.iter().position(|s| s.name.value == name) else {
        problems.push(unknown(draft, name));
        return None;
    };
    let scale = draft.scales[place].clone();
    let mut changes = Vec::new();
    if let Some(repetitions) = scale.repetitions {
        let before = draft.head.repetitions.replace(repetitions.clone());
        let default = crate::check::DEFAULT_REPETITIONS;
        changes.push(ScaleChange {
            what: "repetitions".to_owned(),
            from: Some(before.map_or(default, |r| r.value).to_string()),
            to: repetitions.value.to_string(),
        });
    }
    for value in scale.values {
        changes.push(change_value(draft, value));
    }
    if let Some(idle) = &scale.idle {
        changes.extend(change_idle(draft, idle.value));
    }
    if scale.here {
        changes.extend(draft.environments.iter_mut().filter_map(bring_here));
    }
    for smaller in scale.factors {
        let found = draft.factors.iter_mut();
        // A factor that is not there is told by the check.
        if let Some(factor) = found
            .into_iter()
            .find(|f| f.name.value == smaller.name.value)
        {
            changes.push(ScaleChange {
                what: factor.name.value.clone(),
                from: Some(listed(factor)),
                to: listed(&smaller),
            });
            factor.levels = smaller.levels;
        }
    }
    drop_what_is_gone(draft);
    Some(Scale {
        name: name.to_owned(),
        changes,
    })
}

fn bring_here(environment: &mut DraftEnvironment) -> Option<ScaleChange> {
    let before = std::mem::take(&mut environment.location);
    (!before.is_here()).then(|| ScaleChange {
        what: format!("environment {}", environment.name.value),
        from: Some(before.words()),
        to: environment.location.words(),
    })
}

/// Environments and exclusions of levels that the smaller study does not have would be reported as
/// errors, which they are not.
fn drop_what_is_gone(draft: &mut Draft) {
    let factors = std::mem::take(&mut draft.factors);
    let is_left = |name: &str, level: &Level| {
        let factor = factors.iter().find(|f| f.name.value == name);
        factor.is_none_or(|f| f.find(level).is_some())
    };
    draft
        .environments
        .retain(|e| is_left(ENVIRONMENT, &Level::Text(e.name.value.clone())));
    for rule in &mut draft.head.exclude {
        for condition in &mut rule.conditions {
            let name = condition.factor.value.clone();
            condition
                .levels
                .retain(|level| is_left(&name, &level.value));
        }
    }
    let excludes_something = |rule: &DraftExclusion| {
        let mut conditions = rule.conditions.iter();
        conditions.all(|condition| !condition.levels.is_empty())
    };
    draft.head.exclude.retain(excludes_something);
    let is_whole = |factor: &DraftFactor| {
        let mut levels = factor.levels.iter();
        levels.all(|level| is_left(&factor.name.value, &level.value))
    };
    draft.design.levels.retain(is_whole);
    let is_scenario = |row: &DraftExclusion| {
        let mut conditions = row.conditions.iter();
        conditions.all(|c| c.levels.iter().all(|l| is_left(&c.factor.value, &l.value)))
    };
    draft.design.list.retain(is_scenario);
    draft.factors = factors;
}

fn change_value(draft: &mut Draft, value: FieldValue) -> ScaleChange {
    let to = value.level.value.to_string();
    let what = value.field.to_owned();
    let mut from = None;
    let fields = draft.workload.as_ref().and_then(DraftWorkload::fields);
    let values = draft.workload.as_mut().and_then(DraftWorkload::values_mut);
    if let (Some(values), Some(fields)) = (values, fields) {
        let before = values.iter().find(|v| v.field == value.field);
        from = before.map(|v| v.level.value.to_string());
        values.retain(|v| v.field != value.field);
        values.push(value);
        // The order in which they are applied.
        values.sort_by_key(|v| fields.iter().position(|f| f.name == v.field));
    }
    ScaleChange { what, from, to }
}

/// Emulated workers may go sooner, so that cold requests need not wait for it.
fn change_idle(draft: &mut Draft, seconds: f64) -> Option<ScaleChange> {
    let mut from = None;
    for environment in &mut draft.environments {
        if let Some(Located {
            value: Service::Serverless(serverless),
            ..
        }) = &mut environment.service
        {
            from = Some(format!("{} s", serverless.idle_seconds));
            serverless.idle_seconds = seconds;
        }
    }
    Some(ScaleChange {
        what: "idle".to_owned(),
        from: Some(from?),
        to: format!("{seconds} s"),
    })
}

fn listed(factor: &DraftFactor) -> String {
    let levels: Vec<String> = factor.levels.iter().map(|l| l.value.to_string()).collect();
    levels.join(", ")
}

fn unknown(draft: &Draft, name: &str) -> Diagnostic {
    let known: Vec<&str> = draft.scales.iter().map(|s| s.name.value.as_str()).collect();
    let message = format!("the study has no scale `{name}`");
    Diagnostic::whole(message).note(match known.is_empty() {
        true => "define it as a table such as [scale.small] with fewer images, epochs, repetitions or levels".to_owned(),
        false => format!("it has: {}", known.join(", ")),
    })
}
