//! Machines of the catalog that a study could use, with what it would cost there.

use std::collections::BTreeSet;

use cost::{Catalog, CatalogEntry, MachineQuery, Paying, SortBy};
use model::Money;
use report::format;
use runner::Forecast;

use super::super::price::find::{gpu, money};
use crate::table::Table;

/// More would not be read.
const MOST_SHOWN: usize = 12;

/// A machine, and the study on it.
pub(super) struct Candidate<'c> {
    pub(super) entry: &'c CatalogEntry,
    pub(super) forecast: Option<Forecast>,
    /// The budget, as far as is known.
    pub(super) exceeds: bool,
}

/// The cheapest of each size, the cheapest first; after those that may keep the budget, the others
/// by what the study would cost there.
pub(super) fn candidates<'c>(
    catalog: &'c Catalog,
    provider: Option<&str>,
    budget: Option<Money>,
    with_gpus: bool,
    forecast: impl Fn(&CatalogEntry) -> Option<Forecast>,
) -> Vec<Candidate<'c>> {
    let query = MachineQuery {
        provider: provider.map(|provider| cost::provider_named(provider).to_owned()),
        currency: budget.map(|budget| budget.currency),
        paying: Paying::OnDemand,
        sort: SortBy::Price,
        ..MachineQuery::default()
    };
    let mut sizes = BTreeSet::new();
    let is_new_size = |entry: &&CatalogEntry| {
        let shape = &entry.shape;
        let is_usable = shape.vcpus.is_some() && (with_gpus || shape.gpu.is_none());
        is_usable && sizes.insert((shape.vcpus, gpu(shape)))
    };
    let entries = cost::search(catalog, &query).entries.into_iter();
    let candidates = entries.filter(is_new_size).map(|entry| {
        let forecast = forecast(entry);
        Candidate {
            exceeds: exceeds(forecast.as_ref(), budget),
            forecast,
            entry,
        }
    });
    let (mut exceeding, mut all): (Vec<_>, Vec<_>) = candidates.partition(|c| c.exceeds);
    let cost = |candidate: &Candidate<'_>| Some(candidate.forecast.as_ref()?.money?.value.amount);
    exceeding.sort_by_key(cost);
    all.extend(exceeding);
    all.truncate(MOST_SHOWN);
    all
}

/// Whether the forecast is above the budget, where both are known.
pub(super) fn exceeds(forecast: Option<&Forecast>, budget: Option<Money>) -> bool {
    let money = forecast.and_then(|forecast| forecast.money);
    money.zip(budget).is_some_and(|(money, budget)| {
        money.value.currency == budget.currency && money.value.amount > budget.amount
    })
}

pub(super) fn table(candidates: &[Candidate<'_>]) -> String {
    let mut table = Table::default()
        .number("")
        .text("machine")
        .number("vCPUs")
        .number("GiB")
        .text("GPU")
        .number("per hour")
        .number("time")
        .number("cost");
    let is_marked = candidates.iter().any(|candidate| candidate.exceeds);
    if is_marked {
        table = table.text("");
    }
    for (index, candidate) in candidates.iter().enumerate() {
        let Candidate {
            entry,
            forecast,
            exceeds,
        } = candidate;
        let shape = &entry.shape;
        let forecast = forecast.as_ref();
        let mut row = vec![
            (index + 1).to_string(),
            entry.name(),
            shape.vcpus.map(|v| v.to_string()).unwrap_or_default(),
            shape.memory_gib.map(|m| m.to_string()).unwrap_or_default(),
            gpu(shape),
            money(entry, Paying::OnDemand),
            forecast.map_or_else(
                || format::NONE.to_owned(),
                |f| format::duration(f.seconds.value),
            ),
            forecast
                .and_then(|f| f.money)
                .map_or(String::new(), |money| money.value.to_string()),
        ];
        if is_marked {
            let mark = if *exceeds { "over the budget" } else { "" };
            row.push(mark.to_owned());
        }
        table.row(row);
    }
    table.rendered()
}
