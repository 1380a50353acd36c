//! `bancada doctor`: what is set up, whether it works, what to do.

use std::time::Duration;

use diagnostics::screen::pad_right;
use frameworks::{Condition, Doctor, FrameworkReport, Home, Machine, MachineReport, Spec};
use indicatif::{ProgressBar, ProgressStyle};
use report::format;
use serde_json::json;

use super::setup::trial;
use crate::args::{DoctorArgs, FrameworkArg};
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::{Printer, shown};

pub(super) fn doctor(args: &DoctorArgs, printer: &Printer) -> CommandResult {
    let home = Home::find().map_err(Failure::trouble)?;
    let machine = Machine::here();
    let adapters = home.adapters().map_err(Failure::trouble)?;
    let scratch = workbench::scratch(&home)?;
    let trial = trial(&scratch)?;
    let doctor = Doctor {
        home: &home,
        machine: &machine,
        adapters: &adapters,
        trial: &trial,
    };
    let surroundings = doctor.surroundings();
    if !args.json {
        printer.data(&around(&surroundings));
    }
    let specs = chosen(&doctor, &args.frameworks);
    let width = specs.iter().map(|s| s.to_string().len()).max().unwrap_or(0);
    let mut reports = Vec::new();
    for spec in &specs {
        let waiting = waiting(&spec.to_string(), printer);
        let report = doctor.examine(spec);
        waiting.finish_and_clear();
        if !args.json {
            printer.data_as_is(&line(&report, width, printer.data_coloured));
        }
        reports.push(report);
    }
    if args.json {
        let all = json!({ "surroundings": surroundings, "frameworks": reports });
        printer.data(&format!("{all:#}"));
    }
    Ok(
        match reports.iter().any(|r| r.condition == Condition::Broken) {
            true => Exit::Trouble,
            false => Exit::Ok,
        },
    )
}

fn chosen(doctor: &Doctor<'_>, arguments: &[FrameworkArg]) -> Vec<Spec> {
    let mut chosen = Vec::new();
    for argument in arguments {
        match argument {
            FrameworkArg::One(spec) => chosen.push(spec.clone()),
            FrameworkArg::All => return doctor.specs(),
        }
    }
    match chosen.is_empty() {
        true => doctor.specs(),
        false => chosen,
    }
}

/// A training step takes seconds.
fn waiting(name: &str, printer: &Printer) -> ProgressBar {
    if !printer.talk_is_terminal {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("  checking {msg} {elapsed}");
    let bar = ProgressBar::new_spinner()
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        .with_message(name.to_owned());
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

fn around(surroundings: &MachineReport) -> String {
    let size = |bytes: u64| format::bytes(bytes as f64);
    let folders: Vec<String> = surroundings
        .folders
        .iter()
        .map(|f| format!("{} {}", f.name, size(f.size_bytes)))
        .collect();
    let folders = match folders.as_slice() {
        [] => "empty".to_owned(),
        folders => folders.join(", "),
    };
    let free = surroundings
        .free_bytes
        .map(|bytes| format!("; {} free", size(bytes)));
    let uv = match &surroundings.uv {
        Some(uv) => format!(
            "{} ({})",
            uv.version.as_deref().map_or("does not respond", short),
            uv.path.display()
        ),
        None => "not found: using venv and pip, which take longer".to_owned(),
    };
    let pythons: Vec<&str> = surroundings
        .pythons
        .iter()
        .map(|p| p.version.as_str())
        .collect();
    let pythons = match pythons.as_slice() {
        [] => "none found".to_owned(),
        pythons => pythons.join(", "),
    };
    let gpus = match &surroundings.gpus {
        None => "none found (no nvidia-smi)".to_owned(),
        Some(gpus) if gpus.is_empty() => "nvidia-smi shows none".to_owned(),
        Some(gpus) => gpus.join(", "),
    };
    format!(
        "machine  {}\nGPUs     {gpus}\ncache    {}: {folders}{}\nuv       {uv}\nPythons  {pythons}\n\n",
        surroundings.platform,
        surroundings.cache.display(),
        free.unwrap_or_default(),
    )
}

/// `0.13.7` of `uv 0.13.7 (x86_64-unknown-linux-gnu)`.
fn short(version: &str) -> &str {
    version.split_whitespace().nth(1).unwrap_or(version)
}

fn line(report: &FrameworkReport, width: usize, coloured: bool) -> String {
    let (mark, colour) = match report.condition {
        Condition::Works => ("✓", "32"),
        Condition::Broken => ("✗", "31"),
        Condition::Unfinished => ("…", "33"),
        Condition::NotSetUp | Condition::CannotBeHad => ("–", "2"),
    };
    let mark = match coloured {
        true => format!("\x1b[{colour}m{mark}\x1b[0m"),
        false => mark.to_owned(),
    };
    let name = pad_right(&shown(&report.name), width);
    let mut text = format!("{mark} {name}  {}", shown(&facts(report)));
    // Of what works, only where it wants something more.
    if matches!(report.condition, Condition::Works | Condition::Broken) {
        let indent = " ".repeat(width + 4);
        for said in report.problem.iter() {
            text += &format!("\n{indent}{}", shown(said));
        }
        for advice in report.advice.iter() {
            text += &format!("\n{indent}do: {}", shown(advice));
        }
    }
    text
}

fn facts(report: &FrameworkReport) -> String {
    let said = |text: &Option<String>| text.clone().unwrap_or_default();
    match report.condition {
        Condition::NotSetUp => format!("not set up: {}", said(&report.advice)),
        Condition::Unfinished => format!("incomplete; {}", said(&report.advice)),
        Condition::CannotBeHad => {
            let advice = report.advice.as_ref().map(|a| format!(": {a}"));
            format!(
                "not available here, {}{}",
                said(&report.problem),
                advice.unwrap_or_default()
            )
        }
        Condition::Works | Condition::Broken => {
            let size = report.size_bytes.map(|bytes| format::bytes(bytes as f64));
            let shared = report.environment_of.as_ref();
            let size = match &report.extends {
                Some(base) => size.map(|size| format!("{size} in addition to {base}")),
                None => size,
            };
            let facts = [
                report.version.clone().or_else(|| match report.condition {
                    Condition::Works => Some("built in".to_owned()),
                    _ => Some("set up, but does not work".to_owned()),
                }),
                report.python.as_ref().map(|p| format!("Python {p}")),
                match shared {
                    Some(owner) => Some(format!("in {owner}'s environment")),
                    None => size,
                },
                report.gpu_packages.then(|| "for GPUs".to_owned()),
                report
                    .import_seconds
                    .map(|s| format!("imported in {s:.1} s")),
                report
                    .trial_seconds
                    .map(|s| format!("trained a step in {s:.1} s")),
            ];
            facts
                .into_iter()
                .flatten()
                .collect::<Vec<String>>()
                .join(", ")
        }
    }
}
