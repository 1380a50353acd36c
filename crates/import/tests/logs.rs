//! Logs of training programs become the runs they tell of.

#![expect(clippy::expect_used, reason = "what is not expected fails the test")]

mod common;

use common::{plan, study};
use import::{ImportSpec, LogFile, LogFormat, LogRecords, LogSpec, Logs};
use model::{EventKind, Level, RunRecord, Status, Study, Warning};

const CAFFE: &str = include_str!("fixtures/logs/caffe-batch64.log");
const CAFFE_2015_CUT: &str = include_str!("fixtures/logs/caffe-2015-cut.log");
const CAFFE_FULL: &str = include_str!("fixtures/logs/caffe-full.log");
const SLIM: &str = include_str!("fixtures/logs/slim.log");
const SLIM_FULL: &str = include_str!("fixtures/logs/slim-abseil-full.log");
const TENSORFLOW_2016: &str = include_str!("fixtures/logs/tensorflow-2016-cut.log");

fn log(name: &str, text: &str) -> LogFile {
    LogFile {
        name: name.to_owned(),
        text: text.to_owned(),
        modified: Some("2017-04-01T00:00:00Z".parse().expect("a moment")),
    }
}

fn spec() -> LogSpec {
    LogSpec {
        levels: ImportSpec::default(),
        format: None,
        year: None,
        images: None,
        batch: None,
        patterns: Vec::new(),
    }
}

/// As runs of the study that is made of them.
fn inferred(files: &[LogFile], spec: &LogSpec) -> (Study, LogRecords) {
    let logs = Logs::read(files, spec);
    let made = logs.infer_study("logs");
    assert_eq!(made.problems, []);
    let plan = plan::plan(&made.study);
    let records = logs.records(&made.study, &plan);
    (made.study, records)
}

fn one(text: &str, spec: &LogSpec) -> RunRecord {
    let (_, mut read) = inferred(&[log("a.log", text)], spec);
    assert_eq!(read.problems, []);
    assert_eq!(read.records.len(), 1);
    read.records.remove(0)
}

fn metric(record: &RunRecord, name: &str) -> Option<f64> {
    record.metrics.get(name).map(|metric| metric.value)
}

fn check_metrics(record: &RunRecord, expected: &[(&str, Option<f64>)]) {
    for (name, value) in expected {
        let found = metric(record, name);
        let is_same = match (found, value) {
            (Some(found), Some(value)) => (found - value).abs() < 1e-9,
            (None, None) => true,
            _ => false,
        };
        assert!(is_same, "{name} is {found:?}, not {value:?}");
    }
}

fn phases(record: &RunRecord) -> Vec<(&str, f64)> {
    let phases = record.phases.iter();
    phases.map(|p| (p.name.as_str(), p.seconds)).collect()
}

#[test]
fn a_log_of_caffe_is_a_run_with_phases_epochs_and_accuracy() {
    let spec = LogSpec {
        images: Some(256),
        ..spec()
    };
    let record = one(CAFFE, &spec);
    assert_eq!(record.outcome.status, Status::Ok);
    assert_eq!(record.started.to_string(), "2016-12-31T23:59:50Z");
    // Two seconds of test in the middle are no training; midnight and the new year pass by.
    let expected = [
        ("start", 3.0),
        ("train", 2.0),
        ("verify", 2.0),
        ("train", 2.0),
        ("save", 1.5),
        ("verify", 2.0),
    ];
    assert_eq!(phases(&record), expected);
    check_metrics(
        &record,
        &[
            ("total_seconds", Some(12.5)),
            ("train_seconds", Some(4.0)),
            ("step_seconds", Some(0.5)),
            ("epoch_seconds", Some(2.0)),
            ("steps", Some(8.0)),
            // The log prints the batch of the training images first.
            ("images", Some(512.0)),
            ("images_per_second", Some(128.0)),
            ("loss", Some(5.125)),
            ("accuracy_percent", Some(25.0)),
        ],
    );
    let epochs: Vec<(u32, Option<f64>, Option<f64>)> = record
        .epochs
        .iter()
        .map(|e| (e.epoch, e.loss.map(|l| (l * 1e6).round() / 1e6), e.seconds))
        .collect();
    assert_eq!(
        epochs,
        [(1, Some(6.3), Some(2.0)), (2, Some(5.125), Some(2.0)),]
    );
    // What trained is a level; that it computes what others do cannot be verified from here.
    let framework = record.scenario.level("framework");
    assert_eq!(framework, Some(&Level::Text("caffe".to_owned())));
    assert_eq!(record.framework, None);
}

#[test]
fn every_loss_is_kept_as_an_event() {
    let spec = LogSpec {
        images: Some(256),
        ..spec()
    };
    let (_, read) = inferred(&[log("a.log", CAFFE)], &spec);
    let kinds: Vec<String> = read.events[0]
        .iter()
        .map(|event| match &event.kind {
            EventKind::Phase { phase } => phase.clone(),
            EventKind::Step {
                step, epoch, loss, ..
            } => format!("{step} {} {}", epoch.unwrap_or(0), loss.unwrap_or(f64::NAN)),
            EventKind::Accuracy { value } => format!("accuracy {value}"),
            other => format!("{other:?}"),
        })
        .collect();
    let expected = [
        "start",
        "train",
        "1 1 6.9",
        "2 1 6.5",
        "3 1 6.1",
        "4 1 5.7",
        "verify",
        "train",
        "5 2 5.4",
        "6 2 5.2",
        "7 2 5",
        "8 2 4.9",
        "save",
        "verify",
        "accuracy 0.25",
    ];
    let mut sorted = kinds.clone();
    sorted.sort();
    let mut wanted = expected.map(str::to_owned);
    wanted.sort();
    assert_eq!(sorted, wanted);
    let times: Vec<f64> = read.events[0].iter().filter_map(|event| event.at).collect();
    assert!(
        times.is_sorted() && times[0] == 1_483_228_790.0,
        "{times:?}"
    );
}

#[test]
fn a_log_that_is_cut_is_an_interrupted_run_and_tells_what_it_could_not_read() {
    let (_, read) = inferred(&[log("a.log", CAFFE_2015_CUT)], &spec());
    let record = &read.records[0];
    assert_eq!(record.outcome.status, Status::Interrupted);
    let detail = record.outcome.detail.as_deref().unwrap_or_default();
    assert_eq!(detail, "a.log ends after step 101 without a final line");
    check_metrics(
        record,
        &[
            ("train_seconds", Some(10.1)),
            ("step_seconds", Some(0.1)),
            ("steps", Some(101.0)),
            ("loss", Some(5.0)),
            // Nothing tells the batch.
            ("images_per_second", None),
        ],
    );
    let problems: Vec<String> = read.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0].starts_with("a.log:15: `I0515")
            && problems[0].ends_with("cannot be parsed; ignored"),
        "{problems:?}"
    );
}

#[test]
fn what_did_not_fit_is_a_result() {
    let record = one(CAFFE_FULL, &spec());
    assert_eq!(record.outcome.status, Status::OutOfMemory);
    let detail = record.outcome.detail.as_deref().unwrap_or_default();
    let said =
        "ends before its first step: Check failed: error == cudaSuccess (2 vs. 0)  out of memory";
    assert!(detail.ends_with(said), "{detail}");
    check_metrics(&record, &[("steps", None), ("total_seconds", Some(5.0))]);

    let spec = LogSpec {
        year: Some(2019),
        batch: Some(512),
        ..spec()
    };
    let record = one(SLIM_FULL, &spec);
    assert_eq!(record.outcome.status, Status::OutOfMemory);
    assert_eq!(record.started.to_string(), "2019-04-12T20:24:30Z");
    // Every line is there twice, once with its time.
    assert_eq!(phases(&record), [("start", 2.0), ("train", 5.0)]);
    check_metrics(
        &record,
        &[
            ("steps", Some(5.0)),
            ("step_seconds", Some(1.0)),
            ("images_per_second", Some(512.0)),
            ("loss", Some(0.7)),
        ],
    );
}

#[test]
fn logs_of_slim_without_times_are_timed_by_their_steps() {
    let spec = LogSpec {
        images: Some(320),
        batch: Some(32),
        ..spec()
    };
    let record = one(SLIM, &spec);
    assert_eq!(record.outcome.status, Status::Ok);
    // Ten steps of half a second, then seventy of a quarter.
    assert_eq!(phases(&record), [("train", 22.5)]);
    check_metrics(
        &record,
        &[
            ("total_seconds", Some(22.5)),
            ("train_seconds", Some(22.5)),
            ("step_seconds", Some(0.25)),
            ("steps", Some(80.0)),
            ("images_per_second", Some(2560.0 / 22.5)),
            ("loss", Some(1.4)),
        ],
    );
    let seconds: Vec<Option<f64>> = record.epochs.iter().map(|e| e.seconds).collect();
    let quarter = Some(2.5);
    let mut expected = vec![quarter; 8];
    expected[0] = Some(5.0);
    assert_eq!(seconds, expected);
    let framework = record.scenario.level("framework");
    assert_eq!(framework, Some(&Level::Text("tensorflow".to_owned())));
}

#[test]
fn logs_before_slim_are_read_too() {
    let record = one(TENSORFLOW_2016, &spec());
    assert_eq!(record.outcome.status, Status::Interrupted);
    assert_eq!(record.started.to_string(), "2016-05-14T14:15:16.5Z");
    check_metrics(&record, &[("steps", Some(41.0)), ("loss", Some(4.27))]);
    assert!(record.seconds > 9.0, "{}", record.seconds);
}

#[test]
fn levels_come_from_names_flags_and_the_log_itself() {
    let files = [
        log("gpu/alexnet-r1.log", CAFFE),
        log("./gpu/alexnet-r2.log", CAFFE),
        log("gpu/googlenet-r1.log", CAFFE_FULL),
    ];
    let mut spec = spec();
    spec.levels.file_pattern = Some(
        "{environment}/{network}-r{repetition}.log"
            .parse()
            .expect("a pattern"),
    );
    spec.levels.constants = vec![("images".to_owned(), Level::Int(256))];
    let (study, read) = inferred(&files, &spec);
    let factors: Vec<(&str, usize)> = study
        .factors
        .iter()
        .map(|factor| (factor.name.as_str(), factor.levels.len()))
        .collect();
    let expected = [
        ("environment", 1),
        ("network", 2),
        ("images", 1),
        ("framework", 1),
        ("batch", 2),
    ];
    assert_eq!(factors, expected);
    let runs: Vec<String> = read.records.iter().map(|r| r.run.to_string()).collect();
    assert_eq!(runs, ["C1-r1", "C1-r2", "C2-r1"]);
    assert_eq!((read.logs_read, read.logs_left_out), (3, 0));
    assert_eq!(read.records[0].environment.name, "gpu");
    // The level `images` tells how long an epoch is.
    assert_eq!(read.records[0].epochs.len(), 2);
}

#[test]
fn logs_become_runs_of_a_study_that_is_there() {
    let text = |level: &str| Level::Text(level.to_owned());
    let study = study(&[
        ("Framework", &[text("caffe"), text("tensorflow")]),
        ("batch", &[Level::Int(64), Level::Int(512)]),
    ]);
    let mut spec = spec();
    let check = |spec: &LogSpec, files: &[LogFile], runs: &[&str], problem: &str| {
        let read = Logs::read(files, spec).records(&study, &plan(&study));
        let found: Vec<String> = read.records.iter().map(|r| r.run.to_string()).collect();
        assert_eq!(found, runs);
        let problems: Vec<String> = read.problems.iter().map(ToString::to_string).collect();
        assert!(problems.join("\n").contains(problem), "{problems:?}");
    };
    let files = [log("a.log", CAFFE), log("b.log", CAFFE_FULL)];
    check(&spec, &files, &["C1-r1", "C2-r1"], "");
    // Slim does not tell its batch.
    check(
        &spec,
        &[log("c.log", SLIM)],
        &[],
        "the level of `batch` is missing",
    );
    spec.levels.constants = vec![("batch".to_owned(), Level::Int(64))];
    check(&spec, &[log("c.log", SLIM)], &["C3-r1"], "");
    spec.levels.constants = vec![("batch".to_owned(), Level::Int(128))];
    check(&spec, &files, &[], "`128` is not a level of `batch`");
    spec.levels.constants = vec![("color".to_owned(), Level::Int(1))];
    check(&spec, &files, &[], "the study has no factor `color`");
}

#[test]
fn what_is_no_log_is_told_and_left_out() {
    let files = [
        log("a.log", CAFFE),
        log("b.log", "step,loss\n1,2\n"),
        log("empty.log", ""),
        log(
            "other.log",
            "I0515 10:11:12.1  1 solver.cpp:1] Solver scaffolding done.\n",
        ),
    ];
    let (_, read) = inferred(&files, &spec());
    assert_eq!(read.records.len(), 1);
    assert_eq!((read.logs_read, read.logs_left_out), (4, 3));
    let problems: Vec<String> = read.problems.iter().map(ToString::to_string).collect();
    assert!(problems[0].contains("b.log:1: its format is not known"));
    assert!(problems[2].contains("contains no training step in the format caffe"));
    // Held to the wrong format.
    let wrong = LogSpec {
        format: Some(LogFormat::TensorflowSlim),
        ..spec()
    };
    let logs = Logs::read(&files[..1], &wrong);
    assert!(
        logs.infer_study("x")
            .study
            .factors
            .iter()
            .all(|f| f.levels.is_empty())
    );
}

#[test]
fn divergence_is_a_warning() {
    let text = CAFFE.replace("loss = 4.9", "loss = nan");
    let spec = LogSpec {
        images: Some(256),
        ..spec()
    };
    let record = one(&text, &spec);
    assert_eq!(metric(&record, "loss"), None);
    assert_eq!(record.warnings, [Warning::Diverged { epoch: Some(2) }]);
    assert_eq!(record.epochs[1].loss, None);
}

#[test]
fn a_training_that_went_on_from_a_snapshot_counts_its_own_steps() {
    let line = |second: u32, iteration: u32| {
        format!(
            "I0515 10:00:{second:02}.000000  4242 solver.cpp:228] Iteration {iteration}, loss = 1\n"
        )
    };
    let text: String = (0..5).map(|n| line(10 + n, 5000 + 10 * n)).collect();
    let record = one(&text, &spec());
    check_metrics(
        &record,
        &[
            ("steps", Some(41.0)),
            ("train_seconds", Some(4.0)),
            ("step_seconds", Some(0.1)),
        ],
    );
    // Restarted in the same log: what was done again counts once.
    let again: String = text + &line(20, 5020) + &line(21, 5030);
    let record = one(&again, &spec());
    check_metrics(
        &record,
        &[("steps", Some(31.0)), ("train_seconds", Some(11.0))],
    );
}

#[test]
fn no_text_breaks_the_reader() {
    let all = [
        CAFFE,
        CAFFE_2015_CUT,
        CAFFE_FULL,
        SLIM,
        SLIM_FULL,
        TENSORFLOW_2016,
    ];
    for text in all {
        for format in [LogFormat::Caffe, LogFormat::TensorflowSlim] {
            let spec = LogSpec {
                format: Some(format),
                images: Some(1),
                batch: Some(u64::MAX),
                year: Some(i16::MAX),
                ..spec()
            };
            for cut in (0..text.len()).step_by(7) {
                let head = text.get(..cut).unwrap_or_default();
                let mut changed = head.to_owned();
                changed.push_str(&text[cut..].replace('0', "9"));
                for text in [head, &changed] {
                    let files = [log("a.log", text)];
                    let logs = Logs::read(&files, &spec);
                    let study = logs.infer_study("x").study;
                    _ = logs.records(&study, &plan(&study));
                }
            }
        }
    }
}

/// Two programs that wrote into one log, an hour apart: `end` is how the first ended.
fn resumed(end: &str, last: &str) -> String {
    let first = "\
I0515 10:00:00.000000  4242 caffe.cpp:211] Use CPU.
I0515 10:00:00.000000  4242 solver.cpp:44] Initializing solver from parameters: 
max_iter: 6
I0515 10:00:02.000000  4242 caffe.cpp:248] Starting Optimization
I0515 10:00:03.000000  4242 solver.cpp:218] Iteration 0 (0 iter/s, 1s/1 iters), loss = 4
I0515 10:00:04.000000  4242 solver.cpp:218] Iteration 1 (1 iter/s, 1s/1 iters), loss = 3
I0515 10:00:05.000000  4242 solver.cpp:218] Iteration 2 (1 iter/s, 1s/1 iters), loss = 2.5
I0515 10:00:06.000000  4242 solver.cpp:218] Iteration 3 (1 iter/s, 1s/1 iters), loss = 2";
    // It goes on from a snapshot of iteration 2.
    let second = "\
I0515 11:00:10.000000  5353 upgrade_proto.cpp:1044] Attempting to upgrade input file
I0515 11:00:10.000000  5353 caffe.cpp:211] Use CPU.
I0515 11:00:10.000000  5353 solver.cpp:44] Initializing solver from parameters: 
max_iter: 6
I0515 11:00:11.000000  5353 caffe.cpp:248] Starting Optimization
I0515 11:00:12.000000  5353 solver.cpp:218] Iteration 2 (1 iter/s, 1s/1 iters), loss = 2.4
I0515 11:00:13.000000  5353 solver.cpp:218] Iteration 3 (1 iter/s, 1s/1 iters), loss = 1.9
I0515 11:00:14.000000  5353 solver.cpp:218] Iteration 4 (1 iter/s, 1s/1 iters), loss = 1.5
I0515 11:00:15.000000  5353 solver.cpp:218] Iteration 5 (1 iter/s, 1s/1 iters), loss = 1";
    format!("{first}\n{end}\n{second}\n{last}\n")
}

#[test]
fn of_a_log_that_was_gone_on_with_the_last_end_counts_and_no_pause() {
    let done = "I0515 11:00:15.000000  5353 solver.cpp:332] Optimization Done.";
    let early = "I0515 10:00:06.000000  4242 solver.cpp:308] Optimization stopped early.\n\
                 I0515 10:00:06.000000  4242 caffe.cpp:254] Optimization Done.";
    let fatal = "F0515 10:00:06.000000  4242 blob.cpp:33] Check failed: a == b";
    let memory = "F0515 10:00:06.000000  4242 syncedmem.cpp:71] Check failed: error == cudaSuccess  out of memory";
    let whole = "I0515 10:00:06.000000  4242 solver.cpp:332] Optimization Done.";
    let check = |end: &str, last: &str, expected: Status| {
        let record = one(&resumed(end, last), &spec());
        assert_eq!(record.outcome.status, expected, "{end}\n{last}");
        check_metrics(
            &record,
            &[
                // Six seconds, then five.
                ("total_seconds", Some(11.0)),
                ("train_seconds", Some(8.0)),
                ("step_seconds", Some(1.0)),
                ("steps", Some(6.0)),
                ("loss", Some(1.0)),
            ],
        );
    };
    for end in [
        early,
        fatal,
        memory,
        "",
        "Log file created at: 2017/05/15 11:00:10",
    ] {
        check(end, done, Status::Ok);
    }
    check(whole, "", Status::Interrupted);
    let failed = "F0515 11:00:15.000000  5353 blob.cpp:33] Check failed: a == b";
    check(early, failed, Status::Failed);
}

/// Where the log lacks its beginning, nothing tells when its first step began.
#[test]
fn a_first_step_of_unknown_length_is_no_step_of_zero() {
    let text = "\
I0515 10:00:03.000000  4242 solver.cpp:218] Iteration 0, loss = 4
I0515 10:00:04.000000  4242 solver.cpp:218] Iteration 1, loss = 3
I0515 10:00:07.000000  4242 solver.cpp:218] Iteration 2, loss = 2
";
    let record = one(text, &spec());
    check_metrics(&record, &[("step_seconds", Some(2.0))]);
}

#[test]
fn steps_of_caffe_are_timed_by_the_microseconds_of_its_log() {
    let text = "\
I0515 10:00:02.000000  4242 caffe.cpp:248] Starting Optimization
I0515 10:00:02.000970  4242 solver.cpp:218] Iteration 0 (0 iter/s, 0.004s/1 iters), loss = 4
I0515 10:00:02.001940  4242 solver.cpp:218] Iteration 1 (250 iter/s, 0.004s/1 iters), loss = 3
I0515 10:00:02.002910  4242 solver.cpp:218] Iteration 2 (250 iter/s, 0.004s/1 iters), loss = 2
";
    let record = one(text, &spec());
    check_metrics(&record, &[("step_seconds", Some(0.00097))]);
}

/// The mean of the last whole epoch, as of runs measured here; the last step where it is not known
/// what an epoch is.
#[test]
fn the_loss_of_a_log_is_that_of_the_last_whole_epoch() {
    let check = |images: Option<u64>, expected: f64| {
        let spec = LogSpec {
            images,
            batch: Some(2),
            ..spec()
        };
        let text = resumed("", "");
        check_metrics(&one(&text, &spec), &[("loss", Some(expected))]);
    };
    check(None, 1.0);
    // Of two steps each: 2.4 and 1.9, then 1.5 and 1.
    check(Some(4), 1.25);
    // Of four steps: the second is not whole.
    check(Some(8), (4.0 + 3.0 + 2.4 + 1.9) / 4.0);
    check(Some(100), 1.0);
}
