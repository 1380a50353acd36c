//! A place that carries nothing out: what becomes of an order is written in a script. It can be slow,
//! lose its connection, die, or hand over the wrong measurement, which real places do too rarely for a
//! test.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use model::measurement::{Foreseen, MEASUREMENT_FILE};
use model::run::phase;
use model::{
    Event, EventKind, Happening, Inventory, Measurement, Metric, Order, Outcome, Phase, RunId,
    Status, Timestamp,
};

use crate::error::PlaceError;
use crate::{Cancel, Description, Followed, Place, Prepared, Ticket, files};

/// What becomes of one order.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// That its run says it took; no time passes.
    pub seconds: f64,
    pub outcome: Outcome,
    /// How often it is looked at before it ends; none ends when it is cancelled.
    pub looks: Option<u32>,
    /// A phase each, reported at the first look.
    pub phases: Vec<String>,
    pub fault: Option<Fault>,
    /// It ended because its time was known.
    pub foreseen: Option<Foreseen>,
}

impl Default for Script {
    fn default() -> Self {
        Script {
            seconds: 1.0,
            outcome: Outcome::ok(),
            looks: Some(1),
            phases: Vec::new(),
            fault: None,
            foreseen: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// At the first looks.
    LosesConnection {
        looks: u32,
    },
    /// When it is first looked at, with all that runs there.
    Dies,
    CannotStart,
    LeavesNoMeasurement,
    /// Its remains stay, until the place is swept.
    CannotCleanUp,
    /// First the measurement of the order before this one, then the right one.
    DeliversThePreviousFirst,
    /// At the first looks.
    WaitsInAQueue {
        looks: u32,
    },
    Slow(Duration),
}

/// Hands out scripts: a closure over the order.
type Scripts = Box<dyn Fn(&Order) -> Script + Send + Sync>;

pub struct Fake {
    name: String,
    scripts: Scripts,
    outlives_coordinator: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    is_dead: bool,
    orders: BTreeMap<Ticket, Held>,
    started: Vec<RunId>,
    previous: Option<Measurement>,
}

#[derive(Debug)]
struct Held {
    order: Order,
    script: Script,
    looks: u32,
    has_reported: bool,
    fetches: u32,
    cancelled: Option<Cancel>,
}

impl Fake {
    pub fn new(name: &str, scripts: impl Fn(&Order) -> Script + Send + Sync + 'static) -> Self {
        Fake {
            name: name.to_owned(),
            scripts: Box::new(scripts),
            outlives_coordinator: false,
            state: Mutex::default(),
        }
    }

    /// As a place whose workers go on without the coordinator.
    pub fn outliving(mut self) -> Self {
        self.outlives_coordinator = true;
        self
    }

    /// Every order that was started, in their order.
    pub fn started(&self) -> Vec<RunId> {
        self.state().started.clone()
    }

    /// Orders that nobody cleaned up.
    pub fn left(&self) -> usize {
        self.state().orders.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn living(&self) -> Result<MutexGuard<'_, State>, PlaceError> {
        let state = self.state();
        match state.is_dead {
            true => Err(PlaceError::Dead(format!("{} does not answer", self.name))),
            false => Ok(state),
        }
    }
}

impl Place for Fake {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn describe(&self) -> Result<Description, PlaceError> {
        drop(self.living()?);
        let machine = Inventory {
            hostname: self.name.clone(),
            logical_cores: 4,
            usable_cores: 4.0,
            memory_bytes: 8 << 30,
            ..Inventory::default()
        };
        Ok(Description {
            capacity: machine.capacity(),
            machine,
            price: None,
        })
    }

    fn prepare(&self, _orders: &[Order]) -> Result<Prepared, PlaceError> {
        drop(self.living()?);
        Ok(Prepared::default())
    }

    fn start(&self, order: &Order, _folder: &Path) -> Result<Ticket, PlaceError> {
        let script = (self.scripts)(order);
        let mut state = self.living()?;
        if script.fault == Some(Fault::CannotStart) {
            return Err(PlaceError::Refused("no room".to_owned()));
        }
        let ticket = Ticket(order.id.clone());
        if self.outlives_coordinator && state.orders.contains_key(&ticket) {
            return Ok(ticket);
        }
        state.started.push(order.run);
        let held = Held {
            order: order.clone(),
            script,
            looks: 0,
            has_reported: false,
            fetches: 0,
            cancelled: None,
        };
        state.orders.insert(ticket.clone(), held);
        Ok(ticket)
    }

    fn follow(&self, ticket: &Ticket, patience: Duration) -> Result<Followed, PlaceError> {
        let mut state = self.living()?;
        let held = held(&mut state, ticket)?;
        held.looks += 1;
        let followed = held.look();
        let pause = match held.script.fault {
            Some(Fault::Dies) => {
                state.is_dead = true;
                state.orders.clear();
                return Err(PlaceError::Dead(format!("{} does not answer", self.name)));
            }
            Some(Fault::Slow(pause)) => pause,
            _ if held.script.looks.is_none() => Duration::from_millis(1),
            _ => Duration::ZERO,
        };
        drop(state);
        thread::sleep(pause.min(patience));
        followed
    }

    fn cancel(&self, ticket: &Ticket, how: Cancel) -> Result<(), PlaceError> {
        let mut state = self.living()?;
        let held = held(&mut state, ticket)?;
        held.cancelled = held.cancelled.max(Some(how));
        Ok(())
    }

    fn fetch(&self, ticket: &Ticket, folder: &Path) -> Result<Measurement, PlaceError> {
        let mut state = self.living()?;
        let previous = state.previous.clone();
        let held = held(&mut state, ticket)?;
        held.fetches += 1;
        let measurement = held.measurement();
        let delivered = match held.script.fault {
            Some(Fault::LeavesNoMeasurement) => {
                return Err(PlaceError::NoMeasurement("it was ended by signal 9".into()));
            }
            Some(Fault::DeliversThePreviousFirst) if held.fetches == 1 => {
                previous.unwrap_or_else(|| measurement.clone())
            }
            _ => measurement.clone(),
        };
        state.previous = Some(measurement);
        files::write_private(&folder.join(MEASUREMENT_FILE), &delivered)?;
        Ok(delivered)
    }

    fn clean_up(&self, ticket: &Ticket) -> Result<(), PlaceError> {
        let mut state = self.state();
        let fault = state.orders.get(ticket).and_then(|held| held.script.fault);
        if fault == Some(Fault::CannotCleanUp) {
            return Err(PlaceError::Lost("no route".to_owned()));
        }
        state.orders.remove(ticket);
        Ok(())
    }

    fn lost_patience(&self) -> Duration {
        Duration::from_millis(200)
    }

    fn outlives_coordinator(&self) -> bool {
        self.outlives_coordinator
    }

    fn sweep(&self, keep: &[String]) -> Result<(), PlaceError> {
        let mut state = self.living()?;
        state.orders.retain(|ticket, _| keep.contains(&ticket.0));
        Ok(())
    }
}

fn held<'s>(state: &'s mut State, ticket: &Ticket) -> Result<&'s mut Held, PlaceError> {
    let found = state.orders.get_mut(ticket);
    found.ok_or_else(|| PlaceError::Refused(format!("no order {} was started here", ticket.0)))
}

impl Held {
    fn look(&mut self) -> Result<Followed, PlaceError> {
        if let Some(Fault::LosesConnection { looks }) = self.script.fault
            && self.looks <= looks
        {
            return Err(PlaceError::Lost("no route".to_owned()));
        }
        let waits = match self.script.fault {
            Some(Fault::WaitsInAQueue { looks }) => looks,
            _ => 0,
        };
        let is_over = self.script.looks.is_some_and(|looks| self.looks >= looks);
        let is_first = !std::mem::replace(&mut self.has_reported, true);
        let phases = self.script.phases.iter().filter(|_| is_first);
        let event = |phase: &String| {
            Happening::Event(Event {
                at: Some(0.0),
                kind: EventKind::Phase {
                    phase: phase.clone(),
                },
            })
        };
        Ok(Followed {
            happenings: phases.map(event).collect(),
            is_waiting: self.looks <= waits,
            has_ended: is_over || self.cancelled.is_some(),
        })
    }

    fn measurement(&self) -> Measurement {
        let seconds = self.script.seconds;
        let outcome = match self.cancelled {
            Some(_) => Outcome {
                signal: Some(15),
                ..Outcome::without_end(Status::Interrupted, "was interrupted")
            },
            None => self.script.outcome.clone(),
        };
        let time = Metric {
            value: seconds,
            unit: "s".to_owned(),
        };
        Measurement {
            order: self.order.id.clone(),
            run: self.order.run,
            bancada: "0".to_owned(),
            seconds,
            phases: vec![Phase {
                name: phase::TRAIN.to_owned(),
                begin_seconds: 0.0,
                seconds,
            }],
            metrics: BTreeMap::from([(model::run::metric::TRAIN_SECONDS.to_owned(), time)]),
            device: self.order.device.clone(),
            command: vec![self.order.environment.clone()],
            foreseen: self.script.foreseen,
            ..Measurement::new(outcome, Timestamp::UNIX_EPOCH)
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Work;

    use super::*;
    use crate::conformance::{self, command_order};

    /// The commands that every place gets, as a script.
    fn script(order: &Order) -> Script {
        let Work::Command(command) = &order.work else {
            return Script::default();
        };
        let is = |words: &[&str]| command.command == words;
        if is(conformance::FAILS) {
            Script {
                outcome: Outcome {
                    status: Status::Failed,
                    ..Outcome::ok()
                },
                ..Script::default()
            }
        } else if is(conformance::ENDLESS) {
            Script {
                looks: None,
                ..Script::default()
            }
        } else if is(conformance::REPORTS) {
            Script {
                phases: vec![conformance::REPORTED_PHASE.to_owned()],
                ..Script::default()
            }
        } else {
            Script::default()
        }
    }

    fn check_with(fault: Option<Fault>) {
        let folder = tempfile::tempdir().unwrap();
        let fake = Fake::new("fake", move |order| Script {
            fault,
            ..script(order)
        });
        let found = conformance::check(&fake, folder.path());
        assert_eq!(found, Ok(()), "{fault:?}");
        assert_eq!(fake.left(), 0, "{fault:?}");
    }

    #[test]
    fn it_is_a_place() {
        check_with(None);
        check_with(Some(Fault::Slow(Duration::from_millis(2))));
        check_with(Some(Fault::LosesConnection { looks: 3 }));
    }

    #[test]
    fn a_dead_place_stays_dead() {
        let folder = tempfile::tempdir().unwrap();
        let fake = Fake::new("fake", |_| Script {
            fault: Some(Fault::Dies),
            ..Script::default()
        });
        let order = command_order("1", &["true"]);
        let ticket = fake.start(&order, folder.path()).unwrap();
        let dead = |error: PlaceError| matches!(error, PlaceError::Dead(_));
        assert!(fake.follow(&ticket, Duration::ZERO).is_err_and(dead));
        assert!(fake.start(&order, folder.path()).is_err_and(dead));
        assert!(fake.describe().is_err_and(dead));
        assert!(fake.clean_up(&ticket).is_ok());
    }

    /// The suite finds what it is there for.
    #[test]
    fn a_place_that_loses_measurements_does_not_pass() {
        let folder = tempfile::tempdir().unwrap();
        let fake = Fake::new("fake", |order| Script {
            fault: Some(Fault::LeavesNoMeasurement),
            ..script(order)
        });
        assert!(conformance::check(&fake, folder.path()).is_err());
    }
}
