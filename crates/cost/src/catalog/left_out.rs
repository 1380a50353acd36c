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
            Reason::Reservation => "reservations (priced for the whole term)",
            Reason::SavingsPlan => "savings plans",
            Reason::LowPriority => "low-priority machines",
            Reason::DevTest => "DevTest prices",
            Reason::OtherSystem => "Windows and other licensed systems",
            Reason::OtherTenancy => "dedicated hosts and tenancy",
            Reason::OtherSoftware => "machines with installed software",
            Reason::CapacityReservation => "capacity reservations",
            Reason::OtherService => "services other than machines",
            Reason::OtherUnit => "units other than hours",
            Reason::OtherUsage => "commitments and other payment models",
            Reason::OtherRegion => "regions that were not requested",
            Reason::Tiered => "tiered prices",
            Reason::NotYet => "prices that start later",
            Reason::Superseded => "older prices of the same machine",
            Reason::PartOfMachine => "parts of no known machine",
            Reason::ZeroPrice => "a price of 0, which means unknown",
            Reason::NoMachine => "machine name missing",
            Reason::NoRegion => "unknown region",
            Reason::GpuMissing => "machines without a price for their GPU",
            Reason::PartMissing => "machines without a price for one of their parts",
            Reason::UnknownShape => "machines of unknown composition",
            Reason::Disagreeing => "contradictory rows for one machine",
            Reason::Negative => "a negative price",
            Reason::NotANumber => "not a number",
            Reason::UnknownCurrency => "unknown currency",
            Reason::BadDate => "invalid date",
            Reason::FutureDate => "date in the future",
            Reason::TooFewCells => "row with too few cells",
            Reason::CutOff => {
                "the last row, which may be truncated: if it is not, end the file with a line break"
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
