//! Ten thousand runs: brought in, read back, the index rebuilt. Prints seconds and memory;
//! `cargo bench -p store`.

#![expect(clippy::expect_used, reason = "what is not expected ends the bench")]

#[path = "../tests/common/mod.rs"]
mod common;

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use model::RunId;
use store::Store;

const SCENARIOS: u32 = 1000;
const REPETITIONS: u32 = 10;
/// Set for the process that only reads, so that its memory is that of reading.
const READ: &str = "BANCADA_BENCH_READ";

fn main() {
    if let Ok(dir) = std::env::var(READ) {
        return read(Path::new(&dir));
    }
    let dir = tempfile::tempdir().expect("a folder");
    write(dir.path());
    let again = std::env::current_exe().expect("this program");
    let reads = || {
        let ended = Command::new(&again).env(READ, dir.path()).status();
        assert!(ended.expect("starts again").success());
    };
    reads();
    println!("without index");
    std::fs::remove_file(dir.path().join("store.sqlite")).expect("removes");
    reads();
}

fn write(dir: &Path) {
    let mut store = common::writer(dir);
    let run = |place: u32| RunId {
        scenario: place / REPETITIONS + 1,
        repetition: place % REPETITIONS + 1,
    };
    let records: Vec<_> = (0..SCENARIOS * REPETITIONS)
        .map(|place| common::record(run(place), 1.0 + f64::from(place) / 7.0))
        .collect();
    // As bundles, which is what runs that are measured are.
    timed("import 10,000 records", || {
        store.add_imported_with(records, &|_| Vec::new())
    })
    .expect("imports");
    let _lock = store.lock().expect("locks");
    timed("keep 20 runs one by one", || {
        (1..=20).for_each(|n| common::keep(&store, &common::ok(&format!("C9999-r{n}"), 1.0)));
    });
    let size = std::fs::metadata(dir.join("store.sqlite")).map_or(0, |file| file.len());
    println!("{:<24} {:>8.1} MB", "store.sqlite", size as f64 / 1e6);
}

fn read(dir: &Path) {
    let store = timed("  open", || Store::open(dir)).expect("opens");
    timed("  statuses", || store.statuses()).expect("statuses");
    let records = timed("  records", || store.records()).expect("records");
    println!("{:<24} {:>8} runs", "  read", records.len());
    println!(
        "{:<24} {:>8.1} MB",
        "  peak memory",
        peak_memory_megabytes()
    );
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let value = work();
    println!("{what:<24} {:>8.3} s", start.elapsed().as_secs_f64());
    value
}

fn peak_memory_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|rest| {
        rest.trim()
            .trim_end_matches("kB")
            .trim()
            .parse::<f64>()
            .ok()
    });
    kilobytes.unwrap_or(0.0) / 1000.0
}
