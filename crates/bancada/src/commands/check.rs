use std::path::Path;

use frameworks::Home;
use workbench::{CapacityQuestion, Lacks, Opened, open_study, refuse_too_large};

use super::plan::{ELSEWHERE, runs_words};
use crate::args::CheckArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

/// All files are looked at, whatever is wrong with the first.
pub(super) fn check(args: &CheckArgs, printer: &Printer) -> CommandResult {
    let mut exit = Exit::Ok;
    let home = Home::find().map_err(Failure::trouble)?;
    for path in &args.studies {
        match check_one(path, args, &home, printer) {
            Ok((opened, lacks)) => {
                printer.data(&format!(
                    "{}: ok, {}",
                    path.display(),
                    runs_words(&opened.study, &opened.plan)
                ));
                for line in lacks.to_do(path) {
                    printer.talk(&format!("  · {line}"));
                }
            }
            Err(failure) => {
                printer.complain(&failure.message);
                exit = failure.exit;
            }
        }
    }
    Ok(exit)
}

/// A study that is to run elsewhere is not held against this machine.
fn check_one(
    path: &Path,
    args: &CheckArgs,
    home: &Home,
    printer: &Printer,
) -> Result<(Opened, Lacks), Failure> {
    let opened = open_study(path, None, &printer.teller())?;
    super::designs::warn(&opened.study, printer);
    if args.elsewhere {
        return Ok((opened, Lacks::default()));
    }
    let wish = CapacityQuestion {
        runs: &opened.plan.runs,
        has_real_endpoints: false,
        capacities: None,
        advice: ELSEWHERE,
    };
    refuse_too_large(&opened, &wish)?;
    let lacks = Lacks::of(&opened.study, &opened.plan.scenarios, &opened.folder, home);
    lacks.refuse_own(path)?;
    Ok((opened, lacks))
}
