//! What is reported of pieces of a file, and what the file is in the end.

use super::*;
use proptest::prelude::*;

struct Told {
    events: Vec<Event>,
    warnings: Vec<Warning>,
    file: String,
}

/// What is reported of these pieces, each appended before a look at second 1, 2, …
fn follow(pieces: &[&str]) -> Told {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let mut file = EventFile::create(&path).unwrap();
    let mut append = fs::OpenOptions::new().append(true).open(&path).unwrap();
    let mut events = Vec::new();
    let mut now = 0.0;
    for piece in pieces {
        append.write_all(piece.as_bytes()).unwrap();
        now += 1.0;
        file.poll(now, |event| events.push(event)).unwrap();
    }
    let warnings = file.finish(now + 1.0, |event| events.push(event)).unwrap();
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        1,
        "nothing is left beside it"
    );
    Told {
        events,
        warnings,
        file: fs::read_to_string(&path).unwrap(),
    }
}

fn note(at: f64, text: &str) -> Event {
    Event {
        at: Some(at),
        kind: EventKind::Note {
            text: text.to_owned(),
        },
    }
}

#[test]
fn a_file_in_order_stays_as_it_is() {
    let text = "{\"event\":\"note\", \"extra\":1, \"text\":\"a\",\"at\":5.5}\n";
    let reported = follow(&[text]);
    assert_eq!(reported.events, [note(5.5, "a")]);
    assert_eq!(reported.warnings, []);
    assert_eq!(reported.file, text);
}

#[test]
fn the_moment_of_reading_is_filled_in_and_written_down() {
    let reported = follow(&[
        "{\"at\":0.5,\"event\":\"note\",\"text\":\"a\"}\n{\"event\":\"note\",",
        "\"text\":\"b\"}\n",
        "{\"at\":9,\"event\":\"note\",\"text\":\"c\"}",
    ]);
    assert_eq!(
        reported.events,
        [note(0.5, "a"), note(2.0, "b"), note(9.0, "c")]
    );
    assert_eq!(
        reported.file,
        "{\"at\":0.5,\"event\":\"note\",\"text\":\"a\"}\n\
         {\"at\":2.0,\"event\":\"note\",\"text\":\"b\"}\n\
         {\"at\":9,\"event\":\"note\",\"text\":\"c\"}\n"
    );
}

#[test]
fn what_is_no_event_is_counted_and_left_out() {
    let long = format!(
        "{{\"event\":\"note\",\"text\":\"{}\"}}\n",
        "x".repeat(70_000)
    );
    let reported = follow(&[
        "{\"at\":1,\"event\":\"note\",\"text\":\"a\"}\n",
        "hello\n\n{\"event\":\"no-such\"}\n",
        &long,
        "{\"at\":2,\"event\":\"note\",\"text\":\"b\"}\n",
    ]);
    assert_eq!(reported.events, [note(1.0, "a"), note(2.0, "b")]);
    assert_eq!(
        reported.warnings,
        [Warning::BadEvents {
            lines: 3,
            first: "hello".to_owned()
        }]
    );
    assert!(
        !reported.file.contains("hello") && !reported.file.contains("xxx"),
        "{}",
        reported.file
    );
}

#[test]
fn a_loss_that_is_not_a_number_is_no_mistake() {
    let reported = follow(&["{\"at\":1,\"event\":\"step\",\"step\":3,\"loss\":NaN}\n"]);
    let kind = EventKind::Step {
        step: 3,
        epoch: None,
        loss: None,
        seconds: None,
        images: None,
    };
    assert_eq!(
        reported.events,
        [Event {
            at: Some(1.0),
            kind
        }]
    );
    assert_eq!(reported.warnings, []);
    assert_eq!(
        reported.file,
        "{\"at\":1.0,\"event\":\"step\",\"step\":3}\n"
    );
}

#[test]
fn texts_keep_their_nan() {
    let check = |line: &str, expected: Option<&str>| {
        assert_eq!(without_nan(line).as_deref(), expected, "{line}");
    };
    check(
        r#"{"a":-Infinity,"b":"NaN \" NaN"}"#,
        Some(r#"{"a":null,"b":"NaN \" NaN"}"#),
    );
    check(r#"{"a":1}"#, None);
}

#[test]
fn events_of_the_log_are_written_among_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let mut file = EventFile::create(&path).unwrap();
    fs::write(
        &path,
        "{\"at\":1,\"event\":\"note\",\"text\":\"a\"}\n{\"at\":3,",
    )
    .unwrap();
    file.poll(1.0, |_| ()).unwrap();
    file.add(&note(2.0, "log")).unwrap();
    let mut append = fs::OpenOptions::new().append(true).open(&path).unwrap();
    append
        .write_all(b"\"event\":\"note\",\"text\":\"b\"}\n")
        .unwrap();
    file.finish(9.0, |_| ()).unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "{\"at\":1,\"event\":\"note\",\"text\":\"a\"}\n\
         {\"at\":2.0,\"event\":\"note\",\"text\":\"log\"}\n\
         {\"at\":3,\"event\":\"note\",\"text\":\"b\"}\n"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_cut_gives_the_same_lines(text in "[ab\n]{0,60}", cuts in proptest::collection::vec(0_usize..60, 0..6)) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let mut lines = Lines::default();
        let mut seen: Vec<Line> =
            cuts.windows(2).flat_map(|w| lines.push(&text.as_bytes()[w[0]..w[1]])).collect();
        seen.extend(lines.finish());
        let texts: Vec<String> = seen.iter()
            .map(|line| String::from_utf8(line.bytes.clone().unwrap()).unwrap()).collect();
        prop_assert_eq!(texts, text.lines().map(str::to_owned).collect::<Vec<_>>());
        for line in &seen {
            let begin = line.begin as usize;
            prop_assert!(begin == 0 || text.as_bytes()[begin - 1] == b'\n');
        }
    }

    #[test]
    fn any_line_is_survived(line: Vec<u8>) {
        let _ = parse(&line);
    }
}

#[test]
fn accuracy_in_percent_becomes_a_fraction() {
    let check = |line: &str, expected: Option<&str>| {
        let reported = follow(&[&format!("{line}\n")]);
        let file = expected.map_or(String::new(), |line| format!("{line}\n"));
        assert_eq!(reported.file, file);
        let first = line.to_owned();
        let bad = expected.is_none();
        let warning = bad.then_some(Warning::BadEvents { lines: 1, first });
        assert_eq!(reported.warnings, Vec::from_iter(warning));
        let written = expected.map(|line| serde_json::from_str::<Event>(line).unwrap());
        assert_eq!(reported.events, Vec::from_iter(written));
    };
    let accuracy = |value: &str| format!(r#"{{"at":1.0,"event":"accuracy","value":{value}}}"#);
    check(&accuracy("0.97"), Some(&accuracy("0.97")));
    check(&accuracy("97"), Some(&accuracy("0.97")));
    check(&accuracy("-0.5"), None);
    check(&accuracy("101"), None);
    let epoch =
        |value: &str| format!(r#"{{"at":1.0,"event":"epoch","epoch":1,"accuracy":{value}}}"#);
    check(&epoch("0.5"), Some(&epoch("0.5")));
    check(&epoch("50"), Some(&epoch("0.5")));
    check(&epoch("-1"), None);
}

#[test]
fn what_is_beyond_the_limit_counts_but_is_not_kept() {
    let line =
        |number: u32| format!("{{\"event\":\"note\",\"text\":\"{number}\",\"at\":{number}}}\n");
    let check = |most_lines: u64, expected_lines: usize, expected_left_out: Option<u64>| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let mut file = EventFile::create(&path).unwrap();
        file.kept.most_bytes = most_lines * line(1).len() as u64;
        let text: String = (1..=5).map(line).collect();
        fs::write(&path, text + "\n").unwrap();
        let mut reported = 0;
        file.poll(9.0, |_| reported += 1).unwrap();
        // One of the log's.
        file.add(&note(7.0, "x")).unwrap();
        let warnings = file.finish(9.0, |_| reported += 1).unwrap();
        assert_eq!(reported, 5, "all are reported");
        let left_out = warnings.iter().map(|warning| match warning {
            Warning::EventsCut { left_out, .. } => *left_out,
            other => panic!("{other}"),
        });
        assert_eq!(left_out.reduce(|a, b| a + b), expected_left_out);
        let kept = fs::read_to_string(&path).unwrap();
        let kept: Vec<&str> = kept.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(kept.len(), expected_lines, "{kept:?}");
    };
    check(100, 6, None);
    check(5, 5, Some(1));
    check(3, 3, Some(3));
    check(0, 0, Some(6));
}

/// A line without its time is written with it, and is longer than the workload wrote it.
#[test]
fn the_limit_is_that_of_the_file_that_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let mut file = EventFile::create(&path).unwrap();
    file.kept.most_bytes = 1000;
    fs::write(&path, "{\"event\":\"note\",\"text\":\"x\"}\n".repeat(30)).unwrap();
    let warnings = file.finish(9.0, |_| {}).unwrap();
    let bytes = fs::metadata(&path).unwrap().len();
    assert!((900..=1000).contains(&bytes), "{bytes} bytes, {warnings:?}");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
}
