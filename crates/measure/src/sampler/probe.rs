//! Reads the whole set once and turns counters into rates.

use std::io;
use std::path::{Path, PathBuf};

use host::limits::cgroup::{GroupFiles, parse_cpu_seconds};
use model::Sample;
use model::sample::{MachineSample, TreeSample};

use super::file::{Buffer, Source};
use super::gpu::Gpus;
use super::rapl::Rapl;
use super::tree::{Tree, TreeParts, TreeReading, Units};
use super::{disk, memory, network, pressure, stat};

/// The machine's files, kept open, and the run's tree once it has begun.
#[derive(Debug)]
pub(crate) struct Probe {
    stat: Source,
    memory: Source,
    disk: Option<Source>,
    network: Option<Source>,
    pressure: Pressure,
    gpus: Option<Gpus>,
    rapl: Rapl,
    tree: Option<Tree>,
    group_cpu: Option<Source>,
    units: Units,
    parts: TreeParts,
    buffer: Buffer,
    counters: Counters,
    sample: Sample,
}

#[derive(Debug)]
struct Pressure {
    cpu: Option<Source>,
    memory: Option<Source>,
    io: Option<Source>,
}

/// What counts up, at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Counters {
    pub(crate) seconds: f64,
    pub(crate) cpu: stat::CpuTimes,
    pub(crate) memory: memory::Memory,
    pub(crate) disk: disk::Disk,
    pub(crate) network: network::Network,
    pub(crate) run: TreeReading,
    /// Of processors and memory, since the first reading.
    pub(crate) joules: Option<f64>,
}

/// Which parts are read; all but for measuring what reading costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts {
    pressure: bool,
    gpus: bool,
    tree: TreeParts,
}

impl Parts {
    pub(crate) const ALL: Parts = Parts {
        pressure: true,
        gpus: true,
        tree: TreeParts::All,
    };
    pub(crate) const BASIC: Parts = Parts {
        pressure: false,
        gpus: false,
        tree: TreeParts::CpuAndMemory,
    };
}

impl Probe {
    pub(crate) fn open(proc: &Path, parts: Parts) -> io::Result<Self> {
        let kept = |name: &str| Source::kept(proc.join(name));
        let pressure = |name: &str| {
            if parts.pressure {
                kept(name).ok()
            } else {
                None
            }
        };
        Ok(Probe {
            stat: kept("stat")?,
            memory: kept("meminfo")?,
            disk: kept("diskstats").ok(),
            network: kept("net/dev").ok(),
            pressure: Pressure {
                cpu: pressure("pressure/cpu"),
                memory: pressure("pressure/memory"),
                io: pressure("pressure/io"),
            },
            gpus: if parts.gpus { Gpus::find() } else { None },
            rapl: Rapl::default(),
            tree: None,
            group_cpu: None,
            units: units(),
            parts: parts.tree,
            buffer: Buffer::new(),
            counters: Counters::default(),
            sample: Sample::default(),
        })
    }

    /// Energy counters are read as well.
    pub(crate) fn with_energy(mut self, powercap: &Path) -> Self {
        self.rapl = Rapl::open(powercap);
        self
    }

    pub(crate) fn gpu_counter_joules(&self) -> Option<f64> {
        self.gpus.as_ref()?.counter_joules()
    }

    pub(crate) fn gpus(&self) -> u32 {
        self.gpus.as_ref().map_or(0, Gpus::count)
    }

    /// From now on the tree under `leader` is read as well.
    pub(crate) fn follow(&mut self, proc: &Path, leader: i32, group: GroupFiles) {
        let kept = |path: Option<PathBuf>| Source::kept(path?).ok();
        let mut tree = Tree::new(proc, leader, kept(group.processes), self.units);
        tree.parts = self.parts;
        self.tree = Some(tree);
        self.group_cpu = kept(group.cpu);
    }

    /// One reading, with rates since an earlier one. What cannot be read keeps its last value, so
    /// that a rate is never invented.
    pub(crate) fn read(&mut self, seconds: f64, since: Option<Counters>) -> Reading<'_> {
        let now = self.read_counters(seconds);
        self.counters = now;
        let rates = since.map(|before| Rates { before, now });
        self.sample.seconds = seconds;
        self.sample.machine = self.machine(&now, rates.as_ref());
        self.sample.run = tree_sample(&now.run, rates.as_ref());
        if let Some(gpus) = &self.gpus {
            gpus.read(&mut self.sample.gpus);
        }
        Reading {
            sample: &self.sample,
            counters: self.counters,
        }
    }

    pub(crate) fn leader_high_water_bytes(&mut self) -> Option<u64> {
        self.tree
            .as_ref()?
            .leader_high_water_bytes(&mut self.buffer)
    }

    pub(crate) fn units(&self) -> Units {
        self.units
    }

    fn read_counters(&mut self, seconds: f64) -> Counters {
        let mut now = Counters {
            seconds,
            ..self.counters
        };
        let buffer = &mut self.buffer;
        now.joules = self.rapl.read(buffer);
        if let Some(cpu) = self.stat.read(buffer).ok().and_then(stat::parse) {
            now.cpu = cpu;
        }
        if let Some(memory) = self.memory.read(buffer).ok().and_then(memory::parse) {
            now.memory = memory;
        }
        if let Some(Ok(text)) = self.disk.as_ref().map(|file| file.read(buffer)) {
            now.disk = disk::parse(text);
        }
        if let Some(Ok(text)) = self.network.as_ref().map(|file| file.read(buffer)) {
            now.network = network::parse(text);
        }
        if let Some(tree) = &mut self.tree {
            now.run = tree.read(now.cpu.forks, buffer);
        }
        if let Some(Ok(text)) = self.group_cpu.as_ref().map(|file| file.read(buffer))
            && let Some(cpu_seconds) = parse_cpu_seconds(text)
        {
            now.run.cpu_seconds = cpu_seconds;
        }
        now
    }

    fn machine(&mut self, now: &Counters, rates: Option<&Rates>) -> MachineSample {
        let mut pressure = |source: &Option<Source>| {
            let text = source.as_ref()?.read(&mut self.buffer).ok()?;
            pressure::parse(text)
        };
        MachineSample {
            cpu_percent: rates.and_then(|r| r.ticks_percent(|c| c.cpu.busy)),
            steal_percent: rates.and_then(|r| r.ticks_percent(|c| c.cpu.steal)),
            iowait_percent: rates.and_then(|r| r.ticks_percent(|c| c.cpu.iowait)),
            memory_used_bytes: now.memory.used_bytes,
            swap_used_bytes: now.memory.swap_used_bytes,
            disk_read_bytes_per_second: rates.and_then(|r| r.per_second(|c| c.disk.read_bytes)),
            disk_write_bytes_per_second: rates.and_then(|r| r.per_second(|c| c.disk.write_bytes)),
            disk_reads_per_second: rates.and_then(|r| r.per_second(|c| c.disk.reads)),
            disk_writes_per_second: rates.and_then(|r| r.per_second(|c| c.disk.writes)),
            network_receive_bytes_per_second: rates
                .and_then(|r| r.per_second(|c| c.network.receive_bytes)),
            network_send_bytes_per_second: rates
                .and_then(|r| r.per_second(|c| c.network.send_bytes)),
            context_switches_per_second: rates
                .and_then(|r| r.per_second(|c| c.cpu.context_switches)),
            cpu_pressure_percent: pressure(&self.pressure.cpu),
            memory_pressure_percent: pressure(&self.pressure.memory),
            io_pressure_percent: pressure(&self.pressure.io),
        }
    }
}

/// One reading as it is written down, and the counters behind it.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) sample: &'a Sample,
    pub(crate) counters: Counters,
}

fn tree_sample(run: &TreeReading, rates: Option<&Rates>) -> TreeSample {
    TreeSample {
        processes: run.processes,
        threads: run.threads,
        cpu_percent: rates.and_then(|r| {
            let seconds = r.seconds()?;
            Some(100.0 * (r.now.run.cpu_seconds - r.before.run.cpu_seconds).max(0.0) / seconds)
        }),
        memory_bytes: run.resident_bytes,
        read_bytes_per_second: rates.and_then(|r| r.per_second(|c| c.run.read_bytes)),
        write_bytes_per_second: rates.and_then(|r| r.per_second(|c| c.run.write_bytes)),
        context_switches_per_second: rates.and_then(|r| r.per_second(|c| c.run.context_switches)),
    }
}

struct Rates {
    before: Counters,
    now: Counters,
}

impl Rates {
    fn seconds(&self) -> Option<f64> {
        let seconds = self.now.seconds - self.before.seconds;
        (seconds > 0.0).then_some(seconds)
    }

    fn per_second(&self, of: fn(&Counters) -> u64) -> Option<f64> {
        let passed = of(&self.now).saturating_sub(of(&self.before));
        self.seconds().map(|seconds| passed as f64 / seconds)
    }

    fn ticks_percent(&self, of: fn(&Counters) -> u64) -> Option<f64> {
        let passed = of(&self.now).saturating_sub(of(&self.before)) as f64;
        let capacity = self.now.cpu.total.saturating_sub(self.before.cpu.total) as f64;
        (capacity > 0.0).then(|| 100.0 * passed / capacity)
    }
}

fn units() -> Units {
    // SAFETY: sysconf only reads a constant of the system.
    let (ticks, page) = unsafe {
        (
            libc::sysconf(libc::_SC_CLK_TCK),
            libc::sysconf(libc::_SC_PAGESIZE),
        )
    };
    Units {
        ticks_per_second: if ticks > 0 { ticks as f64 } else { 100.0 },
        page_bytes: u64::try_from(page).unwrap_or(4096),
    }
}
