//! What measuring costs: CPU time a sample, and the slow-down of a busy run beside the sampler.
//!
//! `BANCADA_BENCH_PYTHON` names a Python with psutil; `BANCADA_BENCH_PAIRS` the number of pairs.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use measure::{Request, SampledSet, Stop};
use model::run::metric;
use model::study::{Limits, MeasureSettings};

/// Set in the child whose slow-down is measured.
const SPIN: &str = "BANCADA_BENCH_SPIN";
const SAMPLES: u32 = 3000;

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::var_os(SPIN).is_some() {
        spin();
        return Ok(());
    }
    // Without the flag it is `cargo test --benches`, which only asks whether it starts.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    sample_costs()?;
    slow_downs()
}

fn sample_costs() -> Result<(), Box<dyn Error>> {
    let mut tree = Tree::of_nine()?;
    let pid = i32::try_from(tree.0.id()).unwrap_or(0);
    println!("CPU microseconds a sample (a tree of 9 processes)");
    for (name, set, aim) in [
        (
            "bancada: stat, meminfo, diskstats, net/dev, tree",
            SampledSet::Basic,
            " (aim: 70)",
        ),
        (
            "bancada: the whole default set, written down",
            SampledSet::Whole,
            " (aim: 150)",
        ),
    ] {
        match median_of(5, || measure::sampling_cpu_seconds(pid, set, SAMPLES).ok()) {
            Some(seconds) => row(name, &format!("{:.1}{aim}", seconds * 1e6)),
            None => row(name, "could not be read"),
        }
    }
    row("psutil: the same as the first", &psutil(pid));
    row("dstat: the machine alone", &dstat()?);
    tree.end();
    Ok(())
}

fn row(name: &str, value: &str) {
    println!("  {name:<52} {value}");
}

/// A shell and eight that sleep.
struct Tree(Child);

impl Tree {
    fn of_nine() -> Result<Self, Box<dyn Error>> {
        let script = "for i in 1 2 3 4 5 6 7 8; do sleep 1000 & done; echo ready; wait";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut ready = [0; 6];
        if let Some(output) = &mut child.stdout {
            std::io::Read::read_exact(output, &mut ready)?;
        }
        Ok(Tree(child))
    }

    fn end(&mut self) {
        let pid = self.0.id();
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        for child in children.unwrap_or_default().split_whitespace() {
            let _ = Command::new("kill").arg(child).status();
        }
        let _ = self.0.wait();
    }
}

const PSUTIL: &str = r#"
import sys, time
try:
    import psutil
except ImportError:
    print("not installed (BANCADA_BENCH_PYTHON names a Python that has it)")
    sys.exit(0)
leader = psutil.Process(int(sys.argv[1]))
tree = [leader] + leader.children(recursive=True)
def sample():
    psutil.cpu_times(); psutil.virtual_memory(); psutil.swap_memory(); psutil.cpu_stats()
    psutil.disk_io_counters(); psutil.net_io_counters()
    for process in tree:
        with process.oneshot():
            process.cpu_times(); process.memory_info()
sample()
count = 300
begin = time.thread_time()
for _ in range(count):
    sample()
print("%.1f" % ((time.thread_time() - begin) / count * 1e6))
"#;

fn psutil(pid: i32) -> String {
    let python = std::env::var("BANCADA_BENCH_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let output = Command::new(python)
        .args(["-c", PSUTIL, &pid.to_string()])
        .output();
    output.map_or_else(
        |_| "not installed (no Python)".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

/// dstat reads at most once a second, and starting it costs as much as hundreds of readings: the
/// CPU time that passes while it runs is taken from the kernel.
fn dstat() -> Result<String, Box<dyn Error>> {
    let mut command = Command::new("dstat");
    command
        .args(["--noheaders", "--nocolor", "-cdngmsy", "1"])
        .stdout(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        return Ok("not installed".to_owned());
    };
    let mut lines = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
    let mut cpu_after = |lines_read: usize| -> Result<f64, Box<dyn Error>> {
        for _ in 0..lines_read {
            lines.next().ok_or("dstat ended early")??;
        }
        let text = std::fs::read_to_string(format!("/proc/{}/schedstat", child.id()))?;
        Ok(text.split(' ').next().unwrap_or_default().parse::<f64>()? / 1e3)
    };
    let begin = cpu_after(5)?;
    let microseconds = (cpu_after(5)? - begin) / 5.0;
    child.kill()?;
    child.wait()?;
    Ok(format!("{microseconds:.1}"))
}

fn slow_downs() -> Result<(), Box<dyn Error>> {
    let pairs = std::env::var("BANCADA_BENCH_PAIRS")
        .ok()
        .and_then(|text| text.parse().ok());
    let pairs: usize = pairs.unwrap_or(5);
    println!("Slow-down of a busy run against one with a first and a last sample alone");
    println!(
        "  (median of {pairs} interleaved pairs, [least, most]; other work on the machine shows here)"
    );
    for (name, interval_seconds) in [("1 Hz", 1.0), ("10 Hz", 0.1)] {
        let mut times: Vec<f64> = Vec::new();
        let mut work: Vec<f64> = Vec::new();
        let mut sampler_share = 0.0;
        for pair in 0..pairs {
            // The order alternates, so that a drift of the machine falls on both.
            let (quiet, sampled) = if pair % 2 == 0 {
                let quiet = busy_run(1e6)?;
                (quiet, busy_run(interval_seconds)?)
            } else {
                let sampled = busy_run(interval_seconds)?;
                (busy_run(1e6)?, sampled)
            };
            times.push(100.0 * (sampled.seconds / quiet.seconds - 1.0));
            work.push(100.0 * (sampled.cpu_seconds / quiet.cpu_seconds - 1.0));
            sampler_share = sampled.sampler_percent;
        }
        row(&format!("{name}: wall time"), &spread(&mut times));
        row(&format!("{name}: CPU time of the run"), &spread(&mut work));
        row(
            &format!("{name}: CPU of the sampler, of one core"),
            &format!("{sampler_share:.3} %"),
        );
    }
    Ok(())
}

fn spread(percents: &mut [f64]) -> String {
    percents.sort_by(f64::total_cmp);
    let (Some(least), Some(most)) = (percents.first(), percents.last()) else {
        return "nothing measured".to_owned();
    };
    format!(
        "{:+.2} % [{least:+.2}, {most:+.2}]",
        percents[percents.len() / 2]
    )
}

#[derive(Debug, Clone, Copy)]
struct Busy {
    seconds: f64,
    cpu_seconds: f64,
    sampler_percent: f64,
}

fn busy_run(interval_seconds: f64) -> Result<Busy, Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("bancada-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let own = std::env::current_exe()?;
    let request = request(&own, &folder, interval_seconds);
    let measured = measure::run(&request, &Stop::new(), &mut |_| ())?;
    let _ = std::fs::remove_dir_all(&folder);
    let value = |name: &str| {
        measured
            .metrics
            .get(name)
            .map_or(f64::NAN, |metric| metric.value)
    };
    Ok(Busy {
        seconds: measured.seconds,
        cpu_seconds: value(metric::CPU_SECONDS),
        sampler_percent: 100.0 * value(metric::SAMPLER_CPU_SECONDS) / measured.seconds,
    })
}

fn request(program: &Path, folder: &Path, interval_seconds: f64) -> Request {
    Request {
        command: vec![program.to_string_lossy().into_owned()],
        env: vec![(SPIN.to_owned(), "1".to_owned())],
        directory: None,
        folder: folder.to_owned(),
        limits: Limits::default(),
        settings: MeasureSettings {
            interval_seconds,
            timeout_seconds: None,
            grace_seconds: 1.0,
        },
        log: Vec::new(),
        progress: None,
        reports_steps: false,
        client: None,
        container: None,
        outlives: false,
        cgroup_name: "bench".to_owned(),
    }
}

/// The same work each time, about one second of it.
fn spin() {
    let mut state = 1_u64;
    for _ in 0..400_000_000_u64 {
        state = std::hint::black_box(state.wrapping_mul(6364136223846793005).wrapping_add(1));
    }
    std::hint::black_box(state);
}

fn median_of(times: usize, mut measure: impl FnMut() -> Option<f64>) -> Option<f64> {
    let begin = Instant::now();
    let mut values: Vec<f64> = Vec::new();
    for _ in 0..times {
        values.extend(measure());
        if begin.elapsed() > Duration::from_secs(5) {
            break;
        }
    }
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
