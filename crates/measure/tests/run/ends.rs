//! How runs end, and what is left of them.

use super::*;

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
    assert_eq!(ran.detail(), "was killed by signal 11 (SIGSEGV)");
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
    // With limits the same sentence comes from within the cgroup.
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
fn a_run_out_of_time_is_ended_and_is_a_result() {
    let ran = carry_out(&["sh", "-c", "echo begun; sleep 1000"], |request| {
        request.settings.timeout_seconds = Some(0.3);
    });
    assert_eq!(ran.measured.outcome.status, Status::TimedOut);
    assert!(ran.measured.outcome.status.is_result());
    assert_eq!(ran.measured.outcome.signal, Some(libc::SIGTERM));
    assert!(
        ran.detail().starts_with("exceeded 0.3 s"),
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
fn a_run_that_had_ended_when_it_was_asked_to_was_not_interrupted() {
    let stop = Stop::new();
    let place = tempfile::tempdir().unwrap();
    let here = |request: &mut Request| request.directory = Some(place.path().to_owned());
    let script = format!("echo $$ > pid; {READY}; until [ -e go ]; do sleep 0.01; done");
    // Told in the middle of a look, before the wish to stop is looked at.
    let ran = stoppable(&["sh", "-c", &script], here, &stop, |_| {
        fs::write(place.path().join("go"), "").unwrap();
        let pid = fs::read_to_string(place.path().join("pid")).unwrap();
        while is_alive(&pid) {
            std::thread::yield_now();
        }
        stop.request_finish();
    });
    assert_eq!(ran.measured.outcome.status, Status::Ok, "{}", ran.detail());
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
fn a_full_disk_is_an_error_and_ends_the_run() {
    for name in ["log.txt", "samples.csv"] {
        let (folder, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink("/dev/full", folder.path().join(name)).unwrap();
        let script = "echo $$ > pid; echo said; exec sleep 1000";
        let mut request = request(&["sh", "-c", script], folder.path());
        request.directory = Some(place.path().to_owned());
        let error = measure::run(&request, &Stop::new(), &mut |_| ())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(name) && error.contains("No space left"),
            "{error}"
        );
        let pid = fs::read_to_string(place.path().join("pid")).unwrap();
        assert!(!is_alive(&pid), "{name}");
    }
}

/// Not a test of its own: started again by the test below, it measures until it is killed.
#[test]
fn helper_measures() {
    let Ok(folder) = std::env::var("TEST_MEASURES_IN") else {
        return;
    };
    let last = std::env::var("TEST_LAST_COMMAND").unwrap_or_else(|_| "exec sleep 1000".to_owned());
    let script = format!("setsid sleep 1000 & echo $$ $! > pids.part; mv pids.part pids; {last}");
    let script = script.as_str();
    let mut request = request(&["sh", "-c", script], Path::new(&folder));
    request.directory = Some(folder.into());
    measure::run(&request, &Stop::new(), &mut |_| ()).unwrap();
}

fn start_measurer(folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["ends::helper_measures", "--exact", "--nocapture"])
        .env("TEST_MEASURES_IN", folder)
        .stdout(std::process::Stdio::null());
    command
}

fn wait_until(what: &str, done: &dyn Fn() -> bool) {
    let begin = std::time::Instant::now();
    while !done() {
        assert!(begin.elapsed().as_secs() < 60, "waited in vain for {what}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

fn pids_in(folder: &Path) -> Vec<String> {
    let pids = folder.join("pids");
    wait_until("the run", &|| pids.exists());
    let pids = fs::read_to_string(pids).unwrap();
    pids.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn a_run_ends_with_its_measurer_even_by_sigkill() {
    let folder = tempfile::tempdir().unwrap();
    let mut measurer = start_measurer(folder.path()).spawn().unwrap();
    let pids = pids_in(folder.path());
    assert!(pids.iter().all(|pid| is_alive(pid)), "{pids:?}");
    measurer.kill().unwrap();
    measurer.wait().unwrap();
    // The second one is in a session of its own.
    wait_until("its end", &|| !pids.iter().any(|pid| is_alive(pid)));
}

/// Before the measurer can do anything after the start.
#[test]
fn a_run_that_kills_its_measurer_at_once_ends_too() {
    for _ in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let mut command = start_measurer(folder.path());
        let mut measurer = command
            .env("TEST_LAST_COMMAND", "kill -KILL $PPID; exec sleep 1000")
            .spawn()
            .unwrap();
        measurer.wait().unwrap();
        let pids = pids_in(folder.path());
        wait_until("its end", &|| !pids.iter().any(|pid| is_alive(pid)));
    }
}

/// Not a test of its own: started again by the test below. Each process starts another in a
/// session of its own and ends, so that whoever lists processes comes too late. They stop by
/// themselves after some seconds, whatever becomes of the test.
#[test]
fn helper_keeps_forking() {
    let Ok(file) = std::env::var("TEST_FORKS_TO") else {
        return;
    };
    let file = std::ffi::CString::new(file).unwrap();
    // SAFETY: system calls on this process alone; the path is a live C string. The copies go on
    // here, with one thread each, and never come back to the test.
    unsafe {
        for _ in 0..4 {
            if libc::fork() != 0 {
                continue;
            }
            let end = libc::time(std::ptr::null_mut()) + 8;
            while libc::time(std::ptr::null_mut()) < end {
                libc::setsid();
                let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT;
                let descriptor = libc::open(file.as_ptr(), flags, 0o600);
                libc::write(descriptor, c"x".as_ptr().cast(), 1);
                libc::close(descriptor);
                match libc::fork() {
                    0 => {}
                    _ => libc::_exit(0),
                }
            }
            libc::_exit(0);
        }
    }
}

#[test]
fn a_run_that_never_stops_forking_is_ended_and_told() {
    let own = std::env::current_exe().unwrap();
    let command = [
        own.to_str().unwrap(),
        "ends::helper_keeps_forking",
        "--exact",
    ];
    let place = tempfile::tempdir().unwrap();
    let forked = place.path().join("forked");
    for limits in [
        Limits::default(),
        Limits {
            cores: Some(1.0),
            memory_bytes: None,
        },
    ] {
        let ran = carry_out(&command, |request| {
            let to = forked.to_str().unwrap().to_owned();
            request.env.push(("TEST_FORKS_TO".to_owned(), to));
            request.limits = limits.clone();
        });
        let size = || fs::metadata(&forked).unwrap().len();
        assert!(size() > 0, "it forked");
        let has = |wanted: fn(&Warning) -> bool| ran.measured.warnings.iter().any(wanted);
        let is_ended = has(|w| matches!(w, Warning::LeftBehind { .. }));
        let is_alive = has(|w| matches!(w, Warning::StillRunning { .. }));
        assert!(is_ended || is_alive, "{:?}", ran.measured.warnings);
        let before = size();
        std::thread::sleep(std::time::Duration::from_millis(300));
        // Whoever says that all were ended must be right.
        assert_eq!(size() > before, is_alive, "{limits:?}");
        let may_make_groups = fs::read_dir("/sys/fs/cgroup").is_ok() && is_root();
        assert!(!(may_make_groups && is_alive), "{limits:?}");
    }
}

fn is_root() -> bool {
    // SAFETY: reads a number of this process.
    unsafe { libc::geteuid() == 0 }
}
