//! One machine and the thread that carries out its orders, one at a time.

use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use model::{Asked, Happening, Measurement, Order, RunId, Stop};
use place::{Cancel, Place, PlaceError, Ticket};

/// How long one look at a run in progress may take.
const LOOK: Duration = Duration::from_millis(50);
/// Between two tries over a lost connection, at first.
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// A place may hand over a measurement that is not the one asked for so often.
const FETCHES: u32 = 3;

/// One order, where it is carried out, and the folder for its files.
pub(crate) struct Task<'a> {
    pub(crate) place: &'a dyn Place,
    pub(crate) order: Order,
    pub(crate) folder: PathBuf,
}

pub(crate) enum ToLane<'a> {
    CarryOut(Box<Task<'a>>),
    /// An order that is kept.
    CleanUp {
        run: RunId,
        place: &'a dyn Place,
        ticket: Ticket,
    },
}

#[derive(Debug)]
pub(crate) struct FromLane {
    pub(crate) lane: usize,
    pub(crate) news: News,
}

#[derive(Debug)]
pub(crate) enum News {
    Happened(Happening),
    Tick {
        seconds: f64,
    },
    Ended(Box<Ended>),
    /// Nothing is left of this run at its place.
    CleanedUp(RunId),
}

#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) result: Result<Measurement, Failure>,
    /// Since it was started; none where it could not be.
    pub(crate) seconds: Option<f64>,
    /// To be cleaned up when the run is kept, at a place that outlives the coordinator: one that is
    /// killed before that fetches it again.
    pub(crate) ticket: Option<Ticket>,
}

/// An order without a measurement.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) why: String,
    pub(crate) place_is_gone: bool,
    /// What runs there goes on, as far as anybody knows.
    pub(crate) is_lost: bool,
}

impl From<PlaceError> for Failure {
    fn from(error: PlaceError) -> Self {
        Failure {
            place_is_gone: matches!(error, PlaceError::Dead(_) | PlaceError::Lost(_)),
            is_lost: matches!(error, PlaceError::Lost(_)),
            why: error.to_string(),
        }
    }
}

/// Wishes to stop: a person's, and the runner's own when the budget is spent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stops<'a> {
    pub(crate) person: &'a Stop,
    pub(crate) runner: &'a Stop,
}

impl Stops<'_> {
    pub(crate) fn asked(&self) -> Asked {
        self.person.asked().max(self.runner.asked())
    }
}

/// Takes tasks until the sender is dropped.
pub(crate) fn start<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    number: usize,
    stops: Stops<'env>,
    news: Sender<FromLane>,
) -> Sender<ToLane<'env>> {
    let (sender, tasks): (Sender<ToLane<'env>>, Receiver<ToLane<'env>>) = mpsc::channel();
    scope.spawn(move || {
        let news_of = &news;
        for task in tasks {
            match task {
                ToLane::CarryOut(task) => {
                    let lane = Lane {
                        number,
                        place: task.place,
                        stops,
                        news: news_of,
                    };
                    lane.carry_out(&task);
                }
                ToLane::CleanUp { run, place, ticket } => {
                    if place.clean_up(&ticket).is_ok() {
                        let news = News::CleanedUp(run);
                        _ = news_of.send(FromLane { lane: number, news });
                    }
                }
            }
        }
    });
    sender
}

struct Lane<'a> {
    number: usize,
    place: &'a dyn Place,
    stops: Stops<'a>,
    news: &'a Sender<FromLane>,
}

impl Lane<'_> {
    fn carry_out(&self, task: &Task<'_>) {
        let begin = Instant::now();
        let ended = match self.place.start(&task.order, &task.folder) {
            Err(error) => Ended {
                result: Err(error.into()),
                seconds: None,
                ticket: None,
            },
            Ok(ticket) => {
                let mut begin = begin;
                let followed = self.follow(&ticket, &mut begin);
                let seconds = begin.elapsed().as_secs_f64();
                let result = followed.and_then(|()| self.fetch(&ticket, task));
                let outlives = self.place.outlives_coordinator();
                if !outlives {
                    // Files that stay at the place take room, and nothing else.
                    _ = self.place.clean_up(&ticket);
                }
                Ended {
                    result: result.map_err(Failure::from),
                    seconds: Some(seconds),
                    ticket: outlives.then_some(ticket),
                }
            }
        };
        self.tell(News::Ended(Box::new(ended)));
    }

    fn tell(&self, news: News) {
        let lane = self.number;
        // Nobody listens any more when the runner has given up.
        _ = self.news.send(FromLane { lane, news });
    }

    /// Time in a queue is not the run's: `begin` is moved to its end.
    fn follow(&self, ticket: &Ticket, begin: &mut Instant) -> Result<(), PlaceError> {
        let mut lost = Lost::default();
        let mut cancelled = Asked::Nothing;
        loop {
            let asked = self.stops.asked();
            let followed = self
                .cancel(ticket, asked, &mut cancelled)
                .and_then(|()| self.place.follow(ticket, LOOK));
            match followed {
                Ok(followed) => {
                    lost = Lost::default();
                    for happening in followed.happenings {
                        self.tell(News::Happened(happening));
                    }
                    if followed.has_ended {
                        return Ok(());
                    }
                    let seconds = match followed.is_waiting {
                        true => {
                            *begin = Instant::now();
                            0.0
                        }
                        false => begin.elapsed().as_secs_f64(),
                    };
                    self.tell(News::Tick { seconds });
                }
                Err(PlaceError::Lost(why)) => lost.wait(self.place.lost_patience(), why)?,
                Err(error) => return Err(error),
            }
        }
    }

    fn cancel(
        &self,
        ticket: &Ticket,
        asked: Asked,
        cancelled: &mut Asked,
    ) -> Result<(), PlaceError> {
        let how = match asked {
            Asked::Nothing | Asked::Pause => return Ok(()),
            _ if asked <= *cancelled => return Ok(()),
            Asked::Finish => Cancel::Finish,
            Asked::Now => Cancel::Now,
        };
        self.place.cancel(ticket, how)?;
        *cancelled = asked;
        Ok(())
    }

    /// The measurement of this order and of no other: a place may hand over an earlier one again.
    fn fetch(&self, ticket: &Ticket, task: &Task<'_>) -> Result<Measurement, PlaceError> {
        let mut lost = Lost::default();
        let mut fetches = 0;
        loop {
            match self.place.fetch(ticket, &task.folder) {
                Ok(measurement) if is_of(&measurement, &task.order) => return Ok(measurement),
                Ok(other) if fetches + 1 == FETCHES => {
                    let Measurement { run, order, .. } = other;
                    let why = format!("what came home is of {run}, order {order}");
                    return Err(PlaceError::NoMeasurement(why));
                }
                Ok(_) => fetches += 1,
                Err(PlaceError::Lost(why)) => lost.wait(self.place.lost_patience(), why)?,
                Err(error) => return Err(error),
            }
        }
    }
}

fn is_of(measurement: &Measurement, order: &Order) -> bool {
    measurement.order == order.id && measurement.run == order.run
}

/// A connection that is lost for now.
#[derive(Default)]
struct Lost {
    since: Option<Instant>,
    pause: Duration,
}

impl Lost {
    /// A little longer each time, and no longer than the place's patience.
    fn wait(&mut self, patience: Duration, why: String) -> Result<(), PlaceError> {
        let since = *self.since.get_or_insert_with(Instant::now);
        if since.elapsed() > patience {
            return Err(PlaceError::Lost(why));
        }
        self.pause = (self.pause * 2).clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
        thread::sleep(self.pause);
        Ok(())
    }
}
