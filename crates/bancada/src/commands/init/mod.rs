//! `bancada init`: a study file, asked for or from the gallery.

mod answers;
mod asker;
mod interview;
mod machines;
mod offer;

use std::fs::OpenOptions;
use std::io::{BufReader, IsTerminal as _, Write as _};
use std::path::Path;

use plan::{TEMPLATES, Template};

use self::asker::{Asker, Gone};
use self::interview::Interview;
use crate::args::InitArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;
use crate::table::Table;

pub(super) fn init(args: &InitArgs, printer: &Printer) -> CommandResult {
    if args.list {
        let mut table = Table::default().text("template").text("what it answers");
        for Template { name, about, .. } in TEMPLATES {
            table.row(vec![(*name).to_owned(), (*about).to_owned()]);
        }
        printer.data(&table.within(printer.data_width()));
        return Ok(Exit::Ok);
    }
    if args.file.exists() {
        return Err(cannot_write(&args.file, ALREADY_THERE));
    }
    let asks = args.from.is_none() && std::io::stdin().is_terminal() && printer.talk_is_terminal;
    match args.from.or(TEMPLATES.first()).filter(|_| !asks) {
        Some(template) => from_template(template, &args.file, printer),
        None => asked(&args.file, printer),
    }
}

fn from_template(template: &Template, file: &Path, printer: &Printer) -> CommandResult {
    write(file, template.text)?;
    let Template { name, about, .. } = template;
    printer.talk(&format!(
        "Wrote {}: {about} (template {name}; `bancada init --list` has others).",
        file.display()
    ));
    printer.talk(&format!(
        "Next: edit it, then bancada run {}",
        file.display()
    ));
    Ok(Exit::Ok)
}

fn asked(file: &Path, printer: &Printer) -> CommandResult {
    let mut input = BufReader::new(std::io::stdin());
    let mut output = std::io::stderr();
    let asker = Asker {
        input: &mut input,
        output: &mut output,
    };
    match Interview::new(asker, file).study() {
        Ok(text) => write(file, &text)?,
        Err(Gone) => {
            printer.talk("\nNothing was written.");
            return Ok(Exit::Interrupted);
        }
    }
    let file = file.display();
    printer.talk(&format!("\nWrote {file}."));
    printer.talk(&format!(
        "  4 measure   bancada plan {file}     forecast from short pilot runs\n              \
         bancada run {file}      goes on where it was when it is stopped\n  \
         5 analyse   `run` prints the results and writes the report; bancada show {file}"
    ));
    Ok(Exit::Ok)
}

const ALREADY_THERE: &str = "it already exists; choose a different name";

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => cannot_write(path, ALREADY_THERE),
        _ => cannot_write(path, &error.to_string()),
    };
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(failed)
}

fn cannot_write(path: &Path, why: &str) -> Failure {
    Failure::trouble(format!("cannot write {}: {why}", path.display()))
}
