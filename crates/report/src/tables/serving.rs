//! Serving: latency, cost, and break-even rates.

use analyse::{Analysis, Estimate, ServedBy, ServedScenario, Serving, format};
use messages::{message, word};
use model::Money;
use rust_decimal::Decimal;

use super::{Table, TableCell, of};

/// A row a scenario.
pub(crate) fn answers_table(analysis: &Analysis, serving: &Serving) -> Table {
    let mut table = Table::new(
        &[
            word!("head-scenario"),
            word!("serving-where"),
            word!("serving-load"),
        ],
        &[
            word!("metric-requests"),
            word!("serving-cold"),
            word!("metric-latency_seconds"),
            word!("header-latency_p99_seconds"),
            word!("header-prediction_seconds"),
            word!("serving-its-share"),
            word!("header-setup_seconds"),
            word!("header-cost_per_inference"),
        ],
    );
    for served in &serving.scenarios {
        table.rows.push(row(served, &analysis.study.currency));
    }
    table.cut()
}

fn row(served: &ServedScenario, code: &str) -> Vec<TableCell> {
    let count = |requests: u64| format::count(requests as usize);
    let seconds = |estimate: &Option<Estimate>| TableCell::seconds(estimate.as_ref());
    let requests = TableCell::new(count(served.requests)).small(match served.failed {
        0 => String::new(),
        failed => message!("serving-failed", failed),
    });
    let share = served.prediction_percent.as_ref();
    let million = served.cost_per_inference.as_ref().map(|each| {
        let amount = |value: f64| money(1e6 * value, code);
        TableCell::new(amount(each.value)).interval(each, amount)
    });
    vec![
        TableCell::new(&served.label).small(served.phrase.clone()),
        TableCell::new(place(served)),
        TableCell::new(messages::named("load", served.load).unwrap_or(served.load)),
        requests,
        TableCell::or_none((served.cold > 0).then(|| count(served.cold))),
        seconds(&served.latency_seconds),
        seconds(&served.p99_seconds),
        seconds(&served.prediction_seconds),
        TableCell::or_none(share.map(|e| format!("{} %", format::significant(e.value, 2)))),
        seconds(&served.setup_seconds),
        million.unwrap_or_else(TableCell::none),
    ]
}

fn place(served: &ServedScenario) -> String {
    match served.place {
        ServedBy::OnDemand { memory_mb } => {
            let (on_demand, unit) = (word!("serving-on-demand"), word!("unit-MB"));
            format!("{on_demand}, {memory_mb} {unit}")
        }
        ServedBy::AlwaysOn => word!("serving-always-on").to_owned(),
    }
}

/// `None` if nothing on demand is next to something always on.
pub(crate) fn break_even_table(serving: &Serving) -> Option<Table> {
    if serving.break_evens.is_empty() {
        return None;
    }
    let mut table = Table::new(
        &[
            word!("even-of"),
            word!("serving-by-request"),
            word!("serving-always-on"),
        ],
        &[word!("serving-from-requests"), word!("serving-capacity")],
    );
    let number = |value: f64| format::count(value.round() as usize);
    for even in &serving.break_evens {
        let rate = &even.requests_per_day;
        let from = match even.within_capacity {
            true => TableCell::new(number(rate.value)).interval(rate, number),
            false => TableCell::new(word!("even-never")),
        };
        table.rows.push(vec![
            TableCell::new(of(&even.phrase, even.on_demand)),
            TableCell::new(&even.on_demand_environment),
            TableCell::new(&even.always_on_environment),
            from,
            TableCell::new(number(even.capacity_per_day)).small(match even.one_by_one {
                true => word!("serving-one-by-one"),
                false => "",
            }),
        ]);
    }
    Some(table.cut())
}

/// As every sum of money is written; `code` is what it is in, or what stands for that.
pub(crate) fn money(value: f64, code: &str) -> String {
    let exact = Decimal::from_f64_retain(value).zip(code.parse().ok());
    match exact {
        Some((amount, currency)) => format::money(&Money::new(amount, currency)),
        None => format!("{code} {}", format::significant(value, 3)),
    }
}

pub(crate) fn currency_symbol(analysis: &Analysis) -> String {
    let code = analysis.study.currency.as_str();
    let currency: Result<model::Currency, _> = code.parse();
    currency.map_or_else(|_| code.to_owned(), |c| c.symbol().to_owned())
}
