//! Energy of a run: a stated power model, what a kilowatt-hour emits, and where a figure comes from.

use serde::{Deserialize, Serialize};

pub const JOULES_PER_KILOWATT_HOUR: f64 = 3.6e6;

/// What a machine draws, as its owner states it: nothing here is built in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PowerModel {
    /// With nothing to do.
    pub idle_watts: f64,
    /// With all cores of the machine busy.
    pub full_watts: f64,
    /// Where the figures come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// What a run used of its machine.
#[derive(Debug, Clone, Copy)]
pub struct CpuUse {
    pub seconds: f64,
    pub cpu_seconds: f64,
    /// Logical processors of the machine, whatever the run was limited to.
    pub machine_cores: u32,
}

impl PowerModel {
    /// Power is linear in the CPU use, so its sum over the run needs only the CPU time:
    /// X. Fan, W.-D. Weber and L. A. Barroso, "Power provisioning for a warehouse-sized computer", ISCA 2007.
    pub fn joules(&self, used: CpuUse) -> Option<f64> {
        if used.machine_cores == 0 {
            return None;
        }
        let busy_seconds = used.cpu_seconds / f64::from(used.machine_cores);
        let joules =
            self.idle_watts * used.seconds + (self.full_watts - self.idle_watts) * busy_seconds;
        joules.is_finite().then_some(joules)
    }
}

/// What the electricity of a region emits: a dated input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CarbonIntensity {
    pub grams_per_kilowatt_hour: f64,
    pub source: String,
    pub date: String,
}

impl CarbonIntensity {
    pub fn grams(&self, joules: f64) -> f64 {
        joules / JOULES_PER_KILOWATT_HOUR * self.grams_per_kilowatt_hour
    }
}

/// Whether the processors' energy counters can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EnergyCounters {
    Readable,
    /// They are there, but only root may read them.
    Unreadable,
}

words! {
    /// Where the energy of a run comes from.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum EnergySource {
        /// The workload or an imported file says so.
        Reported = "reported",
        /// Counters of processors and memory.
        Rapl = "rapl",
        RaplAndNvml = "rapl-and-nvml",
        /// GPUs only.
        Nvml = "nvml",
        Modelled = "modelled",
        /// The machine modelled, its GPUs measured.
        ModelledAndNvml = "modelled-and-nvml",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_is_linear_in_cpu_use() {
        let model = PowerModel {
            idle_watts: 60.0,
            full_watts: 180.0,
            source: None,
        };
        let check = |seconds, cpu_seconds, machine_cores, expected| {
            let used = CpuUse {
                seconds,
                cpu_seconds,
                machine_cores,
            };
            assert_eq!(model.joules(used), expected);
        };
        check(10.0, 0.0, 4, Some(600.0));
        check(10.0, 40.0, 4, Some(1800.0));
        check(10.0, 10.0, 4, Some(900.0));
        // A machine that nobody described has no share to compute.
        check(10.0, 10.0, 0, None);
    }

    #[test]
    fn carbon_is_energy_times_intensity() {
        let intensity = CarbonIntensity {
            grams_per_kilowatt_hour: 120.0,
            source: "a table".to_owned(),
            date: "2026-05".to_owned(),
        };
        assert_eq!(intensity.grams(3.6e6), 120.0);
        assert_eq!(intensity.grams(0.0), 0.0);
    }

    #[test]
    fn words_are_those_of_json() {
        for source in [
            EnergySource::Reported,
            EnergySource::Rapl,
            EnergySource::RaplAndNvml,
            EnergySource::Nvml,
            EnergySource::Modelled,
            EnergySource::ModelledAndNvml,
        ] {
            assert_eq!(crate::named::<EnergySource>(source.word()), Some(source));
        }
    }
}
