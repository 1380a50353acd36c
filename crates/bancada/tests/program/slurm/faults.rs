//! Faults at random while short runs are carried out: each run comes home once, and nothing stays.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use model::Status;
use place::conformance::command_order;
use place::{Place, PlaceError, Runs, Sbatch};

use super::cluster::{Cluster, Daemon, NODES};
use super::{kill, slurm};

const FAULTS: u32 = 105;
const LANES: u32 = 3;

/// xorshift; a test needs no better one.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

#[derive(Default)]
struct Table {
    faults: BTreeMap<&'static str, u32>,
    /// Ends of attempts, by status.
    ends: BTreeMap<String, u32>,
    runs: u32,
    /// Workloads at their end whose measurement was not to be written any more.
    spoiled: u32,
}

struct Story<'a> {
    cluster: &'a Cluster,
    is_over: &'a AtomicBool,
    faults: &'a AtomicU32,
    table: &'a Mutex<Table>,
    tally: &'a Path,
}

#[test]
#[ignore = "needs a Slurm cluster: .ci/places-slurm runs it"]
fn installed_slurm_faults() {
    let cluster = Cluster::healthy("faults");
    let seed = u64::from(std::process::id());
    println!("seed {seed}");
    let (is_over, faults, table) = (AtomicBool::new(false), AtomicU32::new(0), Mutex::default());
    let tally = cluster.folder.join("tally");
    fs::create_dir_all(&tally).unwrap();
    let story = Story {
        cluster: &cluster,
        is_over: &is_over,
        faults: &faults,
        table: &table,
        tally: &tally,
    };
    let begun = Instant::now();
    thread::scope(|scope| {
        for lane in 0..LANES {
            let story = &story;
            scope.spawn(move || story.lane(lane, Random(seed + 77 * u64::from(lane) + 1)));
        }
        story.spoil(Random(seed + 1));
        cluster.heal_once();
        is_over.store(true, Ordering::Relaxed);
        // Nodes that a killed controller has drained are brought back while lanes finish.
        for _ in 0..20 {
            thread::sleep(Duration::from_secs(1));
            cluster.heal_once();
        }
    });
    cluster.check_nothing_is_left();
    let table = table.into_inner().unwrap();
    let mut shown = String::new();
    for (name, count) in &table.faults {
        _ = writeln!(shown, "  {name:44} {count:4}");
    }
    for (name, count) in &table.ends {
        _ = writeln!(shown, "  attempts that ended as {name:21} {count:4}");
    }
    println!(
        "{shown}  runs that came home, each once              {:4}",
        table.runs
    );
    println!(
        "  ended before the worker had measured them   {:4}",
        table.spoiled
    );
    println!("  {:.0} s", begun.elapsed().as_secs_f64());
    assert!(table.faults.values().sum::<u32>() >= 100);
}

impl Story<'_> {
    fn count(&self, fault: &'static str) {
        *self.table.lock().unwrap().faults.entry(fault).or_default() += 1;
        self.faults.fetch_add(1, Ordering::Relaxed);
    }

    fn spoil(&self, mut random: Random) {
        let cluster = self.cluster;
        while self.faults.load(Ordering::Relaxed) < FAULTS {
            thread::sleep(Duration::from_millis(300 + random.below(900)));
            let node = NODES[random.below(3) as usize];
            match random.below(7) {
                0 | 1 => {
                    let workers = cluster.workers(node);
                    if let Some(worker) = workers.first() {
                        kill(*worker, libc::SIGKILL);
                        self.count("worker killed");
                    }
                }
                2 => {
                    cluster.kill_node(node);
                    self.count("node killed, with all its processes");
                    thread::sleep(Duration::from_millis(random.below(1500)));
                }
                3 => {
                    cluster.end(&Daemon::Node(node.to_owned()), libc::SIGKILL);
                    self.count("node's daemon killed, its jobs live");
                }
                4 => {
                    cluster.end(&Daemon::Controller, libc::SIGTERM);
                    self.count("controller ended and started again");
                }
                5 => {
                    cluster.end(&Daemon::Controller, libc::SIGKILL);
                    self.count("controller killed and started again");
                    thread::sleep(Duration::from_millis(random.below(1500)));
                }
                _ => {
                    let jobs = super::Command::new("squeue")
                        .args(["-h", "-o", "%i"])
                        .output();
                    let jobs = String::from_utf8(jobs.unwrap().stdout).unwrap();
                    let jobs: Vec<&str> = jobs.lines().collect();
                    if !jobs.is_empty() {
                        let job = jobs[random.below(jobs.len() as u64) as usize];
                        _ = super::Command::new("scancel").arg(job).output();
                        self.count("job cancelled by somebody else");
                    }
                }
            }
            cluster.heal_once();
        }
    }

    /// Each run is repeated, as another attempt, until it is ok.
    fn lane(&self, lane: u32, mut random: Random) {
        let mut place = self.cluster.place(&slurm());
        let mut number = 0;
        while !self.is_over.load(Ordering::Relaxed) {
            number += 1;
            for attempt in 1.. {
                let id = format!("L{lane}-{number}-{attempt}");
                let status = self.attempt(&id, &mut place, &mut random);
                let mut table = self.table.lock().unwrap();
                *table.ends.entry(status.clone()).or_default() += 1;
                if status == "ok" {
                    table.runs += 1;
                    break;
                }
            }
        }
    }

    fn attempt(&self, id: &str, place: &mut Runs<Sbatch>, random: &mut Random) -> String {
        let seconds = format!("0.{}", 2 + random.below(4));
        let mark = self.tally.join(id);
        let script = format!("sleep {seconds}; echo x >> {}", mark.display());
        let order = command_order(id, &["sh", "-c", &script]);
        let folder = self.cluster.folder.join("home").join(id);
        fs::create_dir_all(&folder).unwrap();
        let leaves = random.below(4) == 0;
        let ticket = match place.start(&order, &folder) {
            Ok(ticket) => ticket,
            Err(error) => return format!("not submitted ({})", kind(&error)),
        };
        let mut looks = 0;
        loop {
            looks += 1;
            if leaves && looks == 3 {
                // A coordinator that knows nothing but the order.
                *place = self.cluster.place(&slurm());
                self.count("coordinator gone, and another one there");
                assert_eq!(place.start(&order, &folder).as_ref(), Ok(&ticket));
            }
            match place.follow(&ticket, Duration::from_millis(50)) {
                Ok(followed) if followed.has_ended => break,
                Ok(_) => {}
                Err(PlaceError::Lost(_)) => thread::sleep(Duration::from_millis(200)),
                Err(error) => panic!("{id}: {error}"),
            }
        }
        let fetched = place.fetch(&ticket, &folder);
        let times = fs::read_to_string(&mark)
            .unwrap_or_default()
            .lines()
            .count();
        assert!(times <= 1, "{id} was carried out {times} times");
        let status = match fetched {
            Ok(measurement) => {
                assert_eq!(measurement.order, id);
                if measurement.outcome.status == Status::Ok {
                    assert_eq!(times, 1, "{id} has not run");
                } else if times == 1 {
                    self.table.lock().unwrap().spoiled += 1;
                }
                measurement.outcome.status.to_string()
            }
            Err(PlaceError::NoMeasurement(why)) => {
                assert!(!why.is_empty());
                "failed: the worker was killed".to_owned()
            }
            Err(error) => panic!("{id}: {error}"),
        };
        while let Err(error) = place.clean_up(&ticket) {
            assert!(matches!(error, PlaceError::Lost(_)), "{id}: {error}");
            thread::sleep(Duration::from_millis(200));
        }
        status
    }
}

fn kind(error: &PlaceError) -> &'static str {
    match error {
        PlaceError::Lost(_) => "controller away",
        PlaceError::Dead(_) => "gone",
        PlaceError::Refused(_) => "refused",
        PlaceError::NoMeasurement(_) => "no measurement",
    }
}
