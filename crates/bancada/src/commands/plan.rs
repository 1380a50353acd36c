use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use model::location::MachineAt;
use model::{Environment, Plan, Role, RunId, RunRecord, Study, Until};
use runner::{Forecast, Ledger, RunSelection, UntilKnown};
use store::Store;
use workbench::{
    Ask, CapacityQuestion, Given, Here, Opened, Places, Wanted, money_words, open_study,
    refuse_too_large, results_folder, saved_study, time_words,
};

use super::forecasting;
use crate::args::PlanArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;
use crate::signals::{self, STOP};
use crate::table::Table;

/// For commands that only look at a study.
pub(super) const ELSEWHERE: &str = "if the study is meant for a larger machine, add --elsewhere";

pub(super) fn plan(args: &PlanArgs, printer: &Printer) -> CommandResult {
    super::infra::mention_machines(printer);
    let mut opened = open_study(&args.study, args.scale.as_deref(), &printer.teller())?;
    workbench::set_until(&mut opened.study, args.until.as_ref())?;
    super::designs::warn(&opened.study, printer);
    let folder = results_folder(&args.study, &opened.study, args.out.as_deref());
    let wanted = RunSelection {
        only: workbench::only(&args.only, &opened.study)?,
        ..RunSelection::default()
    };
    let Earlier {
        records,
        due,
        ledger,
    } = earlier(&folder, &opened, &wanted, printer)?;
    if !args.elsewhere {
        let wish = CapacityQuestion {
            runs: &due,
            has_real_endpoints: false,
            capacities: None,
            advice: ELSEWHERE,
        };
        refuse_too_large(&opened, &wish)?;
    }
    signals::listen();
    let here = Here::find()?;
    let wanted = Wanted {
        opened: &opened,
        here: &here,
        results: None,
        rented: &BTreeMap::new(),
    };
    let places = Places::open(wanted, &environments_here(&opened.study))?;
    let builder = here.orders(&opened);
    let ask = Ask {
        opened: &opened,
        earlier: &records,
        due: &due,
        pilot: !args.no_pilot && !args.elsewhere,
        here: &here,
        places: &places,
        builder: &builder,
        stop: &STOP,
        on_pilot: &|scenario| forecasting::pilot_line(scenario, printer),
        orders: None,
    };
    let forecast = forecasting::make(&ask, printer)?;
    if args.design {
        let scale = args.scale.as_deref();
        let found = workbench::designs(&opened, scale, forecast.as_ref(), &printer.teller())?;
        return super::designs::show(&opened.study, &found, args.json, printer);
    }
    let Opened { study, plan, .. } = &opened;
    let holds = forecast
        .as_ref()
        .is_none_or(|f| runner::over_budget(&ledger, f).is_none());
    if args.json {
        let value = serde_json::json!({ "plan": plan, "due": due, "forecast": forecast, "budget_holds": holds });
        printer.data(&format!("{value:#}"));
    } else {
        let mut text = scenario_table(plan, forecast.as_ref(), printer.data_width());
        let given = workbench::given_elsewhere(&opened, &here, &due)?;
        let places = format!(
            "{}{}",
            places_lines(study, "this machine"),
            given.as_ref().map(given_lines).unwrap_or_default()
        );
        text.push_str(&summary(
            study,
            plan,
            &due_words(study, plan, &due, &records),
            forecast.as_ref(),
            &ledger,
            &places,
        ));
        if let Some(old) = workbench::age_note(study) {
            text.push_str(&format!("\n{old}\n"));
        }
        if args.runs {
            text.push_str(&order_of_runs(plan));
        }
        printer.data(&text);
    }
    Ok(if holds { Exit::Ok } else { Exit::Budget })
}

/// Planning reaches no other machine: pilots are for what runs here.
fn environments_here(study: &Study) -> BTreeSet<String> {
    let here = study.environments.iter().filter(|e| e.location.is_here());
    here.map(|environment| environment.name.clone()).collect()
}

/// What is known before anything runs.
struct Earlier {
    records: Vec<RunRecord>,
    due: Vec<RunId>,
    ledger: Ledger,
}

/// A folder that is not there, or is another study's, has nothing to forecast from. Of a study that
/// has grown, the runs that `run` would keep count.
fn earlier(
    folder: &Path,
    opened: &Opened,
    wanted: &RunSelection,
    printer: &Printer,
) -> Result<Earlier, Failure> {
    let Opened { study, plan, .. } = opened;
    let there = folder.join("plan.json").is_file();
    let store = there.then(|| Store::open(folder)).transpose()?;
    let Some(store) = store else {
        return Ok(Earlier {
            records: Vec::new(),
            due: runner::due_runs(plan, &BTreeMap::new(), wanted),
            ledger: Ledger::new(study),
        });
    };
    let all = store.records()?;
    let count = all.len();
    let records = ::plan::Recognizer::new(study, plan).renumbered(all);
    if records.len() < count {
        let differences = saved_study(&store).map(|before| ::plan::differences(&before, study));
        let differences = match differences {
            Some(all) if !all.is_empty() => format!(" ({})", all.join("; ")),
            _ => String::new(),
        };
        printer.talk(&format!(
            "! {} of {} in {} match the current study{differences}; `run` would {}",
            records.len(),
            report::format::counted(count, "run", "runs"),
            folder.display(),
            match records.is_empty() {
                true => "not use this folder without --redo-changed",
                false => "set the others aside",
            },
        ));
    }
    let statuses = records.iter().map(|r| (r.run, r.outcome.status)).collect();
    let due = runner::due_runs(plan, &statuses, wanted);
    Ok(Earlier {
        due: runner::open_runs(study, plan, due, &records),
        ledger: match records.is_empty() {
            true => Ledger::new(study),
            false => Ledger::open(study, &store, &[])?,
        },
        records,
    })
}

/// A line for each environment: where, and what an hour there costs.
pub(super) fn places_lines(study: &Study, here: &str) -> String {
    let width = study.environments.iter().map(|e| e.name.chars().count());
    let width = width.max().unwrap_or(0);
    let indent = " ".repeat(study.name.chars().count() + 3);
    let line = |environment: &Environment| {
        let name = diagnostics::screen::safe(&environment.name).into_owned();
        let place = match environment.location.is_here() {
            true => here.to_owned(),
            false => environment.location.words(),
        };
        let price = environment.price.as_ref().map(|price| {
            let hour = report::format::exact_money(&price.per_hour);
            match price.name_in(&environment.name) {
                own if own == environment.name => format!(", {hour}/h"),
                machine => format!(", priced as {machine} ({hour}/h)"),
            }
        });
        let limit = match &environment.location.machine {
            MachineAt::Rented(rented) => {
                let seconds = rented.time_limit_seconds as f64;
                format!(", ends itself after {}", report::format::duration(seconds))
            }
            MachineAt::Here | MachineAt::Ssh(_) => String::new(),
        };
        let price = price.unwrap_or_default();
        format!(
            "\n{indent}{name:width$}   {}{price}{limit}",
            diagnostics::screen::safe(&place)
        )
    };
    study.environments.iter().map(line).collect()
}

/// What machines that are reached by SSH get.
fn given_lines(given: &Given) -> String {
    const MOST: usize = 8;
    let file = |(name, bytes): &(String, u64)| {
        let name = diagnostics::screen::safe(name).into_owned();
        format!("{name} ({})", report::format::bytes(*bytes as f64))
    };
    let mut sent: Vec<String> = given.sent.iter().take(MOST).map(file).collect();
    if given.sent.len() > MOST {
        sent.push(format!("{} more files", given.sent.len() - MOST));
    }
    let set_up: Vec<&str> = given.set_up.iter().map(String::as_str).collect();
    let set_up = match set_up.is_empty() {
        true => String::new(),
        false => format!("\n  Set up there by `run --prepare`: {}", set_up.join(", ")),
    };
    format!("\n  Sent there: {}{set_up}", sent.join(", "))
}

fn scenario_table(plan: &Plan, forecast: Option<&Forecast>, screen: Option<usize>) -> String {
    let mut table = Table::default().text("scenario");
    for level in plan.scenarios.iter().take(1).flat_map(|s| &s.levels) {
        table = table.text(&level.factor);
    }
    if forecast.is_some() {
        table = table.text("expected time");
    }
    for scenario in &plan.scenarios {
        let mut row = vec![scenario.label()];
        row.extend(scenario.levels.iter().map(|l| l.level.to_string()));
        row.extend(forecast.map(|f| {
            f.scenarios
                .get(&scenario.number)
                .map_or_else(String::new, |r| time_words(r.seconds()))
        }));
        table.row(row);
    }
    let indent = |line: &str| format!("  {line}\n");
    let table = table.within(screen.map(|width| width.saturating_sub(2)));
    table.lines().map(indent).collect()
}

/// `8 scenarios × 3 repetitions = 24 runs`; `× 3 to 10 repetitions = 24 to 80 runs` where that is decided later.
pub(super) fn runs_words(study: &Study, plan: &Plan) -> String {
    let counted = report::format::counted;
    let scenarios = counted(plan.scenarios.len(), "scenario", "scenarios");
    let most = study.repetitions as usize;
    if let Some(goal) = &study.goal {
        let repetitions = counted(most, "repetition", "repetitions");
        return format!(
            "{scenarios}, at most {repetitions} of each, searched for `{}`",
            goal.text
        );
    }
    let fewest = (Until::MINIMUM as usize).min(most);
    if study.until.is_some() && fewest < most {
        let runs = plan.scenarios.len() * fewest;
        let (runs, most_runs) = (
            report::format::count(runs),
            report::format::count(plan.runs.len()),
        );
        return format!(
            "{scenarios} × {fewest} to {most} repetitions = {runs} to {most_runs} runs"
        );
    }
    let repetitions = counted(most, "repetition", "repetitions");
    let runs = counted(plan.runs.len(), "run", "runs");
    format!("{scenarios} × {repetitions} = {runs}")
}

/// `24`, or `between 24 and 80` where it depends on what is measured.
fn due_words(study: &Study, plan: &Plan, due: &[RunId], records: &[RunRecord]) -> String {
    let most = due.len();
    let fewest = study
        .until
        .as_ref()
        .map(|until| UntilKnown::new(study, plan, until, due.to_vec(), records).fewest());
    match fewest {
        Some(fewest) if fewest < most => format!("between {fewest} and {most}"),
        _ => most.to_string(),
    }
}

fn summary(
    study: &Study,
    plan: &Plan,
    due: &str,
    forecast: Option<&Forecast>,
    ledger: &Ledger,
    places: &str,
) -> String {
    let mut text = format!(
        "\n  {}, {due} to do; order from seed {}\n",
        runs_words(study, plan),
        plan.seed
    );
    text.push_str(&roles_line(study));
    if !study.environments.iter().all(|e| e.location.is_here()) {
        _ = writeln!(text, "  Where:{places}");
    }
    let Some(forecast) = forecast else {
        text.push_str("  No forecast: nothing has been measured yet, and no pilot was run.\n");
        return text;
    };
    for environment in &forecast.environments {
        let money = environment.money.map_or("unpriced".to_owned(), money_words);
        let time = time_words(environment.seconds);
        _ = writeln!(
            text,
            "  {}  {}  {time}  {money}",
            environment.environment,
            report::format::counted(environment.runs, "run", "runs")
        );
    }
    let without = workbench::without(forecast);
    let most = match study.until {
        Some(_) => ", for as many runs as there may be",
        None => "",
    };
    _ = writeln!(text, "  Forecast {}{without}{most}.", forecast.method);
    if let (Some(money), Some(left)) = (forecast.money, ledger.left()) {
        let word = match runner::over_budget(ledger, forecast) {
            Some(_) => "The budget is NOT sufficient",
            None if forecast.unknown_runs > 0 => "The budget is sufficient for what is known",
            None => "The budget is sufficient",
        };
        _ = writeln!(text, "  {word}: {} of {left} left.", money_words(money));
    }
    text
}

/// `Tasks: network, image. Choices: batch.` Recommendations are made per task, over choices.
fn roles_line(study: &Study) -> String {
    let varied = || study.factors.iter().filter(|f| f.levels.len() > 1);
    let named = |role: Role, word: &str| {
        let of = varied().filter(|factor| study.role(&factor.name) == role);
        let names: Vec<&str> = of.map(|factor| factor.name.as_str()).collect();
        (!names.is_empty()).then(|| format!("{word}: {}.", names.join(", ")))
    };
    let roles = [
        named(Role::Task, "Tasks"),
        named(Role::Choice, "Choices"),
        named(Role::Block, "Blocks"),
    ];
    let roles: Vec<String> = roles.into_iter().flatten().collect();
    match roles.is_empty() {
        true => String::new(),
        false => format!("  {}\n", roles.join(" ")),
    }
}

fn order_of_runs(plan: &Plan) -> String {
    let runs: Vec<String> = plan.runs.iter().map(ToString::to_string).collect();
    format!("\n  {}\n", runs.join(" "))
}
