//! A worker: carries out one order on this machine, or makes things ready for many.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use frameworks::Home;
use model::measurement::{MEASUREMENT_FILE, PROGRESS_FILE, ReadyRequest};
use model::{Happening, Order, Ready};
use serde::Serialize;
use serde::de::DeserializeOwned;
use worker::{Context, Worker};

use super::serve::make_model;
use crate::args::{MakeReadyArgs, WorkArgs};
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;
use crate::signals::{self, STOP};

/// Pinned in the workspace; a test holds the two together.
const ENGINE: &str = "burn-tensor 0.22.1, flex";

pub(super) fn work(args: &WorkArgs) -> CommandResult {
    signals::listen_as_worker().map_err(Failure::trouble)?;
    let order: Order = read(&args.order)?;
    let program = own_program()?;
    let home = Home::find().map_err(Failure::trouble)?;
    fs::create_dir_all(&args.folder).map_err(|e| cannot("make", &args.folder, &e))?;
    let ready: Ready = match &args.ready {
        Some(path) => read(path)?,
        None => make_ready_apart(&order, args, &program)?,
    };
    let worker = Worker {
        context: Context {
            bancada: &program,
            files: &args.files,
            home: &home,
        },
        ready: &ready,
        version: env!("CARGO_PKG_VERSION"),
        stop: &STOP,
    };
    let (sender, happenings) = mpsc::channel();
    let path = args.folder.join(PROGRESS_FILE);
    // Not on the measuring thread: a slow disk would be measured with the run.
    let writer = thread::spawn(move || write_progress(&path, &happenings));
    let measured = worker.work(&order, &args.folder, &mut |happening| {
        // What happens is in the measurement, too.
        _ = sender.send(happening);
    });
    drop(sender);
    // A run whose progress could not be written was measured all the same.
    _ = writer.join();
    let measurement = measured.map_err(Failure::trouble)?;
    write(&args.folder.join(MEASUREMENT_FILE), &measurement)?;
    Ok(Exit::Ok)
}

/// Whoever follows the run reads the file as it grows.
fn write_progress(path: &Path, happenings: &Receiver<Happening>) -> std::io::Result<()> {
    let mut file = fs::File::create(path)?;
    let mut lines = Vec::new();
    while let Ok(first) = happenings.recv() {
        lines.clear();
        for happening in std::iter::once(first).chain(happenings.try_iter()) {
            serde_json::to_writer(&mut lines, &happening)?;
            lines.push(b'\n');
        }
        file.write_all(&lines)?;
    }
    Ok(())
}

/// For an order that came alone. In a process of its own: what is loaded to convert a model would be
/// measured with the run.
fn make_ready_apart(order: &Order, args: &WorkArgs, program: &Path) -> Result<Ready, Failure> {
    let [request, ready] = ["ready-request.json", "ready.json"].map(|name| args.folder.join(name));
    write(
        &request,
        &ReadyRequest {
            orders: vec![order.clone()],
            results: None,
        },
    )?;
    let status = Command::new(program)
        .arg("make-ready")
        .args([&request, &ready])
        .arg("--files")
        .arg(&args.files)
        .stdin(Stdio::null())
        .status();
    let status = status.map_err(|e| cannot("start", program, &e))?;
    if !status.success() {
        return Err(Failure::trouble("this machine could not be made ready"));
    }
    let made = read(&ready)?;
    for path in [request, ready] {
        // They lie in the run's folder and harm nobody.
        _ = fs::remove_file(path);
    }
    Ok(made)
}

pub(super) fn make_ready(args: &MakeReadyArgs, printer: &Printer) -> CommandResult {
    let request: ReadyRequest = read(&args.request)?;
    let program = own_program()?;
    let home = Home::find().map_err(Failure::trouble)?;
    let context = Context {
        bancada: &program,
        files: &args.files,
        home: &home,
    };
    let machine = measure::inventory(versions());
    let make = |wish: &model::order::ModelWish| {
        make_model(wish, &args.files, &home, printer).map_err(|failure| failure.message)
    };
    let ready = worker::make_ready(&request, machine, context, &make);
    write(&args.ready, &ready)?;
    Ok(Exit::Ok)
}

pub(super) fn own_program() -> Result<std::path::PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|e| Failure::trouble(format!("cannot find this program's own file: {e}")))
}

fn versions() -> BTreeMap<String, String> {
    BTreeMap::from([
        ("bancada".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ("engine".to_owned(), ENGINE.to_owned()),
    ])
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let bytes = fs::read(path).map_err(|e| cannot("read", path, &e))?;
    let parsed = serde_json::from_slice(&bytes);
    parsed.map_err(|e| Failure::new(Exit::WrongArguments, format!("{}: {e}", path.display())))
}

/// Whole or not at all: whoever waits for the file must not read half of it.
fn write(path: &Path, value: &impl Serialize) -> Result<(), Failure> {
    let bytes = serde_json::to_vec(value).map_err(Failure::trouble)?;
    let unfinished = path.with_extension("partial");
    let mut options = OpenOptions::new();
    // An order holds the variables of a command.
    let options = options.write(true).create(true).truncate(true).mode(0o600);
    let written = options
        .open(&unfinished)
        .and_then(|mut file| file.write_all(&bytes));
    written.map_err(|e| cannot("write", &unfinished, &e))?;
    fs::rename(&unfinished, path).map_err(|e| cannot("write", path, &e))
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::trouble(format!("cannot {what} {}: {error}", path.display()))
}
