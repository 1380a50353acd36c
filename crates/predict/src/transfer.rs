//! A workload measured on one machine, carried over to another one that was probed.
//!
//! A step is a sum of layers. The probe of each machine gives the time of a layer by its kind and
//! size (`rates`); the share of each layer in the measured time comes from these, corrected by what
//! was measured here (`efficiency`). The time there is the time here with each share multiplied by
//! how much longer that kind of work takes there:
//!
//!   t_there = t_here · Σ share(layer) · time_there(layer) / time_here(layer)
//!
//! Assumed: a framework needs the same share of a machine's rate for a kind of work on both machines
//! (measured, not assumed, where the framework itself was probed on both), the same version and the
//! same threads per core, 32-bit numbers on the processor, images that arrive in time.

mod efficiency;
mod rates;
mod refusal;

#[cfg(test)]
mod tests;

use model::MachineProfile;
use model::profile::{FrameworkProbe, LayerWork, Measured, WorkKind};
use serde::Serialize;
use stats::distribution::student_quantile;

pub use refusal::Refusal;

use efficiency::Efficiency;
use rates::Rates;

/// The embedded engine is part of every profile.
const ENGINE: &str = "engine";
/// Of a prediction interval.
const CONFIDENCE: f64 = 0.95;
/// Residuals that are enough to know how wrong predictions between two machines are.
const ENOUGH_RESIDUALS: usize = 3;
/// Least error of the model where nothing was measured on both machines, as a standard deviation of
/// the logarithm. Chosen after the errors of docs/prediction.md, which were measured under load; not
/// yet checked on a quiet machine.
const LEAST_ERROR: f64 = 0.08;
/// The same where the machines were compared by the embedded engine, not by the framework itself.
const LEAST_ERROR_BY_ENGINE: f64 = 0.25;

/// A training step as it was measured.
#[derive(Debug, Clone, Copy)]
pub struct Workload<'a> {
    pub framework: &'a str,
    pub work: &'a [LayerWork],
    /// Of one step here.
    pub seconds: Measured,
    /// That it needs.
    pub memory_bytes: Option<u64>,
}

/// Some other step of the same framework, measured here.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a> {
    pub work: &'a [LayerWork],
    pub seconds: f64,
}

/// A step there.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Transfer {
    pub seconds: f64,
    /// Prediction interval of 95 %.
    pub low: f64,
    pub high: f64,
    /// Of the time there to the time here.
    pub slowdown: f64,
    pub basis: Basis,
    pub shares: Vec<Share>,
}

impl Transfer {
    /// Whether only the embedded engine compares the two machines.
    pub fn by_engine(&self) -> bool {
        self.basis == Basis::Engine
    }
}

/// By what the two machines are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The framework itself was probed on both.
    Framework,
    /// Only the embedded engine was.
    Engine,
}

/// A kind of work in the measured time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    pub kind: WorkKind,
    /// Of the time here.
    pub share: f64,
    pub slowdown: f64,
}

/// `others` are steps of the same framework that were measured here: with them, the shares of the
/// kinds are known better.
pub fn transfer(
    workload: &Workload<'_>,
    others: &[Observation<'_>],
    here: &MachineProfile,
    there: &MachineProfile,
) -> Result<Transfer, Refusal> {
    refusal::check_memory(workload, there)?;
    let pair = Pair::find(workload.framework, here, there)?;
    let own = Observation {
        work: workload.work,
        seconds: workload.seconds.median,
    };
    let observations: Vec<Observation> = others.iter().copied().chain([own]).collect();
    let efficiency = Efficiency::learn(&pair.here, &observations)?;
    let carried = pair.carry(workload.work, &efficiency)?;
    let deviation = (pair.model_error(workload, &carried).powi(2)
        + carried.probe_error.powi(2)
        + workload.seconds.standard_error().powi(2))
    .sqrt();
    let freedom = pair.residuals(workload).len().max(ENOUGH_RESIDUALS) as f64;
    let times = student_quantile(0.5 + CONFIDENCE / 2.0, freedom);
    let seconds = workload.seconds.median * carried.slowdown;
    Ok(Transfer {
        seconds,
        low: seconds * (-times * deviation).exp(),
        high: seconds * (times * deviation).exp(),
        slowdown: carried.slowdown,
        basis: pair.basis,
        shares: carried.shares,
    })
}

/// Two machines, compared by the same program.
struct Pair<'a> {
    basis: Basis,
    here: Rates<'a>,
    there: Rates<'a>,
    /// Steps of the user's networks that both profiles have, of the framework itself.
    known: Vec<Known<'a>>,
}

/// A network that was measured on both machines.
struct Known<'a> {
    work: &'a [LayerWork],
    here: f64,
    there: f64,
}

/// A workload on its way.
struct Carried {
    slowdown: f64,
    shares: Vec<Share>,
    /// How much the slowdowns of the kinds differ, weighted by their shares: what a wrong share
    /// can do. Standard deviation of the logarithm.
    disagreement: f64,
    /// Of the slowdown, by the spread of the probes.
    probe_error: f64,
}

impl<'a> Pair<'a> {
    fn find(
        framework: &str,
        here: &'a MachineProfile,
        there: &'a MachineProfile,
    ) -> Result<Self, Refusal> {
        let both = |name: &str| here.framework(name).zip(there.framework(name));
        let itself = both(framework);
        let (basis, (own, other)) = match (itself, both(ENGINE)) {
            (Some(probes), _) => (Basis::Framework, probes),
            (None, Some(probes)) => (Basis::Engine, probes),
            (None, None) => {
                return Err(Refusal::NoCommonProbe {
                    framework: framework.to_owned(),
                    machine: there.name.clone(),
                });
            }
        };
        Ok(Pair {
            basis,
            here: Rates::new(own),
            there: Rates::new(other),
            known: itself.map_or_else(Vec::new, |(own, other)| known(own, other)),
        })
    }

    fn carry(&self, work: &[LayerWork], efficiency: &Efficiency) -> Result<Carried, Refusal> {
        let mut parts = Vec::new();
        for layer in work {
            let here = self.here.seconds(layer)?;
            parts.push(Part {
                kind: layer.kind,
                seconds: here.seconds * efficiency.of(layer.kind),
                slowdown: self.there.seconds(layer)?.seconds / here.seconds,
            });
        }
        let total: f64 = parts.iter().map(|part| part.seconds).sum();
        if total.is_nan() || total <= 0.0 {
            return Err(Refusal::NoWork);
        }
        let slowdown = parts
            .iter()
            .map(|part| part.seconds * part.slowdown)
            .sum::<f64>()
            / total;
        let squares = parts
            .iter()
            .map(|part| part.seconds / total * (part.slowdown / slowdown).ln().powi(2));
        let disagreement = squares.sum::<f64>().sqrt();
        let shares: Vec<Share> = WorkKind::ALL
            .into_iter()
            .filter_map(|kind| share_of(kind, &parts, total))
            .collect();
        let errors = shares.iter().map(|share| {
            let both = self
                .here
                .error(share.kind)
                .hypot(self.there.error(share.kind));
            (share.share * share.slowdown / slowdown * both).powi(2)
        });
        Ok(Carried {
            slowdown,
            disagreement,
            probe_error: errors.sum::<f64>().sqrt(),
            shares,
        })
    }

    /// Logarithms of measured over predicted, of the other networks that both machines have
    /// measured, each predicted without its own time there.
    fn residuals(&self, workload: &Workload<'_>) -> Vec<f64> {
        let others = self
            .known
            .iter()
            .filter(|known| known.work != workload.work);
        let residual = |known: &Known<'_>| {
            let observation = Observation {
                work: known.work,
                seconds: known.here,
            };
            let efficiency = Efficiency::learn(&self.here, &[observation]).ok()?;
            let carried = self.carry(known.work, &efficiency).ok()?;
            Some((known.there / (known.here * carried.slowdown)).ln())
        };
        others.filter_map(residual).collect()
    }

    /// Standard deviation of the logarithm.
    fn model_error(&self, workload: &Workload<'_>, carried: &Carried) -> f64 {
        let residuals = self.residuals(workload);
        if residuals.len() >= ENOUGH_RESIDUALS {
            let squares: f64 = residuals.iter().map(|residual| residual.powi(2)).sum();
            return (squares / residuals.len() as f64).sqrt();
        }
        let (least, weight) = match self.basis {
            Basis::Framework => (LEAST_ERROR, 0.5),
            Basis::Engine => (LEAST_ERROR_BY_ENGINE, 1.0),
        };
        least.hypot(weight * carried.disagreement)
    }
}

struct Part {
    kind: WorkKind,
    seconds: f64,
    slowdown: f64,
}

fn share_of(kind: WorkKind, parts: &[Part], total: f64) -> Option<Share> {
    let own = || parts.iter().filter(|part| part.kind == kind);
    let here: f64 = own().map(|part| part.seconds).sum();
    let there: f64 = own().map(|part| part.seconds * part.slowdown).sum();
    (here > 0.0).then(|| Share {
        kind,
        share: here / total,
        slowdown: there / here,
    })
}

fn known<'a>(own: &'a FrameworkProbe, other: &'a FrameworkProbe) -> Vec<Known<'a>> {
    let of_user = own.steps.iter().filter(|step| step.kind.is_none());
    let found = of_user.filter_map(|step| {
        let there = other
            .steps
            .iter()
            .find(|other| other.network == step.network && other.work == step.work)?;
        Some(Known {
            work: &step.work,
            here: step.seconds.median,
            there: there.seconds.median,
        })
    });
    found.collect()
}
