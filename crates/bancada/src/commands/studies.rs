//! `bancada studies`: what is in a folder, how far it is, what it has cost.

use model::Timestamp;
use report::format;
use workbench::{RunCounts, StudyState, StudySummary};

use crate::args::StudiesArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;
use crate::table::Table;

pub(super) fn studies(args: &StudiesArgs, printer: &Printer) -> CommandResult {
    let found = workbench::studies(&args.dir, &printer.teller())?;
    if args.json {
        let json = serde_json::to_string_pretty(&found).map_err(Failure::trouble)?;
        printer.data(&json);
        return Ok(Exit::Ok);
    }
    if found.is_empty() {
        printer.talk(&format!(
            "No study in {} (bancada init writes one).",
            args.dir.display()
        ));
        return Ok(Exit::Ok);
    }
    let now = Timestamp::now();
    let mut table = Table::default()
        .text("study")
        .text("file")
        .text("state")
        .number("runs")
        .number("last run")
        .number("cost")
        .number("budget");
    for study in &found {
        table.row(row(study, now));
    }
    printer.data(&table.within(printer.data_width()));
    for study in &found {
        if let StudyState::Unreadable { why } = &study.state {
            let named = study.file.as_ref().unwrap_or(&study.results);
            let first = why.lines().next().unwrap_or_default();
            printer.talk(&format!("! {}: {first}", named.display()));
        }
    }
    Ok(Exit::Ok)
}

fn row(study: &StudySummary, now: Timestamp) -> Vec<String> {
    let name = match &study.scale {
        Some(scale) => format!("{} --scale {scale}", study.name),
        None => study.name.clone(),
    };
    // Only the results are there.
    let path = study.file.as_ref().unwrap_or(&study.results);
    let money = |money: Option<model::Money>| money.map_or(String::new(), |m| m.to_string());
    vec![
        name,
        path.display().to_string(),
        study.state.word().to_owned(),
        runs(study.runs),
        study.last_activity.map_or(String::new(), |at| ago(at, now)),
        money(study.cost),
        money(study.budget),
    ]
}

/// `17/24, 2 failed`.
fn runs(counts: RunCounts) -> String {
    let RunCounts {
        planned,
        done,
        failed,
    } = counts;
    match failed {
        0 => format!("{done}/{planned}"),
        _ => format!("{done}/{planned}, {failed} failed"),
    }
}

/// `3 days ago`.
fn ago(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second().saturating_sub(at.as_second()).max(0);
    let (count, one, many) = match seconds {
        ..60 => return "just now".to_owned(),
        60..3600 => (seconds / 60, "minute", "minutes"),
        3600..86_400 => (seconds / 3600, "hour", "hours"),
        _ => (seconds / 86_400, "day", "days"),
    };
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    format!("{} ago", format::counted(count, one, many))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_in_whole_units() {
        let now: Timestamp = "2026-11-18T12:00:00Z".parse().unwrap();
        let check = |at: &str, expected| assert_eq!(ago(at.parse().unwrap(), now), expected);
        check("2026-11-18T11:59:30Z", "just now");
        check("2026-11-18T11:58:59Z", "1 minute ago");
        check("2026-11-18T09:00:00Z", "3 hours ago");
        check("2026-11-01T11:00:00Z", "17 days ago");
        // The clock of another machine was ahead.
        check("2026-11-18T12:05:00Z", "just now");
    }
}
