//! NVIDIA GPUs through NVML, found when the program runs: the same binary works without them.

use model::machine::Gpu;
use model::sample::GpuSample;
use nvml_wrapper::Nvml;

/// Containers carry only the second name, development machines also the first.
const LIBRARIES: [&str; 2] = ["libnvidia-ml.so.1", "libnvidia-ml.so"];

#[derive(Debug)]
pub(crate) struct Gpus {
    nvml: Nvml,
    count: u32,
}

impl Gpus {
    /// None where there is no driver or no GPU.
    pub(crate) fn find() -> Option<Self> {
        let nvml = LIBRARIES
            .iter()
            .find_map(|name| Nvml::builder().lib_path(name.as_ref()).init().ok())?;
        let count = nvml.device_count().ok().filter(|count| *count > 0)?;
        Some(Gpus { nvml, count })
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// One reading of each; a GPU that does not answer reads as zero, so that columns stay.
    pub(crate) fn read(&self, samples: &mut Vec<GpuSample>) {
        samples.clear();
        samples.extend((0..self.count).map(|index| {
            self.read_one(index).unwrap_or_else(|| GpuSample {
                index,
                ..GpuSample::default()
            })
        }));
    }

    /// Since the driver was loaded; `None` unless every GPU counts, as those since Volta do.
    pub(crate) fn counter_joules(&self) -> Option<f64> {
        let joules = |index| {
            let device = self.nvml.device_by_index(index).ok()?;
            let millijoules = device.total_energy_consumption().ok()?;
            Some(millijoules as f64 / 1000.0)
        };
        (0..self.count).map(joules).sum()
    }

    pub(crate) fn inventory(&self) -> Vec<Gpu> {
        let describe = |index| {
            let device = self.nvml.device_by_index(index).ok()?;
            let memory_bytes = device.memory_info().ok()?.total;
            Some(Gpu {
                index,
                name: device.name().ok()?,
                memory_bytes,
            })
        };
        (0..self.count).filter_map(describe).collect()
    }

    pub(crate) fn driver(&self) -> Option<String> {
        self.nvml.sys_driver_version().ok()
    }

    fn read_one(&self, index: u32) -> Option<GpuSample> {
        let device = self.nvml.device_by_index(index).ok()?;
        let memory = device.memory_info().ok()?;
        Some(GpuSample {
            index,
            used_percent: device
                .utilization_rates()
                .map_or(0.0, |used| f64::from(used.gpu)),
            memory_used_bytes: memory.used,
            memory_total_bytes: memory.total,
            power_watts: device
                .power_usage()
                .ok()
                .map(|milliwatts| f64::from(milliwatts) / 1000.0),
        })
    }
}
