//! `bancada price`: prices found, shown, compared, refreshed.

mod compare;
mod find;
mod json;
mod rules;
mod show;
mod table;
mod update;

use cost::Catalog;
use frameworks::Home;
use model::Timestamp;
use prices::Loaded;

use crate::args::PriceCommand;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

pub(super) fn price(command: PriceCommand, printer: &Printer) -> CommandResult {
    match command {
        PriceCommand::Find(args) => find::find(&args, &known(printer), printer),
        PriceCommand::Show { machines, json } => {
            show::show(&machines, json, &known(printer), printer)
        }
        PriceCommand::Rules { names } => rules::rules(&names, printer),
        PriceCommand::Compare(args) => compare::compare(&args, &known(printer), printer),
        PriceCommand::Update(args) => update::update(&args, printer),
    }
}

/// All prices of this machine: the refreshed ones over those that came with the program.
pub(crate) fn known(printer: &Printer) -> Catalog {
    match Home::find() {
        Ok(home) => checked(prices::load(home.path()), printer).catalog,
        // Without a place for a cache nothing was ever refreshed.
        Err(_) => cost::catalog().clone(),
    }
}

/// Says what is wrong with the refreshed prices; what is right of them is used.
fn checked(loaded: Loaded, printer: &Printer) -> Loaded {
    if let Some(problem) = &loaded.problem {
        printer.talk(&format!(
            "! The refreshed prices cannot be read ({problem}): those of this version are used. bancada price update fetches them again."
        ));
    }
    for (reason, left_out) in loaded.left_out.iter() {
        let example = left_out.examples.first().map_or("", String::as_str);
        printer.talk(&format!(
            "! Of the refreshed prices {} left out: {reason} ({example})",
            report::format::counted(left_out.count as usize, "row is", "rows are"),
        ));
    }
    loaded
}

pub(super) fn today() -> String {
    Timestamp::now().to_string().chars().take(10).collect()
}

fn unknown(error: &cost::LookupError) -> Failure {
    Failure::new(Exit::BadStudy, error)
}
