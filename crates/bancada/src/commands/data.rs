//! `bancada data`: lists, downloads and shows datasets.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ::data::{Counts, DataRequest, DatasetInfo, FOLDER};
use fetch::{FetchError, FetchEvent, Fetched, Limits, Origin, Request};
use frameworks::Home;
use indicatif::{ProgressBar, ProgressStyle};
use report::format;

use crate::args::{DataCommand, DataShowArgs};
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;
use crate::table::Table;

pub(super) fn data(command: DataCommand, printer: &Printer) -> CommandResult {
    let home = Home::find().map_err(Failure::trouble)?;
    match command {
        DataCommand::List => {
            printer.data(&list(home.path()));
            Ok(Exit::Ok)
        }
        DataCommand::Fetch { datasets, from } => {
            fetch_all(&datasets, from.as_deref(), home.path(), printer)
        }
        DataCommand::Show(args) => show(&args, home.path(), printer),
    }
}

fn list(home: &Path) -> String {
    let mut text = String::new();
    for info in ::data::names().filter_map(::data::info) {
        let images = format!("{} + {}", info.images, info.held_out);
        let size = format!("{} × {} × {}", info.channels, info.side, info.side);
        let state = match fetch::wanted_bytes(info.name).map(|bytes| format::bytes(bytes as f64)) {
            None => "generated, as many as requested".to_owned(),
            Some(size) if fetch::is_here(info.name, home) => format!("downloaded, {size}"),
            Some(size) => format!("not downloaded, {size}: bancada data fetch {}", info.name),
        };
        let (name, classes) = (info.name, info.classes);
        _ = writeln!(
            text,
            "{name:14} {images:>14} images  {size:12} {classes:>3} classes  {state}"
        );
    }
    _ = writeln!(
        text,
        "{FOLDER:14} your own pictures by class: dataset = \"{FOLDER}\", data_dir = \"…\""
    );
    let caches = ::data::cache::all(home);
    let size = format::bytes(caches.bytes as f64);
    let root = ::data::cache::root(home);
    match caches.count {
        0 => {}
        1 => _ = writeln!(text, "\n1 cache of {size} in {}", root.display()),
        count => _ = writeln!(text, "\n{count} caches, {size} in {}", root.display()),
    }
    if caches.count > 0 {
        text += "Caches can be deleted at any time; they are rebuilt when a study needs them.\n";
    }
    text
}

/// One that fails does not keep the others from being fetched.
fn fetch_all(
    datasets: &[String],
    from: Option<&str>,
    home: &Path,
    printer: &Printer,
) -> CommandResult {
    if datasets.len() > 1 && from.is_some() {
        let message = "--from works with one dataset only: fetch the others separately";
        return Err(Failure::trouble(message));
    }
    let mut exit = Exit::Ok;
    for dataset in datasets {
        match fetched(dataset, from, home, printer) {
            Ok(sentence) => printer.data(&sentence),
            Err(error) => {
                printer.complain(&format!("error: {error}"));
                exit = Exit::Trouble;
            }
        }
    }
    Ok(exit)
}

/// For a run that needs it.
pub(super) fn fetch_one(dataset: &str, home: &Path, printer: &Printer) -> Result<(), Failure> {
    let sentence = fetched(dataset, None, home, printer).map_err(Failure::trouble)?;
    printer.talk(&sentence);
    Ok(())
}

/// What was fetched, in a sentence.
fn fetched(
    dataset: &str,
    from: Option<&str>,
    home: &Path,
    printer: &Printer,
) -> Result<String, FetchError> {
    let request = Request {
        dataset: dataset.to_owned(),
        home: home.to_owned(),
        from: from.map(origin),
        limits: Limits::default(),
    };
    let began = Instant::now();
    let mut teller = Teller::new(printer);
    let fetched = fetch::fetch(&request, &mut |told| teller.on(told));
    teller.finish();
    let seconds = began.elapsed().as_secs_f64();
    Ok(sentence(dataset, &fetched?, seconds))
}

fn origin(from: &str) -> Origin {
    match from.starts_with("http://") || from.starts_with("https://") {
        true => Origin::Url(from.to_owned()),
        false => Origin::Folder(PathBuf::from(from)),
    }
}

fn sentence(dataset: &str, fetched: &Fetched, seconds: f64) -> String {
    let Counts {
        train, held_out, ..
    } = &fetched.counts;
    let sum = |counts: &[u64]| counts.iter().sum::<u64>();
    let size = format::bytes(fetched.bytes as f64);
    let how = match &fetched.place {
        Some(place) => format!("from {place}, {seconds:.1} s"),
        None => "already downloaded".to_owned(),
    };
    format!(
        "{dataset}: {} + {} images of {} classes, {size} in {} ({how}; all files match the published ones)",
        sum(train),
        sum(held_out),
        train.len(),
        fetched.folder.display(),
    )
}

/// Places and files as lines; on a terminal, how far a download is.
struct Teller {
    printer: Printer,
    bar: Option<ProgressBar>,
}

impl Teller {
    fn new(printer: &Printer) -> Self {
        Teller {
            printer: *printer,
            bar: None,
        }
    }

    fn on(&mut self, told: FetchEvent<'_>) {
        match told {
            FetchEvent::Received {
                file,
                received_bytes,
                total_bytes,
            } => self.received(file, received_bytes, total_bytes),
            FetchEvent::Trying { place } => self.line(&format!("Trying {place}")),
            FetchEvent::Failed { why, .. } => self.line(&format!("  ! {why}")),
            FetchEvent::Getting { what } => self.line(&format!("  downloading {what}")),
            FetchEvent::Checked { file, bytes } => {
                let size = format::bytes(bytes as f64);
                self.line(&format!("  {file}  {size}  ok"));
            }
        }
    }

    fn received(&mut self, file: &str, received_bytes: u64, total_bytes: Option<u64>) {
        if !self.printer.talk_is_terminal {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let template = "  {prefix} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
            let style = ProgressStyle::with_template(template);
            ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        if bar.prefix() != file {
            bar.set_prefix(file.to_owned());
            bar.reset();
            // What an earlier try brought is no speed of this one.
            bar.reset_eta();
        }
        bar.set_length(total_bytes.unwrap_or(received_bytes));
        bar.set_position(received_bytes);
    }

    fn line(&mut self, text: &str) {
        self.finish();
        self.printer.talk(text);
    }

    fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn show(args: &DataShowArgs, home: &Path, printer: &Printer) -> CommandResult {
    let asked = Asked::new(args, home);
    let info = ::data::describe(&asked.name, asked.data_dir.as_deref());
    let info = info.map_err(Failure::trouble)?;
    let request = DataRequest {
        dataset: asked.name,
        data_dir: asked.data_dir,
        image: args.image.unwrap_or(info.side),
        images: None,
        held_out: None,
        seed: 0,
    };
    let counts = ::data::count(&request, home).map_err(Failure::trouble)?;
    printer.data(&description(&info, &counts));
    if let Some(path) = &args.sheet {
        let few = DataRequest {
            images: Some(args.images.min(info.images)),
            held_out: Some(0),
            ..request
        };
        write_sheet(&few, path)?;
        printer.talk(&format!("The first images: {}", path.display()));
    }
    Ok(Exit::Ok)
}

/// Which dataset is meant, and where it lies.
struct Asked {
    name: String,
    data_dir: Option<PathBuf>,
}

impl Asked {
    fn new(args: &DataShowArgs, home: &Path) -> Self {
        match ::data::info(&args.dataset) {
            Some(info) => Asked {
                name: info.name.to_owned(),
                data_dir: match (&args.data_dir, info.needs_folder) {
                    (Some(folder), _) => Some(folder.clone()),
                    (None, true) => Some(::data::fetched_folder(home, info.name)),
                    (None, false) => None,
                },
            },
            None if args.dataset != FOLDER && Path::new(&args.dataset).is_dir() => Asked {
                name: FOLDER.to_owned(),
                data_dir: Some(PathBuf::from(&args.dataset)),
            },
            None => Asked {
                name: args.dataset.clone(),
                data_dir: args.data_dir.clone(),
            },
        }
    }
}

fn description(info: &DatasetInfo, counts: &Counts) -> String {
    let colours = if info.channels == 1 { "grey" } else { "colour" };
    let sum = |counts: &[u64]| counts.iter().sum::<u64>();
    let mut text = format!(
        "{}: {} training and {} held-out images in {} classes, {colours}, {} × {} pixels\n\n",
        info.name,
        sum(&counts.train),
        sum(&counts.held_out),
        info.classes,
        info.side,
        info.side
    );
    let name = |label: usize| match counts.class_names.get(label) {
        Some(name) => name.clone(),
        None => label.to_string(),
    };
    let names: Vec<String> = (0..counts.train.len()).map(name).collect();
    let mut table = Table::default()
        .text("class")
        .number("training")
        .number("held out");
    for (name, (train, held_out)) in names.iter().zip(counts.train.iter().zip(&counts.held_out)) {
        table.row(vec![name.clone(), train.to_string(), held_out.to_string()]);
    }
    text += &table.rendered();
    text
}

fn write_sheet(request: &DataRequest, path: &Path) -> Result<(), Failure> {
    let images = ::data::load(request).map_err(Failure::trouble)?.train;
    let columns = (images.len() as f64).sqrt().ceil() as usize;
    let picture = ::data::picture::encode(&::data::sheet(&images, columns));
    let bytes = picture.map_err(Failure::trouble)?;
    fs::write(path, bytes)
        .map_err(|error| Failure::trouble(format!("cannot write {}: {error}", path.display())))
}
