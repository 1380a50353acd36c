//! Every machine that was ever asked for, written down before anything is created: Terraform killed
//! in the middle of a creation forgets what it was creating.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use host::FileLock;
use jiff::Timestamp;
use model::Money;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::error::InfraError;
use crate::wanted::Wanted;

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) at: Timestamp,
    /// [`Wanted::id`].
    pub(crate) machine: String,
    #[serde(flatten)]
    pub(crate) event: Event,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Event {
    /// Terraform is about to create it. From here on it may cost money.
    Applying {
        wanted: Box<Wanted>,
    },
    Applied {
        address: String,
    },
    /// It answers, and what is needed is installed there.
    Ready {
        boot_seconds: f64,
        install_seconds: f64,
    },
    Destroying,
    /// Terraform destroyed it and its state is empty.
    Destroyed,
    /// Taken off the list by a person, who says that it is gone.
    Forgotten,
}

/// How far a machine's life has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Being created, or its creation was interrupted: it may exist.
    Applying,
    Applied,
    Ready,
    /// Being destroyed, or that was interrupted or failed: it may exist.
    Destroying,
    Destroyed,
    Forgotten,
}

/// A machine from the moment that it was asked for to the one that it was seen destroyed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rental {
    pub machine: String,
    pub wanted: Wanted,
    pub phase: Phase,
    pub since: Timestamp,
    pub address: Option<String>,
    /// From the first word to Terraform to the first answer by SSH.
    pub boot_seconds: Option<f64>,
    pub install_seconds: Option<f64>,
    pub destroying: Option<Timestamp>,
    pub ended: Option<Timestamp>,
}

impl Rental {
    pub(crate) fn new(machine: String, wanted: Wanted, since: Timestamp) -> Self {
        Rental {
            machine,
            wanted,
            phase: Phase::Applying,
            since,
            address: None,
            boot_seconds: None,
            install_seconds: None,
            destroying: None,
            ended: None,
        }
    }

    /// The same for all of its runs, and no other rental's.
    pub fn id(&self) -> String {
        format!("{}@{}", self.machine, self.since)
    }

    /// Whether it may cost money.
    pub fn is_open(&self) -> bool {
        !matches!(self.phase, Phase::Destroyed | Phase::Forgotten)
    }

    /// Since it was asked for, at the study's price, without rounding or minimum.
    pub fn cost_so_far(&self, now: Timestamp) -> Option<Money> {
        let per_hour = self.wanted.per_hour?;
        let until = self.ended.unwrap_or(now);
        let seconds = until.duration_since(self.since).as_secs().max(0);
        let amount = per_hour.amount.checked_mul(Decimal::from(seconds))?;
        Some(Money::new(amount / Decimal::from(3600), per_hour.currency))
    }

    /// When it ends itself.
    pub fn ends_itself(&self) -> Timestamp {
        let ends = self.since.checked_add(self.wanted.time_limit());
        ends.unwrap_or(Timestamp::MAX)
    }

    /// The wall time of the machine's life, until `now` if it has not ended.
    pub fn life(&self, now: Timestamp) -> model::MachineLife {
        let until = self.ended.unwrap_or(now);
        let seconds = |from: Timestamp| until.duration_since(from).as_secs_f64();
        model::MachineLife {
            rental: self.id(),
            environment: self.wanted.environment.clone(),
            began: self.since,
            startup_seconds: self.boot_seconds.unwrap_or(0.0),
            install_seconds: self.install_seconds.unwrap_or(0.0),
            shutdown_seconds: self.destroying.map_or(0.0, seconds),
            total_seconds: seconds(self.since),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Journal {
    path: PathBuf,
}

impl Journal {
    pub(crate) fn at(folder: &Path) -> Journal {
        Journal {
            path: folder.join("journal.jsonl"),
        }
    }

    /// On the disk when this returns.
    pub(crate) fn append(&self, machine: &str, event: Event) -> Result<(), InfraError> {
        let entry = Entry {
            at: Timestamp::now(),
            machine: machine.to_owned(),
            event,
        };
        let cannot = || InfraError::io("write", &self.path);
        let mut line = serde_json::to_vec(&entry).map_err(|e| cannot()(e.into()))?;
        line.push(b'\n');
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let _lock = FileLock::wait(&folder.join(".lock"))
            .map_err(|_| InfraError::Io(format!("cannot lock {}", folder.display())))?;
        let mut options = OpenOptions::new();
        let options = options.create(true).read(true).append(true).mode(0o600);
        let mut file = options.open(&self.path).map_err(cannot())?;
        if has_torn_end(&mut file).map_err(cannot())? {
            line.insert(0, b'\n');
        }
        file.write_all(&line).map_err(cannot())?;
        file.sync_all().map_err(cannot())?;
        host::sync_folder(folder).map_err(cannot())
    }

    /// All rentals, oldest first.
    pub(crate) fn rentals(&self) -> Result<Vec<Rental>, InfraError> {
        match fs::read_to_string(&self.path) {
            Ok(text) => Ok(rentals(&text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(InfraError::io("read", &self.path)(error)),
        }
    }
}

/// The last line is of a program that was killed while it wrote.
fn has_torn_end(file: &mut fs::File) -> std::io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != [b'\n'])
}

/// A line that cannot be read was never finished, so what it announces was never begun.
fn rentals(text: &str) -> Vec<Rental> {
    let mut all: Vec<Rental> = Vec::new();
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    let entries = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    for Entry { at, machine, event } in entries {
        let place = open.get(&machine).copied();
        if let (Event::Applying { wanted }, None) = (&event, place) {
            open.insert(machine.clone(), all.len());
            all.push(Rental::new(machine, (**wanted).clone(), at));
            continue;
        }
        let Some(rental) = place.and_then(|place| all.get_mut(place)) else {
            continue;
        };
        take(rental, event, at);
        if !rental.is_open() {
            open.remove(&machine);
        }
    }
    all
}

fn take(rental: &mut Rental, event: Event, at: Timestamp) {
    rental.phase = match event {
        Event::Applying { wanted } => {
            rental.wanted = *wanted;
            Phase::Applying
        }
        Event::Applied { address } => {
            rental.address = Some(address);
            match rental.boot_seconds {
                Some(_) => Phase::Ready,
                None => Phase::Applied,
            }
        }
        Event::Ready {
            boot_seconds,
            install_seconds,
        } => {
            rental.boot_seconds.get_or_insert(boot_seconds);
            rental.install_seconds.get_or_insert(install_seconds);
            Phase::Ready
        }
        Event::Destroying => {
            rental.destroying.get_or_insert(at);
            Phase::Destroying
        }
        Event::Destroyed => Phase::Destroyed,
        Event::Forgotten => Phase::Forgotten,
    };
    if !rental.is_open() {
        rental.ended = Some(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted() -> Wanted {
        Wanted {
            study: "s".into(),
            environment: "gpu".into(),
            folder: PathBuf::from("/s"),
            rented: model::location::RentedMachine {
                time_limit_seconds: 3600,
                ..Default::default()
            },
            per_hour: "0.36 USD".parse().ok(),
        }
    }

    #[test]
    fn a_machine_is_listed_until_it_is_seen_destroyed() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::at(folder.path());
        let phases = || -> Vec<Phase> {
            let rentals = journal.rentals().unwrap();
            rentals.iter().map(|rental| rental.phase).collect()
        };
        let event = |event: Event| journal.append("m1", event).unwrap();
        let applying = || Event::Applying {
            wanted: Box::new(wanted()),
        };
        assert_eq!(phases(), []);
        event(applying());
        assert_eq!(phases(), [Phase::Applying]);
        event(applying());
        let address = "10.0.0.1".to_owned();
        event(Event::Applied { address });
        assert_eq!(phases(), [Phase::Applied]);
        // Killed while it wrote.
        let path = folder.path().join("journal.jsonl");
        let mut text = fs::read_to_string(&path).unwrap();
        text.push_str("{\"at\": \"20");
        fs::write(&path, text).unwrap();
        event(Event::Destroying);
        assert_eq!(phases(), [Phase::Destroying]);
        event(Event::Destroyed);
        assert_eq!(phases(), [Phase::Destroyed]);
        // A second rental of the same machine, and one of another.
        event(applying());
        journal.append("m2", applying()).unwrap();
        assert_eq!(
            phases(),
            [Phase::Destroyed, Phase::Applying, Phase::Applying]
        );
        let rentals = journal.rentals().unwrap();
        assert_ne!(rentals[0].id(), rentals[1].id());
        assert!(rentals[0].life(Timestamp::MAX).total_seconds < 60.0);
        let later = rentals[1].since + jiff::SignedDuration::from_secs(60);
        assert_eq!(rentals[1].life(later).total_seconds, 60.0);
    }

    #[test]
    fn cost_goes_by_the_time_since_it_was_asked_for() {
        let line = serde_json::to_string(&Entry {
            at: "2026-01-01T00:00:00Z".parse().unwrap(),
            machine: "m".into(),
            event: Event::Applying {
                wanted: Box::new(wanted()),
            },
        });
        let rental = rentals(&line.unwrap()).remove(0);
        let now = "2026-01-01T00:30:00Z".parse().unwrap();
        assert_eq!(rental.cost_so_far(now).unwrap().to_string(), "US$ 0.18");
        assert_eq!(rental.ends_itself().to_string(), "2026-01-01T01:00:00Z");
    }
}
