//! This machine as a place: the suite that every place passes, and what only a real one can show.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use model::measurement::{MEASUREMENT_FILE, PROGRESS_FILE};
use model::{Measurement, Status, Work};
use place::conformance::{self, command_order};
use place::{Detached, Local, Place, PlaceError, Remote, Runs};

use crate::common::Bench;

const BANCADA: &str = env!("CARGO_BIN_EXE_bancada");

fn local(root: &Path) -> Local {
    let scratch = root.join("scratch");
    fs::create_dir_all(&scratch).unwrap();
    Local::new(Path::new(BANCADA), root, &scratch)
}

#[test]
fn this_machine_is_a_place() {
    let bench = Bench::new();
    let root = bench.path();
    let place = local(root);
    assert_eq!(conformance::check(&place, &root.join("runs")), Ok(()));
}

#[test]
fn a_worker_carries_out_an_order_from_a_file() {
    let bench = Bench::new();
    let root = bench.path();
    let order = root.join("order.json");
    let words = ["sh", "-c", "pwd; echo $GREETING"];
    let mut asked = command_order("by-hand", &words);
    if let Work::Command(command) = &mut asked.work {
        command.env.insert("GREETING".into(), "bom dia".into());
    }
    fs::write(&order, serde_json::to_vec(&asked).unwrap()).unwrap();
    let status = std::process::Command::new(BANCADA)
        .arg("work")
        .args([&order, &root.join("run")])
        .arg("--files")
        .arg(root)
        .status();
    assert!(status.unwrap().success());
    let read = |name: &str| fs::read_to_string(root.join("run").join(name)).unwrap();
    let measurement: Measurement = serde_json::from_str(&read(MEASUREMENT_FILE)).unwrap();
    assert_eq!(measurement.order, "by-hand");
    assert_eq!(measurement.outcome.status, Status::Ok);
    assert!(
        measurement.machine.logical_cores > 0,
        "it says where it ran"
    );
    assert!(measurement.phases.iter().any(|phase| phase.seconds > 0.0));
    let log = read("log.txt");
    let expected = fs::canonicalize(root).unwrap();
    assert_eq!(log, format!("{}\nbom dia\n", expected.display()));
    assert!(
        read(PROGRESS_FILE).lines().count() > 0,
        "its samples are there"
    );
}

#[test]
fn an_order_that_cannot_be_read_is_refused_with_its_name() {
    let bench = Bench::new();
    let root = bench.path();
    let order = root.join("order.json");
    fs::write(&order, "{\"protocol\": 1}").unwrap();
    let output = std::process::Command::new(BANCADA)
        .arg("work")
        .args([&order, &root.join("run")])
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    assert!(
        complaint.contains("order.json: missing field"),
        "{complaint}"
    );
}

/// The variables of a command may hold tokens.
#[test]
fn an_order_is_private_and_goes_with_its_run() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new();
    let root = bench.path();
    let place = local(root);
    let run = root.join("run");
    fs::create_dir_all(&run).unwrap();
    let order = command_order("private", conformance::ENDLESS);
    let ticket = place.start(&order, &run).unwrap();
    let mode = fs::metadata(run.join("order.json")).unwrap();
    assert_eq!(mode.permissions().mode() & 0o077, 0);
    place.clean_up(&ticket).unwrap();
    assert!(place.follow(&ticket, Duration::ZERO).is_err());
}

fn runs(root: &Path) -> Runs<Detached> {
    let program = Path::new(BANCADA);
    Runs::new(program, root, &root.join("place"), Detached::new(program))
}

/// The command of an agent of its own machine: no ssh, but all the rest.
fn agent(root: &Path) -> Command {
    let mut command = Command::new(BANCADA);
    command
        .arg("agent")
        .arg(root.join("place"))
        .arg("--files")
        .arg(root.join("files"))
        .env("BANCADA_CACHE", root.join("cache"));
    command
}

fn remote(root: &Path) -> Remote {
    let owned = root.to_owned();
    Remote::new("far", root, move || agent(&owned))
}

fn nothing_is_left(root: &Path) {
    let left: Vec<PathBuf> = fs::read_dir(root.join("place/runs"))
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    assert_eq!(left, Vec::<PathBuf>::new());
}

#[test]
fn workers_that_outlive_the_coordinator_are_a_place() {
    let bench = Bench::new();
    let root = bench.path();
    assert_eq!(conformance::check(&runs(root), &root.join("runs")), Ok(()));
    nothing_is_left(root);
}

#[test]
fn an_agent_behind_a_pipe_is_a_place() {
    let bench = Bench::new();
    let root = bench.path();
    assert_eq!(
        conformance::check(&remote(root), &root.join("runs")),
        Ok(())
    );
    nothing_is_left(root);
}

/// The command of a run, its files and what it prints are the same at the far end.
#[test]
fn files_of_a_study_go_to_the_agent() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new();
    let root = bench.path();
    let script = root.join("scripts/hello.sh");
    fs::create_dir_all(script.parent().unwrap()).unwrap();
    fs::write(&script, "#!/bin/sh\npwd\ncat \"$1\"\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(root.join("scripts/a b.txt"), "bom dia\n").unwrap();
    let mut order = command_order("with-files", &["./hello.sh", "a b.txt"]);
    if let Work::Command(command) = &mut order.work {
        command.directory = Some("scripts".into());
    }
    let input = |path: &str| model::run::RunInput {
        path: path.to_owned(),
        bytes: fs::metadata(root.join(path)).unwrap().len(),
        sha256: None,
        modified: None,
        listed: true,
    };
    order.inputs = vec![input("scripts/hello.sh"), input("scripts/a b.txt")];
    let place = remote(root);
    let home = root.join("home");
    let measurement = carry_out(&place, &order, &home);
    let log = fs::read_to_string(home.join("log.txt")).unwrap();
    assert_eq!(measurement.outcome.status, Status::Ok, "{log}");
    let there = fs::canonicalize(root.join("files/scripts")).unwrap();
    assert_eq!(log, format!("{}\nbom dia\n", there.display()));
    order.id = "outside".to_owned();
    order.inputs[0].path = "../secret".to_owned();
    let refused = place.start(&order, &home).unwrap_err().to_string();
    assert!(refused.contains("cannot send ../secret"), "{refused}");
}

fn carry_out(place: &dyn Place, order: &model::Order, folder: &Path) -> Measurement {
    fs::create_dir_all(folder).unwrap();
    let ticket = place.start(order, folder).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        assert!(Instant::now() < deadline);
        match place.follow(&ticket, Duration::from_millis(50)) {
            Ok(followed) if followed.has_ended => break,
            Ok(_) | Err(PlaceError::Lost(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    let measurement = loop {
        match place.fetch(&ticket, folder) {
            Ok(measurement) => break measurement,
            Err(PlaceError::Lost(_)) => assert!(Instant::now() < deadline),
            Err(error) => panic!("{error}"),
        }
    };
    place.clean_up(&ticket).unwrap();
    measurement
}

/// Kills the agent of every connection a little later, each time at a different moment.
struct Unlucky {
    agents: Arc<Mutex<Vec<u32>>>,
    over: Arc<AtomicU32>,
}

impl Unlucky {
    fn place(root: &Path, seed: u64) -> (Remote, Unlucky) {
        let over = Arc::new(AtomicU32::new(0));
        let pids = root.join("agents");
        fs::create_dir_all(&pids).unwrap();
        let owned = root.to_owned();
        // A shell that writes its number and becomes the agent.
        let connector = move || {
            let mut command = Command::new("sh");
            command.args(["-c", "echo $$ > \"$1/$$\"; shift; exec \"$@\"", "sh"]);
            let agent = agent(&owned);
            command.arg(owned.join("agents"));
            command.arg(agent.get_program()).args(agent.get_args());
            command.env("BANCADA_CACHE", owned.join("cache"));
            command
        };
        let unlucky = Unlucky {
            agents: Arc::default(),
            over: Arc::clone(&over),
        };
        let killed = Arc::clone(&unlucky.agents);
        thread::spawn(move || {
            let mut state = seed;
            while over.load(Ordering::Relaxed) == 0 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                thread::sleep(Duration::from_millis(10 + (state >> 33) % 190));
                for entry in fs::read_dir(&pids).unwrap().flatten() {
                    let name = entry.file_name().into_string().unwrap();
                    let is_written = fs::metadata(entry.path()).is_ok_and(|file| file.len() > 0);
                    if let (true, Ok(pid)) = (is_written, name.parse::<u32>()) {
                        _ = fs::remove_file(entry.path());
                        _ = Command::new("kill").args(["-9", &name]).output();
                        killed.lock().unwrap().push(pid);
                    }
                }
            }
        });
        (Remote::new("far", root, connector), unlucky)
    }
}

#[test]
fn agents_may_be_killed_at_any_moment() {
    let bench = Bench::new();
    let root = bench.path();
    let (place, unlucky) = Unlucky::place(root, 7);
    let report = "for i in 1 2 3 4 5 6; do echo '{\"event\": \"note\", \"text\": \"'$i'\"}' \
                  >> \"$BANCADA_EVENTS\"; sleep 0.1; done; echo run >> \"$COUNT\"";
    for number in 0..6 {
        let mut order = command_order(&format!("order-{number}"), &["sh", "-c", report]);
        let count = root.join(format!("count-{number}"));
        if let Work::Command(command) = &mut order.work {
            let count = count.to_str().unwrap().to_owned();
            command.env.insert("COUNT".into(), count);
        }
        let folder = root.join("home").join(number.to_string());
        fs::create_dir_all(&folder).unwrap();
        let ticket = place.start(&order, &folder).unwrap();
        let mut notes = Vec::new();
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            assert!(Instant::now() < deadline, "order {number} does not end");
            match place.follow(&ticket, Duration::from_millis(50)) {
                Ok(followed) => {
                    notes.extend(followed.happenings.into_iter().filter_map(note));
                    if followed.has_ended {
                        break;
                    }
                }
                Err(PlaceError::Lost(_)) => {}
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(
            notes,
            ["1", "2", "3", "4", "5", "6"],
            "none lost, none twice"
        );
        let measurement = loop {
            match place.fetch(&ticket, &folder) {
                Ok(measurement) => break measurement,
                Err(PlaceError::Lost(_)) => assert!(Instant::now() < deadline),
                Err(error) => panic!("{error}"),
            }
        };
        assert_eq!(measurement.outcome.status, Status::Ok);
        assert_eq!(fs::read_to_string(&count).unwrap(), "run\n", "it ran once");
        place.clean_up(&ticket).unwrap();
    }
    unlucky.over.store(1, Ordering::Relaxed);
    let killed = unlucky.agents.lock().unwrap().len();
    assert!(killed >= 6, "only {killed} agents were killed");
    nothing_is_left(root);
}

fn note(happening: model::Happening) -> Option<String> {
    match happening {
        model::Happening::Event(event) => match event.kind {
            model::EventKind::Note { text } => Some(text),
            _ => None,
        },
        model::Happening::Sample(_) => None,
    }
}
