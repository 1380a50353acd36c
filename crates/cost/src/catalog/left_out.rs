//! Rows of price lists that were not used: counted, with reasons and examples.

use std::collections::BTreeMap;
use std::fmt;

/// Why a row is not a price of the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    // Rows that are right, but of something else.
    Reservation,
    SavingsPlan,
    LowPriority,
    DevTest,
    OtherSystem,
    OtherTenancy,
    OtherSoftware,
    CapacityReservation,
    OtherService,
    OtherUnit,
    OtherUsage,
    OtherRegion,
    Tiered,
    NotYet,
    Superseded,
    PartOfMachine,
    // What cannot be trusted or understood.
    ZeroPrice,
    NoMachine,
    NoRegion,
    GpuMissing,
    PartMissing,
    UnknownShape,
    Disagreeing,
    Negative,
    NotANumber,
    UnknownCurrency,
    BadDate,
    FutureDate,
    TooFewCells,
    CutOff,
    Malformed,
}

impl Reason {
    /// Mistakes of the list, or gaps in it; the rest is simply not what is looked for.
    pub fn is_trouble(self) -> bool {
        self >= Reason::ZeroPrice
    }

    pub fn words(self) -> &'static str {
        match self {
            Reason::Reservation => {
                "reservations (the price of the whole term, whatever its unit says)"
            }
            Reason::SavingsPlan => "savings plans",
            Reason::LowPriority => "low-priority machines",
            Reason::DevTest => "DevTest prices",
            Reason::OtherSystem => "Windows and other systems with a licence",
            Reason::OtherTenancy => "dedicated hosts and tenancy",
            Reason::OtherSoftware => "machines with installed software",
            Reason::CapacityReservation => "capacity reservations",
            Reason::OtherService => "other services than machines",
            Reason::OtherUnit => "other units than hours",
            Reason::OtherUsage => "commitments and other ways to pay",
            Reason::OtherRegion => "other regions than asked for",
            Reason::Tiered => "prices in tiers",
            Reason::NotYet => "prices that begin later",
            Reason::Superseded => "older prices of the same machine",
            Reason::PartOfMachine => "parts no known machine is made of",
            Reason::ZeroPrice => "a price of 0, which means unknown",
            Reason::NoMachine => "no machine named",
            Reason::NoRegion => "no known region",
            Reason::GpuMissing => "machines whose GPU is priced apart, and that price is not there",
            Reason::PartMissing => "machines of which the price of a part is not there",
            Reason::UnknownShape => "machines of unknown composition",
            Reason::Disagreeing => "rows of one machine that disagree",
            Reason::Negative => "a negative price",
            Reason::NotANumber => "not a number",
            Reason::UnknownCurrency => "an unknown currency",
            Reason::BadDate => "an invalid date",
            Reason::FutureDate => "a date in the future",
            Reason::TooFewCells => "a row with too few cells",
            Reason::CutOff => {
                "the last row, which may be cut off: end the file with a line break if it is not"
            }
            Reason::Malformed => "rows that cannot be read",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.words())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeftOut {
    pub count: u64,
    /// The first of them: `vms.csv:12: m5.large: 0.0`.
    pub examples: Vec<String>,
}

/// What was left out of one list or of several.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    reasons: BTreeMap<Reason, LeftOut>,
}

const MOST_EXAMPLES: usize = 3;

impl Tally {
    /// `place` is made only for those that are shown.
    pub fn count(&mut self, reason: Reason, place: impl FnOnce() -> String) {
        let left_out = self.reasons.entry(reason).or_default();
        left_out.count += 1;
        if left_out.examples.len() < MOST_EXAMPLES {
            left_out.examples.push(place());
        }
    }

    pub fn add(&mut self, other: Tally) {
        for (reason, more) in other.reasons {
            let left_out = self.reasons.entry(reason).or_default();
            left_out.count += more.count;
            let room = MOST_EXAMPLES.saturating_sub(left_out.examples.len());
            left_out
                .examples
                .extend(more.examples.into_iter().take(room));
        }
    }

    pub fn of(&self, reason: Reason) -> u64 {
        self.reasons
            .get(&reason)
            .map_or(0, |left_out| left_out.count)
    }

    pub fn total(&self) -> u64 {
        self.reasons.values().map(|left_out| left_out.count).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.reasons.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (Reason, &LeftOut)> {
        self.reasons
            .iter()
            .map(|(reason, left_out)| (*reason, left_out))
    }
}
