//! The command line: arguments, wiring, printing, exit codes.

mod args;
mod commands;
mod exit;
mod printer;
mod progress;
mod signals;
mod table;

use std::process::ExitCode;

use clap::Parser as _;
use messages::Language;

fn main() -> ExitCode {
    let args = args::Args::parse();
    let printer = printer::Printer::from_environment();
    let answer = language(&args.command)
        .and_then(|language| language.scope(|| commands::dispatch(args.command, &printer)));
    match answer {
        Ok(_) if printer::data_was_lost() => exit::Exit::Trouble.into(),
        Ok(exit) => exit.into(),
        Err(failure) => {
            printer.complain(&failure.message);
            failure.exit.into()
        }
    }
}

/// Not that of LANG: what scripts read must not depend on who starts them.
fn language(command: &args::Command) -> Result<Language, exit::Failure> {
    let Some(asked) = command.language() else {
        return Ok(Language::English);
    };
    let variable = || std::env::var("BANCADA_LANG").ok().filter(|v| !v.is_empty());
    match (asked.lang, variable()) {
        (Some(language), _) => Ok(language),
        (None, None) => Ok(Language::English),
        (None, Some(text)) => text.parse().map_err(|wrong: String| {
            exit::Failure::wrong_arguments(format!("BANCADA_LANG: {wrong}"))
        }),
    }
}
