use cost::{Catalog, CatalogEntry, Paying};
use report::format;
use serde_json::Value;

use super::find::gpu;
use super::{json, unknown};
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;
use crate::table::Table;

pub(super) fn show(
    machines: &[String],
    as_json: bool,
    catalog: &Catalog,
    printer: &Printer,
) -> CommandResult {
    let mut found: Vec<Vec<&CatalogEntry>> = Vec::new();
    for machine in machines {
        let entries = catalog.all_named(machine).map_err(|e| unknown(&e))?;
        if machine.ends_with("+spot") && entries.iter().all(|e| e.spot.is_none()) {
            let message = format!("`{machine}` has no known spot price");
            return Err(Failure::new(Exit::BadStudy, message));
        }
        found.push(entries);
    }
    if as_json {
        let list: Vec<Value> = found.iter().flatten().map(|e| json::entry(e)).collect();
        printer.data(&format!("{:#}", Value::from(list)));
        return Ok(Exit::Ok);
    }
    let pages: Vec<String> = found.iter().map(|entries| page(entries)).collect();
    printer.data(&pages.join("\n"));
    Ok(Exit::Ok)
}

/// The machine, then one row per region and way to pay.
fn page(entries: &[&CatalogEntry]) -> String {
    let Some(first) = entries.first() else {
        return String::new();
    };
    let today = workbench::today();
    let mut table = Table::default()
        .text("region")
        .text("paid")
        .number("per hour")
        .text("date")
        .text("age")
        .text("source");
    for entry in entries {
        for (paying, word) in [(Paying::OnDemand, "on demand"), (Paying::Spot, "spot")] {
            let Some(quote) = entry.quote(paying) else {
                continue;
            };
            table.row(vec![
                entry.region.clone(),
                word.to_owned(),
                format::exact_money(&quote.per_hour),
                quote.date.clone(),
                fetch::prices::age(&quote.date, &today),
                quote.source.clone(),
            ]);
        }
    }
    format!("{}\n\n{}", head(first), table.rendered())
}

/// `azure/Standard_NC4as_T4_v3: 4 vCPUs, 28 GiB, T4 of 16 GiB, x86-64`.
fn head(entry: &CatalogEntry) -> String {
    let shape = &entry.shape;
    let unknown = |what: &str| format!("{what} unknown");
    let vcpus = shape
        .vcpus
        .map_or(unknown("vCPUs"), |v| format!("{v} vCPUs"));
    let memory = shape
        .memory_gib
        .map_or(unknown("memory"), |m| format!("{m} GiB"));
    let gpu = match &shape.gpu {
        None => "no GPU".to_owned(),
        Some(one) => match one.memory_gib {
            Some(memory) => format!("{} of {memory} GiB", gpu(shape)),
            None => gpu(shape),
        },
    };
    let processor = shape.architecture.map_or("processor unknown", |a| a.word());
    let name = format!("{}/{}", entry.provider, entry.machine);
    format!("{name}: {vcpus}, {memory}, {gpu}, {processor}")
}
