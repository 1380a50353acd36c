//! The main job: measure what is missing, then analyse and report.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use model::location::MachineAt;
use model::{Capacity, Environment, MachineLife, Money, RunId, RunRecord, Status, Study};
use place::{DecodedImages, ReadyImage};
use runner::{
    Ended, Forecast, InputReader, Ledger, Listed, Options, OrderBuilder, Preview, RunForecast,
    RunSelection, RunnerError, ScenarioOrder, Schedule, SearchGoal, ShortOrders, ShortRuns,
    Shortfall, StudyRunner, UntilKnown,
};
use store::Store;
use workbench::{
    Ask, Bring, CapacityQuestion, Changed, Claim, Claimed, Here, Lacks, LiveWriter, Opened, Places,
    RentedHost, Results, Wanted, open_study, refuse_too_large, results_folder, save_question,
    time_words,
};

use super::endpoints::{self, Endpoints};
use super::forecasting;
use super::plan::{places_lines, runs_words};
use super::prepare;
use super::rented::Rented;
use super::results::{mention_left, meta, print_tables};
use crate::args::{RetryArg, RunArgs};
use crate::exit::{CommandResult, Exit, Failure};
use crate::metrics::Metrics;
use crate::printer::Printer;
use crate::progress::{Reporter, with_time};
use crate::signals::{self, STOP};

const NOTHING_STARTED: &str = "nothing was started";

pub(super) fn run(args: &RunArgs, printer: &Printer) -> CommandResult {
    super::infra::mention_machines(printer);
    // A wrong one is no news for after the last run.
    args.language.chosen()?;
    let mut opened = open_study(&args.study, args.scale.as_deref(), &printer.teller())?;
    workbench::set_until(&mut opened.study, args.until.as_ref())?;
    workbench::set_goal(&mut opened.study, args.goal.as_deref())?;
    super::designs::warn(&opened.study, printer);
    let folder = results_folder(&args.study, &opened.study, args.out.as_deref());
    if args.predict {
        return super::predict::run(args, opened, &folder, printer);
    }
    let wish = Wish {
        selection: wanted(args, &opened.study)?,
        preview: None,
    };
    let (results, ended) = carried_out(args, opened, &folder, wish, printer)?;
    conclude(&results, ended, args, printer)
}

/// Which runs are to be carried out, and how much of them.
pub(super) struct Wish {
    pub(super) selection: RunSelection,
    /// Only the beginning of trainings.
    pub(super) preview: Option<Preview>,
}

/// The runs of a study that are due, in a folder of results.
pub(super) fn carried_out(
    args: &RunArgs,
    opened: Opened,
    folder: &Path,
    wish: Wish,
    printer: &Printer,
) -> Result<(Results, Ended), Failure> {
    let claim = Claim {
        folder,
        study: &opened.study,
        plan: &opened.plan,
        start_again: Some(args.redo_changed),
    };
    let claimed = claim.make(&printer.teller())?;
    signals::listen();
    match carry_out(args, &opened, wish, &claimed.store, printer) {
        Ok(ended) => {
            let Claimed { store, lock: _lock } = claimed;
            let results = Results {
                study: opened.study,
                plan: opened.plan,
                store,
                folder: folder.to_owned(),
            };
            Ok((results, ended))
        }
        Err(failure) => {
            claimed.give_up();
            Err(failure)
        }
    }
}

/// Everything from what is due to the last run.
fn carry_out(
    args: &RunArgs,
    opened: &Opened,
    wish: Wish,
    store: &Store,
    printer: &Printer,
) -> Result<Ended, Failure> {
    let Opened {
        study, plan, text, ..
    } = opened;
    let here = Here::find()?;
    let mut builder = here.orders(opened);
    builder.real = args.real;
    builder.preview = wish.preview;
    let mut wanted = wish.selection;
    let earlier = store.records()?;
    endpoints::refuse_mixture(study, &earlier, args)?;
    if !earlier.is_empty() {
        // What is there is numbered by this plan from here on, whatever becomes of the rest.
        save_question(store, study, plan, text)?;
    }
    let statuses = store.statuses()?;
    let due = runner::due_runs(plan, &statuses, &wanted);
    wanted.redo = workbench::changed_runs(opened, &earlier, &due, changed(args))?;
    let due = runner::due_runs(plan, &statuses, &wanted);
    let due = runner::open_runs(study, plan, due, &earlier);
    let wish = CapacityQuestion {
        runs: &due,
        has_real_endpoints: args.real,
        capacities: None,
        advice: NOTHING_STARTED,
    };
    refuse_too_large(opened, &wish)?;
    let talk = |text: &str| (!args.quiet && !args.json).then(|| printer.talk(text));

    let metrics = args.metrics_listen;
    let metrics = metrics.map(|at| Metrics::listen(at, study, plan.runs.len()));
    let metrics = metrics.transpose()?;
    talk(&first_line(opened, &measure::capacity()));
    if let Some(metrics) = &metrics {
        talk(&format!("Metrics for Prometheus: {}", metrics.url()));
    }
    if let Some(old) = workbench::age_note(study) {
        talk(&old);
    }
    let scenarios = runner::scenarios_of(plan, &due);
    let mut lacks = Lacks::of(study, scenarios.iter().copied(), &opened.folder, &here.home);
    if args.prepare {
        prepare::bring(&mut lacks, &here.home, printer)?;
    }
    lacks.refuse(&args.study)?;
    let mut orders = builder.of_runs(plan, &due).map_err(Failure::trouble)?;
    let reader = InputReader::new(&opened.folder);
    for scenario in runner::scenarios_of(plan, &due) {
        if let Some(built) = orders.get_mut(&scenario.number) {
            // Another machine gets them before its first run.
            built.order.inputs = reader.read(study, scenario).map_err(Failure::trouble)?;
        }
    }
    let needed = orders.values().map(|built| built.environment.name.clone());
    let needed: BTreeSet<String> = needed.collect();
    let rents = |name: &String| {
        let environment = study.environment(name);
        environment.is_some_and(|e| matches!(e.location.machine, MachineAt::Rented(_)))
    };
    if !args.over_budget && needed.iter().any(rents) {
        // It costs money from its first moment.
        refuse_spent(&Ledger::open(study, store, &[])?)?;
    }
    let rented = Rented::create(opened, &needed, printer)?;
    let prepared_study = Prepared {
        metrics: metrics.as_ref(),
        opened,
        here: &here,
        builder: &builder,
        store,
        earlier: &earlier,
        statuses: &statuses,
        due: &due,
        orders: &orders,
        needed: &needed,
        rented: rented.hosts(),
    };
    let ended = at_places(&prepared_study, args, printer);
    rented.end(args.keep_machines, store, printer);
    ended
}

/// What is known when the machines are there.
struct Prepared<'a> {
    metrics: Option<&'a Metrics>,
    opened: &'a Opened,
    here: &'a Here,
    builder: &'a OrderBuilder<'a>,
    store: &'a Store,
    earlier: &'a [RunRecord],
    statuses: &'a BTreeMap<RunId, Status>,
    due: &'a [RunId],
    orders: &'a BTreeMap<u32, ScenarioOrder>,
    needed: &'a BTreeSet<String>,
    rented: &'a BTreeMap<String, RentedHost>,
}

/// From the first look at the machines to the last run.
fn at_places(known: &Prepared<'_>, args: &RunArgs, printer: &Printer) -> Result<Ended, Failure> {
    let Prepared {
        metrics,
        opened,
        here,
        builder,
        store,
        earlier,
        statuses,
        due,
        orders,
        needed,
        rented,
    } = *known;
    let Opened {
        study, plan, text, ..
    } = opened;
    let talk = |text: &str| (!args.quiet && !args.json).then(|| printer.talk(text));
    let wanted = Wanted {
        opened,
        here,
        results: Some(store.dir()),
        rented,
    };
    let places = Places::open(wanted, needed)?;
    let bring = Bring {
        lacks: args.prepare,
        cache: here.home.path(),
    };
    let prepared = places.prepare(orders, bring)?;
    for decoded in &prepared.decoded {
        talk(&images_line(decoded));
    }
    for image in &prepared.images {
        talk(&container_line(image));
    }
    let capacities = places.capacities()?;
    let wish = CapacityQuestion {
        runs: due,
        has_real_endpoints: args.real,
        capacities: Some(&capacities),
        advice: NOTHING_STARTED,
    };
    refuse_too_large(opened, &wish)?;
    let ask = Ask {
        opened,
        earlier,
        due,
        // The beginnings are pilots themselves.
        pilot: !args.no_pilot && !args.predict,
        here,
        places: &places,
        builder,
        stop: &STOP,
        on_pilot: &|scenario| forecasting::pilot_line(scenario, printer),
        orders: Some(orders),
    };
    let forecast = forecasting::make(&ask, printer)?;
    let on: Vec<MachineLife> = rented.values().map(|host| host.life.clone()).collect();
    let ledger = Ledger::open(study, store, &on)?;
    let work = Work {
        missing: due.iter().filter(|run| !statuses.contains_key(run)).count(),
        due: due.len(),
        total: plan.runs.len(),
        is_part: !args.only.is_empty(),
    };
    let indent = " ".repeat(study.name.chars().count() + 3);
    let line = work.line(&ledger, forecast.as_ref(), earlier);
    talk(&format!("{indent}{line}"));
    // How many runs it will be is not known before: the runner stops when the money is spent.
    if !args.over_budget && study.until.is_none() && study.goal.is_none() {
        refuse_above_budget(&ledger, forecast.as_ref())?;
    }
    save_question(store, study, plan, text)?;

    let expected = forecast.map(|f| f.scenarios).unwrap_or_default();
    let short_orders = short_orders(known, &expected)?;
    let short_results = match &short_orders {
        Some(_) => {
            let claim = Claim {
                folder: &store.dir().join(runner::SHORT_FOLDER),
                study,
                plan,
                start_again: Some(args.redo_changed),
            };
            Some(claim.make(&printer.teller())?)
        }
        None => None,
    };
    let short = short_results.as_ref().zip(short_orders.as_ref());
    let runner = StudyRunner {
        study,
        plan,
        store,
        short: short.map(|(claimed, orders)| ShortRuns {
            store: &claimed.store,
            orders,
        }),
        orders,
        machines: places.assigned(),
        options: Options {
            stop: &STOP,
            over_budget: args.over_budget,
            accept_changed: args.accept_changed,
            study_folder: &opened.folder,
            git_commit: measure::git_commit(&opened.folder),
            expected: expected.clone(),
        },
    };
    let watchers = Watchers {
        reporter: Reporter::choose(study, plan.runs.len(), args.json, args.quiet, printer),
        metrics,
    };
    if let Some(goal) = &study.goal {
        let search = SearchGoal::new(study, plan, goal, due.to_vec(), earlier, &expected);
        let mut search = search.with_short_runs(short_orders.as_ref().map(|short| short.share));
        let ended = follow(&runner, &mut search, watchers, args, printer)?;
        let beginnings = runner::short_records(store)?;
        let found = search.searched(&store.records()?, &beginnings, runner::searched(store)?);
        runner::save_searched(store, &found)?;
        return Ok(ended);
    }
    let mut schedule: Box<dyn Schedule + Send> = match &study.until {
        Some(until) => Box::new(UntilKnown::new(study, plan, until, due.to_vec(), earlier)),
        None => Box::new(Listed::new(due.to_vec())),
    };
    follow(&runner, schedule.as_mut(), watchers, args, printer)
}

/// Who is told of progress.
struct Watchers<'m> {
    reporter: Reporter,
    metrics: Option<&'m Metrics>,
}

/// Beginnings of the trainings that a search may choose, where they save much and are told apart.
fn short_orders(
    known: &Prepared<'_>,
    expected: &BTreeMap<u32, RunForecast>,
) -> Result<Option<ShortOrders>, Failure> {
    let Opened { study, plan, .. } = known.opened;
    let Some(goal) = &study.goal else {
        return Ok(None);
    };
    let mut builder = known.here.orders(known.opened);
    builder.preview = Some(Preview::default());
    let orders = builder.of_runs(plan, known.due).map_err(Failure::trouble)?;
    Ok(ShortOrders::of(orders, goal, expected))
}

/// Reports progress here while the study is carried out on a thread of its own.
fn follow(
    runner: &StudyRunner<'_>,
    schedule: &mut (dyn Schedule + Send),
    watchers: Watchers<'_>,
    args: &RunArgs,
    printer: &Printer,
) -> Result<Ended, Failure> {
    let Watchers {
        mut reporter,
        metrics,
    } = watchers;
    let mut endpoints = Endpoints::new(args.real);
    let mut live = LiveWriter::begin(runner.store.dir());
    let (sender, progress) = mpsc::channel();
    let ended = thread::scope(|scope| {
        let study = scope.spawn(move || runner.run(schedule, &sender));
        for progress in progress {
            endpoints.on(&progress, &reporter);
            live.on(&progress);
            reporter.on(&progress);
            if let Some(metrics) = metrics {
                metrics.on(&progress);
            }
        }
        study.join()
    });
    reporter.finish();
    endpoints
        .left
        .iter()
        .for_each(|left| printer.complain(left));
    let ended = ended.map_err(|_| Failure::trouble("carrying out the study failed"))?;
    ended.map_err(runner_failure)
}

fn show_results(
    results: &Results,
    ended: Ended,
    args: &RunArgs,
    printer: &Printer,
) -> Result<(), Failure> {
    let tell = printer.teller();
    let analysis = workbench::analyse(results, None, &tell)?;
    let report = workbench::write_report(&analysis, results, None, meta(), &tell)?;
    if args.json {
        let done =
            serde_json::json!({ "event": "study-ends", "ended": ended.word(), "report": report });
        printer.data(&with_time(done).to_string());
    } else {
        print_tables(&analysis, printer);
        printer.data(&format!("\n  Report  {}", report.display()));
    }
    Ok(())
}

/// Tables, report and the word that the exit code says too.
pub(super) fn conclude(
    results: &Results,
    ended: Ended,
    args: &RunArgs,
    printer: &Printer,
) -> CommandResult {
    let language = args.language.chosen()?;
    language.scope(|| show_results(results, ended, args, printer))?;
    mention_left(&results.store, printer);
    let scale = args.scale.as_ref().map(|name| format!(" --scale {name}"));
    let goal = args.goal.as_ref().map(|goal| format!(" --goal \"{goal}\""));
    let until = args
        .until
        .as_ref()
        .map(|until| format!(" --until \"{until}\""));
    let again = format!(
        "bancada run {}{}{}",
        shown(&args.study),
        scale.unwrap_or_default(),
        goal.or(until).unwrap_or_default()
    );
    match ended {
        Ended::Interrupted => {
            printer.talk(&format!(
                "Interrupted. Finished runs are kept; {again} continues from here."
            ));
            Ok(Exit::Interrupted)
        }
        Ended::BudgetSpent => {
            // What a search will still need, nobody knows.
            let amounts = match results.study.goal {
                Some(_) => None,
                None => shortfall(results, &wanted(args, &results.study)?)?,
            };
            let amounts = amounts.map(|lacks| lacks.to_string()).unwrap_or_default();
            printer.talk(&format!(
                "Stopped: the budget is too small for the next run. {amounts} Raise `budget`, or continue with {again} --over-budget."
            ));
            Ok(Exit::Budget)
        }
        Ended::PlaceFailed => {
            printer.talk(&format!(
                "Stopped: a place failed. What was measured is kept; {again} goes on from here."
            ));
            Ok(Exit::Trouble)
        }
        Ended::AllDone => {
            let statuses = results.store.statuses()?;
            let failed = statuses.values().filter(|s| **s == Status::Failed).count();
            if failed == 0 {
                return Ok(Exit::Ok);
            }
            printer.talk(&format!(
                "{}. {again} --retry failed re-runs them.",
                report::format::counted(failed, "run failed", "runs failed")
            ));
            Ok(Exit::FailedRuns)
        }
    }
}

pub(super) fn wanted(args: &RunArgs, study: &Study) -> Result<RunSelection, Failure> {
    Ok(RunSelection {
        retry: args.retry.iter().map(|r| status_of(*r)).collect(),
        keep_interrupted: args.keep_interrupted,
        only: workbench::only(&args.only, study)?,
        ..RunSelection::default()
    })
}

fn changed(args: &RunArgs) -> Changed {
    match (args.redo_changed, args.accept_changed) {
        (true, _) => Changed::Redo,
        (false, true) => Changed::Accept,
        (false, false) => Changed::Refuse,
    }
}

fn shortfall(results: &Results, wanted: &RunSelection) -> Result<Option<Shortfall>, Failure> {
    let Results {
        study, plan, store, ..
    } = results;
    let due = runner::due_runs(plan, &store.statuses()?, wanted);
    let due = runner::open_runs(study, plan, due, &store.records()?);
    Shortfall::find(study, plan, store, &due).map_err(Failure::from)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn status_of(arg: RetryArg) -> Status {
    match arg {
        RetryArg::Failed => Status::Failed,
        RetryArg::OutOfMemory => Status::OutOfMemory,
        RetryArg::TimedOut => Status::TimedOut,
    }
}

/// Where everything happens; a line for each environment where that is not this machine alone.
fn first_line(opened: &Opened, machine: &Capacity) -> String {
    let Opened { study, plan, .. } = opened;
    let memory = report::format::memory(machine.memory_bytes);
    let here = format!("this machine ({} cores, {memory})", machine.cores);
    let runs = runs_words(study, plan);
    let is_here = |environment: &Environment| environment.location.is_here();
    if study.environments.iter().all(is_here) {
        let priced = priced_as(study);
        return format!("{}   {runs} on {here}{priced}", study.name);
    }
    format!("{}   {runs}{}", study.name, places_lines(study, &here))
}

fn images_line(decoded: &DecodedImages) -> String {
    let DecodedImages {
        dataset,
        images,
        side,
        bytes,
    } = decoded;
    let bytes = report::format::bytes(*bytes as f64);
    format!("  {dataset}: {images} images decoded once at {side} px for all frameworks ({bytes})")
}

fn container_line(image: &ReadyImage) -> String {
    let ReadyImage {
        engine,
        name,
        bytes,
        seconds,
        ..
    } = image;
    let bytes = report::format::bytes(*bytes as f64);
    let seconds = report::format::duration(*seconds);
    format!("  {engine}: image {name}, {bytes}, ready after {seconds}")
}

fn priced_as(study: &Study) -> String {
    let of = |environment: &Environment| {
        let sizes = environment.price.iter().flat_map(|price| price.all_sizes());
        let names = sizes.map(|price| match price.name_in(&environment.name) {
            typed_in if typed_in == environment.name => {
                format!(
                    "{typed_in} ({}/h)",
                    report::format::exact_money(&price.per_hour)
                )
            }
            machine => machine.to_owned(),
        });
        names.collect::<Vec<String>>()
    };
    let machines: Vec<String> = study.environments.iter().flat_map(of).collect();
    match machines.is_empty() {
        true => String::new(),
        false => format!(", priced as {}", machines.join(", ")),
    }
}

/// What is to be done before the study is through.
struct Work {
    due: usize,
    /// Of these, runs that were never done; the others are done again.
    missing: usize,
    total: usize,
    is_part: bool,
}

impl Work {
    fn line(&self, ledger: &Ledger, forecast: Option<&Forecast>, earlier: &[RunRecord]) -> String {
        if self.due == 0 {
            return match self.is_part {
                true => "All selected runs are already done.".to_owned(),
                false => format!("all {} runs are already done", self.total),
            };
        }
        let what = self.what();
        let Some(forecast) = forecast else {
            let why = match earlier.iter().any(runner::forecast::tells) {
                true => "no finished run is similar to these",
                false => "nothing has been measured yet",
            };
            return format!("{what}no forecast: {why}");
        };
        let money = match (forecast.money, ledger.left()) {
            (Some(money), Some(left)) => format!(", {} of {left}", money.value),
            (Some(money), None) => format!(", {}", money.value),
            (None, _) => String::new(),
        };
        format!(
            "{what}forecast {}{money}, {}{}\n",
            time_words(forecast.seconds),
            forecast.method,
            workbench::without(forecast)
        )
    }

    /// `2 runs are missing, 3 runs are repeated; `, where that is not the whole study.
    fn what(&self) -> String {
        let counted = report::format::counted;
        let again = self.due - self.missing;
        let mut parts = Vec::new();
        if self.is_part {
            parts.push(format!("{} selected", counted(self.due, "run", "runs")));
        } else if self.missing > 0 && self.due < self.total {
            parts.push(format!(
                "{} missing",
                counted(self.missing, "run is", "runs are")
            ));
        }
        if again > 0 {
            parts.push(format!("{} re-run", counted(again, "run is", "runs are")));
        }
        match parts.is_empty() {
            true => String::new(),
            false => format!("{}; ", parts.join(", ")),
        }
    }
}

fn refuse_spent(ledger: &Ledger) -> Result<(), Failure> {
    let Some(allowed) = ledger.allowed.filter(|_| ledger.is_spent()) else {
        return Ok(());
    };
    let message = format!(
        "the budget of {allowed} is spent ({}); nothing was started\n  = raise `budget`, or start anyway with --over-budget",
        ledger.spent()
    );
    Err(Failure::new(Exit::Budget, message))
}

fn refuse_above_budget(ledger: &Ledger, forecast: Option<&Forecast>) -> Result<(), Failure> {
    let Some((value, left)) = forecast
        .and_then(|f| runner::over_budget(ledger, f))
        .zip(ledger.left())
    else {
        return Ok(());
    };
    let missing = Money::new(value.amount.saturating_sub(left.amount), value.currency);
    let spent = match ledger.spent().amount.is_zero() {
        true => String::new(),
        false => format!(" ({} is spent)", ledger.spent()),
    };
    let message = format!(
        "the budget is too small: the forecast is {value}, {left} is left{spent}, {missing} is missing; nothing was started\n  = raise `budget`, \
         lower repetitions, epochs or levels, or start anyway with --over-budget"
    );
    Err(Failure::new(Exit::Budget, message))
}

fn runner_failure(error: RunnerError) -> Failure {
    match error {
        RunnerError::InputsChanged(changes) => workbench::changed_inputs(&changes).into(),
        RunnerError::Store(error) => error.into(),
        other => Failure::trouble(other),
    }
}
