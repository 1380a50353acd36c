use std::fs;

use super::results::{analysis_at, meta};
use super::run_files;
use super::what_if;
use crate::args::{CsvTable, ExportArgs, Format};
use crate::exit::{CommandResult, Exit, Failure};
use crate::locate::open_results;
use crate::printer::Printer;

pub(super) fn export(args: &ExportArgs, printer: &Printer) -> CommandResult {
    let results = open_results(&args.results, printer)?;
    let other = what_if::asked(&args.what_if, &args.results.study, &results, printer)?;
    let analysis = analysis_at(&results, other.as_ref(), printer)?;
    let text = match (args.format, args.table) {
        (Format::Csv, CsvTable::Runs) => report::csv_runs(&analysis),
        (Format::Csv, CsvTable::Scenarios) => report::csv_scenarios(&analysis),
        (Format::Csv, CsvTable::Variation) => report::csv_variation(&analysis),
        (Format::Csv, CsvTable::Losses) => report::csv_losses(&analysis),
        (Format::Csv, CsvTable::Steps) => report::csv_steps(&analysis, &|run| {
            let steps = run_files::steps(&results, run);
            steps
                .wrong
                .iter()
                .for_each(|wrong| printer.talk(&format!("! {wrong}")));
            steps.found
        }),
        (Format::Csv, CsvTable::Profile) => report::csv_profile(&analysis),
        (Format::Csv, CsvTable::Bills) => report::csv_bills(&analysis),
        (Format::Csv, CsvTable::BreakEvens) => report::csv_break_evens(&analysis),
        (Format::Json, _) => report::json(&analysis, &meta()),
        (Format::Markdown, _) => report::markdown(&analysis, &meta()),
        (Format::Latex, _) => report::latex(&analysis),
    };
    match &args.to {
        Some(path) => {
            fs::write(path, text)
                .map_err(|e| Failure::trouble(format!("cannot write {}: {e}", path.display())))?;
            printer.talk(&format!("Wrote {}.", path.display()));
        }
        None => printer.data(&text),
    }
    Ok(Exit::Ok)
}
