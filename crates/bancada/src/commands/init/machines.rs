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
}

/// The cheapest of each size, the cheapest first, that keep the budget.
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
    let candidates = entries.filter(is_new_size).map(|entry| Candidate {
        forecast: forecast(entry),
        entry,
    });
    let fits = |candidate: &Candidate<'_>| !exceeds(candidate.forecast.as_ref(), budget);
    candidates.filter(fits).take(MOST_SHOWN).collect()
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
    for (index, Candidate { entry, forecast }) in candidates.iter().enumerate() {
        let shape = &entry.shape;
        let forecast = forecast.as_ref();
        table.row(vec![
            (index + 1).to_string(),
            entry.name(),
            shape.vcpus.map(|v| v.to_string()).unwrap_or_default(),
            shape.memory_gib.map(|m| m.to_string()).unwrap_or_default(),
            gpu(shape),
            money(entry, Paying::OnDemand),
            forecast.map_or(String::new(), |f| format::duration(f.seconds.value)),
            forecast
                .and_then(|f| f.money)
                .map_or(String::new(), |money| money.value.to_string()),
        ]);
    }
    table.rendered()
}
