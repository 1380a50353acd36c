//! Killed at any moment, the program loses at most the run under way and never counts one twice.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::Duration;

use crate::common::{Bench, shell_study};

const KILLS: u32 = 50;
const REPETITIONS: u32 = 40;

/// A small generator, so that the moments are the same on every machine's every run.
struct Moments(u64);

impl Moments {
    fn next_millis(&mut self, below: u64) -> u64 {
        // SplitMix64 (Steele, Lea and Flood 2014).
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below
    }
}

/// What stands in each whole bundle's run.json.
fn kept(bench: &Bench) -> BTreeMap<String, Vec<u8>> {
    let runs = bench.path().join("results/kill/runs");
    let read = |name: String| {
        let bytes =
            fs::read(runs.join(&name).join("run.json")).unwrap_or_else(|e| panic!("{name}: {e}"));
        (name, bytes)
    };
    bench.bundles("kill").into_iter().map(read).collect()
}

#[test]
fn killed_fifty_times_nothing_is_lost_or_doubled() {
    let bench = Bench::new();
    bench.write(
        "study.toml",
        &shell_study("kill", "sleep 0.01; echo $1", REPETITIONS, ""),
    );
    let mut moments = Moments(20_240_301);
    let mut before = BTreeMap::new();
    let mut killed = 0;
    for _ in 0..KILLS {
        let mut child = bench.start(&["run", "study.toml", "--quiet"]);
        thread::sleep(Duration::from_millis(moments.next_millis(250)));
        if child.try_wait().unwrap().is_none() {
            killed += 1;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let now = kept(&bench);
        for (run, record) in &before {
            assert_eq!(now.get(run), Some(record), "{run} was lost or done again");
        }
        before = now;
    }
    assert!(
        killed > KILLS / 2,
        "only {killed} of {KILLS} were still at work when killed"
    );

    bench
        .bancada(&["run", "study.toml", "--quiet"])
        .ends_with(0);
    let after = kept(&bench);
    assert_eq!(after.len() as u32, 2 * REPETITIONS);
    for (run, record) in &before {
        assert_eq!(after.get(run), Some(record), "{run} was done again");
    }
    let rows = bench
        .bancada(&["export", "study.toml", "--format", "csv"])
        .ends_with(0)
        .out;
    assert_eq!(rows.lines().count() as u32, 1 + 2 * REPETITIONS);
}
