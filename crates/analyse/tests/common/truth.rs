//! Studies whose truth is known: how often is something said that is not so, and how often is what is so found?

use analyse::{Analysis, Verdict, analyse};
use model::run::metric;
use model::{Level, Metric};
use seeded::SplitMix64;

use crate::common::{Recipe, World, factor};

/// What runs of one scenario differ by.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Kind {
    Normal,
    /// Log-normal with σ = 0.5.
    Skewed,
    /// The second level of the first factor varies five times as much.
    Unequal,
    /// One run in twenty is twenty standard deviations longer.
    Outliers,
    /// A trend of three standard deviations over the study, and AR(1) with 0.6.
    Drifting,
}

pub(crate) const KINDS: [Kind; 5] = [
    Kind::Normal,
    Kind::Skewed,
    Kind::Unequal,
    Kind::Outliers,
    Kind::Drifting,
];

#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) levels: Vec<usize>,
    pub(crate) repetitions: u32,
    /// The time and so many less one of the workload's own.
    pub(crate) metrics: usize,
    pub(crate) kind: Kind,
    /// Standard deviation of a run, relative to its time.
    pub(crate) noise: f64,
    /// What the second level of the first factor adds to every metric, in standard deviations.
    pub(crate) effect: f64,
}

impl Setting {
    pub(crate) fn new(levels: &[usize], repetitions: u32, metrics: usize, kind: Kind) -> Self {
        Setting {
            levels: levels.to_vec(),
            repetitions,
            metrics,
            kind,
            noise: 0.05,
            effect: 0.0,
        }
    }

    pub(crate) fn study(&self, seed: u64) -> Analysis {
        let world = self.world(seed);
        analyse(&world.input())
    }

    fn world(&self, seed: u64) -> World {
        let names = ["alpha", "beta", "gamma", "delta"];
        let factors = self.levels.iter().zip(names).map(|(levels, name)| {
            let levels: Vec<Level> = (0..*levels)
                .map(|level| Level::from(format!("{name}{level}").as_str()))
                .collect();
            factor(name, &levels)
        });
        let mut world = Recipe {
            factors: factors.collect(),
            repetitions: self.repetitions,
            noise: 0.0,
            ..Recipe::default()
        }
        .world();
        let own: Vec<String> = (1..self.metrics).map(|n| format!("own_{n}")).collect();
        world.study.metrics = own.clone();
        world.study.seed = seed;
        let mut random = SplitMix64::new(seed);
        // As the plan does it: every repetition in an order of its own.
        let mut clock: Vec<model::Timestamp> = world.records.iter().map(|r| r.started).collect();
        clock.sort();
        let mut keyed: Vec<(u32, u64, model::RunRecord)> = world
            .records
            .drain(..)
            .map(|record| (record.run.repetition, random.next_u64(), record))
            .collect();
        keyed.sort_by_key(|(repetition, key, _)| (*repetition, *key));
        let ordered = keyed.into_iter().zip(clock);
        world.records = ordered
            .map(|((_, _, record), started)| model::RunRecord { started, ..record })
            .collect();
        let mut series = vec![0.0; self.metrics];
        let last = world.records.len() as f64 - 1.0;
        for (place, record) in world.records.iter_mut().enumerate() {
            let level = record.scenario.level("alpha").unwrap().to_string();
            let is_second = level == "alpha1";
            let mut values = Vec::new();
            for before in &mut series {
                let own = self.deviation(&mut random, is_second, before, place as f64 / last);
                let effect = if is_second { self.effect } else { 0.0 };
                values.push(2.0 * (1.0 + self.noise * (own + effect)).max(0.01));
            }
            let set = |record: &mut model::RunRecord, name: &str, value: f64, unit: &str| {
                let unit = unit.to_owned();
                record
                    .metrics
                    .insert(name.to_owned(), Metric { value, unit });
            };
            set(record, metric::TRAIN_SECONDS, values[0], "s");
            record.seconds = values[0];
            for (name, value) in own.iter().zip(&values[1..]) {
                set(record, name, *value, "");
            }
            record.bill = None;
            record.price = None;
        }
        world
    }

    /// In standard deviations.
    fn deviation(
        &self,
        random: &mut SplitMix64,
        is_second: bool,
        before: &mut f64,
        place: f64,
    ) -> f64 {
        let own = normal(random);
        match self.kind {
            Kind::Normal => own,
            Kind::Skewed => {
                let sigma: f64 = 0.5;
                let spread = ((sigma * sigma).exp() - 1.0).sqrt() * (sigma * sigma / 2.0).exp();
                ((sigma * own).exp() - (sigma * sigma / 2.0).exp()) / spread
            }
            Kind::Unequal if is_second => 5.0 * own,
            Kind::Unequal => own,
            Kind::Outliers if random.below(20) == 0 => 20.0 + own,
            Kind::Outliers => own,
            Kind::Drifting => {
                *before = 0.6 * *before + 0.8 * own;
                *before + 3.0 * (place - 0.5)
            }
        }
    }
}

pub(crate) fn normal(random: &mut SplitMix64) -> f64 {
    let mut uniform = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let (length, angle) = (1.0 - uniform(), uniform());
    (-2.0 * length.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// What a study says that is false where no level does anything.
pub(crate) fn false_claims(found: &Analysis, kind: Kind) -> Vec<String> {
    let mut claims = Vec::new();
    for variation in &found.variations {
        let different = variation
            .terms
            .iter()
            .filter(|t| t.verdict == Verdict::Different);
        claims.extend(different.map(|t| format!("{}: {}", variation.metric, t.name())));
    }
    for task in &found.best.tasks {
        for ranking in task.time.iter().chain(&task.cost) {
            if !ranking.behind.is_empty() {
                claims.push(format!("ranking of {}", ranking.metric));
            }
        }
    }
    let drift = found.drift.as_ref().filter(|drift| drift.seen);
    if kind != Kind::Drifting && drift.is_some() {
        claims.push("drift".to_owned());
    }
    claims
}

/// Share of studies that say anything false.
pub(crate) fn rate_of_false_claims(setting: &Setting, studies: u64) -> f64 {
    let says = |seed: &u64| !false_claims(&setting.study(*seed), setting.kind).is_empty();
    (1..=studies).filter(says).count() as f64 / studies as f64
}

/// Share of studies that find the effect of the first factor on the time.
pub(crate) fn power(setting: &Setting, studies: u64) -> f64 {
    let finds = |seed: &u64| {
        let found = setting.study(*seed);
        let time = found.variation(metric::TRAIN_SECONDS).unwrap();
        let mut terms = time.terms.iter().filter(|t| t.factors == ["alpha"]);
        terms.any(|t| t.verdict == Verdict::Different)
    };
    (1..=studies).filter(finds).count() as f64 / studies as f64
}
