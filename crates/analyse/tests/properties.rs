//! Whatever happened to the runs, the analysis stands and its sums hold.

mod common;

use common::{Recipe, analysis};
use model::Status;
use proptest::prelude::*;

const STATUSES: [Status; 5] = [
    Status::Ok,
    Status::Failed,
    Status::OutOfMemory,
    Status::TimedOut,
    Status::Interrupted,
];

/// What becomes of one run: kept or not, how it ended, what its numbers turned into.
fn fate() -> impl Strategy<Value = (bool, usize, f64)> {
    let value = prop_oneof![
        8 => Just(f64::INFINITY),
        1 => Just(0.0),
        1 => Just(f64::NAN),
        1 => Just(-1.0),
        1 => Just(1e300),
        1 => Just(1e-300),
    ];
    (
        prop::bool::weighted(0.8),
        prop_oneof![4 => Just(0usize), 1 => 0usize..5],
        value,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics_and_counts_add_up(
        repetitions in 0u32..4,
        noise in prop_oneof![Just(0.0), 0.0..0.5],
        fates in prop::collection::vec(fate(), 24),
    ) {
        let mut world = Recipe { repetitions, noise, ..Recipe::default() }.world();
        let mut fates = fates.into_iter();
        world.records.retain_mut(|record| {
            let Some((kept, status, value)) = fates.next() else { return true };
            record.outcome.status = STATUSES[status];
            // Infinity stands for "as measured" here.
            if value != f64::INFINITY {
                record.metrics.values_mut().for_each(|m| m.value = value);
                record.seconds = value;
            }
            kept
        });
        let found = analysis(&world);
        let per_scenario: usize = found.scenarios.iter().map(|s| s.runs.total()).sum();
        prop_assert_eq!(per_scenario, world.records.len());
        prop_assert_eq!(found.totals.runs.total(), world.records.len());
        prop_assert_eq!(found.totals.missing, found.totals.planned - world.records.len());
        prop_assert_eq!(found.runs.len(), world.records.len());
        let ended_badly: usize = found.outcomes.iter().map(|o| o.runs.len()).sum();
        prop_assert_eq!(ended_badly + found.totals.runs.ok, world.records.len());
        for row in &found.runs {
            prop_assert_eq!(row.values.len(), found.metrics.len());
        }
        for variation in &found.variations {
            for term in &variation.terms {
                prop_assert!(term.share.is_finite(), "{:?}", term);
            }
        }
    }
}
