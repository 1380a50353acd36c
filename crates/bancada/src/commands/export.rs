use std::fs;

use report::Exported;

use super::results::{Shown, meta};
use crate::args::ExportArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

pub(super) fn export(args: &ExportArgs, printer: &Printer) -> CommandResult {
    let Shown {
        results, analysis, ..
    } = Shown::open(&args.results, &args.what_if, printer)?;
    let steps = |run| {
        let steps = workbench::steps(&results, run);
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
