//! Values that were measured in blocks: on the same day, or one after the other in the same repetition of everything.
//! What a whole block has in common is no difference between those that were measured in it.

use std::collections::{BTreeMap, BTreeSet};

use crate::cell_means::Contrast;
use crate::compare::{Sample, welch_contrast};
use crate::distribution::f_sf;
use crate::grid::rounding_variance;
use crate::precise::{mean, sum_of_squares};
use crate::summary::Moments;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InBlock {
    pub block: usize,
    pub value: f64,
    /// What the value was rounded to; zero where it was not.
    pub step: f64,
}

/// Blocks that would differ so by chance in more studies than this are left in, which costs power and makes no false
/// statement. Taking them out where they only happen to look real does: with this limit, two equal lists without blocks
/// are called different in at most 5.6 % of studies at a level of 5 % (8,000 simulated; with a limit of 10 % in 6.1 %),
/// and in 4.8 to 5.2 % where blocks are real.
const DIFFER: f64 = 0.05;
/// Two differences have one degree of freedom: what they leave unsaid is more than the blocks hide, where these only look
/// as if they differed.
const LEAST_BLOCKS: usize = 3;
/// Blocks that the study declares are never left in: what one of them does to a difference is in all its values.
const LEAST_DECLARED: usize = 2;

/// What is measured in blocks, with or without what these have in common.
#[derive(Debug, Clone)]
pub struct Samples {
    pub lists: Vec<Vec<InBlock>>,
    /// Blocks differ as a whole, so that lists are compared block by block.
    pub is_paired: bool,
    /// The study says what the blocks are: a list has one value of each, and is compared with another by those that both
    /// have or not at all.
    pub is_declared: bool,
}

impl Samples {
    pub fn unpaired(lists: &[&[f64]]) -> Self {
        let own = |list: &&[f64]| {
            let values = list.iter().enumerate();
            values
                .map(|(block, &value)| InBlock {
                    block,
                    value,
                    step: 0.0,
                })
                .collect()
        };
        Samples {
            lists: lists.iter().map(own).collect(),
            is_paired: false,
            is_declared: false,
        }
    }

    pub fn values(&self, place: usize) -> Vec<f64> {
        self.lists[place].iter().map(|one| one.value).collect()
    }

    /// Mean of the first less that of the second. `None` where one of them has a single value, or they share no two
    /// declared blocks.
    pub fn contrast(&self, first: usize, second: usize) -> Option<Contrast> {
        let paired = in_common(&self.lists[first], &self.lists[second], self.least());
        if self.is_declared {
            return paired;
        }
        paired.or_else(|| {
            let values = [self.values(first), self.values(second)];
            let sample = |place: usize, values| Sample {
                values,
                step: self.step(place),
            };
            welch_contrast(sample(first, &values[0]), sample(second, &values[1])).ok()
        })
    }

    /// What a contrast with another list is a share of: the mean over the values that went into it.
    pub(crate) fn base(&self, of: usize, other: usize) -> f64 {
        let (own, others) = (by_block(&self.lists[of]), by_block(&self.lists[other]));
        let common = own.iter().filter(|(block, _)| others.contains_key(block));
        let common: Vec<f64> = common.map(|(_, values)| mean(values)).collect();
        match common.len() < self.least() {
            true => mean(&self.values(of)),
            false => mean(&common),
        }
    }

    /// So many blocks must two lists have in common.
    fn least(&self) -> usize {
        match (self.is_declared, self.is_paired) {
            (true, _) => LEAST_DECLARED,
            (_, true) => LEAST_BLOCKS,
            (_, false) => usize::MAX,
        }
    }

    /// What the values of a list were rounded to, on average.
    pub fn step(&self, place: usize) -> f64 {
        step_of(&self.lists[place])
    }
}

/// Mean of the first less that of the second over the blocks that both have, each counted once (Student 1908). `None`
/// where these are fewer than three.
pub fn paired_contrast(first: &[InBlock], second: &[InBlock]) -> Option<Contrast> {
    in_common(first, second, LEAST_BLOCKS)
}

fn in_common(first: &[InBlock], second: &[InBlock], least: usize) -> Option<Contrast> {
    let steps = [step_of(first), step_of(second)];
    let (first, second) = (by_block(first), by_block(second));
    let both = first.iter().filter_map(|(block, values)| {
        let others = second.get(block)?;
        Some(mean(values) - mean(others))
    });
    let differences: Vec<f64> = both.collect();
    if differences.len() < least {
        return None;
    }
    let moments = Moments::of(&differences);
    let rounding = steps.map(|step| rounding_variance(step, moments.variance()));
    let rounding: f64 = rounding.iter().sum();
    Some(Contrast {
        value: moments.mean,
        standard_error: moments.standard_error().hypot(rounding.sqrt()),
        degrees_of_freedom: differences.len() as f64 - 1.0,
        count: 2 * differences.len(),
    })
}

fn step_of(list: &[InBlock]) -> f64 {
    let steps = list.iter().map(|one| one.step);
    steps.sum::<f64>() / list.len().max(1) as f64
}

fn by_block(list: &[InBlock]) -> BTreeMap<usize, Vec<f64>> {
    let mut found: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for one in list {
        found.entry(one.block).or_default().push(one.value);
    }
    found
}

/// Whether blocks differ as a whole: the usual test of one of two factors that add up, where not every list need have
/// every block.
pub fn blocks_differ(lists: &[Vec<InBlock>]) -> bool {
    let lists: Vec<&Vec<InBlock>> = lists.iter().filter(|list| !list.is_empty()).collect();
    let count: usize = lists.iter().map(|list| list.len()).sum();
    let blocks: BTreeSet<usize> = lists
        .iter()
        .flat_map(|l| l.iter().map(|o| o.block))
        .collect();
    // Lists that share no block directly or by others cannot be compared through blocks.
    let parts = parts(&lists);
    let explained = blocks.len().saturating_sub(parts);
    let free = (count + parts).saturating_sub(lists.len() + blocks.len());
    if explained == 0 || free == 0 {
        return false;
    }
    let (without, with) = squares(&lists);
    // Below this it is rounding of the values, not noise.
    if with <= 1e-20 * without {
        return false;
    }
    let (explained, free) = (explained as f64, free as f64);
    let ratio = ((without - with) / explained) / (with / free);
    f_sf(ratio, explained, free) <= DIFFER
}

/// Groups of lists that are connected by blocks.
fn parts(lists: &[&Vec<InBlock>]) -> usize {
    let mut groups: Vec<BTreeSet<usize>> = Vec::new();
    for list in lists {
        let mut own: BTreeSet<usize> = list.iter().map(|one| one.block).collect();
        let (joined, apart): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|group| !group.is_disjoint(&own));
        own.extend(joined.into_iter().flatten());
        groups = apart;
        groups.push(own);
    }
    groups.len()
}

/// What lists alone, and lists and blocks together, leave unexplained: fitted in turns until nothing changes.
fn squares(lists: &[&Vec<InBlock>]) -> (f64, f64) {
    const MOST_TURNS: usize = 200;
    let mut rest: Vec<Vec<InBlock>> = lists.iter().map(|list| (*list).clone()).collect();
    let centre = |rest: &mut Vec<Vec<InBlock>>| {
        for list in rest {
            let values: Vec<f64> = list.iter().map(|one| one.value).collect();
            let mean = mean(&values);
            list.iter_mut().for_each(|one| one.value -= mean);
        }
    };
    let left = |rest: &[Vec<InBlock>]| sum_of_squares(rest.iter().flatten().map(|one| one.value));
    centre(&mut rest);
    let without = left(&rest);
    let mut with = without;
    for _ in 0..MOST_TURNS {
        let all: Vec<InBlock> = rest.iter().flatten().copied().collect();
        let means = by_block(&all);
        let means: BTreeMap<usize, f64> = means.iter().map(|(b, v)| (*b, mean(v))).collect();
        for one in rest.iter_mut().flatten() {
            one.value -= means.get(&one.block).copied().unwrap_or(0.0);
        }
        centre(&mut rest);
        let now = left(&rest);
        let is_done = with - now <= 1e-12 * with;
        with = now;
        if is_done {
            break;
        }
    }
    (without, with)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(values: &[(usize, f64)]) -> Vec<InBlock> {
        let own = |&(block, value): &(usize, f64)| InBlock {
            block,
            value,
            step: 0.0,
        };
        values.iter().map(own).collect()
    }

    #[test]
    fn blocks_are_taken_out_of_a_difference() {
        let first = list(&[(1, 10.0), (2, 13.0), (3, 8.0), (4, 15.0)]);
        let second = list(&[(1, 10.5), (2, 13.6), (3, 8.4), (4, 15.5), (9, 100.0)]);
        let lists = vec![first.clone(), second.clone()];
        assert!(blocks_differ(&[first.clone(), second[..4].to_vec()]));
        let contrast = paired_contrast(&second, &first);
        assert!(contrast.is_some_and(|c| (c.value - 0.5).abs() < 1e-12 && c.p() < 0.01));
        let unpaired = Samples {
            lists,
            is_paired: false,
            is_declared: false,
        };
        assert!(unpaired.contrast(1, 0).is_some_and(|c| c.p() > 0.2));
        // Too few in common.
        assert!(paired_contrast(&second, &first[..2]).is_none());
    }

    #[test]
    fn blocks_that_do_not_differ_are_none() {
        let first = list(&[(1, 10.0), (2, 10.3), (3, 9.8), (4, 10.1)]);
        let second = list(&[(1, 10.2), (2, 9.9), (3, 10.1), (4, 10.0)]);
        assert!(!blocks_differ(&[first.clone(), second]));
        // Each measured on days of its own: days and lists are the same difference.
        let apart = list(&[(5, 20.0), (5, 20.3), (6, 30.1), (6, 29.9)]);
        assert!(!blocks_differ(std::slice::from_ref(&first)));
        assert!(blocks_differ(&[first, apart]));
    }
}
