//! The same measurements at different prices: nothing is re-run, stored results do not change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use diagnostics::read_text;
use messages::message;
use model::{RunRecord, Study};
use plan::WhatIf;

use crate::Tell;
use crate::catalog::{catalog, today};
use crate::error::Error;
use crate::open::{Results, study_text};

/// Which prices, taxes and rates to compute with.
#[derive(Debug, Clone, Default)]
pub struct WhatIfRequest {
    /// Those of the study file and the catalog as they are now.
    pub reprice: bool,
    /// A TOML file.
    pub file: Option<PathBuf>,
    /// `[ENVIRONMENT=]PRICE`.
    pub prices: Vec<String>,
    pub region: Option<String>,
    pub currency: Option<String>,
    /// `FROM:TO=RATE`.
    pub rates: Vec<String>,
    /// In percent.
    pub tax: Option<String>,
    pub asked_in: AskedIn,
}

/// Where it was asked, which is where the reader changes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AskedIn {
    /// `--price 0.2 USD/h`.
    #[default]
    Options,
    /// `price 0.2 USD/h`.
    Form,
}

impl AskedIn {
    /// What mistakes in it are in.
    pub fn name(self) -> &'static str {
        match self {
            AskedIn::Options => "the options",
            AskedIn::Form => "the form",
        }
    }

    /// An option, as it is called there.
    fn option(self, option: &'static str) -> &'static str {
        match self {
            AskedIn::Options => option,
            AskedIn::Form if option == "--rate" => "exchange rate",
            AskedIn::Form => option.trim_start_matches('-'),
        }
    }

    fn joint(self) -> &'static str {
        match self {
            AskedIn::Options => " ",
            AskedIn::Form => ", ",
        }
    }
}

impl WhatIfRequest {
    fn is_empty(&self) -> bool {
        !self.reprice && self.file.is_none() && !self.has_options()
    }

    /// Options that a file could also set.
    fn has_options(&self) -> bool {
        let texts = [&self.region, &self.currency, &self.tax];
        texts.iter().any(|text| text.is_some()) || !self.prices.is_empty() || !self.rates.is_empty()
    }
}

/// Other prices for the runs of a study.
pub struct OtherPrices {
    what_if: WhatIf,
    /// For whoever reads a cost.
    pub(crate) sentence: String,
}

impl OtherPrices {
    /// `None` where the bills that are stored with the runs are requested.
    pub fn read(
        request: &WhatIfRequest,
        study_path: &Path,
        results: &Results,
        tell: Tell<'_>,
    ) -> Result<Option<Self>, Error> {
        match request.is_empty() {
            true => Ok(None),
            false => read(request, study_path, results, tell).map(Some),
        }
    }

    pub(crate) fn study(&self) -> &Study {
        &self.what_if.study
    }

    /// Runs of places that nobody asked about keep the price they were billed at.
    pub(crate) fn bill(&self, records: &mut [RunRecord]) {
        let study = self.study();
        for record in records {
            if self.what_if.changed.contains(&record.environment.name) {
                record.price = plan::resolve(study, &record.scenario).environment.price;
            }
            runner::reprice_record(record, study);
        }
    }
}

fn read(
    request: &WhatIfRequest,
    study_path: &Path,
    results: &Results,
    tell: Tell<'_>,
) -> Result<OtherPrices, Error> {
    let mut how: Vec<String> = Vec::new();
    let catalog = catalog(tell);
    let mut what_if = WhatIf::of(results.study.clone());
    let of_study = study_text(study_path, results);
    if let Ok((_, text)) = &of_study {
        what_if = what_if.knowing(text);
    }
    if request.reprice {
        let (name, text) = of_study?;
        what_if = what_if
            .by_the_study_now(&text, &catalog)
            .map_err(|found| Error::mistakes(&name, &text, found))?;
        how.push(message!("what-if-now"));
    }
    let over = |what_if: &WhatIf, asked: &Asked| {
        let Asked { name, text, .. } = asked;
        let read = what_if.asking(name, text, &catalog);
        read.map_err(|found| Error::mistakes(name, text, found))
    };
    if let Some(path) = &request.file {
        let asked = read_file(path)?;
        what_if = over(&what_if, &asked)?;
        how.push(asked.said);
    }
    if request.has_options() {
        let asked = options(request, &what_if.study)?;
        what_if = over(&what_if, &asked)?;
        how.push(asked.said);
    }
    check_currency(&results.study, &what_if.study, request.asked_in)?;
    Ok(OtherPrices {
        sentence: message!("what-if", how = in_turn(how)),
        what_if,
    })
}

/// What was done to the costs, in its order.
fn in_turn(how: Vec<String>) -> String {
    let joined = how
        .into_iter()
        .reduce(|first, next| message!("what-if-then", first, next));
    joined.unwrap_or_default()
}

/// Another currency was requested: bills that stay in theirs would be no answer.
fn check_currency(before: &Study, asked: &Study, asked_in: AskedIn) -> Result<(), Error> {
    if asked.currency == before.currency {
        return Ok(());
    }
    for environment in &asked.environments {
        let Some(price) = &environment.price else {
            continue;
        };
        let (from, to) = (price.per_hour.currency, asked.currency);
        if cost::convert(price.per_hour, to, &asked.rates).is_none() {
            let rate = asked_in.option("--rate");
            let or_file = match asked_in {
                AskedIn::Options => ", or [[rates]] in a file",
                AskedIn::Form => "",
            };
            return Err(wrong(format!(
                "no exchange rate from {from} to {to}: add one, such as {rate} {from}:{to}=5.42{or_file}"
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

fn read_file(path: &Path) -> Result<Asked, Error> {
    let name = path.display().to_string();
    let text = read_text(path)
        .map_err(|error| Error::bad_study(format!("cannot read {name}: {error}")))?;
    Ok(Asked {
        said: name.clone(),
        name,
        text,
    })
}

fn options(request: &WhatIfRequest, study: &Study) -> Result<Asked, Error> {
    let mut text = String::new();
    let mut said: Vec<String> = Vec::new();
    let name = |option| request.asked_in.option(option);
    let [to_currency, to_price, to_region, to_tax, to_rate] =
        ["--currency", "--price", "--region", "--tax", "--rate"].map(name);
    if let Some(currency) = &request.currency {
        text += &format!("currency = {}\n", quoted(currency));
        said.push(format!("{to_currency} {currency}"));
    }
    let mut prices: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let priced = || study.environments.iter().filter(|e| e.price.is_some());
    for asked in &request.prices {
        let (names, price) = meant(asked, study, request.asked_in)?;
        for name in names {
            prices.insert(name, vec![price.to_owned()]);
        }
        said.push(format!("{to_price} {asked}"));
    }
    if let Some(region) = &request.region {
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
                    "{to_region} {region}: {} is not a machine in the catalog, so it has no regions",
                    asked.join(", ")
                )));
            }
        }
        if moved == 0 {
            return Err(wrong(format!(
                "{to_region} {region}: no environment is priced as a machine in the catalog"
            )));
        }
        said.push(format!("{to_region} {region}"));
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
    if let Some(tax) = &request.tax {
        for environment in priced() {
            let is_bought = environment.price.as_ref().is_some_and(|p| p.own.is_some());
            // What was bought was taxed when it was.
            if is_bought && !places.contains_key(environment.name.as_str()) {
                continue;
            }
            let place = places.entry(&environment.name).or_default();
            *place += &format!("billing = {{ tax = {} }}\n", quoted(tax));
        }
        let percent = match request.asked_in {
            AskedIn::Options => "",
            AskedIn::Form => " %",
        };
        said.push(format!("{to_tax} {tax}{percent}"));
    }
    for (name, lines) in places {
        text += &format!("[environments.{}]\n{lines}", quoted(name));
    }
    for rate in &request.rates {
        text += &rate_table(rate, request.asked_in)?;
        said.push(format!("{to_rate} {rate}"));
    }
    Ok(Asked {
        name: request.asked_in.name().to_owned(),
        text,
        said: said.join(request.asked_in.joint()),
    })
}

/// `ENVIRONMENT=PRICE`, or a price for all environments that have one.
fn meant<'a>(
    asked: &'a str,
    study: &'a Study,
    asked_in: AskedIn,
) -> Result<(Vec<&'a str>, &'a str), Error> {
    let option = asked_in.option("--price");
    if let Some((name, price)) = asked.split_once('=') {
        let Some(environment) = study.environment(name.trim()) else {
            let known: Vec<&str> = study.environments.iter().map(|e| e.name.as_str()).collect();
            return Err(wrong(format!(
                "{option} {asked}: no environment is called `{}`; known: {}",
                name.trim(),
                known.join(", ")
            )));
        };
        return Ok((vec![&environment.name], price.trim()));
    }
    let priced = study.environments.iter().filter(|e| e.price.is_some());
    let names: Vec<&str> = priced.map(|e| e.name.as_str()).collect();
    match (names.as_slice(), study.environments.as_slice()) {
        ([], [only]) => Ok((vec![&only.name], asked)),
        ([], all) => {
            let example = all.first().map_or("NAME", |first| first.name.as_str());
            Err(wrong(format!(
                "{option} {asked}: no environment of the study has a price; say which one it is for: {option} {example}={asked}"
            )))
        }
        _ => Ok((names, asked)),
    }
}

/// `USD:BRL=5.42`.
fn rate_table(text: &str, asked_in: AskedIn) -> Result<String, Error> {
    let option = asked_in.option("--rate");
    let parts = text.split_once('=').and_then(|(pair, rate)| {
        let (from, to) = pair.split_once(':')?;
        Some((from.trim(), to.trim(), rate.trim()))
    });
    let Some((from, to, rate)) = parts else {
        return Err(wrong(format!(
            "{option} {text} is not a rate such as USD:BRL=5.42"
        )));
    };
    let [from, to, rate] = [from, to, rate].map(quoted);
    let today = today();
    Ok(format!(
        "[[rates]]\nfrom = {from}\nto = {to}\nrate = {rate}\ndate = \"{today}\"\nsource = \"{option}\"\n"
    ))
}

fn wrong(message: String) -> Error {
    Error::bad_study(message)
}

/// As a text of TOML; JSON writes the same.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
