//! Killed after every step: what the next program finds.

use std::fs;
use std::path::Path;

use model::{RunId, RunRecord, Status};

use crate::staging::{STEPS, Step};
use crate::{ImportedFile, Store, StoreError, StudyIdentity, files};

fn identity() -> StudyIdentity {
    StudyIdentity {
        name: "study".to_owned(),
        fingerprint: "f".to_owned(),
    }
}

/// As small as a record can be; the integration tests use full ones.
fn record(status: Status, seconds: f64) -> RunRecord {
    let text = serde_json::json!({
        "schema": 1, "study": "study", "run": "C1-r1", "scenario": {"number": 1, "levels": []},
        "origin": {"kind": "measured", "bancada": "0"},
        "outcome": {"status": status, "detail": null, "exit_code": 0, "signal": null},
        "started": "2024-03-01T00:00:00Z", "seconds": seconds, "phases": [], "epochs": [], "metrics": {},
        "environment": {"name": "local", "limits": {"cores": null, "memory_bytes": null}, "limits_by": "none",
                        "device": null},
        "command": [], "machine": model::Inventory::default(), "price": null, "bill": null, "warnings": []
    });
    serde_json::from_value(text).expect("a record")
}

fn run() -> RunId {
    "C1-r1".parse().expect("a run")
}

fn seconds(store: &Store) -> Vec<f64> {
    store
        .records()
        .expect("records")
        .iter()
        .map(|r| r.seconds)
        .collect()
}

/// Carries out the first `steps` of keeping a run, and is gone.
fn killed_after(steps: usize, dir: &Path, record: &RunRecord) {
    let store = Store::create_or_open(dir, &identity()).expect("opens");
    let lock = store.lock().expect("locks");
    let mut staging = store.begin(run()).expect("begins");
    fs::write(staging.folder().join("log.txt"), record.seconds.to_string()).expect("writes");
    for &step in &STEPS[..steps] {
        staging.carry_out(step, record).expect("carries out");
    }
    // A killed program drops nothing; the kernel lets go of the lock.
    std::mem::forget(staging);
    drop(lock);
}

fn sealed(steps: usize) -> bool {
    STEPS[..steps].contains(&Step::Seal)
}

#[test]
fn a_first_attempt_is_there_from_the_seal_on() {
    for steps in 0..=STEPS.len() {
        let dir = tempfile::tempdir().expect("a folder");
        killed_after(steps, dir.path(), &record(Status::Ok, 2.0));
        let expected = if sealed(steps) { vec![2.0] } else { vec![] };

        let reader = Store::open(dir.path()).expect("opens");
        assert_eq!(
            seconds(&reader),
            expected,
            "a reader, killed after {steps} steps"
        );
        if sealed(steps) {
            let log = fs::read_to_string(reader.bundle_path(run()).join("log.txt"));
            assert_eq!(log.expect("the log"), "2");
        }

        let writer = Store::create_or_open(dir.path(), &identity()).expect("opens");
        let _lock = writer.lock().expect("locks");
        assert_eq!(
            seconds(&writer),
            expected,
            "a writer, killed after {steps} steps"
        );
        assert_eq!(dir.path().join("runs/C1-r1").exists(), sealed(steps));
        assert_eq!(
            hidden(dir.path()),
            Vec::<String>::new(),
            "left-overs after {steps} steps"
        );
    }
}

#[test]
fn a_retry_takes_the_place_of_the_failed_attempt_which_is_kept() {
    for steps in 0..=STEPS.len() {
        let dir = tempfile::tempdir().expect("a folder");
        killed_after(STEPS.len(), dir.path(), &record(Status::Failed, 1.0));
        killed_after(steps, dir.path(), &record(Status::Ok, 2.0));
        let expected = if sealed(steps) { vec![2.0] } else { vec![1.0] };

        let reader = Store::open(dir.path()).expect("opens");
        assert_eq!(
            seconds(&reader),
            expected,
            "a reader, killed after {steps} steps"
        );

        let writer = Store::create_or_open(dir.path(), &identity()).expect("opens");
        let lock = writer.lock().expect("locks");
        assert_eq!(
            seconds(&writer),
            expected,
            "a writer, killed after {steps} steps"
        );
        let old = fs::read_to_string(dir.path().join("runs/.old/C1-r1.1/log.txt")).ok();
        assert_eq!(
            old.as_deref(),
            sealed(steps).then_some("1"),
            "the old attempt after {steps} steps"
        );
        drop(lock);

        // Whatever was found, a further attempt counts once and alone.
        killed_after(STEPS.len(), dir.path(), &record(Status::Ok, 3.0));
        let store = Store::open(dir.path()).expect("opens");
        assert_eq!(seconds(&store), [3.0]);
        let superseded = store
            .superseded()
            .expect("reads")
            .into_iter()
            .map(|r| r.seconds);
        let expected = if sealed(steps) {
            vec![1.0, 2.0]
        } else {
            vec![1.0]
        };
        assert_eq!(superseded.collect::<Vec<f64>>(), expected);
    }
}

#[test]
fn an_import_is_there_whole_or_not_at_all() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut store = Store::create_or_open(dir.path(), &identity()).expect("opens");
    let layout = store.shared.layout.clone();
    let records: Vec<RunRecord> = (1..=3)
        .map(|repetition| {
            let mut record = record(Status::Ok, f64::from(repetition));
            record.run.repetition = repetition;
            record
        })
        .collect();
    let log = |_: &RunRecord| {
        vec![ImportedFile {
            name: "log.txt",
            bytes: b"a log".to_vec(),
        }]
    };
    store.add_imported_with(records, &log).expect("imports");

    // Killed before the seal.
    let back = |name: &str, to: &Path| {
        files::rename(&layout.runs().join(name), &to.join(name)).expect("moves")
    };
    fs::create_dir(layout.import_partial()).expect("creates");
    for name in ["C1-r1", "C1-r2", "C1-r3"] {
        back(name, &layout.import_partial());
    }
    assert_eq!(
        seconds(&Store::open(dir.path()).expect("opens")),
        Vec::<f64>::new()
    );

    // Killed after the seal, with one moved already.
    files::rename(&layout.import_partial(), &layout.import_whole()).expect("moves");
    files::rename(
        &layout.import_whole().join("C1-r2"),
        &layout.runs().join("C1-r2"),
    )
    .expect("moves");
    assert_eq!(
        seconds(&Store::open(dir.path()).expect("opens")),
        [1.0, 2.0, 3.0]
    );
    let _lock = store.lock().expect("locks");
    assert_eq!(seconds(&store), [1.0, 2.0, 3.0]);
    assert!(layout.bundle(run()).exists() && !layout.import_whole().exists());
}

#[test]
fn a_device_that_is_full_is_told_as_such() {
    let error =
        files::write_synced(Path::new("/dev/full"), b"some bytes").expect_err("cannot be written");
    assert!(matches!(error, StoreError::DiskFull { .. }), "{error}");
    assert!(
        error
            .to_string()
            .starts_with("no space left on the disk to write /dev/full: free some"),
        "{error}"
    );
}

#[test]
fn temporaries_of_killed_programs_are_removed_and_those_of_living_ones_kept() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = Store::create_or_open(dir.path(), &identity()).expect("opens");
    let mine = format!(".report.html.{}.tmp", std::process::id());
    // Above the largest process id Linux gives.
    for name in [".report.html.4194305.tmp", mine.as_str(), "notes.tmp"] {
        fs::write(dir.path().join(name), "half").expect("writes");
    }
    let _lock = store.lock().expect("locks");
    let left = |name: &str| dir.path().join(name).exists();
    assert!(!left(".report.html.4194305.tmp") && left(&mine) && left("notes.tmp"));
}

fn hidden(dir: &Path) -> Vec<String> {
    let names = crate::layout::names(&dir.join("runs")).expect("names");
    names
        .into_iter()
        .filter(|n| n.starts_with('.') && n != ".old")
        .collect()
}

#[test]
fn another_study_cannot_take_a_folder_whose_first_run_is_under_way() {
    let dir = tempfile::tempdir().expect("a folder");
    let first = Store::create_or_open(dir.path(), &identity()).expect("opens");
    let _lock = first.lock().expect("locks");
    let other = crate::StudyIdentity {
        name: "other".into(),
        fingerprint: "other".into(),
    };
    let second = Store::create_or_open(dir.path(), &other).expect("nothing is kept yet");
    assert!(second.lock().is_err());
    let reader = Store::open(dir.path()).expect("opens");
    assert_eq!(reader.identity(), &identity());
}
