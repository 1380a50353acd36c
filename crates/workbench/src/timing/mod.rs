//! A command timed at once: a study of it, measured in this process, one run after the other.
//!
//! What is measured, kept and analysed is what a study would: the same order, the same records. Only
//! a worker process and a bundle for every run are left out, which take longer than a short command.

mod kept;
mod study;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use model::{Asked, Environment, Ready, RunId, Scenario, Status, Stop};
use worker::{Context, Repeated, Repeats, Worker};

use crate::Tell;
use crate::catalog::catalog;
use crate::error::{Error, ErrorKind};
use crate::here::Here;
use crate::open::{Opened, Results, open_text};

use self::kept::Keeper;
pub use self::kept::kept_study;
pub use self::study::{TimedCommand, Vary};

/// Unless it was said how often: so many runs of each scenario at least …
const FEWEST_RUNS: u32 = 10;
/// … and, of the slowest one, for about so long …
const LASTING_SECONDS: f64 = 3.0;
/// … but no more than this: by then the mean is known to a few percent of the spread.
const MOST_RUNS: u32 = 1000;
/// A `--prepare` that takes longer is ended.
const PREPARE_PATIENCE: Duration = Duration::from_secs(24 * 3600);

pub struct TimeRequest<'a> {
    pub command: &'a TimedCommand,
    /// The study file to write; it does not exist.
    pub file: &'a Path,
    /// Where the command runs.
    pub directory: &'a Path,
    /// Runs of each scenario that are not counted.
    pub warmup: u32,
    pub runs: Option<u32>,
    /// For the shell, before every run.
    pub prepare: Option<&'a str>,
    pub ignore_failure: bool,
    /// Of this program and what it is made of.
    pub versions: BTreeMap<String, String>,
    /// Shared with the signal handler.
    pub stop: &'a Stop,
}

/// One run that is over.
#[derive(Debug, Clone, Copy)]
pub struct TimedRun<'a> {
    pub scenario: &'a Scenario,
    pub seconds: f64,
    /// None during warm-up.
    pub done: Option<usize>,
    /// None before it is known how many there will be.
    pub runs: Option<usize>,
}

pub struct Timed {
    pub results: Results,
    pub is_interrupted: bool,
}

/// `on_run` is called between runs: it must return at once.
pub fn time(
    request: &TimeRequest<'_>,
    tell: Tell<'_>,
    on_run: &mut dyn FnMut(TimedRun<'_>),
) -> Result<Timed, Error> {
    let here = Here::find()?;
    let opened = request.opened(request.runs.unwrap_or(FEWEST_RUNS), tell)?;
    let ready = Ready {
        machine: measure::inventory(request.versions.clone()),
        capacity: measure::capacity(),
        ..Ready::default()
    };
    let worker = Worker {
        context: Context {
            bancada: &here.program,
            files: &opened.folder,
            home: &here.home,
            container: None,
        },
        ready: &ready,
        version: env!("CARGO_PKG_VERSION"),
        stop: request.stop,
    };
    let mut bench = Bench::new(request, &here, &opened, worker)?;
    for _ in 0..request.warmup {
        for scenario in &opened.plan.scenarios {
            let repeated = bench.run(scenario, 0)?;
            on_run(TimedRun {
                scenario,
                seconds: repeated.measurement.seconds,
                done: None,
                runs: None,
            });
        }
    }
    let mut first = BTreeMap::new();
    let mut slowest: f64 = 0.0;
    for scenario in &opened.plan.scenarios {
        let began = Instant::now();
        let repeated = bench.run(scenario, 1)?;
        slowest = slowest.max(began.elapsed().as_secs_f64());
        on_run(TimedRun {
            scenario,
            seconds: repeated.measurement.seconds,
            done: Some(first.len() + 1),
            runs: None,
        });
        first.insert(scenario.number, repeated);
    }
    let wanted = request.runs.unwrap_or_else(|| runs_for(slowest));
    let planned = request.opened(wanted, tell)?;
    let mut keeper = Keeper::open(&planned, bench.environments.clone(), tell)?;
    let mut done = 0;
    let mut is_interrupted = false;
    for run in &planned.plan.runs {
        let Some(scenario) = planned.plan.scenario(run.scenario) else {
            continue;
        };
        let repeated = match first.remove(&run.scenario) {
            Some(repeated) => repeated,
            None => match bench.run(scenario, run.repetition) {
                Err(error) if error.kind == ErrorKind::Interrupted => {
                    is_interrupted = true;
                    break;
                }
                other => other?,
            },
        };
        let seconds = repeated.measurement.seconds;
        keeper.keep(repeated, *run, bench.folder(run.scenario))?;
        done += 1;
        on_run(TimedRun {
            scenario,
            seconds,
            done: Some(done),
            runs: Some(planned.plan.runs.len()),
        });
    }
    drop(bench);
    let results = keeper.results(planned)?;
    Ok(Timed {
        results,
        is_interrupted,
    })
}

fn runs_for(slowest_seconds: f64) -> u32 {
    let runs = (LASTING_SECONDS / slowest_seconds.max(1e-6)).floor();
    // Above u32 it is MOST_RUNS all the same.
    (runs as u32).clamp(FEWEST_RUNS, MOST_RUNS)
}

impl TimeRequest<'_> {
    /// The study, with so many repetitions.
    fn opened(&self, repetitions: u32, tell: Tell<'_>) -> Result<Opened, Error> {
        let folder = self.file.parent().unwrap_or(Path::new(""));
        let is_here =
            fs::canonicalize(folder.join(".")).ok() == fs::canonicalize(self.directory).ok();
        let directory = (!is_here).then_some(self.directory);
        let stem = self.file.file_stem().and_then(|stem| stem.to_str());
        let name = stem.filter(|stem| *stem != kept::STUDY_STEM);
        let text = self.command.study(repetitions, name, directory)?;
        open_text(self.file, text, None, &catalog(tell))
    }
}

/// The scenarios, each ready to run.
struct Bench<'a> {
    request: &'a TimeRequest<'a>,
    /// By scenario, with the price of what each needs.
    environments: BTreeMap<u32, Environment>,
    repeats: BTreeMap<u32, Repeats<'a>>,
}

impl<'a> Bench<'a> {
    fn new(
        request: &'a TimeRequest<'a>,
        here: &Here,
        opened: &Opened,
        worker: Worker<'a>,
    ) -> Result<Self, Error> {
        let builder = here.orders(opened);
        let mut bench = Bench {
            request,
            environments: BTreeMap::new(),
            repeats: BTreeMap::new(),
        };
        for scenario in &opened.plan.scenarios {
            let order = builder.of_scenario(scenario).map_err(Error::other)?;
            let folder = here.scratch.path().join(scenario.label());
            fs::create_dir(&folder).map_err(|error| cannot("make", &folder, &error))?;
            let repeats = worker.repeats(&order.order, &folder);
            let repeats = repeats.map_err(Error::other)?;
            bench.repeats.insert(scenario.number, repeats);
            bench
                .environments
                .insert(scenario.number, order.environment);
        }
        Ok(bench)
    }

    fn folder(&self, scenario: u32) -> Option<PathBuf> {
        let repeats = self.repeats.get(&scenario)?;
        Some(repeats.folder().to_owned())
    }

    /// One run, which succeeded.
    fn run(&mut self, scenario: &Scenario, repetition: u32) -> Result<Repeated, Error> {
        let interrupted = || Error::new(ErrorKind::Interrupted, "interrupted; nothing was kept");
        if self.request.stop.asked() != Asked::Nothing {
            return Err(interrupted());
        }
        self.prepare(scenario)?;
        let Some(repeats) = self.repeats.get_mut(&scenario.number) else {
            return Err(Error::other("a scenario is not in the plan"));
        };
        let run = RunId::new(scenario.number, repetition);
        let repeated = repeats.next(run, &mut |_| ()).map_err(Error::other)?;
        self.accepted(repeated, scenario)
            .map_err(|error| error.unwrap_or_else(interrupted))
    }

    /// A run that was interrupted is none, and has no error.
    fn accepted(
        &self,
        mut repeated: Repeated,
        scenario: &Scenario,
    ) -> Result<Repeated, Option<Error>> {
        let outcome = &mut repeated.measurement.outcome;
        match outcome.status {
            Status::Ok => return Ok(repeated),
            Status::Interrupted => return Err(None),
            Status::Failed if self.request.ignore_failure && outcome.exit_code.is_some() => {
                outcome.status = Status::Ok;
                outcome.detail = None;
                return Ok(repeated);
            }
            _ => {}
        }
        let detail = outcome.detail.as_deref().unwrap_or("no reason is known");
        let of = match scenario.levels.is_empty() {
            true => "the command".to_owned(),
            false => format!("the command with {}", scenario.levels_label()),
        };
        let sentence = match outcome.exit_code {
            Some(_) => format!("{of} {detail}\n(--ignore-failure counts runs that fail, too)"),
            None => format!("{of}: {detail}"),
        };
        Err(Some(Error::new(ErrorKind::RunFailed, sentence)))
    }

    fn prepare(&self, scenario: &Scenario) -> Result<(), Error> {
        let Some(line) = self.request.prepare else {
            return Ok(());
        };
        let line = plan::with_levels(line, scenario);
        let mut command = Command::new("sh");
        command
            .args(["-c", &line])
            .current_dir(self.request.directory);
        let answer = host::ask_with(&mut command, Stdio::null(), PREPARE_PATIENCE)
            .map_err(|error| Error::other(format!("cannot start --prepare: {error}")))?;
        match answer.success() {
            true => Ok(()),
            false => Err(Error::new(
                ErrorKind::RunFailed,
                format!(
                    "--prepare failed: {line}\n{}",
                    String::from_utf8_lossy(&answer.stderr).trim_end()
                ),
            )),
        }
    }
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> Error {
    Error::other(format!("cannot {what} {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_commands_run_often_and_long_ones_ten_times() {
        let check = |slowest, expected| assert_eq!(runs_for(slowest), expected, "{slowest} s");
        check(0.0, MOST_RUNS);
        check(0.001, MOST_RUNS);
        check(0.01, 300);
        check(0.29, 10);
        check(3600.0, FEWEST_RUNS);
    }
}
