use std::path::Path;

use clap::CommandFactory as _;
use clap_complete::env::Shells;

use crate::args::{Args, ShellArg};
use crate::completion;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

/// The script asks the program itself, so that it knows today's studies, machines and frameworks.
pub(super) fn completions(shell: ShellArg, printer: &Printer) -> CommandResult {
    let shells = Shells::builtins();
    let shell = shells.completer(shell.name());
    let shell = shell.ok_or_else(|| Failure::trouble("no completions for this shell"))?;
    let mut script = Vec::new();
    shell
        .write_registration(
            completion::VARIABLE,
            "bancada",
            "bancada",
            "bancada",
            &mut script,
        )
        .map_err(Failure::trouble)?;
    printer.data_as_is(&String::from_utf8_lossy(&script));
    Ok(Exit::Ok)
}

pub(super) fn man(dir: Option<&Path>, printer: &Printer) -> CommandResult {
    match dir {
        Some(dir) => {
            let failed = |e: std::io::Error| {
                Failure::trouble(format!("cannot write to {}: {e}", dir.display()))
            };
            std::fs::create_dir_all(dir).map_err(failed)?;
            clap_mangen::generate_to(Args::command(), dir).map_err(failed)?;
            printer.talk(&format!("Wrote the pages to {}.", dir.display()));
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Args::command())
                .render(&mut page)
                .map_err(Failure::trouble)?;
            printer.data(&String::from_utf8_lossy(&page));
        }
    }
    Ok(Exit::Ok)
}
