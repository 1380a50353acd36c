//! Ten thousand runs: brought in, read back, the index made anew. Prints seconds and memory;
//! `cargo bench -p store`.

#![expect(clippy::expect_used, reason = "what is not expected fails the test")]

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;

use model::RunId;
use store::Store;

const SCENARIOS: u32 = 1000;
const REPETITIONS: u32 = 10;

fn main() -> Result<(), store::StoreError> {
    let Ok(dir) = tempfile::tempdir() else {
        println!("no folder for temporary files");
        return Ok(());
    };
    let mut store = common::writer(dir.path());
    let ids = (1..=SCENARIOS).flat_map(|scenario| {
        (1..=REPETITIONS).map(move |repetition| RunId {
            scenario,
            repetition,
        })
    });
    let records: Vec<_> = ids
        .map(|run| common::record(run, 1.0 + f64::from(run.scenario) / 7.0))
        .collect();
    timed("import 10,000 records", || store.add_imported(&records))?;
    drop(store);
    let held = |records: Vec<model::RunRecord>| records.len();
    drop(records);

    let lock_and_keep = || -> Result<(), store::StoreError> {
        let store = common::writer(dir.path());
        let _lock = store.lock()?;
        (1..=20).for_each(|n| common::keep(&store, &common::ok(&format!("C9999-r{n}"), 1.0)));
        Ok(())
    };
    timed("keep 20 runs one by one", lock_and_keep)?;
    let store = timed("open", || Store::open(dir.path()))?;
    timed("statuses", || store.statuses())?;
    let base = memory_megabytes("VmRSS:");
    let records = timed("records", || store.records())?;
    println!(
        "{:<28} {:>8.1} MB more than before",
        "records in memory",
        memory_megabytes("VmRSS:") - base
    );
    println!("{:<28} {:>8}", "records", held(records));
    drop(store);
    let size = std::fs::metadata(dir.path().join("store.sqlite")).map_or(0, |m| m.len());
    println!("{:<28} {:>8.1} MB", "store.sqlite", size as f64 / 1e6);
    let _ = std::fs::remove_file(dir.path().join("store.sqlite"));
    timed("open without index", || Store::open(dir.path()))?;
    println!(
        "{:<28} {:>8.1} MB",
        "peak memory of all this",
        memory_megabytes("VmHWM:")
    );
    Ok(())
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let value = work();
    println!("{what:<28} {:>8.3} s", start.elapsed().as_secs_f64());
    value
}

fn memory_megabytes(field: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kilobytes = line.and_then(|rest| {
        rest.trim()
            .trim_end_matches("kB")
            .trim()
            .parse::<f64>()
            .ok()
    });
    kilobytes.unwrap_or(0.0) / 1000.0
}
