//! `[import]`: what it means, and what it leaves alone.

use model::study::ImportColumn;
use model::{Level, Workload};
use plan::digest;

use crate::support::good;

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
