//! How sure it is that what is chosen is nearly the best.

use seeded::{SplitMix64, mix};

use super::linear::cholesky;
use super::{Search, Seen, Standing};

/// A choice this close to the best, as a share, is as good.
pub const CLOSE: f64 = 0.05;
/// Probability at which a search ends.
pub const SURE: f64 = 0.95;
/// Points that may be the best of a task: as many are drawn together.
const CONTENDERS: usize = 160;
const DRAWS: usize = 400;

impl Search<'_> {
    /// For each task.
    pub fn standings(&self) -> Vec<Standing> {
        (0..self.space.tasks())
            .map(|task| self.standing(task))
            .collect()
    }

    fn standing(&self, task: usize) -> Standing {
        let chosen = self.chosen(task, 1.0);
        Standing {
            task,
            chosen,
            probability: chosen.map_or(0.0, |chosen| self.probability(task, chosen)),
        }
    }

    /// Of the points that so much was run of, the one expected to be best that probably keeps the constraints.
    pub(super) fn chosen(&self, task: usize, fidelity: f64) -> Option<usize> {
        let objective = &self.posteriors[self.question.objective];
        let whole = self.observed.iter().filter(|one| {
            one.fidelity >= fidelity
                && one.outcome == Seen::Ok
                && self.space.points[one.point].task == task
        });
        let keeping = whole
            .map(|one| one.point)
            .filter(|point| self.chance_to_keep(*point) >= 0.5);
        keeping.min_by(|a, b| objective.mean[*a].total_cmp(&objective.mean[*b]))
    }

    fn probability(&self, task: usize, chosen: usize) -> f64 {
        let objective = &self.posteriors[self.question.objective];
        let lowest = |point: usize| objective.mean[point] - 3.0 * objective.sd[point];
        let limit = objective.mean[chosen] + 3.0 * objective.sd[chosen];
        let may_be_best = |point: &usize| {
            self.space.points[*point].task == task
                && *point != chosen
                && lowest(*point) < limit
                && self.chance_to_keep(*point) > 0.001
        };
        let mut contenders: Vec<usize> = (0..self.space.points.len()).filter(may_be_best).collect();
        contenders.sort_by(|a, b| lowest(*a).total_cmp(&lowest(*b)));
        contenders.truncate(CONTENDERS - 1);
        contenders.insert(0, chosen);
        let width = contenders.len();
        let mut lower = objective.joint(self.space, &contenders);
        (0..width).for_each(|place| lower[place * width + place] += 1e-9);
        if !cholesky(&mut lower, width) {
            return 0.0;
        }
        let keeps: Vec<f64> = contenders
            .iter()
            .map(|point| self.chance_to_keep(*point))
            .collect();
        let seed = mix(self.question.seed ^ (self.observed.len() as u64) << 32 ^ task as u64);
        let mut random = SplitMix64::new(seed);
        let close = -(1.0 - CLOSE).ln();
        let mut successes = 0;
        for _ in 0..DRAWS {
            let normals: Vec<f64> = (0..width).map(|_| normal(&mut random)).collect();
            let value = |place: usize| {
                let row = &lower[place * width..=place * width + place];
                let deviation: f64 = row.iter().zip(&normals).map(|(l, z)| l * z).sum();
                objective.mean[contenders[place]] + deviation
            };
            let own = value(0);
            let is_chosen_kept = uniform(&mut random) < keeps[0];
            let is_better = |place: usize, random: &mut SplitMix64| {
                uniform(random) < keeps[place] && value(place) < own - close
            };
            let beaten = (1..width).any(|place| is_better(place, &mut random));
            successes += usize::from(is_chosen_kept && !beaten);
        }
        successes as f64 / DRAWS as f64
    }
}

fn uniform(random: &mut SplitMix64) -> f64 {
    ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

fn normal(random: &mut SplitMix64) -> f64 {
    let radius = (-2.0 * uniform(random).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(random)).cos()
}
