//! Results that have no study file: the study they would have come from.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::study::{Exclusion, MeasureSettings};
use model::{
    CommandWorkload, Currency, Environment, Factor, Level, Limits, RunSequence, Study, Workload,
};

use crate::rows::{self, Row, Rows};
use crate::{ImportSpec, InputFile, RowKind, RowProblem};

/// A study made of what the files hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Inferred {
    pub study: Study,
    /// Of the levels together; those of single rows are told by [`crate::read`].
    pub problems: Vec<RowProblem>,
}

/// Above this many combinations, those that the files do not hold are not listed as excluded.
const LISTED_COMBINATIONS: usize = 4096;
/// Above this many levels, a column is not a factor but a time or a row number.
const MOST_COMBINATIONS: usize = 100_000;

/// Factors and levels in the order of appearance, combinations that never appear excluded. The
/// workload is an empty command, which means "measurements only".
pub fn infer_study(name: &str, files: &[InputFile], spec: &ImportSpec) -> Inferred {
    let read = rows::read(files, spec);
    let first = files.first().map_or("", |file| file.name.as_str());
    of_rows(name, &read, spec, first)
}

/// What is wrong with the levels together is told of the file `first`.
pub(crate) fn of_rows(name: &str, read: &Rows, spec: &ImportSpec, first: &str) -> Inferred {
    // A row without one of its levels is told when it is read.
    let is_placed = |row: &&Row| row.levels.iter().all(|text| !text.trim().is_empty());
    let rows: Vec<&Row> = read.rows.iter().filter(is_placed).collect();
    let mut texts: Vec<Vec<String>> = (0..read.factors.len())
        .map(|place| distinct(&rows, place))
        .collect();
    let problems = too_many(first, &read.factors, &texts);
    if !problems.is_empty() {
        texts.clear();
    }
    let factor = |(name, texts): (&String, &Vec<String>)| Factor {
        name: name.clone(),
        levels: levels(texts),
    };
    let factors: Vec<Factor> = read.factors.iter().zip(&texts).map(factor).collect();
    let study = Study {
        name: name.to_owned(),
        objective: None,
        repetitions: repetitions(&rows, spec),
        seed: 0,
        order: RunSequence::Listed,
        budget: None,
        currency: Currency::USD,
        rates: Vec::new(),
        exclude: absent(&rows, &texts, &factors),
        design: Default::default(),
        workload: Workload::Command(CommandWorkload {
            command: Vec::new(),
            env: BTreeMap::new(),
            directory: None,
            inputs: Vec::new(),
            log: Vec::new(),
        }),
        environments: environments(&factors),
        measure: MeasureSettings {
            interval_seconds: 1.0,
            timeout_seconds: None,
            grace_seconds: 10.0,
        },
        metrics: asked(spec),
        target_accuracy_percent: None,
        roles: BTreeMap::new(),
        equal_within_percent: None,
        pareto: Vec::new(),
        carbon: None,
        until: None,
        goal: None,
        import: None,
        network_files: Default::default(),
        scale: None,
        factors,
    };
    Inferred { study, problems }
}

/// A column of epochs or steps says where a row belongs, and is no result.
fn asked(spec: &ImportSpec) -> Vec<String> {
    let metrics = spec.metrics.iter().map(|column| column.metric.clone());
    let is_result = |name: &String| !["epoch", "step"].contains(&name.as_str());
    metrics.filter(is_result).collect()
}

fn too_many(first: &str, factors: &[String], texts: &[Vec<String>]) -> Vec<RowProblem> {
    let combinations = texts
        .iter()
        .map(Vec::len)
        .fold(1_usize, usize::saturating_mul);
    if combinations <= MOST_COMBINATIONS {
        return Vec::new();
    }
    let counted = factors
        .iter()
        .zip(texts)
        .map(|(name, texts)| format!("{name} {}", texts.len()));
    let counted: Vec<String> = counted.collect();
    let what = format!(
        "the levels give {combinations} combinations, more than {MOST_COMBINATIONS} ({}): use as factors only what was varied on purpose",
        counted.join(", ")
    );
    vec![RowProblem::new(first, 1, what)]
}

/// As they first appear; `PyTorch` and `pytorch` are one.
fn distinct(rows: &[&Row], place: usize) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let texts = rows.iter().filter_map(|row| row.levels.get(place));
    texts
        .filter(|text| seen.insert(key(text)))
        .cloned()
        .collect()
}

/// What makes two texts the same level.
fn key(text: &str) -> String {
    match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => number.to_string(),
        _ => text.trim().to_lowercase(),
    }
}

/// Numbers only when all of them are.
fn levels(texts: &[String]) -> Vec<Level> {
    let int = |text: &str| text.parse().ok().map(Level::Int);
    let float = |text: &str| {
        let number = text.parse().ok().filter(|n: &f64| n.is_finite());
        number.map(Level::Float)
    };
    let text = |text: &str| Some(Level::Text(text.to_owned()));
    let kinds: [fn(&str) -> Option<Level>; 3] = [int, float, text];
    let all = |parse: fn(&str) -> Option<Level>| -> Option<Vec<Level>> {
        texts.iter().map(|text| parse(text.trim())).collect()
    };
    kinds.into_iter().find_map(all).unwrap_or_default()
}

fn repetitions(rows: &[&Row], spec: &ImportSpec) -> u32 {
    let mut runs: HashMap<Vec<String>, BTreeSet<String>> = HashMap::new();
    for row in rows {
        let run = match (row.repetition, spec.row()) {
            (Some(repetition), _) => repetition.to_string(),
            (None, RowKind::Run) => format!("{}:{}", row.file, row.line),
            (None, RowKind::Request | RowKind::Step | RowKind::Sample) => row.file.clone(),
        };
        runs.entry(row.levels.iter().map(|t| key(t)).collect())
            .or_default()
            .insert(run);
    }
    let most = runs.values().map(BTreeSet::len).max().unwrap_or(1);
    u32::try_from(most).unwrap_or(u32::MAX)
}

fn absent(rows: &[&Row], texts: &[Vec<String>], factors: &[Factor]) -> Vec<Exclusion> {
    let sizes = factors.iter().map(|f| f.levels.len());
    let combinations = sizes.fold(1_usize, usize::saturating_mul);
    if combinations == 0 || combinations > LISTED_COMBINATIONS {
        return Vec::new();
    }
    let there: BTreeSet<Vec<String>> = rows
        .iter()
        .map(|row| row.levels.iter().map(|t| key(t)).collect())
        .collect();
    let mut absent = Vec::new();
    for number in 0..combinations {
        let mut rest = number;
        let mut keys = Vec::with_capacity(factors.len());
        let mut exclusion = Exclusion::new();
        for (factor, texts) in factors.iter().zip(texts) {
            let place = rest % factor.levels.len();
            rest /= factor.levels.len();
            keys.push(texts.get(place).map_or_else(String::new, |t| key(t)));
            exclusion.extend(
                factor
                    .levels
                    .get(place)
                    .map(|level| (factor.name.clone(), level.clone())),
            );
        }
        if !there.contains(&keys) {
            absent.push(exclusion);
        }
    }
    absent
}

fn environments(factors: &[Factor]) -> Vec<Environment> {
    let named = factors.iter().find(|f| f.name == "environment");
    let names = named.map_or_else(
        || vec!["imported".to_owned()],
        |factor| factor.levels.iter().map(Level::to_string).collect(),
    );
    let environment = |name: String| Environment {
        name,
        price: None,
        limits: Limits::default(),
        device: None,
        service: None,
        hosts: None,
        location: model::Location::default(),
        power: None,
        carbon: None,
    };
    names.into_iter().map(environment).collect()
}
