//! `[workload]`: what a run does.

use diagnostics::{Diagnostic, Located, Problems, Table, Value};
use model::run::metric;
use model::study::{LogEvent, LogPattern};
use regex::Regex;

use super::draft::{
    DraftCommand, DraftServe, DraftTrain, DraftVariable, DraftWorkload, FieldValue,
};
use super::take;
use crate::field::{Field, find_field};
use crate::{serve, train};

pub(crate) const KINDS: &[&str] = &[TRAIN, SERVE, COMMAND];
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
const COMMAND_KEYS: &[&str] = &["env", "directory", "log", "inputs"];

pub(super) fn read(top: &Table<'_>) -> Option<DraftWorkload> {
    let Some(value) = top.get("workload") else {
        // Measurements made elsewhere need nothing to run here.
        if top.key_span("import").is_some() {
            return Some(DraftWorkload::Command(DraftCommand::nothing()));
        }
        let missing = Diagnostic::whole("[workload] is missing: nothing would be run");
        top.complain(missing.note(
            "add [workload] with  kind = \"train\",  kind = \"serve\"  or with  command = [\"python3\", \"train.py\", \"{batch}\"]",
        ));
        return None;
    };
    let table = value.table("workload")?;
    let kind_typed = table.key_span("kind").is_some();
    let kind = take::word(&table, "kind", KINDS);
    let has_command = table.key_span("command").is_some();
    let kind = match kind {
        Some(kind) => Some(kind),
        // Misspelt, and told already.
        None if kind_typed => None,
        None if has_command => Some(COMMAND),
        None => Some(TRAIN),
    };
    let command = read_command(&table);
    let workload = match kind {
        Some(TRAIN) => Some(read_train(&table)),
        Some(SERVE) => Some(read_serve(&table, command)),
        Some(_) => read_own_command(&table, command),
        None => None,
    };
    // What another kind of workload has is known, and told better than as an unknown key.
    let own = match kind {
        Some(TRAIN) => train::FIELDS,
        Some(SERVE) => serve::FIELDS,
        _ => &[],
    };
    let all = field_names(train::FIELDS).chain(only_of(serve::FIELDS, train::FIELDS));
    for key in all.filter(|name| find_field(own, name).is_none()) {
        table.get(key);
    }
    if kind != Some(TRAIN) {
        table.get(KEEP_MODEL);
    }
    table.finish();
    workload
}

const TRAIN: &str = "train";
const SERVE: &str = "serve";
const COMMAND: &str = "command";

fn read_own_command(table: &Table<'_>, command: DraftCommand) -> Option<DraftWorkload> {
    let others = field_names(train::FIELDS).chain(field_names(serve::FIELDS));
    refuse(
        table,
        others.chain([KEEP_MODEL]),
        "is for training or serving; pass it to a command as an argument",
    );
    if table.key_span("command").is_none() {
        let missing = table.wrong("`command` is missing in [workload]");
        table.complain(missing.label("add command = [\"program\", \"argument\"]"));
        return None;
    }
    Some(DraftWorkload::Command(command))
}

fn field_names(fields: &'static [Field]) -> impl Iterator<Item = &'static str> {
    fields.iter().map(|field| field.name)
}

/// Settings of one kind of workload that another does not have.
fn only_of(
    fields: &'static [Field],
    others: &'static [Field],
) -> impl Iterator<Item = &'static str> {
    field_names(fields).filter(move |name| find_field(others, name).is_none())
}

fn refuse<'k>(table: &Table<'_>, keys: impl Iterator<Item = &'k str>, why: &str) {
    let mut told: Vec<&str> = Vec::new();
    for key in keys {
        if let Some(span) = table.key_span(key).filter(|_| !told.contains(&key)) {
            table.complain(Diagnostic::at(span, format!("`{key}` {why}")));
            told.push(key);
        }
    }
}

fn read_train(table: &Table<'_>) -> DraftWorkload {
    if let Some(span) = table.key_span(COMMAND) {
        let message = "`command` and kind = \"train\" exclude each other";
        table.complain(Diagnostic::at(span, message).label("remove one of them"));
    }
    let why = "is for a command, not for training";
    refuse(table, COMMAND_KEYS.iter().copied(), why);
    let why = "is for serving, not for training";
    refuse(table, only_of(serve::FIELDS, train::FIELDS), why);
    DraftWorkload::Train(DraftTrain {
        span: table.span.clone(),
        values: field_values(table, train::FIELDS, |_| true),
        keep_model: table.boolean(KEEP_MODEL).map(|keep| keep.value),
    })
}

fn read_serve(table: &Table<'_>, command: DraftCommand) -> DraftWorkload {
    let why = "is for training, not for serving";
    let others = only_of(train::FIELDS, serve::FIELDS).chain([KEEP_MODEL]);
    refuse(table, others, why);
    let why = "is for a command, not for serving";
    refuse(table, ["directory", "log"].into_iter(), why);
    DraftWorkload::Serve(DraftServe {
        span: table.span.clone(),
        values: field_values(table, serve::FIELDS, |_| true),
        command,
    })
}

/// Those of these settings of a workload that a table has.
pub(super) fn field_values(
    table: &Table<'_>,
    fields: &'static [Field],
    wanted: impl Fn(&str) -> bool,
) -> Vec<FieldValue> {
    let read = |field: &'static Field| {
        let value = table.get(field.name)?;
        if matches!(value.kind(), "array" | "table") {
            let list = value.wrong(format!("`{}` must be a single value here", field.name));
            table.complain(list.label(format!(
                "to vary it, move it to [factors]: {} = […]",
                field.name
            )));
            return None;
        }
        Some(FieldValue {
            field: field.name,
            level: take::level(&value, field.name)?,
        })
    };
    fields
        .iter()
        .filter(|field| wanted(field.name))
        .filter_map(read)
        .collect()
}

fn read_command(table: &Table<'_>) -> DraftCommand {
    let command = match table.get("command") {
        Some(value) if value.kind() == "string" => {
            let message = "`command` must be a list: the program, then each argument";
            let example = "such as [\"python3\", \"train.py\", \"--batch\", \"{batch}\"]";
            table.complain(value.wrong(message).label(example));
            Vec::new()
        }
        Some(value) => {
            let words = take::texts(&value, "command");
            if words.first().is_some_and(|w| w.value.is_empty())
                || (words.is_empty() && value.kind() == "array")
            {
                table.complain(value.wrong("`command` names no program"));
            }
            words
        }
        None => Vec::new(),
    };
    let env = table.table("env").map(|env| read_env(&env));
    let directory = table.text("directory");
    let log = table.array("log").unwrap_or_default();
    let inputs = table.get("inputs");
    let inputs = inputs.map(|value| take::texts(&value, "inputs"));
    DraftCommand {
        span: table.span.clone(),
        command,
        env: env.unwrap_or_default(),
        directory,
        log: log
            .iter()
            .filter_map(|pattern| read_pattern(pattern))
            .collect(),
        inputs: inputs.unwrap_or_default(),
    }
}

fn read_env(env: &Table<'_>) -> Vec<DraftVariable> {
    let mut variables = Vec::new();
    for (name, value) in env.entries() {
        if name.value.is_empty() || name.value.contains(['=', '\0']) {
            let message = format!("`{}` is not a valid name of a variable", name.value);
            env.complain(name.wrong(message));
        } else if let Some(level) = take::level(value, name.value) {
            let value = Located::new(level.value.to_string(), level.span);
            variables.push(DraftVariable {
                name: name.value.to_owned(),
                value,
            });
        }
    }
    variables
}

fn read_pattern(value: &Value<'_>) -> Option<LogPattern> {
    let table = value.table("workload.log")?;
    let words: Vec<&str> = LOG_EVENTS.iter().map(|rule| rule.word).collect();
    let missing = table.key_span("event").is_none();
    let event = match missing {
        true => table.required("event").and(None),
        false => take::word(&table, "event", &words),
    };
    let rule = event.and_then(|word| LOG_EVENTS.iter().find(|rule| rule.word == word));
    let pattern = table.required_text("pattern");
    let name = table.text("name");
    let is_refused =
        |name: &&Located<String>| name.value.trim().is_empty() || metric::is_of_bills(&name.value);
    if let Some(refused) = name.as_ref().filter(is_refused) {
        let message = match refused.value.trim().is_empty() {
            true => "the name of a metric is empty".to_owned(),
            false => format!("`{}` is reserved for the bill", refused.value),
        };
        let wrong = refused.wrong(message);
        value.complain(wrong.label("give the metric a different name"));
    }
    let name = name.map(|t| t.value);
    let unit = table.text("unit").map(|t| t.value);
    if rule.is_some_and(|r| r.event == LogEvent::Metric) && name.is_none() {
        let unnamed = value.wrong("a metric needs a `name`");
        value.complain(unnamed.label("such as name = \"perplexity\""));
    }
    table.finish();
    let (rule, pattern) = (rule?, pattern?);
    check_pattern(rule, &pattern, value.problems);
    Some(LogPattern {
        event: rule.event,
        pattern: pattern.value,
        name,
        unit,
    })
}

fn check_pattern(rule: &LogEventRule, pattern: &Located<String>, problems: &Problems) {
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
