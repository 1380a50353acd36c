//! Laws of every design.

use std::collections::{BTreeMap, BTreeSet};

use model::study::Exclusion;
use model::{CommandWorkload, Currency, Factor, Level, Plan, RunId, RunSequence, Study, Workload};
use plan::{plan, same_level};
use proptest::prelude::*;

fn study(factors: Vec<Factor>, exclude: Vec<Exclusion>) -> Study {
    Study {
        name: "s".to_owned(),
        objective: None,
        repetitions: 1,
        seed: 1,
        order: RunSequence::Blocks,
        budget: None,
        currency: Currency::USD,
        rates: vec![],
        factors,
        exclude,
        design: Default::default(),
        workload: Workload::Command(CommandWorkload {
            command: vec![],
            env: BTreeMap::new(),
            directory: None,
            inputs: Vec::new(),
            log: vec![],
        }),
        environments: vec![],
        measure: model::study::MeasureSettings {
            interval_seconds: 1.0,
            timeout_seconds: None,
            grace_seconds: 5.0,
        },
        metrics: vec![],
        target_accuracy_percent: None,
        roles: BTreeMap::new(),
        equal_within_percent: None,
        pareto: Vec::new(),
        carbon: None,
        until: None,
        goal: None,
        import: None,
        network_files: Default::default(),
        scale: None,
    }
}

/// Up to four factors `f0`, `f1`, … of one to four levels, with up to three exclusions.
fn some_study() -> impl Strategy<Value = Study> {
    let counts = prop::collection::vec(1i64..5, 0..5);
    let rules = prop::collection::vec(prop::collection::vec((0usize..4, 0i64..4), 1..3), 0..4);
    let order = prop_oneof![
        Just(RunSequence::Blocks),
        Just(RunSequence::Random),
        Just(RunSequence::Listed)
    ];
    (counts, rules, order, 1u32..5, any::<u64>()).prop_map(
        |(counts, rules, order, repetitions, seed)| {
            let factor = |(index, count): (usize, &i64)| Factor {
                name: format!("f{index}"),
                levels: (0..*count).map(Level::Int).collect(),
            };
            let factors = counts.iter().enumerate().map(factor).collect();
            let rule = |conditions: &Vec<(usize, i64)>| -> Exclusion {
                conditions
                    .iter()
                    .map(|(f, l)| (format!("f{f}"), Level::Int(*l)))
                    .collect()
            };
            let exclude = rules.iter().map(rule).collect();
            Study {
                order,
                repetitions,
                seed,
                ..study(factors, exclude)
            }
        },
    )
}

fn is_excluded(study: &Study, scenario: &model::Scenario) -> bool {
    let has = |(factor, level): (&String, &Level)| {
        scenario
            .level(factor)
            .is_some_and(|own| same_level(own, level))
    };
    study.exclude.iter().any(|rule| rule.iter().all(has))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_scenario_is_run_as_often_as_asked(study in some_study()) {
        let plan = plan(&study);
        let runs: BTreeSet<RunId> = plan.runs.iter().copied().collect();
        prop_assert_eq!(runs.len(), plan.runs.len());
        prop_assert_eq!(runs.len(), plan.scenarios.len() * study.repetitions as usize);
        for scenario in &plan.scenarios {
            for repetition in 1..=study.repetitions {
                let run = RunId { scenario: scenario.number, repetition };
                prop_assert!(runs.contains(&run));
            }
        }
    }

    #[test]
    fn numbers_are_closed_up_and_levels_in_order(study in some_study()) {
        let plan = plan(&study);
        let numbers: Vec<u32> = plan.scenarios.iter().map(|s| s.number).collect();
        prop_assert_eq!(numbers, (1..=plan.scenarios.len() as u32).collect::<Vec<_>>());
        let levels: Vec<Vec<i64>> = plan.scenarios.iter()
            .map(|s| s.levels.iter().filter_map(|l| l.level.as_int()).collect())
            .collect();
        // Levels are 0, 1, …: first factor slowest means sorted, and no two alike.
        prop_assert!(levels.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn exclusions_leave_out_what_they_say_and_nothing_else(study in some_study()) {
        let all = plan(&Study { exclude: vec![], ..study.clone() });
        let kept = plan(&study);
        prop_assert!(kept.scenarios.iter().all(|s| !is_excluded(&study, s)));
        let expected = all.scenarios.iter().filter(|s| !is_excluded(&study, s)).count();
        prop_assert_eq!(kept.scenarios.len(), expected);
    }

    #[test]
    fn a_block_is_one_repetition_of_everything(study in some_study()) {
        let plan = plan(&Study { order: RunSequence::Blocks, ..study.clone() });
        for (index, block) in plan.runs.chunks(plan.scenarios.len().max(1)).enumerate() {
            prop_assert!(block.iter().all(|run| run.repetition as usize == index + 1));
        }
    }

    #[test]
    fn the_same_study_gives_the_same_plan(study in some_study()) {
        prop_assert_eq!(plan(&study), plan(&study.clone()));
    }

    #[test]
    fn more_repetitions_leave_the_first_blocks_alone(study in some_study()) {
        let study = Study { order: RunSequence::Blocks, ..study };
        let more = plan(&Study { repetitions: study.repetitions + 2, ..study.clone() });
        let fewer = plan(&study);
        prop_assert_eq!(&more.runs[..fewer.runs.len()], &fewer.runs[..]);
    }
}

fn eight_scenarios(order: RunSequence, seed: u64) -> Plan {
    let factor = Factor {
        name: "n".to_owned(),
        levels: (1..=8).map(Level::Int).collect(),
    };
    plan(&Study {
        order,
        seed,
        repetitions: 2,
        ..study(vec![factor], vec![])
    })
}

fn told(plan: &Plan) -> String {
    let runs: Vec<String> = plan.runs.iter().map(ToString::to_string).collect();
    runs.join(" ")
}

#[test]
fn other_seeds_give_other_orders() {
    let orders: BTreeSet<String> = (0..100)
        .map(|seed| told(&eight_scenarios(RunSequence::Blocks, seed)))
        .collect();
    assert_eq!(orders.len(), 100);
    let plan = eight_scenarios(RunSequence::Blocks, 1);
    let block = |range: std::ops::Range<usize>| {
        plan.runs[range]
            .iter()
            .map(|r| r.scenario)
            .collect::<Vec<_>>()
    };
    assert_ne!(block(0..8), block(8..16));
}

/// A seed promises an order, in every version to come. If this fails, the code is wrong.
#[test]
fn orders_never_change() {
    let check =
        |order, seed, expected: &str| assert_eq!(told(&eight_scenarios(order, seed)), expected);
    check(
        RunSequence::Listed,
        1,
        "C1-r1 C2-r1 C3-r1 C4-r1 C5-r1 C6-r1 C7-r1 C8-r1 C1-r2 C2-r2 C3-r2 C4-r2 C5-r2 C6-r2 C7-r2 C8-r2",
    );
    check(
        RunSequence::Blocks,
        2024,
        "C5-r1 C4-r1 C8-r1 C2-r1 C6-r1 C3-r1 C1-r1 C7-r1 C7-r2 C1-r2 C2-r2 C4-r2 C6-r2 C8-r2 C5-r2 C3-r2",
    );
    check(
        RunSequence::Random,
        2024,
        "C1-r2 C4-r2 C8-r1 C6-r2 C1-r1 C7-r1 C3-r1 C2-r2 C3-r2 C4-r1 C5-r2 C6-r1 C2-r1 C5-r1 C8-r2 C7-r2",
    );
}

#[test]
fn an_exclusion_without_conditions_excludes_nothing() {
    let factor = Factor {
        name: "n".to_owned(),
        levels: vec![Level::Int(1)],
    };
    assert_eq!(
        plan(&study(vec![factor], vec![Exclusion::new()]))
            .scenarios
            .len(),
        1
    );
}

#[test]
fn whole_numbers_and_floats_of_one_value_are_one_level() {
    let check = |a, b, expected| assert_eq!(same_level(&a, &b), expected);
    check(Level::Int(64), Level::Float(64.0), true);
    check(Level::Int(64), Level::Float(64.5), false);
    check(Level::Int(i64::MAX), Level::Int(i64::MAX - 1), false);
    check(Level::Text("64".to_owned()), Level::Int(64), false);
    check(Level::Bool(true), Level::Bool(true), true);
}
