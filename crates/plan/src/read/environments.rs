//! `[environments]`: where runs happen and what an hour there costs.

use diagnostics::{Diagnostic, Located, Table};
use model::location::Within;
use model::money::{Charge, RentalScope};
use model::{BillingRule, Limits, PaidPhases, Price, Service};

use super::draft::DraftEnvironment;
use super::prices::Known;
use super::{Typed, billing, energy, hosts, locations, prices, services, take};
use crate::values;

pub(crate) const MAX_CORES: f64 = 4096.0;

pub(super) fn read(typed: &Typed<'_>, top: &Table<'_>, known: &Known<'_>) -> Vec<DraftEnvironment> {
    let Some(table) = top.table("environments") else {
        return Vec::new();
    };
    let mut environments = Vec::new();
    for (name, value) in table.entries() {
        let Some(inner) = value.table(&format!("environments.{}", name.value)) else {
            continue;
        };
        let name = name.clone().map(str::to_owned);
        environments.push(read_one(typed, name, inner, known));
    }
    environments
}

fn read_one(
    typed: &Typed<'_>,
    name: Located<String>,
    table: Table<'_>,
    known: &Known<'_>,
) -> DraftEnvironment {
    let service = services::read(&table);
    if let Some(Service::Serverless(_)) = service.as_ref().map(|service| &service.value) {
        check_worker_limits(&table);
    }
    let worker = match service.as_ref().map(|service| &service.value) {
        Some(Service::Serverless(serverless)) => Some(serverless.memory_mb),
        _ => None,
    };
    let money = Money {
        known,
        before: None,
        worker_memory_mb: worker,
    };
    let mut price = read_price(typed, &table, &money);
    let limits = Limits {
        cores: read_cores(&table),
        memory_bytes: take::parsed(&table, "memory", values::size_bytes).map(|m| m.value),
    };
    let device = table.text("device");
    if let Some(device) = &device {
        let wrong = match device.value.is_empty() {
            true => Some("`device` is empty".to_owned()),
            false => values::device_complaint(&device.value),
        };
        if let Some(wrong) = wrong {
            table.complain(device.wrong(wrong).label("such as \"cpu\" or \"cuda:0\""));
        }
    }
    let hosts = hosts::read(&table);
    let location = locations::read(&table, price.as_ref());
    let power = energy::read_power(&table);
    let carbon = energy::read_carbon(typed, &table);
    if let (Within::Slurm(_), Some(price)) = (&location.within, &mut price)
        && !writes_rental(&table)
    {
        // A cluster is paid for the time of its jobs, not for the time between them.
        price.billing.rental = RentalScope::Run;
        for size in &mut price.sizes {
            size.billing.rental = RentalScope::Run;
        }
    }
    table.finish();
    DraftEnvironment {
        name,
        price,
        limits,
        device: device.map(|d| d.value),
        service,
        hosts,
        location,
        power,
        carbon,
    }
}

fn writes_rental(table: &Table<'_>) -> bool {
    let billing = table.table("billing");
    billing.is_some_and(|billing| billing.key_span("rental").is_some())
}

/// Limits would hold the emulator and all its workers together.
fn check_worker_limits(table: &Table<'_>) {
    for key in ["cores", "memory"] {
        if let Some(span) = table.key_span(key) {
            let message = format!(
                "`{key}` cannot be combined with `serverless`, which sets the size of its workers"
            );
            let wrong = Diagnostic::at(span, message);
            table.complain(wrong.label(
                "remove it: `memory` of `serverless` sets the size, and cores follow from it",
            ));
        }
    }
}

fn read_cores(table: &Table<'_>) -> Option<f64> {
    let cores = table.number("cores")?;
    match cores.value > 0.0 && cores.value <= MAX_CORES {
        true => Some(cores.value),
        false => {
            table.complain(cores.wrong("`cores` must be above 0 and at most 4096"));
            None
        }
    }
}

/// What a place's price is read with.
pub(super) struct Money<'a> {
    pub(super) known: &'a Known<'a>,
    /// Holds where none is written.
    pub(super) before: Option<&'a Price>,
    /// Of workers on demand.
    pub(super) worker_memory_mb: Option<u32>,
}

pub(super) fn read_price(typed: &Typed<'_>, table: &Table<'_>, money: &Money<'_>) -> Option<Price> {
    let asked = AskedPrice::read(table);
    let own = prices::read_own(typed, table);
    let source = table.text("price_source");
    let date = take::date(typed, table, "price_date");
    if table.key_span("price").is_some() && table.key_span("own").is_some() {
        let both = Diagnostic::at(
            take::key_span(table, "own"),
            "`price` and `own` are both set",
        );
        table.complain(both.other(take::key_span(table, "price"), "remove one of them"));
    }
    let look_up = |text: &Located<String>| {
        prices::look_up(
            typed,
            text,
            money.known,
            money.worker_memory_mb,
            table.problems,
        )
    };
    let found = match &asked {
        AskedPrice::One(text) => look_up(text),
        AskedPrice::Sizes(names) => {
            let found = names.iter().map(|name| {
                let price = look_up(name)?;
                Some(Located::new(price, name.span.clone()))
            });
            let found: Vec<Option<Located<Price>>> = found.collect();
            let found: Option<Vec<Located<Price>>> = found.into_iter().collect();
            found.and_then(|found| prices::sizes(found, table.problems))
        }
        AskedPrice::Nothing => own.or_else(|| money.before.cloned()),
    };
    let written = ["price", "own"]
        .iter()
        .any(|key| table.key_span(key).is_some());
    let priced = written || money.before.is_some();
    let mut price = found;
    for (key, value) in [("price_source", source), ("price_date", date)] {
        let Some(value) = value else { continue };
        match &mut price {
            Some(price) if price.machine == prices::OWN && key == "price_source" => {
                price.source = value.value
            }
            Some(price) if price.machine == prices::OWN => price.date = value.value,
            None if priced => {}
            _ => {
                let message =
                    format!("`{key}` needs a price written as an amount, such as \"0.169 USD/h\"");
                table.complain(Diagnostic::at(take::key_span(table, key), message));
            }
        }
    }
    let rule = price.as_ref().map(|price| price.billing.clone());
    let mut rule = rule.unwrap_or_default();
    if let (true, Some(before)) = (written, money.before) {
        let is_amount =
            (price.as_ref()).is_some_and(|p| p.machine == prices::OWN && p.own.is_none());
        rule = match is_amount {
            true => before.billing.clone(),
            false => billing::with_what_stays(rule, &before.billing),
        };
    }
    // What a worker on demand costs is paid for requests, unless the study says otherwise.
    if written && money.worker_memory_mb.is_some() && rule.paid == PaidPhases::All {
        rule = BillingRule {
            discounts: rule.discounts,
            charges: rule.charges,
            tax_percent: rule.tax_percent,
            month: rule.month,
            ..BillingRule::requests()
        };
    }
    let written_rule = billing::read(typed, table, &mut rule, money.worker_memory_mb);
    if let (false, Some(span)) = (priced, table.key_span("billing")) {
        let unpriced = Diagnostic::at(span, "`billing` has no effect without a price");
        table.complain(unpriced.label("add price = \"…\""));
    }
    let mut price = price?;
    for size in &mut price.sizes {
        if let (true, Some(before)) = (written, money.before) {
            size.billing = billing::with_what_stays(size.billing.clone(), &before.billing);
        }
        written_rule.pass_on(&rule, &mut size.billing);
    }
    price.billing = rule;
    check_charges(table, &price);
    Some(price)
}

/// `price = …`.
enum AskedPrice {
    Nothing,
    One(Located<String>),
    /// Machines of several sizes, of which each run pays the one it needs.
    Sizes(Vec<Located<String>>),
}

impl AskedPrice {
    fn read(table: &Table<'_>) -> Self {
        let Some(value) = table.get("price") else {
            return AskedPrice::Nothing;
        };
        if value.kind() != "array" {
            let one = value.text("price");
            return one.map_or(AskedPrice::Nothing, AskedPrice::One);
        }
        let values = value.array("price").unwrap_or_default();
        if values.is_empty() {
            table.complain(value.wrong("the list in `price` is empty"));
        }
        let names = values.iter();
        AskedPrice::Sizes(names.filter_map(|name| name.text("price")).collect())
    }
}

/// A bill is in one currency.
fn check_charges(table: &Table<'_>, price: &Price) {
    let currency = price.per_hour.currency;
    let other = |charge: &&Charge| charge.price.currency != currency;
    if let Some(charge) = price.billing.charges.iter().find(other) {
        let message = format!(
            "`{}` is priced in {}, the machine in {currency}: a bill can have only one currency",
            charge.what, charge.price.currency
        );
        let span = table.key_span("billing");
        let span = span.unwrap_or_else(|| take::key_span(table, "price"));
        table.complain(Diagnostic::at(span, message));
    }
}
