//! One command, timed: runs, statistics, cost, and a study file to go on from.

use std::path::Path;

use analyse::{Analysis, CompareRequest, Side};
use diagnostics::Diagnostic;
use indicatif::{ProgressBar, ProgressStyle};
use report::{Exported, TerminalOptions, format};
use workbench::{Results, TimeRequest, Timed, TimedCommand, TimedRun, Vary};

use super::export::{uri_of, write_output};
use super::results::{meta, terminal_options};
use super::work::versions;
use crate::args::TimeArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;
use crate::signals::{self, STOP};

/// Between two drawings of the progress.
const DRAWN_PER_SECOND: u8 = 10;

pub(super) fn time(args: &TimeArgs, printer: &Printer) -> CommandResult {
    let command = TimedCommand {
        words: args.command.clone(),
        shell: args.shell,
        vary: args.vary.clone(),
        price: args.price.clone(),
    };
    refuse_repeated(&command.vary)?;
    let directory = std::env::current_dir().map_err(Failure::trouble)?;
    check(&command, &directory, printer)?;
    let file = match &args.save {
        Some(file) if file.exists() => {
            let file = file.display();
            return Err(Failure::trouble(format!(
                "{file} exists already; `bancada run {file}` goes on with a study"
            )));
        }
        Some(file) => file.clone(),
        None => workbench::kept_study(&command.name())?,
    };
    signals::listen();
    let request = TimeRequest {
        command: &command,
        file: &file,
        directory: &directory,
        warmup: args.warmup,
        runs: args.runs,
        prepare: args.prepare.as_deref(),
        ignore_failure: args.ignore_failure,
        versions: versions(),
        stop: &STOP,
    };
    let tell = printer.teller();
    let progress = Progress::begin(printer);
    let timed = workbench::time(&request, &tell, &mut |run| progress.show(&run));
    progress.end();
    if timed.is_err() && args.save.is_none() {
        forget(&file);
    }
    let Timed {
        results,
        is_interrupted,
    } = timed?;
    let analysis = workbench::analyse(&results, None, &tell)?;
    let options = TerminalOptions {
        only_table: analysis.scenarios.len() < 2,
        ..terminal_options(printer)
    };
    printer.data_as_is(&report::terminal(&analysis, &options));
    print_more(&analysis, &results, printer);
    if let Some(export) = &args.export {
        write_export(export, &analysis, &results, printer)?;
    }
    let study = host::shell::quoted(&file.to_string_lossy());
    let keep = match args.save {
        Some(_) => "",
        None => "; --save FILE keeps it where you want it",
    };
    printer.data(&format!(
        "\n  Study   {study}\n          bancada report, show, compare and run take it{keep}"
    ));
    Ok(match is_interrupted {
        true => Exit::Interrupted,
        false => Exit::Ok,
    })
}

/// The study that the arguments make is nothing that the user wrote: what is wrong with it is said of
/// the argument that it came from.
fn check(command: &TimedCommand, directory: &Path, printer: &Printer) -> Result<(), Failure> {
    if command.vary.is_empty() && command.price.is_none() {
        return Ok(());
    }
    let text = command.study(1, None, Some(directory))?;
    let catalog = workbench::catalog(&printer.teller());
    let opened = workbench::open_text(Path::new("study.toml"), text, None, &catalog);
    let Err(error) = opened else { return Ok(()) };
    let Some(mistakes) = error.found() else {
        return Err(error.into());
    };
    let told = mistakes.found.iter().map(|one| {
        let line = one.span.as_ref().map_or("", |span| {
            let before = mistakes.text.get(..span.start).unwrap_or_default();
            let begin = before.rfind('\n').map_or(0, |end| end + 1);
            mistakes.text[begin..].lines().next().unwrap_or_default()
        });
        of_argument(one, line, command)
    });
    Err(Failure::wrong_arguments(
        told.collect::<Vec<_>>().join("\n"),
    ))
}

fn of_argument(mistake: &Diagnostic, line: &str, command: &TimedCommand) -> String {
    let key = line.split('=').next().unwrap_or_default().trim();
    let key = key.trim_matches('"');
    let message = &mistake.message;
    let varied = command.vary.iter().find(|vary| vary.factor == key);
    if let Some(Vary { factor, levels }) = varied {
        let argument = format!("--vary {factor}={}", levels.join(","));
        let place = format!("{{{factor}}}");
        return match command.words.iter().any(|word| word.contains(&place)) {
            true => format!("{argument}: {message}"),
            false => {
                format!("{argument}: the command does not contain {place}, where its values go")
            }
        };
    }
    match (key, &command.price) {
        ("price", Some(price)) => format!(
            "--price {price}: {message}; give an amount such as \"0.169 USD/h\", or a name of the catalog (`bancada price find`)"
        ),
        _ => {
            let more = mistake.label.iter().chain(&mistake.notes);
            let more = more.map(|more| format!("; {more}"));
            format!("{message}{}", more.collect::<String>())
        }
    }
}

fn refuse_repeated(vary: &[Vary]) -> Result<(), Failure> {
    let mut seen = std::collections::BTreeSet::new();
    match vary.iter().find(|vary| !seen.insert(vary.factor.as_str())) {
        Some(twice) => Err(Failure::wrong_arguments(format!(
            "--vary {} is there twice: give all its values in one, with commas",
            twice.factor
        ))),
        None => Ok(()),
    }
}

/// A folder that was made for a study that came to nothing; of one with runs, nothing is removed.
fn forget(file: &Path) {
    if let Some(folder) = file.parent() {
        _ = std::fs::remove_dir(folder);
    }
}

/// The range of every scenario, and the verdict on two.
fn print_more(analysis: &Analysis, results: &Results, printer: &Printer) {
    let name = analysis.time_metric.as_ref();
    let column = name.and_then(|name| analysis.metrics.iter().position(|m| m.name == *name));
    let Some(column) = column else { return };
    let mut lines = Vec::new();
    for scenario in &analysis.scenarios {
        let runs = analysis.runs.iter();
        let of = runs.filter(|run| run.scenario == scenario.number);
        let values = of.filter_map(|run| run.values.get(column).copied().flatten());
        let values: Vec<f64> = values.collect();
        let (least, most) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), v| {
            (low.min(*v), high.max(*v))
        });
        if values.len() > 1 {
            lines.push(format!(
                "  {}: {} to {} in {} runs",
                scenario.label,
                format::duration(least),
                format::duration(most),
                format::count(values.len())
            ));
        }
    }
    if let Some(sentence) = of_two(analysis, results) {
        lines.push(format!("  {sentence}"));
    }
    if !lines.is_empty() {
        printer.data(&format!("\n{}", lines.join("\n")));
    }
}

/// More than two share one error rate: their sentences are those of the analysis.
fn of_two(analysis: &Analysis, results: &Results) -> Option<String> {
    let [first, second] = analysis.scenarios.as_slice() else {
        return None;
    };
    let names =
        [first, second].map(|scenario| format!("{} ({})", scenario.label, scenario.phrase()));
    let side = |index: usize, number: u32| Side {
        name: &names[index],
        analysis,
        scenario: Some(number),
        levels: &[],
    };
    let request = CompareRequest {
        first: side(0, first.number),
        second: side(1, second.number),
        metric: None,
        equal_within_percent: results.study.equal_within(),
    };
    let compared = analyse::compare(&request).ok()?;
    compared.sentences.into_iter().next()
}

fn write_export(
    export: &crate::args::TimeExport,
    analysis: &Analysis,
    results: &Results,
    printer: &Printer,
) -> Result<(), Failure> {
    let steps = |run| workbench::steps(results, run).found;
    let what = Exported {
        analysis,
        meta: &meta(),
        steps: &steps,
        folder_uri: &uri_of(&export.path),
    };
    let output = report::export(&what, export.format, None);
    write_output(&output, &export.path, results, printer)
}

/// A line that changes, where somebody looks.
struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    fn begin(printer: &Printer) -> Self {
        let bar = printer.talk_is_terminal.then(|| {
            let bar = ProgressBar::no_length();
            let target = indicatif::ProgressDrawTarget::stderr_with_hz(DRAWN_PER_SECOND);
            bar.set_draw_target(target);
            let style = ProgressStyle::with_template("  {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Progress { bar }
    }

    fn show(&self, run: &TimedRun<'_>) {
        let Some(bar) = &self.bar else { return };
        let count = match (run.done, run.runs) {
            (None, _) => "warm-up".to_owned(),
            (Some(done), None) => format!("run {done}"),
            (Some(done), Some(runs)) => format!("run {done} of {runs}"),
        };
        let levels = diagnostics::screen::safe(&run.scenario.levels_label()).into_owned();
        bar.set_message(format!(
            "{count}  {}  {levels}  {}",
            run.scenario.label(),
            format::duration(run.seconds)
        ));
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
