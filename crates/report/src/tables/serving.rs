//! Serving: latency, cost, and break-even rates.

use analyse::{Analysis, Estimate, Place, ServedScenario, Serving, format};

use super::{Table, TableCell};

/// A row a scenario.
pub(crate) fn answers_table(analysis: &Analysis, serving: &Serving) -> Table {
    let mut table = Table::default();
    table.text("scenario");
    table.text("where");
    table.text("load");
    for header in [
        "requests",
        "of them cold",
        "latency",
        "p99",
        "prediction",
        "its share",
        "set-up",
        "per million responses",
    ] {
        table.number(header);
    }
    let symbol = currency_symbol(analysis);
    for served in &serving.scenarios {
        table.rows.push(row(served, &symbol));
    }
    table.cut()
}

fn row(served: &ServedScenario, symbol: &str) -> Vec<TableCell> {
    let seconds = |estimate: &Option<Estimate>| match estimate {
        Some(estimate) => {
            let cell = TableCell::new(format::duration(estimate.value));
            let ends = estimate.interval;
            cell.small(
                ends.map(|i| format::interval(i.low.max(0.0), i.high, format::duration))
                    .unwrap_or_default(),
            )
        }
        None => TableCell::none(),
    };
    let requests = match served.failed {
        0 => TableCell::new(format::count(served.requests as usize)),
        failed => TableCell::new(format::count(served.requests as usize))
            .small(format!("{} failed", format::count(failed as usize))),
    };
    let share = served.prediction_percent.as_ref();
    let million = served.cost_per_inference.as_ref().map(|each| {
        let amount = |value: f64| format::significant(value * 1e6, 3);
        let cell = TableCell::new(format!("{symbol} {}", amount(each.value)));
        let ends = each.interval;
        cell.small(
            ends.map(|i| format::interval(i.low.max(0.0), i.high, amount))
                .unwrap_or_default(),
        )
    });
    vec![
        TableCell::new(&served.label).small(served.phrase.clone()),
        TableCell::new(place(served)),
        TableCell::new(served.load),
        requests,
        match served.cold {
            0 => TableCell::none(),
            cold => TableCell::new(format::count(cold as usize)),
        },
        seconds(&served.latency_seconds),
        seconds(&served.p99_seconds),
        seconds(&served.prediction_seconds),
        share.map_or_else(TableCell::none, |share| {
            TableCell::new(format!("{} %", format::significant(share.value, 2)))
        }),
        seconds(&served.setup_seconds),
        million.unwrap_or_else(TableCell::none),
    ]
}

fn place(served: &ServedScenario) -> String {
    match served.place {
        Place::OnDemand { memory_mb } => format!("serverless, {memory_mb} MB"),
        Place::AlwaysOn => "always on".to_owned(),
    }
}

/// `None` if nothing on demand is next to something always on.
pub(crate) fn break_even_table(serving: &Serving) -> Option<Table> {
    if serving.break_evens.is_empty() {
        return None;
    }
    let mut table = Table::default();
    for header in ["of", "on demand", "always on"] {
        table.text(header);
    }
    table.number("cheaper from (requests per day)");
    table.number("capacity of one machine (per day)");
    let number = |value: f64| format::count(value.round() as usize);
    for even in &serving.break_evens {
        let rate = &even.requests_per_day;
        let from = match even.within_capacity {
            true => TableCell::new(number(rate.value)).small(
                rate.interval
                    .map(|i| format::interval(i.low, i.high, number))
                    .unwrap_or_default(),
            ),
            false => TableCell::new("never"),
        };
        table.rows.push(vec![
            TableCell::new(match even.phrase.as_str() {
                "" => format!("C{}", even.on_demand),
                phrase => phrase.to_owned(),
            }),
            TableCell::new(&even.on_demand_environment),
            TableCell::new(&even.always_on_environment),
            from,
            match even.one_by_one {
                true => {
                    TableCell::new(number(even.capacity_per_day)).small("one by one".to_owned())
                }
                false => TableCell::new(number(even.capacity_per_day)),
            },
        ]);
    }
    Some(table.cut())
}

pub(crate) fn currency_symbol(analysis: &Analysis) -> String {
    let code = analysis.study.currency.as_str();
    let currency: Result<model::Currency, _> = code.parse();
    currency.map_or_else(|_| code.to_owned(), |c| c.symbol().to_owned())
}
