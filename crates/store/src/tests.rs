//! Killed after every step: what the next program finds.

use std::fs;
use std::path::Path;

use model::study::FactorLevel;
use model::{Level, RunId, RunRecord, Scenario, Status};

use crate::staging::{STEPS, Step};
use crate::{Arranged, ImportedFile, Store, StoreError, StudyIdentity, bundle, files};

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
        "fingerprint": "", "origin": {"kind": "measured", "bancada": "0"},
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
            let log = fs::read_to_string(reader.shared.layout.current(run()).join("log.txt"));
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
            .starts_with("no disk space left to write /dev/full: free some"),
        "{error}"
    );
}

#[test]
fn temporaries_of_killed_programs_are_removed_and_those_of_living_ones_kept() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = Store::create_or_open(dir.path(), &identity()).expect("opens");
    let mine = format!(".report.html.{}-0.part", std::process::id());
    // Above the largest process id Linux gives.
    for name in [".report.html.4194305-0.part", mine.as_str(), "notes.part"] {
        fs::write(dir.path().join(name), "half").expect("writes");
    }
    let _lock = store.lock().expect("locks");
    let left = |name: &str| dir.path().join(name).exists();
    assert!(!left(".report.html.4194305-0.part") && left(&mine) && left("notes.part"));
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

/// A run of level `level`, kept under this number.
fn leveled(number: u32, repetition: u32, level: i64) -> RunRecord {
    let mut record = record(Status::Ok, level as f64 + f64::from(repetition) / 10.0);
    record.run = RunId::new(number, repetition);
    record.scenario = scenario(number, level);
    record
}

fn scenario(number: u32, level: i64) -> Scenario {
    let level = FactorLevel {
        factor: "n".to_owned(),
        level: Level::Int(level),
    };
    Scenario {
        number,
        levels: vec![level],
    }
}

/// The study with these levels, numbered from 1; runs of any other level are not its own.
fn study_of(levels: &[i64]) -> impl Fn(&RunRecord) -> Option<Scenario> {
    let levels = levels.to_vec();
    move |record| {
        let is = |level: &&i64| record.scenario.levels == scenario(1, **level).levels;
        let place = levels.iter().position(|level| is(&level))?;
        Some(scenario(place as u32 + 1, levels[place]))
    }
}

fn kept(dir: &Path, records: &[RunRecord]) -> Store {
    let store = Store::create_or_open(dir, &identity()).expect("opens");
    let _lock = store.lock().expect("locks");
    for record in records {
        let staging = store.begin(record.run).expect("begins");
        let log = staging.folder().join("log.txt");
        fs::write(log, record.seconds.to_string()).expect("writes");
        staging.commit(record).expect("commits");
    }
    store
}

/// Every run of the store with its seconds, which its log has too.
fn runs(store: &Store) -> Vec<String> {
    let said = |record: RunRecord| {
        let log = fs::read_to_string(store.shared.layout.current(record.run).join("log.txt"));
        assert_eq!(log.expect("the log"), record.seconds.to_string());
        assert_eq!(record.scenario.number, record.run.scenario);
        format!("{} {}", record.run, record.seconds)
    };
    store
        .records()
        .expect("records")
        .into_iter()
        .map(said)
        .collect()
}

fn arranged(store: &Store, levels: &[i64]) -> Arranged {
    let _lock = store.lock().expect("locks");
    store.arrange(&study_of(levels)).expect("arranges")
}

#[test]
fn runs_follow_their_scenarios_to_new_numbers() {
    let dir = tempfile::tempdir().expect("a folder");
    let two = [leveled(1, 1, 20), leveled(1, 2, 20), leveled(2, 1, 40)];
    let store = kept(dir.path(), &two);
    assert_eq!(arranged(&store, &[20, 40]), Arranged::default());
    // A level between them, and one before them all: every number moves, over one another.
    let moved = arranged(&store, &[10, 20, 30, 40]);
    assert_eq!((moved.renumbered.len(), moved.set_aside.len()), (3, 0));
    assert_eq!(runs(&store), ["C2-r1 20.1", "C2-r2 20.2", "C4-r1 40.1"]);
    arranged(&store, &[40, 20]);
    assert_eq!(runs(&store), ["C1-r1 40.1", "C2-r1 20.1", "C2-r2 20.2"]);
    // A level that goes takes its runs out of the way, and brings them back.
    let gone = arranged(&store, &[40]);
    let names: Vec<String> = gone.set_aside.iter().map(|s| s.run.to_string()).collect();
    assert_eq!(names, ["C2-r1", "C2-r2"]);
    assert!(gone.set_aside.iter().all(|aside| aside.path.exists()));
    assert_eq!(runs(&store), ["C1-r1 40.1"]);
    assert_eq!(store.set_aside().expect("reads").len(), 2);
    assert_eq!(arranged(&store, &[40]), Arranged::default());
    let back = arranged(&store, &[20, 40]);
    assert_eq!((back.restored.len(), back.renumbered.len()), (2, 1));
    assert_eq!(runs(&store), ["C1-r1 20.1", "C1-r2 20.2", "C2-r1 40.1"]);
}

#[test]
fn killed_while_arranging_no_run_is_lost() {
    let two = [leveled(1, 1, 20), leveled(1, 2, 20), leveled(2, 1, 40)];
    // Moved aside so far, given their new number so far, and put in their place so far.
    for (aside, numbered, placed) in [
        (0, 0, 0),
        (1, 0, 0),
        (3, 0, 0),
        (3, 1, 0),
        (3, 1, 1),
        (3, 3, 2),
        (3, 3, 3),
    ] {
        let dir = tempfile::tempdir().expect("a folder");
        let store = kept(dir.path(), &two);
        let layout = store.shared.layout.clone();
        let new_number = study_of(&[10, 20, 30, 40]);
        let lock = store.lock().expect("locks");
        let set_aside = |old: &RunRecord| {
            let path = crate::layout::next_name(&layout.aside(), old.run).expect("a name");
            files::rename(&layout.bundle(old.run), &path).expect("moves");
            path
        };
        let paths: Vec<_> = two.iter().take(aside).map(set_aside).collect();
        for (place, (old, path)) in two.iter().zip(paths).enumerate() {
            let mut record = old.clone();
            record.scenario = new_number(old).expect("is of the study");
            record.run.scenario = record.scenario.number;
            if place < numbered {
                bundle::write_record(&path, &record, Vec::new(), bundle::write_synced)
                    .expect("writes");
            }
            if place < placed {
                files::rename(&path, &layout.bundle(record.run)).expect("moves");
            }
        }
        drop(lock);
        let next = Store::create_or_open(dir.path(), &identity()).expect("opens");
        arranged(&next, &[10, 20, 30, 40]);
        let state = format!("{aside} aside, {numbered} numbered, {placed} placed");
        assert_eq!(
            runs(&next),
            ["C2-r1 20.1", "C2-r2 20.2", "C4-r1 40.1"],
            "{state}"
        );
        let left = crate::layout::names(&layout.aside()).expect("names");
        assert_eq!(left, Vec::<String>::new(), "{state}");
    }
}

#[test]
fn a_folder_of_which_nothing_came_is_taken_away_again() {
    let dir = tempfile::tempdir().expect("a folder");
    let results = dir.path().join("results/study");
    let open = || {
        let store = Store::create_or_open(&results, &identity()).expect("opens");
        let lock = store.lock().expect("locks");
        (store, lock)
    };
    let (store, lock) = open();
    store.remove_if_empty(lock);
    assert!(!dir.path().join("results").exists(), "parents go too");
    let (store, lock) = open();
    fs::write(results.join("notes.txt"), "mine").expect("writes");
    store.remove_if_empty(lock);
    let left = crate::layout::names(&results).expect("names");
    assert_eq!(left, ["notes.txt"], "what is not ours stays");
    // A folder that was there before stays.
    let (store, lock) = open();
    store.remove_if_empty(lock);
    assert!(results.join("runs").exists());
    // A second program that had opened the lock before it was removed does not hold it.
    fs::remove_dir_all(&results).expect("removes");
    let (first, lock) = open();
    let second = Store::create_or_open(&results, &identity()).expect("opens");
    first.remove_if_empty(lock);
    assert!(second.lock().is_err(), "its folder is gone");
}

#[test]
fn imported_runs_follow_their_scenarios_and_none_is_lost() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut store = Store::create_or_open(dir.path(), &identity()).expect("opens");
    let imported = |number: u32, repetition: u32, level: i64| {
        let mut record = leveled(number, repetition, level);
        record.origin = model::run::Origin::Imported {
            file: "old.csv".to_owned(),
            line: level as u64,
            undated: false,
        };
        record
    };
    let rows = vec![imported(1, 1, 20), imported(1, 2, 20), imported(2, 1, 40)];
    store.add_imported(rows).expect("imports");
    let names = |store: &Store| -> Vec<String> {
        let records = store.records().expect("records").into_iter();
        records
            .map(|r| format!("{} {}", r.run, r.seconds))
            .collect()
    };
    let moved = arranged(&store, &[10, 20, 30, 40]);
    assert_eq!((moved.renumbered.len(), moved.set_aside.len()), (3, 0));
    assert_eq!(names(&store), ["C2-r1 20.1", "C2-r2 20.2", "C4-r1 40.1"]);
    let gone = arranged(&store, &[40]);
    assert_eq!((gone.renumbered.len(), gone.set_aside.len()), (1, 2));
    assert_eq!(names(&store), ["C1-r1 40.1"]);
    let kept = fs::read_to_string(&gone.set_aside[0].path).expect("the whole file");
    assert_eq!(kept.lines().count(), 1 + 3);
    assert_eq!(arranged(&store, &[40]), Arranged::default());
}
