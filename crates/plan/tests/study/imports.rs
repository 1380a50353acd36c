//! `[import]`: what it means, and what it leaves alone.

use model::study::ImportColumn;
use model::{Level, Workload};
use plan::digest;

use crate::support::{good, shown_on};

const IMPORT: &str = r#"
[study]
name = "old"
metrics = ["latency_p95_seconds"]
[factors]
model = ["a", "b"]
image = [32, 64]
[import]
row = "request"
factors = ["model"]
metrics = { ms = "latency_seconds:ms", loss = "" }
levels = { image = 64 }
file_pattern = "r{repetition}-*.csv"
status = "http"
delimiter = "\t"
decimal_mark = "comma"
"#;

#[test]
fn a_study_of_measurements_needs_no_workload() {
    let study = good(IMPORT);
    let Workload::Command(command) = &study.workload else {
        panic!("{:?}", study.workload);
    };
    assert_eq!(command.command, Vec::<String>::new());
    let import = study.import.unwrap();
    let columns = |columns: &[ImportColumn]| -> Vec<String> {
        let column = |c: &ImportColumn| format!("{} = {}", c.column, c.means);
        columns.iter().map(column).collect()
    };
    assert_eq!(columns(&import.factors), ["model = model"]);
    assert_eq!(
        columns(&import.metrics),
        ["ms = latency_seconds:ms", "loss = "]
    );
    assert_eq!(
        import.levels.into_iter().collect::<Vec<_>>(),
        [("image".to_owned(), Level::Int(64))]
    );
    assert_eq!(import.file_pattern.as_deref(), Some("r{repetition}-*.csv"));
    assert_eq!(import.row.as_deref(), Some("request"));
    assert_eq!(import.status.as_deref(), Some("http"));
    assert_eq!(import.delimiter, Some('\t'));
    assert_eq!(import.decimal_mark.as_deref(), Some("comma"));
    assert_eq!((import.repetition, import.started), (None, None));
}

#[test]
fn how_files_are_read_is_not_the_question() {
    let other = IMPORT.replace("ms = \"latency_seconds:ms\"", "s = \"latency_seconds:s\"");
    assert_eq!(digest(&good(IMPORT)), digest(&good(&other)));
}

#[test]
fn training_may_put_imported_metrics_first() {
    let study = good(
        "[study]\nname = \"s\"\nmetrics = [\"joules\"]\n[factors]\nimage = [28, 32]\n\
         [workload]\nnetwork = \"rede1\"\n[import]\nfactors = [\"image\"]\nmetrics = { joules = \"J\" }\n",
    );
    assert_eq!(study.metrics, ["joules"]);
}

const SERVED: &str = r#"
[study]
name = "answers"
[factors]
environment = ["m1", "m2"]
model = ["tinybert", "our-own"]
stack = ["triton"]
region = ["eu", "us"]
load = ["cold", "warm"]
[environments.m1]
price = "aws/sagemaker-serverless-1024@us-east-1"
serverless = { memory = 1024 }
[environments.m2]
price = "aws/sagemaker-serverless-2048@us-east-1"
serverless = { memory = 2048 }
[import]
row = "request"
factors = { mem = "environment", model = "model", stack = "stack", region = "region", load = "load" }
metrics = { lat = "latency_seconds:ms" }
"#;

/// What was measured elsewhere is not served here: its models, stacks and factors may be any.
#[test]
fn requests_measured_elsewhere_need_nothing_that_can_be_served_here() {
    let written = SERVED.replace("[import]", "[workload]\nkind = \"serve\"\n[import]");
    for text in [SERVED, &written] {
        let study = good(text);
        assert!(
            matches!(study.workload, Workload::Serve(_)),
            "{:?}",
            study.workload
        );
        assert_eq!(study.factors.len(), 5);
    }
    // A word that has a meaning is still checked.
    let typo = SERVED.replace("\"cold\"", "\"colt\"");
    assert!(
        shown_on(&typo, "2026-01-01").contains("colt"),
        "{}",
        shown_on(&typo, "2026-01-01")
    );
}

/// What is to be measured here is.
#[test]
fn what_is_served_here_must_be_known() {
    let start = SERVED.find("[import]").unwrap();
    let here = format!("{}[workload]\nkind = \"serve\"\n", &SERVED[..start]);
    let said = shown_on(&here, "2026-01-01");
    for part in [
        "unknown model `tinybert`",
        "unknown stack `triton`",
        "`region`",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}
