use std::fs;
use std::path::{Path, PathBuf};

use analyse::{Analysis, Input};
use model::Timestamp;
use report::{ReportMeta, TerminalOptions};

use crate::args::{ReportArgs, ResultsArgs};
use crate::exit::{CommandResult, Exit, Failure};
use crate::locate::{Results, open_results, store_failure};
use crate::printer::Printer;

pub(super) fn show(args: &ResultsArgs, printer: &Printer) -> CommandResult {
    let results = open_results(args, printer)?;
    let analysis = analysis_of(&results, printer)?;
    print_tables(&analysis, printer);
    Ok(Exit::Ok)
}

pub(super) fn report(args: &ReportArgs, printer: &Printer) -> CommandResult {
    let results = open_results(&args.results, printer)?;
    let analysis = analysis_of(&results, printer)?;
    let path = write_report(&analysis, &results, args.to.as_deref())?;
    printer.data(&path.display().to_string());
    Ok(Exit::Ok)
}

/// Says which bundles cannot be read.
pub(super) fn talk_of_damaged(results: &Results, printer: &Printer) {
    for damaged in results.store.damaged() {
        printer.talk(&format!(
            "! {} is left out: {}",
            damaged.path.display(),
            damaged.why
        ));
    }
}

pub(super) fn analysis_of(results: &Results, printer: &Printer) -> Result<Analysis, Failure> {
    talk_of_damaged(results, printer);
    let records = results.store.records().map_err(store_failure)?;
    let superseded = results.store.superseded().map_err(store_failure)?;
    Ok(analyse::analyse(&Input {
        study: &results.study,
        plan: &results.plan,
        records: &records,
        superseded: &superseded,
    }))
}

pub(super) fn print_tables(analysis: &Analysis, printer: &Printer) {
    let options = TerminalOptions {
        width: printer.data_width(),
        colour: printer.data_coloured,
        ..Default::default()
    };
    printer.data(&report::terminal(analysis, &options));
}

pub(super) fn meta() -> ReportMeta<'static> {
    ReportMeta {
        generated: Timestamp::now(),
        bancada_version: env!("CARGO_PKG_VERSION"),
        command: None,
    }
}

/// To the folder of the results unless another file is named.
pub(super) fn write_report(
    analysis: &Analysis,
    results: &Results,
    to: Option<&Path>,
) -> Result<PathBuf, Failure> {
    let command = format!("bancada report {}", results.folder.display());
    let html = report::html(
        analysis,
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
