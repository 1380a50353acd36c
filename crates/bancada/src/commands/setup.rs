//! `bancada setup`: creates, lists and removes environments.

use std::collections::BTreeSet;

use diagnostics::screen::pad_right;
use frameworks::{
    Framework, Home, Kind, Machine, Progress, Ready, Setup, SetupError, Spec, State, Trial,
};
use indicatif::{ProgressBar, ProgressStyle};
use report::format;
use worker::Scratch;

use crate::args::{FrameworkArg, SetupArgs};
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;
use crate::signals::{self, STOP};

pub(super) fn setup(args: &SetupArgs, printer: &Printer) -> CommandResult {
    let home = Home::find().map_err(Failure::trouble)?;
    if args.remove {
        return remove(&args.frameworks, &home, printer);
    }
    let machine = Machine::here();
    if args.list || args.frameworks.is_empty() {
        printer.data(&list(&home, &machine));
        return Ok(Exit::Ok);
    }
    signals::listen();
    let scratch = workbench::scratch(&home)?;
    let trial = trial(&scratch)?;
    let setup = Setup {
        home: &home,
        machine: &machine,
        gpu: args.gpu,
        trial: &trial,
        stop: &|| STOP.asked() != model::Asked::Nothing,
    };
    set_up_all(&setup, &wanted(&args.frameworks), printer)
}

/// For a run that needs it.
pub(super) fn set_up_one(
    spec: &Spec,
    gpu: bool,
    home: &Home,
    printer: &Printer,
) -> Result<(), Failure> {
    let machine = Machine::here();
    let scratch = workbench::scratch(home)?;
    let trial = trial(&scratch)?;
    let setup = Setup {
        home,
        machine: &machine,
        gpu,
        trial: &trial,
        stop: &|| STOP.asked() != model::Asked::Nothing,
    };
    let mut teller = Teller::new(printer);
    let result = setup.set_up(spec, &mut |progress| teller.on(&progress));
    teller.finish();
    match result {
        Ok(ready) => {
            printer.talk(&sentence(&ready));
            Ok(())
        }
        Err(stopped @ SetupError::Stopped { .. }) => Err(Failure::new(Exit::Interrupted, stopped)),
        Err(error) => Err(Failure::trouble(error)),
    }
}

/// What every framework is tried with.
pub(super) fn trial(scratch: &Scratch) -> Result<Trial, Failure> {
    worker::trial(scratch.path(), workbench::own_program()?).map_err(Failure::trouble)
}

/// A framework to set up, and whether it was asked for by its name.
struct SetupItem {
    spec: Spec,
    by_name: bool,
}

fn wanted(arguments: &[FrameworkArg]) -> Vec<SetupItem> {
    let mut wanted = Vec::new();
    for argument in arguments {
        match argument {
            FrameworkArg::One(spec) => wanted.push(SetupItem {
                spec: spec.clone(),
                by_name: true,
            }),
            FrameworkArg::All => wanted.extend(frameworks::all().map(|framework| SetupItem {
                spec: Spec::pinned(framework),
                by_name: false,
            })),
        }
    }
    let mut seen = BTreeSet::new();
    wanted.retain(|w| seen.insert(w.spec.to_string()));
    wanted
}

/// One that fails does not keep the others from being set up.
fn set_up_all(setup: &Setup<'_>, wanted: &[SetupItem], printer: &Printer) -> CommandResult {
    let mut failed = Vec::new();
    for SetupItem { spec, by_name } in wanted {
        let mut teller = Teller::new(printer);
        let result = setup.set_up(spec, &mut |progress| teller.on(&progress));
        teller.finish();
        match result {
            Ok(ready) => printer.data(&sentence(&ready)),
            Err(stopped @ SetupError::Stopped { .. }) => {
                return Err(Failure::new(Exit::Interrupted, stopped));
            }
            Err(error) if !by_name && error.cannot_be_had() => {
                printer.talk(&format!("skipped: {error}"));
            }
            Err(error) => {
                printer.complain(&format!("error: {error}"));
                failed.push(spec.to_string());
            }
        }
    }
    match failed.as_slice() {
        [] => Ok(Exit::Ok),
        _ if wanted.len() == 1 => Ok(Exit::Trouble),
        failed => Err(Failure::trouble(format!(
            "{} of {} could not be set up: {}",
            failed.len(),
            wanted.len(),
            failed.join(", ")
        ))),
    }
}

fn sentence(ready: &Ready) -> String {
    let name = ready.spec.name();
    let Some(installed) = &ready.installed else {
        return match ready.spec.framework.kind {
            Kind::Engine => format!("{name} is built in: nothing to set up"),
            _ => format!("{name} is already on this machine: nothing to set up"),
        };
    };
    let took = installed.seconds.map(|s| format!(", {}", took(s)));
    let with = installed
        .shared_with
        .map(|owner| format!(", in {owner}'s environment"));
    format!(
        "{name} {} is set up ({}{}{}{})",
        installed.version,
        format::bytes(installed.size_bytes as f64),
        if installed.gpu { ", for GPUs" } else { "" },
        with.unwrap_or_default(),
        took.unwrap_or_default(),
    )
}

/// Nobody wants to know the thousandth of a second of an installation.
fn took(seconds: f64) -> String {
    match seconds < 60.0 {
        true => format!("{seconds:.1} s"),
        false => format::duration(seconds),
    }
}

/// Its size as roughly as it is known.
fn about(framework: &Framework) -> String {
    let word = if framework.cpu_builds.is_some() {
        "up to"
    } else {
        "about"
    };
    match framework.size_mb {
        None => String::new(),
        Some(mb) if mb >= 1000 => format!(", {word} {:.1} GB", mb as f64 / 1000.0),
        Some(mb) => format!(", {word} {mb} MB"),
    }
}

/// Steps as lines when they are through; on a terminal, the one in progress too.
struct Teller {
    printer: Printer,
    bar: Option<ProgressBar>,
}

impl Teller {
    fn new(printer: &Printer) -> Teller {
        Teller {
            printer: *printer,
            bar: None,
        }
    }

    fn on(&mut self, progress: &Progress) {
        match progress {
            Progress::Begins {
                environment,
                python,
                installer,
                resumed,
            } => self.printer.talk(&format!(
                "{} {}  (Python {python}, {installer}{}{})",
                environment.owner.name,
                environment.version,
                about(environment.owner),
                if *resumed { ", resumed" } else { "" },
            )),
            Progress::StepBegins(step) if self.printer.talk_is_terminal => {
                let style =
                    ProgressStyle::with_template("  {prefix:20} {elapsed:>4}  {wide_msg:.dim}");
                let bar = ProgressBar::new_spinner()
                    .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
                bar.set_prefix(step.name());
                bar.enable_steady_tick(std::time::Duration::from_millis(250));
                self.bar = Some(bar);
            }
            Progress::StepBegins(_) => {}
            Progress::Line(line) => {
                if let Some(bar) = &self.bar {
                    let printable: String = line.chars().filter(|c| !c.is_control()).collect();
                    bar.set_message(printable);
                }
            }
            Progress::StepEnds { step, seconds } => {
                self.finish();
                let took = took(*seconds);
                self.printer
                    .talk(&format!("  {:20} {took:>7}", step.name()));
            }
            Progress::Note(note) => self.printer.talk(&format!("  ! {note}")),
        }
    }

    fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn remove(arguments: &[FrameworkArg], home: &Home, printer: &Printer) -> CommandResult {
    let mut specs: Vec<Spec> = Vec::new();
    for argument in arguments {
        match argument {
            FrameworkArg::One(spec) => specs.push(spec.clone()),
            FrameworkArg::All => specs.extend(home.environments().iter().map(|e| e.spec())),
        }
    }
    if specs.is_empty() {
        printer.talk("Nothing to remove.");
        return Ok(Exit::Ok);
    }
    // What extends another goes before it, in whatever order they were named.
    specs.sort_by_key(|spec| home.environment(spec).is_none_or(|e| e.base.is_none()));
    specs.dedup();
    let mut exit = Exit::Ok;
    let mut linked = false;
    for spec in &specs {
        match frameworks::remove(home, spec) {
            Ok(removed) => {
                linked |= removed.size.own_bytes < removed.size.bytes / 2;
                printer.data(&format!(
                    "{} is removed ({})",
                    removed.environment,
                    format::bytes(removed.size.bytes as f64)
                ));
            }
            Err(error) => {
                printer.complain(&format!("error: {error}"));
                exit = Exit::Trouble;
            }
        }
    }
    if linked {
        printer.talk("Most of it was shared with uv's own cache, which `uv cache clean` empties.");
    }
    Ok(exit)
}

struct Row {
    name: String,
    version: String,
    state: String,
}

fn list(home: &Home, machine: &Machine) -> String {
    let pinned = frameworks::all().map(Spec::pinned);
    let environments = home.environments();
    let others = environments.iter().map(|e| e.spec());
    let others = others.filter(|spec| spec.version.is_some());
    let rows: Vec<Row> = pinned
        .chain(others)
        .map(|spec| Row {
            version: spec.wanted_version().unwrap_or("–").to_owned(),
            state: state(&spec, home, machine),
            name: spec.to_string(),
        })
        .collect();
    let width = |of: fn(&Row) -> &str| {
        rows.iter()
            .map(|r| of(r).chars().count())
            .max()
            .unwrap_or(0)
    };
    let (names, versions) = (width(|r| &r.name), width(|r| &r.version));
    let mut text = String::new();
    for Row {
        name,
        version,
        state,
    } in &rows
    {
        let (name, version) = (pad_right(name, names), pad_right(version, versions));
        text += &format!("{name}  {version}  {state}\n");
    }
    let sizes = environments.iter().filter_map(|e| match e.state() {
        State::Whole(marker) => Some(marker.size_bytes),
        _ => None,
    });
    let sizes: Vec<u64> = sizes.collect();
    if sizes.is_empty() {
        text += &format!(
            "\nNo framework is set up in {} yet.\n",
            home.frameworks().display()
        );
    } else {
        text += &format!(
            "\n{} in {}\n",
            format::bytes(sizes.iter().sum::<u64>() as f64),
            home.frameworks().display()
        );
    }
    text + "Set up: bancada setup NAME… (or all)   Remove: bancada setup --remove NAME…   \
            Check: bancada doctor"
}

fn state(spec: &Spec, home: &Home, machine: &Machine) -> String {
    let framework = spec.framework;
    match framework.kind {
        Kind::Engine => return "built in".to_owned(),
        Kind::Caffe => {
            return match &machine.caffe {
                Some(path) => format!("{}", path.display()),
                None => {
                    "not found: put the program `caffe` on PATH or set BANCADA_CAFFE".to_owned()
                }
            };
        }
        Kind::Python | Kind::Serving | Kind::Stack => {}
    }
    let Some(environment) = home.environment(spec) else {
        return String::new();
    };
    let shared = environment.owner.name != framework.name;
    match environment.state() {
        State::Whole(_) if shared => format!("set up, in {}'s environment", environment.owner.name),
        State::Whole(marker) => format!(
            "set up, {}{}",
            format::bytes(marker.size_bytes as f64),
            if marker.gpu { ", for GPUs" } else { "" }
        ),
        State::Unfinished => format!("incomplete; to continue: bancada setup {spec}"),
        State::Foreign => format!("in the way: {}", environment.folder.display()),
        State::Missing if !framework.platforms.contains(&machine.platform) => {
            format!("not available on {}", machine.platform)
        }
        State::Missing => {
            let with = match (&environment.base, shared) {
                (Some(base), _) => format!(" and {}", base.name()),
                (None, true) => format!(", comes with {}", environment.owner.name),
                (None, false) => String::new(),
            };
            format!("not set up{}{with}", about(framework))
        }
    }
}
