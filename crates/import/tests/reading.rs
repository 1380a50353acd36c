//! Files of several shapes become the runs they tell of.

#![expect(clippy::expect_used, reason = "what is not expected fails the test")]

mod common;

use common::{file, plan, spec, study};
use import::{ImportSpec, Imported, InputFile, RowKind, decode, read};
use model::run::Origin;
use model::{Level, RunRecord, Status, Study};

const RUNS: &str = include_str!("fixtures/runs.csv");
const EXCEL: &[u8] = include_bytes!("fixtures/excel.csv");
const STEPS: &str = include_str!("fixtures/steps.csv");
const REQUESTS: &str = include_str!("fixtures/requests.csv");

fn import(files: &[InputFile], spec: &ImportSpec, study: &Study) -> Imported {
    read(files, spec, study, &plan(study))
}

fn names(imported: &Imported) -> Vec<String> {
    imported
        .records
        .iter()
        .map(|record| record.run.to_string())
        .collect()
}

fn problems(imported: &Imported) -> Vec<String> {
    imported.problems.iter().map(ToString::to_string).collect()
}

/// `value unit`, or `-`; to nine decimals.
fn metric(record: &RunRecord, name: &str) -> String {
    let found = record.metrics.get(name);
    found.map_or_else(
        || "-".to_owned(),
        |m| format!("{} {}", (m.value * 1e9).round() / 1e9, m.unit),
    )
}

fn check_metrics(record: &RunRecord, expected: &[(&str, &str)]) {
    for (name, value) in expected {
        assert_eq!(metric(record, name), *value, "{name} of {}", record.run);
    }
}

fn phases(record: &RunRecord) -> Vec<(&str, f64, f64)> {
    record
        .phases
        .iter()
        .map(|p| (p.name.as_str(), p.begin_seconds, p.seconds))
        .collect()
}

fn frameworks() -> Study {
    study(&[
        ("framework", &["pytorch".into(), "tensorflow".into()]),
        ("dataset", &["mnist".into()]),
        ("image", &[32.into(), 64.into()]),
    ])
}

fn runs_spec() -> ImportSpec {
    let metrics = [
        "time_ms=train_seconds:ms",
        "peak_mb=peak_memory_bytes:MB",
        "acc=accuracy_percent:fraction",
    ];
    spec(RowKind::Run, &["framework", "size=image"], &metrics)
}

#[test]
fn a_row_a_run() {
    let imported = import(&[file("old/runs.csv", RUNS)], &runs_spec(), &frameworks());
    assert_eq!(
        names(&imported),
        ["C1-r1", "C1-r2", "C2-r1", "C3-r1", "C4-r1"]
    );
    assert_eq!(
        (
            imported.rows_read,
            imported.rows_left_out,
            imported.records_without_time
        ),
        (5, 0, 1)
    );
    assert_eq!(
        problems(&imported),
        ["old/runs.csv:5: `abc` in column `time_ms` is not a number; ignored"]
    );
    let first = &imported.records[0];
    check_metrics(
        first,
        &[
            ("train_seconds", "1.5 s"),
            ("total_seconds", "1.5 s"),
            ("peak_memory_bytes", "120500000 B"),
            ("accuracy_percent", "97 %"),
        ],
    );
    assert_eq!(phases(first), [("train", 0.0, 1.5)]);
    assert_eq!(first.seconds, 1.5);
    let place = Origin::Imported {
        file: "old/runs.csv".to_owned(),
        line: 2,
        undated: true,
    };
    assert_eq!(first.origin, place);
    assert_eq!(first.environment.name, "server");
    assert_eq!(first.scenario.levels_label(), "pytorch · mnist · 32");
    check_metrics(
        &imported.records[3],
        &[("peak_memory_bytes", "-"), ("train_seconds", "1.8 s")],
    );
    check_metrics(
        &imported.records[4],
        &[("train_seconds", "-"), ("peak_memory_bytes", "300000000 B")],
    );
    let again = &imported.records[1].origin;
    assert!(
        matches!(again, Origin::Imported { line: 7, .. }),
        "an empty line counts as a line: {again:?}"
    );
}

#[test]
fn semicolons_decimal_commas_and_a_mark_at_the_start() {
    let study = study(&[("network", &["rede1".into(), "rede2".into()])]);
    let spec = spec(
        RowKind::Run,
        &["modelo=network"],
        &["tempo (s)=train_seconds:s", "uso=cpu_percent:%"],
    );
    let imported = import(&[file("excel.csv", &decode(EXCEL))], &spec, &study);
    assert_eq!(problems(&imported), [""; 0]);
    check_metrics(
        &imported.records[0],
        &[("train_seconds", "1.5 s"), ("cpu_percent", "95 %")],
    );
    check_metrics(
        &imported.records[1],
        &[("train_seconds", "2.25 s"), ("cpu_percent", "97.5 %")],
    );
}

#[test]
fn a_row_a_step() {
    let study = study(&[("batch", &[100.into(), 200.into()])]);
    let metrics = ["epoch=", "loss=", "seconds=step_seconds:s", "images="];
    let mut spec = spec(RowKind::Step, &[], &metrics);
    spec.file_pattern = Some("b{batch}-r{repetition}.tsv".parse().expect("a pattern"));
    let files = [
        file("logs/b100-r1.tsv", STEPS),
        file("logs/b100-r2.tsv", STEPS),
        file("logs/b200-r1.tsv", STEPS),
    ];
    let imported = import(&files, &spec, &study);
    assert_eq!(names(&imported), ["C1-r1", "C1-r2", "C2-r1"]);
    assert_eq!((imported.rows_read, imported.rows_left_out), (12, 0));
    let record = &imported.records[0];
    check_metrics(
        record,
        &[
            ("step_seconds", "0.2 s"),
            ("loss", "1.05 "),
            ("steps", "4 "),
            ("train_seconds", "1 s"),
            ("images_per_second", "400 1/s"),
            ("epoch", "-"),
        ],
    );
    assert_eq!(phases(record), [("train", 0.0, 1.0)]);
    let epochs: Vec<_> = record
        .epochs
        .iter()
        .map(|e| (e.epoch, e.loss, e.seconds))
        .collect();
    assert_eq!(
        epochs,
        [(1, Some(2.05), Some(0.6)), (2, Some(1.05), Some(0.4))]
    );
}

#[test]
fn a_row_a_request() {
    let study = study(&[
        ("model", &["vgg19".into(), "mobilenet".into()]),
        ("memory", &[1024.into(), 2048.into()]),
    ]);
    let metrics = ["latency=latency_seconds:ms", "prediction=prediction:ms"];
    let mut spec = spec(RowKind::Request, &["model", "memory"], &metrics);
    spec.status_column = Some("code".to_owned());
    let imported = import(&[file("requests.csv", REQUESTS)], &spec, &study);
    assert_eq!(names(&imported), ["C1-r1", "C2-r1", "C3-r1"]);
    assert_eq!((imported.rows_read, imported.rows_left_out), (6, 0));
    let first = &imported.records[0];
    check_metrics(
        first,
        &[
            ("requests", "4 "),
            ("failed_requests", "1 "),
            ("latency_seconds", "0.2 s"),
            ("latency_p50_seconds", "0.2 s"),
            ("latency_p95_seconds", "0.3 s"),
            ("latency_p99_seconds", "0.3 s"),
            ("prediction", "0.06 s"),
            ("prediction_p50", "0.06 s"),
        ],
    );
    assert_eq!(first.outcome.status, Status::Ok);
    let serving = first.serving.as_ref().unwrap();
    assert_eq!((serving.requests(), serving.failed()), (4, 1));
    assert_eq!(
        serving.latency[0].seconds,
        first.metrics["latency_p50_seconds"].value
    );
    let failed = &imported.records[2].outcome;
    assert_eq!(
        (failed.status, failed.exit_code),
        (Status::Failed, Some(1)),
        "no request was answered"
    );
}

#[test]
fn phases_and_total_make_the_paid_time() {
    let study = study(&[("cores", &[1.into(), 2.into(), 3.into(), 4.into()])]);
    let metrics = [
        "up=startup_seconds:s",
        "load=load_data_seconds:s",
        "train=train_seconds:s",
        "all=total_seconds:s",
    ];
    let text = "cores,up,load,train,all\n1,10,5,60,80\n2,10,,60,\n3,10,5,60,50\n4,,,,90\n";
    let imported = import(
        &[file("a.csv", text)],
        &spec(RowKind::Run, &["cores"], &metrics),
        &study,
    );
    let all: Vec<_> = imported
        .records
        .iter()
        .map(|r| (phases(r), r.seconds, metric(r, "total_seconds")))
        .collect();
    let startup = ("startup", 0.0, 10.0);
    let loaded = [startup, ("load-data", 10.0, 5.0), ("train", 15.0, 60.0)];
    assert_eq!(
        all[0],
        (
            [&loaded[..], &[("other", 75.0, 5.0)]].concat(),
            80.0,
            "80 s".to_owned()
        )
    );
    assert_eq!(
        all[1],
        (
            vec![startup, ("train", 10.0, 60.0)],
            70.0,
            "70 s".to_owned()
        )
    );
    assert_eq!(all[2], (loaded.to_vec(), 75.0, "75 s".to_owned()));
    assert_eq!(
        all[3],
        (vec![("train", 0.0, 90.0)], 90.0, "90 s".to_owned())
    );
    check_metrics(&imported.records[3], &[("train_seconds", "90 s")]);
    let told =
        ["a.csv:4: total_seconds is 50, less than the sum of its phases; the sum 75 is used"];
    assert_eq!(problems(&imported), told);
}

#[test]
fn levels_and_constants_that_do_not_fit_are_told_with_the_known_ones() {
    let text = "framework,size,time_ms\npytorch,32,1\nmxnet,32,1\npytorch,48,1\npytorch,,1\n";
    let metrics = ["time_ms=train_seconds:ms"];
    let check = |spec: &ImportSpec, records: usize, expected: &[&str]| {
        let imported = import(&[file("./a.csv", text)], spec, &frameworks());
        assert_eq!(imported.records.len(), records);
        assert_eq!(imported.rows_left_out, 4 - records);
        assert_eq!(problems(&imported), expected);
    };
    check(
        &spec(RowKind::Run, &["framework", "size=image"], &metrics),
        1,
        &[
            "a.csv:3: `mxnet` is not a level of `framework`; known: pytorch, tensorflow; the row is skipped",
            "a.csv:4: `48` is not a level of `image`; known: 32, 64; the row is skipped",
            "a.csv:5: the level of `image` is missing; known: 32, 64; the row is skipped",
        ],
    );
    check(
        &spec(RowKind::Run, &["framework"], &metrics),
        0,
        &[
            "./a.csv:1: the level of the factor `image` is missing: name its column, put it in the file pattern, or give one level for all rows; known levels: 32, 64",
        ],
    );
    check(
        &spec(
            RowKind::Run,
            &["framework", "size=image", "time_ms=speed"],
            &metrics,
        ),
        0,
        &["./a.csv:1: the study has no factor `speed`; its factors are framework, dataset, image"],
    );
    check(
        &spec(
            RowKind::Run,
            &["framework", "pixels=image"],
            &["duration=train_seconds:s"],
        ),
        0,
        &[
            "a.csv:1: there is no column `pixels`; the columns are framework, size, time_ms",
            "a.csv:1: there is no column `duration`; the columns are framework, size, time_ms",
        ],
    );
    let mut fixed = spec(RowKind::Run, &["framework"], &metrics);
    fixed.constants = vec![("image".to_owned(), Level::Int(64))];
    let imported = import(&[file("a.csv", text)], &fixed, &frameworks());
    assert_eq!(names(&imported), ["C2-r1", "C2-r2", "C2-r3"]);
}

#[test]
fn repetitions_are_taken_as_told_or_counted() {
    let study = study(&[("a", &[1.into(), 2.into()])]);
    let check = |rows: &str, expected: &[&str], problem: Option<&str>| {
        let mut spec = spec(RowKind::Run, &["a"], &["t=total_seconds:s"]);
        spec.repetition_column = Some("n".to_owned());
        let imported = import(&[file("a.csv", &format!("a,n,t\n{rows}"))], &spec, &study);
        assert_eq!(names(&imported), expected, "{rows}");
        assert_eq!(
            problems(&imported),
            problem.into_iter().collect::<Vec<_>>(),
            "{rows}"
        );
    };
    check("1,2,5\n1,1,5\n2,7,5\n", &["C1-r1", "C1-r2", "C2-r7"], None);
    check("1,0,5\n1,1,5\n2,0,5\n", &["C1-r1", "C1-r2", "C2-r1"], None);
    check("1,,5\n1,1,5\n1,,5\n", &["C1-r1", "C1-r2", "C1-r3"], None);
    let twice = "a.csv:3: C1-r1 is already defined at a.csv:2; the row is skipped";
    check("1,1,5\n1,r1,6\n", &["C1-r1"], Some(twice));
    let word = "a.csv:2: `first` is not a repetition number; the row is skipped";
    check("1,first,5\n1,2,6\n", &["C1-r2"], Some(word));
}

#[test]
fn outcomes_and_starts_are_read() {
    let study = study(&[("a", &[1.into()])]);
    let mut spec = spec(RowKind::Run, &["a"], &["t=total_seconds:s"]);
    spec.status_column = Some("state".to_owned());
    spec.started_column = Some("at".to_owned());
    let text = "a,state,at,t\n1,OK,2024-03-01T12:00:00Z,1\n1,OOM,2024-03-01 12:00:00,2\n1,timeout,1709294400,\n\
                1,137,,\n1,,yesterday,-3\n1,perhaps,,1\n";
    let imported = import(&[file("a.csv", text)], &spec, &study);
    let statuses: Vec<Status> = imported.records.iter().map(|r| r.outcome.status).collect();
    let expected = [
        Status::Ok,
        Status::OutOfMemory,
        Status::TimedOut,
        Status::Failed,
        Status::Ok,
    ];
    assert_eq!(statuses, expected);
    let noon = "2024-03-01T12:00:00Z".parse().expect("a moment");
    assert!(imported.records[..3].iter().all(|r| r.started == noon));
    assert_eq!(imported.records[3].started, model::Timestamp::UNIX_EPOCH);
    let told = [
        "a.csv:6: `yesterday` is not a date and time such as 2024-03-01T12:00:00Z; ignored",
        "a.csv:6: `-3` in column `t` is a negative time; ignored",
        "a.csv:7: `perhaps` is not an outcome: write ok, failed, out-of-memory, timed-out, interrupted or an exit code; the row is skipped",
    ];
    assert_eq!(problems(&imported), told);
    assert_eq!((imported.rows_read, imported.rows_left_out), (6, 1));
}

#[test]
fn a_row_a_reading_of_a_monitor() {
    let study = study(&[("batch", &[32.into(), 64.into()])]);
    let text = "batch,when,gpu,memory\n\
                32,2024/03/01 12:00:00.000,40 %,1000 MiB\n\
                32,2024-03-01T12:00:10Z,60 %,3000 MiB\n\
                32,2024-03-01T12:00:20Z,80 %,2000 MiB\n\
                64,2024-03-01T13:00:00Z,10 %,100 MiB\n";
    let metrics = ["gpu=gpu_percent:%", "memory=peak_gpu_memory_bytes:MiB"];
    let mut spec = spec(RowKind::Sample, &["batch"], &metrics);
    spec.started_column = Some("when".to_owned());
    let imported = import(&[file("monitor.csv", text)], &spec, &study);
    assert_eq!(names(&imported), ["C1-r1", "C2-r1"]);
    assert!(imported.problems.is_empty(), "{:?}", imported.problems);
    check_metrics(
        &imported.records[0],
        &[
            ("gpu_percent", "60 %"),
            ("peak_gpu_memory_bytes", "3145728000 B"),
            ("total_seconds", "30 s"),
            ("train_seconds", "30 s"),
        ],
    );
    // One reading has no length.
    assert_eq!(imported.records[1].seconds, 0.0);
}

/// The first run's value of a metric.
fn first(imported: &Imported, metric: &str) -> Option<f64> {
    let record = imported.records.first()?;
    record.metrics.get(metric).map(|metric| metric.value)
}

#[test]
fn a_metric_that_a_file_lacks_is_missing_and_the_rest_is_used() {
    let study = study(&[("a", &["x".into()])]);
    let spec = ImportSpec {
        started_column: Some("at".to_owned()),
        ..spec(RowKind::Run, &["a"], &["t=train_seconds:s", "l=loss:"])
    };
    let imported = import(&[file("a.csv", "a,t\nx,1.5\n")], &spec, &study);
    assert_eq!(first(&imported, "train_seconds"), Some(1.5));
    let lacks = "a.csv:1: there is no column";
    assert_eq!(
        problems(&imported),
        [
            format!("{lacks} `at`; the columns are a, t; its runs have no date"),
            format!("{lacks} `l`; the columns are a, t; its runs have no `loss`"),
        ]
    );
    // Without any number, or without a level, nothing can be made of it.
    let check = |text: &str| {
        let imported = import(&[file("a.csv", text)], &spec, &study);
        assert_eq!(
            (imported.records.len(), imported.rows_left_out),
            (0, 1),
            "{text}"
        );
    };
    check("a,x\nx,1.5\n");
    check("b,t,l\nx,1.5,2\n");
}

#[test]
fn a_column_without_a_name_has_a_number() {
    let study = study(&[("a", &["x".into(), "y".into()])]);
    let table = file("a.csv", ",t\nx,1.5\ny,2.5\n");
    let imported = import(
        std::slice::from_ref(&table),
        &spec(RowKind::Run, &["#1=a"], &["t=train_seconds:s"]),
        &study,
    );
    assert_eq!(names(&imported), ["C1-r1", "C2-r1"]);
    let unknown = spec(RowKind::Run, &["index=a"], &["t=train_seconds:s"]);
    let imported = import(&[table], &unknown, &study);
    assert_eq!(
        problems(&imported)[0],
        "a.csv:1: there is no column `index`; the columns are #1 (unnamed), t"
    );
}

#[test]
fn a_run_of_several_files_is_told() {
    let study = study(&[("a", &["x".into()])]);
    let spec = ImportSpec {
        repetition_column: Some("n".to_owned()),
        ..spec(RowKind::Request, &["a"], &["t=latency_seconds:s"])
    };
    let files = [
        file("1.csv", "a,n,t\nx,1,1\nx,1,2\n"),
        file("2.csv", "a,n,t\nx,1,3\nx,2,4\n"),
    ];
    let imported = import(&files, &spec, &study);
    assert_eq!(names(&imported), ["C1-r1", "C1-r2"]);
    let told = problems(&imported);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0]
            .starts_with("2.csv:2: C1-r1 also has rows in 1.csv: all of them are read as one run"),
        "{told:?}"
    );
}

#[test]
fn cumulative_times_of_steps_are_never_summed() {
    let study = study(&[("a", &["x".into()])]);
    let check = |counted: &str, times: &[f64], expected: [Option<f64>; 2], told: Option<&str>| {
        let metric = format!("t=step_seconds:s{counted}");
        let rows: String = times.iter().map(|t| format!("x,{t},1\n")).collect();
        let imported = import(
            &[file("a.csv", &format!("a,t,l\n{rows}"))],
            &spec(RowKind::Step, &["a"], &[&metric, "l=loss:"]),
            &study,
        );
        let found = ["step_seconds", "train_seconds"].map(|name| first(&imported, name));
        assert_eq!(found, expected, "{counted} {times:?}");
        let problems = problems(&imported);
        match told {
            None => assert_eq!(problems, [] as [String; 0]),
            Some(told) => assert!(problems[0].contains(told), "{problems:?}"),
        }
    };
    let since_start = [0.5, 1.0, 1.5, 2.0, 3.0];
    let how = "write t=step_seconds:s:cumulative if it is one, or t=step_seconds:s:each if it is the time of each step";
    check("", &since_start, [None, None], Some(how));
    check(":cumulative", &since_start, [Some(0.5), Some(3.0)], None);
    check(":each", &since_start, [Some(1.5), Some(8.0)], None);
    check("", &[0.5, 0.6, 0.4, 0.7], [Some(0.55), Some(2.2)], None);
    // Slower and slower, but no time since the start.
    check(
        "",
        &[0.5, 0.51, 0.52, 0.53],
        [Some(0.515), Some(2.06)],
        None,
    );
    check(
        ":cumulative",
        &[1.0, 2.0, 0.5, 1.5],
        [Some(1.0), Some(3.5)],
        Some("falls from 2 to 0.5: it is assumed to restart from zero"),
    );
}

#[test]
fn epochs_are_numbered_from_one_and_have_the_mean_loss() {
    let study = study(&[("a", &["x".into()])]);
    let check = |epochs: [u32; 4], expected: &[(u32, f64)]| {
        let rows: String = epochs
            .iter()
            .zip([4.0, 2.0, 1.0, 0.5])
            .map(|(epoch, loss)| format!("x,{epoch},{loss},0.1\n"))
            .collect();
        let imported = import(
            &[file("a.csv", &format!("a,epoch,l,t\n{rows}"))],
            &spec(
                RowKind::Step,
                &["a"],
                &["epoch=", "l=loss:", "t=step_seconds:s"],
            ),
            &study,
        );
        let epochs = &imported.records[0].epochs;
        let found: Vec<(u32, f64)> = epochs.iter().map(|e| (e.epoch, e.loss.unwrap())).collect();
        assert_eq!(found, expected);
        // One definition: the mean of the last epoch.
        assert_eq!(first(&imported, "loss"), expected.last().map(|last| last.1));
    };
    check([0, 0, 1, 1], &[(1, 3.0), (2, 0.75)]);
    check([1, 1, 2, 2], &[(1, 3.0), (2, 0.75)]);
    check([3, 3, 4, 4], &[(3, 3.0), (4, 0.75)]);
}

/// As dstat 0.7 writes it, with the preamble once more where it was started again.
#[test]
fn files_of_dstat_are_read_as_they_are() {
    let head = "\"Dstat 0.7.2 CSV output\"\n\
                \"Author:\",\"someone\",,,,\"URL:\",\"http://example.com/\"\n\
                \"Host:\",\"gpu1\",,,,\"User:\",\"me\"\n\
                \"Cmdline:\",\"dstat -tcd --output a.csv\",,,,\"Date:\",\"31 Dec 2016 23:59:00 CET\"\n\n\
                \"system\",\"total cpu usage\",,\"dsk/sda\",,\"dsk/sdb\",\n\
                \"time\",\"usr\",\"sys\",\"read\",\"writ\",\"read\",\"writ\"\n";
    let text = format!(
        "{head}31-12 23:59:50,10.5,1,4096,0,1,0\n01-01 00:00:00,20.5,1,8192,0,1,0\n{head}01-01 00:00:10,30.5,1,0,0,1,0\n"
    );
    let study = study(&[("a", &["x".into()])]);
    let spec = ImportSpec {
        started_column: Some("time".to_owned()),
        constants: vec![("a".to_owned(), "x".into())],
        ..spec(
            RowKind::Sample,
            &[],
            &["usr=cpu_percent:%", "dsk/sda:read=disk_read:B"],
        )
    };
    let imported = import(&[file("dstat.csv", &text)], &spec, &study);
    assert_eq!(problems(&imported), [] as [String; 0]);
    assert_eq!(imported.rows_read, 3);
    assert_eq!(first(&imported, "cpu_percent"), Some(20.5));
    assert_eq!(first(&imported, "disk_read"), Some(4096.0));
    assert_eq!(first(&imported, "total_seconds"), Some(30.0));
    assert_eq!(
        imported.records[0].started.to_string(),
        "2016-12-31T23:59:50Z"
    );
    // Names may be numbers (the load over `1m`), and a second dstat may have other columns.
    let load = text.replace("\"sys\"", "\"1m\"");
    assert_eq!(
        import(&[file("dstat.csv", &load)], &spec, &study).rows_read,
        3
    );
    let (first, second) = text.split_at(text.rfind("\"sys\"").expect("a name"));
    let changed = format!("{first}{}", second.replacen("sys", "idl", 1));
    let imported = import(&[file("dstat.csv", &changed)], &spec, &study);
    assert_eq!(imported.rows_read, 2);
    assert_eq!(
        problems(&imported),
        ["dstat.csv:16: the columns change here: the rest of the file is ignored"]
    );
}
