//! `[workload]`: what a run does.

use model::study::{LogEvent, LogPattern};
use regex::Regex;
use source::{Diagnostic, Located, Problems, Table, Value};

use super::draft::{DraftCommand, DraftTrain, DraftVariable, DraftWorkload, TrainValue};
use super::take;
use crate::train::FIELDS;

pub(crate) const KINDS: &[&str] = &["train", "command"];
pub(crate) const LOG_EVENTS: &[LogEventRule] = &[
    LogEventRule {
        word: "step",
        event: LogEvent::Step,
        // A line without a number is the next step.
        one_of: &[],
        optional: &["step", "epoch", "loss", "seconds", "images"],
    },
    LogEventRule {
        word: "epoch",
        event: LogEvent::Epoch,
        one_of: &[],
        optional: &["epoch", "loss", "accuracy", "seconds"],
    },
    LogEventRule {
        word: "accuracy",
        event: LogEvent::Accuracy,
        one_of: &["accuracy", "value"],
        optional: &[],
    },
    LogEventRule {
        word: "phase",
        event: LogEvent::Phase,
        one_of: &["phase"],
        optional: &[],
    },
    LogEventRule {
        word: "metric",
        event: LogEvent::Metric,
        one_of: &["value"],
        optional: &[],
    },
];

/// An event that a log line can tell, and the named groups of its pattern.
pub(crate) struct LogEventRule {
    pub(crate) word: &'static str,
    event: LogEvent,
    /// One of these must be there; none is needed where the list is empty.
    one_of: &'static [&'static str],
    optional: &'static [&'static str],
}

const KEEP_MODEL: &str = "keep_model";
const COMMAND_KEYS: &[&str] = &["env", "directory", "log"];

pub(super) fn read(top: &Table<'_>, problems: &mut Problems) -> Option<DraftWorkload> {
    let Some(value) = top.get("workload") else {
        // Measurements made elsewhere need nothing to run here.
        if top.key_span("import").is_some() {
            return Some(DraftWorkload::Command(DraftCommand::nothing()));
        }
        let missing = Diagnostic::whole("[workload] is missing: nothing would be run");
        problems.push(missing.note(
            "add [workload] with  kind = \"train\"  or with  command = [\"python3\", \"train.py\", \"{batch}\"]",
        ));
        return None;
    };
    let table = value.table("workload", problems)?;
    let kind_typed = table.key_span("kind").is_some();
    let kind = take::word(&table, "kind", KINDS, problems);
    let train = read_train(&table, problems);
    let command = read_command(&table, problems);
    let has_command = table.key_span("command").is_some();
    let workload = match kind {
        Some("train") => Some(DraftWorkload::Train(train)),
        Some(_) if !has_command => {
            let missing = Diagnostic::at(table.span.clone(), "`command` is missing in [workload]");
            problems.push(missing.label("add command = [\"program\", \"argument\"]"));
            None
        }
        Some(_) => Some(DraftWorkload::Command(command)),
        // Misspelt, and told already.
        None if kind_typed => None,
        None if has_command => Some(DraftWorkload::Command(command)),
        None => Some(DraftWorkload::Train(train)),
    };
    match &workload {
        Some(DraftWorkload::Train(_)) => {
            if let Some(span) = table.key_span("command") {
                let message = "a `command` beside kind = \"train\"";
                problems.push(Diagnostic::at(span, message).label("remove one of them"));
            }
            refuse(
                &table,
                COMMAND_KEYS.iter().copied(),
                "goes with a command, not with training",
                problems,
            );
        }
        Some(DraftWorkload::Command(_)) => {
            let names = FIELDS.iter().map(|f| f.name).chain([KEEP_MODEL]);
            refuse(
                &table,
                names,
                "goes with training; a command takes it as an argument",
                problems,
            );
        }
        None => {}
    }
    table.finish(problems);
    workload
}

fn refuse<'k>(
    table: &Table<'_>,
    keys: impl Iterator<Item = &'k str>,
    why: &str,
    problems: &mut Problems,
) {
    for key in keys {
        if let Some(span) = table.key_span(key) {
            problems.push(Diagnostic::at(span, format!("`{key}` {why}")));
        }
    }
}

fn read_train(table: &Table<'_>, problems: &mut Problems) -> DraftTrain {
    DraftTrain {
        span: table.span.clone(),
        values: train_values(table, &names(), problems),
        keep_model: table.boolean(KEEP_MODEL, problems).map(|keep| keep.value),
    }
}

fn names() -> Vec<&'static str> {
    FIELDS.iter().map(|field| field.name).collect()
}

/// Those of these settings of a training that a table has.
pub(super) fn train_values(
    table: &Table<'_>,
    names: &[&str],
    problems: &mut Problems,
) -> Vec<TrainValue> {
    let read = |field: &'static crate::train::Field, problems: &mut Problems| {
        let value = table.get(field.name)?;
        if matches!(value.kind(), "array" | "table") {
            let list = Diagnostic::at(
                value.span.clone(),
                format!("`{}` has one value here", field.name),
            );
            problems.push(list.label(format!(
                "to vary it, move it to [factors]: {} = […]",
                field.name
            )));
            return None;
        }
        Some(TrainValue {
            field: field.name,
            level: take::level(&value, field.name, problems)?,
        })
    };
    FIELDS
        .iter()
        .filter(|field| names.contains(&field.name))
        .filter_map(|field| read(field, problems))
        .collect()
}

fn read_command(table: &Table<'_>, problems: &mut Problems) -> DraftCommand {
    let command = match table.get("command") {
        Some(value) if value.kind() == "string" => {
            let message = "`command` is a list: the program, then each argument";
            let example = "such as [\"python3\", \"train.py\", \"--batch\", \"{batch}\"]";
            problems.push(Diagnostic::at(value.span, message).label(example));
            Vec::new()
        }
        Some(value) => {
            let words = take::texts(&value, "command", problems);
            if words.first().is_some_and(|w| w.value.is_empty())
                || (words.is_empty() && value.kind() == "array")
            {
                problems.push(Diagnostic::at(value.span, "`command` names no program"));
            }
            words
        }
        None => Vec::new(),
    };
    let env = table
        .table("env", problems)
        .map(|env| read_env(&env, problems));
    let directory = table.text("directory", problems);
    let log = table.array("log", problems).unwrap_or_default();
    DraftCommand {
        span: table.span.clone(),
        command,
        env: env.unwrap_or_default(),
        directory,
        log: log
            .iter()
            .filter_map(|pattern| read_pattern(pattern, problems))
            .collect(),
    }
}

fn read_env(env: &Table<'_>, problems: &mut Problems) -> Vec<DraftVariable> {
    let mut variables = Vec::new();
    for (name, value) in env.entries() {
        if name.value.is_empty() || name.value.contains(['=', '\0']) {
            let message = format!("`{}` cannot be the name of a variable", name.value);
            problems.push(Diagnostic::at(name.span.clone(), message));
        } else if let Some(level) = take::level(value, name.value, problems) {
            let value = Located {
                value: level.value.to_string(),
                span: level.span,
            };
            variables.push(DraftVariable {
                name: name.value.to_owned(),
                value,
            });
        }
    }
    variables
}

fn read_pattern(value: &Value<'_>, problems: &mut Problems) -> Option<LogPattern> {
    let table = value.table("workload.log", problems)?;
    let words: Vec<&str> = LOG_EVENTS.iter().map(|rule| rule.word).collect();
    let missing = table.key_span("event").is_none();
    let event = match missing {
        true => table.required("event", problems).and(None),
        false => take::word(&table, "event", &words, problems),
    };
    let rule = event.and_then(|word| LOG_EVENTS.iter().find(|rule| rule.word == word));
    let pattern = table
        .required("pattern", problems)
        .and_then(|v| v.text("pattern", problems));
    let name = table.text("name", problems).map(|t| t.value);
    let unit = table.text("unit", problems).map(|t| t.value);
    if rule.is_some_and(|r| r.event == LogEvent::Metric) && name.is_none() {
        let unnamed = Diagnostic::at(value.span.clone(), "a metric needs a `name`");
        problems.push(unnamed.label("such as name = \"perplexity\""));
    }
    table.finish(problems);
    let (rule, pattern) = (rule?, pattern?);
    check_pattern(rule, &pattern, problems);
    Some(LogPattern {
        event: rule.event,
        pattern: pattern.value,
        name,
        unit,
    })
}

fn check_pattern(rule: &LogEventRule, pattern: &Located<String>, problems: &mut Problems) {
    let span = pattern.span.clone();
    let regex = match Regex::new(&pattern.value) {
        Ok(regex) => regex,
        Err(error) => {
            // The last line says what is wrong; those before it draw the place, as we do.
            let text = error.to_string();
            let reason = text
                .lines()
                .last()
                .unwrap_or_default()
                .trim_start_matches("error: ");
            problems.push(Diagnostic::at(
                span,
                format!("not a regular expression: {reason}"),
            ));
            return;
        }
    };
    let groups: Vec<&str> = regex.capture_names().flatten().collect();
    // The value of a metric may also be the one group without a name.
    let unnamed = rule.event == LogEvent::Metric && regex.captures_len() > 1 + groups.len();
    if let (Some(first), false) = (rule.one_of.first(), unnamed)
        && !rule.one_of.iter().any(|wanted| groups.contains(wanted))
    {
        let message = format!("the pattern of `{}` has no group `{first}`", rule.word);
        let example = format!("such as (?<{first}>\\S+)");
        problems.push(Diagnostic::at(span.clone(), message).label(example));
    }
    let known = || rule.one_of.iter().chain(rule.optional).copied();
    for group in groups.into_iter().filter(|g| !known().any(|k| k == *g)) {
        let kind = format!("group in the pattern of `{}`:", rule.word);
        problems.push(Diagnostic::unknown(&kind, group, span.clone(), known()));
    }
}
