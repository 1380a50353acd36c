//! The same measurements at different prices: nothing is re-run, stored results do not change.

use std::collections::BTreeMap;
use std::path::Path;

use model::{RunRecord, Study};
use plan::WhatIf;
use source::{Diagnostic, Source};

use crate::args::WhatIfArgs;
use crate::exit::{Exit, Failure};
use crate::files::read_text;
use crate::locate::{Results, study_text};
use crate::printer::Printer;

/// Other money for the runs of a study.
pub(super) struct OtherMoney {
    what_if: WhatIf,
    /// For whoever reads a cost.
    pub(super) sentence: String,
}

impl OtherMoney {
    pub(super) fn study(&self) -> &Study {
        &self.what_if.study
    }

    /// Runs of places that nobody asked about keep the price they were billed at.
    pub(super) fn bill(&self, records: &mut [RunRecord]) {
        let study = self.study();
        for record in records {
            if self.what_if.changed.contains(&record.environment.name) {
                record.price = plan::resolve(study, &record.scenario).environment.price;
            }
            runner::reprice_record(record, study);
        }
    }
}

/// None where the bills that are frozen with the runs are requested.
pub(super) fn asked(
    args: &WhatIfArgs,
    study_path: &Path,
    results: &Results,
    printer: &Printer,
) -> Result<Option<OtherMoney>, Failure> {
    if !args.is_any() {
        return Ok(None);
    }
    let mut how: Vec<String> = Vec::new();
    let catalog = super::price::known(printer);
    let told = |name: &str, text: &str, mistakes: Vec<Diagnostic>| {
        let source = Source { name, text };
        let told = source.render_all(&mistakes, printer.style());
        Failure::bad_study(told.trim_end().to_owned())
    };
    let mut what_if = WhatIf::of(results.study.clone());
    let of_study = study_text(study_path, results);
    if let Ok((_, text)) = &of_study {
        what_if = what_if.knowing(text);
    }
    if args.reprice {
        let (name, text) = of_study?;
        what_if = what_if
            .by_the_study_now(&text, &catalog)
            .map_err(|mistakes| told(&name, &text, mistakes))?;
        how.push("the study file and the catalog as they are now".to_owned());
    }
    let over = |what_if: &WhatIf, asked: &Asked| {
        let Asked { name, text, .. } = asked;
        let read = what_if.asking(name, text, &catalog);
        read.map_err(|mistakes| told(name, text, mistakes))
    };
    if let Some(path) = &args.what_if {
        let asked = read_file(path)?;
        what_if = over(&what_if, &asked)?;
        how.push(asked.said);
    }
    if args.has_options() {
        let asked = options(args, &what_if.study)?;
        what_if = over(&what_if, &asked)?;
        how.push(asked.said);
    }
    check_currency(&results.study, &what_if.study)?;
    Ok(Some(OtherMoney {
        sentence: format!(
            "What if: costs are computed with {}, not with the prices stored with the runs. Times are the measured ones.",
            how.join(", then ")
        ),
        what_if,
    }))
}

/// Another currency was requested: bills that stay in theirs would be no answer.
fn check_currency(before: &Study, asked: &Study) -> Result<(), Failure> {
    if asked.currency == before.currency {
        return Ok(());
    }
    for environment in &asked.environments {
        let Some(price) = &environment.price else {
            continue;
        };
        let (from, to) = (price.per_hour.currency, asked.currency);
        if cost::convert(price.per_hour, to, &asked.rates).is_err() {
            return Err(wrong(format!(
                "no exchange rate from {from} to {to}: add one, such as --rate {from}:{to}=5.42, or [[rates]] in a file"
            )));
        }
    }
    Ok(())
}

/// A text about money, from a file or from the options as a file would say them, so that both mean
/// the same.
struct Asked {
    name: String,
    text: String,
    /// For whoever reads a cost.
    said: String,
}

fn read_file(path: &Path) -> Result<Asked, Failure> {
    let name = path.display().to_string();
    let text = read_text(path)
        .map_err(|error| Failure::new(Exit::BadStudy, format!("cannot read {name}: {error}")))?;
    Ok(Asked {
        said: name.clone(),
        name,
        text,
    })
}

fn options(args: &WhatIfArgs, study: &Study) -> Result<Asked, Failure> {
    let mut text = String::new();
    let mut said: Vec<String> = Vec::new();
    if let Some(currency) = &args.currency {
        text += &format!("currency = {}\n", quoted(currency));
        said.push(format!("--currency {currency}"));
    }
    let mut prices: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let priced = || study.environments.iter().filter(|e| e.price.is_some());
    for asked in &args.price {
        let (names, price) = meant(asked, study)?;
        for name in names {
            prices.insert(name, vec![price.to_owned()]);
        }
        said.push(format!("--price {asked}"));
    }
    if let Some(region) = &args.region {
        let mut moved = 0;
        for environment in priced() {
            let asked = prices.get(environment.name.as_str()).cloned();
            let own = environment.price.iter().flat_map(|price| price.all_sizes());
            let names = asked
                .clone()
                .unwrap_or_else(|| own.map(|p| p.machine.clone()).collect());
            let there = names.iter().map(|name| cost::in_region(name, region));
            if let Some(names) = there.collect::<Option<Vec<String>>>() {
                prices.insert(&environment.name, names);
                moved += 1;
            } else if let Some(asked) = asked {
                return Err(wrong(format!(
                    "--region {region}: {} is not a machine in the catalog, so it has no regions",
                    asked.join(", ")
                )));
            }
        }
        if moved == 0 {
            return Err(wrong(format!(
                "--region {region}: no environment is priced as a machine in the catalog"
            )));
        }
        said.push(format!("--region {region}"));
    }
    let mut places: BTreeMap<&str, String> = BTreeMap::new();
    for (name, machines) in prices {
        let machines: Vec<String> = machines.iter().map(|name| quoted(name)).collect();
        let price = match machines.as_slice() {
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        places.insert(name, format!("price = {price}\n"));
    }
    if let Some(tax) = &args.tax {
        for environment in priced() {
            let is_bought = environment.price.as_ref().is_some_and(|p| p.own.is_some());
            // What was bought was taxed when it was.
            if is_bought && !places.contains_key(environment.name.as_str()) {
                continue;
            }
            let place = places.entry(&environment.name).or_default();
            *place += &format!("billing = {{ tax = {} }}\n", quoted(tax));
        }
        said.push(format!("--tax {tax}"));
    }
    for (name, lines) in places {
        text += &format!("[environments.{}]\n{lines}", quoted(name));
    }
    for rate in &args.rate {
        text += &rate_table(rate)?;
        said.push(format!("--rate {rate}"));
    }
    Ok(Asked {
        name: "the options".to_owned(),
        text,
        said: said.join(" "),
    })
}

/// `ENVIRONMENT=PRICE`, or a price for all environments that have one.
fn meant<'a>(asked: &'a str, study: &'a Study) -> Result<(Vec<&'a str>, &'a str), Failure> {
    if let Some((name, price)) = asked.split_once('=') {
        let Some(environment) = study.environment(name.trim()) else {
            let known: Vec<&str> = study.environments.iter().map(|e| e.name.as_str()).collect();
            return Err(wrong(format!(
                "--price {asked}: no environment is called `{}`; known: {}",
                name.trim(),
                known.join(", ")
            )));
        };
        return Ok((vec![&environment.name], price.trim()));
    }
    let priced = study.environments.iter().filter(|e| e.price.is_some());
    let names: Vec<&str> = priced.map(|e| e.name.as_str()).collect();
    match names.is_empty() {
        true => Err(wrong(format!(
            "--price {asked}: no environment of the study has a price; name one: --price NAME=PRICE"
        ))),
        false => Ok((names, asked)),
    }
}

/// `USD:BRL=5.42`.
fn rate_table(text: &str) -> Result<String, Failure> {
    let parts = text.split_once('=').and_then(|(pair, rate)| {
        let (from, to) = pair.split_once(':')?;
        Some((from.trim(), to.trim(), rate.trim()))
    });
    let Some((from, to, rate)) = parts else {
        return Err(wrong(format!(
            "--rate {text} is not a rate such as USD:BRL=5.42"
        )));
    };
    let [from, to, rate] = [from, to, rate].map(quoted);
    let today = super::price::today();
    Ok(format!(
        "[[rates]]\nfrom = {from}\nto = {to}\nrate = {rate}\ndate = \"{today}\"\nsource = \"--rate\"\n"
    ))
}

fn wrong(message: String) -> Failure {
    Failure::new(Exit::BadStudy, message)
}

/// As a text of TOML; JSON writes the same.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
