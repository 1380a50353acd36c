//! Designs: which scenarios there are, and in which order they run.

use design::{Column, Row, Shuffler};
use model::design::Effect;
use model::study::{Exclusion, FactorLevel};
use model::{Design, Factor, Level, Plan, RunId, RunSequence, Scenario, Study};

/// Scenarios and the order of their runs. The same study gives the same plan, on every machine
/// and in every version: the order is a promise, held by a test with written-down orders.
///
/// [`RunSequence::Blocks`] shuffles each block with a stream of its own from the seed, so more
/// repetitions add blocks and leave the earlier ones as they were.
pub fn plan(study: &Study) -> Plan {
    let scenarios = scenarios(study);
    let block = |repetition: u32| {
        let run = move |s: &Scenario| RunId::new(s.number, repetition);
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

/// The scenarios of the design without what is excluded, numbered from 1 without gaps. The first
/// factor varies slowest; a list keeps its order.
pub fn scenarios(study: &Study) -> Vec<Scenario> {
    let rules: Vec<Rule> = study
        .exclude
        .iter()
        .filter_map(|e| rule(&study.factors, e))
        .collect();
    let is_excluded = |indices: &[usize]| {
        let excludes = |rule: &Rule| rule.iter().all(|c| indices[c.factor] == c.level);
        rules.iter().any(excludes)
    };
    let rows = rows(study, &is_excluded).filter(|row| !is_excluded(row));
    let scenario = |(number, row): (u32, Row)| Scenario {
        number,
        levels: study
            .factors
            .iter()
            .zip(&row)
            .map(|(factor, index)| FactorLevel {
                factor: factor.name.clone(),
                level: factor.levels[*index].clone(),
            })
            .collect(),
    };
    (1..).zip(rows).map(scenario).collect()
}

fn rows<'s>(
    study: &'s Study,
    is_excluded: &dyn Fn(&[usize]) -> bool,
) -> Box<dyn Iterator<Item = Row> + 's> {
    let counts: Vec<usize> = study.factors.iter().map(|f| f.levels.len()).collect();
    let rows = match &study.design {
        Design::Full | Design::TwoLevel => return Box::new(design::full(counts)),
        Design::Fractional { generators } => {
            let column = |g: &model::design::Generator| {
                Some(Column {
                    factor: place(&study.factors, &g.factor)?,
                    product: places(&study.factors, &g.product)?,
                    negative: g.negative,
                })
            };
            let columns: Vec<Column> = generators.iter().filter_map(column).collect();
            design::fraction(&counts, &columns)
        }
        Design::PlackettBurman { scenarios } => {
            design::plackett_burman(&counts, *scenarios as usize).unwrap_or_default()
        }
        Design::DOptimal {
            scenarios,
            interactions,
        } => {
            let interaction = |effect| places(&study.factors, effect);
            let interactions: Vec<Vec<usize>> =
                interactions.iter().filter_map(interaction).collect();
            design::d_optimal(&design::Wanted {
                counts: &counts,
                scenarios: *scenarios as usize,
                interactions: &interactions,
                is_excluded,
                seed: study.seed,
            })
        }
        Design::LatinHypercube { scenarios } => {
            design::latin_hypercube(&counts, *scenarios as usize, study.seed)
        }
        Design::OneAtATime => design::one_at_a_time(&counts),
        Design::List { scenarios } => {
            let index = |(factor, level): (&Factor, &Level)| {
                factor.levels.iter().position(|l| same_level(l, level))
            };
            let row = |levels: &Vec<Level>| study.factors.iter().zip(levels).map(index).collect();
            scenarios.iter().filter_map(row).collect()
        }
    };
    Box::new(rows.into_iter())
}

fn place(factors: &[Factor], name: &str) -> Option<usize> {
    factors.iter().position(|factor| factor.name == name)
}

fn places(factors: &[Factor], effect: &Effect) -> Option<Vec<usize>> {
    effect.0.iter().map(|name| place(factors, name)).collect()
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
