//! How providers bill: `rules.toml` as types, and which rule holds for what, when.

use std::sync::LazyLock;

use model::money::{Charge, Discount, DiscountTerms, LineKind, RuleOrigin, SustainedTier, Unit};
use model::{BillingRule, Money, PaidPhases};
use rust_decimal::Decimal;
use serde::Deserialize;

/// Everything that is known of how providers bill.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    #[serde(rename = "rule")]
    rules: Vec<ProviderRule>,
    #[serde(rename = "charge")]
    charges: Vec<KnownCharge>,
}

/// How one service of a provider bills, since a day.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderRule {
    /// `aws/lambda`.
    pub name: String,
    /// Whose machines of the catalog it holds for; `None` for what has no machines.
    provider: Option<String>,
    /// Beginnings of their names; none means all.
    #[serde(default)]
    machines: Vec<String>,
    /// `2017-10-02`; none from the beginning.
    pub since: Option<String>,
    pub source: String,
    step_seconds: u32,
    #[serde(default)]
    minimum_seconds: u32,
    #[serde(default = "all_phases")]
    paid: PaidPhases,
    #[serde(default)]
    request_step_ms: u32,
    #[serde(default)]
    request_minimum_ms: u32,
    /// Of a spot machine that is taken away sooner.
    #[serde(default)]
    pub unpaid_seconds: u32,
    /// Percent of a month, and percent that is paid up to there.
    #[serde(default)]
    sustained: Vec<[u32; 2]>,
    #[serde(default, deserialize_with = "money")]
    pub per_gb_second: Option<Money>,
    #[serde(default, deserialize_with = "money")]
    per_million_requests: Option<Money>,
    memory_step_mb: Option<u32>,
    free_gb_seconds: Option<u32>,
    #[serde(default)]
    free_million_requests: u32,
}

fn all_phases() -> PaidPhases {
    PaidPhases::All
}

/// What something beside machines costs at a provider.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownCharge {
    /// `aws/gp3`.
    pub name: String,
    pub what: String,
    pub kind: LineKind,
    /// `0.08 USD/GB-month`.
    #[serde(rename = "price", deserialize_with = "unit_price_text")]
    pub unit_price: UnitPrice,
    #[serde(default)]
    pub free: Decimal,
    pub source: String,
    pub date: String,
}

/// Money for a unit of something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnitPrice {
    pub price: Money,
    pub unit: Unit,
}

/// `0.08 USD/GB-month`.
pub fn unit_price(text: &str) -> Result<UnitPrice, String> {
    let expected = || {
        let units: Vec<&str> = Unit::ALL.iter().map(|unit| unit.word()).collect();
        format!(
            "`{text}` is not a unit price such as \"0.08 USD/GB-month\"; units are {}",
            units.join(", ")
        )
    };
    let (money, unit) = text.split_once('/').ok_or_else(expected)?;
    let named = |word: &str| Unit::ALL.into_iter().find(|unit| unit.word() == word);
    let unit = named(unit.trim()).ok_or_else(expected)?;
    let price: Money = money.parse().map_err(|_| expected())?;
    match price.amount.is_sign_negative() {
        true => Err(format!("`{text}`: a price must not be negative")),
        false => Ok(UnitPrice { price, unit }),
    }
}

/// The rules that come with Bancada.
pub fn rules() -> &'static Rules {
    static EMBEDDED: LazyLock<Rules> = LazyLock::new(|| {
        // That the embedded text is whole is a test; a bad rule must not stop a study.
        toml::from_str(include_str!("../rules.toml")).unwrap_or_default()
    });
    &EMBEDDED
}

impl Rules {
    pub fn all(&self) -> &[ProviderRule] {
        &self.rules
    }

    /// Each once, in the order of the file.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.rules.iter().map(|rule| rule.name.as_str()).collect();
        names.dedup();
        names
    }

    pub fn charges(&self) -> &[KnownCharge] {
        &self.charges
    }

    pub fn charge(&self, name: &str) -> Option<&KnownCharge> {
        self.charges.iter().find(|charge| charge.name == name)
    }

    /// `aws/lambda`, or `gcp@2016-05-01` as it was then; without a day the latest.
    pub fn named(&self, name: &str) -> Option<&ProviderRule> {
        let (name, day) = match name.split_once('@') {
            Some((name, day)) => (name, Some(day)),
            None => (name, None),
        };
        latest(self.rules.iter().filter(|rule| rule.name == name), day)
    }

    /// Of a machine of the catalog, when its price was read.
    pub fn of_machine(&self, provider: &str, machine: &str, day: &str) -> Option<&ProviderRule> {
        let of_provider = || {
            let rules = self.rules.iter();
            rules.filter(move |rule| rule.provider.as_deref() == Some(provider))
        };
        let length = |rule: &ProviderRule| rule.beginning(machine);
        // The most particular that held then.
        let then = of_provider().filter(|rule| rule.held_on(Some(day)));
        let longest = then.filter_map(length).max()?;
        let fits = of_provider().filter(|rule| length(rule) == Some(longest));
        latest(fits, Some(day))
    }
}

fn latest<'r>(
    rules: impl Iterator<Item = &'r ProviderRule>,
    day: Option<&str>,
) -> Option<&'r ProviderRule> {
    rules
        .filter(|rule| rule.held_on(day))
        .max_by_key(|rule| rule.since.as_deref().unwrap_or(""))
}

impl ProviderRule {
    /// Days are compared as they are written: a year, a month, a day.
    fn held_on(&self, day: Option<&str>) -> bool {
        match (self.since.as_deref(), day) {
            (Some(since), Some(day)) => since <= day,
            _ => true,
        }
    }

    /// How much of a machine's name it knows.
    fn beginning(&self, machine: &str) -> Option<usize> {
        if self.machines.is_empty() {
            return Some(0);
        }
        let known = self.machines.iter().filter(|m| machine.starts_with(*m));
        known.map(String::len).max()
    }

    /// As a run is billed by it; of workers that have `memory_mb` each, where it counts memory.
    pub fn billing(&self, memory_mb: Option<u32>) -> BillingRule {
        let gigabytes = memory_mb.map(|memory| self.gigabytes(memory));
        let mut discounts: Vec<Discount> = Vec::new();
        if !self.sustained.is_empty() {
            let tier = |[up_to, pays]: &[u32; 2]| SustainedTier {
                up_to_percent: Decimal::from(*up_to),
                pays_percent: Decimal::from(*pays),
            };
            let tiers = self.sustained.iter().map(tier).collect();
            discounts.push(Discount {
                what: "sustained use".to_owned(),
                terms: DiscountTerms::Sustained { tiers },
            });
        }
        let free = self.free_gb_seconds.zip(gigabytes);
        discounts.extend(free.and_then(|(gb_seconds, gigabytes)| {
            let seconds = Decimal::from(gb_seconds).checked_div(gigabytes)?;
            Some(Discount {
                what: format!("{gb_seconds} free GB-seconds per month"),
                terms: DiscountTerms::FreeTime {
                    seconds_per_month: seconds.round_dp(3),
                },
            })
        }));
        let request_fee = self.per_million_requests.map(|price| Charge {
            what: "requests made".to_owned(),
            kind: LineKind::Requests,
            unit: Unit::MillionRequests,
            price,
            quantity: Decimal::ZERO,
            free: Decimal::from(self.free_million_requests),
            source: self.source.clone(),
            date: self.since.clone().unwrap_or_default(),
        });
        BillingRule {
            step_seconds: self.step_seconds,
            minimum_seconds: self.minimum_seconds,
            paid: self.paid.clone(),
            request_step_ms: self.request_step_ms,
            request_minimum_ms: self.request_minimum_ms,
            discounts,
            charges: request_fee.into_iter().collect(),
            origin: Some(RuleOrigin {
                name: self.name.clone(),
                since: self
                    .since
                    .clone()
                    .unwrap_or_else(|| RuleOrigin::SINCE_EVER.to_owned()),
                source: self.source.clone(),
            }),
            ..BillingRule::default()
        }
    }

    /// What is paid for, in whole steps of memory.
    fn gigabytes(&self, memory_mb: u32) -> Decimal {
        let step = self.memory_step_mb.unwrap_or(1).max(1);
        Decimal::from(memory_mb.div_ceil(step) * step) / Decimal::from(1024)
    }

    /// Of a worker with so much memory; `None` if memory is not what is paid.
    pub fn per_hour(&self, memory_mb: u32) -> Option<Money> {
        let price = self.per_gb_second?;
        let hour = price.amount * self.gigabytes(memory_mb) * Decimal::from(3600);
        Some(Money::new(hour.normalize(), price.currency))
    }
}

fn money<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Money>, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map(Some).map_err(serde::de::Error::custom)
}

fn unit_price_text<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<UnitPrice, D::Error> {
    let text = String::deserialize(deserializer)?;
    unit_price(&text).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_rules_are_whole() {
        let parsed: Result<Rules, _> = toml::from_str(include_str!("../rules.toml"));
        assert_eq!(parsed.err().map(|e| e.to_string()), None);
        for rule in rules().all() {
            assert!(!rule.source.is_empty(), "{}", rule.name);
            assert!(rule.per_gb_second.is_none() || rule.paid == PaidPhases::Requests);
        }
    }

    #[test]
    fn the_rule_is_that_of_the_day() {
        let check = |provider: &str, machine: &str, day: &str, step: u32, minimum: u32| {
            let rule = rules().of_machine(provider, machine, day);
            let found = rule.map(|r| (r.step_seconds, r.minimum_seconds));
            assert_eq!(found, Some((step, minimum)), "{provider} {machine} {day}");
        };
        check("aws", "m5.xlarge", "2017-10-01", 3600, 0);
        check("aws", "m5.xlarge", "2017-10-02", 1, 60);
        check("aws", "m5.xlarge", "2023", 1, 60);
        check("aws", "ml.m5.xlarge", "2023", 1, 0);
        check("gcp", "n1-standard-4", "2016", 60, 600);
        check("gcp", "n1-standard-4", "2026-08-22", 1, 60);
        check("azure", "Standard_NC6", "2017", 60, 0);
        check("azure", "Standard_NC6", "2025-09-11", 1, 0);
        assert_eq!(rules().of_machine("lab", "big", "2026"), None);
    }

    #[test]
    fn rules_have_names_and_days() {
        let step = |name: &str| rules().named(name).map(|rule| rule.request_step_ms);
        assert_eq!(step("aws/lambda"), Some(1));
        assert_eq!(step("aws/lambda@2019-05-01"), Some(100));
        assert_eq!(step("aws/lambdas"), None);
    }

    #[test]
    fn memory_is_paid_in_whole_steps() {
        let check = |name: &str, memory: u32, expected: &str| {
            let hour = rules().named(name).and_then(|rule| rule.per_hour(memory));
            assert_eq!(
                hour.map(|m| m.amount.to_string()).as_deref(),
                Some(expected)
            );
        };
        check("azure/functions", 128, "0.0072");
        check("azure/functions", 129, "0.0144");
        check("aws/lambda", 1024, "0.06000012");
    }
}
