//! What an expected time rests on, and so how far it may be off.

use stats::{LogMoments, LogSpread};

/// Of runs of one scenario, as a standard deviation of logarithms, where none was repeated: more
/// than nearly all workloads show, so that a forecast from one run is too wide rather than wrong.
pub(super) const ASSUMED_SPREAD: f64 = 0.4;
/// Of a pilot against whole runs of its scenario: a pilot knows the time of a step, and neither heat
/// nor neighbours.
pub(super) const PILOT_ERROR: f64 = 0.15;
/// Of the time that a server takes beyond what its load says.
const LOAD_ERROR: f64 = 0.3;

/// The error of the logarithm of an expected time, as a sum of independent parts.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Grounds {
    /// Measured scenarios, each with its part in the logarithm.
    pub(super) sources: Vec<Source>,
    /// Whether it follows from other scenarios.
    pub(super) is_combined: bool,
    /// Of this scenario alone, beyond what its sources explain.
    pub(super) own_error: f64,
    /// The same error in all scenarios that have one.
    pub(super) shared_error: f64,
    /// Runs do not differ: what is not known is the same for all of them.
    pub(super) is_steady: bool,
    /// Logarithm of the geometric over the arithmetic mean of its runs.
    pub(super) centre: f64,
    /// Squared deviations of the logarithms of its runs.
    pub(super) squares: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Source {
    /// Its number in the study that was measured.
    pub(super) scenario: u32,
    pub(super) weight: f64,
    /// None of a pilot.
    pub(super) runs: Option<usize>,
}

impl Source {
    /// Standard deviation of what was measured of it, where runs differ by `sd`.
    pub(super) fn error(&self, sd: f64) -> f64 {
        match self.runs {
            Some(runs) => sd / (runs as f64).sqrt(),
            None => PILOT_ERROR,
        }
    }
}

impl Grounds {
    pub(super) fn of_runs(scenario: u32, seconds: &[f64]) -> Self {
        let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
        let logs = LogMoments::of(seconds);
        Grounds {
            sources: vec![Source {
                scenario,
                weight: 1.0,
                runs: Some(seconds.len()),
            }],
            centre: logs.mean - mean.max(1e-6).ln(),
            squares: logs.squares,
            ..Grounds::default()
        }
    }

    pub(crate) fn of_pilot(scenario: u32) -> Self {
        Grounds {
            sources: vec![Source {
                scenario,
                weight: 1.0,
                runs: None,
            }],
            ..Grounds::default()
        }
    }

    /// The load says how long it takes, the server how much longer.
    pub(crate) fn of_load() -> Self {
        Grounds {
            is_steady: true,
            shared_error: LOAD_ERROR,
            ..Grounds::default()
        }
    }

    pub(super) fn shared(error: f64) -> Self {
        Grounds {
            shared_error: error,
            is_combined: true,
            ..Grounds::default()
        }
    }

    /// Of a logarithm that is a weighted sum of others.
    pub(super) fn combined<'g>(
        parts: impl Iterator<Item = (&'g Grounds, f64)>,
        own_error: f64,
    ) -> Self {
        const NOTHING: f64 = 1e-9;
        let mut combined = Grounds {
            own_error,
            is_combined: true,
            ..Grounds::default()
        };
        let mut all_steady = true;
        for (part, weight) in parts.filter(|(_, weight)| weight.abs() > NOTHING) {
            let scaled = part.sources.iter().map(|source| Source {
                weight: source.weight * weight,
                ..*source
            });
            combined.sources.extend(scaled);
            combined.shared_error = combined.shared_error.max(part.shared_error);
            combined.centre += part.centre * weight;
            all_steady &= part.is_steady;
        }
        combined.is_steady = all_steady;
        combined
    }

    pub(super) fn has_pilot(&self) -> bool {
        self.sources.iter().any(|source| source.runs.is_none())
    }

    pub(super) fn own_runs(&self) -> usize {
        match (self.is_combined, self.sources.as_slice()) {
            (false, [only]) => only.runs.unwrap_or(0),
            _ => 0,
        }
    }

    /// So far, with 95 % confidence, is the logarithm of one run from its centre.
    pub(super) fn half_width(&self, spread: LogSpread) -> f64 {
        let (from_runs, from_pilots): (Vec<&Source>, Vec<&Source>) = self
            .sources
            .iter()
            .partition(|source| source.runs.is_some());
        let apart = if self.is_steady { 0.0 } else { 1.0 };
        let squared = |source: &&Source| (source.weight * source.error(1.0)).powi(2);
        let measured = apart + from_runs.iter().map(squared).sum::<f64>();
        let others = self.own_error.powi(2) + self.shared_error.powi(2);
        let assumed = others + from_pilots.iter().map(squared).sum::<f64>();
        let assumed = LogSpread::assumed(assumed.sqrt()).half_width(0.95);
        (spread.half_width(0.95).powi(2) * measured + assumed.powi(2)).sqrt()
    }
}
