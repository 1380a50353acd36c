//! `bancada price`: finds, shows, compares and updates prices.

mod compare;
mod find;
mod json;
mod rules;
mod show;
mod update;

use cost::Catalog;
use frameworks::Home;
use model::{Study, Timestamp};
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
            "! The updated prices cannot be read ({problem}): using those that come with bancada. bancada price update downloads them again."
        ));
    }
    for (reason, left_out) in loaded.left_out.iter() {
        let example = left_out.examples.first().map_or("", String::as_str);
        printer.talk(&format!(
            "! {} of the updated prices skipped: {reason} ({example})",
            report::format::counted(left_out.count as usize, "row", "rows"),
        ));
    }
    loaded
}

pub(crate) fn today() -> String {
    Timestamp::now().to_string().chars().take(10).collect()
}

/// Prices of the catalog change several times a year: who plans by old ones is told.
pub(super) fn age_note(study: &Study) -> Option<String> {
    const OLD_DAYS: i64 = 180;
    let today = today();
    let prices = study.environments.iter().filter_map(|e| e.price.as_ref());
    let dates = prices.flat_map(|price| price.all_sizes());
    let dates = dates.filter(|price| price.machine.contains('/'));
    let oldest = dates.map(|price| price.date.as_str()).min()?;
    let is_old = prices::age_days(oldest, &today).is_some_and(|days| days >= OLD_DAYS);
    is_old.then(|| {
        format!(
            "  ! The prices are {} (read {oldest}): `bancada price update` fetches today's",
            prices::age(oldest, &today)
        )
    })
}

fn unknown(error: &cost::LookupError) -> Failure {
    Failure::new(Exit::BadStudy, error)
}
