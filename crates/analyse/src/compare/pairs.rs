//! Two sides of a scenario: their values, the scale that they are compared on, and how far they are apart.

use stats::{CellMeans, Contrast, Design, LevelPair, Observation, Samples, Scale};

use super::{LEVEL, Matched, Side};
use crate::words::names::MetricInfo;

/// Scenarios of one study are compared block by block where blocks differ; different studies have no common blocks.
pub(super) fn samples(first: &Side, second: &Side, matched: &Matched, metric: &str) -> Samples {
    let numbers = [matched.first.number, matched.second.number];
    let of = |side: &Side, groups: &[Vec<u32>]| {
        let found = side.analysis.samples(groups, metric);
        found.unwrap_or_else(|| Samples {
            lists: vec![Vec::new(); groups.len()],
            is_paired: false,
            is_declared: false,
        })
    };
    if std::ptr::eq(first.analysis, second.analysis) {
        return of(first, &numbers.map(|number| vec![number]));
    }
    let sides = [first, second].into_iter().zip(numbers);
    let lists = sides.flat_map(|(side, number)| of(side, &[vec![number]]).lists);
    Samples {
        lists: lists.collect(),
        is_paired: false,
        is_declared: false,
    }
}

pub(super) fn has_both(both: &Samples) -> bool {
    both.lists.iter().all(|values| !values.is_empty())
}

pub(super) fn is_repeated(both: &Samples) -> bool {
    both.lists.iter().all(|values| values.len() > 1)
}

/// Ratios where the logarithms say the same as the means, which rankings and most readers go by.
pub(super) fn scale(values: &[Samples], info: &MetricInfo) -> Scale {
    let mut all = values.iter().flat_map(|both| &both.lists).flatten();
    if info.unit == "%" || !all.all(|one| one.value > 0.0) {
        return Scale::Linear;
    }
    let repeated: Vec<&Samples> = values.iter().filter(|both| is_repeated(both)).collect();
    let each = repeated.iter().map(std::slice::from_ref);
    match each.chain([repeated.as_slice()]).any(contradicts) {
        true => Scale::Linear,
        false => Scale::Logarithmic,
    }
}

/// Whether the sides differ in opposite ways by their means and by the logarithms.
fn contradicts(pairs: &[&Samples]) -> bool {
    let scales = [Scale::Linear, Scale::Logarithmic];
    match scales.map(|scale| contrast(pairs, scale)) {
        [Some(mean), Some(log)] => mean.value * log.value < 0.0 && mean.p().min(log.p()) < LEVEL,
        _ => false,
    }
}

/// Second less first, each scenario as much as another.
pub(super) fn contrast(pairs: &[&Samples], scale: Scale) -> Option<Contrast> {
    let mut pairs: Vec<Samples> = pairs.iter().map(|both| (*both).clone()).collect();
    if scale == Scale::Logarithmic {
        let all = pairs.iter_mut().flat_map(|both| &mut both.lists).flatten();
        all.for_each(|one| {
            one.step /= one.value.abs();
            one.value = one.value.ln();
        });
    }
    if let [only] = pairs.as_slice() {
        return only.contrast(1, 0);
    }
    let mut data = Vec::new();
    let mut steps = Vec::new();
    for (scenario, both) in pairs.iter().enumerate() {
        for (side, list) in both.lists.iter().enumerate() {
            steps.extend(list.iter().map(|one| one.step));
            data.extend(list.iter().map(|one| Observation {
                levels: vec![scenario, side],
                value: one.value,
            }));
        }
    }
    let levels = vec![pairs.len(), 2];
    let means = CellMeans::new(&Design { levels }, &data, None).ok()?;
    let means = means.rounded(&steps);
    let pair = LevelPair {
        factor: 1,
        level: 1,
        base: 0,
    };
    means.difference(pair, &[])
}
