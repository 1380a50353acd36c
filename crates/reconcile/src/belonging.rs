//! Which sums of a bill belong to the study.

use std::collections::{BTreeMap, BTreeSet};

use model::{Currency, Money};
use rust_decimal::Decimal;

use crate::charge::Tag;
use crate::ledger::{Attribution, Ledger, Pile, PileKey};
use crate::reconciliation::{MatchedBy, Note};

pub(crate) struct Belonging {
    pub(crate) matched_by: MatchedBy,
    /// By place in the ledger's resources.
    pub(crate) resources: Vec<bool>,
    /// Whatever lies there is of the study.
    scopes: BTreeSet<u32>,
    /// Machines of the study lie there, and others too.
    undecided_scopes: BTreeSet<u32>,
}

impl Belonging {
    /// By the tag, if it was requested or any row has it. Otherwise by machine and time: a
    /// resource is of the study when it was on during a run; and what is next to it (disks,
    /// addresses), when no other machine does.
    pub(crate) fn find(ledger: &Ledger, asked: Option<&Tag>, wanted: &Tag) -> Belonging {
        let any_tagged = ledger.resources.iter().any(|resource| resource.tagged)
            || ledger
                .piles
                .keys()
                .any(|key| key.place == Attribution::Tagged);
        if any_tagged || asked.is_some() {
            return Belonging {
                matched_by: match any_tagged {
                    true => MatchedBy::Tag {
                        tag: wanted.to_string(),
                    },
                    false => MatchedBy::Nothing,
                },
                resources: ledger.resources.iter().map(|r| r.tagged).collect(),
                scopes: BTreeSet::new(),
                undecided_scopes: BTreeSet::new(),
            };
        }
        Belonging::by_machine(ledger)
    }

    fn by_machine(ledger: &Ledger) -> Belonging {
        let resources: Vec<bool> = ledger.resources.iter().map(|r| r.met_runs).collect();
        let ours = ledger.resources.iter().filter(|r| r.met_runs);
        let mut scopes: BTreeSet<u32> = ours.map(|resource| resource.scope).collect();
        let works = |pile: &(&PileKey, &Pile)| ledger.is_of_workers(pile.0.category);
        let piled = ledger
            .piles
            .iter()
            .filter(works)
            .filter_map(|(key, pile)| match key.place {
                Attribution::Scope(scope) if pile.cost > Decimal::ZERO => Some(scope),
                _ => None,
            });
        let unmet = ledger.resources.iter().filter(|r| !r.met_runs);
        let others: BTreeSet<u32> = piled.chain(unmet.map(|r| r.scope)).collect();
        let undecided_scopes = scopes.intersection(&others).copied().collect();
        scopes = scopes.difference(&others).copied().collect();
        Belonging {
            matched_by: match resources.contains(&true) {
                true => MatchedBy::MachineAndTime,
                false => MatchedBy::Nothing,
            },
            resources,
            scopes,
            undecided_scopes,
        }
    }

    pub(crate) fn has(&self, key: &PileKey) -> bool {
        match key.place {
            Attribution::Tagged => true,
            Attribution::Scope(scope) => self.scopes.contains(&scope),
            Attribution::Account => false,
        }
    }

    /// What is next to the study's machines, where others stand too: it may be of the study.
    pub(crate) fn undecided(&self, ledger: &Ledger) -> Vec<Note> {
        let machine = ledger.rules.id("machine");
        let mut sums: BTreeMap<(u32, Currency), Decimal> = BTreeMap::new();
        for (key, pile) in &ledger.piles {
            if let Attribution::Scope(scope) = key.place
                && self.undecided_scopes.contains(&scope)
                && key.category != machine
            {
                *sums.entry((scope, key.currency)).or_default() += pile.sum();
            }
        }
        let note = |((scope, currency), amount): ((u32, Currency), Decimal)| Note::Undecided {
            scope: ledger.scopes.name(scope).to_owned(),
            amount: Money::new(amount.normalize(), currency),
        };
        sums.into_iter().map(note).collect()
    }
}
