//! Every command that the documents show works as it is typed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{Bench, Ran};

/// Commands that need what this test cannot have: frameworks, a server, a network, an account, or
/// hours. Their arguments are checked here; the scripts under `.ci` carry out their like.
const NOT_CARRIED_OUT: &[&str] = &[
    "bancada setup",
    "bancada data fetch",
    "bancada data show",
    "bancada verify",
    "bancada serve",
    "bancada load",
    "bancada quantise",
    "bancada image build",
    "bancada run studies/",
    "bancada run study.toml --real",
    "bancada price update azure",
];

struct Shown {
    document: PathBuf,
    line: usize,
    text: String,
}

/// Commands of `bancada` in blocks of code, with what stands behind a `#` left out and lines that go
/// on after a backslash joined.
fn commands(document: &Path, text: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut goes_on = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.split(" # ").next().unwrap_or_default().trim();
        let part = line.trim_end_matches('\\').trim();
        if goes_on {
            if let Some(last) = found.last_mut() {
                last.text = format!("{} {part}", last.text);
            }
        } else if let Some(command) = command_of(part) {
            found.push(Shown {
                document: document.to_owned(),
                line: number + 1,
                text: command.to_owned(),
            });
        } else {
            continue;
        }
        goes_on = line.ends_with('\\');
    }
    found
}

fn command_of(line: &str) -> Option<&str> {
    let line = line.strip_prefix("$ ").unwrap_or(line);
    line.starts_with("bancada ").then_some(line)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn all() -> Vec<Shown> {
    let mut documents = vec![root().join("README.md")];
    let docs = fs::read_dir(root().join("docs")).unwrap();
    documents.extend(docs.map(|entry| entry.unwrap().path()));
    documents.retain(|path| path.extension().is_some_and(|e| e == "md"));
    documents.sort();
    let of = |path: &PathBuf| commands(path, &fs::read_to_string(path).unwrap());
    documents.iter().flat_map(of).collect()
}

/// As a shell would do it, with the program on the path.
fn typed(bench: &Bench, command: &str) -> Ran {
    let program = Path::new(env!("CARGO_BIN_EXE_bancada"));
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(bench.path())
        .env(
            "PATH",
            format!("{}:{path}", program.parent().unwrap().display()),
        )
        .env("BANCADA_CACHE", bench.path().join("cache"))
        .stdin(Stdio::null())
        .output();
    Ran::new(output.unwrap())
}

#[test]
fn commands_of_documents_have_arguments_that_exist() {
    let bench = Bench::new();
    let shown = all();
    assert!(shown.len() > 40, "only {} commands found", shown.len());
    for Shown {
        document,
        line,
        text,
    } in shown
    {
        let ran = typed(&bench, &format!("{text} --help"));
        let place = document.file_name().unwrap().display();
        assert_eq!(ran.code, 0, "{place}:{line}: {text}\n{}", ran.err);
    }
}

/// In the order of the documents: later commands use what earlier ones made.
#[test]
fn commands_of_documents_work_as_typed() {
    let bench = repository();
    let is_carried_out = |shown: &&Shown| {
        !NOT_CARRIED_OUT
            .iter()
            .any(|prefix| shown.text.starts_with(prefix))
    };
    let mut failures: Vec<String> = Vec::new();
    for shown in all().iter().filter(is_carried_out) {
        let ran = typed(&bench, &shown.text);
        if ran.code != 0 {
            let place = shown.document.file_name().unwrap().display();
            let Shown { line, text, .. } = shown;
            failures.push(format!(
                "{place}:{line}: {text}\nends with {}: {}",
                ran.code, ran.err
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// What a person has who followed the README so far: the studies, the first one's results (of a
/// smaller run), and files that the documents speak of.
fn repository() -> Bench {
    let bench = Bench::new();
    fs::create_dir(bench.path().join("studies")).unwrap();
    for entry in fs::read_dir(root().join("studies")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(
                &path,
                bench.path().join("studies").join(path.file_name().unwrap()),
            )
            .unwrap();
        }
    }
    let quickstart = fs::read_to_string(root().join("studies/quickstart.toml")).unwrap();
    let small = quickstart
        .replace("images = 1024", "images = 64")
        .replace("held_out = 256", "held_out = 32")
        .replace("epochs = 3", "epochs = 1")
        .replace("repetitions = 3", "repetitions = 1");
    assert_ne!(small, quickstart);
    bench.write("studies/quickstart.toml", &small);
    typed(
        &bench,
        "bancada run studies/quickstart.toml --quiet --no-pilot",
    )
    .ends_with(0);
    let bill = root().join("crates/reconcile/tests/fixtures/study-a-azure.csv");
    for name in ["bill.csv", "march.csv"] {
        fs::copy(&bill, bench.path().join(name)).unwrap();
    }
    bench
}
