//! Start-up of the program, and 10,000 runs read back and analysed. Prints figures, asserts none.
//!
//!     cargo bench -p bancada

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use model::run::{BUNDLE_SCHEMA, EnvironmentRecord, Origin, metric};
use model::{
    Epoch, Inventory, Limits, Metric, Outcome, Phase, Plan, RunId, RunRecord, Scenario, Study,
};
use store::{Store, StudyIdentity};

const STUDY: &str = r#"
[study]
name = "ten-thousand"
repetitions = 10
[factors]
a = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
b = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
c = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
[workload]
command = ["true", "{a}", "{b}", "{c}"]
"#;

fn main() {
    start_up();
    let folder = std::env::temp_dir().join(format!("bancada-bench-{}", std::process::id()));
    ten_thousand_runs(&folder);
    _ = std::fs::remove_dir_all(&folder);
}

fn start_up() {
    let bancada = [env!("CARGO_BIN_EXE_bancada"), "--help"];
    let python = ["python3", "--help"];
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..30 {
        ours.extend(milliseconds(&bancada));
        theirs.extend(milliseconds(&python));
    }
    println!(
        "start-up of `bancada --help`     {:>8} ms (median of 30)",
        median(&mut ours)
    );
    println!(
        "start-up of `python3 --help`     {:>8} ms",
        median(&mut theirs)
    );
}

fn milliseconds(command: &[&str]) -> Option<f64> {
    let begin = Instant::now();
    let mut child = Command::new(command[0]);
    child
        .args(&command[1..])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .ok()?;
    Some(begin.elapsed().as_secs_f64() * 1e3)
}

fn median(values: &mut [f64]) -> String {
    values.sort_by(f64::total_cmp);
    values
        .get(values.len() / 2)
        .map_or("—".to_owned(), |v| format!("{v:.2}"))
}

fn ten_thousand_runs(folder: &Path) {
    let read = |_: &Path| Err(std::io::ErrorKind::NotFound.into());
    let options = plan::ReadOptions {
        folder: None,
        read: &read,
        requests_in: &|_| Ok(0),
        scale: None,
        catalog: cost::catalog(),
        today: None,
    };
    let Ok(study) = plan::read_study(STUDY, &options) else {
        return println!("the study of the bench is wrong");
    };
    let plan = plan::plan(&study);
    if let Err(error) = fill(folder, &study, &plan) {
        return println!("cannot fill {}: {error}", folder.display());
    }
    let mut seconds = Vec::new();
    let mut peak = 0;
    for _ in 0..5 {
        let begin = Instant::now();
        let shown = Command::new(env!("CARGO_BIN_EXE_bancada"))
            .args(["show".as_ref(), folder.as_os_str()])
            .stdout(Stdio::null())
            .status();
        seconds.push(begin.elapsed().as_secs_f64());
        if !shown.is_ok_and(|s| s.success()) {
            return println!("`bancada show` failed");
        }
        peak = peak_bytes_of_children();
    }
    println!(
        "10,000 runs read and analysed    {:>8} s  (median of 5; `bancada show`, all of it)",
        median(&mut seconds)
    );
    println!(
        "  peak memory                    {:>8.0} MB",
        peak as f64 / 1e6
    );
}

/// The largest of all children waited for so far.
fn peak_bytes_of_children() -> u64 {
    // SAFETY: `rusage` is plain numbers, and getrusage writes one to the address given.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    usage.ru_maxrss as u64 * 1024
}

fn fill(folder: &Path, study: &Study, plan: &Plan) -> Result<(), Box<dyn std::error::Error>> {
    let identity = StudyIdentity {
        name: study.name.clone(),
        fingerprint: plan::digest(study),
    };
    let mut store = Store::create_or_open(folder, &identity)?;
    let question = serde_json::json!({ "study": study, "plan": plan });
    store.save_file("plan.json", &serde_json::to_vec(&question)?)?;
    let records: Vec<RunRecord> = plan
        .runs
        .iter()
        .filter_map(|run| Some(record(*run, plan.scenario(run.scenario)?)))
        .collect();
    // As bundles, which is what runs that are measured are.
    store.add_imported_with(records, &|_| Vec::new())?;
    Ok(())
}

/// As full as a real one: eight phases, ten epochs, twenty metrics.
fn record(run: RunId, scenario: &Scenario) -> RunRecord {
    let spread = f64::from(run.repetition * 7919 % 101) / 1e3;
    let seconds = f64::from(run.scenario % 10 + 1) * (1.0 + spread);
    let phase = |name: &str, share: f64| Phase {
        name: name.into(),
        begin_seconds: 0.0,
        seconds: seconds * share,
    };
    let names = [
        "startup",
        "install",
        "load-data",
        "start",
        "train",
        "verify",
        "save",
        "shutdown",
    ];
    let value = |unit: &str| Metric {
        value: seconds,
        unit: unit.into(),
    };
    let mut metrics: BTreeMap<String, Metric> =
        (0..14).map(|i| (format!("own_{i}"), value("1"))).collect();
    for name in [
        metric::TRAIN_SECONDS,
        metric::TOTAL_SECONDS,
        metric::EPOCH_SECONDS,
        metric::CPU_SECONDS,
    ] {
        metrics.insert(name.into(), value("s"));
    }
    metrics.insert(
        metric::PEAK_MEMORY_BYTES.into(),
        Metric {
            value: 1e8 + spread,
            unit: "B".into(),
        },
    );
    RunRecord {
        schema: BUNDLE_SCHEMA,
        study: "ten-thousand".into(),
        run,
        scenario: scenario.clone(),
        fingerprint: String::new(),
        inputs: Vec::new(),
        origin: Origin::Imported {
            file: "bench".into(),
            line: u64::from(run.scenario * 100 + run.repetition),
            undated: false,
        },
        outcome: Outcome::ok(),
        started: model::Timestamp::UNIX_EPOCH,
        seconds,
        phases: names.iter().map(|name| phase(name, 0.125)).collect(),
        epochs: (1..=10)
            .map(|epoch| Epoch {
                epoch,
                loss: Some(1.0 / f64::from(epoch)),
                accuracy: None,
                seconds: Some(0.1),
            })
            .collect(),
        metrics,
        environment: EnvironmentRecord {
            name: "local".into(),
            limits: Limits::default(),
            limits_by: "none".into(),
            device: None,
        },
        command: vec!["true".into()],
        machine: Inventory {
            cpu_model: "bench".into(),
            logical_cores: 2,
            ..Inventory::default()
        },
        price: None,
        rental: None,
        bill: None,
        warnings: Vec::new(),
        framework: None,
        serving: None,
        profile: Vec::new(),
        machine_profile: None,
    }
}
