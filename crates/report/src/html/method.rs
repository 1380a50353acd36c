//! How the numbers were obtained: bills, machines, measuring, and terms.

use std::fmt::Write;

use analyse::{Analysis, BillFacts, MachineUse, billing_words, format};
use messages::word;
use model::{PaidPhases, RunSequence, Timestamp};

use super::page::{Page, escape};
use crate::tables::{bill_table, charge_sources};

pub(super) fn bills(page: &mut Page, analysis: &Analysis) {
    if analysis.bills.is_empty() {
        return;
    }
    page.open("bill", word!("section-bill"));
    page.paragraph(match analysis.study.repriced {
        None => "The price is the one stored with each run, with its source and date; a later price does not change a result.",
        Some(_) => "These are not the bills stored with the runs, but the bills at different prices.",
    });
    for facts in &analysis.bills {
        bill(page, facts, analysis.bills.len() > 1);
    }
    if analysis.totals.spent.len() > 1 {
        page.subtitle("Cost by environment");
        let rows: Vec<(String, String)> = analysis
            .totals
            .spent
            .iter()
            .map(|s| {
                let runs = format::counted(s.runs, "run", "runs");
                let text = format!("{} for {runs}, {}", s.money, format::duration(s.seconds));
                (s.environment.clone(), text)
            })
            .collect();
        page.facts("Cost by environment", &rows);
    }
    if let Some(again) = analysis.totals.spent_again {
        page.paragraph(&format!(
            "Attempts that were re-run cost {again} in addition. They are not results, but they count in the budget."
        ));
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
    add("machine", price.name_in(&facts.environment).to_owned());
    let hourly = format::exact_money(&price.per_hour);
    add("price", format!("{hourly} per hour"));
    add("source", format!("{}, {}", price.source, price.date));
    add("billing", billing_words(&price.billing));
    if let Some(origin) = &price.billing.origin {
        let text = format!("{}, since {}: {}", origin.name, origin.since, origin.source);
        add("rule", text);
    }
    add("rented", rented_words(facts));
    page.facts(
        &format!("Price and billing of {}", facts.environment),
        &rows,
    );
    page.paragraph(&format!("The bill of {}, for example:", facts.example_run));
    page.table(
        &format!("Bill of {}", facts.example_run),
        &bill_table(facts),
    );
    for source in charge_sources(facts) {
        page.note(&source);
    }
    if let Some(converted) = &facts.example.converted {
        let rate = &converted.rate;
        page.paragraph(&format!(
            "That is {} at {} {} per {} ({}, {}).",
            converted.total, rate.rate, rate.to, rate.from, rate.source, rate.date
        ));
    }
}

/// `one machine for 24 runs: 105 s, of which 1.9 s idle between runs; US$ 0.0052`.
fn rented_words(facts: &BillFacts) -> String {
    let rented = &facts.rented;
    let runs = format::counted(facts.runs, "run", "runs");
    if facts.price.billing.paid == PaidPhases::Requests {
        return format!(
            "the requests of {runs}: {} s; {}",
            rented.seconds, rented.total
        );
    }
    let machines = match rented.rentals {
        1 => "one machine".to_owned(),
        several => format!("{several} machines, one after the other,"),
    };
    let parts = [
        (rented.idle_seconds, "idle between runs"),
        (rented.rounding_seconds, "rounding up"),
        (rented.minimum_seconds, "raised to the minimum"),
    ];
    let parts = parts.iter().filter(|(seconds, _)| !seconds.is_zero());
    let parts: Vec<String> = parts
        .map(|(seconds, what)| format!("{} s {what}", seconds.round_dp(3).normalize()))
        .collect();
    let of_it = match parts.is_empty() {
        true => String::new(),
        false => format!(", of which {}", format::listed(&parts, 3)),
    };
    let seconds = rented.seconds.round_dp(3).normalize();
    format!(
        "{machines} for {runs}: {seconds} s{of_it}; {}",
        rented.total
    )
}

pub(super) fn measured(page: &mut Page, analysis: &Analysis) {
    page.open("method", word!("section-method"));
    let study = &analysis.study;
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: String| rows.push((name.to_owned(), value));
    add("each run", study.workload.clone());
    for factor in &study.factors {
        let levels = format::listed(&factor.levels, 24);
        add(&format!("factor {}", factor.name), levels);
    }
    add("repetitions", study.repetitions.to_string());
    if analysis.runs.iter().any(|run| !run.imported) {
        add("order", order(study.order, study.seed));
        let interval = format::duration(study.interval_seconds);
        add("samples", format!("every {interval}"));
        if let Some(timeout) = study.timeout_seconds {
            add("time limit", format::duration(timeout));
        }
    }
    if let Some(sampler) = &analysis.sampler {
        let text = format!(
            "{} of CPU time in total, {} of one core",
            format::duration(sampler.cpu_seconds),
            format::percent(sampler.share)
        );
        add("overhead of sampling", text);
    }
    if study.excluded_rules > 0 {
        let rules = format::counted(study.excluded_rules, "rule excludes", "rules exclude");
        let text = format!("{rules} combinations of levels");
        add("excluded by the study", text);
    }
    let totals = &analysis.totals;
    if let (Some(first), Some(last)) = (totals.first_started, totals.last_ended) {
        add("when", format!("{} to {}", minute(first), minute(last)));
    }
    if let Some(drift) = &analysis.drift {
        add("drift", drift.sentence.clone());
    }
    page.facts("How it was measured", &rows);
    page.close();
}

fn order(order: RunSequence, seed: u64) -> String {
    match order {
        RunSequence::Blocks => format!(
            "in blocks: one repetition of every scenario, shuffled (seed {seed}), so that drift of the machine affects all scenarios equally"
        ),
        RunSequence::Random => format!("all runs shuffled (seed {seed})"),
        RunSequence::Listed => {
            "as numbered: drift of the machine affects the later scenarios".to_owned()
        }
    }
}

fn minute(moment: Timestamp) -> String {
    moment.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

pub(super) fn machines(page: &mut Page, analysis: &Analysis) {
    if analysis.machines.is_empty() {
        return;
    }
    let title = match analysis.machines.len() {
        1 => "The machine",
        _ => "The machines",
    };
    page.open("machines", title);
    for used in analysis.machines.iter().take(MOST_MACHINES) {
        if analysis.machines.len() > 1 {
            page.subtitle(&format!(
                "{} ({})",
                used.machine.hostname,
                format::counted(used.runs, "run", "runs")
            ));
        }
        page.facts(
            &format!("Machine {}", used.machine.hostname),
            &machine(used),
        );
    }
    if analysis.machines.len() > MOST_MACHINES {
        let more = analysis.machines.len() - MOST_MACHINES;
        page.note(&format!(
            "{} more are in the exported JSON.",
            format::counted(more, "machine", "machines")
        ));
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
    add("name", m.hostname.clone());
    add("environment", used.environments.join(", "));
    let gigahertz = |mhz: f64| format::significant(mhz / 1000.0, 3);
    let clock = m.cpu_max_megahertz;
    let clock = clock.map(|mhz| format!(", up to {} GHz", gigahertz(mhz)));
    add("CPU", m.cpu_model.clone() + &clock.unwrap_or_default());
    let physical = m.physical_cores.map(|n| format!(", {n} physical"));
    let physical = physical.unwrap_or_default();
    let (logical, usable) = (m.logical_cores, format::significant(m.usable_cores, 3));
    add(
        "cores",
        format!("{logical} logical{physical}, {usable} usable here"),
    );
    add("limits by", used.limits_by.join(", "));
    add("governor", m.governor.clone().unwrap_or_default());
    let swap = match m.swap_bytes {
        0 => ", no swap".to_owned(),
        bytes => format!(", swap {}", format::memory(bytes)),
    };
    add("memory", format::memory(m.memory_bytes) + &swap);
    for gpu in &m.gpus {
        add(
            "GPU",
            format!("{}, {}", gpu.name, format::memory(gpu.memory_bytes)),
        );
    }
    add("GPU driver", m.gpu_driver.clone().unwrap_or_default());
    add(
        "system",
        format!(
            "{}, kernel {}, {}",
            m.operating_system, m.kernel, m.architecture
        ),
    );
    add("hypervisor", m.hypervisor.clone().unwrap_or_default());
    add("container", m.container.clone().unwrap_or_default());
    let versions: Vec<String> = m
        .versions
        .iter()
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    add("versions", versions.join("; "));
    add("commit", m.git_commit.clone().unwrap_or_default());
    rows
}

pub(super) fn glossary(page: &mut Page, analysis: &Analysis) {
    page.open("words", word!("section-words"));
    let mut words = vec![
        (
            "scenario, run",
            "A scenario (C1, C2, …) is one combination of levels; a run is one repetition of it (C1-r2 is the second).",
        ),
        (
            "± and [low, high]",
            "The 95 % confidence interval of a mean or a ratio. Fewer repetitions or more noise make it wider. Of many such intervals, 19 in 20 contain the true value.",
        ),
        (
            "variation, share",
            "The sum of squared differences of all runs from their mean, and the part of it explained by one factor (analysis of variance).",
        ),
        (
            "F, p",
            "F compares a factor's share, per degree of freedom, with the noise; p is the probability of an F this large if the factor had no effect. Both are those of the usual analysis of variance (type II). The verdict rests on the adjusted p: each scenario with its own spread, corrected for all questions of the study.",
        ),
        (
            "logarithmic model",
            "Effects are multiplicative instead of additive: 64 px takes 2.9 times as long, whatever the network. Used if it fits the data better.",
        ),
        (
            "residuals",
            "The part of each run's result that the model does not explain. If they look random, the intervals and p-values can be trusted.",
        ),
    ];
    if analysis.best.pareto().next().is_some() {
        words.push(match analysis.best.criteria.len() {
            2 => ("Pareto line", "Scenarios for which no other is better in both criteria (time and cost, unless the study asks for others). Whichever you care more about, the best choice is on this line."),
            _ => ("Pareto set", "Scenarios for which no other is better in all criteria. Whichever you care more about, the best choice is in this set."),
        });
    }
    let mut out = String::from("<dl class=\"words\">\n");
    for (word, meaning) in words {
        let _ = writeln!(out, "<dt>{}</dt><dd>{}</dd>", escape(word), escape(meaning));
    }
    page.html(&(out + "</dl>"));
    page.close();
}
