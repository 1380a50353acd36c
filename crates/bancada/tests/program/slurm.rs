//! A real Slurm cluster as a place; `.ci/places-slurm` starts one and runs these tests.

mod cluster;
mod faults;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use model::location::Slurm;
use model::{EventKind, Happening, Measurement, Order, Status};
use place::conformance::{self, ENDLESS, ENDS_WELL, command_order};
use place::{Place, PlaceError, Ticket};

use cluster::{Cluster, Daemon};

fn slurm() -> Slurm {
    Slurm {
        exclusive: true,
        ..Slurm::default()
    }
}

/// An order carried out to its end as a lane does it, and what was seen on the way.
struct Carried {
    measurement: Measurement,
    notes: Vec<String>,
    folder: PathBuf,
}

fn follow(place: &dyn Place, ticket: &Ticket, patience: Duration) -> Vec<String> {
    let deadline = Instant::now() + patience;
    let mut notes = Vec::new();
    while Instant::now() < deadline {
        match place.follow(ticket, Duration::from_millis(50)) {
            Ok(followed) => {
                let note = |happening: &Happening| match happening {
                    Happening::Event(event) => match &event.kind {
                        EventKind::Note { text } => Some(text.clone()),
                        _ => None,
                    },
                    Happening::Sample(_) => None,
                };
                notes.extend(followed.happenings.iter().filter_map(note));
                if followed.has_ended {
                    return notes;
                }
            }
            Err(PlaceError::Lost(_)) => thread::sleep(Duration::from_millis(100)),
            Err(error) => panic!("{error}"),
        }
    }
    panic!("{ticket:?} has not ended after {patience:?}");
}

fn home(cluster: &Cluster, place: &dyn Place, ticket: &Ticket) -> Carried {
    let notes = follow(place, ticket, Duration::from_secs(150));
    let folder = cluster.folder.join("home").join(&ticket.0);
    fs::create_dir_all(&folder).unwrap();
    let measurement = place.fetch(ticket, &folder).unwrap();
    place.clean_up(ticket).unwrap();
    Carried {
        measurement,
        notes,
        folder,
    }
}

fn start(place: &dyn Place, order: &Order) -> Ticket {
    place
        .start(order, std::path::Path::new("/nowhere"))
        .unwrap()
}

fn accounting(carried: &Carried) -> serde_json::Value {
    let text = fs::read_to_string(carried.folder.join("slurm.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
#[ignore = "needs a Slurm cluster: .ci/places-slurm runs it"]
fn installed_slurm_is_a_place() {
    let cluster = Cluster::healthy("suite");
    let place = cluster.place(&slurm());
    let described = place.describe().unwrap();
    assert_eq!(described.capacity.cores, 2.0);
    assert_eq!(described.capacity.memory_bytes, 1000 << 20, "of a node");
    assert_eq!(
        conformance::check(&place, &cluster.folder.join("home")),
        Ok(())
    );
    cluster.check_nothing_is_left();
}

/// More jobs than nodes, from as many threads.
#[test]
#[ignore = "needs a Slurm cluster: .ci/places-slurm runs it"]
fn installed_slurm_queue_is_full() {
    let cluster = Cluster::healthy("full");
    let place = cluster.place(&slurm());
    place.prepare(&[command_order("ready", ENDS_WELL)]).unwrap();
    let carried: Vec<Carried> = thread::scope(|scope| {
        let lane = |number: usize| {
            let (cluster, place) = (&cluster, &place);
            scope.spawn(move || {
                let order = command_order(&format!("full-{number}"), &["sleep", "0.5"]);
                home(cluster, place, &start(place, &order))
            })
        };
        let lanes: Vec<_> = (0..8).map(lane).collect();
        lanes.into_iter().map(|lane| lane.join().unwrap()).collect()
    });
    for one in &carried {
        assert_eq!(one.measurement.outcome.status, Status::Ok);
        assert!(one.measurement.seconds < 1.5, "waiting is not run time");
        assert_eq!(accounting(one)["state"], "COMPLETED");
    }
    let nodes: BTreeSet<String> = carried
        .iter()
        .map(|one| accounting(one)["nodes"].to_string())
        .collect();
    assert_eq!(nodes.len(), 3, "{nodes:?}");
    assert!(
        carried
            .iter()
            .flat_map(|one| &one.notes)
            .any(|note| note.contains("waiting in the queue")),
        "who waits is told"
    );
    cluster.check_nothing_is_left();
}

#[test]
#[ignore = "needs a Slurm cluster: .ci/places-slurm runs it"]
fn installed_slurm_node_dies() {
    let cluster = Cluster::healthy("node");
    let place = cluster.place(&slurm());
    let ticket = start(&place, &command_order("dies", ENDLESS));
    let node = cluster.node_of(&ticket.0);
    let begun = Instant::now();
    cluster.kill_node(&node);
    let carried = home(&cluster, &place, &ticket);
    println!(
        "a dead node was noticed after {:.1} s",
        begun.elapsed().as_secs_f64()
    );
    let outcome = &carried.measurement.outcome;
    assert_eq!(outcome.status, Status::Interrupted, "{outcome:?}");
    assert!(
        outcome.detail.as_ref().unwrap().contains("node failed"),
        "{outcome:?}"
    );
    assert_eq!(accounting(&carried)["restarts"], 0, "counted once");
    cluster.heal();
    let again = start(&place, &command_order("dies-again", ENDS_WELL));
    assert_eq!(
        home(&cluster, &place, &again).measurement.outcome.status,
        Status::Ok
    );
    cluster.check_nothing_is_left();
}

#[test]
#[ignore = "needs a Slurm cluster: .ci/places-slurm runs it"]
fn installed_slurm_controller_restarts() {
    let cluster = Cluster::healthy("controller");
    for (name, signal) in [("term", libc::SIGTERM), ("kill", libc::SIGKILL)] {
        let place = cluster.place(&slurm());
        let long = start(
            &place,
            &command_order(&format!("long-{name}"), &["sleep", "3"]),
        );
        cluster.node_of(&long.0);
        // Between its submission and the first look.
        let fresh = start(
            &place,
            &command_order(&format!("fresh-{name}"), &["sleep", "1"]),
        );
        cluster.end(&Daemon::Controller, signal);
        thread::sleep(Duration::from_millis(500));
        cluster.start(&Daemon::Controller);
        let long = home(&cluster, &place, &long);
        assert_eq!(long.measurement.outcome.status, Status::Ok, "{name}");
        let fresh = home(&cluster, &place, &fresh).measurement.outcome;
        // A controller that was killed may have forgotten it, and says nothing about it.
        let allowed: &[Status] = match signal {
            libc::SIGTERM => &[Status::Ok],
            _ => &[Status::Ok, Status::Interrupted],
        };
        assert!(allowed.contains(&fresh.status), "{name}: {fresh:?}");
        println!(
            "controller ended by {name}: the fresh job ended as {}",
            fresh.status
        );
        cluster.heal();
    }
    cluster.check_nothing_is_left();
}

#[test]
#[ignore = "needs a Slurm cluster: .ci/places-slurm runs it"]
fn installed_slurm_somebody_else_ends_jobs() {
    let cluster = Cluster::healthy("others");
    let place = cluster.place(&Slurm {
        partition: Some("low".into()),
        ..slurm()
    });
    let running = start(&place, &command_order("running", ENDLESS));
    cluster.node_of(&running.0);
    cluster.run("scancel", &["--name=running"]);
    let outcome = home(&cluster, &place, &running).measurement.outcome;
    assert_eq!(outcome.status, Status::Interrupted, "{outcome:?}");
    assert!(outcome.detail.unwrap().contains("cancelled in Slurm"));

    let all: Vec<Ticket> = (0..3)
        .map(|number| start(&place, &command_order(&format!("busy-{number}"), ENDLESS)))
        .collect();
    all.iter().for_each(|ticket| _ = cluster.node_of(&ticket.0));
    let waiting = start(&place, &command_order("waiting", ENDLESS));
    thread::sleep(Duration::from_millis(300));
    cluster.run("scancel", &["--name=waiting"]);
    let never = home(&cluster, &place, &waiting).measurement;
    assert_eq!(never.outcome.status, Status::Interrupted);
    assert!(never.phases.is_empty(), "it used no machine");

    // A job of a better partition needs all nodes.
    cluster.run("srun", &["-p", "p", "-N3", "--exclusive", "true"]);
    for ticket in &all {
        let outcome = home(&cluster, &place, ticket).measurement.outcome;
        assert_eq!(outcome.status, Status::Interrupted, "{outcome:?}");
        let detail = outcome.detail.unwrap();
        assert!(detail.contains("preempted"), "{detail}");
    }
    cluster.check_nothing_is_left();
}

#[test]
#[ignore = "needs a Slurm cluster: .ci/places-slurm runs it"]
fn installed_slurm_refuses_with_its_own_words() {
    let cluster = Cluster::healthy("refused");
    let refused = |slurm: Slurm| {
        let place = cluster.place(&slurm);
        let started = place.start(&command_order("refused", ENDS_WELL), &cluster.folder);
        started.unwrap_err().to_string()
    };
    let said = refused(Slurm {
        partition: Some("$(touch hacked); 'x".into()),
        ..slurm()
    });
    assert!(said.contains("nvalid partition"), "{said}");
    let said = refused(Slurm {
        options: vec!["--constraint=`touch hacked`".into()],
        ..slurm()
    });
    assert!(said.contains("nvalid feature"), "{said}");
    assert!(!cluster.folder.join("hacked").exists());
    cluster.check_nothing_is_left();
}

#[test]
#[ignore = "needs a Slurm cluster: .ci/places-slurm runs it"]
fn installed_slurm_command_over_nodes() {
    let cluster = Cluster::healthy("nodes");
    let place = cluster.place(&Slurm {
        nodes: 2,
        ..slurm()
    });
    // As the worker of a training starts the others, see `worker::use_allocation`.
    let script = "other=$(scontrol show hostnames | tail -1); echo on $SLURMD_NODENAME; \
        echo 'echo on $SLURMD_NODENAME' | srun --overlap --nodes=1 --ntasks=1 --cpu-bind=none --mem=0 \
        --kill-on-bad-exit --nodelist=$other sh";
    let words = ["sh", "-c", script];
    let carried = home(
        &cluster,
        &place,
        &start(&place, &command_order("nodes", &words)),
    );
    let log = fs::read_to_string(carried.folder.join("log.txt")).unwrap();
    assert_eq!(carried.measurement.outcome.status, Status::Ok, "{log}");
    // srun itself may say something, too.
    let nodes: BTreeSet<&str> = log.lines().filter(|line| line.starts_with("on ")).collect();
    assert_eq!(nodes.len(), 2, "{log}");
    cluster.check_nothing_is_left();
}

/// Slurm counts in minutes: this takes one and a half.
#[test]
#[ignore = "needs a Slurm cluster: .ci/places-slurm runs it"]
fn installed_slurm_time_limit() {
    let cluster = Cluster::healthy("limit");
    let place = cluster.place(&Slurm {
        time_limit_seconds: Some(60),
        ..slurm()
    });
    let carried = home(
        &cluster,
        &place,
        &start(&place, &command_order("limit", ENDLESS)),
    );
    let outcome = carried.measurement.outcome;
    assert_eq!(outcome.status, Status::TimedOut, "{outcome:?}");
    let detail = outcome.detail.unwrap_or_default();
    let words = "its time limit in Slurm of 1 min, `time_limit` of the environment";
    assert!(detail.contains(words), "{detail}");
    cluster.check_nothing_is_left();
}

/// Seconds of an order of no length, beside what Slurm's own programs take for the same.
#[test]
#[ignore = "needs a Slurm cluster: .ci/places-slurm runs it"]
fn installed_slurm_overhead() {
    const TIMES: usize = 10;
    let cluster = Cluster::healthy("overhead");
    let place = cluster.place(&slurm());
    place.prepare(&[command_order("ready", ENDS_WELL)]).unwrap();
    let mut times: [Vec<f64>; 7] = Default::default();
    let folder = cluster.folder.join("home");
    fs::create_dir_all(&folder).unwrap();
    for number in 0..TIMES {
        let begun = Instant::now();
        cluster.run("srun", &["--exclusive", "true"]);
        times[0].push(begun.elapsed().as_secs_f64());
        let begun = Instant::now();
        let batch = [
            "--wait",
            "--quiet",
            "--exclusive",
            "--output=/dev/null",
            "--wrap=true",
        ];
        cluster.run("sbatch", &batch);
        times[1].push(begun.elapsed().as_secs_f64());
        let (begun, clock) = (Instant::now(), SystemTime::now());
        let mut lap = |place: usize| times[place].push(begun.elapsed().as_secs_f64());
        let ticket = start(&place, &command_order(&format!("zero-{number}"), ENDS_WELL));
        lap(3);
        follow(&place, &ticket, Duration::from_secs(60));
        lap(4);
        let claim = place.folder(&ticket).join("worker.json");
        let claimed = fs::metadata(claim).unwrap().modified().unwrap();
        let waited = claimed.duration_since(clock).unwrap_or_default();
        let measurement = place.fetch(&ticket, &folder).unwrap();
        lap(5);
        place.clean_up(&ticket).unwrap();
        lap(2);
        // From the start of the worker on; before that Slurm was at work.
        times[6].push(begun.elapsed().as_secs_f64() - waited.as_secs_f64());
        assert_eq!(measurement.outcome.status, Status::Ok);
    }
    let names = [
        "srun true",
        "sbatch --wait of true",
        "a run of `true`",
        "  to: submitted",
        "  to: ended",
        "  to: fetched",
        "  our own, of that",
    ];
    for (name, mut seconds) in names.iter().zip(times) {
        seconds.sort_by(f64::total_cmp);
        println!(
            "{name:24} median {:.2} s, from {:.2} to {:.2} ({TIMES} times)",
            seconds[TIMES / 2],
            seconds[0],
            seconds[TIMES - 1]
        );
    }
    cluster.check_nothing_is_left();
}

fn own_processes(variable: &str) -> Vec<i32> {
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|known| known == variable.as_bytes())
    })
    .collect()
}

fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

fn command_line(pid: i32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

fn kill(pid: i32, signal: i32) {
    // Ended meanwhile where it fails.
    _ = Command::new("kill")
        .args([format!("-{signal}"), pid.to_string()])
        .output();
}
