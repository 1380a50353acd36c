//! Money is decimal with a currency. Never `f64`.

use std::fmt;
use std::str::FromStr;

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::run::phase;

/// An ISO 4217 code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Currency([u8; 3]);

impl Currency {
    pub const USD: Currency = Currency(*b"USD");
    pub const BRL: Currency = Currency(*b"BRL");
    pub const EUR: Currency = Currency(*b"EUR");

    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("???")
    }

    /// How people of the place write it before an amount.
    pub fn symbol(&self) -> &str {
        match self.code() {
            "USD" => "US$",
            "BRL" => "R$",
            "EUR" => "€",
            "GBP" => "£",
            code => code,
        }
    }
}

impl FromStr for Currency {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.as_bytes() {
            &[a, b, c] if [a, b, c].iter().all(u8::is_ascii_uppercase) => Ok(Currency([a, b, c])),
            _ => Err(format!(
                "`{text}` is not a currency code such as USD, EUR or BRL"
            )),
        }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

impl Serialize for Currency {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Money {
    #[serde(with = "rust_decimal::serde::str")]
    pub amount: Decimal,
    pub currency: Currency,
}

impl Money {
    pub fn new(amount: Decimal, currency: Currency) -> Self {
        Money { amount, currency }
    }

    pub fn zero(currency: Currency) -> Self {
        Money {
            amount: Decimal::ZERO,
            currency,
        }
    }
}

/// `200 USD`.
impl FromStr for Money {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("`{text}` is not an amount with a currency, such as \"200 USD\"");
        let (amount, currency) = text
            .trim()
            .split_once(char::is_whitespace)
            .ok_or_else(expected)?;
        Ok(Money {
            amount: amount.parse().map_err(|_| expected())?,
            currency: currency.trim().parse()?,
        })
    }
}

/// `US$ 0.0052`: two decimals from a hundredth up, otherwise enough for two significant digits.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut places = 2;
        let magnitude = self.amount.abs();
        let mut limit = Decimal::new(1, 1);
        while !magnitude.is_zero() && magnitude < limit && places < 10 {
            limit /= Decimal::TEN;
            places += 1;
        }
        let text = format!(
            "{} {:.*}",
            self.currency.symbol(),
            places,
            self.amount.round_dp(places as u32)
        );
        f.pad(&text)
    }
}

/// What an hour of a machine costs, and how time becomes money there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// `azure/Standard_F4s_v2@eastus`, or `own` for a price written in the study.
    pub machine: String,
    pub per_hour: Money,
    /// Where the number was read.
    pub source: String,
    /// `2024-03-01`: when it was read there.
    pub date: String,
    pub billing: BillingRule,
    /// What takes the place of `per_hour` from a moment on, in order of time: a market's price.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<PriceChange>,
    /// Of a machine that was bought: what `per_hour` was made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnMachine>,
    #[serde(default, skip_serializing_if = "PricedShape::is_unknown")]
    pub shape: PricedShape,
    /// Smaller machines of the same offer: what a run on fewer cores pays instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<Price>,
}

/// What a machine for that price is, as far as its catalog says.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PricedShape {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vcpus: Option<Decimal>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_gib: Option<Decimal>,
    /// `x86-64`, `arm64`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
}

impl PricedShape {
    pub fn is_unknown(&self) -> bool {
        *self == PricedShape::default()
    }

    /// Whether a run on so many cores has room there; what is not known has.
    pub fn holds(&self, cores: f64) -> bool {
        let vcpus = self.vcpus.and_then(|vcpus| vcpus.to_f64());
        vcpus.is_none_or(|vcpus| cores <= vcpus)
    }
}

impl Price {
    /// Of all sizes the cheapest that has the cores; the largest where they are not said.
    #[must_use]
    pub fn for_cores(&self, cores: Option<f64>) -> Price {
        let largest = || Price {
            sizes: Vec::new(),
            ..self.clone()
        };
        let Some(cores) = cores else {
            return largest();
        };
        let all = self.sizes.iter().cloned().chain([largest()]);
        let fitting = all.filter(|size| size.shape.holds(cores));
        let cheapest = fitting.min_by_key(|size| size.per_hour.amount);
        cheapest.unwrap_or_else(largest)
    }

    /// Each size by itself changed, whichever of them is then the largest.
    #[must_use]
    pub fn of_sizes(&self, change: impl Fn(&Price) -> Price) -> Price {
        let alone = |size: &Price| Price {
            sizes: Vec::new(),
            ..size.clone()
        };
        let mut all: Vec<Price> = self.all_sizes().map(|size| change(&alone(size))).collect();
        all.sort_by_key(|size| size.shape.vcpus);
        let largest = all.pop().unwrap_or_else(|| alone(self));
        Price {
            sizes: all,
            ..largest
        }
    }

    /// It and its sizes, the smallest first.
    pub fn all_sizes(&self) -> impl Iterator<Item = &Price> {
        self.sizes.iter().chain([self])
    }

    /// For all machines of a run: time and whatever goes with a machine are paid for each.
    pub fn of_machines(&mut self, machines: u32) {
        let times = Decimal::from(machines);
        self.machine = format!("{machines} × {}", self.machine);
        self.per_hour.amount = self.per_hour.amount.saturating_mul(times);
        for change in &mut self.changes {
            change.per_hour = change.per_hour.saturating_mul(times);
        }
        let of_a_machine = |charge: &&mut Charge| charge.unit.is_time();
        for charge in self.billing.charges.iter_mut().filter(of_a_machine) {
            charge.quantity = charge.quantity.saturating_mul(times);
        }
    }
}

/// Of a price that moves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriceChange {
    pub from: Timestamp,
    /// In the price's currency.
    #[serde(with = "rust_decimal::serde::str")]
    pub per_hour: Decimal,
}

/// A machine that was bought, not rented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnMachine {
    pub purchase: Money,
    /// How long it will be used.
    #[serde(with = "rust_decimal::serde::str")]
    pub years: Decimal,
    /// Drawn from the wall while it works.
    #[serde(with = "rust_decimal::serde::str")]
    pub watts: Decimal,
    pub electricity_per_kilowatt_hour: Money,
    /// Hours of a day that it works: a machine that idles half the day costs twice as much an
    /// hour of work. None means all 24.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours_per_day: Option<Decimal>,
}

/// How use becomes money: what is counted, what is taken off, and what comes on top.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BillingRule {
    /// Time is rounded up to whole steps. Zero bills the exact time.
    pub step_seconds: u32,
    pub minimum_seconds: u32,
    pub paid: PaidPhases,
    /// Where requests are paid, each of them is rounded up to it; zero bills the exact time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub request_step_ms: u32,
    /// Where requests are paid, each of them counts this at least.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub request_minimum_ms: u32,
    /// Taken off the price of time, one after the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub discounts: Vec<Discount>,
    /// Of a machine that its provider may take away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interruptions: Option<Interruptions>,
    #[serde(default, skip_serializing_if = "AroundRun::is_nothing")]
    pub around: AroundRun,
    /// What is paid beside the time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub charges: Vec<Charge>,
    /// On top of everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tax_percent: Option<Decimal>,
    /// What discounts and free amounts are reckoned by.
    #[serde(default, skip_serializing_if = "MonthOfUse::is_unknown")]
    pub month: MonthOfUse,
    /// None for the study's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<RuleOrigin>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Time of a rented machine before and after a run, which is paid and which nobody measures there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AroundRun {
    pub startup_seconds: u32,
    pub install_seconds: u32,
    pub shutdown_seconds: u32,
}

impl AroundRun {
    pub fn is_nothing(&self) -> bool {
        *self == AroundRun::default()
    }

    /// Phases of the machine's life and their seconds, those that take any.
    pub fn parts(self) -> impl Iterator<Item = (&'static str, u32)> {
        let all = [
            (phase::STARTUP, self.startup_seconds),
            (phase::INSTALL, self.install_seconds),
            (phase::SHUTDOWN, self.shutdown_seconds),
        ];
        all.into_iter().filter(|(_, seconds)| *seconds > 0)
    }
}

impl Default for BillingRule {
    /// Per second, no minimum, everything paid.
    fn default() -> Self {
        BillingRule {
            step_seconds: 1,
            minimum_seconds: 0,
            paid: PaidPhases::All,
            request_step_ms: 0,
            request_minimum_ms: 0,
            discounts: Vec::new(),
            interruptions: None,
            around: AroundRun::default(),
            charges: Vec::new(),
            tax_percent: None,
            month: MonthOfUse::default(),
            origin: None,
        }
    }
}

impl BillingRule {
    /// Only the time that requests take, as it is.
    pub fn requests() -> Self {
        BillingRule {
            step_seconds: 0,
            paid: PaidPhases::Requests,
            ..BillingRule::default()
        }
    }
}

/// A provider's rule that was read somewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleOrigin {
    /// `aws/lambda`.
    pub name: String,
    /// `2017-10-02`: since when it holds.
    pub since: String,
    pub source: String,
}

/// What is taken off the price of time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Discount {
    /// `sustained use`, `savings plan`.
    pub what: String,
    #[serde(flatten)]
    pub terms: DiscountTerms,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum DiscountTerms {
    /// For a promise to use it.
    Committed {
        #[serde(with = "rust_decimal::serde::str")]
        percent: Decimal,
        /// Of the time, as far as the promise covers it.
        #[serde(with = "rust_decimal::serde::str")]
        share_percent: Decimal,
    },
    /// The more of a month, the less for the rest of it.
    Sustained { tiers: Vec<SustainedTier> },
    /// The first of every month.
    FreeTime {
        #[serde(with = "rust_decimal::serde::str")]
        seconds_per_month: Decimal,
    },
}

/// Up to this part of a month, that part of the price is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SustainedTier {
    #[serde(with = "rust_decimal::serde::str")]
    pub up_to_percent: Decimal,
    #[serde(with = "rust_decimal::serde::str")]
    pub pays_percent: Decimal,
}

/// How often a provider takes a machine away, and what that loses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interruptions {
    #[serde(with = "rust_decimal::serde::str")]
    pub per_hour: Decimal,
    /// Until the next machine works.
    pub restart_seconds: u32,
    /// Between two states that can be gone on from; none loses everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_seconds: Option<u32>,
    /// A machine taken away sooner is not paid.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unpaid_seconds: u32,
}

/// What is paid beside the time of the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Charge {
    /// `disk`, `data out`.
    pub what: String,
    pub kind: LineKind,
    pub unit: Unit,
    /// Of a unit.
    pub price: Money,
    /// Gigabytes; addresses; of requests, those that were made count.
    #[serde(with = "rust_decimal::serde::str")]
    pub quantity: Decimal,
    /// Units of a month that cost nothing.
    #[serde(with = "rust_decimal::serde::str")]
    pub free: Decimal,
    pub source: String,
    pub date: String,
}

/// What a charge is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    GigabyteMonth,
    Gigabyte,
    Hour,
    MillionRequests,
    /// A fee, spread over the month's hours of use.
    Month,
    Run,
}

impl Unit {
    pub const ALL: [Unit; 6] = [
        Unit::GigabyteMonth,
        Unit::Gigabyte,
        Unit::Hour,
        Unit::MillionRequests,
        Unit::Month,
        Unit::Run,
    ];

    /// As it stands behind a price: `0.08 USD/GB-month`.
    pub fn word(self) -> &'static str {
        match self {
            Unit::GigabyteMonth => "GB-month",
            Unit::Gigabyte => "GB",
            Unit::Hour => "h",
            Unit::MillionRequests => "million requests",
            Unit::Month => "month",
            Unit::Run => "run",
        }
    }

    /// Whether it is paid for as long as the machine is there.
    pub fn is_time(self) -> bool {
        matches!(self, Unit::GigabyteMonth | Unit::Hour | Unit::Month)
    }
}

/// How much is used in a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MonthOfUse {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<Decimal>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<Decimal>,
    /// Sent out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gigabytes: Option<Decimal>,
}

impl MonthOfUse {
    pub fn is_unknown(&self) -> bool {
        *self == MonthOfUse::default()
    }
}

/// Which phases of a run the bill counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PaidPhases {
    /// All of the run's life: what a provider really bills (study C of docs/studies.md).
    All,
    /// Only the phases named: `["train"]` is the arithmetic of study A of docs/studies.md.
    Only(Vec<String>),
    /// Only the time in which requests were handled, as serverless services bill it (study B of
    /// docs/studies.md).
    Requests,
}

/// So many of `to` for one of `from`, on a day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExchangeRate {
    pub from: Currency,
    pub to: Currency,
    #[serde(with = "rust_decimal::serde::str")]
    pub rate: Decimal,
    pub date: String,
    pub source: String,
}

/// The money of one run. The total is the sum of the lines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bill {
    pub lines: Vec<BillLine>,
    pub total: Money,
    /// The total in the study's currency, when that is another one and a rate was given.
    pub converted: Option<ConvertedTotal>,
}

impl Bill {
    /// The total in the currency the study speaks, as far as a rate is known.
    pub fn spoken_total(&self) -> Money {
        self.converted.as_ref().map_or(self.total, |c| c.total)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConvertedTotal {
    pub total: Money,
    pub rate: ExchangeRate,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "BillLineFile")]
pub struct BillLine {
    /// `train`, `startup`, `rounding up to 60 s`.
    pub what: String,
    pub kind: LineKind,
    /// Of machine time; zero where the line is none.
    #[serde(with = "rust_decimal::serde::str")]
    pub seconds: Decimal,
    /// What else was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<Counted>,
    pub amount: Money,
}

/// Units of a charge at their price.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    #[serde(with = "rust_decimal::serde::str")]
    pub quantity: Decimal,
    pub unit: Unit,
    pub unit_price: Money,
    pub source: String,
    pub date: String,
}

/// What a line is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineKind {
    /// A phase, or the whole run.
    Time,
    /// Paid, but nobody used it.
    Rounding,
    /// The same, for a run shorter than what is paid at least.
    Minimum,
    /// Attempts that are expected to be lost.
    Lost,
    Discount,
    FreeTier,
    Requests,
    Disk,
    Storage,
    Traffic,
    Address,
    Fee,
    Tax,
}

impl LineKind {
    /// As it stands in files.
    pub fn word(self) -> &'static str {
        match self {
            LineKind::Time => "time",
            LineKind::Rounding => "rounding",
            LineKind::Minimum => "minimum",
            LineKind::Lost => "lost",
            LineKind::Discount => "discount",
            LineKind::FreeTier => "free-tier",
            LineKind::Requests => "requests",
            LineKind::Disk => "disk",
            LineKind::Storage => "storage",
            LineKind::Traffic => "traffic",
            LineKind::Address => "address",
            LineKind::Fee => "fee",
            LineKind::Tax => "tax",
        }
    }

    /// Paid for time in which nothing ran.
    pub fn is_unused_time(self) -> bool {
        matches!(self, LineKind::Rounding | LineKind::Minimum)
    }
}

/// As lines stand in files; the first ones had no kind but two names.
#[derive(Deserialize)]
struct BillLineFile {
    what: String,
    kind: Option<LineKind>,
    #[serde(with = "rust_decimal::serde::str")]
    seconds: Decimal,
    #[serde(default)]
    counted: Option<Counted>,
    amount: Money,
}

impl From<BillLineFile> for BillLine {
    fn from(line: BillLineFile) -> Self {
        let by_name = || match &line.what {
            what if what.starts_with("rounding up to ") => LineKind::Rounding,
            what if what.starts_with("minimum of ") => LineKind::Minimum,
            _ => LineKind::Time,
        };
        BillLine {
            kind: line.kind.unwrap_or_else(by_name),
            what: line.what,
            seconds: line.seconds,
            counted: line.counted,
            amount: line.amount,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_read_as_people_write_them() {
        let check = |text: &str, expected: &str| {
            let shown = text.parse::<Money>().map_or_else(|e| e, |m| m.to_string());
            assert_eq!(shown, expected, "{text}");
        };
        check("200 USD", "US$ 200.00");
        check("0.0052 USD", "US$ 0.0052");
        check("0.000091234 USD", "US$ 0.000091");
        check("1.005 EUR", "€ 1.00");
        check("-3.5 BRL", "R$ -3.50");
        check("0 CHF", "CHF 0.00");
        check(
            "200",
            "`200` is not an amount with a currency, such as \"200 USD\"",
        );
        check(
            "x USD",
            "`x USD` is not an amount with a currency, such as \"200 USD\"",
        );
        check(
            "1 usd",
            "`usd` is not a currency code such as USD, EUR or BRL",
        );
    }

    #[test]
    fn money_keeps_its_digits_in_files() {
        let money: Money = "0.1000000000000000000000000001 USD".parse().unwrap();
        let json = serde_json::to_string(&money).unwrap();
        assert_eq!(serde_json::from_str::<Money>(&json).unwrap(), money);
    }

    #[test]
    fn lines_of_the_first_files_get_their_kind_by_name() {
        let check = |what: &str, expected: LineKind| {
            let text = format!(
                r#"{{"what": "{what}", "seconds": "1", "amount": {{"amount": "2", "currency": "USD"}}}}"#
            );
            let line: BillLine = serde_json::from_str(&text).unwrap();
            assert_eq!(line.kind, expected, "{what}");
            let again = serde_json::to_string(&line).unwrap();
            assert_eq!(serde_json::from_str::<BillLine>(&again).unwrap(), line);
        };
        check("train", LineKind::Time);
        check("rounding up to 60 s", LineKind::Rounding);
        check("minimum of 60 s", LineKind::Minimum);
    }

    #[test]
    fn a_rule_of_the_first_files_is_a_rule_of_today() {
        let text = r#"{"step_seconds": 1, "minimum_seconds": 60, "paid": "all"}"#;
        let rule: BillingRule = serde_json::from_str(text).unwrap();
        let expected = BillingRule {
            minimum_seconds: 60,
            ..BillingRule::default()
        };
        assert_eq!(rule, expected);
    }
}
