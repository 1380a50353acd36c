//! What runs tell.

use super::*;

#[test]
fn variables_and_folder_are_the_runs_own() {
    let ran = carry_out(
        &["sh", "-c", "echo $BATCH; pwd; echo $BANCADA_EVENTS"],
        |request| {
            request.env.push(("BATCH".to_owned(), "128".to_owned()));
            request.directory = Some("/".into());
        },
    );
    let events = ran.folder.path().join("events.jsonl");
    assert_eq!(
        ran.file("log.txt"),
        format!("128\n/\n{}\n", events.display())
    );
}

#[test]
fn phases_steps_and_epochs_are_told() {
    let ran = sh(r#"
        tell() { echo "$1" >> "$BANCADA_EVENTS"; }
        tell '{"event":"phase","phase":"load-data"}'
        sleep 0.1
        tell '{"event":"phase","phase":"train"}'
        tell '{"event":"step","step":1,"loss":2.5,"seconds":0.5,"images":100}'
        tell '{"event":"step","step":2,"loss":1.5,"seconds":0.7,"images":100}'
        tell '{"event":"epoch","epoch":1,"loss":1.25,"accuracy":0.5,"seconds":3}'
        sleep 0.1
        tell '{"event":"accuracy","value":0.75}'
        tell '{"event":"metric","name":"blocks","value":7,"unit":"B"}'
        tell '{"event":"phase","phase":"shutdown"}'
        sleep 0.1
    "#);
    assert_eq!(ran.measured.outcome.status, Status::Ok, "{}", ran.detail());
    assert_eq!(ran.phases(), ["startup", "load-data", "train", "shutdown"]);
    assert_eq!(ran.measured.epochs.len(), 1);
    assert_eq!(ran.metric(metric::STEP_SECONDS), Some(0.6));
    assert_eq!(ran.metric(metric::EPOCH_SECONDS), Some(3.0));
    assert_eq!(ran.metric(metric::LOSS), Some(1.25));
    assert_eq!(ran.metric(metric::ACCURACY), Some(75.0));
    assert_eq!(ran.metric("blocks"), Some(7.0));
    let train = ran.metric(metric::TRAIN_SECONDS).unwrap();
    assert_eq!(ran.metric(metric::IMAGES_PER_SECOND), Some(200.0 / train));
    assert!(train < ran.measured.seconds);
    assert_eq!(ran.events.len(), 8);
    // Each line of the file has its moment now.
    let lines = ran.file("events.jsonl");
    let read: Vec<Event> = lines
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(read, ran.events);
    assert!(read.iter().all(|event| event.at.is_some()));
}

#[test]
fn a_training_that_diverged_has_no_loss() {
    let ran = sh(r#"
        tell() { echo "$1" >> "$BANCADA_EVENTS"; }
        tell '{"event":"epoch","epoch":4,"loss":1.5}'
        tell '{"event":"epoch","epoch":5,"loss":NaN}'
        tell '{"event":"epoch","epoch":6}'
    "#);
    assert_eq!(ran.measured.outcome.status, Status::Ok);
    assert_eq!(ran.metric(metric::LOSS), None);
    let diverged = Warning::Diverged { epoch: Some(5) };
    assert!(
        ran.measured.warnings.contains(&diverged),
        "{:?}",
        ran.measured.warnings
    );
    assert_eq!(
        diverged.to_string(),
        "the loss was NaN from epoch 5 on and is omitted: lower the learning \
         rate, or check the data"
    );
}

#[test]
fn lines_that_are_no_events_are_counted() {
    let ran = sh(r#"printf 'hello\n{"event":"note","text":"x"}\n{"event"' >> "$BANCADA_EVENTS""#);
    let bad = Warning::BadEvents {
        lines: 2,
        first: "hello".to_owned(),
    };
    assert!(
        ran.measured.warnings.contains(&bad),
        "{:?}",
        ran.measured.warnings
    );
    assert_eq!(ran.events.len(), 1);
    assert_eq!(ran.file("events.jsonl").lines().count(), 1);
}

#[test]
fn a_log_is_read_by_patterns() {
    let pattern = |event, pattern: &str| LogPattern {
        event,
        pattern: pattern.to_owned(),
        name: None,
        unit: None,
    };
    let script = "echo == train ==; echo 'step 1 loss 0.5'; echo 'accuracy 97.5 %'";
    let ran = carry_out(&["sh", "-c", script], |request| {
        request.log = vec![
            pattern(LogEvent::Phase, r"^== (?<phase>\S+) ==$"),
            pattern(LogEvent::Step, r"^step (?<step>\d+) loss (?<loss>\S+)"),
            pattern(LogEvent::Accuracy, r"^accuracy (?<accuracy>[\d.]+)"),
        ];
    });
    assert_eq!(ran.events.len(), 3);
    assert_eq!(ran.metric(metric::LOSS), Some(0.5));
    assert_eq!(ran.metric(metric::ACCURACY), Some(97.5));
    assert_eq!(ran.phases().last(), Some(&"train"));
    assert_eq!(ran.file("events.jsonl").lines().count(), 3);
}

#[test]
fn of_a_huge_log_the_beginning_and_the_end_stay() {
    let ran = sh("echo first; head -c 20000000 /dev/zero | tr '\\0' 'x'; echo; echo last; exit 1");
    let log = ran.file("log.txt");
    assert!(log.starts_with("first\nxxx") && log.ends_with("x\nlast\n"));
    assert!(
        log.contains("bytes omitted here") && log.len() < 11_001_000,
        "{}",
        log.len()
    );
    assert!(ran.detail().ends_with("last"));
}

#[test]
fn a_run_that_says_it_has_no_memory_is_a_result() {
    let ran =
        sh(r#"echo '{"event":"out-of-memory","detail":"batch 512"}' >> "$BANCADA_EVENTS"; exit 1"#);
    assert_eq!(ran.measured.outcome.status, Status::OutOfMemory);
    assert_eq!(ran.detail(), "ran out of memory: batch 512");
}
