//! Real runs of real processes: how they end, what they tell, what is left of them.

use std::fs;
use std::path::Path;
use std::process::Command;

use measure::{Measured, Request, Stop, Watched};
use model::run::{Status, metric};
use model::study::{Limits, LogEvent, LogPattern, MeasureSettings};
use model::{Event, EventKind, Warning};
use tempfile::TempDir;

/// One run and the folder it left.
struct Ran {
    measured: Measured,
    folder: TempDir,
    events: Vec<Event>,
    samples: usize,
}

impl Ran {
    fn detail(&self) -> &str {
        self.measured.outcome.detail.as_deref().unwrap_or_default()
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    fn metric(&self, name: &str) -> Option<f64> {
        self.measured.metrics.get(name).map(|metric| metric.value)
    }

    fn phases(&self) -> Vec<&str> {
        self.measured
            .phases
            .iter()
            .map(|phase| phase.name.as_str())
            .collect()
    }
}

fn request(command: &[&str], folder: &Path) -> Request {
    Request {
        command: command.iter().map(|&word| word.to_owned()).collect(),
        env: Vec::new(),
        directory: None,
        folder: folder.to_owned(),
        limits: Limits::default(),
        settings: MeasureSettings {
            interval_seconds: 0.05,
            timeout_seconds: Some(60.0),
            grace_seconds: 5.0,
        },
        log: Vec::new(),
        cgroup_name: "test".to_owned(),
    }
}

fn carry_out(command: &[&str], change: impl FnOnce(&mut Request)) -> Ran {
    stoppable(command, change, &Stop::new(), |_| ())
}

fn stoppable(
    command: &[&str],
    change: impl FnOnce(&mut Request),
    stop: &Stop,
    mut on_event: impl FnMut(&Event),
) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let mut request = request(command, folder.path());
    change(&mut request);
    let (mut events, mut samples) = (Vec::new(), 0);
    let measured = measure::run(&request, stop, &mut |watched| match watched {
        Watched::Event(event) => {
            on_event(event);
            events.push(event.clone());
        }
        Watched::Sample(_) => samples += 1,
        Watched::Tick { seconds } => assert!(seconds >= 0.0),
    })
    .unwrap();
    let sum: f64 = measured.phases.iter().map(|phase| phase.seconds).sum();
    assert!(
        (sum - measured.seconds).abs() < 1e-9,
        "phases sum to the run"
    );
    Ran {
        measured,
        folder,
        events,
        samples,
    }
}

fn sh(script: &str) -> Ran {
    carry_out(&["sh", "-c", script], |_| ())
}

fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !stat.is_empty()
        && !stat
            .rsplit(')')
            .next()
            .unwrap()
            .trim_start()
            .starts_with('Z')
}

/// The ready event of a script, for tests that must not act before it.
const READY: &str = r#"echo '{"event":"note","text":"ready"}' >> "$BANCADA_EVENTS""#;

#[test]
fn a_run_that_ends_well() {
    let ran = sh("echo out; echo err >&2; cat");
    assert_eq!(ran.measured.outcome, model::Outcome::ok());
    assert_eq!(ran.file("log.txt"), "out\nerr\n");
    assert_eq!(ran.phases(), ["train"]);
    assert_eq!(ran.measured.limits_by, "none");
    assert_eq!(
        ran.metric(metric::TOTAL_SECONDS),
        Some(ran.measured.seconds)
    );
    assert_eq!(
        ran.metric(metric::TRAIN_SECONDS),
        Some(ran.measured.seconds)
    );
    assert!(ran.metric(metric::PEAK_MEMORY_BYTES).unwrap() > 0.0);
    assert!(ran.metric(metric::SAMPLER_CPU_SECONDS).unwrap() > 0.0);
    assert!(ran.metric(metric::CPU_SECONDS).unwrap() >= 0.0);
    assert!(ran.metric(metric::IMAGES_PER_SECOND).is_none());
}

#[test]
fn the_shortest_run_has_a_first_and_a_last_sample() {
    let ran = carry_out(&["true"], |request| {
        request.settings.interval_seconds = 3600.0
    });
    let samples = measure::samples::parse(&ran.file("samples.csv")).unwrap();
    assert!(samples.len() >= 2, "{samples:?}");
    assert_eq!(ran.samples, samples.len());
    assert!(
        samples
            .iter()
            .all(|sample| sample.machine.memory_used_bytes > 0)
    );
    assert_eq!(samples[0].machine.cpu_percent, None);
    assert!(
        samples
            .windows(2)
            .all(|pair| pair[0].seconds <= pair[1].seconds)
    );
}

#[test]
fn a_run_that_fails_says_how_its_log_ends() {
    let ran = sh("echo something is wrong; exit 3");
    assert_eq!(ran.measured.outcome.status, Status::Failed);
    assert_eq!(ran.measured.outcome.exit_code, Some(3));
    assert_eq!(
        ran.detail(),
        "ended with exit code 3; the log ends:\nsomething is wrong"
    );
    let ran = sh("kill -SEGV $$");
    assert_eq!(ran.measured.outcome.status, Status::Failed);
    assert_eq!(ran.measured.outcome.signal, Some(libc::SIGSEGV));
    assert_eq!(ran.detail(), "was ended by signal 11 (SIGSEGV)");
}

#[test]
fn a_command_that_cannot_be_started_is_a_failed_run() {
    let check = |command: &[&str], change: fn(&mut Request), expected: &str| {
        let ran = carry_out(command, change);
        assert_eq!(ran.measured.outcome.status, Status::Failed, "{command:?}");
        assert!(ran.detail().contains(expected), "{}", ran.detail());
        assert_eq!(ran.file("log.txt").trim_end(), ran.detail());
        assert!(ran.file("samples.csv").starts_with("seconds,"));
    };
    check(
        &["no-such-program-here"],
        |_| (),
        "cannot start `no-such-program-here`: not found",
    );
    check(
        &["/dev/null"],
        |_| (),
        "cannot start `/dev/null`: it is not executable",
    );
    let nowhere = |request: &mut Request| request.directory = Some("/no/such/folder".into());
    check(
        &["true"],
        nowhere,
        "cannot start in /no/such/folder: no such folder",
    );
    // With limits the same sentence comes from within the control group.
    let limited = |request: &mut Request| request.limits.memory_bytes = Some(1 << 30);
    check(&["no-such-program-here"], limited, "not found");
}

#[test]
fn what_cannot_be_measured_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = |request: &Request| {
        measure::run(request, &Stop::new(), &mut |_| ())
            .unwrap_err()
            .to_string()
    };
    let empty = request(&[], folder.path());
    assert!(error(&empty).contains("the command is empty"));
    let gone = request(&["true"], &folder.path().join("gone"));
    assert!(
        error(&gone).contains("gone/events.jsonl"),
        "{}",
        error(&gone)
    );
}

#[test]
fn variables_and_folder_are_the_runs_own() {
    let ran = carry_out(
        &["sh", "-c", "echo $BATCH; pwd; echo $BANCADA_EVENTS"],
        |request| {
            request.env.push(("BATCH".to_owned(), "128".to_owned()));
            request.directory = Some("/".into());
        },
    );
    let events = ran.folder.path().join("events.jsonl");
    assert_eq!(
        ran.file("log.txt"),
        format!("128\n/\n{}\n", events.display())
    );
}

#[test]
fn a_run_out_of_time_is_ended_and_is_a_result() {
    let ran = carry_out(&["sh", "-c", "echo begun; sleep 1000"], |request| {
        request.settings.timeout_seconds = Some(0.3);
    });
    assert_eq!(ran.measured.outcome.status, Status::TimedOut);
    assert!(ran.measured.outcome.status.is_result());
    assert_eq!(ran.measured.outcome.signal, Some(libc::SIGTERM));
    assert!(
        ran.detail().starts_with("had not ended after 0.3 s"),
        "{}",
        ran.detail()
    );
    assert!(ran.measured.seconds >= 0.3);
}

#[test]
fn a_run_that_does_not_listen_is_killed_after_the_grace() {
    let script = "trap '' TERM; while :; do sleep 0.05; done";
    let ran = carry_out(&["sh", "-c", script], |request| {
        request.settings.timeout_seconds = Some(0.2);
        request.settings.grace_seconds = 0.2;
    });
    assert_eq!(ran.measured.outcome.status, Status::TimedOut);
    assert_eq!(ran.measured.outcome.signal, Some(libc::SIGKILL));
}

#[test]
fn an_interrupted_run_may_end_cleanly_and_leaves_nothing() {
    let stop = Stop::new();
    let script = format!("trap 'echo bye; exit 0' TERM; sleep 1000 & echo $! > pid; {READY}; wait");
    let place = tempfile::tempdir().unwrap();
    let here = |request: &mut Request| request.directory = Some(place.path().to_owned());
    let ran = stoppable(&["sh", "-c", &script], here, &stop, |_| {
        stop.request_finish()
    });
    assert_eq!(ran.measured.outcome.status, Status::Interrupted);
    assert_eq!(ran.measured.outcome.exit_code, Some(0));
    assert_eq!(ran.file("log.txt"), "bye\n");
    assert!(!is_alive(
        &fs::read_to_string(place.path().join("pid")).unwrap()
    ));
}

#[test]
fn asked_twice_it_stops_now() {
    let stop = Stop::new();
    let script = format!("trap '' TERM; {READY}; while :; do sleep 0.05; done");
    let patient = |request: &mut Request| request.settings.grace_seconds = 1000.0;
    let ran = stoppable(&["sh", "-c", &script], patient, &stop, |_| {
        stop.request_finish();
        stop.request_now();
    });
    assert_eq!(ran.measured.outcome.status, Status::Interrupted);
    assert_eq!(ran.measured.outcome.signal, Some(libc::SIGKILL));
    // Asked before the start, nothing is started.
    let ran = stoppable(&["sh", "-c", "echo begun"], |_| (), &stop, |_| ());
    assert_eq!(ran.measured.outcome.status, Status::Interrupted);
    assert!(!ran.file("log.txt").contains("begun"));
}

#[test]
fn what_a_run_leaves_behind_is_ended_and_told() {
    let check = |script: &str| {
        let place = tempfile::tempdir().unwrap();
        let here = |request: &mut Request| request.directory = Some(place.path().to_owned());
        let ran = carry_out(&["sh", "-c", script], here);
        assert_eq!(ran.measured.outcome.status, Status::Ok, "{script}");
        let left = Warning::LeftBehind { processes: 1 };
        assert!(
            ran.measured.warnings.contains(&left),
            "{script}: {:?}",
            ran.measured.warnings
        );
        let pid = fs::read_to_string(place.path().join("pid")).unwrap();
        assert!(!is_alive(&pid), "{script}");
    };
    check("sleep 1000 & echo $! > pid");
    // A daemon, in a session of its own.
    check(
        "setsid sh -c 'echo $$ > pid; exec sleep 1000' & while [ ! -s pid ]; do sleep 0.01; done",
    );
}

#[test]
fn no_zombie_is_left() {
    sh("true");
    sh("sleep 1000 &");
    let own = std::process::id().to_string();
    let children = fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let mut words = stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split_whitespace();
        words.next() == Some("Z") && words.next() == Some(&own) && stat.contains("(sleep)")
    });
    assert_eq!(children.count(), 0);
}

#[test]
fn phases_steps_and_epochs_are_told() {
    let ran = sh(r#"
        tell() { echo "$1" >> "$BANCADA_EVENTS"; }
        tell '{"event":"phase","phase":"load-data"}'
        sleep 0.1
        tell '{"event":"phase","phase":"train"}'
        tell '{"event":"step","step":1,"loss":2.5,"seconds":0.5,"images":100}'
        tell '{"event":"step","step":2,"loss":1.5,"seconds":0.7,"images":100}'
        tell '{"event":"epoch","epoch":1,"loss":1.25,"accuracy":0.5,"seconds":3}'
        sleep 0.1
        tell '{"event":"accuracy","value":0.75}'
        tell '{"event":"metric","name":"blocks","value":7,"unit":"B"}'
        tell '{"event":"phase","phase":"shutdown"}'
        sleep 0.1
    "#);
    assert_eq!(ran.measured.outcome.status, Status::Ok, "{}", ran.detail());
    assert_eq!(ran.phases(), ["startup", "load-data", "train", "shutdown"]);
    assert_eq!(ran.measured.epochs.len(), 1);
    assert_eq!(ran.metric(metric::STEP_SECONDS), Some(0.6));
    assert_eq!(ran.metric(metric::EPOCH_SECONDS), Some(3.0));
    assert_eq!(ran.metric(metric::LOSS), Some(1.25));
    assert_eq!(ran.metric(metric::ACCURACY), Some(75.0));
    assert_eq!(ran.metric("blocks"), Some(7.0));
    let train = ran.metric(metric::TRAIN_SECONDS).unwrap();
    assert_eq!(ran.metric(metric::IMAGES_PER_SECOND), Some(200.0 / train));
    assert!(train < ran.measured.seconds);
    assert_eq!(ran.events.len(), 8);
    // Each line of the file has its moment now.
    let lines = ran.file("events.jsonl");
    let read: Vec<Event> = lines
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(read, ran.events);
    assert!(read.iter().all(|event| event.at.is_some()));
}

#[test]
fn lines_that_are_no_events_are_counted() {
    let ran = sh(r#"printf 'hello\n{"event":"note","text":"x"}\n{"event"' >> "$BANCADA_EVENTS""#);
    let bad = Warning::BadEvents {
        lines: 2,
        first: "hello".to_owned(),
    };
    assert!(
        ran.measured.warnings.contains(&bad),
        "{:?}",
        ran.measured.warnings
    );
    assert_eq!(ran.events.len(), 1);
    assert_eq!(ran.file("events.jsonl").lines().count(), 1);
}

#[test]
fn a_log_is_read_by_patterns() {
    let pattern = |event, pattern: &str| LogPattern {
        event,
        pattern: pattern.to_owned(),
        name: None,
        unit: None,
    };
    let script = "echo == train ==; echo 'step 1 loss 0.5'; echo 'accuracy 97.5 %'";
    let ran = carry_out(&["sh", "-c", script], |request| {
        request.log = vec![
            pattern(LogEvent::Phase, r"^== (?<phase>\S+) ==$"),
            pattern(LogEvent::Step, r"^step (?<step>\d+) loss (?<loss>\S+)"),
            pattern(LogEvent::Accuracy, r"^accuracy (?<accuracy>[\d.]+)"),
        ];
    });
    assert_eq!(ran.events.len(), 3);
    assert_eq!(ran.metric(metric::LOSS), Some(0.5));
    assert_eq!(ran.metric(metric::ACCURACY), Some(97.5));
    assert_eq!(ran.phases().last(), Some(&"train"));
    assert_eq!(ran.file("events.jsonl").lines().count(), 3);
}

#[test]
fn of_a_huge_log_the_beginning_and_the_end_stay() {
    let ran = sh("echo first; head -c 20000000 /dev/zero | tr '\\0' 'x'; echo; echo last; exit 1");
    let log = ran.file("log.txt");
    assert!(log.starts_with("first\nxxx") && log.ends_with("x\nlast\n"));
    assert!(
        log.contains("bytes left out here") && log.len() < 11_001_000,
        "{}",
        log.len()
    );
    assert!(ran.detail().ends_with("last"));
}

#[test]
fn a_run_that_says_it_has_no_memory_is_a_result() {
    let ran =
        sh(r#"echo '{"event":"out-of-memory","detail":"batch 512"}' >> "$BANCADA_EVENTS"; exit 1"#);
    assert_eq!(ran.measured.outcome.status, Status::OutOfMemory);
    assert_eq!(ran.detail(), "did not fit in memory: batch 512");
}

/// Not a test of its own: started again by the tests below, it takes memory and keeps it.
#[test]
fn helper_takes_memory() {
    let Ok(megabytes) = std::env::var("TEST_TAKES_MEGABYTES") else {
        return;
    };
    let bytes = megabytes.parse::<usize>().unwrap() << 20;
    let taken = vec![1_u8; bytes];
    println!("took {}", std::hint::black_box(taken).len());
}

fn take_memory(megabytes: u32, limit_megabytes: Option<u64>) -> Ran {
    let own = std::env::current_exe().unwrap();
    let command = [
        own.to_str().unwrap(),
        "helper_takes_memory",
        "--exact",
        "--nocapture",
    ];
    carry_out(&command, |request| {
        request
            .env
            .push(("TEST_TAKES_MEGABYTES".to_owned(), megabytes.to_string()));
        request.limits.memory_bytes = limit_megabytes.map(|megabytes| megabytes << 20);
    })
}

#[test]
fn a_run_that_does_not_fit_in_its_limit_is_out_of_memory() {
    let ran = take_memory(400, Some(100));
    assert_eq!(
        ran.measured.outcome.status,
        Status::OutOfMemory,
        "{}",
        ran.detail()
    );
    assert!(
        ran.detail()
            .starts_with("did not fit in memory in the limit of 104 MB")
    );
    let weak = ran
        .measured
        .warnings
        .iter()
        .any(|w| matches!(w, Warning::LimitsWeak { .. }));
    match ran.measured.limits_by.as_str() {
        "cgroup v1" | "cgroup v2" => assert!(!weak),
        "affinity" => assert!(weak),
        other => panic!("limits by {other}"),
    }
}

#[test]
fn peak_memory_is_the_kernels() {
    for limit in [None, Some(600)] {
        let ran = take_memory(300, limit);
        assert_eq!(ran.measured.outcome.status, Status::Ok, "{}", ran.detail());
        let peak = ran.metric(metric::PEAK_MEMORY_BYTES).unwrap();
        assert!((300e6..450e6).contains(&peak), "limit {limit:?}: {peak}");
    }
}

#[test]
fn a_small_process_is_not_charged_with_the_size_of_its_starter() {
    let ballast = vec![1_u8; 200 << 20];
    let ran = sh("sleep 0.3");
    let peak = ran.metric(metric::PEAK_MEMORY_BYTES).unwrap();
    assert!(
        peak < 100e6,
        "{peak} with {} bytes of ballast",
        ballast.len()
    );
}

#[test]
fn cores_are_limited_by_whatever_is_allowed() {
    let ran = carry_out(&["nproc"], |request| {
        request.limits.cores = Some(1.0);
        request.cgroup_name = "cores-test".to_owned();
    });
    assert_eq!(ran.file("log.txt"), "1\n");
    assert!(["cgroup v1", "cgroup v2", "affinity"].contains(&ran.measured.limits_by.as_str()));
    // Other tests of this process may have a group at this moment; this one's is gone.
    let pattern = format!("bancada-{}-*-cores-test", std::process::id());
    let found = Command::new("find")
        .args(["/sys/fs/cgroup", "-maxdepth", "6"])
        .args(["-name", &pattern])
        .output();
    assert_eq!(String::from_utf8(found.unwrap().stdout).unwrap(), "");
}

#[test]
fn a_busy_run_uses_the_cpu_it_is_told_of() {
    let ran = sh("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done");
    let cpu = ran.metric(metric::CPU_SECONDS).unwrap();
    assert!(cpu > 0.0);
    let used = ran.metric(metric::CORES_USED).unwrap();
    assert!((used - cpu / ran.measured.seconds).abs() < 1e-9);
    assert!(used < 1.5, "one thread uses one core: {used}");
}

#[test]
fn a_tree_of_processes_is_sampled_whole() {
    let script = format!("sleep 1000 & sleep 1000 & {READY}; wait");
    let folder = tempfile::tempdir().unwrap();
    let stop = Stop::new();
    let request = request(&["sh", "-c", &script], folder.path());
    let mut most = 0;
    measure::run(&request, &stop, &mut |watched| match watched {
        Watched::Sample(sample) => {
            most = most.max(sample.run.processes);
            if sample.run.processes >= 3 {
                stop.request_finish();
            }
        }
        Watched::Event(Event {
            kind: EventKind::Note { text },
            ..
        }) => assert_eq!(text, "ready"),
        _ => {}
    })
    .unwrap();
    assert_eq!(most, 3);
}
