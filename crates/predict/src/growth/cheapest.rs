//! Which level is the cheapest, and how sure that is.

use seeded::SplitMix64;
use serde::Serialize;
use stats::Estimate;
use stats::distribution::normal_quantile;

use super::fit::{Best, Fitter, Mean};
use super::{Fitted, Growth};

/// A level that can be had, and what a second of it is paid with, in any unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Priced {
    pub at: f64,
    pub rate: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cheapest {
    pub at: f64,
    /// Time by the law, times the rate.
    pub expense: Estimate,
    /// Levels that are the cheapest in at least one of the resamplings, the most frequent first.
    pub chances: Vec<Chance>,
    pub resamplings: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Chance {
    pub at: f64,
    pub share: f64,
    /// Of the expense above the cheapest, by the law.
    pub above: f64,
}

impl Cheapest {
    /// How often the level is the cheapest again.
    pub fn stability(&self) -> f64 {
        let own = self.chances.iter().find(|chance| chance.at == self.at);
        own.map_or(0.0, |chance| chance.share)
    }
}

const RESAMPLINGS: usize = 500;
/// Squares within so many times the variance of the best: beyond, a resampling hardly ever goes.
const REACH: f64 = 16.0;
/// From here on the spread is as good as known.
const NEARLY_KNOWN: f64 = 60.0;

impl Growth {
    /// The cheapest of the levels by the chosen law. Every resampling draws the means of all levels about the law
    /// and fits it again. `None` where no priced level is within the measured ones.
    pub fn cheapest(&self, priced: &[Priced], seed: u64) -> Option<Cheapest> {
        let usable = |priced: &&Priced| priced.rate > 0.0 && self.measured.contains(priced.at);
        let priced: Vec<Priced> = priced.iter().filter(usable).copied().collect();
        let chosen = &self.supported.first()?.fitted;
        let search = Search {
            growth: self,
            chosen,
            priced: &priced,
        };
        let expenses: Vec<f64> = priced
            .iter()
            .map(|p| p.rate * chosen.ln_at(p.at / self.reference).exp())
            .collect();
        let place = lowest(&expenses)?;
        let best = priced[place];
        let typical = self.at(best.at).ok()?.typical;
        let chances = search.wins(seed).into_iter().enumerate();
        let mut chances: Vec<Chance> = chances
            .filter(|(_, wins)| *wins > 0)
            .map(|(other, wins)| Chance {
                at: priced[other].at,
                share: wins as f64 / RESAMPLINGS as f64,
                above: expenses[other] / expenses[place] - 1.0,
            })
            .collect();
        chances.sort_by(|a, b| b.share.total_cmp(&a.share));
        Some(Cheapest {
            at: best.at,
            expense: typical.over(1.0 / best.rate, "law of growth, times the rate"),
            chances,
            resamplings: RESAMPLINGS,
        })
    }
}

fn lowest(values: &[f64]) -> Option<usize> {
    let places = values.iter().enumerate();
    places
        .min_by(|a, b| a.1.total_cmp(b.1))
        .map(|found| found.0)
}

struct Search<'g> {
    growth: &'g Growth,
    chosen: &'g Fitted,
    priced: &'g [Priced],
}

/// A shape with its logarithms where they are needed, so that a resampling only multiplies.
struct ShapeAt {
    at_means: Vec<f64>,
    at_priced: Vec<f64>,
}

impl Search<'_> {
    fn wins(&self, seed: u64) -> Vec<usize> {
        let (law, means) = (self.chosen.law, &self.growth.means);
        let limit = self.chosen.best.squares + REACH * self.chosen.spread.variance;
        let shapes = Fitter { law, means }.region(&self.chosen.best, limit);
        let candidate = |point: &Best| ShapeAt {
            at_means: self.shape_at(point, means.iter().map(|mean| mean.u)),
            at_priced: self.shape_at(
                point,
                self.priced.iter().map(|p| p.at / self.growth.reference),
            ),
        };
        let candidates: Vec<ShapeAt> = shapes.iter().map(candidate).collect();
        let mut random = SplitMix64::new(seed);
        let mut wins = vec![0; self.priced.len()];
        for _ in 0..RESAMPLINGS {
            let drawn = self.drawn(&mut random);
            let fits = candidates.iter().map(|c| (c, squares(means, &drawn, c)));
            let fitted = fits.min_by(|a, b| a.1.total_cmp(&b.1));
            // The scale is the same for all levels.
            let expenses = fitted.map(|(c, _)| {
                let both = c.at_priced.iter().zip(self.priced);
                both.map(|(ln, p)| ln + p.rate.ln()).collect::<Vec<f64>>()
            });
            if let Some(place) = expenses.and_then(|expenses| lowest(&expenses)) {
                wins[place] += 1;
            }
        }
        wins
    }

    fn shape_at(&self, point: &Best, at: impl Iterator<Item = f64>) -> Vec<f64> {
        at.map(|u| self.chosen.law.ln_shape(point.shape, u))
            .collect()
    }

    /// Means of all levels, about the law.
    fn drawn(&self, random: &mut SplitMix64) -> Vec<f64> {
        let freedom = self.chosen.spread.freedom;
        let spread = match freedom < NEARLY_KNOWN {
            true => {
                let squares = (0..freedom as usize).map(|_| normal(random).powi(2));
                (squares.sum::<f64>() / freedom).sqrt().max(1e-3)
            }
            false => 1.0,
        };
        let sd = self.chosen.spread.variance.sqrt() / spread;
        let means = self.growth.means.iter();
        means
            .map(|mean| self.chosen.ln_at(mean.u) + sd * normal(random) / mean.count.sqrt())
            .collect()
    }
}

/// Weighted squares of drawn means about a shape, with its best scale.
fn squares(means: &[Mean], drawn: &[f64], candidate: &ShapeAt) -> f64 {
    let (mut weight, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for ((mean, drawn), shape) in means.iter().zip(drawn).zip(&candidate.at_means) {
        let rest = drawn - shape;
        weight += mean.count;
        sum += mean.count * rest;
        squares += mean.count * rest * rest;
    }
    squares - sum * sum / weight
}

fn normal(random: &mut SplitMix64) -> f64 {
    normal_quantile((random.below(1 << 53) as f64 + 0.5) / (1_u64 << 53) as f64)
}
