//! The money of a run, line by line.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::{ExchangeRate, Money, Unit};

/// The money of one run. The total is the sum of the lines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bill {
    pub lines: Vec<BillLine>,
    pub total: Money,
    /// The total in the study's currency, when that is another one and a rate was given.
    pub converted: Option<Box<ConvertedTotal>>,
}

impl Bill {
    /// The total in the study's currency, as far as a rate is known.
    pub fn total_in_study_currency(&self) -> Money {
        self.converted.as_ref().map_or(self.total, |c| c.total)
    }

    /// Whether the total is less than what is to be expected: see [`LineKind::LostCapped`].
    pub fn is_lower_bound(&self) -> bool {
        let is_capped = |line: &BillLine| line.kind == LineKind::LostCapped;
        self.lines.iter().any(is_capped)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConvertedTotal {
    pub total: Money,
    pub rate: ExchangeRate,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BillLine {
    /// `train`, `startup`, `rounding up to 60 s`.
    pub what: String,
    pub kind: LineKind,
    /// Of the run's or its machine's life, where the line pays for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Of machine time; zero for every other line.
    #[serde(with = "rust_decimal::serde::str")]
    pub seconds: Decimal,
    /// The price of an hour on this line; `None` if it is not for time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_hour: Option<Money>,
    /// What else was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<Box<Counted>>,
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

words! {
    /// What a line is for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum LineKind {
        /// A phase, or the whole run.
        Time = "time",
        /// Between the runs of one rental.
        Idle = "idle",
        /// Paid, but nobody used it.
        Rounding = "rounding",
        /// The same, for a run shorter than what is paid at least.
        Minimum = "minimum",
        /// Attempts that are expected to be lost.
        Lost = "lost",
        /// The same where they are too many to count: fewer of them stand on the bill.
        LostCapped = "lost-capped",
        Discount = "discount",
        FreeTier = "free-tier",
        Requests = "requests",
        Disk = "disk",
        Storage = "storage",
        Traffic = "traffic",
        Address = "address",
        Fee = "fee",
        Tax = "tax",
    }
}

impl LineKind {
    pub fn is_lost(self) -> bool {
        matches!(self, LineKind::Lost | LineKind::LostCapped)
    }

    /// Paid for time in which nothing ran.
    pub fn is_unused_time(self) -> bool {
        matches!(
            self,
            LineKind::Idle | LineKind::Rounding | LineKind::Minimum
        )
    }
}
