//! The main job: measure what is missing, then analyse and report.

use std::collections::BTreeMap;
use std::path::Path;

use model::{Environment, Inventory, Money, Status, Study};
use runner::forecast;
use runner::{Conduct, Ended, Forecast, Ledger, Options, RunnerError, Surroundings, Wanted};

use super::endpoints::{self, Endpoints};
use super::fits::{due_now, refuse_too_large};
use super::forecasting::{self, time_words};
use super::only;
use super::plan::runs_words;
use super::prepare::Lacks;
use super::results::{analysis_of, print_tables, write_report};
use crate::args::{RetryArg, RunArgs};
use crate::exit::{CommandResult, Exit, Failure};
use crate::locate::{
    Opened, Results, create_store, open_study, results_folder, save_question, store_failure,
};
use crate::printer::Printer;
use crate::progress::Reporter;
use crate::signals::{self, STOP};

const NOTHING_STARTED: &str = "nothing was started";

pub(super) fn run(args: &RunArgs, printer: &Printer) -> CommandResult {
    let opened = open_study(&args.study, args.scale.as_deref(), printer)?;
    let folder = results_folder(&args.study, &opened.study, args.out.as_deref());
    let wanted = wanted(args, &opened.study)?;
    let due = due_now(&folder, &opened, &wanted);
    refuse_too_large(&args.study, &opened, &due, NOTHING_STARTED, printer)?;
    let store = create_store(&folder, &opened.study)?;
    let _lock = store.lock().map_err(store_failure)?;
    signals::listen();

    let program = std::env::current_exe()
        .map_err(|e| Failure::trouble(format!("cannot find myself: {e}")))?;
    let home = frameworks::Home::find().map_err(Failure::trouble)?;
    let datasets = runner::Datasets::default();
    let models = runner::Models::default();
    let surroundings = Surroundings {
        models: &models,
        real: args.real,
        bancada: &program,
        study_folder: &opened.folder,
        home: &home,
        datasets: &datasets,
    };
    let earlier = store.records().map_err(store_failure)?;
    endpoints::refuse_mixture(&opened.study, &earlier, args)?;
    let due = runner::due_runs(
        &opened.plan,
        &store.statuses().map_err(store_failure)?,
        &wanted,
    );
    let inventory = measure::inventory(Some(&opened.folder), versions());
    let talk = |text: &str| (!args.quiet && !args.json).then(|| printer.talk(text));

    talk(&first_line(&opened, &inventory));
    if let Some(old) = super::price::age_note(&opened.study) {
        talk(&old);
    }
    let scenarios = runner::scenarios_of(&opened.plan, &due);
    let mut lacks = Lacks::of(
        &opened.study,
        scenarios.iter().copied(),
        &opened.folder,
        &home,
    );
    if args.prepare {
        lacks.bring(&home, printer)?;
    }
    lacks.refuse(&args.study)?;
    runner::make_ready(
        &opened.study,
        &scenarios,
        &folder,
        surroundings,
        &mut |dataset, made| {
            talk(&images_line(dataset, made));
        },
    )
    .map_err(runner_failure)?;
    let ask = forecasting::Ask {
        opened: &opened,
        earlier: &earlier,
        due: &due,
        pilot: !args.no_pilot,
        surroundings,
    };
    let forecast = forecasting::make(&ask, printer)?;
    let Opened {
        study, plan, text, ..
    } = &opened;
    let ledger = Ledger::open(study, &store).map_err(store_failure)?;
    let is_part = !args.only.is_empty();
    talk(&second_line(
        &opened,
        &ledger,
        forecast.as_ref(),
        due.len(),
        is_part,
    ));
    if !args.over_budget {
        refuse_above_budget(&ledger, forecast.as_ref())?;
    }
    save_question(&store, study, plan, text)?;

    let options = Options {
        surroundings,
        stop: &STOP,
        wanted,
        over_budget: args.over_budget,
        inventory,
        bancada_version: env!("CARGO_PKG_VERSION"),
        expected: forecast.map(|f| f.scenarios).unwrap_or_default(),
    };
    let conduct = Conduct {
        study,
        plan,
        store: &store,
        options,
    };
    let mut reporter = Reporter::choose(study, plan.runs.len(), args.json, args.quiet, printer);
    let mut endpoints = Endpoints::new(args.real);
    let ended = conduct.run(&mut |progress| {
        endpoints.on(&progress, &reporter);
        reporter.on(&progress);
    });
    reporter.finish();
    endpoints
        .left
        .iter()
        .for_each(|left| printer.complain(left));
    let ended = ended.map_err(runner_failure)?;

    let results = Results {
        study: opened.study,
        plan: opened.plan,
        store,
        folder,
    };
    conclude(&results, ended, args, printer)
}

/// Tables, report and the word that the exit code says too.
fn conclude(results: &Results, ended: Ended, args: &RunArgs, printer: &Printer) -> CommandResult {
    let analysis = analysis_of(results, printer)?;
    let report = write_report(&analysis, results, None, printer)?;
    if args.json {
        let done = serde_json::json!({ "event": "study-ends", "ended": format!("{ended:?}"), "report": report });
        printer.data(&done.to_string());
    } else {
        print_tables(&analysis, printer);
        printer.data(&format!("\n  Report  {}", report.display()));
    }
    let scale = args.scale.as_ref().map(|name| format!(" --scale {name}"));
    let again = format!(
        "bancada run {}{}",
        shown(&args.study),
        scale.unwrap_or_default()
    );
    match ended {
        Ended::Interrupted => {
            printer.talk(&format!(
                "Interrupted. What was measured is kept; {again} goes on from here."
            ));
            Ok(Exit::Interrupted)
        }
        Ended::BudgetSpent => {
            let amounts = budget_words(results, &wanted(args, &results.study)?)?;
            printer.talk(&format!(
                "Stopped: the budget is too small for the next run. {amounts} Raise `budget`, or continue with {again} --over-budget."
            ));
            Ok(Exit::Budget)
        }
        Ended::AllDone => {
            let statuses = results.store.statuses().map_err(store_failure)?;
            let failed = statuses.values().filter(|s| **s == Status::Failed).count();
            if failed == 0 {
                return Ok(Exit::Ok);
            }
            printer.talk(&format!(
                "{}. {again} --retry failed does them again.",
                report::format::counted(failed, "run failed", "runs failed")
            ));
            Ok(Exit::FailedRuns)
        }
    }
}

fn wanted(args: &RunArgs, study: &Study) -> Result<Wanted, Failure> {
    Ok(Wanted {
        retry: args.retry.iter().map(|r| status_of(*r)).collect(),
        keep_interrupted: args.keep_interrupted,
        only: only::read(&args.only, study)?,
    })
}

/// `US$ 0.98 of US$ 1.00 is spent, US$ 0.02 is left; the 7 runs left are forecast at US$ 0.40, so
/// US$ 0.38 is missing.`
fn budget_words(results: &Results, wanted: &Wanted) -> Result<String, Failure> {
    let Results {
        study, plan, store, ..
    } = results;
    let ledger = Ledger::open(study, store).map_err(store_failure)?;
    let due = runner::due_runs(plan, &store.statuses().map_err(store_failure)?, wanted);
    let mut expected = forecast::from_records(&store.records().map_err(store_failure)?);
    forecast::fill_unknown(&mut expected, &plan.scenarios);
    let begun = runner::Rentals::new(study);
    let needed = forecast::add_up(study, plan, &due, expected, &begun).money;
    let (Some(allowed), Some(left)) = (ledger.allowed, ledger.left()) else {
        return Ok(String::new());
    };
    let spent = format!("{} of {allowed} is spent, {left} is left", ledger.spent());
    let runs = report::format::counted(due.len(), "run left is", "runs left are");
    Ok(match needed {
        Some(needed) if needed.value.amount > left.amount => {
            let missing = needed.value.amount.saturating_sub(left.amount);
            let missing = Money::new(missing, left.currency);
            let needed = needed.value;
            format!("{spent}; the {runs} forecast at {needed}, so {missing} is missing.")
        }
        _ => format!("{spent}."),
    })
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

/// Pinned in the workspace; a test holds the two together.
const ENGINE: &str = "burn-tensor 0.22.1, flex";

fn versions() -> BTreeMap<String, String> {
    BTreeMap::from([
        ("bancada".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ("engine".to_owned(), ENGINE.to_owned()),
    ])
}

fn first_line(opened: &Opened, inventory: &Inventory) -> String {
    let Opened { study, plan, .. } = opened;
    let memory = report::format::memory(inventory.memory_bytes);
    format!(
        "{}   {} on this machine ({} cores, {memory}){}",
        study.name,
        runs_words(study, plan),
        inventory.logical_cores,
        priced_as(study),
    )
}

fn images_line(dataset: &str, made: &data::cache::Cached) -> String {
    format!(
        "  {dataset}: {} images decoded once at {} px for all frameworks ({})",
        made.train + made.held_out,
        made.side,
        report::format::bytes(made.bytes as f64),
    )
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

fn second_line(
    opened: &Opened,
    ledger: &Ledger,
    forecast: Option<&Forecast>,
    due: usize,
    is_part: bool,
) -> String {
    let indent = " ".repeat(opened.study.name.chars().count() + 3);
    let total = opened.plan.runs.len();
    if due == 0 {
        return match is_part {
            true => format!("{indent}nothing of this part is left to do"),
            false => format!("{indent}all {total} runs are done already"),
        };
    }
    let going_on = if is_part {
        let runs = report::format::counted(due, "run", "runs");
        format!("{runs} of this part; ")
    } else if due < total {
        let missing = report::format::counted(due, "run is", "runs are");
        format!("{missing} missing; ")
    } else {
        String::new()
    };
    let Some(forecast) = forecast else {
        return format!("{indent}{going_on}no forecast: nothing has been measured yet");
    };
    let money = match (forecast.money, ledger.left()) {
        (Some(money), Some(left)) => format!(", {} of {left}", money.value),
        (Some(money), None) => format!(", {}", money.value),
        (None, _) => String::new(),
    };
    format!(
        "{indent}{going_on}forecast {}{money}, {}{}\n",
        time_words(forecast.seconds),
        forecast.method,
        forecasting::without(forecast)
    )
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
        RunnerError::Store(error) => store_failure(error),
        other => Failure::trouble(other),
    }
}
