//! Logs of Keras, PyTorch's examples, estimators, `caffe time`, DAWNBench, and of any program that a
//! study has regular expressions for.

#![expect(clippy::expect_used, reason = "what is not expected fails the test")]

use import::{ImportSpec, LogFile, LogFormat, LogRecords, LogSpec, Logs};
use model::study::{LogEvent, LogPattern};
use model::{EventKind, RunRecord, Status};

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

fn read(text: &str, spec: &LogSpec) -> LogRecords {
    let file = LogFile {
        name: "a.log".to_owned(),
        text: text.to_owned(),
        modified: Some("2026-04-01T00:00:00Z".parse().expect("a moment")),
    };
    let logs = Logs::read(&[file], spec);
    let made = logs.infer_study("logs");
    assert_eq!(made.problems, []);
    let plan = plan::plan(&made.study);
    logs.records(&made.study, &plan)
}

fn one(text: &str, spec: &LogSpec) -> RunRecord {
    let mut read = read(text, spec);
    assert_eq!(read.problems, []);
    assert_eq!(read.records.len(), 1);
    read.records.remove(0)
}

fn framework(record: &RunRecord) -> Option<String> {
    let mut levels = record.scenario.levels.iter();
    let found = levels.find(|level| level.factor == "framework");
    found.map(|level| level.level.to_string())
}

fn check_metrics(record: &RunRecord, expected: &[(&str, Option<f64>)]) {
    for (name, value) in expected {
        let found = record.metrics.get(*name).map(|metric| metric.value);
        let is_same = match (found, value) {
            (Some(found), Some(value)) => (found - value).abs() < 1e-9,
            (None, None) => true,
            _ => false,
        };
        assert!(is_same, "{name} is {found:?}, not {value:?}");
    }
}

type Told = (u32, Option<f64>, Option<f64>, Option<f64>);

fn epochs(record: &RunRecord) -> Vec<Told> {
    let epochs = record.epochs.iter();
    epochs
        .map(|e| (e.epoch, e.loss, e.accuracy, e.seconds))
        .collect()
}

const KERAS_2: &str = "Epoch 1/2\n\
 1/100 [..............................] - ETA: 31s - loss: 2.4012 - accuracy: 0.0938\r\
 50/100 [==============>...............] - ETA: 1s - loss: 1.3000 - accuracy: 0.5000\r\
100/100 [==============================] - 3s 26ms/step - loss: 1.1000 - accuracy: 0.6100 - val_loss: 0.7000 - val_accuracy: 0.7800\n\
Epoch 2/2\n\
100/100 [==============================] - 2s 21ms/step - loss: 0.5000 - accuracy: 0.8100 - val_loss: 0.4000 - val_accuracy: 0.8800\n";

const KERAS_3: &str = "Epoch 1/2\n\
\u{1b}[1m  1/100\u{1b}[0m \u{1b}[37m━━━━━━━━━━━━━━━━━━━━\u{1b}[0m \u{1b}[1m31s\u{1b}[0m 315ms/step - accuracy: 0.0938 - loss: 2.4012\u{8}\u{8}\r\
\u{1b}[1m100/100\u{1b}[0m \u{1b}[32m━━━━━━━━━━━━━━━━━━━━\u{1b}[0m\u{1b}[37m\u{1b}[0m \u{1b}[1m3s\u{1b}[0m 26ms/step - accuracy: 0.6100 - loss: 1.1000 - val_accuracy: 0.7800 - val_loss: 0.7000\n\
Epoch 2/2\n\
\u{1b}[1m100/100\u{1b}[0m \u{1b}[32m━━━━━━━━━━━━━━━━━━━━\u{1b}[0m\u{1b}[37m\u{1b}[0m \u{1b}[1m2s\u{1b}[0m 21ms/step - accuracy: 0.8100 - loss: 0.5000 - val_accuracy: 0.8800 - val_loss: 0.4000\n";

const KERAS_LINES: &str = "Epoch 1/2\n\
100/100 - 3s - loss: 1.1000 - accuracy: 0.6100 - val_loss: 0.7000 - val_accuracy: 0.7800 - 3s/epoch - 26ms/step\n\
Epoch 2/2\n\
100/100 - 2s - 21ms/step - accuracy: 0.8100 - loss: 0.5000 - val_accuracy: 0.8800 - val_loss: 0.4000\n";

#[test]
fn every_form_of_a_log_of_keras_is_the_same_run() {
    for text in [KERAS_2, KERAS_3, KERAS_LINES] {
        let record = one(text, &spec());
        assert_eq!(record.outcome.status, Status::Ok, "{text}");
        assert_eq!(framework(&record).as_deref(), Some("keras"));
        let expected = [
            (1, Some(1.1), Some(0.78), Some(2.6)),
            (2, Some(0.5), Some(0.88), Some(2.1)),
        ];
        assert_eq!(epochs(&record), expected, "{text}");
        let metrics = [
            ("train_seconds", Some(4.7)),
            ("loss", Some(0.5)),
            ("accuracy_percent", Some(88.0)),
            ("steps", Some(200.0)),
            ("images_per_second", None),
        ];
        check_metrics(&record, &metrics);
    }
}

/// Until TensorFlow 2.1 the bars of `fit` counted images.
fn old_keras(header: &str, bar: &str) -> String {
    let epoch = |number: u32| format!("Epoch {number}/2\n{bar} - loss: 0.5 - acc: 0.8\n");
    format!("{header}{}{}", epoch(1), epoch(2))
}

fn of_batch(batch: Option<u64>, images: Option<u64>) -> LogSpec {
    LogSpec {
        batch,
        images,
        ..spec()
    }
}

#[test]
fn bars_of_old_keras_count_images() {
    let header = "Train on 60000 samples, validate on 10000 samples\n";
    let bar = "60000/60000 [==============================] - 7s";
    let of_time = |time: &str| format!("{bar}{time}");
    let texts = [
        // Keras 2, 1, and that of TensorFlow 2.1; then `verbose` 2 of these.
        old_keras(header, &of_time(" 105us/step")),
        old_keras(header, &of_time("")).replace("7s", "6.3s"),
        old_keras("", &of_time(" 105us/sample")),
        old_keras(header, "60000/60000 - 6.3s"),
        old_keras(header, " - 7s 105us/step"),
        old_keras(header, "6.3s"),
    ];
    for text in &texts {
        let record = one(text, &of_batch(Some(64), None));
        let metrics = [
            ("train_seconds", Some(12.6)),
            ("images", Some(120_000.0)),
            ("steps", Some(1_876.0)),
            ("step_seconds", Some(6.3 / 938.0)),
            ("images_per_second", Some(120_000.0 / 12.6)),
        ];
        check_metrics(&record, &metrics);
        // Without the batch there are images, and no steps.
        let record = one(text, &spec());
        let metrics = [
            ("images", Some(120_000.0)),
            ("images_per_second", Some(120_000.0 / 12.6)),
            ("steps", None),
            ("step_seconds", None),
        ];
        check_metrics(&record, &metrics);
    }
    let found = read(&texts[0], &of_batch(Some(64), None));
    let epochs = found.events[0].iter().filter_map(|event| match event.kind {
        EventKind::Step { step, epoch, .. } => Some((step, epoch)),
        _ => None,
    });
    assert_eq!(
        epochs.collect::<Vec<_>>(),
        [(938, Some(1)), (1876, Some(2))]
    );
}

#[test]
fn what_bars_of_keras_count_is_not_guessed() {
    let text = old_keras("", "60000/60000 - 7s");
    let unclear = read(&text, &of_batch(Some(64), None));
    let problems: Vec<String> = unclear.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0].contains("`60000/60000` counts steps or images")
            && problems[0].contains("--images"),
        "{problems:?}"
    );
    let metrics = [
        ("train_seconds", Some(14.0)),
        ("images", None),
        ("steps", None),
        ("images_per_second", None),
    ];
    check_metrics(&unclear.records[0], &metrics);
    // The images of an epoch decide it.
    let images = one(&text, &of_batch(Some(64), Some(60_000)));
    check_metrics(
        &images,
        &[("images", Some(120_000.0)), ("steps", Some(1_876.0))],
    );
    let text = old_keras("", "938/938 - 7s");
    let steps = one(&text, &of_batch(Some(64), Some(60_000)));
    check_metrics(
        &steps,
        &[("images", Some(120_000.0)), ("steps", Some(1_876.0))],
    );
    // So does a log that says that it counts steps.
    let text = old_keras("Train for 938 steps\n", "938/938 - 7s");
    let steps = one(&text, &of_batch(None, None));
    check_metrics(&steps, &[("images", None), ("steps", Some(1_876.0))]);
}

#[test]
fn a_log_of_keras_that_ends_early_is_no_result() {
    let text = KERAS_2
        .replace("Epoch 2/2", "Epoch 2/9")
        .replace("1/2\n", "1/9\n");
    assert_eq!(one(&text, &spec()).outcome.status, Status::Interrupted);
    let crashed = format!(
        "{text}Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: no\n"
    );
    let record = one(&crashed, &spec());
    assert_eq!(record.outcome.status, Status::Failed);
    let detail = record.outcome.detail.unwrap_or_default();
    assert!(detail.ends_with("ValueError: no"), "{detail}");
    let full = format!("{text}tensorflow ResourceExhaustedError: OOM when allocating tensor\n");
    assert_eq!(one(&full, &spec()).outcome.status, Status::OutOfMemory);
}

#[test]
fn a_csv_log_of_keras_has_curves_and_no_times() {
    let text =
        "epoch,accuracy,loss,val_accuracy,val_loss\n0,0.61,1.1,0.78,0.7\n1,0.81,0.5,0.88,0.4\n";
    let read = read(text, &spec());
    assert_eq!(read.records_without_time, 1);
    let record = &read.records[0];
    let expected = [
        (1, Some(1.1), Some(0.78), None),
        (2, Some(0.5), Some(0.88), None),
    ];
    assert_eq!(epochs(record), expected);
    check_metrics(
        record,
        &[("train_seconds", None), ("accuracy_percent", Some(88.0))],
    );
}

#[test]
fn a_log_of_the_imagenet_example_has_steps_and_epochs() {
    let line = |epoch: u32, done: u32, mean: &str, loss: &str| {
        format!(
            "Epoch: [{epoch}][{done:>3}/40]\tTime  0.250 ({mean:>6})\tData  0.010 ( 0.020)\tLoss {loss} (3.0e+00)\tAcc@1   9.38 ( 10.00)\tAcc@5  31.25 ( 31.00)\n"
        )
    };
    let test =
        "Test: [ 0/10]\tTime  0.5 ( 0.5)\tLoss 1.0e+00 (1.0e+00)\n *   Acc@1 45.500 Acc@5 72.000\n";
    let text = line(0, 10, "0.500", "4.0e+00")
        + &line(0, 30, "0.300", "3.0e+00")
        + test
        + &line(1, 10, "0.260", "2.0e+00")
        + &line(1, 30, "0.255", "1.5e+00")
        + test;
    let record = one(&text, &spec());
    assert_eq!(record.outcome.status, Status::Ok);
    assert_eq!(framework(&record).as_deref(), Some("pytorch"));
    let expected = [
        (1, Some(3.0), Some(0.455), Some(12.0)),
        (2, Some(3.0), Some(0.455), Some(10.2)),
    ];
    assert_eq!(epochs(&record), expected);
    check_metrics(
        &record,
        // Of the last batches of an epoch no line is printed.
        &[("train_seconds", Some(22.2)), ("steps", Some(80.0))],
    );
    let known = LogSpec {
        batch: Some(64),
        images: Some(2_500),
        ..spec()
    };
    // The last batch of an epoch is smaller.
    check_metrics(
        &one(&text, &known),
        &[
            ("images", Some(5_000.0)),
            ("images_per_second", Some(5_000.0 / 22.2)),
        ],
    );
    // Older versions count from zero, newer ones from one.
    for (first, done) in [(0, 11.0), (1, 10.0)] {
        let cut = line(0, first, "0.900", "4.0e+00") + &line(0, 10, "0.500", "4.0e+00");
        let record = one(&cut, &spec());
        assert_eq!(record.outcome.status, Status::Interrupted);
        let metrics = [
            ("steps", Some(done)),
            ("train_seconds", Some(0.5 * done)),
            ("epoch_seconds", None),
        ];
        check_metrics(&record, &metrics);
    }
}

#[test]
fn a_log_of_the_mnist_example_has_losses_and_no_times() {
    let text = "Train Epoch: 1 [0/60000 (0%)]\tLoss: 2.0\n\
        Train Epoch: 1 [640/60000 (1%)]\tLoss: 1.0\n\n\
        Test set: Average loss: 0.05, Accuracy: 9840/10000 (98%)\n\n";
    let record = one(text, &spec());
    assert_eq!(record.outcome.status, Status::Ok);
    assert_eq!(epochs(&record), [(1, Some(1.5), Some(0.984), None)]);
    check_metrics(
        &record,
        &[("images", Some(60_000.0)), ("train_seconds", None)],
    );
    // An epoch that is not finished did not see all of them.
    let cut = format!("{text}Train Epoch: 2 [0/60000 (0%)]\tLoss: 0.5\n");
    let record = one(&cut, &spec());
    check_metrics(&record, &[("images", Some(60_000.0)), ("loss", Some(1.5))]);
}

#[test]
fn a_log_of_an_estimator_has_steps() {
    let text = "INFO:tensorflow:loss = 2.3, step = 1\n\
        INFO:tensorflow:global_step/sec: 50.0\n\
        INFO:tensorflow:loss = 1.3, step = 101 (2.000 sec)\n\
        INFO:tensorflow:loss = 0.3, step = 201 (1.000 sec)\n\
        INFO:tensorflow:Saving dict for global step 300: accuracy = 0.97, global_step = 300, loss = 0.1\n\
        INFO:tensorflow:Loss for final step: 0.2.\n";
    let record = one(text, &spec());
    assert_eq!(record.outcome.status, Status::Ok);
    assert_eq!(framework(&record).as_deref(), Some("tensorflow"));
    let metrics = [
        ("train_seconds", Some(3.0)),
        ("accuracy_percent", Some(97.0)),
        ("loss", Some(0.3)),
    ];
    check_metrics(&record, &metrics);
}

#[test]
fn a_log_of_caffe_time_is_a_run_without_losses() {
    let line = |second: u32, text: &str| {
        format!("I0515 10:11:{second:02}.000000  1 caffe.cpp:400] {text}\n")
    };
    let text = line(0, "Performing Forward")
        + &line(1, "*** Benchmark begins ***")
        + &line(1, "Testing for 50 iterations.")
        + &line(11, "Average Forward pass: 80 ms.")
        + &line(11, "Average Backward pass: 120 ms.")
        + &line(11, "Average Forward-Backward: 200 ms.")
        + &line(11, "Total Time: 10000 ms.")
        + &line(11, "*** Benchmark ends ***");
    let record = one(&text, &spec());
    assert_eq!(record.outcome.status, Status::Ok);
    let metrics = [
        ("step_seconds", Some(0.2)),
        ("forward_seconds", Some(0.08)),
        ("backward_seconds", Some(0.12)),
        ("train_seconds", Some(10.0)),
        ("steps", Some(50.0)),
        ("loss", None),
    ];
    check_metrics(&record, &metrics);
}

#[test]
fn an_entry_of_dawnbench_is_a_run() {
    let text =
        "epoch\thours\ttop1Accuracy\ttop5Accuracy\n1\t0.5\t40.0\t70.0\n2\t1.25\t60.0\t85.0\n";
    let record = one(text, &spec());
    assert_eq!(framework(&record), None);
    let expected = [
        (1, None, Some(0.4), Some(1800.0)),
        (2, None, Some(0.6), Some(2700.0)),
    ];
    assert_eq!(epochs(&record), expected);
    check_metrics(
        &record,
        &[
            ("train_seconds", Some(4500.0)),
            ("accuracy_percent", Some(60.0)),
        ],
    );
}

fn pattern(event: LogEvent, pattern: &str) -> LogPattern {
    LogPattern {
        event,
        pattern: pattern.to_owned(),
        name: Some("perplexity".to_owned()),
        unit: None,
    }
}

#[test]
fn the_patterns_of_a_study_read_any_log() {
    let spec = LogSpec {
        patterns: vec![
            pattern(
                LogEvent::Step,
                r"it (?<step>\d+) .*loss (?<loss>\S+) \((?<seconds>\S+) s\)",
            ),
            pattern(LogEvent::Metric, r"perplexity (\S+)"),
            pattern(LogEvent::Epoch, r"no such line"),
        ],
        ..spec()
    };
    let text = "it 1 of 2 loss 2.5 (0.5 s)\nit 2 of 2 loss 1.5 (0.4 s)\nperplexity 12.5\n";
    let found = read(text, &spec);
    let record = &found.records[0];
    assert_eq!(record.outcome.status, Status::Ok);
    let metrics = [
        ("train_seconds", Some(0.9)),
        ("loss", Some(1.5)),
        ("perplexity", Some(12.5)),
    ];
    check_metrics(record, &metrics);
    assert_eq!(record.warnings.len(), 1, "{:?}", record.warnings);
    let is_step = |event: &&model::Event| matches!(event.kind, EventKind::Step { .. });
    assert_eq!(found.events[0].iter().filter(is_step).count(), 2);
    // A format that is named goes first.
    let named = LogSpec {
        format: Some(LogFormat::Keras),
        ..spec
    };
    assert_eq!(one(KERAS_2, &named).epochs.len(), 2);
}
