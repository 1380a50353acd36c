//! The far end of a [`crate::Remote`]: `bancada agent` on the machine where runs happen. It knows
//! nothing that is not on the disk, so that any number of them may come and go.

use std::fs::{self, File};
use std::io::{self, BufRead, Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use host::{Digest, Digester};
use model::{Event, EventKind, Happening, Order, Work};

use crate::error::PlaceError;
use crate::runs::{Launcher, Runs};
use crate::wire::{
    self, Answer, FileOf, Folder, Frame, HEARTBEAT, Hello, LONGEST_LOOK, Lack, Lacking, PROTOCOL,
    Request,
};
use crate::{Cancel, Place as _, Ticket};

/// What only the program knows about its machine: frameworks and datasets.
pub trait Stock: Sync {
    fn lacking(&self, orders: &[Order]) -> Lacking;

    fn bring(&self, lack: &Lack) -> Result<(), String>;

    /// Why this machine will be gone soon, where its provider has said so.
    fn notice(&self) -> Option<String> {
        None
    }

    /// Bancada's cache on this machine.
    fn cache(&self) -> &Path;
}

/// Answers until the other end closes.
pub fn serve<L: Launcher>(
    runs: &Runs<L>,
    stock: &dyn Stock,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> io::Result<()> {
    let agent = Agent {
        runs,
        stock,
        is_notice_passed_on: AtomicBool::new(false),
    };
    let hello = Hello {
        bancada_agent: PROTOCOL,
    };
    wire::send(output, hello, 0)?;
    while let Some(Frame { message, bytes }) = wire::receive(input)? {
        match message {
            Request::Put(file) => {
                let put = agent.put(&file, bytes, input)?;
                wire::send(output, done(put), 0)?;
            }
            Request::Fetch { ticket, have } => agent.fetch(&ticket, &have, output)?,
            request => {
                let answer = in_time(output, || agent.answer(request))?;
                wire::send(output, answer, 0)?;
            }
        }
    }
    Ok(())
}

struct Agent<'a, L> {
    runs: &'a Runs<L>,
    stock: &'a dyn Stock,
    is_notice_passed_on: AtomicBool,
}

/// With a sign of life every now and then: whoever waits cannot tell work from a dead connection.
fn in_time<T: Send>(output: &mut dyn Write, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        scope.spawn(move || sender.send(work()));
        loop {
            match results.recv_timeout(HEARTBEAT) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) => wire::send(output, Answer::Working, 0)?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::Error::other("the request was not answered"));
                }
            }
        }
    })
}

fn done(result: Result<(), PlaceError>) -> Answer {
    match result {
        Ok(()) => Answer::Done,
        Err(error) => Answer::Failed(error),
    }
}

impl<L: Launcher> Agent<'_, L> {
    fn answer(&self, request: Request) -> Answer {
        let answered = match request {
            Request::Describe => self.runs.describe().map(|d| Answer::Described(Box::new(d))),
            Request::Lacks { orders } => Ok(Answer::Lacking(self.stock.lacking(&orders))),
            Request::Bring(lack) => {
                let brought = self.stock.bring(&lack);
                Ok(done(brought.map_err(PlaceError::Refused)))
            }
            Request::Prepare { orders } => self.runs.prepare(&orders).map(Answer::Prepared),
            Request::Missing { files } => Ok(self.missing(files)),
            Request::Start { order } => self.start(&order),
            Request::Follow {
                ticket,
                position,
                patience_seconds,
            } => self.follow(&ticket, position, patience_seconds),
            Request::Cancel { ticket, how } => Ok(done(self.runs.cancel(&ticket, how))),
            Request::CleanUp { ticket } => Ok(done(self.runs.clean_up(&ticket))),
            Request::Sweep { keep } => Ok(done(self.runs.sweep(&keep))),
            Request::Put(_) | Request::Fetch { .. } => Err(PlaceError::Refused(
                "a request with bytes came to the wrong place".to_owned(),
            )),
        };
        answered.unwrap_or_else(Answer::Failed)
    }

    fn start(&self, order: &Order) -> Result<Answer, PlaceError> {
        if let Work::Command(command) = &order.work
            && let Some(directory) = &command.directory
            && wire::stays_inside(directory)
        {
            let directory = self.runs.study_folder().join(directory);
            let made = host::create_private_folder(&directory);
            made.map_err(|error| PlaceError::io("make", &directory, &error))?;
        }
        let started = self.runs.start(order, Path::new(""));
        started.map(|ticket| Answer::Started { ticket })
    }

    fn follow(&self, ticket: &Ticket, position: u64, seconds: f64) -> Result<Answer, PlaceError> {
        let patience = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let patience = patience.min(LONGEST_LOOK);
        let mut progressed = self.runs.follow_from(ticket, position, patience)?;
        let followed = &mut progressed.followed;
        if !followed.has_ended
            && let Some(reason) = self.stock.notice()
        {
            // What has to end soon ends in good order, and comes home while there is a machine.
            self.runs.cancel(ticket, Cancel::Finish)?;
            if !self.is_notice_passed_on.swap(true, Ordering::Relaxed) {
                followed.happenings.push(Happening::Event(Event {
                    at: None,
                    kind: EventKind::Note { text: reason },
                }));
            }
        }
        Ok(Answer::Followed(progressed))
    }

    fn path_of(&self, file: &FileOf) -> Result<PathBuf, PlaceError> {
        let folder = match file.folder {
            Folder::Study => self.runs.study_folder(),
            Folder::Cache => self.stock.cache(),
            Folder::Run => return Err(PlaceError::Refused("files of runs are not sent".into())),
        };
        match wire::stays_inside(&file.path) {
            true => Ok(folder.join(&file.path)),
            false => Err(PlaceError::Refused(format!(
                "{} is not a path below the study's folder",
                file.path.display()
            ))),
        }
    }

    fn missing(&self, files: Vec<FileOf>) -> Answer {
        let is_here = |file: &FileOf| {
            let path = self.path_of(file).ok()?;
            let here = fs::symlink_metadata(&path).ok()?;
            let is_same = here.is_file() && here.len() == file.bytes;
            (is_same && Digest::of_file(&path).ok()?.to_string() == file.sha256).then_some(())
        };
        let files = files.into_iter().filter(|f| is_here(f).is_none());
        Answer::Missing {
            files: files.collect(),
        }
    }

    /// An error of the pipe is the outer one.
    fn put(
        &self,
        file: &FileOf,
        bytes: u64,
        input: &mut dyn BufRead,
    ) -> io::Result<Result<(), PlaceError>> {
        let mut body = input.take(bytes);
        let result = self.path_of(file).and_then(|path| {
            let written = write_checked(&path, file, &mut body);
            written.map_err(|error| PlaceError::io("write", &path, &error))
        });
        // What was not written (the disk may be full) must not be read as the next request.
        io::copy(&mut body, &mut io::sink())?;
        match body.limit() {
            0 => Ok(result),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn fetch(&self, ticket: &Ticket, have: &[FileOf], output: &mut dyn Write) -> io::Result<()> {
        // A queue may need seconds to account for a job.
        let listed = in_time(output, || {
            let ended = self.runs.ended(ticket)?;
            let folder = ended.folder;
            let describe = |path| FileOf::of(Folder::Run, &folder, path);
            let files = ended.files.into_iter().map(describe);
            let files = files.collect::<io::Result<Vec<FileOf>>>();
            let files = files.map_err(|error| PlaceError::io("read", &folder, &error))?;
            Ok((folder, files, ended.measurement.err()))
        })?;
        let (folder, mut files, no_measurement) = match listed {
            Ok(listed) => listed,
            Err(error) => return wire::send(output, Answer::Failed(error), 0),
        };
        files.retain(|file| !have.contains(file));
        let bytes = files.iter().map(|file| file.bytes).sum();
        let answer = Answer::Fetched {
            files: files.clone(),
            no_measurement,
        };
        wire::send(output, answer, bytes)?;
        for file in files {
            let mut from = File::open(folder.join(&file.path))?.take(file.bytes);
            let sent = io::copy(&mut from, output)?;
            if sent != file.bytes {
                // The line promised more; the other end asks again.
                return Err(io::Error::other("a file became shorter while it was read"));
            }
        }
        output.flush()
    }
}

/// Whole and as it was sent, or not at all.
pub(crate) fn write_checked(path: &Path, file: &FileOf, from: &mut dyn io::Read) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        host::create_private_folder(folder)?;
    }
    let mut from = from.take(file.bytes);
    host::write_whole_by(path, |to| {
        let mut digester = Digester::default();
        let mut buffer = vec![0; 64 << 10];
        loop {
            let length = from.read(&mut buffer)?;
            if length == 0 {
                break;
            }
            digester.update(&buffer[..length]);
            to.write_all(&buffer[..length])?;
        }
        match digester.finish().to_string() == file.sha256 {
            true => Ok(()),
            false => Err(io::Error::other("what arrived is not what was sent")),
        }
    })?;
    match file.is_program {
        true => {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(path, fs::Permissions::from_mode(0o700))
        }
        false => Ok(()),
    }
}
