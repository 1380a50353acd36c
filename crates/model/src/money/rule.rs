//! Billing rules.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::{LineKind, Money};
use crate::run::phase;

/// How use becomes money: what is counted, what is taken off, and what comes on top.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BillingRule {
    /// Time is rounded up to whole steps. Zero bills the exact time.
    pub step_seconds: u32,
    pub minimum_seconds: u32,
    pub paid: PaidPhases,
    /// How long a machine is kept.
    pub rental: RentalScope,
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
    /// What discounts and free amounts are computed by.
    #[serde(default, skip_serializing_if = "MonthOfUse::is_unknown")]
    pub month: MonthOfUse,
    /// `None` for the study's own.
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
            rental: RentalScope::Study,
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
    /// Whether runs may share a machine: its start, minimum and rounding are then paid together.
    pub fn is_shared(&self) -> bool {
        self.rental == RentalScope::Study && self.paid != PaidPhases::Requests
    }

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
    /// `2017-10-02`: since when it holds; or [`RuleOrigin::SINCE_EVER`].
    pub since: String,
    pub source: String,
}

impl RuleOrigin {
    /// As records have it; who prints it says it in the language of the reader.
    pub const SINCE_EVER: &str = "the beginning";

    pub fn is_since_ever(&self) -> bool {
        self.since == RuleOrigin::SINCE_EVER
    }
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

/// For how long a machine is rented: what is rounded up once and pays its minimum once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RentalScope {
    /// From the first run of an environment to its last, the time between them included.
    #[default]
    Study,
    /// A new machine for every run.
    Run,
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
