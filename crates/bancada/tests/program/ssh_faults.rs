//! Workers, agents, connections, hosts and coordinators killed at random while a study runs on hosts by
//! SSH: every run comes home exactly once, and nothing is left running. `.ci/places-ssh faults`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use model::{RunId, Status, Stop, Study};
use place::Place;
use runner::{Assigned, Ended, Listed, Options, OrderBuilder, RunSelection, StudyRunner, due_runs};
use store::{Store, StudyIdentity};

use crate::common::Bench;
use crate::ssh::Hosts;

const HOSTS: [&str; 2] = ["h1", "h2"];
const RUNS: usize = 24;
/// Folder of a study and its results: whoever has it is the coordinator.
const FOLDER: &str = "BANCADA_TEST_COORDINATE";

/// Every run says that it ended, a moment before it does.
fn study(folder: &Path) -> Study {
    let count = folder.join("executed");
    let text = format!(
        "[study]\nname = \"faults\"\nrepetitions = {}\n\
         [factors]\nenvironment = [\"e1\", \"e2\"]\n\
         [workload]\ncommand = [\"sh\", \"-c\", \"sleep 0.3; echo $BANCADA_EVENTS >> {}\"]\n\
         [environments.e1]\nssh = \"h1\"\n[environments.e2]\nssh = \"h2\"\n\
         [measure]\ninterval = \"100ms\"\n",
        RUNS / 2,
        count.display()
    );
    let options = plan::ReadOptions {
        folder: None,
        read: &|_: &Path| Err(io::Error::from(io::ErrorKind::NotFound)),
        requests_in: &|_| Ok(0),
        scale: None,
        catalog: cost::catalog(),
        today: None,
    };
    plan::read_study(&text, &options).unwrap()
}

fn store(folder: &Path, study: &Study) -> Store {
    let identity = StudyIdentity {
        name: study.name.clone(),
        fingerprint: plan::digest(study),
    };
    Store::create_or_open(&folder.join("results"), &identity).unwrap()
}

/// The coordinator, as a process of its own that can be killed.
#[test]
#[ignore = "started by the tests of faults"]
fn coordinate() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    let hosts = Hosts::find();
    let study = study(&folder);
    let plan = plan::plan(&study);
    let store = store(&folder, &study);
    let _lock = store.lock().unwrap();
    let selection = RunSelection {
        retry: BTreeSet::from([Status::Failed]),
        ..RunSelection::default()
    };
    let due = due_runs(&plan, &store.statuses().unwrap(), &selection);
    let orders = OrderBuilder::new(&study, &folder, &folder);
    let orders = orders.of_runs(&plan, &plan.runs).unwrap();
    let name = folder.file_name().unwrap().to_str().unwrap();
    let places: Vec<_> = HOSTS
        .iter()
        .map(|host| hosts.place(host, name, &folder))
        .collect();
    let stop = Stop::new();
    let machines = places.iter().zip(["e1", "e2"]);
    let runner = StudyRunner {
        study: &study,
        plan: &plan,
        store: &store,
        short: None,
        orders: &orders,
        machines: machines
            .map(|(place, name)| Assigned {
                rented: Default::default(),
                places: BTreeMap::from([(name.to_owned(), place as &dyn Place)]),
            })
            .collect(),
        options: Options {
            stop: &stop,
            over_budget: false,
            accept_changed: false,
            study_folder: &folder,
            git_commit: None,
            expected: BTreeMap::new(),
        },
    };
    let (sender, progress) = mpsc::channel();
    let reader = thread::spawn(move || progress.iter().count());
    let ended = runner.run(&mut Listed::new(due), &sender).unwrap();
    drop(sender);
    reader.join().unwrap();
    // Runs whose worker was killed are kept as failed; the next coordinator runs them again.
    let left = due_runs(&plan, &store.statuses().unwrap(), &selection);
    // So does whoever finds that something could not be cleaned up.
    let is_clean = store.tickets().unwrap().is_empty();
    if ended == Ended::AllDone && left.is_empty() && is_clean {
        fs::write(folder.join("all-done"), "").unwrap();
    }
}

struct Coordinator {
    folder: PathBuf,
    child: Child,
}

impl Coordinator {
    fn start(folder: &Path) -> Coordinator {
        _ = fs::remove_file(folder.join("all-done"));
        let log = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(folder.join("coordinators.log"))
            .unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "ssh_faults::coordinate"])
            .env(FOLDER, folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        Coordinator {
            folder: folder.to_owned(),
            child,
        }
    }

    /// One that has ended without finishing the study is started again.
    fn is_done(&mut self) -> bool {
        if self.child.try_wait().unwrap().is_none() {
            return false;
        }
        if self.folder.join("all-done").exists() {
            return true;
        }
        *self = Coordinator::start(&self.folder);
        false
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        *self = Coordinator::start(&self.folder);
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Blow {
    Worker,
    Agent,
    Connection,
    Cable,
    Host,
    Coordinator,
}

/// The same blows every time, at moments that the machine decides.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn blow(&mut self) -> Blow {
        match self.roll(12) {
            0..3 => Blow::Worker,
            3..5 => Blow::Agent,
            5..8 => Blow::Connection,
            8 => Blow::Cable,
            9 => Blow::Host,
            _ => Blow::Coordinator,
        }
    }
}

/// Waits a moment for something to hit.
fn soon(hit: impl Fn() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(1);
    while Instant::now() < until {
        if hit() {
            return true;
        }
        thread::sleep(Duration::from_millis(20));
    }
    false
}

/// Whether there was anything to hit.
fn strike(blow: Blow, host: &str, hosts: &Hosts, coordinator: &mut Coordinator) -> bool {
    match blow {
        Blow::Worker => soon(|| hosts.kill(host, " work ", 1)),
        Blow::Agent => soon(|| hosts.kill(host, " agent ", 1)),
        // The processes of the SSH server for one connection.
        Blow::Connection => hosts.kill(host, "sshd: ", usize::MAX),
        Blow::Cable => {
            hosts.tell(host, "unplug");
            thread::sleep(Duration::from_millis(1500));
            hosts.tell(host, "plug");
            true
        }
        Blow::Host => {
            // In the middle of a run, where there is one.
            soon(|| hosts.has(host, " work "));
            hosts.tell(host, "kill");
            hosts.tell(host, "start");
            true
        }
        Blow::Coordinator => {
            coordinator.kill();
            true
        }
    }
}

#[derive(Default)]
struct Tally {
    blows: BTreeMap<Blow, u32>,
    studies: u32,
    runs: usize,
    executed: usize,
    /// Attempts that ended as failed because their worker or host was killed.
    failed_attempts: usize,
}

impl Tally {
    fn of(&self, blows: &[Blow]) -> usize {
        let counts = blows.iter().filter_map(|blow| self.blows.get(blow));
        counts.map(|count| *count as usize).sum()
    }
}

#[test]
#[ignore = "needs SSH servers: .ci/places-ssh runs it"]
fn installed_ssh_faults() {
    let wanted = std::env::var("FAULTS").ok().and_then(|n| n.parse().ok());
    let wanted: u32 = wanted.unwrap_or(100);
    let hosts = Hosts::find();
    let bench = Bench::new();
    let mut dice = Dice(15);
    let mut tally = Tally::default();
    let begin = Instant::now();
    while tally.blows.values().sum::<u32>() < wanted {
        tally.studies += 1;
        let folder = bench.path().join(format!("faults-{}", tally.studies));
        fs::create_dir_all(&folder).unwrap();
        one_study(&hosts, &folder, &mut dice, &mut tally, wanted);
    }
    let blows: Vec<String> = tally
        .blows
        .iter()
        .map(|(blow, count)| format!("{blow:?} {count}"))
        .collect();
    println!(
        "{} faults ({}) in {:.0} s over {} studies: {} runs, each kept once and ok; {} executions \
         ended, {} attempts were lost with their worker or host; nothing left on the hosts",
        tally.blows.values().sum::<u32>(),
        blows.join(", "),
        begin.elapsed().as_secs_f64(),
        tally.studies,
        tally.runs,
        tally.executed,
        tally.failed_attempts,
    );
    // A run is executed again only because its worker was killed, with or without its host.
    let excuses = tally.of(&[Blow::Worker, Blow::Host]);
    assert!(tally.executed <= tally.runs + excuses);
}

fn one_study(hosts: &Hosts, folder: &Path, dice: &mut Dice, tally: &mut Tally, wanted: u32) {
    let deadline = Instant::now() + Duration::from_secs(240);
    let mut coordinator = Coordinator::start(folder);
    // It is there, and has begun.
    while !folder.join("executed").exists() {
        assert!(Instant::now() < deadline, "nothing was run");
        assert!(!coordinator.is_done());
        thread::sleep(Duration::from_millis(20));
    }
    while !coordinator.is_done() {
        let log = || fs::read_to_string(folder.join("coordinators.log")).unwrap();
        assert!(Instant::now() < deadline, "it does not end: {}", log());
        thread::sleep(Duration::from_millis(50 + dice.roll(900)));
        let (blow, host) = (dice.blow(), HOSTS[dice.roll(2) as usize]);
        let is_enough = tally.blows.values().sum::<u32>() >= wanted;
        if !is_enough && strike(blow, host, hosts, &mut coordinator) {
            *tally.blows.entry(blow).or_default() += 1;
        }
    }
    drop(coordinator);
    check(hosts, folder, tally);
}

fn check(hosts: &Hosts, folder: &Path, tally: &mut Tally) {
    let study = study(folder);
    let store = store(folder, &study);
    let statuses = store.statuses().unwrap();
    let planned: BTreeSet<RunId> = plan::plan(&study).runs.into_iter().collect();
    let kept: BTreeSet<RunId> = statuses.keys().copied().collect();
    assert_eq!(kept, planned);
    assert!(statuses.values().all(|s| *s == Status::Ok), "{statuses:?}");
    assert_eq!(store.records().unwrap().len(), RUNS);
    assert_eq!(store.tickets().unwrap(), Vec::new());
    tally.runs += RUNS;
    let executed = fs::read_to_string(folder.join("executed")).unwrap();
    let orders: BTreeSet<&str> = executed.lines().collect();
    // The file for events lies in the folder of the order.
    assert_eq!(
        orders.len(),
        executed.lines().count(),
        "an order was carried out twice"
    );
    tally.executed += orders.len();
    let old = fs::read_dir(folder.join("results/runs/.old"));
    tally.failed_attempts += old.map_or(0, Iterator::count);
    let name = folder.file_name().unwrap().to_str().unwrap();
    for host in HOSTS {
        hosts.nothing_runs(host);
        assert_eq!(hosts.orders_left(host, name), 0, "on {host}");
    }
}
