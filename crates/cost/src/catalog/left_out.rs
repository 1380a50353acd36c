//! Rows of price lists that were not used: counted, with reasons and examples.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

model::words! {
    /// Why a row is not a price of the catalog.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum Reason {
        // Rows that are right, but of something else.
        Reservation = "reservations (priced for the whole term)",
        SavingsPlan = "savings plans",
        LowPriority = "low-priority machines",
        DevTest = "DevTest prices",
        OtherSystem = "Windows and other licensed systems",
        OtherTenancy = "dedicated hosts and tenancy",
        OtherSoftware = "machines with installed software",
        CapacityReservation = "capacity reservations",
        OtherService = "services other than machines",
        OtherUnit = "units other than hours",
        OtherUsage = "commitments and other payment models",
        OtherRegion = "regions that were not requested",
        Tiered = "tiered prices",
        NotYet = "prices that start later",
        Superseded = "older prices of the same machine",
        PartOfMachine = "parts of no known machine",
        // What cannot be trusted or understood.
        ZeroPrice = "a price of 0, which means unknown",
        NoMachine = "machine name missing",
        NoRegion = "unknown region",
        GpuMissing = "machines without a price for their GPU",
        PartMissing = "machines without a price for one of their parts",
        UnknownShape = "machines of unknown composition",
        Disagreeing = "contradictory rows for one machine",
        Negative = "a negative price",
        NotANumber = "not a number",
        UnknownCurrency = "unknown currency",
        BadDate = "invalid date",
        FutureDate = "date in the future",
        TooFewCells = "row with too few cells",
        CutOff = "the last row, which may be truncated: if it is not, end the file with a line break",
        Malformed = "rows that cannot be read",
    }
}

impl Reason {
    /// Mistakes of the list, or gaps in it; the rest is simply not what is looked for.
    pub fn is_trouble(self) -> bool {
        self >= Reason::ZeroPrice
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
