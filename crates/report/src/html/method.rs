//! How the numbers were obtained: bills, machines, measuring, and terms.

use std::fmt::Write;

use analyse::{Analysis, BillFacts, MachineUse, billing_words, format};
use messages::{date, message, word};
use model::{PaidPhases, RunSequence};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use super::page::{Page, escape};
use crate::tables::{bill_table, charge_sources};
use crate::text::{decimal, minute};

pub(super) fn bills(page: &mut Page, analysis: &Analysis) {
    if analysis.bills.is_empty() {
        return;
    }
    page.open("bill", word!("section-bill"));
    page.paragraph(match analysis.study.repriced {
        None => word!("bill-about"),
        Some(_) => word!("bill-repriced"),
    });
    for facts in &analysis.bills {
        bill(page, facts, analysis.bills.len() > 1);
    }
    if analysis.totals.spent.len() > 1 {
        page.subtitle(word!("bill-by-environment"));
        let rows: Vec<(String, String)> = analysis
            .totals
            .spent
            .iter()
            .map(|s| {
                let text = message!(
                    "bill-spent",
                    money = format::money(&s.money),
                    runs = s.runs,
                    time = format::duration(s.seconds)
                );
                (s.environment.clone(), text)
            })
            .collect();
        page.facts(word!("bill-by-environment"), &rows);
    }
    if let Some(again) = analysis.totals.spent_again {
        page.paragraph(&message!("bill-again", again = format::money(&again)));
    }
    page.close();
}

fn bill(page: &mut Page, facts: &BillFacts, several: bool) {
    if several {
        page.subtitle(&facts.environment);
    }
    let price = &facts.price;
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: String| rows.push((name.to_owned(), value));
    add(
        word!("bill-machine"),
        price.name_in(&facts.environment).to_owned(),
    );
    let hourly = format::exact_money(&price.per_hour);
    add(
        word!("bill-price"),
        message!("bill-per-hour", price = hourly),
    );
    let source = match price.source.ends_with(&price.date) {
        true => price.source.clone(),
        false => format!("{}, {}", price.source, date(&price.date)),
    };
    add(word!("bill-source"), source);
    add(word!("bill-billing"), billing_words(&price.billing));
    if let Some(origin) = &price.billing.origin {
        let text = message!(
            "bill-rule-of",
            name = origin.name,
            began = if origin.is_since_ever() {
                "always"
            } else {
                "dated"
            },
            since = date(&origin.since),
            source = origin.source
        );
        add(word!("bill-rule"), text);
    }
    add(word!("bill-rented"), rented_words(facts));
    page.facts(
        &message!("bill-facts", environment = facts.environment),
        &rows,
    );
    let run = facts.example_run.to_string();
    page.paragraph(&message!("bill-example", run));
    page.table(&message!("bill-of", run), &bill_table(facts));
    for source in charge_sources(facts) {
        page.note(&source);
    }
    if let Some(converted) = &facts.example.converted {
        let rate = &converted.rate;
        page.paragraph(&message!(
            "bill-converted",
            total = format::money(&converted.total),
            rate = decimal(rate.rate),
            to = rate.to.to_string(),
            from = rate.from.to_string(),
            source = rate.source,
            date = date(&rate.date)
        ));
    }
}

/// `one machine for 24 runs: 105 s, of which 1.9 s idle between runs; US$ 0.0052`.
fn rented_words(facts: &BillFacts) -> String {
    let rented = &facts.rented;
    let runs = facts.runs;
    let total = format::money(&rented.total);
    if facts.price.billing.paid == PaidPhases::Requests {
        let time = duration(rented.seconds);
        return message!("bill-rented-requests", runs, time, total);
    }
    let parts = [
        (rented.idle_seconds, word!("money-idle")),
        (rented.rounding_seconds, word!("money-rounding")),
        (rented.minimum_seconds, word!("bill-minimum")),
    ];
    let parts = parts.iter().filter(|(time, _)| !time.is_zero());
    let parts: Vec<String> = parts
        .map(|(time, what)| format!("{} {what}", duration(*time)))
        .collect();
    let of_it = match parts.is_empty() {
        true => String::new(),
        false => message!("bill-rented-of-it", parts = format::listed(&parts, 3)),
    };
    message!(
        "bill-rented-machines",
        machines = rented.rentals,
        runs,
        time = duration(rented.seconds),
        of_it,
        total
    )
}

fn duration(time: Decimal) -> String {
    format::duration(time.to_f64().unwrap_or(f64::NAN))
}

pub(super) fn measured(page: &mut Page, analysis: &Analysis) {
    page.open("method", word!("section-method"));
    let study = &analysis.study;
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: String| rows.push((name.to_owned(), value));
    add(word!("method-each-run"), study.workload.clone());
    for factor in &study.factors {
        let levels = format::listed(&factor.levels, 24);
        add(&message!("method-factor", name = factor.name), levels);
    }
    add(word!("field-repetitions"), study.repetitions.to_string());
    if analysis.runs.iter().any(|run| !run.imported) {
        add(word!("method-order"), order(study.order, study.seed));
        let interval = format::duration(study.interval_seconds);
        add(word!("method-samples"), message!("method-every", interval));
        if let Some(timeout) = study.timeout_seconds {
            add(word!("method-time-limit"), format::duration(timeout));
        }
    }
    if let Some(sampler) = &analysis.sampler {
        let text = message!(
            "method-sampler",
            time = format::duration(sampler.cpu_seconds),
            share = format::percent(sampler.share)
        );
        add(word!("method-overhead"), text);
    }
    if study.excluded_rules > 0 {
        let text = message!("method-rules", rules = study.excluded_rules);
        add(word!("method-excluded"), text);
    }
    let totals = &analysis.totals;
    if let (Some(first), Some(last)) = (totals.first_started, totals.last_ended) {
        let [first, last] = [minute(first), minute(last)];
        add(
            word!("method-when"),
            message!("method-from-to", first, last),
        );
    }
    if let Some(drift) = &analysis.drift {
        add(word!("method-drift"), drift.sentence.clone());
    }
    page.facts(word!("section-method"), &rows);
    page.close();
}

fn order(order: RunSequence, seed: u64) -> String {
    match order {
        RunSequence::Blocks => message!("method-blocks", seed = seed.to_string()),
        RunSequence::Random => message!("method-shuffled", seed = seed.to_string()),
        RunSequence::Listed => word!("method-listed").to_owned(),
    }
}

pub(super) fn machines(page: &mut Page, analysis: &Analysis) {
    if analysis.machines.is_empty() {
        return;
    }
    let machines = analysis.machines.len();
    page.open("machines", &message!("section-machines", machines));
    for used in analysis.machines.iter().take(MOST_MACHINES) {
        if analysis.machines.len() > 1 {
            let runs = message!("counted-runs", runs = used.runs);
            page.subtitle(&format!("{} ({runs})", used.machine.hostname));
        }
        page.facts(
            &message!("machine-facts", name = used.machine.hostname),
            &machine(used),
        );
    }
    if analysis.machines.len() > MOST_MACHINES {
        let more = analysis.machines.len() - MOST_MACHINES;
        page.note(&message!("machine-more", more));
    }
    page.close();
}

const MOST_MACHINES: usize = 12;

fn machine(used: &MachineUse) -> Vec<(String, String)> {
    let m = &used.machine;
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: String| {
        if !value.is_empty() {
            rows.push((name.to_owned(), value));
        }
    };
    add(word!("machine-name"), m.hostname.clone());
    add(word!("head-environment"), used.environments.join(", "));
    let gigahertz = |mhz: f64| format::significant(mhz / 1000.0, 3);
    let clock = m.cpu_max_megahertz;
    let clock = clock.map(|mhz| message!("machine-clock", gigahertz = gigahertz(mhz)));
    add(
        word!("header-cpu_percent"),
        m.cpu_model.clone() + &clock.unwrap_or_default(),
    );
    let physical = m.physical_cores;
    let physical = physical.map(|physical| message!("machine-physical", physical));
    let cores = message!(
        "machine-cores-of",
        logical = m.logical_cores,
        physical = physical.unwrap_or_default(),
        usable = format::significant(m.usable_cores, 3)
    );
    add(word!("machine-cores"), cores);
    add(word!("machine-limits"), used.limits_by.join(", "));
    add(
        word!("machine-governor"),
        m.governor.clone().unwrap_or_default(),
    );
    let swap = match m.swap_bytes {
        0 => word!("machine-no-swap").to_owned(),
        bytes => message!("machine-swap", swap = format::memory(bytes)),
    };
    add(word!("head-memory"), format::memory(m.memory_bytes) + &swap);
    for gpu in &m.gpus {
        add(
            word!("header-gpu_percent"),
            format!("{}, {}", gpu.name, format::memory(gpu.memory_bytes)),
        );
    }
    add(
        word!("machine-gpu-driver"),
        m.gpu_driver.clone().unwrap_or_default(),
    );
    add(
        word!("machine-system"),
        message!(
            "machine-system-of",
            system = m.operating_system,
            kernel = m.kernel,
            architecture = m.architecture
        ),
    );
    add(
        word!("machine-hypervisor"),
        m.hypervisor.clone().unwrap_or_default(),
    );
    add(
        word!("machine-container"),
        m.container.clone().unwrap_or_default(),
    );
    let versions: Vec<String> = m
        .versions
        .iter()
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    add(word!("machine-versions"), versions.join("; "));
    add(
        word!("machine-commit"),
        m.git_commit.clone().unwrap_or_default(),
    );
    rows
}

pub(super) fn glossary(page: &mut Page, analysis: &Analysis) {
    page.open("words", word!("section-words"));
    let mut words = vec![
        (word!("words-scenario"), word!("words-scenario-is")),
        (word!("words-interval"), word!("words-interval-is")),
        (word!("words-variation"), word!("words-variation-is")),
        (word!("words-f"), word!("words-f-is")),
        (word!("words-logarithmic"), word!("words-logarithmic-is")),
        (word!("words-residuals"), word!("words-residuals-is")),
    ];
    if analysis.best.pareto().next().is_some() {
        words.push(match analysis.best.criteria.len() {
            2 => (word!("words-pareto-line"), word!("words-pareto-line-is")),
            _ => (word!("words-pareto-set"), word!("words-pareto-set-is")),
        });
    }
    let mut out = String::from("<dl class=\"words\">\n");
    for (word, meaning) in words {
        let _ = writeln!(out, "<dt>{}</dt><dd>{}</dd>", escape(word), escape(meaning));
    }
    page.html(&(out + "</dl>"));
    page.close();
}
