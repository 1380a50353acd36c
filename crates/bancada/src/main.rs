//! The command line: arguments, wiring, printing, exit codes.

mod args;
mod commands;
mod completion;
mod exit;
mod metrics;
mod printer;
mod progress;
mod signals;
mod table;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    completion::answer();
    let args = args::Args::try_parse().unwrap_or_else(|error| args::with_tip(error).exit());
    let printer = printer::Printer::from_environment();
    match commands::dispatch(args.command, &printer) {
        Ok(_) if printer::data_was_lost() => exit::Exit::Trouble.into(),
        Ok(exit) => exit.into(),
        Err(failure) => {
            printer.complain(&failure.message);
            failure.exit.into()
        }
    }
}
