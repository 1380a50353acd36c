use std::fs;

use report::ExportTable;

use super::results::{analysis_at, meta};
use super::run_files;
use super::what_if;
use crate::args::{ExportArgs, Format, TableArg};
use crate::exit::{CommandResult, Exit, Failure};
use crate::locate::open_results;
use crate::printer::Printer;

pub(super) fn export(args: &ExportArgs, printer: &Printer) -> CommandResult {
    let results = open_results(&args.results, printer)?;
    let other = what_if::asked(&args.what_if, &args.results.study, &results, printer)?;
    let analysis = analysis_at(&results, other.as_ref(), printer)?;
    let steps = |run| {
        let steps = run_files::steps(&results, run);
        let wrong = steps.wrong.iter();
        wrong.for_each(|wrong| printer.talk(&format!("! {wrong}")));
        steps.found
    };
    let grid = |table: TableArg| report::export_table(kind(table), &analysis, &steps);
    let text = match (args.format, args.table) {
        (Format::Csv, table) => grid(table.unwrap_or(TableArg::Runs)).csv(),
        (Format::Json, None) => report::json(&analysis, &meta()),
        (Format::Json, Some(table)) => grid(table).json(),
        (Format::Markdown, None) => report::markdown(&analysis, &meta()),
        (Format::Markdown, Some(table)) => report::markdown_table(&grid(table)),
        (Format::Latex, None) => report::latex(&analysis),
        (Format::Latex, Some(table)) => {
            let caption = format!("{}: {}.", analysis.study.name, title(table));
            report::latex_table(&grid(table), &caption)
        }
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

fn kind(table: TableArg) -> ExportTable {
    match table {
        TableArg::Runs => ExportTable::Runs,
        TableArg::Scenarios => ExportTable::Scenarios,
        TableArg::Variation => ExportTable::Variation,
        TableArg::Losses => ExportTable::Losses,
        TableArg::Steps => ExportTable::Steps,
        TableArg::Profile => ExportTable::Profile,
        TableArg::Bills => ExportTable::Bills,
        TableArg::BreakEvens => ExportTable::BreakEvens,
    }
}

fn title(table: TableArg) -> &'static str {
    match table {
        TableArg::Runs => "runs",
        TableArg::Scenarios => "scenarios",
        TableArg::Variation => "what explains each metric",
        TableArg::Losses => "losses by epoch",
        TableArg::Steps => "steps",
        TableArg::Profile => "time by operator",
        TableArg::Bills => "lines of the bills",
        TableArg::BreakEvens => "break-even points",
    }
}
