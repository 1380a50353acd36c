//! What is kept is returned, once, whatever happened to the index.

#![expect(clippy::expect_used, reason = "what is not expected fails the test")]

mod common;

use std::fs;
use std::path::Path;

use common::{failed, identity, imported, keep, ok, run, writer};
use model::{RunRecord, Status};
use store::{ImportedFile, Store, StoreError};

fn records(dir: &Path) -> Vec<RunRecord> {
    Store::open(dir).expect("opens").records().expect("records")
}

#[test]
fn records_come_back_as_they_were_in_order() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = writer(dir.path());
    let _lock = store.lock().expect("locks");
    let kept = [
        ok("C10-r1", 0.1 + 0.2),
        ok("C2-r1", 1.0 / 3.0),
        failed("C2-r10", 2.5),
        ok("C2-r2", 1e-300),
    ];
    for record in &kept {
        keep(&store, record);
    }
    let expected = [&kept[1], &kept[3], &kept[2], &kept[0]].map(Clone::clone);
    assert_eq!(store.records().expect("records"), expected);
    assert_eq!(records(dir.path()), expected);
    let statuses = store.statuses().expect("statuses");
    assert_eq!(statuses[&run("C2-r10")], Status::Failed);
    assert_eq!(statuses.len(), 4);
    let log = store.read_run_file(run("C2-r10"), "log.txt");
    assert_eq!(log.expect("the log"), Some(b"2.5".to_vec()));
}

#[test]
fn a_run_not_committed_never_happened() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = writer(dir.path());
    let _lock = store.lock().expect("locks");
    let staging = store.begin(run("C1-r1")).expect("begins");
    let folder = staging.folder().to_path_buf();
    assert!(folder.exists());
    drop(staging);
    assert!(!folder.exists());
    assert_eq!(store.statuses().expect("statuses").len(), 0);
}

#[test]
fn a_run_is_begun_once_at_a_time() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = writer(dir.path());
    let _lock = store.lock().expect("locks");
    let first = store.begin(run("C1-r1")).expect("begins");
    fs::write(first.folder().join("log.txt"), "mine").expect("writes");
    let error = store.begin(run("C1-r1")).expect_err("is under way");
    assert!(matches!(error, StoreError::AlreadyBegun { .. }), "{error}");
    assert!(
        first.folder().join("log.txt").exists(),
        "the first goes on undisturbed"
    );
    let other = store.begin(run("C1-r2")).expect("another run begins");
    drop((first, other));
    store.begin(run("C1-r1")).expect("begins again");
}

#[test]
fn the_record_must_be_of_the_run_begun() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = writer(dir.path());
    let _lock = store.lock().expect("locks");
    let staging = store.begin(run("C1-r1")).expect("begins");
    let error = staging
        .commit(&ok("C1-r2", 1.0))
        .expect_err("is of another run");
    assert!(matches!(error, StoreError::BadRecord { .. }), "{error}");
    assert_eq!(store.records().expect("records"), []);
}

#[test]
fn a_metric_that_is_no_number_is_left_out() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = writer(dir.path());
    let _lock = store.lock().expect("locks");
    let mut diverged = ok("C1-r1", 1.0);
    for (name, value) in [("loss", f64::NAN), ("epoch_seconds", f64::INFINITY)] {
        diverged.metrics.get_mut(name).expect("the metric").value = value;
    }
    keep(&store, &diverged);
    diverged.metrics.retain(|_, m| m.value.is_finite());
    assert_eq!(records(dir.path()), [diverged]);
}

#[test]
fn a_retry_counts_once_and_keeps_every_old_attempt() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = writer(dir.path());
    let _lock = store.lock().expect("locks");
    keep(&store, &failed("C1-r1", 1.0));
    keep(&store, &failed("C1-r1", 2.0));
    keep(&store, &ok("C1-r1", 3.0));
    assert_eq!(store.records().expect("records"), [ok("C1-r1", 3.0)]);
    for (attempt, seconds) in [("C1-r1.1", "1"), ("C1-r1.2", "2")] {
        let log = dir.path().join("runs/.old").join(attempt).join("log.txt");
        assert_eq!(fs::read_to_string(log).expect("the log"), seconds);
    }
}

/// Any way of spoiling the index, and the results are what they were.
#[test]
fn a_spoilt_index_is_made_anew() {
    type Spoil = fn(&Path);
    let ways: [(&str, Spoil); 6] = [
        ("missing", |path| fs::remove_file(path).expect("removes")),
        ("empty", |path| fs::write(path, "").expect("writes")),
        ("no database", |path| {
            fs::write(
                path,
                "not a database, long enough to have a header ".repeat(90),
            )
            .expect("writes")
        }),
        ("broken pages", |path| {
            let mut bytes = fs::read(path).expect("reads");
            bytes[100..].iter_mut().for_each(|byte| *byte ^= 0x5a);
            fs::write(path, bytes).expect("writes");
        }),
        ("cut short", |path| {
            let bytes = fs::read(path).expect("reads");
            fs::write(path, &bytes[..bytes.len() / 2]).expect("writes");
        }),
        ("another schema", |path| {
            let file = rusqlite::Connection::open(path).expect("opens");
            file.execute_batch(
                "DROP TABLE records; CREATE TABLE records (a); PRAGMA user_version = 3;",
            )
            .expect("runs");
        }),
    ];
    for (name, spoil) in ways {
        let dir = tempfile::tempdir().expect("a folder");
        let store = writer(dir.path());
        let lock = store.lock().expect("locks");
        let kept: Vec<RunRecord> = (1..=20)
            .map(|n| ok(&format!("C{n}-r1"), f64::from(n)))
            .collect();
        kept.iter().for_each(|record| keep(&store, record));
        drop((lock, store));
        spoil(&dir.path().join("store.sqlite"));
        assert_eq!(records(dir.path()), kept, "{name}");
        let store = writer(dir.path());
        let _lock = store.lock().expect("locks");
        keep(&store, &ok("C21-r1", 21.0));
        assert_eq!(records(dir.path()).len(), 21, "{name}, and written again");
    }
}

#[test]
fn a_broken_page_among_the_records_is_repaired_on_reading() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = writer(dir.path());
    let lock = store.lock().expect("locks");
    let kept: Vec<RunRecord> = (1..=50)
        .map(|n| ok(&format!("C{n}-r1"), f64::from(n)))
        .collect();
    kept.iter().for_each(|record| keep(&store, record));
    drop((lock, store));
    let path = dir.path().join("store.sqlite");
    let spoilt = rusqlite::Connection::open(&path).expect("opens");
    spoilt
        .execute_batch("UPDATE records SET record = substr(record, 1, 100) WHERE run = 7")
        .expect("runs");
    drop(spoilt);
    assert_eq!(records(dir.path()), kept);
}

#[test]
fn rebuilt_equals_indexed() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = writer(dir.path());
    let lock = store.lock().expect("locks");
    (1..=20).for_each(|n| keep(&store, &ok(&format!("C{n}-r1"), f64::from(n) / 7.0)));
    keep(&store, &failed("C3-r1", 9.0));
    let indexed = store.records().expect("records");
    drop((lock, store));
    fs::remove_file(dir.path().join("store.sqlite")).expect("removes");
    let rebuilt = Store::open(dir.path()).expect("opens");
    assert_eq!(rebuilt.records().expect("records"), indexed);
    assert_eq!((indexed.len(), rebuilt.damaged()), (20, vec![]));
}

#[test]
fn bundles_that_come_go_or_change_are_noticed() {
    let (dir, other) = (
        tempfile::tempdir().expect("a folder"),
        tempfile::tempdir().expect("a folder"),
    );
    for (dir, seconds) in [(&dir, 1.0), (&other, 2.0)] {
        let store = writer(dir.path());
        let _lock = store.lock().expect("locks");
        keep(&store, &ok("C1-r1", seconds));
        keep(&store, &ok("C2-r1", seconds));
    }
    let bundle = |dir: &tempfile::TempDir, name: &str| dir.path().join("runs").join(name);
    fs::remove_dir_all(bundle(&dir, "C1-r1")).expect("removes");
    assert_eq!(records(dir.path()), [ok("C2-r1", 1.0)], "gone");
    fs::rename(bundle(&other, "C1-r1"), bundle(&dir, "C1-r1")).expect("moves");
    assert_eq!(
        records(dir.path()),
        [ok("C1-r1", 2.0), ok("C2-r1", 1.0)],
        "come"
    );
    fs::copy(
        bundle(&other, "C2-r1").join("run.json"),
        bundle(&dir, "C2-r1").join("run.json"),
    )
    .expect("copies");
    assert_eq!(
        records(dir.path()),
        [ok("C1-r1", 2.0), ok("C2-r1", 2.0)],
        "changed"
    );
}

#[test]
fn a_damaged_bundle_is_told_and_the_rest_is_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = writer(dir.path());
    let lock = store.lock().expect("locks");
    (1..=5).for_each(|n| keep(&store, &ok(&format!("C{n}-r1"), 1.0)));
    drop((lock, store));
    let file = |run: &str| dir.path().join("runs").join(run).join("run.json");
    fs::write(file("C1-r1"), "{\"schema\": 1, \"stu").expect("writes");
    fs::write(file("C2-r1"), "{\"schema\": 99}").expect("writes");
    fs::copy(file("C4-r1"), file("C3-r1")).expect("copies");
    fs::remove_file(file("C4-r1")).expect("removes");
    for _ in 0..2 {
        let store = Store::open(dir.path()).expect("opens");
        assert_eq!(store.records().expect("records"), [ok("C5-r1", 1.0)]);
        let damaged = store.damaged();
        let expected = [
            ("C1-r1", "is not a run record"),
            ("C2-r1", "has schema 99"),
            ("C3-r1", "is the record of C4-r1"),
            ("C4-r1", "cannot be read"),
        ];
        assert_eq!(damaged.len(), expected.len());
        for (damaged, (run, why)) in damaged.iter().zip(expected) {
            assert_eq!(damaged.path, file(run));
            assert!(damaged.why.starts_with(why), "{}", damaged.why);
        }
    }
    let store = writer(dir.path());
    let _lock = store.lock().expect("locks");
    keep(&store, &ok("C1-r1", 2.0));
    assert_eq!(
        store.statuses().expect("statuses").len(),
        2,
        "a damaged run can be run again"
    );
    assert!(dir.path().join("runs/.old/C1-r1.1").exists(), "and is kept");
}

#[test]
fn imported_runs_get_free_names_and_are_not_brought_twice() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut store = writer(dir.path());
    let lock = store.lock().expect("locks");
    keep(&store, &ok("C1-r1", 1.0));
    keep(&store, &ok("C1-r3", 1.0));
    drop(lock);
    let rows = [
        imported("C1-r1", 2, 5.0),
        imported("C2-r1", 3, 6.0),
        imported("C1-r2", 4, 7.0),
    ];
    let first = store.add_imported(rows.to_vec()).expect("imports");
    assert_eq!(first.added, [run("C1-r4"), run("C2-r1"), run("C1-r2")]);
    let again = store.add_imported(rows.to_vec()).expect("imports");
    assert_eq!((again.added.len(), again.already_there), (0, 3));
    let changed = store
        .add_imported(vec![imported("C1-r1", 2, 5.5)])
        .expect("imports");
    assert_eq!(changed.added, [run("C1-r5")], "a changed row is a new run");
    let kept = records(dir.path());
    assert_eq!(kept.len(), 6);
    assert_eq!(kept[1], imported("C1-r2", 4, 7.0));
}

#[test]
fn imported_runs_bring_their_files() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut store = writer(dir.path());
    let rows = vec![imported("C1-r1", 2, 5.0), imported("C1-r1", 3, 6.0)];
    let files = |record: &RunRecord| {
        vec![ImportedFile {
            name: "log.txt",
            bytes: record.seconds.to_string().into_bytes(),
        }]
    };
    let added = store.add_imported_with(rows, &files).expect("imports");
    assert_eq!(added.added, [run("C1-r1"), run("C1-r2")]);
    let log = |run: &str| {
        let path = dir.path().join("runs").join(run).join("log.txt");
        fs::read_to_string(path).expect("reads")
    };
    assert_eq!((log("C1-r1").as_str(), log("C1-r2").as_str()), ("5", "6"));
}

#[test]
fn files_are_saved_beside_the_runs_and_only_there() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = writer(dir.path());
    assert_eq!(store.read_file("plan.json").expect("reads"), None);
    store.save_file("plan.json", b"one").expect("saves");
    store.save_file("plan.json", b"two").expect("saves");
    assert_eq!(
        store.read_file("plan.json").expect("reads").as_deref(),
        Some(&b"two"[..])
    );
    for name in ["../plan.json", "runs/x", "/tmp/x", "", ".", "..", "x/"] {
        let error = store.save_file(name, b"").expect_err(name);
        assert!(
            matches!(error, StoreError::BadName { .. }),
            "{name}: {error}"
        );
    }
}

#[test]
fn the_views_of_the_index_can_be_read_by_other_tools() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = writer(dir.path());
    let _lock = store.lock().expect("locks");
    keep(&store, &ok("C7-r2", 3.0));
    let file = rusqlite::Connection::open(dir.path().join("store.sqlite")).expect("opens");
    let query =
        "SELECT m.value, m.unit, l.level FROM metrics m JOIN levels l USING (scenario, repetition)
                 WHERE m.metric = 'total_seconds' AND l.factor = 'batch'";
    let row = file
        .query_row(query, [], |row| {
            Ok((
                row.get::<_, f64>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, i64>(2)?,
            ))
        })
        .expect("a row");
    assert_eq!(row, (1.0, "s".to_owned(), 7));
}

#[test]
fn the_name_of_a_study_is_kept() {
    let dir = tempfile::tempdir().expect("a folder");
    drop(writer(dir.path()));
    assert_eq!(
        Store::open(dir.path()).expect("opens").identity(),
        &identity("study")
    );
}

/// Rows of a table are one file, and runs like all others.
#[test]
fn runs_of_an_import_are_one_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut store = writer(dir.path());
    let rows: Vec<RunRecord> = (1..=50)
        .map(|line| {
            let mut row = imported(&format!("C1-r{line}"), line, line as f64);
            if line == 7 {
                row.outcome = failed("C1-r7", 1.0).outcome;
                row.metrics.clear();
            }
            row
        })
        .collect();
    store.add_imported(rows.clone()).expect("imports");
    store
        .add_imported(vec![imported("C2-r1", 9, 1.5)])
        .expect("imports");
    let names = |folder: &str| {
        let entries = fs::read_dir(dir.path().join(folder)).expect("a folder");
        let mut names: Vec<_> = entries.map(|e| e.expect("an entry").file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names("imports"), ["1.jsonl", "2.jsonl"]);
    assert!(names("runs").is_empty());
    let mut expected = rows.clone();
    expected.push(imported("C2-r1", 9, 1.5));
    assert_eq!(records(dir.path()), expected);
    // The index is only an index.
    fs::remove_file(dir.path().join("store.sqlite")).expect("removes");
    assert_eq!(records(dir.path()), expected);
    // A file that is taken away takes its runs with it, and brings them back.
    let (second, away) = (dir.path().join("imports/2.jsonl"), dir.path().join("away"));
    fs::rename(&second, &away).expect("moves");
    assert_eq!(records(dir.path()), rows);
    fs::rename(&away, &second).expect("moves");
    assert_eq!(records(dir.path()), expected);
}

#[test]
fn a_run_that_is_measured_takes_the_place_of_an_imported_one() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut store = writer(dir.path());
    let rows = vec![imported("C1-r1", 2, 5.0), imported("C1-r2", 3, 6.0)];
    store.add_imported(rows.clone()).expect("imports");
    assert_eq!(store.superseded().expect("reads"), []);
    let lock = store.lock().expect("locks");
    keep(&store, &ok("C1-r1", 1.0));
    drop(lock);
    let expected = [ok("C1-r1", 1.0), rows[1].clone()];
    assert_eq!(records(dir.path()), expected);
    assert_eq!(store.superseded().expect("reads"), rows[..1]);
    fs::remove_file(dir.path().join("store.sqlite")).expect("removes");
    assert_eq!(records(dir.path()), expected);
    fs::remove_dir_all(dir.path().join("runs/C1-r1")).expect("removes");
    assert_eq!(records(dir.path()), rows);
}

#[test]
fn a_line_of_an_import_that_cannot_be_read_is_told() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut store = writer(dir.path());
    let rows = vec![imported("C1-r1", 2, 5.0), imported("C1-r2", 3, 6.0)];
    store.add_imported(rows.clone()).expect("imports");
    let path = dir.path().join("imports/1.jsonl");
    let text = fs::read_to_string(&path).expect("reads");
    let damage = |text: &str, expected: &[RunRecord], why: &str| {
        fs::write(&path, text).expect("writes");
        for _ in 0..2 {
            let store = Store::open(dir.path()).expect("opens");
            assert_eq!(store.records().expect("records"), expected);
            let damaged = store.damaged();
            assert_eq!(damaged.len(), 1, "{damaged:?}");
            assert!(damaged[0].why.contains(why), "{damaged:?}");
        }
    };
    damage(&text[..text.len() - 10], &rows[..1], "line 3 is not a run");
    damage("{}\n", &[], "line 1 is not the header of an import");
    let newer = text.replace("{\"common\"", "{\"schema\":9,\"common\"");
    damage(
        &newer.replacen("\"schema\":1", "\"schema\":9", 2),
        &[],
        "use a newer one",
    );
    fs::write(&path, &text).expect("writes");
    assert_eq!(records(dir.path()), rows);
}

/// What is said of a bundle whose `log.txt` something happened to.
fn damage(happens: impl Fn(&Path)) -> Vec<String> {
    let dir = tempfile::tempdir().expect("a folder");
    let store = writer(dir.path());
    let lock = store.lock().expect("locks");
    for id in ["C1-r1", "C1-r2"] {
        keep(&store, &ok(id, 1.25));
    }
    drop(lock);
    happens(&dir.path().join("runs/C1-r1/log.txt"));
    let told = |store: &Store| {
        let damaged = store.damaged_files().expect("looks");
        let told = damaged.iter().map(|damaged| {
            let path = damaged.path.strip_prefix(dir.path()).expect("inside");
            format!("{}: {}", path.display(), damaged.why)
        });
        told.collect::<Vec<String>>()
    };
    let found = told(&Store::open(dir.path()).expect("opens"));
    assert_eq!(records(dir.path()).len(), 2, "the runs count all the same");
    // The index knows no more than the bundles.
    fs::remove_file(dir.path().join("store.sqlite")).expect("removes the index");
    assert_eq!(told(&Store::open(dir.path()).expect("opens")), found);
    found
}

#[test]
fn files_that_are_not_what_was_kept_are_named() {
    let written = |text: &'static str| move |log: &Path| fs::write(log, text).expect("writes");
    let nothing: [&str; 0] = [];
    assert_eq!(damage(|_| ()), nothing);
    assert_eq!(damage(written("1.25")), nothing, "written anew, the same");
    assert_eq!(
        damage(written("1.26")),
        ["runs/C1-r1/log.txt: its content has changed since the run was kept"]
    );
    assert_eq!(
        damage(written("1")),
        ["runs/C1-r1/log.txt: it has 1 bytes, and had 4 when the run was kept"]
    );
    assert_eq!(
        damage(|log| fs::remove_file(log).expect("removes")),
        ["runs/C1-r1/log.txt: it is missing"]
    );
    let folder_instead = |log: &Path| {
        fs::remove_file(log).expect("removes");
        fs::create_dir(log).expect("makes a folder");
    };
    assert_eq!(
        damage(folder_instead),
        ["runs/C1-r1/log.txt: it is a folder, not a regular file"]
    );
}

#[test]
fn a_bundle_of_an_earlier_version_says_nothing_of_its_files() {
    let without = |log: &Path| {
        let path = log.with_file_name("run.json");
        let text = fs::read_to_string(&path).expect("a record");
        let mut record: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        record.as_object_mut().expect("an object").remove("files");
        fs::write(&path, record.to_string()).expect("writes");
        fs::write(log, "anything").expect("writes");
    };
    let nothing: [&str; 0] = [];
    assert_eq!(damage(without), nothing);
}
