//! `bancada ui`: the page is the crate's; the address and the signals are the command line's.

use ui::{Options, Server, UiError};

use crate::args::UiArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;
use crate::signals::{self, STOP};

pub(super) fn ui(args: &UiArgs, printer: &Printer) -> CommandResult {
    let options = Options {
        folder: &args.folder,
        port: args.port,
        version: env!("CARGO_PKG_VERSION"),
    };
    let server = Server::bind(&options).map_err(failure)?;
    signals::listen();
    printer.data(&server.address());
    printer.talk("Open this address in a browser on this machine. Ctrl-C ends the page; studies that run go on.");
    server.run(&STOP).map_err(failure)?;
    Ok(Exit::Ok)
}

fn failure(error: UiError) -> Failure {
    match error {
        UiError::Study(error) => error.into(),
        UiError::Io(error) => Failure::trouble(error),
    }
}
