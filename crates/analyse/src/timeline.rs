//! Use of the machine over the time of a run, from its samples.

use model::RunId;
use serde::Serialize;

/// A line of a figure has no more.
const MOST_POINTS: usize = 120;

/// One run of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Timeline {
    pub scenario: u32,
    pub run: RunId,
    pub points: Vec<UsePoint>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct UsePoint {
    pub seconds: f64,
    pub cores_used: Option<f64>,
    pub memory_bytes: Option<f64>,
    /// Mean of the GPUs.
    pub gpu_percent: Option<f64>,
    pub gpu_memory_percent: Option<f64>,
}

/// The text of a `samples.csv`; of more samples than a line has points, means of those that follow
/// one another. Rows that cannot be read are left out.
pub fn use_over_time(samples: &str) -> Vec<UsePoint> {
    let mut rows = samples.lines();
    let Some(columns) = rows.next().map(Columns::of) else {
        return Vec::new();
    };
    let points: Vec<UsePoint> = rows.filter_map(|row| columns.point(row)).collect();
    let together = points.len().div_ceil(MOST_POINTS).max(1);
    points.chunks(together).filter_map(mean).collect()
}

struct Columns {
    seconds: Option<usize>,
    cpu: Option<usize>,
    memory: Option<usize>,
    gpu: Vec<usize>,
    /// Used and in all, of each.
    gpu_memory: Vec<(usize, usize)>,
}

impl Columns {
    fn of(header: &str) -> Self {
        let names: Vec<&str> = header.split(',').collect();
        let place = |wanted: &str| names.iter().position(|name| *name == wanted);
        let of_gpus = |end: &str| -> Vec<usize> {
            let is_one = |name: &str| name.starts_with("gpu") && name.ends_with(end);
            let places = names.iter().enumerate();
            places
                .filter(|(_, name)| is_one(name))
                .map(|(i, _)| i)
                .collect()
        };
        let used = of_gpus("_memory_used_bytes");
        Columns {
            seconds: place("seconds"),
            cpu: place("run_cpu_percent"),
            memory: place("run_memory_bytes"),
            gpu: of_gpus("_used_percent"),
            gpu_memory: used
                .into_iter()
                .zip(of_gpus("_memory_total_bytes"))
                .collect(),
        }
    }

    fn point(&self, row: &str) -> Option<UsePoint> {
        let fields: Vec<Option<f64>> = row.split(',').map(|field| field.parse().ok()).collect();
        let at = |place: usize| fields.get(place).copied().flatten();
        let gpus = self.gpu.iter().map(|place| at(*place));
        let memories = self.gpu_memory.iter().map(|(used, all)| {
            let all = at(*all).filter(|all| *all > 0.0)?;
            Some(100.0 * at(*used)? / all)
        });
        Some(UsePoint {
            seconds: self.seconds.and_then(at)?,
            cores_used: self.cpu.and_then(at).map(|percent| percent / 100.0),
            memory_bytes: self.memory.and_then(at),
            gpu_percent: mean_of(gpus),
            gpu_memory_percent: mean_of(memories),
        })
    }
}

fn mean(points: &[UsePoint]) -> Option<UsePoint> {
    let of = |field: fn(&UsePoint) -> Option<f64>| mean_of(points.iter().map(field));
    Some(UsePoint {
        seconds: mean_of(points.iter().map(|p| Some(p.seconds)))?,
        cores_used: of(|p| p.cores_used),
        memory_bytes: of(|p| p.memory_bytes),
        gpu_percent: of(|p| p.gpu_percent),
        gpu_memory_percent: of(|p| p.gpu_memory_percent),
    })
}

/// Of those that are known.
fn mean_of(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let (sum, count) = values
        .flatten()
        .fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_become_points() {
        let text = "seconds,run_cpu_percent,run_memory_bytes,gpu0_used_percent,gpu0_memory_used_bytes,gpu0_memory_total_bytes,gpu1_used_percent,gpu1_memory_used_bytes,gpu1_memory_total_bytes\n\
                    0.1,,1000,,,,,,\n\
                    1.1,150.0,3000,40,1,4,60,3,4\n\
                    torn";
        let points = use_over_time(text);
        assert_eq!(points.len(), 2);
        assert_eq!((points[0].cores_used, points[0].gpu_percent), (None, None));
        let second = UsePoint {
            seconds: 1.1,
            cores_used: Some(1.5),
            memory_bytes: Some(3000.0),
            gpu_percent: Some(50.0),
            gpu_memory_percent: Some(50.0),
        };
        assert_eq!(points[1], second);
        assert_eq!(use_over_time(""), []);
    }

    #[test]
    fn a_long_run_is_a_line_of_means() {
        let rows: String = (0..1000)
            .map(|i| format!("{i},{},5\n", i % 2 * 100))
            .collect();
        let text = format!("seconds,run_cpu_percent,run_memory_bytes\n{rows}");
        let points = use_over_time(&text);
        assert!(points.len() <= MOST_POINTS && points.len() > MOST_POINTS / 2);
        let means = points.iter().filter_map(|p| p.cores_used).sum::<f64>();
        assert!((means / points.len() as f64 - 0.5).abs() < 0.05);
    }
}
