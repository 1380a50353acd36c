//! What several tests share.
use std::io;
use std::path::Path;

use diagnostics::{Diagnostic, Source, Style};
use model::Study;
use plan::{ReadOptions, Sent, read_study};

/// The files beside the study under test.
const FILES: &[(&str, &str)] = &[
    ("nets/small.toml", SMALL_NETWORK),
    (
        "nets/broken.toml",
        "name = \"broken\"\nlayers = [\n  \"rellu\",\n]\n",
    ),
    ("served/other.onnx", ""),
    ("data/run/job.json", "{}"),
];

const SMALL_NETWORK: &str =
    "name = \"small\"\nlayers = [\"flatten\", { dense = { o = \"classes\" } }]\n";

/// Reads from [`FILES`]; the folder `data` is there.
fn read_file(path: &Path) -> io::Result<String> {
    let found = FILES.iter().find(|(name, _)| Path::new(name) == path);
    match found {
        Some((_, text)) => Ok((*text).to_owned()),
        None if path.starts_with("data") => Err(io::ErrorKind::IsADirectory.into()),
        None => Err(io::ErrorKind::NotFound.into()),
    }
}

/// Traces and bodies beside the study under test.
fn requests_in(sent: Sent<'_>) -> Result<u64, String> {
    match sent {
        Sent::Trace(path) if path.ends_with("bad.txt") => {
            Err("line 2: `soon` is not a time in seconds".to_owned())
        }
        Sent::Trace(_) => Ok(3),
        Sent::Bodies(path) if path.ends_with("empty") => {
            Err("data/empty has no pictures to send".to_owned())
        }
        Sent::Bodies(_) => Ok(1),
    }
}

pub(crate) fn read(text: &str) -> Result<Study, Vec<Diagnostic>> {
    read_at(text, None)
}

pub(crate) fn read_at(text: &str, scale: Option<&str>) -> Result<Study, Vec<Diagnostic>> {
    read_study(text, &ReadOptions { scale, ..options() })
}

pub(crate) fn options() -> ReadOptions<'static> {
    ReadOptions {
        folder: None,
        read: &read_file,
        requests_in: &requests_in,
        scale: None,
        catalog: cost::catalog(),
        today: None,
    }
}

/// What is wrong with it on that day.
pub(crate) fn shown_on(text: &str, today: &'static str) -> String {
    let options = ReadOptions {
        today: Some(today),
        ..options()
    };
    read_study(text, &options).map_or_else(|mistakes| shown(text, &mistakes), |_| String::new())
}

/// The study, or a panic that shows its mistakes.
pub(crate) fn good(text: &str) -> Study {
    read(text).unwrap_or_else(|mistakes| panic!("{}", shown(text, &mistakes)))
}

/// What a person sees.
pub(crate) fn shown(text: &str, mistakes: &[Diagnostic]) -> String {
    Source {
        name: "study.toml",
        text,
    }
    .render_all(mistakes, Style::Plain)
}

/// The study file of the design document.
pub(crate) const DESIGN: &str = r#"
[study]
name = "training-cost"
objective = "training time and cost of two networks on two machines"
repetitions = 5
seed = 2024
budget = "200 USD"
currency = "BRL"                       # what the report speaks; rates are dated inputs

[factors]                              # any names; the order gives the numbering of the scenarios
environment = ["cpu", "gpu"]
framework   = ["mxnet", "pytorch", "tensorflow"]
dataset     = ["mnist", "cifar10"]
image       = [32, 64]
network     = ["rede1", "rede2"]

[workload]                             # or: command = ["python3", "train.py", "--batch", "{batch}"]
kind   = "train"
epochs = 10
batch  = 128

[environments.cpu]
price = "azure/Standard_F4s_v2@eastus"
cores = 4

[environments.gpu]
price = "azure/Standard_NC4as_T4_v3@eastus"
device = "cuda:0"

[measure]
interval = "10s"
timeout  = "6h"
"#;
