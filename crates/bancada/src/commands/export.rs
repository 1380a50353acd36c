use std::fs;

use report::Exported;

use super::results::{analysis_at, meta};
use super::run_files;
use super::what_if;
use crate::args::ExportArgs;
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
    let what = Exported {
        analysis: &analysis,
        meta: &meta(),
        steps: &steps,
    };
    let text = report::export(&what, args.format, args.table);
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
