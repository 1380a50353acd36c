use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use model::{Plan, RunId, RunRecord, Study};
use runner::{Forecast, Ledger, Wanted};
use store::Store;

use super::fits::{ELSEWHERE, Wish, refuse_too_large};
use super::forecasting::{self, money_words, time_words};
use super::here::Here;
use super::only;
use crate::args::PlanArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::locate::{Opened, open_study, results_folder, saved_study, store_failure};
use crate::printer::Printer;
use crate::signals;
use crate::table::Table;

pub(super) fn plan(args: &PlanArgs, printer: &Printer) -> CommandResult {
    let opened = open_study(&args.study, args.scale.as_deref(), printer)?;
    let folder = results_folder(&args.study, &opened.study, args.out.as_deref());
    let wanted = Wanted {
        only: only::read(&args.only, &opened.study)?,
        ..Wanted::default()
    };
    let Earlier {
        records,
        due,
        ledger,
    } = earlier(&folder, &opened, &wanted, printer)?;
    if !args.elsewhere {
        let wish = Wish {
            runs: &due,
            has_real_endpoints: false,
            advice: ELSEWHERE,
        };
        refuse_too_large(&args.study, &opened, &wish, printer)?;
    }
    signals::listen();
    let here = Here::find()?;
    let (place, builder) = (here.place(&opened, None), here.orders(&opened));
    let ask = forecasting::Ask {
        opened: &opened,
        earlier: &records,
        due: &due,
        pilot: !args.no_pilot && !args.elsewhere,
        here: &here,
        place: &place,
        builder: &builder,
        orders: None,
    };
    let forecast = forecasting::make(&ask, printer)?;
    let Opened { study, plan, .. } = &opened;
    let holds = forecast
        .as_ref()
        .is_none_or(|f| runner::over_budget(&ledger, f).is_none());
    if args.json {
        let value = serde_json::json!({ "plan": plan, "due": due, "forecast": forecast, "budget_holds": holds });
        printer.data(&format!("{value:#}"));
    } else {
        let mut text = scenario_table(plan, forecast.as_ref(), printer.data_width());
        text.push_str(&summary(study, plan, due.len(), forecast.as_ref(), &ledger));
        if let Some(old) = super::price::age_note(study) {
            text.push_str(&format!("\n{old}\n"));
        }
        if args.runs {
            text.push_str(&order_of_runs(plan));
        }
        printer.data(&text);
    }
    Ok(if holds { Exit::Ok } else { Exit::Budget })
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
    wanted: &Wanted,
    printer: &Printer,
) -> Result<Earlier, Failure> {
    let Opened { study, plan, .. } = opened;
    let there = folder.join("plan.json").is_file();
    let store = there
        .then(|| Store::open(folder))
        .transpose()
        .map_err(store_failure)?;
    let Some(store) = store else {
        return Ok(Earlier {
            records: Vec::new(),
            due: runner::due_runs(plan, &BTreeMap::new(), wanted),
            ledger: Ledger::new(study),
        });
    };
    let all = store.records().map_err(store_failure)?;
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
    Ok(Earlier {
        due: runner::due_runs(plan, &statuses, wanted),
        ledger: match records.is_empty() {
            true => Ledger::new(study),
            false => Ledger::open(study, &store).map_err(store_failure)?,
        },
        records,
    })
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

/// `8 scenarios × 3 repetitions = 24 runs`.
pub(super) fn runs_words(study: &Study, plan: &Plan) -> String {
    format!(
        "{} × {} = {}",
        report::format::counted(plan.scenarios.len(), "scenario", "scenarios"),
        report::format::counted(study.repetitions as usize, "repetition", "repetitions"),
        report::format::counted(plan.runs.len(), "run", "runs")
    )
}

fn summary(
    study: &Study,
    plan: &Plan,
    due: usize,
    forecast: Option<&Forecast>,
    ledger: &Ledger,
) -> String {
    let mut text = format!(
        "\n  {}, {due} to do; order from seed {}\n",
        runs_words(study, plan),
        plan.seed
    );
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
    let without = forecasting::without(forecast);
    _ = writeln!(text, "  Forecast {}{without}.", forecast.method);
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

fn order_of_runs(plan: &Plan) -> String {
    let runs: Vec<String> = plan.runs.iter().map(ToString::to_string).collect();
    format!("\n  {}\n", runs.join(" "))
}
