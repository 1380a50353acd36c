use std::fs;
use std::path::{Path, PathBuf};

use analyse::{Analysis, Input, ScenarioResult, Timeline};
use model::{RunRecord, Status, Timestamp};
use plan::Recognizer;
use report::{ReportMeta, TerminalOptions};
use runner::TooSmall;

use super::run_files;
use super::what_if::{self, OtherMoney};
use crate::args::{ReportArgs, ShowArgs};
use crate::exit::{CommandResult, Exit, Failure};
use crate::locate::{Results, open_results, store_failure};
use crate::printer::Printer;

pub(super) fn show(args: &ShowArgs, printer: &Printer) -> CommandResult {
    let results = open_results(&args.results, printer)?;
    let other = what_if::asked(&args.what_if, &args.results.study, &results, printer)?;
    let analysis = analysis_at(&results, other.as_ref(), printer)?;
    print_tables(&analysis, printer);
    Ok(Exit::Ok)
}

pub(super) fn report(args: &ReportArgs, printer: &Printer) -> CommandResult {
    let results = open_results(&args.results, printer)?;
    let other = what_if::asked(&args.what_if, &args.results.study, &results, printer)?;
    let analysis = analysis_at(&results, other.as_ref(), printer)?;
    // The report of what was paid stays what it is.
    let beside = other.is_some().then(|| results.folder.join(WHAT_IF_REPORT));
    let to = args.to.as_deref().or(beside.as_deref());
    let path = write_report(&analysis, &results, to, printer)?;
    printer.data(&path.display().to_string());
    Ok(Exit::Ok)
}

/// Reports bundles that cannot be read, and files of the others that are damaged.
pub(super) fn talk_of_damaged(results: &Results, printer: &Printer) -> Result<(), Failure> {
    for damaged in results.store.damaged() {
        printer.talk(&format!(
            "! {} is skipped: {}",
            damaged.path.display(),
            damaged.why
        ));
    }
    for sentence in damaged_files(results)? {
        printer.talk(&format!("! {sentence}"));
    }
    Ok(())
}

fn damaged_files(results: &Results) -> Result<Vec<String>, Failure> {
    const MOST: usize = 5;
    let damaged = results.store.damaged_files().map_err(store_failure)?;
    let more = damaged.len().saturating_sub(MOST);
    let sentence = |damaged: &store::Damaged| {
        format!(
            "{} is damaged: {} (its run counts: the results are in run.json)",
            damaged.path.display(),
            damaged.why
        )
    };
    let mut sentences: Vec<String> = damaged.iter().take(MOST).map(sentence).collect();
    if more > 0 {
        let files = report::format::counted(more, "more file is", "more files are");
        sentences.push(format!("{files} damaged"));
    }
    Ok(sentences)
}

const WHAT_IF_REPORT: &str = "report-what-if.html";

pub(super) fn analysis_of(results: &Results, printer: &Printer) -> Result<Analysis, Failure> {
    analysis_at(results, None, printer)
}

/// With other money, where that is asked.
pub(super) fn analysis_at(
    results: &Results,
    other: Option<&OtherMoney>,
    printer: &Printer,
) -> Result<Analysis, Failure> {
    talk_of_damaged(results, printer)?;
    let mut runs = Paid::read(results)?;
    leave_out_others(&mut runs.records, results, printer);
    if let Some(other) = other {
        other.bill(&mut runs.records);
        other.bill(&mut runs.superseded);
    }
    runs.settle();
    let study = other.map_or(&results.study, OtherMoney::study);
    let unpriced = runner::drop_unfounded_costs(&mut runs.records, study);
    runner::drop_unfounded_costs(&mut runs.superseded, study);
    if other.is_some() {
        refuse_if_none_is_priced(&runs.records, &unpriced)?;
    }
    let mut analysis = analyse::analyse(&Input {
        study,
        plan: &results.plan,
        records: &runs.records,
        superseded: &runs.superseded,
        repriced: other.map(|other| other.sentence.as_str()),
    });
    let unpriced = unpriced.iter().map(|too_small| format!("{too_small}."));
    analysis.notes.extend(unpriced);
    Ok(analysis)
}

/// All that was paid for.
pub(super) struct Paid {
    pub(super) records: Vec<RunRecord>,
    /// Attempts that later ones replaced.
    pub(super) superseded: Vec<RunRecord>,
}

impl Paid {
    /// With the bills of their rentals.
    pub(super) fn settled(results: &Results) -> Result<Self, Failure> {
        let mut runs = Paid::read(results)?;
        runs.settle();
        Ok(runs)
    }

    fn read(results: &Results) -> Result<Self, Failure> {
        Ok(Paid {
            records: results.store.records().map_err(store_failure)?,
            superseded: results.store.superseded().map_err(store_failure)?,
        })
    }

    fn settle(&mut self) {
        runner::settle(self.all());
    }

    fn all(&mut self) -> impl Iterator<Item = &mut RunRecord> {
        self.records.iter_mut().chain(&mut self.superseded)
    }
}

/// A what-if without a single cost is no answer.
fn refuse_if_none_is_priced(records: &[RunRecord], unpriced: &[TooSmall]) -> Result<(), Failure> {
    if unpriced.is_empty() || records.iter().any(|record| record.bill.is_some()) {
        return Ok(());
    }
    let reasons: Vec<String> = unpriced.iter().map(ToString::to_string).collect();
    Err(Failure::new(Exit::BadStudy, reasons.join("; ")))
}

/// Folders may be carried here by hand: one of another study would be taken for a result.
fn leave_out_others(records: &mut Vec<RunRecord>, results: &Results, printer: &Printer) {
    let recognizer = Recognizer::new(&results.study, &results.plan);
    records.retain(|record| {
        let ours = recognizer.is_in_place(record);
        if !ours {
            printer.talk(&format!(
                "! {} is skipped: it is not a run of this scenario (its study is `{}`, its levels are {}); bancada \
                 run sets it aside",
                record.run,
                record.study,
                record.scenario.levels_label()
            ));
        }
        ours
    });
}

pub(super) fn print_tables(analysis: &Analysis, printer: &Printer) {
    let options = TerminalOptions {
        width: printer.data_width(),
        colour: printer.data_coloured,
        ..Default::default()
    };
    printer.data_as_is(&report::terminal(analysis, &options));
}

pub(super) fn meta() -> ReportMeta<'static> {
    ReportMeta {
        generated: Timestamp::now(),
        bancada_version: env!("CARGO_PKG_VERSION"),
        command: None,
    }
}

/// Of scenarios, the first run that ended well, and what is wrong with files that cannot be drawn.
fn timelines(analysis: &Analysis, results: &Results) -> run_files::Read<Vec<Timeline>> {
    const MOST_SCENARIOS: usize = 48;
    let mut wrong: Vec<String> = Vec::new();
    let first = |scenario: &ScenarioResult| {
        let mut runs = analysis.runs.iter();
        let run = runs.find(|r| r.scenario == scenario.number && r.status == Status::Ok)?;
        let samples = run_files::samples(results, run.run);
        wrong.extend(samples.wrong);
        Some(Timeline {
            scenario: run.scenario,
            run: run.run,
            points: analyse::use_over_time(&samples.found?),
        })
    };
    let scenarios = analysis.scenarios.iter().filter_map(first);
    let found = scenarios.take(MOST_SCENARIOS).collect();
    let more = wrong.len().saturating_sub(1);
    let wrong = wrong.into_iter().next().map(|first| match more {
        0 => first,
        more => format!("{first} (and {more} more like it)"),
    });
    run_files::Read { found, wrong }
}

/// To the folder of the results unless another file is named.
pub(super) fn write_report(
    analysis: &Analysis,
    results: &Results,
    to: Option<&Path>,
    printer: &Printer,
) -> Result<PathBuf, Failure> {
    let command = format!("bancada report {}", results.folder.display());
    let timelines = timelines(analysis, results);
    let mut with_courses = Analysis {
        timelines: timelines.found,
        ..analysis.clone()
    };
    if let Some(wrong) = timelines.wrong {
        printer.talk(&format!("! {wrong}"));
        with_courses.notes.push(format!("{wrong}."));
    }
    let damaged = damaged_files(results)?.into_iter();
    with_courses.notes.extend(damaged.map(|text| text + "."));
    let html = report::html(
        &with_courses,
        &ReportMeta {
            command: Some(&command),
            ..meta()
        },
    );
    match to {
        Some(path) => {
            fs::write(path, html)
                .map_err(|e| Failure::trouble(format!("cannot write {}: {e}", path.display())))?;
            Ok(path.to_owned())
        }
        None => {
            results
                .store
                .save_file("report.html", html.as_bytes())
                .map_err(store_failure)?;
            Ok(results.folder.join("report.html"))
        }
    }
}
