//! Runs that did not have the limits that were asked for, and warnings of many runs in a few lines.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use analyse::CellState;
use common::{Recipe, World, analysis, factor};
use model::{Level, Status, Warning};

/// One factor `cores`, on a machine of 2 cores. With 64, the same 2 were used.
fn world() -> World {
    let recipe = Recipe {
        factors: vec![factor(
            "cores",
            &[Level::from(1), Level::from(2), Level::from(64)],
        )],
        repetitions: 3,
        ..Recipe::default()
    };
    let mut world = recipe.world();
    for record in &mut world.records {
        let cores = record.scenario.level("cores").unwrap().as_float().unwrap();
        record.environment.limits.cores = Some(cores);
        record.machine.usable_cores = 2.0;
    }
    world
}

/// With the warnings that runs get where their limits are beyond their machine.
fn warned(mut world: World) -> World {
    for record in &mut world.records {
        let unmet = record.environment.limits.beyond(&record.machine.capacity());
        let warnings = unmet.into_iter().map(|unmet| Warning::LimitUnmet { unmet });
        record.warnings.extend(warnings);
    }
    world
}

#[test]
fn nothing_is_concluded_from_limits_that_were_not_met() {
    let found = analysis(&warned(world()));
    assert_eq!(found.totals.runs.text(), "6 ok, 3 not measurable");
    let unmeasurable = &found.scenarios[2];
    assert!(unmeasurable.metrics.is_empty() && unmeasurable.cost.is_none());
    assert!(unmeasurable.curve.is_empty());
    assert!(!found.best.is_among_fastest(3) && !found.best.is_among_cheapest(3));
    assert!(found.best.pareto().all(|scenario| scenario != 3));
    for variation in &found.variations {
        assert_eq!(variation.runs, 6, "{}", variation.metric);
    }
    let states: Vec<CellState> = found.sweeps[0].lines[0]
        .cells
        .iter()
        .map(|cell| cell.state)
        .collect();
    let expected = [
        CellState::Measured,
        CellState::Measured,
        CellState::NotMeasurable,
    ];
    assert_eq!(states, expected);
    let [warning] = &found.warnings[..] else {
        panic!("{:?}", found.warnings);
    };
    assert_eq!(
        warning.text,
        "C3-r1, C3-r2 and C3-r3: 64 cores requested, but the machine of the run has 2 cores \
         (excluded from every conclusion)"
    );
    let sentences: Vec<&str> = found
        .findings
        .iter()
        .map(|f| f.text.as_str())
        .chain(found.advice.iter().map(String::as_str))
        .chain(
            found
                .speed_ups
                .iter()
                .flat_map(|s| s.sentences.iter().map(String::as_str)),
        )
        .collect();
    let about_64 = sentences
        .iter()
        .find(|s| s.contains("64 cores") || s.contains("C3"));
    assert_eq!(about_64, None);
}

#[test]
fn not_fitting_in_memory_that_was_not_there_is_no_result() {
    let mut world = world();
    for record in world.records.iter_mut().filter(|r| r.run.scenario == 3) {
        record.environment.limits.cores = None;
        record.environment.limits.memory_bytes = Some(900_000_000_000);
        record.machine.memory_bytes = 24_000_000_000;
        record.outcome.status = Status::OutOfMemory;
    }
    let found = analysis(&warned(world));
    assert_eq!(found.scenarios[2].runs.text(), "3 not measurable");
    assert!(
        !found
            .findings
            .iter()
            .any(|f| f.text.contains("fit in memory"))
    );
}

#[test]
fn the_other_runs_of_a_scenario_count() {
    let mut world = world();
    let larger = world.records.iter_mut().filter(|r| r.run.repetition > 1);
    larger.for_each(|record| record.machine.usable_cores = 64.0);
    let found = analysis(&warned(world));
    assert_eq!(found.scenarios[2].runs.text(), "2 ok, 1 not measurable");
    let time = found.time_metric.as_ref().unwrap();
    assert_eq!(found.scenarios[2].metrics[time].count, 2);
}

#[test]
fn each_log_pattern_has_a_line_of_its_own() {
    let mut world = Recipe::default().world();
    let unmatched = |pattern: &str| Warning::PatternUnmatched {
        pattern: pattern.to_owned(),
    };
    let wrong = |lines, first: &str| Warning::PatternNotANumber {
        pattern: "took (.*)".to_owned(),
        lines,
        first: first.to_owned(),
    };
    for record in &mut world.records {
        record.warnings = vec![unmatched("loss=(.*)"), unmatched("acc=(.*)")];
    }
    world.records[0].warnings.push(wrong(3, "long"));
    world.records[1].warnings.push(wrong(2, "longer"));
    let found = analysis(&world);
    let lines: Vec<&str> = found.warnings.iter().map(|w| w.text.as_str()).collect();
    let [first, second, third] = lines[..] else {
        panic!("{lines:?}");
    };
    let unmatched = |pattern: &str| {
        format!(
            "all 24 runs: the log pattern `{pattern}` matched no line: compare it with log.txt \
             (flagged but included)"
        )
    };
    assert_eq!(first, unmatched("loss=(.*)"));
    assert_eq!(second, unmatched("acc=(.*)"));
    assert!(
        third.starts_with(
            "2 runs (C1-r1 and C6-r1), for example C1-r1: the log pattern `took (.*)` captured `long"
        ),
        "{third}"
    );
}
