//! Designs: which scenarios there are, and in which order they run.

use model::study::{Exclusion, FactorLevel};
use model::{Factor, Level, Plan, RunId, RunSequence, Scenario, Study};

use crate::random::Shuffler;

/// Scenarios and the order of their runs. The same study gives the same plan, on every machine
/// and in every version: the order is a promise, held by a test with written-down orders.
///
/// [`RunSequence::Blocks`] shuffles each block with a stream of its own from the seed, so more
/// repetitions add blocks and leave the earlier ones as they were.
pub fn plan(study: &Study) -> Plan {
    let scenarios = scenarios(study);
    let block = |repetition: u32| {
        let run = move |s: &Scenario| RunId {
            scenario: s.number,
            repetition,
        };
        scenarios.iter().map(run).collect::<Vec<RunId>>()
    };
    let blocks = (1..=study.repetitions).map(block);
    let runs = match study.order {
        RunSequence::Listed => blocks.flatten().collect(),
        RunSequence::Blocks => blocks
            .enumerate()
            .flat_map(|(number, mut runs)| {
                Shuffler::stream(study.seed, number as u64).shuffle(&mut runs);
                runs
            })
            .collect(),
        RunSequence::Random => {
            let mut runs: Vec<RunId> = blocks.flatten().collect();
            Shuffler::stream(study.seed, 0).shuffle(&mut runs);
            runs
        }
    };
    Plan {
        scenarios,
        runs,
        seed: study.seed,
    }
}

/// The full factorial without what is excluded, numbered from 1 without gaps. The first factor
/// varies slowest.
pub fn scenarios(study: &Study) -> Vec<Scenario> {
    let rules: Vec<Rule> = study
        .exclude
        .iter()
        .filter_map(|e| rule(&study.factors, e))
        .collect();
    let mut scenarios = Vec::new();
    for indices in Combinations::new(study.factors.iter().map(|f| f.levels.len())) {
        let excluded = |rule: &Rule| rule.iter().all(|c| indices[c.factor] == c.level);
        if rules.iter().any(excluded) {
            continue;
        }
        let chosen = study
            .factors
            .iter()
            .zip(&indices)
            .map(|(factor, index)| FactorLevel {
                factor: factor.name.clone(),
                level: factor.levels[*index].clone(),
            });
        let number = u32::try_from(scenarios.len() + 1).unwrap_or(u32::MAX);
        scenarios.push(Scenario {
            number,
            levels: chosen.collect(),
        });
    }
    scenarios
}

/// Whether two levels are the same value: `64` and `64.0` are.
pub fn same_level(a: &Level, b: &Level) -> bool {
    match (a.as_float(), b.as_float()) {
        // Whole numbers are compared as such: large ones may be equal as floats only.
        _ if a.as_int().is_some() && b.as_int().is_some() => a == b,
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

/// An exclusion in indices, which are quick to compare.
type Rule = Vec<Condition>;

struct Condition {
    factor: usize,
    level: usize,
}

/// `None` if it can exclude nothing: it has no conditions, or names what the study does not vary.
fn rule(factors: &[Factor], exclusion: &Exclusion) -> Option<Rule> {
    let condition = |(name, wanted): (&String, &Level)| {
        let factor = factors.iter().position(|f| f.name == *name)?;
        let level = factors[factor]
            .levels
            .iter()
            .position(|l| same_level(l, wanted))?;
        Some(Condition { factor, level })
    };
    let rule: Rule = exclusion.iter().map(condition).collect::<Option<_>>()?;
    (!rule.is_empty()).then_some(rule)
}

/// Counts through all choices of one index below each limit, the last index fastest.
struct Combinations {
    limits: Vec<usize>,
    next: Option<Vec<usize>>,
}

impl Combinations {
    fn new(limits: impl Iterator<Item = usize>) -> Self {
        let limits: Vec<usize> = limits.collect();
        let next = limits.iter().all(|l| *l > 0).then(|| vec![0; limits.len()]);
        Combinations { limits, next }
    }
}

impl Iterator for Combinations {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let current = self.next.take()?;
        let mut following = current.clone();
        for (index, limit) in following.iter_mut().zip(&self.limits).rev() {
            *index += 1;
            if *index < *limit {
                self.next = Some(following);
                break;
            }
            *index = 0;
        }
        Some(current)
    }
}
