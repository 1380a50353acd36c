use std::fs;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;

use model::RunId;
use report::format::counted;
use report::{Content, Exported, ExportedFile, Output};
use workbench::Results;

use super::results::{Shown, meta};
use crate::args::ExportArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;

pub(super) fn export(args: &ExportArgs, printer: &Printer) -> CommandResult {
    let format = args.format;
    if args.table.is_some() && !format.has_tables() {
        return Err(Failure::wrong_arguments(format!(
            "the format {} has no tables: leave --table out",
            format.name
        )));
    }
    if args.to.is_none() && format.is_folder {
        return Err(Failure::wrong_arguments(format!(
            "the format {} writes several files: add --to FOLDER",
            format.name
        )));
    }
    let Shown {
        results, analysis, ..
    } = Shown::open(&args.results, &args.what_if, printer)?;
    let steps = |run| {
        let steps = workbench::steps(&results, run);
        let wrong = steps.wrong.iter();
        wrong.for_each(|wrong| printer.talk(&format!("! {wrong}")));
        steps.found
    };
    let what = Exported {
        analysis: &analysis,
        meta: &meta(),
        steps: &steps,
        folder_uri: &args.to.as_deref().map(uri_of).unwrap_or_default(),
    };
    let output = report::export(&what, format, args.table);
    match (output, &args.to) {
        (output, Some(path)) => write_output(&output, path, &results, printer)?,
        // Refused above.
        (Output::Folder(_), None) => {}
        (Output::Text(text), None) => printer.data(&text),
        (Output::Binary(bytes), None) => print(&bytes, format.name)?,
    }
    Ok(Exit::Ok)
}

pub(super) fn write_output(
    output: &Output,
    path: &Path,
    results: &Results,
    printer: &Printer,
) -> Result<(), Failure> {
    match output {
        Output::Folder(files) => {
            let written = write_all(files, path, results)?;
            let files = counted(written, "file", "files");
            printer.talk(&format!("Wrote {files} to {}.", path.display()));
            Ok(())
        }
        Output::Text(text) => write(path, text.as_bytes(), printer),
        Output::Binary(bytes) => write(path, bytes, printer),
    }
}

fn write(path: &Path, bytes: &[u8], printer: &Printer) -> Result<(), Failure> {
    fs::write(path, bytes).map_err(|error| cannot_write(path, &error))?;
    printer.talk(&format!("Wrote {}.", path.display()));
    Ok(())
}

fn print(bytes: &[u8], format: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    if out.is_terminal() {
        return Err(Failure::wrong_arguments(format!(
            "the format {format} is not text: add --to FILE, or redirect the output"
        )));
    }
    let written = out.write_all(bytes).and_then(|()| out.flush());
    match written {
        // Who read it has enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|e| Failure::trouble(format!("cannot write to stdout: {e}"))),
    }
}

/// Gives how many; a run need not have every file.
fn write_all(files: &[ExportedFile], folder: &Path, results: &Results) -> Result<usize, Failure> {
    let mut written = 0;
    for file in files {
        let path = folder.join(&file.path);
        let bytes = match &file.content {
            Content::Text(text) => Some(text.clone().into_bytes()),
            Content::OfRun(run, name) => of_run(results, *run, name)?,
        };
        let Some(bytes) = bytes else { continue };
        let parent = path.parent().unwrap_or(folder);
        let made = fs::create_dir_all(parent).and_then(|()| fs::write(&path, bytes));
        made.map_err(|error| cannot_write(&path, &error))?;
        written += 1;
    }
    Ok(written)
}

fn of_run(results: &Results, run: RunId, name: &str) -> Result<Option<Vec<u8>>, Failure> {
    Ok(results.store.read_run_file(run, name)?)
}

/// The folder as others find it, wherever they are started.
pub(super) fn uri_of(folder: &Path) -> String {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let mut uri = String::from("file://");
    for byte in absolute.to_string_lossy().trim_end_matches('/').bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' => {
                uri.push(char::from(byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::trouble(format!("cannot write {}: {error}", path.display()))
}
