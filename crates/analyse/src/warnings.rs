//! Warnings of many runs in a few lines.

use model::Warning;

use crate::analysis::{WarnedRun, WarningGroup};
use crate::inputs;
use crate::lists::entry;
use crate::table::Table;
use crate::words::format;

pub(crate) fn warnings(table: &Table) -> Vec<WarningGroup> {
    let mut groups: Vec<(Subject, WarningGroup)> = Vec::new();
    // Runs that were re-run since may all have the same inputs again.
    let is_past = |warning: &Warning| {
        matches!(warning, Warning::InputsChanged { .. }) && inputs::notes(table).is_empty()
    };
    for row in &table.runs {
        for warning in row.record.warnings.iter().filter(|w| !is_past(w)) {
            let subject = Subject::of(warning);
            let new = || WarningGroup {
                kind: subject.kind.clone(),
                text: String::new(),
                runs: Vec::new(),
            };
            let group = &mut entry(
                &mut groups,
                |(known, _)| *known == subject,
                || (subject.clone(), new()),
            )
            .1;
            group.runs.push(WarnedRun {
                run: row.record.run,
                text: warning.to_string(),
            });
        }
    }
    let finished = |(_, mut group): (Subject, WarningGroup)| {
        group.text = group_text(&group, table.runs.len());
        group
    };
    groups.into_iter().map(finished).collect()
}

/// Warnings about one thing are reported in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Subject {
    /// As in the run's file.
    kind: String,
    /// Where one kind is about several things.
    about: Option<String>,
}

impl Subject {
    fn of(warning: &Warning) -> Self {
        let about = match warning {
            Warning::PatternUnmatched { pattern } | Warning::PatternNotANumber { pattern, .. } => {
                Some(pattern.clone())
            }
            Warning::MetricRefused { name } => Some(name.clone()),
            _ => None,
        };
        Subject {
            kind: warning.kind(),
            about,
        }
    }
}

const LIMIT_UNMET: &str = "limit-unmet";

fn group_text(group: &WarningGroup, all_runs: usize) -> String {
    let counts = match group.kind.as_str() {
        LIMIT_UNMET => "excluded from every conclusion",
        _ => "flagged but included",
    };
    format!("{} ({counts})", who_and_what(group, all_runs))
}

fn who_and_what(group: &WarningGroup, all_runs: usize) -> String {
    let Some(first) = group.runs.first() else {
        return String::new();
    };
    if group.runs.len() == 1 {
        return format!("{}: {}", first.run, first.text);
    }
    let alike = group.runs.iter().all(|r| r.text == first.text);
    let who = if group.runs.len() == all_runs {
        format!("all {all_runs} runs")
    } else {
        let names: Vec<String> = group.runs.iter().map(|r| r.run.to_string()).collect();
        format::listed(&names, 3)
    };
    match alike {
        true => format!("{who}: {}", first.text),
        false if EACH_TEXT.contains(&group.kind.as_str()) => each_text(group),
        false if group.runs.len() == all_runs => {
            format!("{who}, for example {}: {}", first.run, first.text)
        }
        false => format!(
            "{} runs ({who}), for example {}: {}",
            group.runs.len(),
            first.run,
            first.text
        ),
    }
}

/// Not said of a run alone: one example would hide the others.
const EACH_TEXT: [&str; 3] = ["not-verified", "computes-otherwise", LIMIT_UNMET];

fn each_text(group: &WarningGroup) -> String {
    let mut texts: Vec<(&str, usize)> = Vec::new();
    for warned in &group.runs {
        let text = warned.text.as_str();
        entry(&mut texts, |(known, _)| *known == text, || (text, 0)).1 += 1;
    }
    let said = texts.iter().take(MOST_TEXTS);
    let mut said: Vec<String> = said
        .map(|(text, runs)| format!("{}: {text}", format::counted(*runs, "run", "runs")))
        .collect();
    if texts.len() > MOST_TEXTS {
        said.push(format!(
            "and {} more",
            format::count(texts.len() - MOST_TEXTS)
        ));
    }
    said.join("; ")
}

const MOST_TEXTS: usize = 4;
