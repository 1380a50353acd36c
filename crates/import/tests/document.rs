//! The examples of `docs/import.md` do what it says.

#![expect(clippy::expect_used, reason = "what is not expected fails the test")]

mod common;

use common::file;
use import::{ImportSpec, Imported, InputFile, infer_study, read};
use model::{RunRecord, Status, Study, Timestamp};
use plan::{ReadOptions, read_study};

const DOCUMENT: &str = include_str!("../../../docs/import.md");

/// A fenced block of a language, counted from zero.
fn block(language: &str, number: usize) -> &'static str {
    let fence = format!("```{language}\n");
    let after = DOCUMENT.split(fence.as_str()).nth(number + 1);
    let end = |text: &'static str| text.split("```").next();
    after.and_then(end).expect("a block")
}

/// What the flags of a command say.
fn mapping_of(command: &str) -> ImportSpec {
    let mut mapping = ImportSpec::default();
    let mut words = command.split_whitespace().filter(|word| *word != "\\");
    while let Some(word) = words.next() {
        let mut value = || words.next().expect("a value").to_owned();
        match word {
            "--factor" => mapping.factors.push(value().parse().expect("a factor")),
            "--metric" => mapping.metrics.push(value().parse().expect("a metric")),
            "--status" => mapping.status_column = Some(value()),
            "--name" | "--price" | "--study" => _ = value(),
            _ => assert!(!word.starts_with('-'), "{word}"),
        }
    }
    mapping
}

fn study_of_document() -> Study {
    let nothing = |_: &std::path::Path| Err(std::io::ErrorKind::NotFound.into());
    let options = ReadOptions {
        folder: None,
        read: &nothing,
        requests_in: &|_| Ok(0),
        scale: None,
        catalog: cost::catalog(),
        today: None,
    };
    read_study(block("toml", 0), &options).expect("a study")
}

/// By the study's `[import]`, with these flags before it.
fn import(study: &Study, flags: ImportSpec, files: &[InputFile]) -> Imported {
    let settings = study.import.as_ref().expect("[import]");
    let mapping = ImportSpec::of_settings(settings).expect("a mapping");
    read(
        files,
        &spec(mapping.overridden_by(flags)),
        study,
        &plan::plan(study),
    )
}

fn spec(mapping: ImportSpec) -> ImportSpec {
    mapping.checked(Timestamp::UNIX_EPOCH).expect("a spec")
}

fn names(imported: &Imported) -> Vec<String> {
    imported.records.iter().map(|r| r.run.to_string()).collect()
}

fn check_metric(record: &RunRecord, name: &str, expected: f64) {
    let value = record.metrics.get(name).map(|m| m.value);
    let close = value.is_some_and(|value| (value - expected).abs() < 1e-9);
    assert!(
        close,
        "{name} of {} is {value:?}, not {expected}",
        record.run
    );
}

#[test]
fn flags_alone_make_a_study_of_the_rows() {
    let files = [file("runs.csv", block("csv", 0))];
    let spec = spec(mapping_of(block("sh", 0)));
    let inferred = infer_study("old", &files, &spec);
    assert_eq!(inferred.problems, []);
    let imported = read(&files, &spec, &inferred.study, &plan::plan(&inferred.study));
    assert_eq!(imported.problems, []);
    let expected = [
        "C1-r1", "C1-r2", "C2-r1", "C2-r2", "C3-r1", "C3-r2", "C4-r1", "C4-r2",
    ];
    assert_eq!(names(&imported), expected);
    let counts = (
        imported.rows_read,
        imported.rows_left_out,
        imported.records_without_time,
    );
    assert_eq!(counts, (8, 0, 1));
    check_metric(&imported.records[0], "train_seconds", 1.82);
    check_metric(&imported.records[3], "peak_memory_bytes", 398e6);
    assert_eq!(imported.records[7].outcome.status, Status::OutOfMemory);
}

#[test]
fn a_study_says_what_columns_and_names_of_files_mean() {
    let study = study_of_document();
    let files = [
        "small/mobilenet-r1.csv",
        "small/mobilenet-r2.csv",
        "large/vgg19-r1.csv",
    ];
    let files = files.map(|name| file(name, block("csv", 1)));
    let imported = import(&study, mapping_of(block("sh", 1)), &files);
    assert_eq!(imported.problems, []);
    assert_eq!(names(&imported), ["C1-r1", "C1-r2", "C4-r1"]);
    let first = &imported.records[0];
    check_metric(first, "requests", 4.0);
    check_metric(first, "failed_requests", 1.0);
    check_metric(first, "latency_seconds", (0.0125 + 0.0131 + 0.0454) / 3.0);
    check_metric(first, "latency_p50_seconds", 0.0131);
    check_metric(first, "predict_p50_seconds", 0.0092);
    assert!((first.seconds - 30.071).abs() < 1e-9, "{}", first.seconds);
    assert_eq!(imported.records[2].environment.name, "large");
}

#[test]
fn flags_go_before_the_study() {
    let study = study_of_document();
    let text = "m,t,answer\nvgg19,2,0\n";
    let flags = || ImportSpec {
        row: Some(import::RowKind::Run),
        factors: vec!["m=model".parse().expect("a factor")],
        metrics: vec!["t=latency_seconds:min".parse().expect("a metric")],
        constants: vec![("environment".to_owned(), "large".into())],
        ..ImportSpec::default()
    };
    // The study's pattern stays: the name must be of its form, but its levels give way.
    let files = [file("small/mobilenet-r2.csv", text)];
    let with_predict = text
        .replace("answer", "predict,answer")
        .replace("2,0", "2,5,0");
    assert!(
        import(&study, flags(), &files).problems[0]
            .what
            .contains("no column `predict`")
    );
    let files = [file("small/mobilenet-r2.csv", &with_predict)];
    let imported = import(&study, flags(), &files);
    assert_eq!(imported.problems, []);
    assert_eq!(names(&imported), ["C4-r2"]);
    check_metric(&imported.records[0], "latency_seconds", 120.0);
    check_metric(&imported.records[0], "predict_seconds", 0.005);
}

#[test]
fn a_flag_of_names_takes_the_place_of_columns_and_levels() {
    let settings = |pattern: &str| ImportSpec {
        factors: vec!["m=model".parse().expect("a factor")],
        constants: vec![("environment".to_owned(), "small".into())],
        file_pattern: Some(pattern.parse().expect("a pattern")),
        ..ImportSpec::default()
    };
    let flags = ImportSpec {
        file_pattern: Some("{model}.{environment}.csv".parse().expect("a pattern")),
        ..ImportSpec::default()
    };
    let together = settings("x.csv").overridden_by(flags);
    assert_eq!(together.factors, []);
    assert_eq!(together.constants, []);
    let names = together.file_pattern.map(|p| p.names().to_vec());
    assert_eq!(
        names,
        Some(vec!["model".to_owned(), "environment".to_owned()])
    );
}

#[test]
fn without_metrics_there_is_nothing_to_import() {
    let error = ImportSpec::default().checked(Timestamp::UNIX_EPOCH);
    let error = error.expect_err("no metrics").to_string();
    assert!(
        error.contains("--metric COLUMN=METRIC:UNIT") && error.contains("[import]"),
        "{error}"
    );
}
