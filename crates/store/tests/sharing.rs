//! Several programs, several studies, and folders that refuse.

#![expect(clippy::expect_used, reason = "what is not expected fails the test")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{identity, keep, ok, run, writer};
use store::{Store, StoreError};

#[test]
fn two_writers_exclude_each_other() {
    let dir = tempfile::tempdir().expect("a folder");
    let (first, second) = (writer(dir.path()), writer(dir.path()));
    let lock = first.lock().expect("locks");
    let error = second.lock().expect_err("is held");
    let pid = std::process::id();
    assert!(
        matches!(error, StoreError::Locked { pid: Some(holder), .. } if holder == pid),
        "{error:?}"
    );
    assert!(
        error
            .to_string()
            .starts_with(&format!("process {pid} is already writing to ")),
        "{error}"
    );
    let error = second.begin(run("C1-r1")).expect_err("has no lock");
    assert!(matches!(error, StoreError::NotLocked { .. }), "{error}");
    drop(lock);
    second.lock().expect("locks after the first let go");
}

#[test]
fn a_run_under_way_survives_a_second_program_that_tries() {
    let dir = tempfile::tempdir().expect("a folder");
    let first = writer(dir.path());
    let _lock = first.lock().expect("locks");
    let staging = first.begin(run("C1-r1")).expect("begins");
    let second = writer(dir.path());
    assert!(second.lock().is_err());
    staging.commit(&ok("C1-r1", 1.0)).expect("commits");
    assert_eq!(second.records().expect("records"), [ok("C1-r1", 1.0)]);
}

#[test]
fn results_of_another_study_are_not_mixed() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = writer(dir.path());
    Store::create_or_open(dir.path(), &identity("other")).expect("no runs yet: the folder is free");
    drop(store);
    let store = writer(dir.path());
    let lock = store.lock().expect("locks");
    keep(&store, &ok("C1-r1", 1.0));
    drop((lock, store));
    let error =
        Store::create_or_open(dir.path(), &identity("other")).expect_err("is another study");
    let text = error.to_string();
    assert!(
        text.contains(
            "contains results of the study `study`, not of `other`: choose a different folder"
        ),
        "{text}"
    );
    // Bundles alone, copied: the first names the study.
    fs::remove_file(dir.path().join("identity.json")).expect("removes");
    assert_eq!(
        Store::open(dir.path()).expect("opens").identity().name,
        "study"
    );
}

#[test]
fn a_missing_or_damaged_identity_is_not_made_up() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = writer(dir.path());
    let lock = store.lock().expect("locks");
    keep(&store, &ok("C1-r1", 1.0));
    drop((lock, store));
    let path = dir.path().join("identity.json");
    let spoil: [fn(&Path); 2] = [
        |path| fs::remove_file(path).expect("removes"),
        |path| fs::write(path, "{\"name").expect("writes"),
    ];
    for spoil in spoil {
        spoil(&path);
        let store = writer(dir.path());
        let _lock = store.lock().expect("locks");
        assert_eq!(store.recorded_identity().expect("reads"), None);
        // Whoever knows the study says that all runs are of it.
        store
            .arrange(&|record| Some(record.scenario.clone()))
            .expect("arranges");
        let written = store.recorded_identity().expect("reads");
        assert_eq!(written, Some(identity("study")));
    }
}

#[test]
fn a_folder_without_results_is_told_as_such() {
    let dir = tempfile::tempdir().expect("a folder");
    for path in [dir.path().to_path_buf(), dir.path().join("missing")] {
        let error = Store::open(&path).expect_err("contains no results");
        assert!(matches!(error, StoreError::NotResults { .. }), "{error}");
        assert!(
            error
                .to_string()
                .contains("contains no results: run a study first"),
            "{error}"
        );
    }
    assert!(
        !dir.path().join("store.sqlite").exists(),
        "looking leaves nothing behind"
    );
}

#[test]
fn a_reader_sees_whole_runs_while_a_writer_writes() {
    const RUNS: u32 = 60;
    let dir = tempfile::tempdir().expect("a folder");
    let store = writer(dir.path());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _done = SetAtEnd(&done);
            let _lock = store.lock().expect("locks");
            for n in 1..=RUNS {
                keep(&store, &ok(&format!("C{n}-r1"), 1.0));
                // A second attempt of each: the folder changes its content under the reader.
                keep(&store, &ok(&format!("C{n}-r1"), 2.0));
            }
        });
        let mut seen = 0;
        loop {
            let last = done.load(Ordering::SeqCst);
            let reader = Store::open(dir.path()).expect("opens beside the writer");
            let records = reader.records().expect("records");
            assert_eq!(reader.damaged(), []);
            assert!(records.len() >= seen, "{} after {seen}", records.len());
            seen = records.len();
            if last {
                break;
            }
        }
        assert_eq!(seen, RUNS as usize);
    });
    let records = Store::open(dir.path())
        .expect("opens")
        .records()
        .expect("records");
    assert!(records.iter().all(|record| record.seconds == 2.0));
}

/// Also when the thread panics: the other must not wait for ever.
struct SetAtEnd<'a>(&'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn an_index_spoilt_or_removed_under_a_writer_stops_nobody() {
    type Spoil = fn(&Path);
    let ways: [(&str, Spoil); 3] = [
        ("removed", |path| fs::remove_file(path).expect("removes")),
        ("overwritten", |path| {
            let size = fs::metadata(path).expect("has a size").len() as usize;
            fs::write(path, vec![0x5a; size]).expect("writes");
        }),
        ("emptied", |path| fs::write(path, "").expect("writes")),
    ];
    for (name, spoil) in ways {
        let dir = tempfile::tempdir().expect("a folder");
        let store = writer(dir.path());
        let lock = store.lock().expect("locks");
        keep(&store, &ok("C1-r1", 1.0));
        keep(&store, &ok("C2-r1", 2.0));
        spoil(&dir.path().join("store.sqlite"));
        let two = [ok("C1-r1", 1.0), ok("C2-r1", 2.0)];
        let reader = Store::open(dir.path()).expect(name);
        assert_eq!(
            reader.records().expect(name),
            two,
            "{name}: a reader meanwhile"
        );
        keep(&store, &ok("C3-r1", 3.0));
        assert_eq!(
            store.records().expect(name).len(),
            3,
            "{name}: the writer goes on"
        );
        drop((lock, store));
        assert_eq!(
            Store::open(dir.path())
                .expect(name)
                .records()
                .expect(name)
                .len(),
            3,
            "{name}: afterwards"
        );
        let file = rusqlite::Connection::open(dir.path().join("store.sqlite")).expect(name);
        let rows = file.query_row("SELECT count(*) FROM runs", [], |row| row.get::<_, i64>(0));
        assert_eq!(rows.expect(name), 3, "{name}: the file is whole again");
    }
}

/// Root may write anywhere; a thread that gives up its file rights may not.
fn as_anybody<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // SAFETY: changes the file rights of this thread alone, which ends here.
            unsafe { libc::syscall(libc::SYS_setfsuid, 65534) };
            work()
        });
        thread.join().expect("the thread ends well")
    })
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("sets the mode");
}

fn set_modes(dir: &Path, mode: u32) {
    set_mode(dir, mode);
    set_mode(&dir.join("runs"), mode);
}

#[test]
fn a_folder_that_cannot_be_written_is_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = writer(dir.path());
    let lock = store.lock().expect("locks");
    keep(&store, &ok("C1-r1", 1.0));
    keep(&store, &ok("C2-r1", 2.0));
    drop((lock, store));
    set_modes(dir.path(), 0o555);
    let index = dir.path().join("store.sqlite");
    let read = |expected: usize, name: &str| {
        let store = as_anybody(|| Store::open(dir.path())).expect(name);
        assert_eq!(
            as_anybody(|| store.records()).expect(name).len(),
            expected,
            "{name}"
        );
    };
    set_mode(&index, 0o444);
    read(2, "with its index");
    set_modes(dir.path(), 0o755);
    fs::remove_dir_all(dir.path().join("runs/C2-r1")).expect("removes");
    set_modes(dir.path(), 0o555);
    read(1, "with an index that tells too much");
    set_modes(dir.path(), 0o755);
    fs::write(&index, "spoilt ".repeat(1000)).expect("writes");
    set_modes(dir.path(), 0o555);
    read(1, "with a spoilt index");
    set_modes(dir.path(), 0o755);
    fs::remove_file(&index).expect("removes");
    set_modes(dir.path(), 0o555);
    read(1, "without index");
    let error = as_anybody(|| Store::create_or_open(dir.path(), &identity("study")))
        .expect_err("cannot be written");
    assert!(matches!(error, StoreError::Permission { .. }), "{error:?}");
    assert!(
        error
            .to_string()
            .contains("change the folder's permissions, or choose a different folder with --out"),
        "{error}"
    );
    let missing = dir.path().join("new");
    let error = as_anybody(|| Store::create_or_open(&missing, &identity("study")))
        .expect_err("cannot be made");
    assert!(matches!(error, StoreError::Permission { .. }), "{error:?}");
    set_modes(dir.path(), 0o755);
}

/// A small disk of this thread's own. None where mounting is not allowed.
fn with_small_disk(dir: &Path, kilobytes: u32, work: impl FnOnce() + Send) -> Option<()> {
    use std::ffi::CString;
    let path = CString::new(dir.as_os_str().as_encoded_bytes()).ok()?;
    let options = CString::new(format!("size={kilobytes}k")).ok()?;
    std::thread::scope(|scope| {
        let thread = scope.spawn(move || {
            let null = std::ptr::null();
            // SAFETY: all pointers are to C strings that outlive the calls; the namespace is this
            // thread's own and goes with it.
            let mounted = unsafe {
                libc::unshare(libc::CLONE_NEWNS) == 0
                    && libc::mount(
                        null,
                        c"/".as_ptr(),
                        null,
                        libc::MS_REC | libc::MS_PRIVATE,
                        null.cast(),
                    ) == 0
                    && libc::mount(
                        c"small".as_ptr(),
                        path.as_ptr(),
                        c"tmpfs".as_ptr(),
                        0,
                        options.as_ptr().cast(),
                    ) == 0
            };
            mounted.then(work)
        });
        thread.join().expect("the thread ends well")
    })
}

#[test]
fn a_full_disk_is_told_and_loses_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let done = with_small_disk(dir.path(), 512, || {
        let mut store = writer(dir.path());
        let lock = store.lock().expect("locks");
        let mut kept = 0;
        let error = loop {
            let record = ok(&format!("C{}-r1", kept + 1), 1.0);
            match store
                .begin(record.run)
                .and_then(|staging| staging.commit(&record))
            {
                Ok(()) => kept += 1,
                Err(error) => break error,
            }
            assert!(kept < 1000, "the disk never fills");
        };
        assert!(matches!(error, StoreError::DiskFull { .. }), "{error:?}");
        assert!(
            error
                .to_string()
                .contains("free some, then run again; finished runs are kept"),
            "{error}"
        );
        drop(lock);
        let error = store
            .save_file("report.html", &[b'x'; 600_000])
            .expect_err("does not fit");
        assert!(matches!(error, StoreError::DiskFull { .. }), "{error:?}");
        let many: Vec<_> = (1..=20_000)
            .map(|line| common::imported("C500-r1", line, 1.0))
            .collect();
        let before = store.statuses().expect("statuses").len();
        assert!(store.add_imported(many).is_err());
        assert_eq!(
            store.statuses().expect("statuses").len(),
            before,
            "an import is whole or not at all"
        );
        let count = Store::open(dir.path())
            .expect("opens on the full disk")
            .records()
            .expect("records")
            .len();
        // The last bundle may be kept although its row did not fit in the index.
        assert!(count == kept || count == kept + 1, "{count} of {kept}");
    });
    if done.is_none() {
        eprintln!("not allowed to mount a small disk: only the unit test of a full device was run");
    }
}

/// A named pipe, at which an ordinary read waits for ever.
fn make_pipe(path: &Path) {
    let text = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).expect("a path");
    // SAFETY: the text ends in NUL and lives until the call returns.
    assert_eq!(unsafe { libc::mkfifo(text.as_ptr(), 0o600) }, 0);
}

#[test]
fn a_lock_that_is_a_link_or_a_pipe_is_refused_and_its_target_untouched() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = writer(dir.path());
    let lock = dir.path().join(".lock");
    let precious = dir.path().join("precious.txt");
    let check = |expected: &str| {
        let error = store.lock().expect_err("is no lock file").to_string();
        assert!(error.contains(expected), "{error}");
    };
    fs::write(&precious, "a year of work").expect("writes");
    std::os::unix::fs::symlink(&precious, &lock).expect("links");
    check("it is a symbolic link, not a regular file");
    fs::remove_file(&lock).expect("removes");
    fs::hard_link(&precious, &lock).expect("links");
    check("not a lock of bancada");
    fs::remove_file(&lock).expect("removes");
    fs::write(&lock, "mine\n").expect("writes");
    check("not a lock of bancada");
    assert_eq!(fs::read_to_string(&lock).expect("reads"), "mine\n");
    fs::remove_file(&lock).expect("removes");
    make_pipe(&lock);
    check("it is a named pipe, not a regular file");
    fs::remove_file(&lock).expect("removes");
    let text = fs::read_to_string(&precious).expect("reads");
    assert_eq!(text, "a year of work");
    store.lock().expect("locks");
}

#[test]
fn a_pipe_in_a_bundle_stops_nobody() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = writer(dir.path());
    let lock = store.lock().expect("locks");
    // What a workload leaves in its folder: a pipe and a link are neither kept nor written through.
    let elsewhere = dir.path().join("elsewhere");
    fs::write(&elsewhere, "kept").expect("writes");
    let staging = store.begin(run("C1-r1")).expect("begins");
    make_pipe(&staging.folder().join("events.jsonl"));
    std::os::unix::fs::symlink(&elsewhere, staging.folder().join("run.json")).expect("links");
    staging.commit(&ok("C1-r1", 1.0)).expect("commits");
    assert_eq!(fs::read_to_string(&elsewhere).expect("reads"), "kept");
    let read = |name: &str| store.read_run_file(run("C1-r1"), name);
    assert_eq!(read("events.jsonl").expect("reads"), None);
    keep(&store, &ok("C2-r1", 2.0));
    drop(lock);
    // What was put there later.
    make_pipe(&dir.path().join("runs/C1-r1/samples.csv"));
    let error = read("samples.csv").expect_err("is a pipe").to_string();
    assert!(error.contains("it is a named pipe"), "{error}");
    let record = dir.path().join("runs/C2-r1/run.json");
    fs::remove_file(&record).expect("removes");
    make_pipe(&record);
    let reader = Store::open(dir.path()).expect("opens");
    assert_eq!(reader.records().expect("records"), [ok("C1-r1", 1.0)]);
    let damaged = reader.damaged();
    assert_eq!(damaged.len(), 1);
    assert!(damaged[0].why.contains("it is a named pipe"), "{damaged:?}");
}

#[test]
fn a_path_too_long_for_the_index_is_told_as_such() {
    let dir = tempfile::tempdir().expect("a folder");
    let long: std::path::PathBuf = (0..4).map(|_| "x".repeat(150)).collect();
    let error = Store::create_or_open(&dir.path().join(long), &identity("study"));
    let error = error.expect_err("is too long");
    assert!(matches!(error, StoreError::PathTooLong { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("has 6") && text.contains("--out"), "{text}");
}
