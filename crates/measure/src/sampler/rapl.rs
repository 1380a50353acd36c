//! Energy of processors and memory from the kernel's counters (RAPL), which also AMD's processors have
//! under Intel's name. They count the whole machine and begin again from zero within minutes, so they are
//! read with every sample and added up.

use std::io::ErrorKind;
use std::path::Path;

use model::EnergyCounters;

use super::file::{Buffer, Source};

pub(crate) const FOLDER: &str = "/sys/class/powercap";

const JOULES_PER_MICROJOULE: f64 = 1e-6;

/// The counters that can be read, and what they have counted since they were opened.
#[derive(Debug, Default)]
pub(crate) struct Rapl {
    zones: Vec<Zone>,
    is_refused: bool,
}

#[derive(Debug)]
struct Zone {
    energy: Source,
    /// Where the counter begins again from zero.
    range_microjoules: u64,
    before: Option<u64>,
    passed_microjoules: u64,
}

impl Rapl {
    /// Zones of packages and memory. A package includes its cores and its graphics; `psys` includes the
    /// packages, and `intel-rapl-mmio` shows the same counters a second time.
    pub(crate) fn open(folder: &Path) -> Self {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let zones = entries
            .map(|entry| entry.path())
            .filter(|zone| counts(zone));
        Rapl::of(zones.map(|zone| open_zone(&zone)))
    }

    /// All of them or none: a part of the machine would be taken for all of it.
    fn of(opened: impl Iterator<Item = Result<Zone, ErrorKind>>) -> Self {
        let mut rapl = Rapl::default();
        let mut is_whole = true;
        for zone in opened {
            match zone {
                Ok(zone) => rapl.zones.push(zone),
                Err(error) => {
                    is_whole = false;
                    rapl.is_refused |= error == ErrorKind::PermissionDenied;
                }
            }
        }
        if !is_whole {
            rapl.zones.clear();
        }
        rapl
    }

    pub(crate) fn state(&self) -> Option<EnergyCounters> {
        match (self.is_refused, self.zones.is_empty()) {
            (true, _) => Some(EnergyCounters::Unreadable),
            (false, false) => Some(EnergyCounters::Readable),
            (false, true) => None,
        }
    }

    /// Joules since the first reading; `None` without counters, or if one of them cannot be read any more.
    pub(crate) fn read(&mut self, buffer: &mut Buffer) -> Option<f64> {
        if self.zones.is_empty() {
            return None;
        }
        let mut microjoules: u64 = 0;
        for zone in &mut self.zones {
            let now = number(zone.energy.read(buffer).ok()?)?;
            let before = zone.before.replace(now).unwrap_or(now);
            let passed = passed(before, now, zone.range_microjoules);
            zone.passed_microjoules = zone.passed_microjoules.saturating_add(passed);
            microjoules = microjoules.saturating_add(zone.passed_microjoules);
        }
        Some(microjoules as f64 * JOULES_PER_MICROJOULE)
    }
}

fn counts(zone: &Path) -> bool {
    let folder = zone.file_name().and_then(|name| name.to_str());
    let name = std::fs::read_to_string(zone.join("name")).unwrap_or_default();
    let name = name.trim_end();
    folder.is_some_and(|folder| folder.starts_with("intel-rapl:"))
        && (name.starts_with("package-") || name == "dram")
}

fn open_zone(zone: &Path) -> Result<Zone, ErrorKind> {
    let open = |name: &str| Source::kept(zone.join(name)).map_err(|error| error.kind());
    let mut buffer = Buffer::new();
    let mut value = |source: &Source| {
        let text = source.read(&mut buffer).map_err(|error| error.kind())?;
        number(text).ok_or(ErrorKind::InvalidData)
    };
    let range_microjoules = value(&open("max_energy_range_uj")?)?;
    let energy = open("energy_uj")?;
    value(&energy)?;
    Ok(Zone {
        energy,
        range_microjoules,
        before: None,
        passed_microjoules: 0,
    })
}

/// A counter that is lower than before began again from zero, once: samples are seconds apart, wraps minutes.
fn passed(before: u64, now: u64, range: u64) -> u64 {
    match now.checked_sub(before) {
        Some(passed) => passed,
        None => range.saturating_sub(before).saturating_add(now),
    }
}

fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// A folder as the kernel shows it.
    struct Fixture(PathBuf);

    impl Fixture {
        fn new(name: &str) -> Self {
            let name = format!("bancada-rapl-{name}-{}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir_all(&folder).unwrap();
            Fixture(folder)
        }

        fn zone(&self, folder: &str, name: &str, range: &str, energy: &str) {
            let zone = self.0.join(folder);
            std::fs::create_dir_all(&zone).unwrap();
            std::fs::write(zone.join("name"), format!("{name}\n")).unwrap();
            std::fs::write(zone.join("max_energy_range_uj"), format!("{range}\n")).unwrap();
            self.count(folder, energy);
        }

        fn count(&self, folder: &str, energy: &str) {
            let file = self.0.join(folder).join("energy_uj");
            std::fs::write(file, format!("{energy}\n")).unwrap();
        }

        fn read(&self, rapl: &mut Rapl) -> Option<f64> {
            rapl.read(&mut Buffer::new())
        }
    }

    impl Drop for Fixture {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    const RANGE: &str = "262143328850";

    #[test]
    fn packages_and_memory_count_once_each() {
        let machine = Fixture::new("zones");
        machine.zone("intel-rapl:0", "package-0", RANGE, "1000000");
        machine.zone("intel-rapl:0:0", "core", RANGE, "500000");
        machine.zone("intel-rapl:0:1", "dram", RANGE, "2000000");
        machine.zone("intel-rapl:1", "package-1", RANGE, "0");
        machine.zone("intel-rapl:2", "psys", RANGE, "7000000");
        machine.zone("intel-rapl-mmio:0", "package-0", RANGE, "1000000");
        let mut rapl = Rapl::open(&machine.0);
        assert_eq!(rapl.state(), Some(EnergyCounters::Readable));
        assert_eq!(rapl.zones.len(), 3);
        // Before the first reading others used energy.
        assert_eq!(machine.read(&mut rapl), Some(0.0));
        machine.count("intel-rapl:0", "4000000");
        machine.count("intel-rapl:0:0", "3500000");
        machine.count("intel-rapl:0:1", "2500000");
        machine.count("intel-rapl:1", "1000000");
        machine.count("intel-rapl:2", "99000000");
        machine.count("intel-rapl-mmio:0", "4000000");
        assert_eq!(machine.read(&mut rapl), Some(4.5));
    }

    #[test]
    fn counters_that_begin_again_are_added_up() {
        let machine = Fixture::new("wrap");
        machine.zone("intel-rapl:0", "package-0", "10000000", "9000000");
        let mut rapl = Rapl::open(&machine.0);
        let mut check = |energy: &str, expected: f64| {
            machine.count("intel-rapl:0", energy);
            assert_eq!(machine.read(&mut rapl), Some(expected), "{energy}");
        };
        check("9000000", 0.0);
        check("2000000", 3.0);
        check("9500000", 10.5);
        check("0", 11.0);
        check("0", 11.0);
    }

    #[test]
    fn every_sample_reads_the_counters() {
        use crate::sampler::probe::{Parts, Probe};
        let machine = Fixture::new("probe");
        machine.zone("intel-rapl:0", "package-0", RANGE, "5000000");
        let proc = Path::new("/proc");
        let probe = Probe::open(proc, Parts::BASIC).unwrap();
        let mut probe = probe.with_energy(&machine.0);
        assert_eq!(probe.read(0.0, None).counters.joules, Some(0.0));
        machine.count("intel-rapl:0", "8000000");
        assert_eq!(probe.read(1.0, None).counters.joules, Some(3.0));
        let mut without = Probe::open(proc, Parts::BASIC).unwrap();
        assert_eq!(without.read(0.0, None).counters.joules, None);
    }

    #[test]
    fn without_counters_there_is_no_energy() {
        let machine = Fixture::new("none");
        let check = |what: &str| {
            let mut rapl = Rapl::open(&machine.0);
            assert_eq!(rapl.state(), None, "{what}");
            assert_eq!(machine.read(&mut rapl), None, "{what}");
        };
        check("an empty folder");
        machine.zone("intel-rapl:0", "package-0", RANGE, "no number");
        check("no number");
        machine.zone("dtpm", "package-0", RANGE, "5");
        check("counters of something else");
        let mut rapl = Rapl::open(Path::new("/no/such/folder"));
        assert_eq!(rapl.read(&mut Buffer::new()), None);
    }

    /// By what opening says: a test may run as root, who may read everything.
    #[test]
    fn one_refused_counter_refuses_all() {
        let machine = Fixture::new("refused");
        machine.zone("intel-rapl:0", "package-0", RANGE, "5");
        let check = |error: Option<ErrorKind>, expected: Option<EnergyCounters>| {
            let first = open_zone(&machine.0.join("intel-rapl:0"));
            let mut rapl = Rapl::of([first].into_iter().chain(error.map(Err)));
            assert_eq!(rapl.state(), expected, "{error:?}");
            let is_readable = expected == Some(EnergyCounters::Readable);
            assert_eq!(machine.read(&mut rapl).is_some(), is_readable, "{error:?}");
        };
        check(None, Some(EnergyCounters::Readable));
        let refused = Some(ErrorKind::PermissionDenied);
        check(refused, Some(EnergyCounters::Unreadable));
        check(Some(ErrorKind::InvalidData), None);
    }

    #[test]
    fn a_counter_that_is_gone_ends_the_sum() {
        let machine = Fixture::new("gone");
        machine.zone("intel-rapl:0", "package-0", RANGE, "5");
        let mut rapl = Rapl::open(&machine.0);
        assert_eq!(machine.read(&mut rapl), Some(0.0));
        machine.count("intel-rapl:0", "");
        assert_eq!(machine.read(&mut rapl), None);
    }
}
