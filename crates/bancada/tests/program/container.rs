//! Runs in containers, by a real engine. `.ci/places-container` starts one, makes an image and names
//! both: `BANCADA_TEST_ENGINE` and `BANCADA_TEST_IMAGE`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use model::location::{Container, ContainerImage};
use model::{Measurement, Order, Status, Work};
use place::conformance::{self, command_order};
use place::{Cancel, Detached, Local, Place, Runs, Ticket};

use crate::common::Bench;

const BANCADA: &str = env!("CARGO_BIN_EXE_bancada");
const SECRET: &str = "planted-7f3a91c4";
const LONG: Duration = Duration::from_secs(60);

fn engine() -> String {
    std::env::var("BANCADA_TEST_ENGINE").unwrap_or_else(|_| "docker".to_owned())
}

fn container() -> Container {
    let image = std::env::var("BANCADA_TEST_IMAGE").unwrap_or_else(|_| "bancada-test:1".to_owned());
    Container {
        engine: Some(engine()),
        image: ContainerImage::Named(image),
    }
}

/// A place with a folder for its files.
struct Tried {
    bench: Bench,
    place: Local,
}

impl Tried {
    fn new() -> Tried {
        let bench = Bench::new();
        let scratch = bench.path().join("scratch");
        fs::create_dir_all(&scratch).unwrap();
        let place = Local::new(Path::new(BANCADA), bench.path(), &scratch);
        let place = place.in_container(container());
        Tried { bench, place }
    }

    fn start(&self, order: &Order) -> (Ticket, PathBuf) {
        let folder = self.bench.path().join(&order.id);
        fs::create_dir_all(&folder).unwrap();
        self.place.prepare(std::slice::from_ref(order)).unwrap();
        (self.place.start(order, &folder).unwrap(), folder)
    }

    fn finish(&self, ticket: &Ticket, folder: &Path) -> Measurement {
        let deadline = Instant::now() + LONG;
        while !self
            .place
            .follow(ticket, Duration::from_secs(1))
            .unwrap()
            .has_ended
        {
            assert!(Instant::now() < deadline, "it has not ended");
        }
        let measurement = self.place.fetch(ticket, folder).unwrap();
        self.place.clean_up(ticket).unwrap();
        measurement
    }

    fn run(&self, order: &Order) -> Measurement {
        let (ticket, folder) = self.start(order);
        self.finish(&ticket, &folder)
    }
}

fn shell(id: &str, script: &str) -> Order {
    command_order(id, &["sh", "-c", script])
}

fn ask_engine(words: &[&str]) -> String {
    let output = Command::new(engine()).args(words).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Ids of containers that Bancada started and nobody removed.
fn left() -> Vec<String> {
    let listed = ask_engine(&["ps", "--all", "--quiet", "--filter", "label=bancada.order"]);
    listed.lines().map(str::to_owned).collect()
}

fn wait_for(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + LONG;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        sleep(Duration::from_millis(50));
    }
}

fn is_running() -> bool {
    !ask_engine(&["ps", "--quiet", "--filter", "label=bancada.order"]).is_empty()
}

fn value(measurement: &Measurement, name: &str) -> f64 {
    measurement
        .metrics
        .get(name)
        .map_or(f64::NAN, |metric| metric.value)
}

#[test]
#[ignore = "needs a container engine: .ci/places runs it"]
fn installed_docker_conforms() {
    let tried = Tried::new();
    let runs = tried.bench.path().join("runs");
    assert_eq!(conformance::check(&tried.place, &runs), Ok(()));
    let root = tried.bench.path().join("detached");
    fs::create_dir_all(&root).unwrap();
    let program = Path::new(BANCADA);
    let detached = Runs::new(program, tried.bench.path(), &root, Detached::new(program));
    let detached = detached.in_container(container());
    let runs = tried.bench.path().join("detached-runs");
    assert_eq!(conformance::check(&detached, &runs), Ok(()));
    assert_eq!(left(), [""; 0], "no container is left");
}

#[test]
#[ignore = "needs a container engine: .ci/places runs it"]
fn installed_docker_samples_are_the_container_s() {
    let tried = Tried::new();
    // Busy for two seconds, with a file of 40 MB in its memory.
    let script = "x=$(head -c 40000000 /dev/zero | tr '\\0' a); end=$(( $(date +%s) + 2 )); while [ $(date +%s) -lt $end ]; do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; done";
    let measurement = tried.run(&shell("busy", script));
    assert_eq!(
        measurement.outcome.status,
        Status::Ok,
        "{:?}",
        measurement.outcome
    );
    let names: Vec<&str> = measurement.phases.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["startup", "train", "shutdown"]);
    let train = measurement.phases[1].seconds;
    let cpu = value(&measurement, "cpu_seconds");
    assert!(cpu > 0.3 * train, "{cpu} s of CPU in {train} s");
    let peak = value(&measurement, "peak_memory_bytes");
    assert!((40e6..400e6).contains(&peak), "{peak} bytes");
    assert!(value(&measurement, "image_bytes") > 1e5);
    assert!(value(&measurement, "cores_used") > 0.3);
    assert!(measurement.machine.versions.contains_key(&engine()));
    assert_eq!(left(), [""; 0]);
}

#[test]
#[ignore = "needs a container engine: .ci/places runs it"]
fn installed_docker_enforces_limits() {
    let tried = Tried::new();
    let mut order = shell(
        "full",
        "x=$(head -c 300000000 /dev/zero | tr '\\0' a); echo ${#x}",
    );
    order.limits.memory_bytes = Some(64_000_000);
    let full = tried.run(&order);
    assert_eq!(
        full.outcome.status,
        Status::OutOfMemory,
        "{:?}",
        full.outcome
    );
    assert_eq!(full.limits_by, engine());
    // Two processes that would use all of two cores, whoever else is busy.
    let busy =
        "while [ $(date +%s) -lt $end ]; do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; done";
    let script = format!("end=$(( $(date +%s) + 4 )); ({busy}) & {busy}; wait");
    let mut order = shell("half", &script);
    order.limits.cores = Some(0.5);
    let half = tried.run(&order);
    let train = half
        .phases
        .iter()
        .find(|p| p.name == "train")
        .unwrap()
        .seconds;
    let share = value(&half, "cpu_seconds") / train;
    assert!((0.25..0.6).contains(&share), "{share} cores over {train} s");
    assert!(
        (50.0..125.0).contains(&value(&half, "cpu_percent")),
        "{:?}",
        half.metrics
    );
}

#[test]
#[ignore = "needs a container engine: .ci/places runs it"]
fn installed_docker_says_what_failed() {
    let tried = Tried::new();
    let missing = tried.run(&command_order("missing", &["no-such-program"]));
    let detail = missing.outcome.detail.unwrap();
    assert_eq!(missing.outcome.status, Status::Failed);
    assert!(detail.contains("could not start the command"), "{detail}");
    let own = tried.run(&shell("own", "exit 127"));
    assert_eq!(own.outcome.exit_code, Some(127));
    let detail = own.outcome.detail.unwrap();
    assert!(detail.starts_with("ended with exit code 127"), "{detail}");
    let (ticket, folder) = tried.start(&command_order("killed", conformance::ENDLESS));
    wait_for("it runs", is_running);
    ask_engine(&["kill", &left()[0]]);
    let killed = tried.finish(&ticket, &folder);
    assert_eq!(killed.outcome.status, Status::Failed);
    let detail = killed.outcome.detail.unwrap();
    assert!(detail.contains("the container was killed"), "{detail}");
}

#[test]
#[ignore = "needs a container engine: .ci/places runs it"]
fn installed_docker_image_that_cannot_be_had_is_refused() {
    let bench = Bench::new();
    let scratch = bench.path().join("scratch");
    fs::create_dir_all(&scratch).unwrap();
    let unknown = Container {
        engine: Some(engine()),
        image: ContainerImage::Named("localhost:1/no/such:image".to_owned()),
    };
    let place = Local::new(Path::new(BANCADA), bench.path(), &scratch).in_container(unknown);
    let refused = place.prepare(&[command_order("x", conformance::ENDS_WELL)]);
    let why = refused.unwrap_err().to_string();
    assert!(why.contains("could not pull it"), "{why}");
}

#[test]
#[ignore = "needs a container engine: .ci/places runs it"]
fn installed_docker_killed_worker_leaves_no_container() {
    let tried = Tried::new();
    let order = command_order("orphan", conformance::ENDLESS);
    let (ticket, folder) = tried.start(&order);
    wait_for("it runs", is_running);
    kill_worker_of(&folder, true);
    // Its guard removes the container.
    wait_for("the container is removed", || left().is_empty());
    tried.place.clean_up(&ticket).unwrap();
    // With the guard killed too, the next preparation does it.
    let mut order = order;
    order.id = "orphan-2".to_owned();
    let (ticket, folder) = tried.start(&order);
    wait_for("it runs", is_running);
    kill_worker_of(&folder, false);
    tried.place.clean_up(&ticket).unwrap();
    tried.place.prepare(&[order]).unwrap();
    assert_eq!(left(), [""; 0]);
}

/// By its number; with its guard too, unless that is to be spared.
fn kill_worker_of(folder: &Path, spare_guard: bool) {
    let name = folder.to_string_lossy().into_owned();
    let mut doomed = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|n| n.parse::<i32>().ok())
        else {
            continue;
        };
        let read =
            |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let (command, variables) = (read("cmdline"), read("environ"));
        let is_worker = command.starts_with(BANCADA) && command.contains(&name);
        let is_guard = variables.contains("BANCADA_GUARDED=") && variables.contains(&name);
        // The guard first, or it would notice.
        if is_guard && !spare_guard {
            doomed.insert(0, pid);
        } else if is_worker {
            doomed.push(pid);
        }
    }
    assert!(!doomed.is_empty());
    for pid in doomed {
        // SAFETY: processes of this test, found by the folder that it made.
        unsafe { libc::kill(pid, libc::SIGKILL) };
    }
}

#[test]
#[ignore = "needs a container engine: .ci/places runs it"]
fn installed_docker_secrets_stay_private() {
    let tried = Tried::new();
    let mut order = shell("secret", "echo \"${#TOKEN} ${#KEY}\"; sleep 2");
    if let Work::Command(command) = &mut order.work {
        command.env.insert("TOKEN".into(), SECRET.into());
        command
            .env
            .insert("KEY".into(), format!("{SECRET}\nand a second line"));
    }
    let (ticket, folder) = tried.start(&order);
    wait_for("it runs", is_running);
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).into_owned();
        assert!(!words.contains(SECRET), "{words}");
    }
    let measurement = tried.finish(&ticket, &folder);
    assert_eq!(
        measurement.outcome.status,
        Status::Ok,
        "{:?}",
        measurement.outcome
    );
    let log = fs::read_to_string(folder.join("log.txt")).unwrap();
    assert_eq!(
        log.trim(),
        format!("{} {}", SECRET.len(), SECRET.len() + 18)
    );
    for entry in fs::read_dir(&folder).unwrap().flatten() {
        let text = fs::read(entry.path()).unwrap_or_default();
        let is_order = entry.file_name() == "order.json";
        let has_it = String::from_utf8_lossy(&text).contains(SECRET);
        assert!(is_order || !has_it, "{}", entry.path().display());
    }
}

#[test]
#[ignore = "needs a container engine: .ci/places runs it"]
fn installed_docker_trains_with_the_engine() {
    let tried = Tried::new();
    let measurement = tried.run(&training_order("train"));
    assert_eq!(
        measurement.outcome.status,
        Status::Ok,
        "{:?}",
        measurement.outcome
    );
    assert!(value(&measurement, "images_per_second") > 0.0);
    assert!(value(&measurement, "train_seconds") > 0.0);
    assert_eq!(measurement.phases[0].name, "startup");
}

/// `BANCADA_TEST_BASE` is an image with Python, `BANCADA_TEST_FRAMEWORK` what is set up on it.
#[test]
#[ignore = "needs a container engine, Python packages and minutes: .ci/places-container base runs it"]
fn installed_base_builds_an_image_for_a_framework() {
    let variable = |name: &str| std::env::var(name).unwrap();
    let mut tried = Tried::new();
    let base = Container {
        engine: Some(engine()),
        image: ContainerImage::Base(variable("BANCADA_TEST_BASE")),
    };
    tried.place = tried.place.in_container(base);
    let mut order = training_order("framework");
    if let Work::Train(train) = &mut order.work {
        train.framework = variable("BANCADA_TEST_FRAMEWORK");
    }
    let orders = std::slice::from_ref(&order);
    let made = tried.place.prepare(orders).unwrap().images;
    println!(
        "{} {} bytes in {:.1} s",
        made[0].name, made[0].bytes, made[0].seconds
    );
    let again = tried.place.prepare(orders).unwrap().images;
    assert_eq!(again[0].source, model::measurement::ImageSource::Present);
    assert_eq!(again[0].id, made[0].id);
    let measurement = tried.run(&order);
    assert_eq!(
        measurement.outcome.status,
        Status::Ok,
        "{:?}",
        measurement.outcome
    );
    assert!(value(&measurement, "images_per_second") > 0.0);
}

/// The first run of `studies/container.toml` at its small scale.
fn training_order(id: &str) -> Order {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/container.toml");
    let opened = workbench::open_study(&path, Some("small"), &|_| {});
    let Ok(opened) = opened else {
        panic!("the study cannot be read");
    };
    let cache = std::env::temp_dir();
    let builder = runner::OrderBuilder::new(&opened.study, &opened.folder, &cache);
    let scenario = &opened.plan.scenarios[0];
    let run = model::RunId {
        scenario: scenario.number,
        repetition: 1,
    };
    let order = builder.of_scenario(scenario).unwrap();
    order.for_run(run, id.to_owned(), opened.study.seed)
}

/// The engine's daemon is killed while a run is in progress, and comes back. The script says how:
/// `BANCADA_TEST_DAEMON kill` and `BANCADA_TEST_DAEMON start`.
#[test]
#[ignore = "needs a container engine: .ci/places runs it"]
fn installed_docker_z_daemon_killed() {
    let Ok(daemon) = std::env::var("BANCADA_TEST_DAEMON") else {
        return;
    };
    let tell = |word: &str| assert!(Command::new(&daemon).arg(word).status().unwrap().success());
    let tried = Tried::new();
    let order = command_order("no-daemon", conformance::ENDLESS);
    let (ticket, folder) = tried.start(&order);
    wait_for("it runs", is_running);
    tell("kill");
    let lost = tried.finish(&ticket, &folder);
    let refused = tried.place.prepare(std::slice::from_ref(&order));
    tell("start");
    assert_eq!(lost.outcome.status, Status::Failed, "{:?}", lost.outcome);
    let detail = lost.outcome.detail.unwrap();
    assert!(detail.contains("docker stopped answering"), "{detail}");
    let why = refused.unwrap_err().to_string();
    assert!(
        why.contains("docker is installed, but its daemon does not answer"),
        "{why}"
    );
    tried.place.prepare(&[order]).unwrap();
    assert_eq!(left(), [""; 0]);
}

#[test]
#[ignore = "needs a container engine: .ci/places runs it"]
fn installed_docker_cancel_gives_a_grace_time() {
    let tried = Tried::new();
    let script = "trap 'echo tidied; exit 0' TERM; while true; do sleep 0.1; done";
    let (ticket, folder) = tried.start(&shell("graceful", script));
    wait_for("it runs", is_running);
    sleep(Duration::from_millis(300));
    tried.place.cancel(&ticket, Cancel::Finish).unwrap();
    let measurement = tried.finish(&ticket, &folder);
    assert_eq!(measurement.outcome.status, Status::Interrupted);
    let log = fs::read_to_string(folder.join("log.txt")).unwrap();
    assert_eq!(log, "tidied\n");
}

#[test]
fn hostile_image_names_are_refused() {
    let bench = Bench::new();
    for name in [
        "--privileged",
        "a b",
        "x;reboot",
        "$(id)",
        "../../etc",
        "",
        "a\\nb",
    ] {
        let text = format!(
            "[study]\nname = \"x\"\n[factors]\nn = [1]\n[workload]\ncommand = [\"true\"]\n[environments.box]\ncontainer = \"{name}\"\n"
        );
        let path = bench.path().join("study.toml");
        fs::write(&path, text).unwrap();
        let output = Command::new(BANCADA)
            .arg("check")
            .arg(&path)
            .output()
            .unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{name}");
        assert!(
            complaint.contains("is not a valid image name"),
            "{name}: {complaint}"
        );
    }
}

/// For docs/benchmarks.md: by turns, so that whatever else the machine does meets all alike.
#[test]
#[ignore = "needs a container engine: .ci/places-container measure runs it"]
fn installed_measure_containers() {
    let tried = Tried::new();
    let scratch = tried.bench.path().join("host");
    fs::create_dir_all(&scratch).unwrap();
    let host = Local::new(Path::new(BANCADA), tried.bench.path(), &scratch);
    let ContainerImage::Named(image) = container().image else {
        panic!("a named image");
    };
    let mut nothing: [Vec<f64>; 3] = Default::default();
    let order = command_order("prepared", conformance::ENDS_WELL);
    for place in [&tried.place, &host] {
        place.prepare(std::slice::from_ref(&order)).unwrap();
    }
    for n in 0..25 {
        let begin = Instant::now();
        ask_engine(&["run", "--rm", &image, "true"]);
        nothing[0].push(begin.elapsed().as_secs_f64());
        nothing[1]
            .push(timed(&tried.place, &order, tried.bench.path(), &format!("in-{n}")).seconds);
        nothing[2].push(timed(&host, &order, tried.bench.path(), &format!("out-{n}")).seconds);
    }
    let [plain, inside, outside] = nothing.map(median);
    println!(
        "0-second run, medians of 25: docker run --rm {plain:.3} s, in a container {inside:.3} s, on this machine {outside:.3} s"
    );
    let order = training_order("train");
    for place in [&tried.place, &host] {
        place.prepare(std::slice::from_ref(&order)).unwrap();
    }
    let mut seen: [Vec<Measurement>; 2] = Default::default();
    for n in 0..9 {
        seen[0].push(timed(&host, &order, tried.bench.path(), &format!("h-{n}")).measurement);
        seen[1]
            .push(timed(&tried.place, &order, tried.bench.path(), &format!("c-{n}")).measurement);
    }
    for name in [
        "train_seconds",
        "total_seconds",
        "cpu_seconds",
        "peak_memory_bytes",
    ] {
        let of = |runs: &[Measurement]| runs.iter().map(|m| value(m, name)).collect::<Vec<f64>>();
        let mut pairs = of(&seen[0]).into_iter().zip(of(&seen[1]));
        let (host, container): (Vec<f64>, Vec<f64>) = pairs.by_ref().unzip();
        println!("{name}: host {host:.3?}");
        println!("{name}: container {container:.3?}");
        println!(
            "{name}: medians {:.4} and {:.4}",
            median(host),
            median(container)
        );
    }
}

struct Timed {
    seconds: f64,
    measurement: Measurement,
}

fn timed(place: &Local, order: &Order, root: &Path, id: &str) -> Timed {
    let mut order = order.clone();
    order.id = id.to_owned();
    let folder = root.join(id);
    fs::create_dir_all(&folder).unwrap();
    let begin = Instant::now();
    let ticket = place.start(&order, &folder).unwrap();
    while !place.follow(&ticket, LONG).unwrap().has_ended {}
    let seconds = begin.elapsed().as_secs_f64();
    let measurement = place.fetch(&ticket, &folder).unwrap();
    place.clean_up(&ticket).unwrap();
    let status = measurement.outcome.status;
    assert_eq!(status, Status::Ok, "{:?}", measurement.outcome);
    Timed {
        seconds,
        measurement,
    }
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
