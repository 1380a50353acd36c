//! What names of files, flags and columns mean, and the study they make.

#![expect(clippy::expect_used, reason = "what is not expected fails the test")]

mod common;

use common::{file, plan, spec};
use import::{RowKind, decode, infer_study, read};
use model::Level;

const RUNS: &str = include_str!("fixtures/runs.csv");

#[test]
fn names_of_files_and_folders_carry_levels() {
    let check = |pattern: &str, path: &str, expected: Option<&[&str]>| {
        let pattern: import::FilePattern = pattern.parse().expect("a pattern");
        let values = pattern.values(path);
        let values: Option<Vec<&str>> = values
            .as_ref()
            .map(|v| v.iter().map(String::as_str).collect());
        assert_eq!(values.as_deref(), expected, "{path}");
    };
    let pattern = "{framework}-{dataset}-{image}px-r{repetition}.csv";
    check(
        pattern,
        "old/mxnet-cifar10-32px-r4.csv",
        Some(&["mxnet", "cifar10", "32", "4"]),
    );
    check(pattern, "mxnet-cifar10-32px.csv", None);
    check(
        "{environment}/{framework}*.csv",
        "x/gpu/keras_2024.csv",
        Some(&["gpu", "k"]),
    );
    check(
        "{environment}/*/{framework}.csv",
        "x/gpu/day1/keras.csv",
        Some(&["gpu", "keras"]),
    );
    check("{a}.csv", "C:\\results\\7.csv", Some(&["7"]));
    check("a+(b).csv", "a+(b).csv", Some(&[]));
    for wrong in ["{a", "a}", "{}", "{a}{a}", "{a{b}}"] {
        assert!(wrong.parse::<import::FilePattern>().is_err(), "{wrong}");
    }
}

#[test]
fn a_study_is_made_of_results_alone() {
    let spec = spec(
        RowKind::Run,
        &["framework", "size=image"],
        &["time_ms=train_seconds:ms"],
    );
    let files = [file("runs.csv", RUNS)];
    let inferred = infer_study("old", &files, &spec);
    assert_eq!(inferred.problems, []);
    let study = inferred.study;
    let levels: Vec<(&str, &[Level])> = study
        .factors
        .iter()
        .map(|f| (f.name.as_str(), &f.levels[..]))
        .collect();
    let expected: [(&str, &[Level]); 2] = [
        ("framework", &["PyTorch".into(), "tensorflow".into()]),
        ("image", &[32.into(), 64.into()]),
    ];
    assert_eq!(levels, expected);
    assert_eq!(
        (
            study.repetitions,
            study.exclude.len(),
            study.environments[0].name.as_str()
        ),
        (2, 0, "imported")
    );
    let imported = read(&files, &spec, &study, &plan(&study));
    let names: Vec<String> = imported.records.iter().map(|r| r.run.to_string()).collect();
    assert_eq!(names, ["C1-r1", "C1-r2", "C2-r1", "C3-r1", "C4-r1"]);
}

#[test]
fn combinations_that_never_appear_are_excluded() {
    let text = "environment,batch,t\ngpu,1.5,1\ncpu,2,1\ncpu,1.5,1\n,7,1\n";
    let spec = spec(
        RowKind::Run,
        &["environment", "batch"],
        &["t=total_seconds:s"],
    );
    let study = infer_study("old", &[file("a.csv", text)], &spec).study;
    assert_eq!(
        study.factors[1].levels,
        [Level::Float(1.5), Level::Float(2.0)]
    );
    let absent = [
        ("environment", Level::from("gpu")),
        ("batch", Level::Float(2.0)),
    ];
    assert_eq!(
        study.exclude,
        [absent
            .map(|(name, level)| (name.to_owned(), level))
            .into_iter()
            .collect()]
    );
    let environments: Vec<&str> = study.environments.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(environments, ["gpu", "cpu"]);
}

#[test]
fn a_column_that_is_no_factor_is_told() {
    let rows: String = (0..400).map(|n| format!("{n},{},1\n", n * 7)).collect();
    let spec = spec(RowKind::Run, &["a", "b"], &["t=total_seconds:s"]);
    let inferred = infer_study("old", &[file("a.csv", &format!("a,b,t\n{rows}"))], &spec);
    assert_eq!(inferred.study.factors.len(), 0);
    assert!(
        inferred.problems[0].what.contains("160000 combinations"),
        "{}",
        inferred.problems[0]
    );
}

#[test]
fn text_in_other_encodings_is_read() {
    let check = |bytes: &[u8], expected: &str| assert_eq!(decode(bytes), expected);
    check(b"a,b", "a,b");
    check(b"\xef\xbb\xbfa", "a");
    check(b"\xff\xfea\0\xe9\0", "aé");
    check(b"\xfe\xff\0a\0\xe9", "aé");
    check(b"mem\xf3ria", "memória");
    check("memória".as_bytes(), "memória");
}

#[test]
fn flags_are_understood_or_explained() {
    let metric = |text: &str| {
        text.parse::<import::ColumnMetric>()
            .map(|m| (m.column, m.metric, m.unit))
    };
    let three = |a: &str, b: &str, c: &str| Ok((a.to_owned(), b.to_owned(), c.to_owned()));
    assert_eq!(metric("time=s"), three("time", "time", "s"));
    assert_eq!(
        metric("time = train_seconds:ms"),
        three("time", "train_seconds", "ms")
    );
    assert_eq!(metric("loss="), three("loss", "loss", ""));
    assert!(
        metric("time")
            .expect_err("has no unit")
            .to_string()
            .contains("such as time=train_seconds:s")
    );
    assert!("=x".parse::<import::ColumnFactor>().is_err());
    assert!(
        "epoch"
            .parse::<RowKind>()
            .expect_err("is none")
            .to_string()
            .contains("run, request, step or sample")
    );
}
