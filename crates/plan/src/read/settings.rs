//! `[[rates]]` and `[measure]`.

use diagnostics::{Diagnostic, Located, Table, Value};
use model::study::MeasureSettings;
use model::{Currency, ExchangeRate};
use rust_decimal::Decimal;

use super::{Typed, prices, take};
use crate::values;

const SHORTEST_INTERVAL_SECONDS: f64 = 0.01;
const DEFAULT_INTERVAL_SECONDS: f64 = 1.0;
const DEFAULT_GRACE_SECONDS: f64 = 5.0;

pub(super) fn read_rates(typed: &Typed<'_>, top: &Table<'_>) -> Vec<ExchangeRate> {
    let Some(value) = top.get("rates") else {
        return Vec::new();
    };
    if value.kind() == "table" {
        let single = value.wrong("`rates` must be an array of tables");
        top.complain(single.label("write [[rates]] with from, to, rate and date"));
        return Vec::new();
    }
    let items = value.array("rates").unwrap_or_default();
    items
        .iter()
        .filter_map(|item| read_rate(typed, item))
        .collect()
}

fn read_rate(typed: &Typed<'_>, value: &Value<'_>) -> Option<ExchangeRate> {
    let table = value.table("rates")?;
    let currency = |key: &str| take::required_parsed(&table, key, str::parse::<Currency>);
    let (from, to) = (currency("from"), currency("to"));
    let rate = prices::decimal(typed, &table, "rate");
    let date = take::date(typed, &table, "date");
    if table.key_span("date").is_none() {
        let undated = value.wrong("the `date` of this exchange rate is missing");
        value.complain(undated.label("add date = \"2024-03-01\""));
    }
    let source = table.text("source");
    let rate_span = take::key_span(&table, "rate");
    table.finish();
    if rate.is_some_and(|r| r <= Decimal::ZERO) {
        value.complain(Diagnostic::at(
            rate_span,
            "an exchange rate must be above zero",
        ));
        return None;
    }
    let (from, to) = (from?, to?);
    if from.value == to.value {
        let message = format!("a rate from {} to itself", from.value);
        value.complain(to.wrong(message).label("name a different currency"));
        return None;
    }
    Some(ExchangeRate {
        from: from.value,
        to: to.value,
        rate: rate?,
        date: date?.value,
        source: source.map_or_else(|| typed.origin.to_owned(), |s| s.value),
    })
}

pub(super) fn read_measure(top: &Table<'_>) -> MeasureSettings {
    let mut settings = MeasureSettings {
        interval_seconds: DEFAULT_INTERVAL_SECONDS,
        timeout_seconds: None,
        grace_seconds: DEFAULT_GRACE_SECONDS,
    };
    let Some(table) = top.table("measure") else {
        return settings;
    };
    let duration =
        |key: &str| -> Option<Located<f64>> { take::parsed(&table, key, values::duration_seconds) };
    let (interval, timeout, grace) = (duration("interval"), duration("timeout"), duration("grace"));
    if let Some(interval) = interval {
        if interval.value < SHORTEST_INTERVAL_SECONDS {
            let short = interval.wrong("the sampling interval is below 10 ms");
            top.complain(short.label("sampling would disturb what it measures"));
        }
        settings.interval_seconds = interval.value;
    }
    if let Some(timeout) = timeout {
        if timeout.value <= 0.0 {
            let none = timeout.wrong("the timeout is zero: every run would be stopped at once");
            top.complain(none.label("remove it for no timeout"));
        }
        settings.timeout_seconds = Some(timeout.value);
    }
    settings.grace_seconds = grace.map_or(DEFAULT_GRACE_SECONDS, |g| g.value);
    table.finish();
    settings
}
