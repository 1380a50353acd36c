use std::path::Path;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Args;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

pub(super) fn completions(shell: Shell, printer: &Printer) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "bancada", &mut script);
    printer.data(&String::from_utf8_lossy(&script));
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
