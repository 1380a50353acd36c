//! A worker: carries out one order on this machine, or makes things ready for many.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use frameworks::Home;
use model::location::Container;
use model::measurement::{MEASUREMENT_FILE, PROGRESS_FILE, ReadyRequest};
use model::{Happening, Order, Ready};
use place::Cancel;
use place::unattended::{self, Claim};
use serde::Serialize;
use serde::de::DeserializeOwned;
use worker::{Context, Preview, Worker};

use crate::args::{MakeReadyArgs, WorkArgs};
use crate::exit::{CommandResult, Exit, Failure};
use crate::signals::{self, STOP};

/// Its matrix product, which is pinned in the workspace.
const ENGINE: &str = "gemm-f32 0.19.0";

pub(super) fn work(args: &WorkArgs) -> CommandResult {
    signals::listen_as_worker().map_err(Failure::trouble)?;
    if args.unattended {
        claim(&args.folder)?;
    }
    let mut order: Order = read(&args.order)?;
    let program = workbench::own_program()?;
    let home = Home::find().map_err(Failure::trouble)?;
    let container: Option<Container> = args.container.as_deref().map(read).transpose()?;
    fs::create_dir_all(&args.folder).map_err(|e| cannot("make", &args.folder, &e))?;
    let mut ready: Ready = match &args.ready {
        Some(path) if is_ready(path, &order, container.as_ref())? => read(path)?,
        _ => make_ready_apart(&order, args, container.as_ref(), &program)?,
    };
    if args.unattended {
        // Another node may have been made ready, and what a job may use is known in it alone.
        ready.machine = measure::inventory(versions());
        ready.capacity = measure::capacity();
        worker::use_allocation(&mut order).map_err(Failure::trouble)?;
    }
    let worker = Worker {
        context: Context {
            bancada: &program,
            files: &args.files,
            home: &home,
            container: container.as_ref(),
        },
        ready: &ready,
        version: env!("CARGO_PKG_VERSION"),
        stop: &STOP,
    };
    let reserve = Reserve::make(&args.folder);
    let (sender, happenings) = mpsc::channel();
    let path = args.folder.join(PROGRESS_FILE);
    let preview = Preview::of(&mut order, &args.folder);
    // Not on the measuring thread: a slow disk would be measured with the run.
    let writer = thread::spawn(move || write_progress(&path, &happenings, preview));
    let measured = worker.work(&order, &args.folder, &mut |happening| {
        // What happens is in the measurement, too.
        _ = sender.send(happening);
    });
    drop(sender);
    // A run whose progress could not be written was measured all the same.
    _ = writer.join();
    drop(reserve);
    let measurement = measured.map_err(Failure::trouble)?;
    write(&args.folder.join(MEASUREMENT_FILE), &measurement)?;
    Ok(Exit::Ok)
}

/// Room for the measurement, or for the reason why there is none, on a disk that the run has filled.
struct Reserve(PathBuf);

impl Reserve {
    const BYTES: usize = 1 << 20;

    fn make(folder: &Path) -> Self {
        let path = folder.join(".reserve");
        // A disk that has no room for it is full already, and the run will say so.
        _ = fs::write(&path, vec![0; Self::BYTES]);
        Reserve(path)
    }
}

impl Drop for Reserve {
    fn drop(&mut self) {
        _ = fs::remove_file(&self.0);
    }
}

/// The order is this process's from here on, and it can be asked to end without a signal.
fn claim(folder: &Path) -> Result<(), Failure> {
    let variable = |name: &str| std::env::var(name).ok();
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let claim = Claim {
        host: host.trim().to_owned(),
        pid: std::process::id(),
        job: variable("SLURM_JOB_ID"),
        node: variable("SLURMD_NODENAME"),
    };
    let claimed = unattended::claim(folder, &claim);
    match claimed.map_err(|e| cannot("write", folder, &e))? {
        true => {
            unattended::attend(folder, |how| match how {
                Cancel::Now => STOP.request_now(),
                Cancel::Finish => STOP.request_finish(),
            });
            Ok(())
        }
        false => Err(Failure::trouble("another worker has this order already")),
    }
}

/// Whoever follows the run reads the file as it grows. It may hold what happened before the run.
fn write_progress(
    path: &Path,
    happenings: &Receiver<Happening>,
    mut preview: Option<Preview>,
) -> std::io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    let mut lines = Vec::new();
    while let Ok(first) = happenings.recv() {
        lines.clear();
        for happening in std::iter::once(first).chain(happenings.try_iter()) {
            if let Some(preview) = &mut preview {
                preview.take(&happening);
            }
            serde_json::to_writer(&mut lines, &happening)?;
            lines.push(b'\n');
        }
        file.write_all(&lines)?;
    }
    Ok(())
}

/// An order that was not prepared may need an image of its own.
fn is_ready(path: &Path, order: &Order, container: Option<&Container>) -> Result<bool, Failure> {
    let ready: Ready = read(path)?;
    Ok(container.is_none_or(|container| worker::has_image(order, container, &ready)))
}

/// For an order that came alone. In a process of its own: what is loaded to convert a model would be
/// measured with the run.
fn make_ready_apart(
    order: &Order,
    args: &WorkArgs,
    container: Option<&Container>,
    program: &Path,
) -> Result<Ready, Failure> {
    let [request, ready] = ["ready-request.json", "ready.json"].map(|name| args.folder.join(name));
    write(
        &request,
        &ReadyRequest {
            orders: vec![order.clone()],
            results: None,
            container: container.cloned(),
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

pub(super) fn make_ready(args: &MakeReadyArgs) -> CommandResult {
    let request: ReadyRequest = read(&args.request)?;
    let program = workbench::own_program()?;
    let home = Home::find().map_err(Failure::trouble)?;
    let context = Context {
        bancada: &program,
        files: &args.files,
        home: &home,
        container: request.container.as_ref(),
    };
    let machine = measure::inventory(versions());
    let make = |wish: &model::order::ModelWish| {
        workloads::models::make_model(wish, &args.files, &home).map_err(|error| error.to_string())
    };
    let ready = worker::make_ready(&request, machine, context, &make);
    write(&args.ready, &ready)?;
    Ok(Exit::Ok)
}

/// Of this program and of what it computes with.
pub(super) fn versions() -> BTreeMap<String, String> {
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
    // An order holds the variables of a command.
    let written = host::create_private(&unfinished).and_then(|mut file| file.write_all(&bytes));
    written.map_err(|e| cannot("write", &unfinished, &e))?;
    fs::rename(&unfinished, path).map_err(|e| cannot("write", path, &e))
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::trouble(format!("cannot {what} {}: {error}", path.display()))
}
