//! A name as people write it → an entry.

use std::fmt;

use model::{Currency, Price};

use super::{Catalog, CatalogEntry, Paying};

/// At the end of a name: the spot price is meant.
pub(super) const SPOT_MARK: &str = "+spot";

/// Where a provider's first and usually cheapest machines are. A name without region means it, so
/// that a study goes on meaning the same when a refreshed catalog knows more regions.
const HOME_REGIONS: [(&str, &str); 3] = [
    ("azure", "eastus"),
    ("aws", "us-east-1"),
    ("gcp", "us-central1"),
];

/// Other words for providers; SageMaker's machines are AWS's.
const ALIASES: [(&str, &str); 5] = [
    ("google", "gcp"),
    ("amazon", "aws"),
    ("sagemaker", "aws"),
    ("ec2", "aws"),
    ("microsoft", "azure"),
];

/// The catalog's word for a provider.
pub fn provider_named(word: &str) -> &str {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == word);
    alias.map_or(word, |(_, provider)| provider)
}

/// `azure/Standard_F4s_v2@brazilsouth:BRL+spot`, taken apart.
struct Asked<'a> {
    provider: &'a str,
    machine: &'a str,
    region: Option<&'a str>,
    currency: Option<Currency>,
    paying: Paying,
}

impl<'a> Asked<'a> {
    fn parse(name: &'a str) -> Option<Self> {
        let (name, paying) = match name.strip_suffix(SPOT_MARK) {
            Some(name) => (name, Paying::Spot),
            None => (name, Paying::OnDemand),
        };
        let (name, currency) = match name.rsplit_once(':') {
            Some((name, code)) => (name, Some(code.parse().ok()?)),
            None => (name, None),
        };
        let (provider, rest) = name.split_once('/')?;
        let (machine, region) = match rest.rsplit_once('@') {
            Some((machine, region)) => (machine, Some(region)),
            None => (rest, None),
        };
        Some(Asked {
            provider: provider_named(provider),
            machine,
            region,
            currency,
            paying,
        })
    }

    fn is_home(&self, entry: &CatalogEntry) -> bool {
        HOME_REGIONS.contains(&(self.provider, entry.region.as_str()))
    }
}

/// The same machine in another region; `None` for what is no name of a catalog, as amounts are.
pub fn in_region(name: &str, region: &str) -> Option<String> {
    if name.contains(char::is_whitespace) {
        return None;
    }
    let Asked {
        provider,
        machine,
        paying,
        ..
    } = Asked::parse(name)?;
    let mark = paying.mark();
    Some(format!("{provider}/{machine}@{region}{mark}"))
}

impl Catalog {
    /// `provider/machine@region`, or without the region; then the provider's home region is
    /// meant, or the only one. `:BRL` at the end asks for a currency, `+spot` for the spot price.
    pub fn price(&self, name: &str) -> Result<Price, LookupError> {
        let asked = Asked::parse(name).ok_or_else(|| self.unknown(name))?;
        let entry = self.find(name)?;
        entry.price(asked.paying).ok_or_else(|| LookupError {
            asked: name.to_owned(),
            problem: match asked.paying {
                Paying::OnDemand => LookupProblem::OnlySpot,
                Paying::Spot => LookupProblem::NoSpot,
            },
            suggestions: Vec::new(),
        })
    }

    pub fn find(&self, name: &str) -> Result<&CatalogEntry, LookupError> {
        let asked = Asked::parse(name).ok_or_else(|| self.unknown(name))?;
        let all = self.regions_of(&asked);
        let at_home: Vec<&CatalogEntry> =
            all.iter().copied().filter(|e| asked.is_home(e)).collect();
        let matching: Vec<&CatalogEntry> = match asked.region {
            Some(region) => all.into_iter().filter(|e| e.region == region).collect(),
            None if at_home.is_empty() => all,
            None => at_home,
        };
        let one_region = matching
            .windows(2)
            .all(|two| two[0].region == two[1].region);
        match preferred_currency(&matching) {
            Some(entry) if one_region => Ok(entry),
            Some(_) => Err(LookupError {
                asked: name.to_owned(),
                problem: LookupProblem::SeveralRegions,
                suggestions: matching.iter().map(|e| e.name()).collect(),
            }),
            None => Err(self.unknown(name)),
        }
    }

    /// Every region and currency a machine is known in, by a name with or without region.
    pub fn all_named(&self, name: &str) -> Result<Vec<&CatalogEntry>, LookupError> {
        let found = Asked::parse(name).map(|asked| {
            let mut all = self.regions_of(&asked);
            all.retain(|e| asked.region.is_none_or(|region| e.region == region));
            all
        });
        match found {
            Some(entries) if !entries.is_empty() => Ok(entries),
            _ => Err(self.unknown(name)),
        }
    }

    fn regions_of(&self, asked: &Asked<'_>) -> Vec<&CatalogEntry> {
        let meant = |e: &&CatalogEntry| {
            e.machine == asked.machine
                && e.provider == asked.provider
                && asked.currency.is_none_or(|c| e.currency() == Some(c))
        };
        self.entries.iter().filter(meant).collect()
    }

    fn unknown(&self, name: &str) -> LookupError {
        LookupError {
            asked: name.to_owned(),
            problem: LookupProblem::Unknown,
            suggestions: self.suggestions(name),
        }
    }

    /// Names that may have been meant, the nearest first.
    fn suggestions(&self, name: &str) -> Vec<String> {
        const AT_MOST: usize = 4;
        let names: Vec<String> = self.entries.iter().map(CatalogEntry::name).collect();
        let names = || names.iter().map(String::as_str);
        let mut found: Vec<&str> = diagnostics::closest(name, names()).into_iter().collect();
        // `F4s_v2` for `azure/Standard_F4s_v2@eastus`, or another region of the same machine.
        let machine = name.rsplit('/').next().unwrap_or(name);
        let machine = machine.split('@').next().unwrap_or(machine).to_lowercase();
        if machine.chars().count() >= 3 {
            found.extend(names().filter(|n| n.to_lowercase().contains(&machine)));
        }
        let machines = || self.entries.iter().map(|e| e.machine.as_str());
        if let Some(near) = diagnostics::closest(&machine, machines()) {
            let end = format!("/{near}@");
            found.extend(names().filter(|n| n.contains(&end)));
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

/// Dollars, in which all providers set their prices, before what they convert for the reader.
fn preferred_currency<'e>(entries: &[&'e CatalogEntry]) -> Option<&'e CatalogEntry> {
    let dollars = |e: &&&CatalogEntry| e.currency() == Some(Currency::USD);
    entries.iter().find(dollars).or(entries.first()).copied()
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
    /// Known, but not by this price.
    OnlySpot,
    NoSpot,
}

impl std::error::Error for LookupError {}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asked = &self.asked;
        match self.problem {
            LookupProblem::Unknown => write!(f, "`{asked}` has no known price")?,
            LookupProblem::SeveralRegions => {
                write!(f, "`{asked}` has prices in several regions")?;
            }
            LookupProblem::OnlySpot => {
                return write!(
                    f,
                    "`{asked}` has only a spot price: write `{asked}{SPOT_MARK}`"
                );
            }
            LookupProblem::NoSpot => return write!(f, "`{asked}` has no known spot price"),
        }
        match self.suggestions.as_slice() {
            [] => f.write_str(
                ": bancada price find lists the known ones; or give a price such as \"0.169 USD/h\"",
            ),
            names => write!(f, ": did you mean {}?", names.join(" or ")),
        }
    }
}
