//! Whether this machine has the cores and memory that a study requests.

use std::path::Path;

use model::RunId;
use source::Source;

use crate::exit::Failure;
use crate::locate::Opened;
use crate::printer::Printer;

/// For commands that only look at a study.
pub(super) const ELSEWHERE: &str = "if the study is meant for a larger machine, add --elsewhere";

/// What would be done.
pub(super) struct Wish<'a> {
    pub(super) runs: &'a [RunId],
    /// Endpoints are set up at their provider, not emulated here.
    pub(super) has_real_endpoints: bool,
    /// Ends the message.
    pub(super) advice: &'static str,
}

/// Refuses the scenarios of these runs that need a larger machine.
pub(super) fn refuse_too_large(
    path: &Path,
    opened: &Opened,
    wish: &Wish<'_>,
    printer: &Printer,
) -> Result<(), Failure> {
    let Opened {
        study, plan, text, ..
    } = opened;
    let scenarios = runner::scenarios_of(plan, wish.runs);
    let machine = ::plan::Machine {
        capacity: measure::capacity(),
        has_real_endpoints: wish.has_real_endpoints,
    };
    let mut mistakes = ::plan::beyond_capacity(text, study, &scenarios, &machine);
    let Some(last) = mistakes.last_mut() else {
        return Ok(());
    };
    last.notes.push(wish.advice.to_owned());
    let name = path.display().to_string();
    let source = Source { name: &name, text };
    let rendered = source.render_all(&mistakes, printer.style());
    Err(Failure::bad_study(rendered.trim_end().to_owned()))
}
