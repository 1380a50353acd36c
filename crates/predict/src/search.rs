//! Which scenario to measure next, and when enough is known for a goal.
//!
//! Every quantity that matters (machine time, objective, constraints) has a surrogate over the whole space
//! ([`surrogate`]). The next run is the one with the highest expected improvement of the best choice of its task
//! (Jones, Schonlau, Welch 1998; for noisy runs Huang and others 2006), times the probability that it keeps the
//! constraints and does not fail, for its machine time. It stops when the chosen scenario is within 5 % of the best with
//! a probability of 95 %, by joint draws of what the surrogates leave open.
//!
//! Nothing is kept between steps: the same observations give the same step.

mod linear;
mod settled;
mod space;
pub mod surrogate;

use seeded::{SplitMix64, mix};
use stats::distribution::{normal_cdf, normal_sf};

pub use settled::{CLOSE, SURE};
pub use space::{FactorSpace, Point, Space};
use surrogate::{Posterior, Row};

/// What is asked of the space.
#[derive(Debug, Clone)]
pub struct Question {
    /// Quantities that observations have values of; the first is the machine time of a run.
    pub quantities: usize,
    /// Place of the objective among them; lower is better.
    pub objective: usize,
    pub constraints: Vec<Constraint>,
    /// What is known of a quantity beforehand: the logarithm of a prediction, of a price. By quantity and point; empty
    /// where nothing is known.
    pub offsets: Vec<Vec<f64>>,
    /// Runs of each point, at most.
    pub repetitions: usize,
    pub seed: u64,
}

/// The quantity stays below the limit, or above it.
#[derive(Debug, Clone, Copy)]
pub struct Constraint {
    pub quantity: usize,
    /// As logarithm.
    pub limit: f64,
    pub is_upper: bool,
}

/// What a run, a part of one or a prediction says of a point.
#[derive(Debug, Clone)]
pub struct Observation {
    pub point: usize,
    /// Logarithms by quantity; none of a run that ended badly, nor of one in progress.
    pub values: Vec<Option<f64>>,
    pub outcome: Seen,
    /// Part of the whole run that was carried out: 1 is all of it.
    pub fidelity: f64,
    /// Standard deviation of the logarithms beyond that of whole runs: of a prediction from a short run.
    pub noise: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    Ok,
    Failed,
    InProgress,
}

/// A way to observe a point for a part of its time.
#[derive(Debug, Clone, Copy)]
pub struct Fidelity {
    pub share: f64,
    pub noise: f64,
}

/// The whole run.
pub const WHOLE: Fidelity = Fidelity {
    share: 1.0,
    noise: 0.0,
};

#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Observe(Proposal),
    /// The best choices are known.
    Settled,
    /// Every run that could help was made.
    Exhausted,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    pub point: usize,
    pub share: f64,
    pub reason: Reason,
}

/// Why a point is looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// To spread the first runs over the space.
    Start,
    /// The probability that it is better than the best known and keeps the limits.
    Promising {
        chance: f64,
    },
    LeastKnown,
}

/// What is chosen for a task, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    pub task: usize,
    pub chosen: Option<usize>,
    /// That the chosen point is within [`CLOSE`] of the best of its task.
    pub probability: f64,
}

pub struct Search<'a> {
    space: &'a Space,
    question: &'a Question,
    observed: &'a [Observation],
    /// By quantity.
    posteriors: Vec<Posterior>,
    /// Of success, where a run has failed.
    success: Option<Posterior>,
    /// Whole runs of each point, begun or done.
    runs: Vec<usize>,
}

impl<'a> Search<'a> {
    pub fn new(space: &'a Space, question: &'a Question, observed: &'a [Observation]) -> Self {
        let mut runs = vec![0; space.points.len()];
        for one in observed.iter().filter(|one| one.fidelity >= 1.0) {
            runs[one.point] += 1;
        }
        let used = question.constraints.iter().map(|c| c.quantity);
        let used: Vec<usize> = used.chain([0, question.objective]).collect();
        let of = |quantity: usize| {
            if !used.contains(&quantity) {
                return Posterior::unknown(space);
            }
            let offsets = question
                .offsets
                .get(quantity)
                .map_or(&[][..], Vec::as_slice);
            Posterior::new(space, &rows(observed, quantity), offsets)
        };
        let has_failed = observed.iter().any(|one| one.outcome == Seen::Failed);
        let success = has_failed.then(|| {
            let row = |one: &Observation| Row {
                point: one.point,
                value: if one.outcome == Seen::Failed {
                    -1.0
                } else {
                    1.0
                },
                noise: 0.0,
            };
            let known = observed
                .iter()
                .filter(|one| one.outcome != Seen::InProgress);
            Posterior::new(space, &known.map(row).collect::<Vec<_>>(), &[])
        });
        let posteriors = (0..question.quantities).map(of).collect();
        let mut search = Search {
            space,
            question,
            observed,
            posteriors,
            success,
            runs,
        };
        search.believe_in_progress();
        search
    }

    /// Runs in progress count as if they came out as expected, so that the next place gets a different one.
    fn believe_in_progress(&mut self) {
        let waiting = self
            .observed
            .iter()
            .filter(|one| one.outcome == Seen::InProgress);
        let points: Vec<usize> = waiting.map(|one| one.point).collect();
        if points.is_empty() {
            return;
        }
        for posterior in &mut self.posteriors {
            posterior.believe(self.space, &points);
        }
    }

    /// Runs before the surrogates are asked.
    pub fn first_runs(space: &Space) -> usize {
        let most = space.factors.iter().map(|factor| factor.levels.len()).max();
        let wanted = (2 * space.factors.len() + 2).max(most.unwrap_or(0).min(16));
        wanted.min(space.points.len())
    }

    /// Among the points that are `allowed` now.
    pub fn step(&self, fidelities: &[Fidelity], allowed: &dyn Fn(usize) -> bool) -> Step {
        let begun = self.observed.len();
        if begun < Self::first_runs(self.space) {
            return self.first_step(fidelities, allowed);
        }
        let standings = self.standings();
        let is_open = |task: usize| {
            standings[task].probability < SURE || !self.has_stood(standings[task].chosen)
        };
        if !standings.iter().any(|standing| is_open(standing.task)) {
            return Step::Settled;
        }
        let tasks = 0..self.space.tasks();
        let leading: Vec<Option<usize>> = tasks.map(|task| self.chosen(task, 0.0)).collect();
        let mut best: Option<(f64, Proposal)> = None;
        for (point, at) in self.space.points.iter().enumerate() {
            if !is_open(at.task) || !allowed(point) {
                continue;
            }
            for fidelity in fidelities {
                let Some((value, chance)) = self.worth(point, leading[at.task], fidelity) else {
                    continue;
                };
                if best.as_ref().is_none_or(|(most, _)| value > *most) {
                    let proposal = Proposal {
                        point,
                        share: fidelity.share,
                        reason: Reason::Promising { chance },
                    };
                    best = Some((value, proposal));
                }
            }
        }
        let best = best.map(|(_, proposal)| proposal);
        let may_run = |point: usize| is_open(self.space.points[point].task) && allowed(point);
        let best = best.or_else(|| self.least_known(&may_run));
        best.map_or(Step::Exhausted, Step::Observe)
    }

    /// Where nothing seems to be gained any more, but the choice has not stood for long.
    fn least_known(&self, may_run: &dyn Fn(usize) -> bool) -> Option<Proposal> {
        let is_left = |point: &usize| self.runs[*point] < self.question.repetitions;
        let points = (0..self.space.points.len()).filter(is_left);
        let spread = &self.posteriors[self.question.objective].sd;
        let point = points
            .filter(|point| may_run(*point))
            .max_by(|a, b| spread[*a].total_cmp(&spread[*b]))?;
        Some(Proposal {
            point,
            share: 1.0,
            reason: Reason::LeastKnown,
        })
    }

    /// Whether there are twice as many runs as effects of levels, and the last third of them tried in vain to beat the
    /// chosen point: surrogates of few runs are surer than they should be.
    fn has_stood(&self, chosen: Option<usize>) -> bool {
        let fewest = self.space.fewest_runs();
        let all = self.observed.len();
        let is_chosen = |one: &Observation| Some(one.point) == chosen && one.fidelity >= 1.0;
        let since = self.observed.iter().position(is_chosen);
        all >= fewest && since.is_some_and(|since| 3 * (all - since) >= all)
    }

    /// Levels that were used least go first, so that each is seen early.
    fn first_step(&self, fidelities: &[Fidelity], allowed: &dyn Fn(usize) -> bool) -> Step {
        let mut used: Vec<Vec<usize>> = self.space.level_counts();
        for one in self.observed {
            for (factor, level) in self.space.points[one.point].levels.iter().enumerate() {
                used[factor][*level] += 1;
            }
        }
        let mut random = SplitMix64::new(mix(self.question.seed ^ self.observed.len() as u64));
        let seen = |point: usize| self.observed.iter().any(|one| one.point == point);
        let free = (0..self.space.points.len()).filter(|point| !seen(*point) && allowed(*point));
        let key = |point: &usize| {
            let levels = self.space.points[*point].levels.iter().enumerate();
            levels
                .map(|(factor, level)| used[factor][*level])
                .sum::<usize>()
        };
        let ranked = free.map(|point| (key(&point), random.next_u64(), point));
        let share = fidelities.iter().map(|f| f.share).fold(1.0, f64::min);
        match ranked.min() {
            Some((_, _, point)) => Step::Observe(Proposal {
                point,
                share,
                reason: Reason::Start,
            }),
            None => Step::Exhausted,
        }
    }

    /// Expected improvement for its time, and the chance of any. None where nothing can be gained.
    fn worth(
        &self,
        point: usize,
        chosen: Option<usize>,
        fidelity: &Fidelity,
    ) -> Option<(f64, f64)> {
        // A short run says once what it can; then the whole one follows.
        let is_seen = || self.observed.iter().any(|one| one.point == point);
        if self.runs[point] >= self.question.repetitions || (fidelity.share < 1.0 && is_seen()) {
            return None;
        }
        let objective = &self.posteriors[self.question.objective];
        let spread = objective.sd[point].max(1e-9);
        let keeps = self.chance_to_keep(point);
        let gain = match chosen {
            Some(chosen) => {
                let ahead = (objective.mean[chosen] - objective.mean[point]) / spread;
                let density = (-0.5 * ahead * ahead).exp() / std::f64::consts::TAU.sqrt();
                spread * (ahead * normal_cdf(ahead) + density)
            }
            // Nothing is known to keep the constraints: find something that does.
            None => 1.0,
        };
        let chance = keeps
            * chosen.map_or(1.0, |chosen| {
                normal_cdf((objective.mean[chosen] - objective.mean[point]) / spread)
            });
        let noise = objective.noise_sd.hypot(fidelity.noise);
        let learned = 1.0 - noise / spread.hypot(noise);
        let seconds = self.posteriors[0].mean[point].exp() * fidelity.share;
        let value = gain * keeps * learned / seconds.max(f64::MIN_POSITIVE);
        (value > 0.0).then_some((value, chance))
    }

    /// The probability that a point keeps all constraints and does not fail.
    pub fn chance_to_keep(&self, point: usize) -> f64 {
        let constraints = self.question.constraints.iter().map(|constraint| {
            let posterior = &self.posteriors[constraint.quantity];
            let (mean, sd) = (posterior.mean[point], posterior.sd[point].max(1e-9));
            let z = (constraint.limit - mean) / sd;
            match constraint.is_upper {
                true => normal_cdf(z),
                false => normal_sf(z),
            }
        });
        let success = self.success.as_ref().map_or(1.0, |success| {
            normal_cdf(success.mean[point] / success.sd[point].max(0.2))
        });
        constraints.product::<f64>() * success
    }

    /// What is expected of a point: the logarithm of a quantity, and its standard deviation.
    pub fn expected(&self, quantity: usize, point: usize) -> (f64, f64) {
        let posterior = &self.posteriors[quantity];
        (posterior.mean[point], posterior.sd[point])
    }
}

fn rows(observed: &[Observation], quantity: usize) -> Vec<Row> {
    let row = |one: &Observation| {
        Some(Row {
            point: one.point,
            value: *one.values.get(quantity)?.as_ref()?,
            noise: one.noise,
        })
    };
    observed.iter().filter_map(row).collect()
}
