//! `run --predict`: the beginning of every training or command, the whole predicted from it, and some scenarios
//! run to their end as a check.

use std::path::Path;

use model::{Study, Workload};
use report::format;
use runner::{Preview, RunSelection};
use workbench::{CheckedPredictions, Opened, Results};

use super::run::{Wish, carried_out, conclude, wanted};
use crate::args::RunArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;
use crate::table::Table;

/// In the folder of the study's results.
const PREDICTED: &str = "predicted";
const CHECK_FILE: &str = "check.json";

pub(super) fn run(
    args: &RunArgs,
    opened: Opened,
    folder: &Path,
    printer: &Printer,
) -> CommandResult {
    refuse_others(&opened.study)?;
    let measured_study = (args.measure_some > 0).then(|| opened.clone());
    let wish = Wish {
        selection: wanted(args, &opened.study)?,
        preview: Some(Preview::default()),
    };
    let (predicted, ended) = carried_out(args, opened, &folder.join(PREDICTED), wish, printer)?;
    let exit = conclude(&predicted, ended, args, printer)?;
    match measured_study {
        Some(opened) if exit == Exit::Ok => {
            check(args, opened, folder, &predicted, printer)?;
            Ok(exit)
        }
        _ => Ok(exit),
    }
}

fn refuse_others(study: &Study) -> Result<(), Failure> {
    match study.workload {
        Workload::Train(_) | Workload::Command(_) => Ok(()),
        Workload::Serve(_) => Err(Failure::wrong_arguments(
            "--predict needs a study of trainings or commands: the load of a served model says itself how long it lasts",
        )),
    }
}

fn check(
    args: &RunArgs,
    opened: Opened,
    folder: &Path,
    predicted: &Results,
    printer: &Printer,
) -> Result<(), Failure> {
    let predicted_runs = predicted.store.records()?;
    let runs = workbench::runs_to_check(&predicted_runs, args.measure_some);
    let wish = Wish {
        selection: RunSelection {
            runs: Some(runs),
            ..wanted(args, &opened.study)?
        },
        preview: None,
    };
    let (measured, _) = carried_out(args, opened, folder, wish, printer)?;
    let checked = workbench::check_predictions(&predicted_runs, &measured.store.records()?);
    let json = serde_json::to_vec_pretty(&checked).map_err(Failure::trouble)?;
    predicted.store.save_file(CHECK_FILE, &json)?;
    match args.json {
        true => printer.data(&String::from_utf8_lossy(&json)),
        false => printer.data(&check_text(&checked)),
    }
    Ok(())
}

fn check_text(checked: &CheckedPredictions) -> String {
    let Some(median) = checked.median_error() else {
        return "\n  No run was carried out to its end: the predictions are not checked."
            .to_owned();
    };
    let mut table = Table::default()
        .text("run")
        .number("predicted")
        .text("95 % interval")
        .number("measured")
        .number("error");
    for run in &checked.runs {
        table.row(vec![
            run.run.to_string(),
            format::duration(run.predicted_seconds),
            format!(
                "{} to {}",
                format::duration(run.low_seconds),
                format::duration(run.high_seconds)
            ),
            format::duration(run.measured_seconds),
            format!("{:+.1} %", 100.0 * run.error()),
        ]);
    }
    let errors = checked.runs.iter().map(|run| run.error().abs());
    let largest = errors.fold(0.0, f64::max);
    let within = checked.runs.iter().filter(|run| run.is_within()).count();
    let rows: Vec<String> = table
        .rendered()
        .lines()
        .map(|l| format!("    {l}\n"))
        .collect();
    format!(
        "\n  Predictions beside whole runs\n{}  Median error {:.1} %, largest {:.1} %; {within} of {} within the interval.",
        rows.concat(),
        100.0 * median,
        100.0 * largest,
        format::counted(checked.runs.len(), "whole run", "whole runs")
    )
}
