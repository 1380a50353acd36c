//! Resource use over the time of a run, from its samples.

use model::sample::GpuSample;
use model::{RunId, Sample};
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
    /// Mean of the GPUs.
    pub gpu_percent: Option<f64>,
    pub gpu_memory_percent: Option<f64>,
}

/// Of more samples than a line has points, means of those that follow one another.
pub fn use_over_time(samples: &[Sample]) -> Vec<UsePoint> {
    let points: Vec<UsePoint> = samples.iter().map(UsePoint::of).collect();
    let together = points.len().div_ceil(MOST_POINTS).max(1);
    points.chunks(together).filter_map(mean).collect()
}

impl UsePoint {
    fn of(sample: &Sample) -> Self {
        let memory = |gpu: &GpuSample| {
            let all = gpu.memory_total_bytes as f64;
            (all > 0.0).then(|| 100.0 * gpu.memory_used_bytes as f64 / all)
        };
        UsePoint {
            seconds: sample.seconds,
            cores_used: sample.run.cpu_percent.map(|percent| percent / 100.0),
            gpu_percent: mean_of(sample.gpus.iter().map(|gpu| Some(gpu.used_percent))),
            gpu_memory_percent: mean_of(sample.gpus.iter().map(memory)),
        }
    }
}

fn mean(points: &[UsePoint]) -> Option<UsePoint> {
    let of = |field: fn(&UsePoint) -> Option<f64>| mean_of(points.iter().map(field));
    Some(UsePoint {
        seconds: mean_of(points.iter().map(|p| Some(p.seconds)))?,
        cores_used: of(|p| p.cores_used),
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

    fn sample(seconds: f64, cpu_percent: Option<f64>) -> Sample {
        let mut sample = Sample {
            seconds,
            ..Sample::default()
        };
        sample.run.cpu_percent = cpu_percent;
        sample
    }

    #[test]
    fn samples_become_points() {
        let mut second = sample(1.1, Some(150.0));
        second.gpus = [(40.0, 1), (60.0, 3)]
            .map(|(used_percent, memory_used_bytes)| GpuSample {
                used_percent,
                memory_used_bytes,
                memory_total_bytes: 4,
                ..GpuSample::default()
            })
            .to_vec();
        let points = use_over_time(&[sample(0.1, None), second]);
        let expected = |seconds, cores_used, gpu| UsePoint {
            seconds,
            cores_used,
            gpu_percent: gpu,
            gpu_memory_percent: gpu,
        };
        assert_eq!(
            points,
            [
                expected(0.1, None, None),
                expected(1.1, Some(1.5), Some(50.0))
            ]
        );
        assert_eq!(use_over_time(&[]), []);
    }

    #[test]
    fn a_long_run_is_a_line_of_means() {
        let samples: Vec<Sample> = (0..1000)
            .map(|i| sample(f64::from(i), Some(f64::from(i % 2 * 100))))
            .collect();
        let points = use_over_time(&samples);
        assert!(points.len() <= MOST_POINTS && points.len() > MOST_POINTS / 2);
        let sum = points.iter().filter_map(|p| p.cores_used).sum::<f64>();
        assert!((sum / points.len() as f64 - 0.5).abs() < 0.05);
    }
}
