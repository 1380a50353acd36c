//! How the billed time of a machine relates to the runs.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;

use crate::charge::Interval;
use crate::estimate::Group;
use crate::ledger::{BucketKey, Ledger};

/// Billed seconds; the parts sum to `billed`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct MachineTime {
    pub(crate) billed: Decimal,
    pub(crate) in_runs: Decimal,
    pub(crate) before: Decimal,
    pub(crate) between: Decimal,
    pub(crate) after: Decimal,
}

/// Of the resources given, all of one group.
///
/// A row says how long a machine was on in an hour or a day, not when in it. Run time in that
/// stretch takes of it first, then the gaps between runs; the rest is divided between the time
/// before the first and after the last run in proportion. Shorter stretches choose first, and
/// run time that one has taken no other gets.
pub(crate) fn machine_time(
    ledger: &Ledger,
    group: &Group,
    resources: &BTreeSet<u32>,
) -> MachineTime {
    let mut time = MachineTime::default();
    let mut buckets: BTreeMap<Interval, Decimal> = BTreeMap::new();
    for (BucketKey { resource, time }, seconds) in &ledger.buckets {
        if resources.contains(resource) {
            *buckets.entry(*time).or_default() += seconds;
        }
    }
    for id in resources {
        let Some(resource) = ledger.resources.get(*id as usize) else {
            continue;
        };
        time.billed += resource.seconds;
        time.before += resource.before_seconds;
        time.after += resource.after_seconds;
    }
    let mut ordered: Vec<(Interval, Decimal)> = buckets.into_iter().collect();
    ordered.sort_by_key(|(time, _)| (time.end_ms - time.start_ms, time.start_ms));
    let mut run_time = RunTime::new(group, &ordered);
    for (stretch, seconds) in ordered {
        let in_runs = run_time.take(stretch, seconds);
        time.in_runs += in_runs;
        time.put_outside(seconds - in_runs, stretch, group);
    }
    // Time without a date can lie anywhere.
    time.between = time.billed - time.in_runs - time.before - time.after;
    time
}

/// Run time that no row has paid yet, in pieces by their beginning. No stretch of a row begins
/// or ends within a piece.
struct RunTime {
    pieces: BTreeMap<i64, Decimal>,
}

impl RunTime {
    fn new(group: &Group, stretches: &[(Interval, Decimal)]) -> RunTime {
        let ends = stretches
            .iter()
            .flat_map(|(stretch, _)| [stretch.start_ms, stretch.end_ms]);
        let mut cuts: Vec<i64> = group.timeline.moments().chain(ends).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let pieces = cuts.windows(2).filter_map(|pair| {
            let run_ms = group.timeline.run_ms(Interval {
                start_ms: pair[0],
                end_ms: pair[1],
            });
            (run_ms > 0).then(|| (pair[0], from_ms(run_ms)))
        });
        RunTime {
            pieces: pieces.collect(),
        }
    }

    /// At most so many seconds of the run time within the stretch; they are gone then.
    fn take(&mut self, stretch: Interval, seconds: Decimal) -> Decimal {
        let mut taken = Decimal::ZERO;
        while taken < seconds {
            let mut inside = self.pieces.range_mut(stretch.start_ms..stretch.end_ms);
            let Some((&start, left)) = inside.next() else {
                break;
            };
            let part = (*left).min(seconds - taken);
            taken += part;
            *left -= part;
            if left.is_zero() {
                self.pieces.remove(&start);
            }
        }
        taken
    }
}

impl MachineTime {
    fn put_outside(&mut self, seconds: Decimal, stretch: Interval, group: &Group) {
        let gaps = group.timeline.gaps(stretch);
        let rest = seconds - seconds.min(from_ms(gaps.between_ms));
        let outer_ms = gaps.before_ms + gaps.after_ms;
        if rest <= Decimal::ZERO || outer_ms == 0 {
            return;
        }
        let before = rest
            .checked_mul(Decimal::from(gaps.before_ms))
            .and_then(|product| product.checked_div(Decimal::from(outer_ms)))
            .unwrap_or(rest)
            .round_dp(3);
        self.before += before;
        self.after += rest - before;
    }
}

pub(crate) fn from_ms(ms: i64) -> Decimal {
    Decimal::new(ms, 3)
}
