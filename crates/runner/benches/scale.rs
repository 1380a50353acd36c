//! How the scheduler and the store grow with runs and machines: real ones, with machines that carry
//! nothing out. `cargo bench -p runner`; figures are in docs/scale.md.

#![expect(clippy::unwrap_used, reason = "a benchmark ends by panicking")]
#![expect(dead_code, reason = "the tests use the rest of their bench")]

#[path = "../tests/study/bench.rs"]
mod bench;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Instant;

use bench::Bench;
use place::{Fake, Place, Script};
use runner::Ended;

/// The kernel counts CPU time in hundredths of a second.
const TICKS_PER_SECOND: f64 = 100.0;

fn main() {
    println!("| runs | machines | wall | CPU | CPU per run | peak memory | on disk |");
    println!("|---|---|---|---|---|---|---|");
    for (runs, machines) in [
        (1_000, 10),
        (1_000, 100),
        (1_000, 1_000),
        (4_000, 100),
        (16_000, 100),
    ] {
        measure(runs, machines);
    }
}

fn measure(runs: u32, machines: usize) {
    let bench = Bench::of(&format!(
        "[study]\nname = \"s\"\nrepetitions = {}\nbudget = \"1000000 USD\"\n\
         [factors]\nn = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n[workload]\ncommand = [\"true\", \"{{n}}\"]\n\
         [environments.pool]\nprice = \"1 USD/h\"\n",
        runs / 10
    ));
    let names = (0..machines).map(|number| format!("m{number}"));
    let places: Vec<Fake> = names
        .map(|name| Fake::new(&name, |_| Script::default()))
        .collect();
    let pool = || BTreeSet::from(["pool".to_owned()]);
    let assigned = places.iter().map(|place| (place as &dyn Place, pool()));
    let (begin, cpu) = (Instant::now(), cpu_seconds());
    let came = bench.run(assigned.collect());
    let (wall, cpu) = (begin.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    assert_eq!(came.ended(), Ended::AllDone);
    assert_eq!(bench.statuses().len(), runs as usize);
    println!(
        "| {runs} | {machines} | {wall:.1} s | {cpu:.1} s | {:.1} ms | {} MB | {} MB |",
        cpu / f64::from(runs) * 1e3,
        peak_kilobytes() / 1024,
        bytes_in(bench.folder.path()) / 1_000_000,
    );
}

fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let (_, after) = stat.rsplit_once(") ").unwrap();
    let fields: Vec<&str> = after.split(' ').collect();
    let ticks = |place: usize| fields[place].parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) / TICKS_PER_SECOND
}

/// Of the process so far: sizes are tried from small to large.
fn peak_kilobytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap();
    let number = line.split_whitespace().nth(1).unwrap();
    number.parse().unwrap()
}

fn bytes_in(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(data) if data.is_dir() => bytes_in(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}
