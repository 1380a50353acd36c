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
    let is_predicted = predicted_runs.iter().any(|run| run.prediction().is_some());
    match (args.json, is_predicted) {
        (true, _) => printer.data(&String::from_utf8_lossy(&json)),
        (false, true) => printer.data(&check_text(&checked)),
        (false, false) => printer.data(&format!("\n  {}", nothing_predicted(&predicted.study))),
    }
    Ok(())
}

/// All runs were carried out whole.
fn nothing_predicted(study: &Study) -> &'static str {
    match study.workload {
        Workload::Command(_) => {
            "The output does not say early enough where a run ends: all were run whole, nothing was predicted."
        }
        _ => "The trainings are too short: all were run whole, nothing was predicted.",
    }
}

/// `+1.3 %`; what rounds to nothing has no sign.
fn error_words(error: f64) -> String {
    let tenths = (1000.0 * error).round();
    match tenths == 0.0 {
        true => "0.0 %".to_owned(),
        false => format!("{:+.1} %", tenths / 10.0),
    }
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
            error_words(run.error()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_nothing_has_no_sign() {
        let check = |error: f64, expected: &str| assert_eq!(error_words(error), expected);
        check(-0.0004, "0.0 %");
        check(0.0, "0.0 %");
        check(-0.0006, "-0.1 %");
        check(0.123, "+12.3 %");
    }
}
