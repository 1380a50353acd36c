//! What a list gave, in a form that reads.

use cost::{Catalog, CatalogEntry, Reason};
use fetch::prices::{About, PriceList};

pub(crate) fn about() -> About {
    About {
        source: "a test".to_owned(),
        date: "2026-11-16".to_owned(),
    }
}

/// `azure/Standard_D2als_v7@eastus 0.0804 USD, spot 0.015598`.
pub(crate) fn shown(catalog: &Catalog) -> Vec<String> {
    let mut lines: Vec<String> = catalog.entries.iter().map(line).collect();
    lines.sort();
    lines
}

fn line(entry: &CatalogEntry) -> String {
    let price = |quote: Option<&cost::Quote>| {
        quote.map_or("?".to_owned(), |quote| quote.per_hour.amount.to_string())
    };
    let spot = match &entry.spot {
        Some(_) => format!(", spot {}", price(entry.spot.as_ref())),
        None => String::new(),
    };
    let currency = entry.currency().unwrap();
    let on_demand = price(entry.on_demand.as_ref());
    format!("{} {on_demand} {currency}{spot}", entry.name())
}

#[track_caller]
pub(crate) fn check_prices(list: &PriceList, expected: &[&str]) {
    assert_eq!(shown(&list.catalog), expected, "{:?}", list.left_out);
}

/// All that was left out, and nothing else.
#[track_caller]
pub(crate) fn check_left_out(list: &PriceList, expected: &[(Reason, u64)]) {
    let mut expected = expected.to_vec();
    expected.sort();
    let counts: Vec<(Reason, u64)> = list
        .left_out
        .iter()
        .map(|(reason, left_out)| (reason, left_out.count))
        .collect();
    assert_eq!(counts, expected, "{:?}", list.left_out);
}

/// `4 vCPU, 16 GiB, 1 × T4 of 16 GiB, x86-64`.
pub(crate) fn shape(entry: &CatalogEntry) -> String {
    let number = |value: Option<rust_decimal::Decimal>| {
        value.map_or("?".to_owned(), |value| value.to_string())
    };
    let shape = &entry.shape;
    let gpu = shape.gpu.as_ref().map_or(String::new(), |gpu| {
        let (count, memory) = (number(gpu.count), number(gpu.memory_gib));
        format!(", {count} × {} of {memory} GiB", gpu.kind)
    });
    let architecture = shape.architecture.map_or("?", |a| a.word());
    let (vcpus, memory) = (number(shape.vcpus), number(shape.memory_gib));
    format!("{vcpus} vCPU, {memory} GiB{gpu}, {architecture}")
}

#[track_caller]
pub(crate) fn check_shape(list: &PriceList, machine: &str, expected: &str) {
    let entry = list.catalog.entries.iter().find(|e| e.machine == machine);
    assert_eq!(entry.map(shape).as_deref(), Some(expected), "{machine}");
}
