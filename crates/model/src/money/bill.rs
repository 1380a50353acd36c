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
