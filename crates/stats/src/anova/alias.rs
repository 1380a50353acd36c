//! Interactions that the cells cannot tell apart: they are one term together.

use super::Cells;
use crate::cell_means::Basis;

/// Pairs of more interactions than this are not looked at one by one: they are one term.
const MOST: usize = 60;

/// The terms of the model, each a set of factors or several that cannot be told apart. Main effects stay alone: what
/// cannot be told from them has nothing left to be tested.
pub(crate) fn terms(cells: &Cells, sets: &[u32]) -> Vec<Vec<u32>> {
    let alone = || sets.iter().map(|set| vec![*set]).collect();
    let is_complete = cells.cells.len() == cells.levels.iter().product::<usize>();
    let (mains, interactions): (Vec<u32>, Vec<u32>) =
        sets.iter().partition(|set| set.count_ones() == 1);
    if is_complete || interactions.len() < 2 {
        return alone();
    }
    let examined = Examined::new(cells, sets, &mains);
    if examined.is_free() {
        return alone();
    }
    let aliased: Vec<u32> = interactions
        .iter()
        .copied()
        .filter(|set| examined.is_aliased(*set))
        .collect();
    let mut groups = examined.groups(&aliased);
    // Those that no other one equals may still be the sum of several.
    if groups.iter().any(|group| examined.gain(group) == 0) && !aliased.is_empty() {
        groups = vec![aliased.clone()];
    }
    let rest = sets.iter().filter(|set| !aliased.contains(set));
    let rest: Vec<Vec<u32>> = rest.map(|set| vec![*set]).collect();
    let place = |group: &Vec<u32>| sets.iter().position(|set| *set == group[0]);
    let mut terms: Vec<Vec<u32>> = rest.into_iter().chain(groups).collect();
    terms.sort_by_key(place);
    terms
}

struct Examined<'c> {
    cells: &'c Cells,
    sets: &'c [u32],
    /// Mean and main effects.
    mains: Basis,
}

impl<'c> Examined<'c> {
    fn new(cells: &'c Cells, sets: &'c [u32], mains: &[u32]) -> Self {
        let mut basis = Basis::of_mean(cells);
        mains.iter().for_each(|set| basis.add(cells, *set));
        Examined {
            cells,
            sets,
            mains: basis,
        }
    }

    fn size(&self, set: u32) -> usize {
        let factors = super::columns::factors_of(set).into_iter();
        factors
            .map(|factor| self.cells.levels[factor].saturating_sub(1))
            .product()
    }

    /// Whether every term can be told from all others.
    fn is_free(&self) -> bool {
        let mut basis = self.mains.clone();
        let interactions = self.sets.iter().filter(|set| set.count_ones() > 1);
        interactions.for_each(|set| basis.add(self.cells, *set));
        basis.rank() == 1 + self.sets.iter().map(|set| self.size(*set)).sum::<usize>()
    }

    /// What sets of factors add to the main effects.
    fn after_mains(&self, sets: &[u32]) -> usize {
        let mut basis = self.mains.clone();
        sets.iter().for_each(|set| basis.add(self.cells, *set));
        basis.rank() - self.mains.rank()
    }

    /// What terms add to all others that contain none of them.
    fn gain(&self, group: &[u32]) -> usize {
        let mut basis = Basis::of_mean(self.cells);
        let is_other = |set: &&u32| group.iter().all(|own| **set & own != *own);
        let others = self.sets.iter().filter(is_other);
        others.for_each(|set| basis.add(self.cells, *set));
        let before = basis.rank();
        group.iter().for_each(|set| basis.add(self.cells, *set));
        basis.rank() - before
    }

    /// Nothing of it can be told from other interactions, and not because it equals main effects.
    fn is_aliased(&self, set: u32) -> bool {
        self.gain(&[set]) == 0 && self.after_mains(&[set]) > 0
    }

    /// Interactions that share a comparison belong together.
    fn groups(&self, aliased: &[u32]) -> Vec<Vec<u32>> {
        if aliased.len() > MOST {
            return vec![aliased.to_vec()];
        }
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for set in aliased {
            let shares = |other: &u32| {
                let apart = self.after_mains(&[*set]) + self.after_mains(&[*other]);
                self.after_mains(&[*other, *set]) < apart
            };
            let (with, without): (Vec<_>, Vec<_>) = groups
                .into_iter()
                .partition(|group: &Vec<u32>| group.iter().any(shares));
            groups = without;
            let mut own: Vec<u32> = with.into_iter().flatten().collect();
            own.push(*set);
            groups.push(own);
        }
        groups
    }
}
