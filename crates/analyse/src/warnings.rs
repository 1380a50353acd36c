//! Warnings of many runs in a few lines.

use messages::message;
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
    let counted = match (group.kind != LIMIT_UNMET, group.runs.len() > 1) {
        (true, false) => "included",
        (true, true) => "included-several",
        (false, false) => "excluded",
        (false, true) => "excluded-several",
    };
    let Said { who, text } = who_and_what(group, all_runs);
    message!("warned-one", run = who, text, counted)
}

struct Said {
    who: String,
    text: String,
}

fn who_and_what(group: &WarningGroup, all_runs: usize) -> Said {
    let Some(first) = group.runs.first() else {
        return Said {
            who: String::new(),
            text: String::new(),
        };
    };
    let said = |who: String| Said {
        who,
        text: first.text.clone(),
    };
    let (run, runs) = (first.run.to_string(), group.runs.len());
    if runs == 1 {
        return said(run);
    }
    let alike = group.runs.iter().all(|r| r.text == first.text);
    let who = if runs == all_runs {
        message!("warned-all", runs)
    } else {
        let names: Vec<String> = group.runs.iter().map(|r| r.run.to_string()).collect();
        format::listed(&names, 3)
    };
    match alike {
        true => said(who),
        false if EACH_TEXT.contains(&group.kind.as_str()) => each_text(group),
        false if runs == all_runs => said(message!("warned-example", who, run)),
        false => said(message!("warned-some-example", runs, who, run)),
    }
}

/// Not said of a run alone: one example would hide the others.
const EACH_TEXT: [&str; 3] = ["not-verified", "computes-otherwise", LIMIT_UNMET];

fn each_text(group: &WarningGroup) -> Said {
    let mut texts: Vec<(&str, usize)> = Vec::new();
    for warned in &group.runs {
        let text = warned.text.as_str();
        entry(&mut texts, |(known, _)| *known == text, || (text, 0)).1 += 1;
    }
    let who = |runs: usize| message!("counted-runs", runs);
    let mut said = texts.iter().take(MOST_TEXTS);
    let (text, runs) = said.next().copied().unwrap_or_default();
    let mut parts = vec![text.to_owned()];
    parts.extend(said.map(|(text, runs)| format!("{}: {text}", who(*runs))));
    if texts.len() > MOST_TEXTS {
        parts.push(message!("warned-more", more = texts.len() - MOST_TEXTS));
    }
    Said {
        who: who(runs),
        text: parts.join("; "),
    }
}

const MOST_TEXTS: usize = 4;
