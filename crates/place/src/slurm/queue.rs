//! Slurm's queue as one user sees it, asked once for all jobs.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::ask::ask;
use crate::error::PlaceError;

/// [`host::ask`] keeps no more; a list that was cut off would hide jobs.
const MOST_BYTES: usize = 1 << 20;
const FORMAT: &str = "%i|%T|%N|%r|%j";

/// A job as the queue has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) state: String,
    pub(super) nodes: String,
    pub(super) reason: String,
}

impl Entry {
    pub(super) fn is_waiting(&self) -> bool {
        matches!(
            self.state.as_str(),
            "PENDING" | "CONFIGURING" | "REQUEUED" | "REQUEUE_HOLD" | "SPECIAL_EXIT"
        )
    }

    /// Waits, runs or is being ended.
    pub(super) fn is_active(&self) -> bool {
        let runs = matches!(
            self.state.as_str(),
            "RUNNING"
                | "COMPLETING"
                | "SUSPENDED"
                | "STOPPED"
                | "SIGNALING"
                | "STAGE_OUT"
                | "RESIZING"
        );
        runs || self.is_waiting()
    }
}

type Entries = BTreeMap<String, Entry>;

#[derive(Debug)]
struct Snapshot {
    /// Just before it was asked for.
    taken: Instant,
    /// Just after.
    answered: Instant,
    entries: Result<Entries, PlaceError>,
}

#[derive(Debug, Default)]
pub(super) struct Queue {
    last: Mutex<Option<Snapshot>>,
}

impl Queue {
    /// The job of this name, in a list that was taken after `since` and is no older than `age`. Who
    /// comes while the controller is being asked waits for that answer instead of asking again.
    pub(super) fn find(
        &self,
        name: &str,
        since: Instant,
        age: Duration,
    ) -> Result<Option<Entry>, PlaceError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = last.take().filter(|snapshot| {
            let is_late_enough = snapshot.taken >= since || snapshot.entries.is_err();
            is_late_enough && snapshot.answered.elapsed() <= age
        });
        let snapshot = last.insert(fresh.unwrap_or_else(look));
        match &snapshot.entries {
            Ok(entries) => Ok(entries.get(name).cloned()),
            Err(error) => Err(error.clone()),
        }
    }
}

fn look() -> Snapshot {
    let taken = Instant::now();
    // SAFETY: the call has no arguments and cannot fail.
    let user = unsafe { libc::geteuid() }.to_string();
    // Those that ended a short while ago are in it, too.
    let words = ["-h", "-a", "-t", "all", "-u", &user, "-o", FORMAT];
    let entries = ask("squeue", words).and_then(|text| match text.len() < MOST_BYTES {
        true => Ok(parse(&text)),
        false => Err(PlaceError::Lost(
            "the queue has too many jobs of this user to be read".to_owned(),
        )),
    });
    Snapshot {
        taken,
        answered: Instant::now(),
        entries,
    }
}

/// By name. Of several with one name the one that is active counts, or else the last.
fn parse(text: &str) -> Entries {
    let mut entries = Entries::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.splitn(5, '|').collect();
        let [id, state, nodes, reason, name] = fields[..] else {
            continue;
        };
        let entry = Entry {
            id: id.to_owned(),
            state: state.to_owned(),
            nodes: nodes.to_owned(),
            reason: reason.to_owned(),
        };
        match entries.get(name) {
            Some(known) if known.is_active() && !entry.is_active() => {}
            _ => _ = entries.insert(name.to_owned(), entry),
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_known_by_their_names() {
        let text = "12|PENDING||Resources|study-C1-r1\n\
                    9|RUNNING|n[1-2]|None|twice\n\
                    10|COMPLETED|n1|None|twice\n\
                    nonsense\n\
                    13_[1-4]|PENDING||Priority|somebody's | name\n";
        let entries = parse(text);
        assert_eq!(entries.len(), 3);
        assert!(entries["study-C1-r1"].is_waiting());
        assert_eq!(entries["twice"].id, "9");
        assert_eq!(entries["twice"].nodes, "n[1-2]");
        assert_eq!(entries["somebody's | name"].reason, "Priority");
    }
}
