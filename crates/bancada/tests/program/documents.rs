//! Every command that the documents show works as it is typed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{Bench, Ran};

/// Commands that need what this test cannot have: frameworks, a server, a network, an account, another
/// machine's file, or much time. Their arguments are checked here; the scripts under `.ci` carry out their like.
const NOT_CARRIED_OUT: &[&str] = &[
    "bancada setup",
    "bancada data fetch",
    "bancada data show",
    "bancada verify",
    "bancada serve",
    "bancada load",
    "bancada quantise",
    "bancada watch",
    "bancada ui",
    "bancada image build",
    "bancada run studies/",
    "bancada run study.toml --real",
    "bancada price update azure",
    "bancada probe",
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
        // What stands behind `--` is another program's.
        let asked = match text.split_once(" -- ") {
            Some((ours, _)) => format!("{ours} --help"),
            None => format!("{text} --help"),
        };
        let ran = typed(&bench, &asked);
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
    typed(
        &bench,
        "cp -r studies/results/quickstart before && cp -r studies/results/quickstart after",
    )
    .ends_with(0);
    let bill = root().join("crates/reconcile/tests/fixtures/study-a-azure.csv");
    for name in ["bill.csv", "march.csv", "april.csv"] {
        fs::copy(&bill, bench.path().join(name)).unwrap();
    }
    bench.write(
        "cheaper.toml",
        "[environments.local]\nprice = \"0.1 USD/h\"\n",
    );
    bench.write(
        "vms.csv",
        "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Price,SpotPrice,Region\n\
         Standard_F4s_v2,4.0,8.0,,,,0.25,0.02,eastus\n",
    );
    imported_files(&bench);
    bench.write(
        "runs.jsonl",
        "{\"config\": {\"batch\": 32}, \"time\": 1.5}\n{\"config\": {\"batch\": 64}, \"time\": 1.2}\n",
    );
    typed(
        &bench,
        "bancada export studies/quickstart.toml --format mlflow --to mlruns",
    )
    .ends_with(0);
    bench
}

/// The files that docs/import.md shows, as it shows them.
fn imported_files(bench: &Bench) {
    let database = root().join("crates/store/tests/fixtures/mlflow-3.17.db");
    fs::copy(database, bench.path().join("mlflow.db")).unwrap();
    let text = fs::read_to_string(root().join("docs/import.md")).unwrap();
    let block = |kind: &str, number: usize| {
        let fence = format!("```{kind}\n");
        let block = text.split(&fence).nth(number + 1).unwrap();
        block.split("```").next().unwrap().to_owned()
    };
    bench.write("runs.csv", &block("csv", 0));
    bench.write("serving.toml", &block("toml", 0));
    for folder in ["small", "large"] {
        fs::create_dir(bench.path().join(folder)).unwrap();
        for model in ["mobilenet", "vgg19"] {
            for repetition in ["r1", "r2"] {
                bench.write(
                    &format!("{folder}/{model}-{repetition}.csv"),
                    &block("csv", 1),
                );
            }
        }
    }
    let log = "I0301 12:00:00.000001 1 solver.cpp:60] Solver scaffolding done.\n\
               I0301 12:00:00.100001 1 caffe.cpp:239] Starting Optimization\n\
               I0301 12:00:01.000001 1 solver.cpp:239] Iteration 0 (0 iter/s, 0.9s/1 iters), loss = 2.3\n\
               I0301 12:00:02.000001 1 solver.cpp:239] Iteration 1 (1 iter/s, 1s/1 iters), loss = 2.2\n\
               I0301 12:00:03.000001 1 caffe.cpp:250] Optimization Done.\n";
    for name in [
        "alexnet-64-r1.log",
        "alexnet-512-r1.log",
        "googlenet-64-r1.log",
    ] {
        bench.write(name, log);
    }
}
