//! Simulated growth whose truth is known: coverage of intervals, choice of laws, the cheapest level.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    reason = "each program uses its own part"
)]

use predict::growth::{Growth, Kind, Law, Level, Priced, Refusal, grow};
use seeded::SplitMix64;
use stats::distribution::normal_quantile;

pub fn normal(random: &mut SplitMix64) -> f64 {
    normal_quantile((random.below(1 << 53) as f64 + 0.5) / (1_u64 << 53) as f64)
}

/// A law with its numbers, as a person would write it.
#[derive(Clone, Copy)]
pub struct Truth {
    pub name: &'static str,
    pub law: Law,
    pub kind: Kind,
    pub time: fn(f64) -> f64,
    pub levels: &'static [f64],
    /// In the order of `Growth::parameters`.
    pub parameters: &'static [f64],
}

const CORES: [f64; 24] = {
    let mut cores = [0.0; 24];
    let mut place = 0;
    while place < 24 {
        cores[place] = (place + 1) as f64;
        place += 1;
    }
    cores
};

pub const TRUTHS: [Truth; 6] = [
    Truth {
        name: "Amdahl, 10 % serial, 1–24 cores",
        law: Law::Amdahl,
        kind: Kind::Count,
        time: |n| 100.0 * (0.1 + 0.9 / n),
        levels: &CORES,
        parameters: &[0.1],
    },
    Truth {
        name: "Amdahl, 5 % serial, 1, 2, 4, 8 cores",
        law: Law::Amdahl,
        kind: Kind::Count,
        time: |n| 100.0 * (0.05 + 0.95 / n),
        levels: &[1.0, 2.0, 4.0, 8.0],
        parameters: &[0.05],
    },
    Truth {
        name: "scalability, σ 0.05, κ 0.002, 1–24 cores",
        law: Law::Scalability,
        kind: Kind::Count,
        time: usl,
        levels: &CORES,
        parameters: &[0.002, 0.05],
    },
    Truth {
        name: "linear, 2 + 0.1·batch, 16 … 512",
        law: Law::Linear,
        kind: Kind::Size,
        time: |x| 2.0 + 0.1 * x,
        levels: &[16.0, 32.0, 64.0, 128.0, 256.0, 512.0],
        parameters: &[2.0 / 3.6],
    },
    Truth {
        name: "power, image^1.8, 32 … 224",
        law: Law::Power,
        kind: Kind::Size,
        time: |x| 0.01 * x.powf(1.8),
        levels: &[32.0, 64.0, 96.0, 128.0, 224.0],
        parameters: &[1.8],
    },
    Truth {
        name: "power and constant, 5 + 0.002·image², 32 … 224",
        law: Law::PowerAndConstant,
        kind: Kind::Size,
        time: |x| 5.0 + 0.002 * x * x,
        levels: &[32.0, 48.0, 64.0, 96.0, 128.0, 160.0, 192.0, 224.0],
        parameters: &[2.0, 5.0 / 7.048],
    },
];

pub fn usl(n: f64) -> f64 {
    100.0 * (1.0 + 0.05 * (n - 1.0) + 0.002 * n * (n - 1.0)) / n
}

impl Truth {
    /// Log-normal noise of the same relative size at every level.
    pub fn draw(&self, noise: f64, repetitions: usize, random: &mut SplitMix64) -> Vec<Level> {
        let level = |at: &f64| Level {
            at: *at,
            values: (0..repetitions)
                .map(|_| (self.time)(*at) * (noise * normal(random)).exp())
                .collect(),
        };
        self.levels.iter().map(level).collect()
    }
}

/// Counts over simulated studies.
#[derive(Default)]
pub struct Score {
    pub studies: usize,
    pub refused: usize,
    pub right_law: usize,
    /// Of the right law's parameters, where it was chosen.
    pub parameters: Share,
    pub inside: Share,
    pub one_run: Share,
    /// At one and a half and at twice the largest level.
    pub beyond: Share,
    /// Relative error at twice the largest level.
    pub errors: Vec<f64>,
}

#[derive(Default, Clone, Copy)]
pub struct Share {
    pub hits: usize,
    pub of: usize,
}

impl Share {
    fn add(&mut self, hit: bool) {
        self.hits += usize::from(hit);
        self.of += 1;
    }

    pub fn value(self) -> f64 {
        self.hits as f64 / self.of.max(1) as f64
    }
}

pub fn score(truth: &Truth, noise: f64, repetitions: usize, studies: u64) -> Score {
    let mut score = Score::default();
    for study in 0..studies {
        let mut random = SplitMix64::new(seeded::mix(study + 1));
        let levels = truth.draw(noise, repetitions, &mut random);
        score.studies += 1;
        match grow(&levels, truth.kind, 0.95) {
            Ok(growth) => score.growth(truth, &growth, noise, &mut random),
            Err(_) => score.refused += 1,
        }
    }
    score
}

impl Score {
    fn growth(&mut self, truth: &Truth, growth: &Growth, noise: f64, random: &mut SplitMix64) {
        if growth.law == truth.law {
            self.right_law += 1;
            for (parameter, own) in growth.parameters.iter().zip(truth.parameters) {
                let interval = parameter.estimate.interval;
                self.parameters
                    .add(interval.is_some_and(|i| i.contains(*own)));
            }
        }
        let measured = growth.measured;
        let middle = (measured.low * measured.high).sqrt();
        for at in [measured.low, middle, measured.high] {
            let Ok(predicted) = growth.at(at) else {
                continue;
            };
            let time = (truth.time)(at);
            let interval = predicted.typical.interval;
            self.inside.add(interval.is_some_and(|i| i.contains(time)));
            let run = time * (noise * normal(random)).exp();
            self.one_run.add(predicted.one_run.contains(run));
        }
        for factor in [1.5, 2.0] {
            let Ok(predicted) = growth.at(measured.high * factor) else {
                continue;
            };
            let time = (truth.time)(measured.high * factor);
            let interval = predicted.typical.interval;
            self.beyond.add(interval.is_some_and(|i| i.contains(time)));
            if factor == 2.0 {
                self.errors
                    .push((predicted.typical.value / time - 1.0).abs());
            }
        }
    }
}

/// Machines with a price for the machine and one for each core.
pub fn machines(truth: &Truth) -> Vec<Priced> {
    let priced = |at: &f64| Priced {
        at: *at,
        rate: 0.10 + 0.04 * at,
    };
    truth.levels.iter().map(priced).collect()
}

pub struct Found {
    /// The true cheapest number was named.
    pub right: Share,
    /// What was named costs at most 1 % more than the cheapest.
    pub nearly: Share,
    /// Means of the runs, without a law, name the true one.
    pub by_means: Share,
    /// Mean of the stated stability.
    pub stability: f64,
}

pub fn cheapest(truth: &Truth, noise: f64, repetitions: usize, studies: u64) -> Found {
    let machines = machines(truth);
    let expense = |p: &Priced| p.rate * (truth.time)(p.at);
    let best = least(&machines, expense);
    let (mut right, mut nearly, mut by_means) =
        (Share::default(), Share::default(), Share::default());
    let mut stability = 0.0;
    for study in 0..studies {
        let mut random = SplitMix64::new(seeded::mix(study + 1));
        let levels = truth.draw(noise, repetitions, &mut random);
        let found = grow(&levels, truth.kind, 0.95)
            .ok()
            .and_then(|growth| growth.cheapest(&machines, study));
        let named = found.as_ref().and_then(|found| {
            stability += found.stability();
            machines.iter().find(|p| p.at == found.at)
        });
        right.add(named.is_some_and(|p| p.at == best.at));
        nearly.add(named.is_some_and(|p| expense(p) <= 1.01 * expense(&best)));
        let mean = |p: &Priced| {
            let level = levels.iter().find(|level| level.at == p.at);
            let values = level.map_or(&[][..], |level| &level.values);
            p.rate * values.iter().sum::<f64>() / values.len() as f64
        };
        by_means.add(least(&machines, mean).at == best.at);
    }
    Found {
        right,
        nearly,
        by_means,
        stability: stability / studies as f64,
    }
}

fn least(machines: &[Priced], expense: impl Fn(&Priced) -> f64) -> Priced {
    let lowest = machines
        .iter()
        .min_by(|a, b| expense(a).total_cmp(&expense(b)));
    lowest.copied().unwrap_or(Priced { at: 0.0, rate: 0.0 })
}

/// A refusal, or what was stated instead.
pub fn refusal(levels: &[Level], kind: Kind) -> Option<Refusal> {
    grow(levels, kind, 0.95).err()
}
