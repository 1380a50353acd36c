//! Everything summed → [`Reconciliation`].

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::{Currency, Money};
use rust_decimal::Decimal;

use crate::belonging::Belonging;
use crate::categories::Category;
use crate::compare::{Comparer, NotCompared};
use crate::estimate::{Estimate, Group, Question, in_currency};
use crate::items::{Items, Sum};
use crate::ledger::{Attribution, Ledger, Pile, PileKey, Resource};
use crate::lines::{Lines, share};
use crate::names::Sought;
use crate::reconciliation::{
    FileRead, MatchedBy, Note, Reconciliation, RowProblem, Unexplained, UnexplainedPart, Whose,
};
use crate::shared::{Share, shares};

/// What reading gave beside the sums.
#[derive(Default)]
pub(crate) struct Read {
    pub(crate) files: Vec<FileRead>,
    pub(crate) problems: Vec<RowProblem>,
    pub(crate) problem_count: u64,
}

pub(crate) fn explain(
    question: &Question,
    estimate: &Estimate,
    ledger: &Ledger,
    read: Read,
) -> Reconciliation {
    let belonging = Belonging::find(ledger, question.tag.as_ref(), &question.wanted_tag());
    let currency = common_currency(question, estimate, ledger, &belonging);
    let mut explainer = Explainer {
        ledger,
        comparer: Comparer {
            ledger,
            currency,
            rates: question.rates,
        },
        belonging: &belonging,
        lines: Lines::default(),
        items: Items::default(),
        written: BTreeMap::new(),
        without_rate: BTreeMap::new(),
        result: empty(question, currency, read),
    };
    explainer.machines(estimate);
    explainer.piles();
    explainer.notes(question, estimate);
    explainer.finish()
}

fn empty(question: &Question, currency: Currency, read: Read) -> Reconciliation {
    let zero = Money::zero(currency);
    Reconciliation {
        study: question.study.to_owned(),
        currency,
        estimate: zero,
        estimated_runs: 0,
        bill: zero,
        bill_as_written: Vec::new(),
        bill_rows: 0,
        difference: zero,
        difference_percent: None,
        matched_by: MatchedBy::Nothing,
        lines: Vec::new(),
        unexplained: Unexplained {
            amount: zero,
            share_percent: None,
            parts: Vec::new(),
        },
        machines: Vec::new(),
        charges: Vec::new(),
        rates: Vec::new(),
        items: Vec::new(),
        total: total(&read.files),
        files: read.files,
        problems: read.problems,
        problem_count: read.problem_count,
        notes: Vec::new(),
    }
}

fn total(files: &[FileRead]) -> Vec<Money> {
    let mut sums: BTreeMap<Currency, Decimal> = BTreeMap::new();
    for money in files.iter().flat_map(|file| &file.total) {
        *sums.entry(money.currency).or_default() += money.amount;
    }
    sums.into_iter()
        .map(|(currency, amount)| Money::new(amount.normalize(), currency))
        .collect()
}

/// The study's currency, if everything can be brought into it; otherwise the bill's, if it has
/// one and the estimate can.
fn common_currency(
    question: &Question,
    estimate: &Estimate,
    ledger: &Ledger,
    belonging: &Belonging,
) -> Currency {
    let ours = |id: usize| belonging.resources.get(id).copied().unwrap_or(false);
    let machines = ledger
        .resources
        .iter()
        .enumerate()
        .filter(|(id, _)| ours(*id))
        .map(|(_, resource)| resource.currency);
    let piles = ledger.piles.keys().filter(|key| belonging.has(key));
    let billed: BTreeSet<Currency> = machines.chain(piles.map(|key| key.currency)).collect();
    let estimated = |to: Currency| {
        let mut runs = estimate.groups.iter().flat_map(|group| &group.runs);
        runs.all(|run| run.amount(to, question.rates).is_some())
    };
    let convertible = |from: &Currency| {
        in_currency(Money::zero(*from), question.currency, question.rates).is_some()
    };
    let first = billed.first().copied();
    match first {
        Some(only)
            if billed.len() == 1
                && estimated(only)
                && !(estimated(question.currency) && convertible(&only)) =>
        {
            only
        }
        _ => question.currency,
    }
}

struct Explainer<'l> {
    ledger: &'l Ledger<'l>,
    comparer: Comparer<'l>,
    belonging: &'l Belonging,
    lines: Lines,
    items: Items,
    /// The study's part of the bill by currency.
    written: BTreeMap<Currency, Decimal>,
    without_rate: BTreeMap<Currency, Decimal>,
    /// Filled step by step.
    result: Reconciliation,
}

impl Explainer<'_> {
    fn machines(&mut self, estimate: &Estimate) {
        for (place, group) in estimate.groups.iter().enumerate() {
            let resources = self.resources_of(place);
            let compared = self.comparer.compare(group, &resources, &mut self.lines);
            self.result.estimate.amount += compared.estimate;
            self.result.estimated_runs += group.runs.len() as u64;
            self.result.bill.amount += compared.bill;
            self.result.bill_rows += compared.rows;
            self.result.rates.extend(compared.rate);
            if let Some(NotCompared { what, amount }) = compared.unexplained {
                self.unexplained(what, amount, compared.rows);
            }
            let (resources, at_once) = (compared.machine.resources, group.timeline.most_at_once);
            if resources > at_once.max(1) && self.belonging.matched_by == MatchedBy::MachineAndTime
            {
                self.result.notes.push(Note::MoreMachinesThanRuns {
                    machine: group.title.clone(),
                    resources,
                    at_once,
                });
            }
            self.result.machines.push(compared.machine);
        }
    }

    /// The study's resources of a group. Their credits are counted here; those in a currency
    /// without rate are put aside.
    fn resources_of(&mut self, group: usize) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        let credit = self.credit();
        for (id, resource) in self.ledger.resources.iter().enumerate() {
            if resource.group != group {
                continue;
            }
            let is_ours = self.belonging.resources[id];
            self.add_resource(resource, is_ours);
            if !is_ours {
                continue;
            }
            let credits = self.comparer.convert(resource.credits, resource.currency);
            let Some(credits) = credits else {
                *self.without_rate.entry(resource.currency).or_default() += resource.sum();
                continue;
            };
            *self.written.entry(resource.currency).or_default() += resource.sum();
            self.add_category(&credit, credits, 0);
            found.insert(u32::try_from(id).unwrap_or(u32::MAX));
        }
        found
    }

    fn add_resource(&mut self, resource: &Resource, is_ours: bool) {
        let (whose, what) = match is_ours {
            true => (
                Whose::Study,
                self.ledger.groups[resource.group].title.as_str(),
            ),
            false => (Whose::Others, self.ledger.services.name(resource.service)),
        };
        let amount = resource.sum();
        let sum = Sum {
            amount,
            of_study: if is_ours { amount } else { Decimal::ZERO },
            rows: resource.rows,
        };
        self.items.add(whose, what, resource.currency, sum);
    }

    /// Everything that is no machine of the study. What an account pays as a whole, taxes and the
    /// like, is divided in proportion to what else it was charged.
    fn piles(&mut self) {
        let shares = shares(self.ledger, self.belonging);
        for (key, pile) in sorted(&self.ledger.piles) {
            let category = self.ledger.rules.category(key.category);
            let service = self.ledger.services.name(key.service);
            let (whose, share) = match key.place {
                Attribution::Account => {
                    let provider = self.ledger.provider_of(key.service);
                    (Whose::Account, shares.of(provider, key.currency))
                }
                _ if self.belonging.has(&key) => (Whose::Study, Share::Whole),
                _ => (Whose::Others, Share::None),
            };
            let ours = Pile {
                cost: share.of(pile.cost),
                credits: share.of(pile.credits),
                rows: pile.rows,
            };
            let what = match whose {
                Whose::Study | Whose::Account if category.name != "other" => &category.title,
                _ => service,
            };
            let sum = Sum {
                amount: pile.sum(),
                of_study: ours.sum(),
                rows: pile.rows,
            };
            self.items.add(whose, what, key.currency, sum);
            let whole = Money::new(pile.sum(), key.currency);
            match share {
                Share::None => continue,
                Share::Undividable => self.result.notes.push(Note::NotDivided {
                    what: category.title,
                    amount: whole,
                }),
                Share::Whole => self.add_pile(&key, &category, ours),
                Share::Part(part) => {
                    self.add_pile(&key, &category, ours);
                    let percent = (part * Decimal::ONE_HUNDRED).round_dp(1);
                    let detail = format!("{percent} % of {whole}, in proportion to the charges");
                    self.lines.detail(&category, detail);
                }
            }
        }
    }

    fn add_pile(&mut self, key: &PileKey, category: &Category, pile: Pile) {
        let cost = self.comparer.convert(pile.cost, key.currency);
        let credits = self.comparer.convert(pile.credits, key.currency);
        let Some((cost, credits)) = cost.zip(credits) else {
            *self.without_rate.entry(key.currency).or_default() += pile.sum();
            return;
        };
        *self.written.entry(key.currency).or_default() += pile.sum();
        self.result.bill_rows += pile.rows;
        match category.name.as_str() {
            "other" => {
                self.result.bill.amount += cost;
                let what = self.ledger.services.name(key.service).to_owned();
                self.unexplained(what, cost, pile.rows);
            }
            _ => self.add_category(category, cost, pile.rows),
        }
        if !credits.is_zero() {
            self.add_category(&self.credit(), credits, 0);
        }
    }

    fn add_category(&mut self, category: &Category, amount: Decimal, rows: u64) {
        self.result.bill.amount += amount;
        self.lines.billed(category, amount, rows);
    }

    fn credit(&self) -> Category {
        self.ledger.rules.category(self.ledger.rules.id("credit"))
    }

    fn unexplained(&mut self, what: String, amount: Decimal, rows: u64) {
        let currency = self.comparer.currency;
        let parts = &mut self.result.unexplained.parts;
        match parts.iter_mut().find(|part| part.what == what) {
            Some(part) => {
                part.amount.amount += amount;
                part.rows += rows;
            }
            None => parts.push(UnexplainedPart {
                what,
                amount: Money::new(amount, currency),
                rows,
            }),
        }
    }

    fn notes(&mut self, question: &Question, estimate: &Estimate) {
        let left_out: u64 = self.result.files.iter().map(|file| file.left_out).sum();
        let currency = self.comparer.currency;
        let mut notes = Vec::new();
        if left_out > 0 {
            notes.push(Note::TotalMayBeWrong { rows: left_out });
        }
        match (&self.belonging.matched_by, &question.tag) {
            (MatchedBy::Nothing, Some(tag)) => notes.push(Note::NoTaggedRow {
                tag: tag.to_string(),
            }),
            (MatchedBy::Nothing, None) => notes.extend(nothing_matched(estimate)),
            (MatchedBy::MachineAndTime, _) => notes.push(Note::NotTagged {
                tag: question.wanted_tag().to_string(),
            }),
            (MatchedBy::Tag { .. }, _) => {}
        }
        if estimate.unpriced_runs > 0 {
            notes.push(Note::UnpricedRuns {
                runs: estimate.unpriced_runs,
            });
        }
        for (from, amount) in &self.without_rate {
            notes.push(Note::BillWithoutRate {
                amount: Money::new(*amount, *from),
                to: currency,
            });
        }
        notes.extend(estimates_without_rate(estimate, currency, question));
        notes.append(&mut self.result.notes);
        notes.extend(self.belonging.undecided(self.ledger));
        notes.extend(self.ledger.pooled.iter().cloned());
        self.result.notes = notes;
    }

    fn finish(mut self) -> Reconciliation {
        let currency = self.comparer.currency;
        let difference = self.result.bill.amount - self.result.estimate.amount;
        // What no step accounted for. The arithmetic leaves nothing; were it to, it shows here.
        let unexplained = difference - self.lines.total();
        let result = &mut self.result;
        result.matched_by = self.belonging.matched_by.clone();
        result.difference = Money::new(difference.normalize(), currency);
        result.difference_percent = share(difference, result.estimate.amount);
        result.estimate.amount = result.estimate.amount.normalize();
        result.bill.amount = result.bill.amount.normalize();
        result.bill_as_written = self
            .written
            .iter()
            .map(|(currency, amount)| Money::new(amount.normalize(), *currency))
            .collect();
        result.unexplained.amount = Money::new(unexplained.normalize(), currency);
        result.unexplained.share_percent = share(unexplained, difference);
        let parts = &mut result.unexplained.parts;
        parts.retain(|part| !part.amount.amount.is_zero());
        parts.sort_by_key(|part| std::cmp::Reverse(part.amount.amount.abs()));
        let finished = self.lines.finish(currency, difference);
        result.lines = finished.lines;
        result.charges = finished.charges;
        result.items = self.items.finish();
        self.result
    }
}

fn nothing_matched(estimate: &Estimate) -> Option<Note> {
    let (typed, sought): (Vec<&Group>, Vec<&Group>) = estimate
        .groups
        .iter()
        .partition(|group| group.sought == Sought::Nothing);
    let titles = |groups: &[&Group]| groups.iter().map(|group| group.title.clone()).collect();
    match (sought.is_empty(), typed.is_empty()) {
        (false, _) => Some(Note::NothingMatched {
            machines: titles(&sought),
        }),
        (true, false) => Some(Note::OnlyTypedPrices {
            machines: titles(&typed),
        }),
        (true, true) => None,
    }
}

/// In a fixed order: sums of hash maps must not depend on theirs.
fn sorted(piles: &HashMap<PileKey, Pile>) -> Vec<(PileKey, Pile)> {
    let mut all: Vec<(PileKey, Pile)> = piles.iter().map(|(key, pile)| (*key, *pile)).collect();
    all.sort_by_key(|(key, _)| *key);
    all
}

fn estimates_without_rate(
    estimate: &Estimate,
    to: Currency,
    question: &Question,
) -> impl Iterator<Item = Note> {
    let mut missing: BTreeMap<Currency, Decimal> = BTreeMap::new();
    for run in estimate.groups.iter().flat_map(|group| &group.runs) {
        if run.amount(to, question.rates).is_none() {
            let total = run.bill.total;
            *missing.entry(total.currency).or_default() += total.amount;
        }
    }
    missing
        .into_iter()
        .map(move |(currency, amount)| Note::EstimateWithoutRate {
            amount: Money::new(amount, currency),
            to,
        })
}
