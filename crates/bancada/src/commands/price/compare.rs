use std::path::Path;

use cost::{Catalog, CatalogEntry, Comparison, Paying, Repriced};
use frameworks::Home;
use model::{Price, RunRecord, Study};
use report::format;
use runner::TooSmall;
use serde_json::{Value, json};
use workbench::{Carried, Carrier, Machines, Paid, ResultsRequest, open_results};

use super::predicted::{Elsewhere, NOT_INCLUDED, carried_json, study_folder, time_words};
use super::{find, unknown};
use crate::args::PriceCompareArgs;
use crate::exit::{CommandResult, Exit, Failure};
use crate::printer::Printer;
use crate::table::Table;

/// More machines than these do not fit beside each other; they stand below each other.
const MOST_COLUMNS: usize = 4;

pub(super) fn compare(
    args: &PriceCompareArgs,
    catalog: &Catalog,
    printer: &Printer,
) -> CommandResult {
    let (first, machines) = match args.what.as_slice() {
        [first, machines @ ..] if Path::new(first).exists() => (Some(first), machines),
        machines => (None, machines),
    };
    match first {
        Some(first) => of_results(first, machines, args, catalog, printer),
        None => of_machines(machines, args, catalog, printer),
    }
}

/// Machines below each other, and how many times the first one's price each has.
fn of_machines(
    machines: &[String],
    args: &PriceCompareArgs,
    catalog: &Catalog,
    printer: &Printer,
) -> CommandResult {
    let mut entries: Vec<&CatalogEntry> = Vec::new();
    for machine in machines {
        entries.push(catalog.find(machine).map_err(|e| not_there(machine, &e))?);
    }
    let paying = paying(args);
    if args.json {
        let list: Vec<Value> = entries.iter().map(|e| super::json::entry(e)).collect();
        printer.data(&format!("{:#}", Value::from(list)));
        return Ok(Exit::Ok);
    }
    let mut text = find::list(&entries);
    let price = |entry: &CatalogEntry| entry.quote(paying).map(|quote| quote.per_hour);
    if let [first, others @ ..] = entries.as_slice()
        && let Some(base) = price(first)
    {
        for other in others {
            let times = price(other).and_then(|price| cost::times(price, base));
            let (one, base) = (other.name(), first.name());
            text += &match times {
                Some(times) => format::price_compared(&one, &base, times),
                None => format!("{one} has a different currency than {base}"),
            };
            text.push('\n');
        }
    }
    printer.data(&text);
    Ok(Exit::Ok)
}

/// It may have been meant as a file.
fn not_there(word: &str, error: &cost::LookupError) -> Failure {
    Failure::new(
        Exit::BadStudy,
        format!("{error} (and no file or folder is called {word})"),
    )
}

fn paying(args: &PriceCompareArgs) -> Paying {
    match args.spot {
        true => Paying::Spot,
        false => Paying::OnDemand,
    }
}

fn of_results(
    first: &str,
    machines: &[String],
    args: &PriceCompareArgs,
    catalog: &Catalog,
    printer: &Printer,
) -> CommandResult {
    let results = open_results(
        ResultsRequest {
            study: Path::new(first),
            out: args.out.as_deref(),
            scale: args.scale.as_deref(),
        },
        &printer.teller(),
    )?;
    let Paid {
        records,
        superseded,
        ..
    } = Paid::settled(&results)?;
    let home = Home::find().map_err(Failure::trouble)?;
    let machines_probed = workbench::machines(home.path());
    let carrier = Carrier {
        results: &results,
        folder: &study_folder(first),
        home: &home,
        machines: &machines_probed,
    };
    let mut groups = Vec::new();
    for (environment, mut records) in by_environment(&records) {
        let as_billed = drop_unfounded_bills(&mut records, &results.study);
        let prices = match machines {
            [] => same_shape(&environment, &records, catalog, paying(args))?,
            machines => named(machines, catalog, &machines_probed, paying(args))?,
        };
        let carried: Vec<Carried> = prices
            .iter()
            .filter_map(|p| carrier.carry(&records, p))
            .collect();
        let (prices, mut too_small) = that_fit(prices, &records, &carried);
        // Named once, where it is asked about too.
        too_small.retain(|found| as_billed.iter().all(|own| own.machine != found.machine));
        too_small.extend(as_billed);
        let mut comparison = cost::compare(&records, &superseded, &prices);
        let elsewhere = carried.into_iter();
        let elsewhere = elsewhere
            .map(|carried| Elsewhere::new(carried, &mut comparison, &records, &superseded))
            .collect();
        groups.push(Group {
            comparison,
            environment,
            too_small,
            elsewhere,
        });
    }
    refuse_if_none_fits(&groups)?;
    if groups.iter().all(|group| group.comparison.runs == 0) {
        return Err(Failure::trouble(
            "these results have no successful run: there is no time to price",
        ));
    }
    if args.json {
        let list: Vec<Value> = groups.iter().map(Group::json).collect();
        printer.data(&format!("{:#}", Value::from(list)));
    } else {
        let texts: Vec<String> = groups
            .iter()
            .map(|g| g.text(machines.len(), args.limit))
            .collect();
        printer.data(&format!("{}\n{NOT_INCLUDED}", texts.join("\n")));
    }
    Ok(Exit::Ok)
}

/// Runs of one environment, and what they would cost elsewhere.
struct Group {
    environment: String,
    comparison: Comparison,
    /// Machines on which the measured times do not hold.
    too_small: Vec<TooSmall>,
    /// Machines that were probed.
    elsewhere: Vec<Elsewhere>,
}

/// Fewer cores than the runs kept busy are no reason against a predicted time.
fn that_fit(
    prices: Vec<Price>,
    records: &[RunRecord],
    carried: &[Carried],
) -> (Vec<Price>, Vec<TooSmall>) {
    let is_predicted = |price: &Price| {
        let mut own = carried.iter().filter(|c| c.machine == price.machine);
        own.any(|carried| carried.outcome.is_ok())
    };
    let mut too_small = Vec::new();
    let mut prices = prices;
    prices.retain(
        |price| match TooSmall::find(records, price).filter(|_| !is_predicted(price)) {
            Some(found) => {
                too_small.push(found);
                false
            }
            None => true,
        },
    );
    (prices, too_small)
}

/// Off runs whose times do not hold on the machine that they are priced as. What that price pays for
/// counts on other machines too.
fn drop_unfounded_bills(records: &mut [RunRecord], study: &Study) -> Vec<TooSmall> {
    let mut dropped = Vec::new();
    for record in records {
        if let Some(too_small) = TooSmall::of_own_price(record, study) {
            too_small.add_to(&mut dropped);
            record.bill = None;
        }
    }
    dropped
}

fn refuse_if_none_fits(groups: &[Group]) -> Result<(), Failure> {
    let reasons: Vec<String> = groups
        .iter()
        .flat_map(|group| &group.too_small)
        .map(ToString::to_string)
        .collect();
    let is_priced = |group: &Group| !group.comparison.machines.is_empty();
    match reasons.is_empty() || groups.iter().any(is_priced) {
        true => Ok(()),
        false => Err(Failure::new(Exit::BadStudy, reasons.join("; "))),
    }
}

/// How the time is billed elsewhere: minimums and rounding are paid once in a rental.
fn rental_words(comparison: &Comparison) -> String {
    let runs = comparison.runs - comparison.by_request;
    match comparison.rentals {
        _ if runs < 2 => String::new(),
        1 => ", as one rental".to_owned(),
        rentals if rentals == runs => ", each on its own machine".to_owned(),
        rentals => format!(", as {rentals} rentals"),
    }
}

fn by_environment(records: &[RunRecord]) -> Vec<(String, Vec<RunRecord>)> {
    let mut groups: Vec<(String, Vec<RunRecord>)> = Vec::new();
    for record in records {
        let name = &record.environment.name;
        match groups.iter_mut().find(|(known, _)| known == name) {
            Some((_, group)) => group.push(record.clone()),
            None => groups.push((name.clone(), vec![record.clone()])),
        }
    }
    groups
}

fn named(
    machines: &[String],
    catalog: &Catalog,
    probed: &Machines,
    paying: Paying,
) -> Result<Vec<Price>, Failure> {
    let price = |machine: &String| {
        if let Some(own) = typed(machine)? {
            return Ok(own);
        }
        let entry = catalog.find(machine).map_err(|error| {
            let is_probed = probed.profiles.iter().any(|own| own.name == *machine);
            match is_probed {
                true => Failure::new(
                    Exit::BadStudy,
                    format!("`{machine}` was probed, but has no known price: write \"{machine}=0.20 USD/h\" with what it costs you an hour"),
                ),
                false => unknown(&error),
            }
        })?;
        let spoken = match paying {
            Paying::OnDemand => machine.clone(),
            Paying::Spot => format!("{}+spot", entry.name()),
        };
        catalog.price(&spoken).map_err(|e| unknown(&e))
    };
    machines.iter().map(price).collect()
}

/// `0.169 USD/h`, or `NAME=0.169 USD/h` of a machine that was probed or is to be called so.
fn typed(machine: &str) -> Result<Option<Price>, Failure> {
    let (name, amount) = machine.rsplit_once('=').unwrap_or((machine, machine));
    if !amount.contains('/') || !amount.contains(' ') {
        return Ok(None);
    }
    let per_hour = plan::price_per_hour(amount.trim());
    let per_hour = per_hour.map_err(|why| Failure::new(Exit::BadStudy, why))?;
    Ok(Some(Price {
        machine: name.trim().to_owned(),
        ..Price::typed_in(per_hour)
    }))
}

/// Machines that could take the place of the one that the runs are priced as.
fn same_shape(
    environment: &str,
    records: &[RunRecord],
    catalog: &Catalog,
    paying: Paying,
) -> Result<Vec<Price>, Failure> {
    let priced = records.iter().find_map(|record| record.price.as_ref());
    let entry = priced.and_then(|price| catalog.find(&price.machine).ok());
    let entry = entry.ok_or_else(|| {
        Failure::trouble(format!(
            "the price of environment `{environment}` is not a machine in the catalog: name the machines to compare"
        ))
    })?;
    let wanted = cost::MachineQuery {
        paying,
        currency: entry.currency(),
        ..cost::same_shape(&entry.shape)
    };
    let found = cost::search(catalog, &wanted).entries;
    Ok(found.iter().filter_map(|e| e.price(paying)).collect())
}

impl Group {
    fn text(&self, named: usize, limit: usize) -> String {
        let Comparison {
            runs, other_runs, ..
        } = &self.comparison;
        let mut head = format!(
            "{}: {} that succeeded",
            self.environment,
            format::counted(*runs, "run", "runs")
        );
        if *other_runs > 0 {
            head += &format!(
                ", {} not counted",
                format::counted(*other_runs, "other", "others")
            );
        }
        if let Some(total) = &self.comparison.measured_total {
            head += &format!(", billed {}", format::amount(total));
        }
        head += &rental_words(&self.comparison);
        if self.comparison.by_request > 0 {
            head += &format!(
                ". {} billed per request: at a machine's price only the time of their requests is counted, but a machine is billed for all of its time",
                format::counted(self.comparison.by_request, "run was", "runs were")
            );
        }
        let mut table = match (1..=MOST_COLUMNS).contains(&named) {
            true => self.beside(),
            false => self.below(limit),
        };
        for too_small in &self.too_small {
            table += &format!("{too_small}.\n");
        }
        format!("{head}\n\n{table}{}", self.time_words())
    }

    fn time_words(&self) -> String {
        time_words(&self.elsewhere, self.comparison.machines.len())
    }

    /// Scenarios below each other, machines beside each other: the mean of a run.
    fn beside(&self) -> String {
        let comparison = &self.comparison;
        let mut table = Table::default()
            .text("a run of")
            .number("runs")
            .number("billed time");
        table = table.number("as billed");
        for machine in &comparison.machines {
            table = table.number(&machine.price.machine);
        }
        for (at, scenario) in comparison.scenarios.iter().enumerate() {
            let measured = scenario.measured.as_ref().map(format::amount);
            let mut row = vec![
                format!("C{}", scenario.number),
                scenario.runs.to_string(),
                format!("{} s", scenario.paid_seconds.round_dp(3)),
                measured.unwrap_or_default(),
            ];
            let amounts = comparison.machines.iter().map(|m| m.per_run.get(at));
            row.extend(amounts.map(|m| m.map(format::amount).unwrap_or_default()));
            table.row(row);
        }
        let total = comparison.measured_total.as_ref().map(format::amount);
        let mut last = vec![
            "all".to_owned(),
            comparison.runs.to_string(),
            String::new(),
            total.unwrap_or_default(),
        ];
        last.extend(comparison.machines.iter().map(|m| format::amount(&m.total)));
        table.row(last);
        table.rendered()
    }

    /// Machines below each other, the cheapest first: all runs together.
    fn below(&self, limit: usize) -> String {
        let mut table = Table::default()
            .text("machine")
            .number("per hour")
            .number("all runs")
            .number("of the bill")
            .text("date")
            .text("source");
        let mut machines: Vec<&Repriced> = self.comparison.machines.iter().collect();
        machines.sort_by_key(|m| (m.total.currency, m.total.amount));
        let most = if limit == 0 { usize::MAX } else { limit };
        for machine in machines.iter().take(most) {
            let measured = self.comparison.measured_total;
            let times = measured.and_then(|measured| cost::times(machine.total, measured));
            table.row(vec![
                machine.price.machine.clone(),
                format::exact_money(&machine.price.per_hour),
                format::amount(&machine.total),
                times.map_or(String::new(), |t| format!("{}×", t.round_dp(2))),
                machine.price.date.clone(),
                machine.price.source.clone(),
            ]);
        }
        let rest = machines.len().saturating_sub(most);
        match rest {
            0 => table.rendered(),
            _ => format!(
                "{}And {rest} more: --limit 0 shows all.\n",
                table.rendered()
            ),
        }
    }

    fn json(&self) -> Value {
        let comparison = &self.comparison;
        let scenarios = comparison.scenarios.iter().map(|scenario| {
            json!({
                "scenario": scenario.number,
                "runs": scenario.runs,
                "paid_seconds": scenario.paid_seconds.to_string(),
                "measured": scenario.measured,
            })
        });
        let predicted = |machine: &Repriced| {
            let own = self
                .elsewhere
                .iter()
                .find(|one| one.carried.machine == machine.price.machine);
            own.map(carried_json)
        };
        let machines = comparison.machines.iter().map(|machine| {
            json!({
                "price": machine.price,
                "predicted": predicted(machine),
                "per_run": machine.per_run,
                "total": machine.total,
            })
        });
        json!({
            "environment": self.environment,
            "assumption": format!("{} {NOT_INCLUDED}", self.time_words().trim_end()),
            "runs": comparison.runs,
            "other_runs": comparison.other_runs,
            "by_request": comparison.by_request,
            "rentals": comparison.rentals,
            "measured_total": comparison.measured_total,
            "scenarios": scenarios.collect::<Vec<Value>>(),
            "machines": machines.collect::<Vec<Value>>(),
            "too_small": self.too_small.iter().map(ToString::to_string).collect::<Vec<String>>(),
        })
    }
}
