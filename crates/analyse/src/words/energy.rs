//! Where energy and CO₂ come from, in words.

use std::collections::{BTreeMap, BTreeSet};

use messages::message;
use model::energy::JOULES_PER_KILOWATT_HOUR;
use model::{CarbonIntensity, EnergySource, PowerModel};

use crate::words::format::{self, Unit};

pub(crate) fn is_modelled(source: EnergySource) -> bool {
    match source {
        EnergySource::Modelled | EnergySource::ModelledAndNvml => true,
        EnergySource::Reported
        | EnergySource::Rapl
        | EnergySource::RaplAndNvml
        | EnergySource::Nvml => false,
    }
}

/// The label of energy or CO₂, marked wherever it is shown.
pub(crate) fn marked(label: &str, sources: &[EnergySource]) -> String {
    match sources {
        [EnergySource::Nvml] => message!("energy-gpu-only", label),
        [only] if is_modelled(*only) => message!("energy-modelled", label),
        [] | [_] => label.to_owned(),
        _ => message!("energy-mixed-sources", label),
    }
}

fn short(source: EnergySource) -> &'static str {
    messages::named("energy-short", source.word()).unwrap_or(source.word())
}

pub(crate) fn source(source: EnergySource) -> String {
    let said = messages::named("energy-from", source.word());
    said.unwrap_or(source.word()).to_owned()
}

/// `Energy has different sources (measured (RAPL): C1; modelled: C2), so it is not compared.`
pub(crate) fn mixed(scenarios: &BTreeMap<EnergySource, BTreeSet<u32>>) -> String {
    let each = scenarios.iter().map(|(source, numbers)| {
        let names: Vec<String> = numbers.iter().map(|number| format!("C{number}")).collect();
        format!("{}: {}", short(*source), format::listed(&names, 6))
    });
    let each: Vec<String> = each.collect();
    message!("energy-mixed", sources = each.join("; "))
}

pub(crate) fn model(environments: &[String], power: &PowerModel) -> String {
    let watts = |watts: f64| Unit::new("W", 1.0).of(watts);
    let source = match &power.source {
        Some(source) => format!(" ({source})"),
        None => String::new(),
    };
    message!(
        "energy-power",
        environments = quoted(environments),
        idle = watts(power.idle_watts),
        full = watts(power.full_watts),
        source
    )
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format::listed(&names, 6)
}

pub(crate) fn carbon(environments: &[String], carbon: &CarbonIntensity) -> String {
    message!(
        "energy-carbon",
        environments = quoted(environments),
        grams = format::significant(carbon.grams_per_kilowatt_hour, 3),
        source = carbon.source,
        date = messages::date(&carbon.date.to_string())
    )
}

pub(crate) fn nothing() -> String {
    message!("energy-none")
}

pub(crate) fn refused(machines: &[String]) -> String {
    message!("energy-refused", machines = format::listed(machines, 4))
}

/// One unit for a column of joules, chosen by a typical value.
pub fn joule_unit(typical: f64) -> Unit {
    match typical.abs() {
        value if value < 1e3 => Unit::new("J", 1.0),
        value if value < 0.1 * JOULES_PER_KILOWATT_HOUR => Unit::new("kJ", 1e3),
        _ => Unit::new("kWh", JOULES_PER_KILOWATT_HOUR),
    }
}

pub fn gram_unit(typical: f64) -> Unit {
    match typical.abs() {
        value if value < 0.1 => Unit::new("mg", 1e-3),
        value if value < 1e3 => Unit::new("g", 1.0),
        _ => Unit::new("kg", 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::names::{metric_info, metric_value};

    #[test]
    fn energy_and_carbon_have_readable_units() {
        let check = |unit: &str, value: f64, expected: &str| {
            let info = metric_info("something", unit);
            assert_eq!(metric_value(&info, value), expected);
        };
        check("J", 850.0, "850 J");
        check("J", 12_340.0, "12.3 kJ");
        check("J", 7.2e6, "2.00 kWh");
        check("J", f64::NAN, format::NONE);
        check("g", 0.0123, "12.3 mg");
        check("g", 120.0, "120 g");
        check("g", 1_500.0, "1.50 kg");
    }
}
