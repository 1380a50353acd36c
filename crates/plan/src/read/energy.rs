//! `power` and `carbon`: what a machine draws and what a kilowatt-hour emits, as stated; nothing is built in.

use diagnostics::{Located, Table};
use model::{CarbonIntensity, PowerModel};

use super::{Typed, take};
use crate::values;

/// Above any grid: a larger number has another unit.
const MOST_GRAMS_PER_KILOWATT_HOUR: f64 = 5000.0;

/// `power = { idle = "60 W", full = "180 W" }`.
pub(super) fn read_power(parent: &Table<'_>) -> Option<PowerModel> {
    let table = parent.table("power")?;
    let idle = take::required_parsed(&table, "idle", values::watts);
    let full = take::required_parsed(&table, "full", values::watts);
    let source = table.text("source").map(|source| source.value);
    table.finish();
    let (idle, full) = (idle?, full?);
    if full.value < idle.value {
        let less = full.wrong("`full` is less than `idle`");
        table.complain(less.label("the power with all cores of the machine busy"));
        return None;
    }
    Some(PowerModel {
        idle_watts: idle.value,
        full_watts: full.value,
        source,
    })
}

/// `carbon = { grams_per_kwh = 120, source = "…", date = "2026-05" }`.
pub(super) fn read_carbon(typed: &Typed<'_>, parent: &Table<'_>) -> Option<CarbonIntensity> {
    let table = parent.table("carbon")?;
    let grams = table.required("grams_per_kwh");
    let grams = grams.and_then(|grams| grams.number("grams_per_kwh"));
    let source = table.required_text("source");
    let date = match table.key_span("date") {
        Some(_) => take::date(typed, &table, "date"),
        None => table.required("date").and(None),
    };
    table.finish();
    Some(CarbonIntensity {
        grams_per_kilowatt_hour: checked(&table, &grams?)?,
        source: source?.value,
        date: date?.value,
    })
}

fn checked(table: &Table<'_>, grams: &Located<f64>) -> Option<f64> {
    if (0.0..=MOST_GRAMS_PER_KILOWATT_HOUR).contains(&grams.value) {
        return Some(grams.value);
    }
    let wrong = grams.wrong("`grams_per_kwh` must be from 0 to 5000");
    table.complain(wrong.label("grams of CO₂ per kilowatt-hour, such as 120"));
    None
}
