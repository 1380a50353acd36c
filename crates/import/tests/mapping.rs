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
        let values = pattern.values(path).ok();
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
        "{environment}/{framework}_*.csv",
        "x/gpu/keras_2024.csv",
        Some(&["gpu", "keras"]),
    );
    check(
        "{environment}/*/{framework}.csv",
        "x/gpu/day1/keras.csv",
        Some(&["gpu", "keras"]),
    );
    check("{a}.csv", "C:\\results\\7.csv", Some(&["7"]));
    check("a+(b).csv", "a+(b).csv", Some(&[]));
    for wrong in [
        "{a", "a}", "{}", "{a}{a}", "{a{b}}", "{a:}", "{a:x|}", "{:x}",
    ] {
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
    let said = metric("secs=train_seconds").expect_err("has no unit");
    let meant = "`train_seconds` is a metric, not a unit: write train_seconds:s";
    assert!(said.to_string().contains(meant), "{said}");
    assert!("=x".parse::<import::ColumnFactor>().is_err());
    assert!(
        "epoch"
            .parse::<RowKind>()
            .expect_err("is invalid")
            .to_string()
            .contains("run, request, step or sample")
    );
}

/// `vgg-16-64.csv` may be a network `vgg` or `vgg-16`: nobody but the user knows.
#[test]
fn names_that_fit_in_several_ways_are_refused() {
    let check = |pattern: &str, path: &str, expected: Result<&[&str], &str>| {
        let pattern: import::FilePattern = pattern.parse().expect("a pattern");
        match (pattern.values(path), expected) {
            (Ok(values), Ok(expected)) => assert_eq!(values, expected, "{path}"),
            (Err(said), Err(expected)) => assert!(said.contains(expected), "{said}"),
            (found, expected) => panic!("{path}: {found:?}, expected {expected:?}"),
        }
    };
    check(
        "{network}-{batch}.csv",
        "vgg-16-64.csv",
        Err(
            "(network vgg, batch 16-64; or network vgg-16, batch 64): list the allowed values, such as {network:vgg|vgg-16}",
        ),
    );
    check(
        "{network:vgg-16|vgg-19}-{batch}.csv",
        "vgg-16-64.csv",
        Ok(&["vgg-16", "64"]),
    );
    check(
        "{network:alexnet|a+b}-{batch}.csv",
        "x/a+b-64.csv",
        Ok(&["a+b", "64"]),
    );
    check(
        "{network:alexnet}-{batch}.csv",
        "lenet-64.csv",
        Err("the name does not match"),
    );
    check(
        "{framework}*.csv",
        "keras_2024.csv",
        Err("in more than one way"),
    );
}

/// What is made of rows can be written down and read again.
#[test]
fn a_study_made_of_rows_is_a_study_file() {
    let spec = import::ImportSpec {
        repetition_column: Some("n".to_owned()),
        delimiter: Some(','),
        file_pattern: Some("*-{day}.csv".parse().expect("a pattern")),
        constants: vec![("scale".to_owned(), Level::Float(2.0))],
        ..spec(
            RowKind::Step,
            &["kind of \"tool\"=tool", "size"],
            &["t=step_seconds:ms:cumulative", "l=loss:"],
        )
    };
    let text = "n,kind of \"tool\",size,t,l\n\
                1,a\\b,32,1,1\n1,a\\b,32,2,1\n2,a\\b,64,1,1\n1,c,32,1,1\n";
    let files = [file("x-mon.csv", text)];
    let inferred = infer_study("old", &files, &spec);
    let text = import::study_text(&inferred.study, &spec, Some("0.526 USD/h"));
    let catalog = cost::catalog();
    let options = plan::ReadOptions {
        folder: None,
        read: &|_| Err(std::io::ErrorKind::NotFound.into()),
        requests_in: &|_| Ok(0),
        scale: None,
        catalog,
        today: None,
    };
    let study = match plan::read_study(&text, &options) {
        Ok(study) => study,
        Err(mistakes) => {
            let source = diagnostics::Source {
                name: "study.toml",
                text: &text,
            };
            panic!(
                "{}",
                source.render_all(&mistakes, diagnostics::Style::Plain)
            )
        }
    };
    assert_eq!(
        plan::digest(&study),
        plan::digest(&inferred.study),
        "{text}"
    );
    assert_eq!(
        (study.repetitions, study.order, &study.metrics),
        (
            inferred.study.repetitions,
            inferred.study.order,
            &inferred.study.metrics
        )
    );
    let settings = study.import.expect("[import]");
    let again = import::ImportSpec::of_settings(&settings).expect("a mapping");
    let again = again.checked(model::Timestamp::UNIX_EPOCH).expect("a spec");
    assert_eq!(
        (again.row, &again.factors, &again.metrics, &again.constants),
        (spec.row, &spec.factors, &spec.metrics, &spec.constants)
    );
    let price = study.environments[0].price.as_ref().expect("a price");
    assert_eq!(price.per_hour.amount.to_string(), "0.526");
}
