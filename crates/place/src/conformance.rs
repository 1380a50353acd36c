//! What every place must do, asked of a place as a coordinator would. A test of a new place calls
//! [`check`] and nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::order::ORDER_PROTOCOL;
use model::study::{CommandWorkload, Limits, MeasureSettings};
use model::{EventKind, Happening, Measurement, Order, RunId, Status, Work};

use crate::{Cancel, Place, PlaceError, Ticket};

/// Commands of the suite; a place that runs nothing knows them by heart.
pub const ENDS_WELL: &[&str] = &["true"];
pub const FAILS: &[&str] = &["false"];
pub const ENDLESS: &[&str] = &["sleep", "300"];
pub const REPORTS: &[&str] = &[
    "sh",
    "-c",
    "echo '{\"event\": \"phase\", \"phase\": \"verify\"}' >> \"$BANCADA_EVENTS\"; sleep 0.2",
];
/// What [`REPORTS`] reports.
pub const REPORTED_PHASE: &str = "verify";

/// No place takes longer for an order of the suite, however busy the machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// An order for a command.
pub fn command_order(id: &str, command: &[&str]) -> Order {
    Order {
        protocol: ORDER_PROTOCOL,
        id: id.to_owned(),
        run: RunId {
            scenario: 1,
            repetition: 1,
        },
        environment: "local".to_owned(),
        work: Work::Command(CommandWorkload {
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            env: Default::default(),
            directory: None,
            log: Vec::new(),
            inputs: Vec::new(),
        }),
        limits: Limits::default(),
        device: None,
        measure: MeasureSettings {
            interval_seconds: 0.1,
            timeout_seconds: None,
            grace_seconds: 2.0,
        },
        expected_seconds: None,
        known_at: None,
        inputs: Vec::new(),
    }
}

/// All that is wrong with a place, each with the name of what was tried. `folder` is for files of the
/// runs.
pub fn check(place: &dyn Place, folder: &Path) -> Result<(), String> {
    let suite = Suite { place, folder };
    let checks = [
        ("describes itself", suite.describes_itself()),
        ("prepares twice", suite.prepares_twice()),
        ("runs an order", suite.runs_an_order()),
        ("fetches again", suite.fetches_again()),
        ("reports a failed run", suite.reports_a_failed_run()),
        ("reports events", suite.reports_events()),
        ("cancels", suite.cancels()),
        ("cleans up what runs", suite.cleans_up_what_runs()),
        ("refuses unknown tickets", suite.refuses_unknown_tickets()),
    ];
    let wrong: Vec<String> = checks
        .into_iter()
        .filter_map(|(name, result)| Some(format!("{name}: {}", result.err()?)))
        .collect();
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n")),
    }
}

struct Suite<'a> {
    place: &'a dyn Place,
    folder: &'a Path,
}

struct Ended {
    ticket: Ticket,
    happenings: Vec<Happening>,
    measurement: Measurement,
    folder: PathBuf,
}

fn sentence(error: PlaceError) -> String {
    error.to_string()
}

fn expect(holds: bool, why: impl Into<String>) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why.into()) }
}

impl Suite<'_> {
    fn describes_itself(&self) -> Result<(), String> {
        let description = self.place.describe().map_err(sentence)?;
        expect(!self.place.name().is_empty(), "it has no name")?;
        expect(description.capacity.cores > 0.0, "it has no cores")?;
        expect(description.capacity.memory_bytes > 0, "it has no memory")
    }

    fn prepares_twice(&self) -> Result<(), String> {
        let orders = [command_order("prepared", ENDS_WELL)];
        self.place.prepare(&orders).map_err(sentence)?;
        self.place.prepare(&orders).map_err(sentence)?;
        Ok(())
    }

    fn runs_an_order(&self) -> Result<(), String> {
        for id in ["first", "second"] {
            let ended = self.carry_out(id, ENDS_WELL)?;
            let Measurement {
                order,
                run,
                outcome,
                ..
            } = &ended.measurement;
            expect(order == id, format!("{id} was answered for {order}"))?;
            expect(run.to_string() == "C1-r1", format!("it says it is {run}"))?;
            expect(
                outcome.status == Status::Ok,
                format!("`true` ended as {}: {:?}", outcome.status, outcome.detail),
            )?;
            self.place.clean_up(&ended.ticket).map_err(sentence)?;
        }
        Ok(())
    }

    fn fetches_again(&self) -> Result<(), String> {
        let ended = self.carry_out("fetched", ENDS_WELL)?;
        let again = self.place.fetch(&ended.ticket, &ended.folder);
        let again = again.map_err(sentence)?;
        expect(again == ended.measurement, "the second answer differs")?;
        let followed = self.place.follow(&ended.ticket, Duration::ZERO);
        let followed = followed.map_err(sentence)?;
        expect(followed.has_ended, "it has not ended any more")?;
        self.place.clean_up(&ended.ticket).map_err(sentence)?;
        self.place.clean_up(&ended.ticket).map_err(sentence)
    }

    fn reports_a_failed_run(&self) -> Result<(), String> {
        let ended = self.carry_out("failed", FAILS)?;
        let status = ended.measurement.outcome.status;
        self.place.clean_up(&ended.ticket).map_err(sentence)?;
        expect(
            status == Status::Failed,
            format!("`false` ended as {status}"),
        )
    }

    fn reports_events(&self) -> Result<(), String> {
        let ended = self.carry_out("reports", REPORTS)?;
        self.place.clean_up(&ended.ticket).map_err(sentence)?;
        let is_phase = |happening: &Happening| match happening {
            Happening::Event(event) => {
                let is_named =
                    matches!(&event.kind, EventKind::Phase { phase } if phase == REPORTED_PHASE);
                is_named && event.at.is_some()
            }
            Happening::Sample(_) => false,
        };
        expect(
            ended.happenings.iter().any(is_phase),
            "the event was not reported while it ran",
        )
    }

    fn cancels(&self) -> Result<(), String> {
        for (id, how) in [("finish", Cancel::Finish), ("now", Cancel::Now)] {
            let (ticket, folder) = self.start(id, ENDLESS)?;
            self.place.cancel(&ticket, how).map_err(sentence)?;
            self.follow(&ticket)?;
            self.place.cancel(&ticket, how).map_err(sentence)?;
            let measurement = self.place.fetch(&ticket, &folder).map_err(sentence)?;
            self.place.clean_up(&ticket).map_err(sentence)?;
            let status = measurement.outcome.status;
            expect(
                status == Status::Interrupted,
                format!("{id}: it ended as {status}"),
            )?;
        }
        Ok(())
    }

    fn cleans_up_what_runs(&self) -> Result<(), String> {
        let (ticket, _) = self.start("left", ENDLESS)?;
        self.place.clean_up(&ticket).map_err(sentence)?;
        let after = self.place.follow(&ticket, Duration::ZERO);
        expect(
            !matches!(after, Ok(followed) if !followed.has_ended),
            "it still runs",
        )
    }

    fn refuses_unknown_tickets(&self) -> Result<(), String> {
        let ticket = Ticket("nobody's".to_owned());
        let refused = |error: &PlaceError| matches!(error, PlaceError::Refused(_));
        let follow = self.place.follow(&ticket, Duration::ZERO);
        expect(
            follow.as_ref().is_err_and(refused),
            format!("follow: {follow:?}"),
        )?;
        let fetch = self.place.fetch(&ticket, self.folder);
        expect(
            fetch.as_ref().is_err_and(refused),
            format!("fetch: {fetch:?}"),
        )?;
        let cancel = self.place.cancel(&ticket, Cancel::Now);
        expect(
            cancel.as_ref().is_err_and(refused),
            format!("cancel: {cancel:?}"),
        )?;
        self.place.clean_up(&ticket).map_err(sentence)
    }

    fn carry_out(&self, id: &str, command: &[&str]) -> Result<Ended, String> {
        let (ticket, folder) = self.start(id, command)?;
        let happenings = self.follow(&ticket)?;
        let measurement = self.place.fetch(&ticket, &folder).map_err(sentence)?;
        Ok(Ended {
            ticket,
            happenings,
            measurement,
            folder,
        })
    }

    fn start(&self, id: &str, command: &[&str]) -> Result<(Ticket, PathBuf), String> {
        let folder = self.folder.join(id);
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let order = command_order(id, command);
        let ticket = self.place.start(&order, &folder).map_err(sentence)?;
        Ok((ticket, folder))
    }

    /// To the end; a connection may be lost on the way.
    fn follow(&self, ticket: &Ticket) -> Result<Vec<Happening>, String> {
        let deadline = Instant::now() + PATIENCE;
        let mut happenings = Vec::new();
        while Instant::now() < deadline {
            match self.place.follow(ticket, Duration::from_millis(50)) {
                Ok(followed) => {
                    happenings.extend(followed.happenings);
                    if followed.has_ended {
                        return Ok(happenings);
                    }
                }
                Err(PlaceError::Lost(_)) => std::thread::sleep(Duration::from_millis(1)),
                Err(error) => return Err(error.to_string()),
            }
        }
        Err(format!("it has not ended after {} s", PATIENCE.as_secs()))
    }
}
