//! The study file as typed: sections, values and their places. What they mean together is for
//! `check`.

mod billing;
mod design;
mod draft;
mod energy;
mod environments;
mod factors;
mod hosts;
mod import;
mod locations;
mod prices;
mod scale;
mod services;
mod settings;
mod study;
mod take;
mod what_if;
mod workload;

use std::io;
use std::path::{Path, PathBuf};

use diagnostics::{Diagnostic, Problems, Table};
use model::Study;

pub(crate) use billing::CHARGE_KINDS;
pub(crate) use design::DESIGNS;
pub(crate) use draft::{
    Draft, DraftColumn, DraftCommand, DraftCondition, DraftDesign, DraftEnvironment,
    DraftExclusion, DraftFactor, DraftImport, DraftScale, DraftServe, DraftTrain, DraftWorkload,
    FieldValue,
};
pub(crate) use environments::MAX_CORES;
pub(crate) use factors::read as read_factors;
pub(crate) use import::{DECIMAL_MARKS, ROWS};
pub(crate) use locations::{ENGINES, PROVIDERS};
pub(crate) use study::ORDERS;
pub use what_if::WhatIf;
pub(crate) use workload::{KINDS, LOG_EVENTS};

/// What reading a study needs from outside.
#[derive(Clone, Copy)]
pub struct ReadOptions<'a> {
    /// Where the study file lies: paths in it are relative to this.
    pub folder: Option<&'a Path>,
    /// Reads a file that the study names. A folder is there when reading it fails with anything
    /// but [`io::ErrorKind::NotFound`].
    pub read: &'a dyn Fn(&Path) -> io::Result<String>,
    /// How many requests are in a file that the study names, or the end of a sentence on what is
    /// wrong with it.
    pub requests_in: &'a dyn Fn(Sent<'_>) -> Result<u64, String>,
    /// A `[scale.NAME]` of the study to carry it out at; `None` means the whole.
    pub scale: Option<&'a str>,
    /// Prices of machines, where the study's own do not have a name.
    pub catalog: &'a cost::Catalog,
    /// `2026-11-17`: prices and rates of later days are errors. None accepts any day.
    pub today: Option<&'a str>,
}

/// What requests are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent<'p> {
    /// A file with their times.
    Trace(&'p Path),
    /// A body, or a folder of them.
    Bodies(&'p Path),
}

impl ReadOptions<'_> {
    pub(crate) fn path_of(&self, typed: &str) -> PathBuf {
        match self.folder {
            Some(folder) => folder.join(typed),
            None => PathBuf::from(typed),
        }
    }

    pub(crate) fn is_missing(&self, typed: &str) -> bool {
        let read = (self.read)(&self.path_of(typed));
        read.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }
}

/// Reads and checks a study file. All its errors come together, in the order of the file.
pub fn read_study(text: &str, options: &ReadOptions) -> Result<Study, Vec<Diagnostic>> {
    read_changed(text, options, |_| {})
}

/// The study that the file would be with a change.
pub(crate) fn read_changed(
    text: &str,
    options: &ReadOptions,
    change: impl FnOnce(&mut Draft),
) -> Result<Study, Vec<Diagnostic>> {
    let problems = Problems::default();
    let draft = diagnostics::parse(text, &problems, |top| {
        // A text that is not TOML is only half read: what seems missing then may well be there.
        problems
            .is_empty()
            .then(|| read_draft(&Typed::study(text, options.today), top, options))
    });
    let study = draft.and_then(|mut draft| {
        crate::check::check_scales(&draft, &problems);
        let scale = options
            .scale
            .and_then(|name| scale::apply(&mut draft, name, &problems));
        change(&mut draft);
        let mut study = crate::check::check(&draft, options, &problems)?;
        if let Some(scale) = &scale {
            study.name = format!("{}-{}", study.name, scale.name);
        }
        study.scale = scale;
        Some(study)
    });
    match study {
        Some(study) if problems.is_empty() => Ok(with_network_files(study, options)),
        _ => Err(problems.into_sorted()),
    }
}

/// Keeps the text of the network files, which the check has read and found good.
fn with_network_files(mut study: Study, options: &ReadOptions) -> Study {
    let mut names: Vec<String> = Vec::new();
    if let Some((factor, name)) = study.workload.network() {
        names.push(name.to_owned());
        let levels = study.factor(factor).map_or(&[][..], |f| &f.levels);
        names.extend(levels.iter().filter_map(|l| l.as_text()).map(str::to_owned));
    }
    for name in names.into_iter().filter(|name| name.ends_with(".toml")) {
        if let Ok(text) = (options.read)(&options.path_of(&name)) {
            study.network_files.insert(name, text);
        }
    }
    study
}

/// The text, for numbers that must be read exactly as they stand there.
pub(crate) struct Typed<'t> {
    text: &'t str,
    /// What prices and rates that name no source come from.
    origin: &'t str,
    today: Option<&'t str>,
}

impl<'t> Typed<'t> {
    fn study(text: &'t str, today: Option<&'t str>) -> Self {
        Typed {
            text,
            origin: "the study file",
            today,
        }
    }

    /// Whether a day, or a month or year that is known no better, is still to come.
    fn is_future(&self, date: &str) -> bool {
        let today = self.today.and_then(|today| today.get(..date.len()));
        today.is_some_and(|today| date > today)
    }

    fn at(&self, span: &diagnostics::Span) -> &'t str {
        self.text.get(span.clone()).unwrap_or_default()
    }
}

/// A study is copied into its results and quoted in reports: a password in it would go along.
fn refuse_passwords(top: &Table<'_>) {
    let all = top.texts();
    for text in all
        .iter()
        .filter(|t| diagnostics::screen::has_password(t.value))
    {
        let message = "this URL contains a password";
        top.complain(
            text.wrong(message)
                .label("remove `user:password@`")
                .note(
                    "in an environment, use a header with an environment variable: headers = { Authorization = \"Basic {TOKEN}\" }",
                )
                .note("a command inherits the environment variables"),
        );
    }
}

/// Requests that services answered elsewhere: billed and analysed as serving, without a `[workload]` to say so.
fn requests_elsewhere(
    import: Option<&DraftImport>,
    environments: &[DraftEnvironment],
) -> Option<DraftServe> {
    import.filter(|import| import.row == Some("request"))?;
    let service = environments.iter().find_map(|e| e.service.as_ref())?;
    Some(DraftServe {
        span: service.span.clone(),
        values: Vec::new(),
        command: DraftCommand::nothing(),
    })
}

fn read_draft(typed: &Typed<'_>, top: Table<'_>, options: &ReadOptions) -> Draft {
    refuse_passwords(&top);
    let head = study::read(typed, &top);
    let factors = factors::read(&top);
    let design = design::read(&top);
    let workload = workload::read(&top);
    let known = prices::Known {
        named: prices::read(typed, &top),
        catalog: options.catalog,
    };
    let environments = environments::read(typed, &top, &known);
    let rates = settings::read_rates(typed, &top);
    let measure = settings::read_measure(&top);
    let import = import::read(&top);
    let workload = workload.map(|workload| {
        let is_written = top.key_span("workload").is_some();
        match requests_elsewhere(import.as_ref(), &environments).filter(|_| !is_written) {
            Some(served) => DraftWorkload::Serve(served),
            None => workload,
        }
    });
    let scales = scale::read(&top, workload.as_ref());
    top.finish();
    Draft {
        head,
        factors,
        design,
        workload,
        environments,
        rates,
        measure,
        import,
        scales,
    }
}
