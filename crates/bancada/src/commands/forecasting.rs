//! The forecast, with a line on the terminal that changes while pilots run.

use model::Scenario;
use runner::Forecast;
use workbench::Ask;

use crate::exit::Failure;
use crate::printer::Printer;

const CLEARED_LINE: &str = "\r\x1b[2K";

pub(super) fn make(ask: &Ask<'_>, printer: &Printer) -> Result<Option<Forecast>, Failure> {
    let forecast = workbench::forecast(ask, &printer.teller());
    if printer.talk_is_terminal {
        eprint!("{CLEARED_LINE}");
    }
    Ok(forecast?)
}

pub(super) fn pilot_line(scenario: &Scenario, printer: &Printer) {
    if printer.talk_is_terminal {
        let levels = diagnostics::screen::safe(&scenario.levels_label()).into_owned();
        eprint!("{CLEARED_LINE}  pilot {}  {levels}", scenario.label());
    }
}
