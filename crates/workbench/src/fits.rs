//! Whether this machine has the cores and memory that a study requests.

use std::collections::BTreeMap;

use model::{Capacity, Environment, RunId};

use crate::error::Error;
use crate::open::Opened;

/// What would be done.
pub struct CapacityQuestion<'a> {
    pub runs: &'a [RunId],
    /// Endpoints are set up at their provider, not emulated here.
    pub has_real_endpoints: bool,
    /// By environment; without it, only what runs here is known.
    pub capacities: Option<&'a BTreeMap<String, Capacity>>,
    /// Ends the message.
    pub advice: &'static str,
}

/// Refuses the scenarios of these runs that need a larger machine.
pub fn refuse_too_large(opened: &Opened, wish: &CapacityQuestion<'_>) -> Result<(), Error> {
    let Opened {
        study,
        plan,
        text,
        path,
        ..
    } = opened;
    let scenarios = runner::scenarios_of(plan, wish.runs);
    let here = measure::capacity();
    let capacity_of = |environment: &Environment| match wish.capacities {
        Some(capacities) => capacities.get(&environment.name).copied(),
        None => environment.location.is_here().then_some(here),
    };
    let machine = ::plan::Machine {
        capacity_of: &capacity_of,
        has_real_endpoints: wish.has_real_endpoints,
    };
    let mut mistakes = ::plan::beyond_capacity(text, study, &scenarios, &machine);
    let Some(last) = mistakes.last_mut() else {
        return Ok(());
    };
    last.notes.push(wish.advice.to_owned());
    Err(Error::mistakes(&path.display().to_string(), text, mistakes))
}
