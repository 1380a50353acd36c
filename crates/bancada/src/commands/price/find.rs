use cost::{Catalog, CatalogEntry, GpuWanted, MachineMatches, MachineQuery, Paying, Shape, SortBy};
use report::format;
use serde_json::Value;

use super::json;
use crate::args::{PriceFindArgs, PriceSort};
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::table::Table;

pub(super) fn find(args: &PriceFindArgs, catalog: &Catalog, printer: &Printer) -> CommandResult {
    let wanted = wanted(args);
    let found = cost::search(catalog, &wanted);
    let most = match args.limit {
        0 => usize::MAX,
        limit => limit,
    };
    let shown = &found.entries[..found.entries.len().min(most)];
    if args.json {
        let list: Vec<Value> = shown.iter().map(|entry| json::entry(entry)).collect();
        printer.data(&format!("{:#}", Value::from(list)));
    } else if !shown.is_empty() {
        printer.data(&list(shown));
    }
    tell_rest(&found, shown.len(), &wanted, catalog, printer);
    Ok(match found.entries.is_empty() {
        true => Exit::WrongArguments,
        false => Exit::Ok,
    })
}

fn wanted(args: &PriceFindArgs) -> MachineQuery {
    MachineQuery {
        provider: args.provider.clone(),
        region: args.region.clone(),
        vcpus: args.vcpus,
        memory_gib: args.memory,
        gpu: args.gpu.clone(),
        gpus: args.gpus,
        architecture: args.arch,
        currency: args.currency,
        most_per_hour: args.max,
        paying: match args.spot {
            true => Paying::Spot,
            false => Paying::OnDemand,
        },
        sort: match args.sort {
            PriceSort::Price => SortBy::Price,
            PriceSort::Vcpus => SortBy::Vcpus,
            PriceSort::Memory => SortBy::Memory,
        },
    }
}

/// One row a machine, for `find` and `compare`.
pub(super) fn list(entries: &[&CatalogEntry]) -> String {
    let mut table = Table::default()
        .text("machine")
        .number("vCPUs")
        .number("GiB")
        .text("GPU")
        .text("processor")
        .number("on demand/h")
        .number("spot/h")
        .text("date");
    for entry in entries {
        let Shape {
            vcpus,
            memory_gib,
            architecture,
            ..
        } = &entry.shape;
        table.row(vec![
            entry.name(),
            vcpus.map(|v| v.to_string()).unwrap_or_default(),
            memory_gib.map(|m| m.to_string()).unwrap_or_default(),
            gpu(&entry.shape),
            architecture.map_or("", |a| a.word()).to_owned(),
            money(entry, Paying::OnDemand),
            money(entry, Paying::Spot),
            read(entry).to_owned(),
        ]);
    }
    table.rendered()
}

pub(in crate::commands) fn money(entry: &CatalogEntry, paying: Paying) -> String {
    let quote = entry.quote(paying);
    quote.map_or(String::new(), |q| format::exact_money(&q.per_hour))
}

/// `T4`, `4 × T4`.
pub(in crate::commands) fn gpu(shape: &Shape) -> String {
    let Some(gpu) = &shape.gpu else {
        return "none".to_owned();
    };
    match gpu.count {
        Some(count) if count.to_string() == "1" => gpu.kind.clone(),
        Some(count) => format!("{count} × {}", gpu.kind),
        None => format!("? × {}", gpu.kind),
    }
}

fn read(entry: &CatalogEntry) -> &str {
    let quote = entry.on_demand.as_ref().or(entry.spot.as_ref());
    quote.map_or("", |quote| quote.date.as_str())
}

/// What fits and is not in the table, and why.
fn tell_rest(
    found: &MachineMatches,
    shown: usize,
    wanted: &MachineQuery,
    catalog: &Catalog,
    printer: &Printer,
) {
    let rest = found.entries.len() - shown;
    if found.entries.is_empty() {
        printer.talk(&format!(
            "No match among {} machines.{}",
            format::count(catalog.entries.len()),
            hint(wanted, catalog)
        ));
    }
    if rest > 0 {
        printer.talk(&format!(
            "And {}: --limit 0 shows all.",
            format::counted(rest, "more", "more")
        ));
    }
    for (count, why) in [
        (found.of_unknown_shape, "may match, but the size is unknown"),
        (
            found.without_price,
            "would match, but without a price of this kind",
        ),
        (
            found.of_other_currency,
            "would match, but priced in a different currency than --max",
        ),
    ] {
        if count > 0 {
            printer.talk(&format!("{} {why}.", format::count(count)));
        }
    }
}

/// What the catalog has instead.
fn hint(wanted: &MachineQuery, catalog: &Catalog) -> String {
    let check = |asked: Option<&str>, of: fn(&CatalogEntry) -> &str, what: &str| {
        let asked = asked?;
        let mut known: Vec<&str> = catalog.entries.iter().map(of).collect();
        known.sort_unstable();
        known.dedup();
        let missing = !known.contains(&asked);
        missing.then(|| {
            format!(
                " No {what} is called `{asked}`; known: {}.",
                known.join(", ")
            )
        })
    };
    let provider = wanted.provider.as_deref().map(cost::provider_named);
    let provider = check(provider, |e| &e.provider, "provider");
    let region = check(wanted.region.as_deref(), |e| &e.region, "region");
    let is_kind = matches!(wanted.gpu, Some(GpuWanted::Kind(_)));
    let gpus = is_kind.then(|| format!(" GPUs in the catalog: {}.", gpus(catalog).join(", ")));
    provider.or(region).or(gpus).unwrap_or_default()
}

/// Each kind once.
fn gpus(catalog: &Catalog) -> Vec<&str> {
    let entries = catalog.entries.iter();
    let gpus = entries.filter_map(|entry| Some(entry.shape.gpu.as_ref()?.kind.as_str()));
    let mut gpus: Vec<&str> = gpus.collect();
    gpus.sort_unstable();
    gpus.dedup();
    gpus
}
