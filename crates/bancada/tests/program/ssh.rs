//! Hosts by SSH for real. `.ci/places-ssh` starts them and runs these tests.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use model::{Measurement, Order, Status, Work};
use place::conformance::{self, command_order};
use place::{Place, PlaceError, Remote, Ssh, SshOptions, Ticket};

use crate::common::Bench;

pub(crate) struct Hosts {
    folder: PathBuf,
}

impl Hosts {
    pub(crate) fn find() -> Hosts {
        let folder = std::env::var_os("BANCADA_TEST_HOSTS").unwrap();
        Hosts {
            folder: folder.into(),
        }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn home(&self, host: &str) -> PathBuf {
        self.folder.join(host)
    }

    fn options(&self, place: &str) -> SshOptions {
        SshOptions {
            config: None,
            program: self.folder.join("ssh"),
            bancada: self.folder.join("bancada"),
            place: place.to_owned(),
            within: None,
            notices_of: None,
        }
    }

    pub(crate) fn place(&self, host: &str, name: &str, study: &Path) -> Remote {
        let ssh = Ssh::new(host, self.options(name)).unwrap();
        Remote::new(host, study, ssh).with_silence(Duration::from_secs(5))
    }

    /// start, kill, unplug, plug
    pub(crate) fn tell(&self, host: &str, what: &str) {
        let status = Command::new(self.folder.join("host"))
            .args([host, what])
            .status();
        assert!(status.unwrap().success(), "{host} {what}");
    }

    /// Numbers and commands of what runs on a host.
    fn processes(&self, host: &str) -> Vec<(String, String)> {
        let output = Command::new(self.folder.join("host"))
            .args([host, "pids"])
            .output()
            .unwrap();
        let pids = String::from_utf8(output.stdout).unwrap();
        let process = |pid: &str| {
            let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
            Some((pid.to_owned(), command.replace('\0', " ")))
        };
        pids.split_whitespace().filter_map(process).collect()
    }

    /// Programs of ours on a host, but for the SSH server.
    fn running(&self, host: &str) -> Vec<String> {
        let commands = self.processes(host).into_iter().map(|(_, command)| command);
        commands
            .filter(|words| !words.contains("sshd") && !words.is_empty())
            .collect()
    }

    /// So many of the processes whose command has these words. False where there are none.
    pub(crate) fn kill(&self, host: &str, words: &str, most: usize) -> bool {
        let found = self.processes(host).into_iter();
        let found =
            found.filter(|(_, command)| command.contains(words) && !command.contains("[listener]"));
        let mut is_any = false;
        for (pid, _) in found.take(most) {
            is_any = true;
            _ = Command::new("kill").args(["-9", &pid]).output();
        }
        is_any
    }

    pub(crate) fn has(&self, host: &str, words: &str) -> bool {
        let mut found = self.processes(host).into_iter();
        found.any(|(_, command)| command.contains(words))
    }

    pub(crate) fn nothing_runs(&self, host: &str) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !self.running(host).is_empty() {
            let running = self.running(host);
            assert!(Instant::now() < deadline, "left on {host}: {running:?}");
            thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn orders_left(&self, host: &str, name: &str) -> usize {
        let folder = self.home(host).join(".cache/bancada/places");
        let folder = folder.join(name).join("runs");
        fs::read_dir(folder).map_or(0, Iterator::count)
    }
}

/// Reports 1, 2, 3 … every tenth of a second, and counts its runs in a file.
fn counting_order(id: &str, reports: u32, count: &Path) -> Order {
    let script = "for i in $(seq $N); do echo '{\"event\": \"note\", \"text\": \"'$i'\"}' \
                  >> \"$BANCADA_EVENTS\"; sleep 0.1; done; echo run >> \"$COUNT\"";
    let mut order = command_order(id, &["sh", "-c", script]);
    if let Work::Command(command) = &mut order.work {
        let count = count.to_str().unwrap().to_owned();
        command.env.insert("COUNT".into(), count);
        command.env.insert("N".into(), reports.to_string());
    }
    order
}

fn note(happening: model::Happening) -> Option<u32> {
    match happening {
        model::Happening::Event(event) => match event.kind {
            model::EventKind::Note { text } => text.parse().ok(),
            _ => None,
        },
        model::Happening::Sample(_) => None,
    }
}

/// To its end, over lost connections: the notes in the order in which they came.
fn follow(place: &dyn Place, ticket: &Ticket, seconds: u64) -> Result<Vec<u32>, PlaceError> {
    let deadline = Instant::now() + Duration::from_secs(seconds);
    let mut notes = Vec::new();
    loop {
        assert!(Instant::now() < deadline, "it does not end: {notes:?}");
        match place.follow(ticket, Duration::from_millis(50)) {
            Ok(followed) => {
                notes.extend(followed.happenings.into_iter().filter_map(note));
                if followed.has_ended {
                    return Ok(notes);
                }
            }
            Err(PlaceError::Lost(_)) => thread::sleep(Duration::from_millis(20)),
            Err(error) => return Err(error),
        }
    }
}

fn fetch(place: &dyn Place, ticket: &Ticket, folder: &Path) -> Result<Measurement, PlaceError> {
    fs::create_dir_all(folder).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        match place.fetch(ticket, folder) {
            Err(PlaceError::Lost(why)) => {
                assert!(Instant::now() < deadline, "{why}");
                thread::sleep(Duration::from_millis(20));
            }
            result => return result,
        }
    }
}

#[test]
#[ignore = "needs SSH servers: .ci/places-ssh runs it"]
fn installed_ssh_hosts_are_places_side_by_side() {
    let hosts = Hosts::find();
    let bench = Bench::new();
    thread::scope(|scope| {
        for host in ["h1", "h2"] {
            let (hosts, root) = (&hosts, bench.path());
            scope.spawn(move || {
                let place = hosts.place(host, "suite", root);
                let folder = root.join(host);
                assert_eq!(conformance::check(&place, &folder), Ok(()), "{host}");
                assert_eq!(hosts.orders_left(host, "suite"), 0);
                drop(place);
                hosts.nothing_runs(host);
            });
        }
    });
    // Copied once, and for its owner alone.
    let programs = hosts.home("h1").join(".cache/bancada/bin");
    let listed = || -> Vec<_> {
        let entries = fs::read_dir(&programs).unwrap().flatten();
        let known = entries.map(|entry| (entry.path(), entry.metadata().unwrap()));
        known.collect()
    };
    let first = listed();
    assert_eq!(first.len(), 1);
    assert_eq!(first[0].1.permissions().mode() & 0o777, 0o700);
    let bin = fs::metadata(&programs).unwrap();
    assert_eq!(bin.permissions().mode() & 0o077, 0);
    let again = hosts.place("h1", "again", bench.path());
    again.describe().unwrap();
    assert_eq!(
        listed()[0].1.modified().unwrap(),
        first[0].1.modified().unwrap()
    );
}

#[test]
#[ignore = "needs SSH servers: .ci/places-ssh runs it"]
fn installed_ssh_cable_is_pulled() {
    let hosts = Hosts::find();
    let bench = Bench::new();
    let root = bench.path();
    let place = hosts.place("h1", "cable", root);
    let order = counting_order("cable", 60, &root.join("count"));
    let ticket = place.start(&order, root).unwrap();
    let notes = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_secs(1));
            hosts.tell("h1", "unplug");
            // Longer than it takes to notice, and longer than the run takes.
            thread::sleep(Duration::from_secs(9));
            hosts.tell("h1", "plug");
        });
        follow(&place, &ticket, 60).unwrap()
    });
    assert_eq!(notes, (1..=60).collect::<Vec<_>>());
    let measurement = fetch(&place, &ticket, &root.join("home")).unwrap();
    assert_eq!(measurement.outcome.status, Status::Ok);
    assert_eq!(fs::read_to_string(root.join("count")).unwrap(), "run\n");
    place.clean_up(&ticket).unwrap();
    assert_eq!(hosts.orders_left("h1", "cable"), 0);
}

#[test]
#[ignore = "needs SSH servers: .ci/places-ssh runs it"]
fn installed_ssh_host_dies_and_comes_back() {
    let hosts = Hosts::find();
    let bench = Bench::new();
    let root = bench.path();
    let place = hosts.place("h2", "dies", root);
    let order = command_order("dies", conformance::ENDLESS);
    let ticket = place.start(&order, root).unwrap();
    hosts.tell("h2", "kill");
    let lost = place.follow(&ticket, Duration::ZERO).unwrap_err();
    assert!(matches!(lost, PlaceError::Lost(_)), "{lost}");
    hosts.tell("h2", "start");
    follow(&place, &ticket, 30).unwrap();
    let missing = fetch(&place, &ticket, &root.join("home")).unwrap_err();
    assert!(matches!(missing, PlaceError::NoMeasurement(_)), "{missing}");
    place.clean_up(&ticket).unwrap();
    drop(place);
    hosts.nothing_runs("h2");
}

#[test]
#[ignore = "needs SSH servers: .ci/places-ssh runs it"]
fn installed_ssh_full_disks_get_a_sentence() {
    let hosts = Hosts::find();
    let bench = Bench::new();
    let place = hosts.place("h3", "small", bench.path());
    let refused = place.describe().unwrap_err();
    assert!(matches!(refused, PlaceError::Refused(_)), "{refused}");
    let refused = refused.to_string();
    assert!(refused.contains("MB are free"), "{refused}");
    println!("{refused}");
    assert!(hosts.running("h3").is_empty());
}

#[test]
#[ignore = "needs SSH servers: .ci/places-ssh runs it"]
fn installed_ssh_hosts_that_cannot_be_reached_get_a_sentence() {
    let hosts = Hosts::find();
    let bench = Bench::new();
    let check = |host: &str, parts: &[&str]| {
        let place = hosts.place(host, "refused", bench.path());
        let begin = Instant::now();
        let refused = place.describe().unwrap_err();
        assert!(matches!(refused, PlaceError::Refused(_)), "{refused:?}");
        let refused = refused.to_string();
        println!("{refused}");
        for part in parts {
            assert!(refused.contains(part), "{refused}");
        }
        assert!(begin.elapsed() < Duration::from_secs(30));
    };
    check("no-such-host.invalid", &["Could not resolve hostname"]);
    check("h1-other-key", &["Permission denied", "by a key"]);
    check(
        "h1-other-host",
        &["IDENTIFICATION HAS CHANGED", "ssh-keygen -R"],
    );
    check("h1-unknown", &["Host key verification failed", "by hand"]);
}

/// Names from a study reach neither a shell nor an option.
#[test]
#[ignore = "needs SSH servers: .ci/places-ssh runs it"]
fn installed_ssh_hostile_names_are_names() {
    let hosts = Hosts::find();
    let bench = Bench::new();
    let root = bench.path();
    let mark = root.join("broken-out");
    let shell = format!("touch {}", mark.display());
    for name in [
        format!("a; {shell}"),
        format!("$({shell})"),
        format!("`{shell}`"),
        format!("'; {shell}; '"),
        format!("\"; {shell}; \""),
        "../../../../etc".to_owned(),
        "-rf".to_owned(),
        "a\nb".to_owned(),
    ] {
        assert!(Ssh::new(&name, hosts.options("x")).is_err(), "{name}");
        let place = hosts.place("h1", &name, root);
        let mut order = command_order(&name, &["printf", "%s", &name]);
        order.environment.clone_from(&name);
        let ticket = place.start(&order, root).unwrap();
        follow(&place, &ticket, 30).unwrap();
        let home = root.join("home");
        let measurement = fetch(&place, &ticket, &home).unwrap();
        assert_eq!(measurement.outcome.status, Status::Ok, "{name}");
        assert_eq!(fs::read_to_string(home.join("log.txt")).unwrap(), name);
        place.clean_up(&ticket).unwrap();
        fs::remove_dir_all(home).unwrap();
    }
    assert!(!mark.exists());
    let cache = hosts.home("h1").join(".cache/bancada");
    let outside = fs::read_dir(cache).unwrap().flatten();
    let outside: Vec<_> = outside.map(|entry| entry.file_name()).collect();
    assert!(outside.iter().all(|name| name != "etc"), "{outside:?}");
}

/// A run of no seconds over a warm connection beside `ssh host true`, in turns.
#[test]
#[ignore = "needs SSH servers: .ci/places-ssh runs it"]
fn installed_ssh_overhead() {
    const ROUNDS: usize = 30;
    let hosts = Hosts::find();
    let bench = Bench::new();
    let root = bench.path();
    let place = hosts.place("h1", "overhead", root);
    place.prepare(&[command_order("ready", &["true"])]).unwrap();
    let path = format!("ControlPath={}/m-%C", hosts.folder.display());
    let mut times: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut time = |name, what: &mut dyn FnMut()| {
        let begin = Instant::now();
        what();
        let seconds = begin.elapsed().as_secs_f64();
        times.entry(name).or_default().push(seconds);
    };
    for round in 0..ROUNDS {
        time("a run of `true` over a warm connection", &mut || {
            let order = command_order(&format!("o{round}"), &["true"]);
            let home = root.join(format!("r{round}"));
            fs::create_dir_all(&home).unwrap();
            let ticket = place.start(&order, &home).unwrap();
            follow(&place, &ticket, 30).unwrap();
            fetch(&place, &ticket, &home).unwrap();
            place.clean_up(&ticket).unwrap();
        });
        let mut ssh = |name, shared: &[&str]| {
            time(name, &mut || {
                let status = Command::new(hosts.folder.join("ssh"))
                    .args(["-o", "BatchMode=yes"])
                    .args(shared)
                    .args(["h1", "true"])
                    .status();
                assert!(status.unwrap().success());
            });
        };
        ssh("ssh h1 true, new login", &["-o", "ControlPath=none"]);
        let master = [
            "-o",
            "ControlMaster=auto",
            "-o",
            "ControlPersist=60",
            "-o",
            &path,
        ];
        ssh("ssh h1 true, shared connection", &master);
    }
    let end = ["-o", &path, "-O", "exit", "h1"];
    _ = Command::new(hosts.folder.join("ssh")).args(end).output();
    for (name, mut seconds) in times {
        seconds.sort_by(f64::total_cmp);
        let at = |share: f64| seconds[(share * (ROUNDS - 1) as f64) as usize];
        println!(
            "{name}: median {:.3} s, 10-90 %: {:.3}-{:.3} s ({ROUNDS} times)",
            at(0.5),
            at(0.1),
            at(0.9)
        );
        assert!(at(0.5) <= 1.0, "{name}");
    }
}
