//! One line for a new machine that runs its part of a study.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use infra::InfraError;
use infra::onboard::{Destination, Kit, line};
use model::location::MachineAt;
use runner::InputReader;
use workbench::{Opened, open_study};

use crate::args::OnboardArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

const FACTOR: &str = "environment";

pub(super) fn onboard(args: &OnboardArgs, printer: &Printer) -> CommandResult {
    let opened = open_study(&args.study, None, &printer.teller())?;
    let study = &opened.study;
    let environment = study.environment(&args.environment).ok_or_else(|| {
        let names: Vec<&str> = study.environments.iter().map(|e| e.name.as_str()).collect();
        Failure::wrong_arguments(format!(
            "the study has no environment `{}`; its environments are {}",
            args.environment,
            names.join(", ")
        ))
    })?;
    if environment.location.machine != MachineAt::Here {
        return Err(Failure::wrong_arguments(format!(
            "runs of `{}` happen on {}: `bancada run` brings them there itself; onboard is for environments without `ssh` and `rent`",
            environment.name,
            environment.location.words()
        )));
    }
    let kit = Kit {
        program: match &args.program {
            Some(program) => program.clone(),
            None => workbench::own_program()?,
        },
        study: file_name(&args.study)?,
        folder: opened.folder.clone(),
        files: files(&opened, args)?.into_iter().collect(),
        only: study
            .factor(FACTOR)
            .map(|_| format!("{FACTOR}={}", environment.name)),
        to: Destination::parse(&args.to).map_err(failure)?,
        power_off: args.power_off,
    };
    kit.write(&args.kit).map_err(failure)?;
    printer.talk(&format!(
        "{} has Bancada, the study and {}. It starts on Linux machines with a C library at least as new as this one's.",
        args.kit.display(),
        report::format::counted(kit.files.len(), "more file", "more files"),
    ));
    printer.data(&line(&args.kit, args.from.as_deref()));
    Ok(Exit::Ok)
}

fn file_name(path: &Path) -> Result<PathBuf, Failure> {
    let name = path.file_name().map(PathBuf::from);
    name.ok_or_else(|| Failure::wrong_arguments("the study has no file name"))
}

/// Network files, what commands and `inputs` name, and what was asked for.
fn files(opened: &Opened, args: &OnboardArgs) -> Result<BTreeSet<PathBuf>, Failure> {
    let Opened {
        study,
        plan,
        folder,
        ..
    } = opened;
    let mut files: BTreeSet<PathBuf> = args.include.iter().cloned().collect();
    files.extend(study.network_files.keys().map(PathBuf::from));
    let reader = InputReader::new(folder);
    for scenario in &plan.scenarios {
        let inputs = reader.read(study, scenario).map_err(Failure::trouble)?;
        // What lies elsewhere, such as /usr/bin/python3, is the machine's own.
        let paths = inputs.into_iter().map(|input| PathBuf::from(input.path));
        files.extend(paths.filter(|path| path.is_relative()));
    }
    Ok(files)
}

fn failure(error: InfraError) -> Failure {
    match error {
        InfraError::Refused(_) => Failure::wrong_arguments(error),
        _ => Failure::trouble(error),
    }
}
