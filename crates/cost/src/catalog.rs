//! Prices of machines that can be rented: the embedded list and how a name is looked up in it.

use std::fmt;
use std::sync::LazyLock;

use model::{BillingRule, Currency, Money, PaidPhases, Price};
use rust_decimal::Decimal;
use source::{Diagnostic, Problems, Table};

/// The catalog that comes with Bancada.
pub fn catalog() -> &'static Catalog {
    static EMBEDDED: LazyLock<Catalog> = LazyLock::new(|| {
        // That the embedded text is whole is a test; a bad entry must not stop a study here.
        Catalog::parse(include_str!("../catalog.toml")).unwrap_or_default()
    });
    &EMBEDDED
}

/// Looks a name up in the embedded catalog.
pub fn find(name: &str) -> Result<Price, LookupError> {
    catalog().find(name).map(|entry| entry.price.clone())
}

/// Full names of the embedded catalog, in its order.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    catalog().entries.iter().map(CatalogEntry::name)
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Catalog {
    pub entries: Vec<CatalogEntry>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CatalogEntry {
    pub provider: String,
    pub machine: String,
    pub region: String,
    pub vcpus: u32,
    pub memory_gb: Decimal,
    /// `T4`; none for machines without.
    pub gpu: Option<String>,
    pub gpus: u32,
    /// `x86-64` or `arm64`.
    pub architecture: String,
    pub price: Price,
}

impl CatalogEntry {
    /// `azure/Standard_F4s_v2@eastus`.
    pub fn name(&self) -> &str {
        &self.price.machine
    }
}

impl Catalog {
    /// Reads the text of a catalog: lists of machines that share provider, region, source, date
    /// and billing rule.
    pub fn parse(text: &str) -> Result<Catalog, Vec<Diagnostic>> {
        let mut problems = Problems::default();
        let entries = source::parse(text, &mut problems, |top, problems| {
            let mut entries = Vec::new();
            for list in top.array("list", problems).unwrap_or_default() {
                if let Some(list) = list.table("list", problems) {
                    entries.extend(read_list(list, problems));
                }
            }
            top.finish(problems);
            entries
        });
        match problems.is_empty() {
            true => Ok(Catalog { entries }),
            false => Err(problems.into_sorted()),
        }
    }

    /// `provider/machine@region`, or without the region where only one is known.
    pub fn find(&self, name: &str) -> Result<&CatalogEntry, LookupError> {
        if let Some(entry) = self.entries.iter().find(|e| e.name() == name) {
            return Ok(entry);
        }
        let without_region = |e: &&CatalogEntry| {
            e.name()
                .rsplit_once('@')
                .is_some_and(|(machine, _)| machine == name)
        };
        let matching: Vec<&CatalogEntry> = self.entries.iter().filter(without_region).collect();
        match matching.as_slice() {
            [one] => Ok(one),
            [] => Err(LookupError {
                asked: name.to_owned(),
                problem: LookupProblem::Unknown,
                suggestions: self.suggestions(name),
            }),
            several => Err(LookupError {
                asked: name.to_owned(),
                problem: LookupProblem::SeveralRegions,
                suggestions: several.iter().map(|e| e.name().to_owned()).collect(),
            }),
        }
    }

    /// Names that may have been meant, the nearest first.
    fn suggestions(&self, name: &str) -> Vec<String> {
        const AT_MOST: usize = 4;
        let names = || self.entries.iter().map(CatalogEntry::name);
        let mut found: Vec<&str> = source::closest(name, names()).into_iter().collect();
        // `F4s_v2` for `azure/Standard_F4s_v2@eastus`, or another region of the same machine.
        let machine = name.rsplit('/').next().unwrap_or(name);
        let machine = machine.split('@').next().unwrap_or(machine).to_lowercase();
        if machine.chars().count() >= 3 {
            found.extend(names().filter(|n| n.to_lowercase().contains(&machine)));
        }
        let machines = || self.entries.iter().map(|e| e.machine.as_str());
        if let Some(near) = source::closest(&machine, machines()) {
            found.extend(
                self.entries
                    .iter()
                    .filter(|e| e.machine == near)
                    .map(CatalogEntry::name),
            );
        }
        let mut unique: Vec<String> = Vec::new();
        for name in found {
            if !unique.iter().any(|u| u == name) {
                unique.push(name.to_owned());
            }
        }
        unique.truncate(AT_MOST);
        unique
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookupError {
    pub asked: String,
    pub problem: LookupProblem,
    /// Names of the catalog, the likeliest first.
    pub suggestions: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookupProblem {
    Unknown,
    /// The machine is known in several regions and none was named.
    SeveralRegions,
}

impl std::error::Error for LookupError {}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asked = &self.asked;
        match self.problem {
            LookupProblem::Unknown => write!(f, "no price of `{asked}` is known")?,
            LookupProblem::SeveralRegions => {
                write!(f, "`{asked}` has a price in each of several regions")?;
            }
        }
        match self.suggestions.as_slice() {
            [] => {
                f.write_str(": docs/study-file.md lists the known ones; or give a price such as \"0.169 USD/h\"")
            }
            names => write!(f, ": did you mean {}?", names.join(" or ")),
        }
    }
}

/// What the machines of one list have in common.
struct Common {
    provider: String,
    region: String,
    currency: Currency,
    source: String,
    date: String,
    billing: BillingRule,
}

fn read_list(list: Table<'_>, problems: &mut Problems) -> Vec<CatalogEntry> {
    let common = read_common(&list, problems);
    let machines = list.array("machines", problems).unwrap_or_default();
    list.finish(problems);
    let Some(common) = common else {
        return Vec::new();
    };
    machines
        .iter()
        .filter_map(|machine| read_machine(machine.table("machines", problems)?, &common, problems))
        .collect()
}

fn read_common(list: &Table<'_>, problems: &mut Problems) -> Option<Common> {
    let mut text = |key: &str| list.required(key, problems)?.text(key, problems);
    let (provider, region) = (text("provider"), text("region"));
    let (currency, source, date) = (text("currency"), text("source"), text("date"));
    let mut whole = |key: &str| match list.integer(key, problems) {
        Some(seconds) => u32::try_from(seconds.value).ok(),
        None => Some(0),
    };
    let billing = BillingRule {
        step_seconds: whole("step_seconds")?,
        minimum_seconds: whole("minimum_seconds")?,
        paid: PaidPhases::All,
    };
    let currency = currency?;
    let parsed = currency
        .value
        .parse()
        .map_err(|e: String| Diagnostic::at(currency.span, e));
    Some(Common {
        provider: provider?.value,
        region: region?.value,
        currency: parsed.map_err(|e| problems.push(e)).ok()?,
        source: source?.value,
        date: date?.value,
        billing,
    })
}

fn read_machine(
    table: Table<'_>,
    common: &Common,
    problems: &mut Problems,
) -> Option<CatalogEntry> {
    let name = table
        .required("name", problems)?
        .text("name", problems)?
        .value;
    let span = table.span.clone();
    // Decimals are written as text: a TOML float would have been a binary fraction on the way.
    let mut decimal = |key: &str| {
        let text = table.required(key, problems)?.text(key, problems)?;
        let value = text
            .value
            .parse::<Decimal>()
            .ok()
            .filter(|v| *v > Decimal::ZERO);
        if value.is_none() {
            let message = format!("`{key}` must be a decimal number above zero, in quotes");
            problems.push(Diagnostic::at(text.span, message));
        }
        value
    };
    let (per_hour, memory_gb) = (decimal("per_hour"), decimal("memory_gb"));
    let vcpus = table
        .required("vcpus", problems)?
        .integer("vcpus", problems)?
        .value;
    let gpu = table.text("gpu", problems).map(|t| t.value);
    let gpus = table.integer("gpus", problems).map(|n| n.value);
    let architecture = table.text("architecture", problems).map(|t| t.value);
    table.finish(problems);
    let gpus = gpus.unwrap_or(i64::from(gpu.is_some()));
    let (Ok(vcpus), Ok(gpus)) = (u32::try_from(vcpus), u32::try_from(gpus)) else {
        problems.push(Diagnostic::at(
            span,
            "`vcpus` and `gpus` must not be negative",
        ));
        return None;
    };
    Some(CatalogEntry {
        provider: common.provider.clone(),
        region: common.region.clone(),
        vcpus,
        memory_gb: memory_gb?,
        gpu,
        gpus,
        architecture: architecture.unwrap_or_else(|| "x86-64".to_owned()),
        price: Price {
            machine: format!("{}/{name}@{}", common.provider, common.region),
            per_hour: Money::new(per_hour?, common.currency),
            source: common.source.clone(),
            date: common.date.clone(),
            billing: common.billing.clone(),
        },
        machine: name,
    })
}
