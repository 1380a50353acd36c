//! A place at the far end of a pipe: an agent over SSH, or a plain process.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use model::measurement::MEASUREMENT_FILE;
use model::{Measurement, Order};

use crate::agent::write_checked;
use crate::connection::{Broken, Connection};
use crate::error::PlaceError;
use crate::runs::Progressed;
use crate::sent::SentFiles;
use crate::wire::{self, Answer, FileOf, Folder, Frame, LONGEST_LOOK, Lack, Lacking, Request};
use crate::{Cancel, Description, Followed, Place, Prepared, Ticket, files};

/// An agent that works says so every second: one that is silent for so long is not there.
const SILENCE: Duration = Duration::from_secs(15);
/// The same for removing what is left of an order: a later call removes it as well.
const CLEANING_PATIENCE: Duration = Duration::from_secs(30);
const SHORTEST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// What one kind of answer holds; any other kind is an error.
macro_rules! expect {
    ($answer:expr, $expected:pat => $held:expr) => {
        match $answer {
            $expected => Ok($held),
            other => Err(unexpected(&other)),
        }
    };
}

/// Gives the program that speaks with an agent. Asked again whenever the connection was lost.
pub trait Connector: Send + Sync {
    fn connect(&self) -> Result<Command, PlaceError>;

    /// What a connection that ended means.
    fn judge(&self, words: &str, _exit_code: Option<i32>) -> PlaceError {
        PlaceError::Lost(words.to_owned())
    }
}

impl<F: Fn() -> Command + Send + Sync> Connector for F {
    fn connect(&self) -> Result<Command, PlaceError> {
        Ok(self())
    }
}

/// A place whose agent is reached through a [`Connector`].
pub struct Remote {
    name: String,
    connector: Box<dyn Connector>,
    files: SentFiles,
    silence: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    connection: Option<Connection>,
    /// Behind what was followed of each order.
    positions: BTreeMap<Ticket, u64>,
    /// Orders whose remains could not be removed yet.
    left_behind: BTreeSet<Ticket>,
}

impl Remote {
    /// `study_folder` is the one on this machine, from which files are sent.
    pub fn new(name: &str, study_folder: &Path, connector: impl Connector + 'static) -> Self {
        Remote {
            name: name.to_owned(),
            connector: Box::new(connector),
            files: SentFiles::new(study_folder),
            silence: SILENCE,
            state: Mutex::default(),
        }
    }

    /// How long an agent may be silent before it counts as lost.
    pub fn with_silence(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    /// What the machine lacks for these orders.
    pub fn lacking(&self, orders: &[Order]) -> Result<Lacking, PlaceError> {
        let request = Request::Lacks {
            orders: orders.to_vec(),
        };
        expect!(self.ask(&request)?, Answer::Lacking(lacking) => lacking)
    }

    /// Lets the machine set a framework up, or fetch a dataset, by itself.
    pub fn bring(&self, lack: &Lack) -> Result<(), PlaceError> {
        self.done(&Request::Bring(lack.clone()))
    }

    /// Sends files of this machine's cache that the other one does not have.
    pub fn send_cached(&self, cache: &Path, paths: &[PathBuf]) -> Result<(), PlaceError> {
        let describe = |path: &PathBuf| self.files.describe(Folder::Cache, cache, path);
        let files = paths.iter().map(describe).collect::<Result<Vec<_>, _>>()?;
        self.send_missing(cache, files)
    }

    fn send_inputs(&self, orders: &[Order]) -> Result<(), PlaceError> {
        let files = self.files.unsent(orders)?;
        if files.is_empty() {
            return Ok(());
        }
        self.send_missing(self.files.folder(), files.clone())?;
        self.files.were_sent(files);
        Ok(())
    }

    fn send_missing(&self, folder: &Path, files: Vec<FileOf>) -> Result<(), PlaceError> {
        let answer = self.ask(&Request::Missing { files })?;
        for file in expect!(answer, Answer::Missing { files } => files)? {
            let path = folder.join(&file.path);
            let opened = File::open(&path);
            let mut from = opened.map_err(|error| PlaceError::io("read", &path, &error))?;
            let body = (file.bytes, &mut from as &mut dyn Read);
            let Frame { message, .. } = self.exchange(&Request::Put(file), Some(body))?;
            expect_done(message)?;
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self, request: &Request) -> Result<Answer, PlaceError> {
        let answer = self.exchange(request, None)?;
        match answer.message {
            Answer::Failed(error) => Err(error),
            message => Ok(message),
        }
    }

    fn done(&self, request: &Request) -> Result<(), PlaceError> {
        self.ask(request).and_then(expect_done)
    }

    fn exchange(
        &self,
        request: &Request,
        body: Option<(u64, &mut dyn Read)>,
    ) -> Result<Frame<Answer>, PlaceError> {
        self.with_connection(|connection| {
            let asked = connection.ask(request, body);
            asked.map_err(|broken| self.judge(&broken))
        })
    }

    /// Connects first where there is no connection; one that broke is given up.
    fn with_connection<T>(
        &self,
        what: impl FnOnce(&mut Connection) -> Result<T, PlaceError>,
    ) -> Result<T, PlaceError> {
        let mut state = self.state();
        if state.connection.is_none() {
            state.connection = Some(self.connect(&mut state.left_behind)?);
        }
        let Some(connection) = &mut state.connection else {
            return Err(PlaceError::Lost("there is no connection".to_owned()));
        };
        let result = what(connection);
        if let Err(PlaceError::Lost(_)) = &result {
            state.connection = None;
        }
        result
    }

    fn connect(&self, left_behind: &mut BTreeSet<Ticket>) -> Result<Connection, PlaceError> {
        let command = self.connector.connect()?;
        let opened = Connection::open(command, self.silence);
        let mut connection = opened.map_err(|broken| self.judge(&broken))?;
        while let Some(ticket) = left_behind.first().cloned() {
            let request = Request::CleanUp {
                ticket: ticket.clone(),
            };
            let asked = connection.ask(&request, None);
            asked.map_err(|broken| self.judge(&broken))?;
            left_behind.remove(&ticket);
        }
        Ok(connection)
    }

    fn judge(&self, broken: &Broken) -> PlaceError {
        self.connector.judge(&broken.words(), broken.exit_code)
    }

    /// Again and again while the connection is lost.
    fn insist<T>(
        &self,
        patience: Duration,
        what: impl Fn() -> Result<T, PlaceError>,
    ) -> Result<T, PlaceError> {
        let deadline = Instant::now() + patience;
        let mut pause = SHORTEST_PAUSE;
        loop {
            match what() {
                Err(PlaceError::Lost(_)) if Instant::now() < deadline => {
                    thread::sleep(pause);
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                result => return result,
            }
        }
    }

    /// Files that an earlier try has brought home.
    fn home_already(folder: &Path) -> Vec<FileOf> {
        let paths = files::list_all(folder).unwrap_or_default();
        let described = paths
            .into_iter()
            .map(|path| FileOf::of(Folder::Run, folder, path));
        described.filter_map(Result::ok).collect()
    }

    fn fetch_files(&self, ticket: &Ticket, folder: &Path) -> Result<(), PlaceError> {
        let request = Request::Fetch {
            ticket: ticket.clone(),
            have: Remote::home_already(folder),
        };
        self.with_connection(|connection| {
            let asked = connection.ask(&request, None);
            let answer = asked.map_err(|broken| self.judge(&broken))?;
            let (files, no_measurement) = match answer.message {
                Answer::Fetched {
                    files,
                    no_measurement,
                } => (files, no_measurement),
                Answer::Failed(error) => return Err(error),
                other => return Err(unexpected(&other)),
            };
            for file in files {
                if !wire::stays_inside(&file.path) {
                    let path = file.path.display();
                    // The rest of what it sends must not be read as an answer.
                    return Err(PlaceError::Lost(format!("it sent a file named {path}")));
                }
                let path = folder.join(&file.path);
                let written = write_checked(&path, &file, connection.body());
                written.map_err(|error| {
                    let broken = connection.broken(&error);
                    PlaceError::Lost(format!("{}: {}", path.display(), broken.words()))
                })?;
            }
            no_measurement.map_or(Ok(()), Err)
        })
    }
}

fn unexpected(answer: &Answer) -> PlaceError {
    PlaceError::Refused(format!(
        "the agent gave an answer to another question: {answer:?}"
    ))
}

fn expect_done(answer: Answer) -> Result<(), PlaceError> {
    match answer {
        Answer::Failed(error) => Err(error),
        answer => expect!(answer, Answer::Done => ()),
    }
}

impl Place for Remote {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn describe(&self) -> Result<Description, PlaceError> {
        let answer = self.ask(&Request::Describe)?;
        expect!(answer, Answer::Described(description) => *description)
    }

    fn prepare(&self, orders: &[Order]) -> Result<Prepared, PlaceError> {
        self.send_inputs(orders)?;
        let request = Request::Prepare {
            orders: orders.to_vec(),
        };
        expect!(self.ask(&request)?, Answer::Prepared(prepared) => prepared)
    }

    /// Over lost connections too: an order that was started already is not started again.
    fn start(&self, order: &Order, _folder: &Path) -> Result<Ticket, PlaceError> {
        let request = Request::Start {
            order: Box::new(order.clone()),
        };
        let ticket = self.insist(self.lost_patience(), || {
            self.send_inputs(std::slice::from_ref(order))?;
            expect!(self.ask(&request)?, Answer::Started { ticket } => ticket)
        })?;
        self.state().positions.insert(ticket.clone(), 0);
        Ok(ticket)
    }

    fn follow(&self, ticket: &Ticket, patience: Duration) -> Result<Followed, PlaceError> {
        let position = self.state().positions.get(ticket).copied();
        let request = Request::Follow {
            ticket: ticket.clone(),
            position: position.unwrap_or_default(),
            patience_seconds: patience.min(LONGEST_LOOK).as_secs_f64(),
        };
        let answer = self.ask(&request)?;
        let Progressed { followed, position } =
            expect!(answer, Answer::Followed(progressed) => progressed)?;
        self.state().positions.insert(ticket.clone(), position);
        Ok(followed)
    }

    fn cancel(&self, ticket: &Ticket, how: Cancel) -> Result<(), PlaceError> {
        let ticket = ticket.clone();
        self.done(&Request::Cancel { ticket, how })
    }

    fn fetch(&self, ticket: &Ticket, folder: &Path) -> Result<Measurement, PlaceError> {
        self.fetch_files(ticket, folder)?;
        let measurement = files::read(&folder.join(MEASUREMENT_FILE))?;
        measurement.ok_or_else(|| PlaceError::NoMeasurement("it was not sent".to_owned()))
    }

    fn clean_up(&self, ticket: &Ticket) -> Result<(), PlaceError> {
        let request = Request::CleanUp {
            ticket: ticket.clone(),
        };
        let cleaned = self.insist(CLEANING_PATIENCE, || self.done(&request));
        let mut state = self.state();
        state.positions.remove(ticket);
        if let Err(PlaceError::Lost(_)) = &cleaned {
            state.left_behind.insert(ticket.clone());
        }
        cleaned
    }

    fn outlives_coordinator(&self) -> bool {
        true
    }

    fn sweep(&self, keep: &[String]) -> Result<(), PlaceError> {
        let keep = keep.to_vec();
        let request = Request::Sweep { keep };
        self.insist(CLEANING_PATIENCE, || self.done(&request))
    }
}

impl FileOf {
    pub(crate) fn of(folder: Folder, root: &Path, path: PathBuf) -> std::io::Result<FileOf> {
        use std::os::unix::fs::PermissionsExt as _;
        let file = root.join(&path);
        let found = fs::metadata(&file)?;
        Ok(FileOf {
            folder,
            bytes: found.len(),
            sha256: host::Digest::of_file(&file)?.to_string(),
            is_program: folder == Folder::Study && found.permissions().mode() & 0o100 != 0,
            path,
        })
    }
}
