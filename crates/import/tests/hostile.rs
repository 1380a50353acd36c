//! Any text at all: read to the end, without panic, with every row accounted for.

#![expect(clippy::expect_used, reason = "what is not expected fails the test")]

mod common;

use common::{file, plan, spec, study};
use import::{DecimalMark, FilePattern, ImportSpec, RowKind, decode, infer_study, read};
use proptest::prelude::*;

fn any_spec() -> impl Strategy<Value = ImportSpec> {
    let row = prop_oneof![
        Just(RowKind::Run),
        Just(RowKind::Request),
        Just(RowKind::Step)
    ];
    let mark = prop_oneof![
        Just(DecimalMark::Auto),
        Just(DecimalMark::Point),
        Just(DecimalMark::Comma)
    ];
    let delimiter = proptest::option::of(any::<char>());
    (row, mark, delimiter, any::<[bool; 4]>()).prop_map(|(row, mark, delimiter, [a, b, c, d])| {
        let column = |there: bool, name: &str| there.then(|| name.to_owned());
        ImportSpec {
            decimal_mark: Some(mark),
            delimiter,
            repetition_column: column(a, "n"),
            status_column: column(b, "s"),
            started_column: column(c, "at"),
            file_pattern: d.then(|| "{f}-*.csv".parse().expect("a pattern")),
            ..spec(
                row,
                &["f", "g"],
                &[
                    "t=step_seconds:ms",
                    "l=loss:",
                    "x=total_seconds:h",
                    "epoch=",
                    "images=",
                ],
            )
        }
    })
}

/// Text that looks like a table, so that rows are reached.
fn any_table() -> impl Strategy<Value = String> {
    let cell = prop_oneof![
        "[0-9.,eE+-]{0,8}",
        Just("1".to_owned()),
        Just("a".to_owned()),
        Just("1e308".to_owned()),
        Just("oom".to_owned()),
        "[\"a;\t\n-]{0,4}",
        any::<String>(),
    ];
    let row = proptest::collection::vec(cell, 0..12).prop_map(|cells| cells.join(","));
    let rows = proptest::collection::vec(row, 0..12).prop_map(|rows| rows.join("\n"));
    prop_oneof![
        any::<String>(),
        rows.prop_map(|rows| format!("f,g,t,l,x,epoch,images,n,s,at\n{rows}"))
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_is_read(text in any_table(), spec in any_spec(), name in "([a-z]{1,3}-)?[a-z/]{0,4}(.csv)?") {
        let study = study(&[("f", &["a".into(), 1.into()]), ("g", &[1.into(), 2.into()])]);
        let files = [file(&name, &text), file("a-2.csv", &text)];
        let imported = read(&files, &spec, &study, &plan(&study));
        prop_assert!(imported.rows_left_out <= imported.rows_read);
        prop_assert!(imported.records.len() <= imported.rows_read - imported.rows_left_out);
        for record in &imported.records {
            prop_assert!(record.seconds.is_finite() && record.seconds >= 0.0);
            let phases: f64 = record.phases.iter().map(|p| p.seconds).sum();
            prop_assert!((phases - record.seconds).abs() <= 1e-9 * record.seconds);
        }
        let mut runs: Vec<_> = imported.records.iter().map(|r| r.run).collect();
        runs.dedup();
        prop_assert_eq!(runs.len(), imported.records.len(), "every run once");
    }

    #[test]
    fn an_inferred_study_takes_its_rows(text in any_table(), spec in any_spec()) {
        let files = [file("a-2.csv", &text)];
        let inferred = infer_study("old", &files, &spec);
        if inferred.problems.is_empty() && inferred.study.factors.iter().all(|f| f.levels.len() < 20) {
            let imported = read(&files, &spec, &inferred.study, &plan(&inferred.study));
            prop_assert!(imported.problems.iter().all(|p| !p.what.contains("is not a level")), "{:?}", imported.problems);
        }
    }

    #[test]
    fn any_bytes_are_decoded(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        decode(&bytes);
    }

    #[test]
    fn any_pattern_is_taken_or_refused(pattern in any::<String>(), path in any::<String>()) {
        if let Ok(pattern) = pattern.parse::<FilePattern>() {
            let values = pattern.values(&path);
            prop_assert!(values.map_or(true, |v| v.len() == pattern.names().len()));
        }
    }
}
