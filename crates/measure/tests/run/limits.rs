//! What runs may use, and what they are seen to use.

use super::*;

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
fn no_row_of_samples_covers_less_than_half_of_the_interval() {
    // Phases begin, and the run ends, a moment after a sample.
    let phase =
        |name: &str| format!(r#"echo '{{"event":"phase","phase":"{name}"}}' >> "$BANCADA_EVENTS""#);
    let script = format!(
        "sleep 0.11; {}; sleep 0.06; {}; sleep 0.14",
        phase("load-data"),
        phase("train")
    );
    let ran = carry_out(&["sh", "-c", &script], |request| {
        request.settings.interval_seconds = 0.1
    });
    let samples = measure::samples::parse(&ran.file("samples.csv")).unwrap();
    assert!(samples.len() > 2, "{samples:?}");
    assert_eq!(ran.samples, samples.len());
    for pair in samples.windows(2) {
        assert!(pair[1].seconds - pair[0].seconds >= 0.05, "{samples:?}");
    }
    // To the end, all the same.
    let last = samples.last().unwrap().seconds;
    assert!(last >= ran.measured.seconds, "{last}");
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
        "limits::helper_takes_memory",
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
            .starts_with("ran out of memory with a limit of 104 MB")
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

#[test]
fn part_of_a_core_is_held_by_a_quota() {
    let script = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
    let ran = carry_out(&["sh", "-c", script], |request| {
        request.limits.cores = Some(0.5)
    });
    assert_eq!(ran.measured.outcome.status, Status::Ok, "{}", ran.detail());
    let used = ran.metric(metric::CORES_USED).unwrap();
    match ran.measured.limits_by.as_str() {
        // The kernel lets a period run out before it holds a run back.
        "cgroup v1" | "cgroup v2" => assert!(used < 0.8, "{used}"),
        other => assert_eq!(other, "affinity"),
    }
}
