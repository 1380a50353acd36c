//! `bancada price`: finds, shows, compares and updates prices.

mod compare;
pub(super) mod find;
mod json;
mod predicted;
mod rules;
mod show;
mod update;

use crate::args::PriceCommand;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

pub(super) fn price(command: PriceCommand, printer: &Printer) -> CommandResult {
    match command {
        PriceCommand::Find(args) => {
            find::find(&args, &workbench::catalog(&printer.teller()), printer)
        }
        PriceCommand::Show { machines, json } => show::show(
            &machines,
            json,
            &workbench::catalog(&printer.teller()),
            printer,
        ),
        PriceCommand::Rules { names } => rules::rules(&names, printer),
        PriceCommand::Compare(args) => {
            compare::compare(&args, &workbench::catalog(&printer.teller()), printer)
        }
        PriceCommand::Update(args) => update::update(&args, printer),
    }
}

fn unknown(error: &cost::LookupError) -> Failure {
    Failure::new(Exit::BadStudy, error)
}
