//! This machine as a place: the suite that every place passes, and what only a real one can show.

use std::fs;
use std::path::Path;
use std::time::Duration;

use model::measurement::{MEASUREMENT_FILE, PROGRESS_FILE};
use model::{Measurement, Status, Work};
use place::conformance::{self, command_order};
use place::{Local, Place as _};

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
