//! What is recommended, how sure it is and what it saves: for each, data for which it must not be said.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use analyse::{Against, Analysis, Answer, Goal, Pick, Verdict, analyse};
use common::{Recipe, World, factor};
use model::run::metric;
use model::{Level, Metric, Role, RunRecord, Status};

/// Scenarios of one factor that may be chosen, for each of the tasks.
fn world(tasks: u32, choices: u32, repetitions: u32) -> World {
    let named = |word: &str, count: u32| -> Vec<Level> {
        let names = (1..=count).map(|n| Level::from(format!("{word}{n}").as_str()));
        names.collect()
    };
    let mut world = Recipe {
        factors: vec![
            factor("network", &named("task", tasks)),
            factor("stack", &named("choice", choices)),
        ],
        repetitions,
        noise: 0.0,
        ..Recipe::default()
    }
    .world();
    world.study.roles = [("network".to_owned(), Role::Task)].into();
    world
}

fn run(record: &mut RunRecord, seconds: f64, dollars: f64) {
    let wobble = [1.0, 1.01, 0.99, 1.004, 0.996][record.run.repetition as usize - 1];
    let metric = Metric {
        value: seconds * wobble,
        unit: "s".to_owned(),
    };
    record
        .metrics
        .insert(metric::TRAIN_SECONDS.to_owned(), metric);
    record.seconds = seconds * wobble;
    let bill = record.bill.as_mut().unwrap();
    bill.total = format!("{:.6} USD", dollars * wobble).parse().unwrap();
    bill.converted = None;
}

/// Each scenario's seconds and dollars, in their order.
fn timed(mut world: World, each: &[(f64, f64)]) -> World {
    for record in &mut world.records {
        let (seconds, dollars) = each[record.run.scenario as usize - 1];
        run(record, seconds, dollars);
    }
    world
}

fn found(world: &World) -> Analysis {
    analyse(&world.input())
}

fn answer(world: &World) -> Answer {
    found(world).answer
}

fn saving(pick: &Pick, metric: &str, against: Against) -> Option<(u32, f64)> {
    let mut own = pick.savings.iter();
    let found = own.find(|s| s.metric == metric && s.against == against)?;
    assert!(found.low <= found.part && found.part <= found.high);
    Some((found.scenario, found.part))
}

fn said(answer: &Answer) -> String {
    let each = answer.recommendations.iter();
    let lines = each.map(|r| {
        format!(
            "{} | {} | {} | {}",
            r.choices.join(" or "),
            r.what,
            r.how_sure,
            r.saves.join(" ")
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_best_saves_what_it_takes_less_than_the_usual_and_the_worst() {
    let world = timed(
        world(1, 3, 5),
        &[(100.0, 0.010), (25.0, 0.005), (200.0, 0.020)],
    );
    let answer = answer(&world);
    let [task] = answer.tasks.as_slice() else {
        panic!("one task")
    };
    let [pick] = task.picks.as_slice() else {
        panic!("one pick for time and cost")
    };
    assert_eq!(task.usual, Some(1));
    assert_eq!(pick.goal, Goal::CheapestAndFastest);
    assert_eq!(
        (pick.scenarios.as_slice(), pick.verdict),
        (&[2][..], Verdict::Different)
    );
    let near = |found: Option<(u32, f64)>, scenario: u32, part: f64| {
        let (of, value) = found.unwrap();
        assert_eq!(of, scenario);
        assert!((value - part).abs() < 1e-6, "{value} is not {part}");
    };
    near(saving(pick, metric::TRAIN_SECONDS, Against::Usual), 1, 0.75);
    near(
        saving(pick, metric::TRAIN_SECONDS, Against::Worst),
        3,
        0.875,
    );
    near(saving(pick, metric::COST, Against::Usual), 1, 0.5);
    near(saving(pick, metric::COST, Against::Worst), 3, 0.75);
    let money = pick.savings.iter().find_map(|s| s.money).unwrap();
    assert_eq!(money.to_string(), "US$ 0.0050");
    assert_eq!(answer.nothing, None);
    let said = said(&answer);
    assert!(
        said.starts_with("choice2 | cheapest and fastest | Settled: best in all resamplings"),
        "{said}"
    );
    assert!(
        said.contains("Costs 50 % less than the usual choice (C1) ["),
        "{said}"
    );
    assert!(
        said.contains("Takes 88 % less time than the worst choice (C3) ["),
        "{said}"
    );
}

#[test]
fn cheapest_and_fastest_are_two_recommendations_where_they_differ() {
    let world = timed(world(1, 2, 5), &[(100.0, 0.005), (25.0, 0.010)]);
    let answer = answer(&world);
    let goals: Vec<_> = answer.tasks[0]
        .picks
        .iter()
        .map(|p| (p.goal, p.scenarios[0]))
        .collect();
    assert_eq!(goals, [(Goal::Cheapest, 1), (Goal::Fastest, 2)]);
    let cheapest = &answer.recommendations[0];
    assert_eq!(
        cheapest.saves[0],
        "It is the usual choice: what the study lists first."
    );
    // The fastest is said to save time, never money.
    let fastest = &answer.tasks[0].picks[1];
    assert_eq!(saving(fastest, metric::COST, Against::Usual), None);
    assert!(!answer.recommendations[1].saves.join(" ").contains("Costs"));
}

#[test]
fn a_tie_names_the_candidates_and_saves_nothing() {
    // The same means, and runs that differ by a quarter.
    let mut world = timed(world(1, 2, 4), &[(100.0, 0.01), (100.0, 0.01)]);
    for record in &mut world.records {
        // Not in step: what a repetition has in common would be taken out.
        let place = record.run.repetition * record.run.scenario;
        let noise = [0.9, 0.75, 1.25, 1.1][place as usize % 4];
        let shift = if record.run.scenario == 2 { 1.02 } else { 1.0 };
        run(record, 100.0 * noise * shift, 0.01 * noise * shift);
    }
    let answer = answer(&world);
    let pick = &answer.tasks[0].picks[0];
    assert_eq!(pick.verdict, Verdict::Inconclusive);
    assert_eq!(pick.scenarios, [1, 2]);
    assert!(pick.savings.is_empty());
    let said = said(&answer);
    assert!(
        said.starts_with("choice1 or choice2 | candidates for cheapest and fastest | Not settled"),
        "{said}"
    );
    assert!(!said.contains("less"), "{said}");
    assert!(said.contains("no saving is shown"), "{said}");
}

#[test]
fn practically_equal_ones_are_all_named_and_called_so() {
    let mut world = timed(world(1, 3, 5), &[(1.0, 1.0); 3]);
    for record in &mut world.records {
        let steady = 1.0 + 1e-4 * f64::from(record.run.repetition % 3);
        let times = [1.0, 1.00002, 2.0][record.run.scenario as usize - 1] * steady;
        // The noise of `run` is taken out again.
        let wobble = [1.0, 1.01, 0.99, 1.004, 0.996][record.run.repetition as usize - 1];
        run(record, 100.0 * times / wobble, 0.01 * times / wobble);
    }
    let answer = answer(&world);
    let pick = &answer.tasks[0].picks[0];
    assert_eq!(
        (pick.scenarios.len(), pick.verdict),
        (2, Verdict::PracticallyEqual)
    );
    let said = said(&answer);
    assert!(said.contains("Practically equal, within 2 %"), "{said}");
    assert!(
        said.contains("The best as measured costs 50 % less than the worst choice (C3)"),
        "{said}"
    );
    assert!(!said.contains("Settled: best"), "{said}");
}

#[test]
fn nothing_is_recommended_where_nothing_is_known() {
    let once = timed(world(1, 2, 1), &[(100.0, 0.01), (50.0, 0.005)]);
    let nothing = |world: &World| {
        let answer = answer(world);
        assert!(answer.recommendations.is_empty(), "{}", said(&answer));
        answer.nothing.unwrap()
    };
    assert!(nothing(&once).contains("one repetition"));
    assert!(
        answer(&once).tasks[0]
            .picks
            .iter()
            .all(|pick| pick.savings.is_empty())
    );

    assert!(nothing(&world(1, 2, 0)).contains("No run has been measured"));

    let mut failed = timed(world(1, 2, 3), &[(100.0, 0.01), (50.0, 0.005)]);
    for record in &mut failed.records {
        record.outcome.status = Status::Failed;
    }
    assert!(nothing(&failed).contains("No run was successful"));

    // The faster one failed once, so it is not ranked, and there is nothing to compare the other with.
    let mut half = timed(world(1, 2, 3), &[(100.0, 0.01), (50.0, 0.005)]);
    half.end_as("C2-r1", Status::OutOfMemory, "killed");
    assert!(nothing(&half).contains("no two scenarios"));
    let cautions = answer(&half).cautions.join(" ");
    assert!(cautions.contains("Not ranked: C2 ("), "{cautions}");

    let tasks_alone = timed(world(3, 1, 3), &[(1.0, 0.01), (2.0, 0.02), (3.0, 0.03)]);
    assert!(nothing(&tasks_alone).contains("nothing to choose"));
    let times = [(1.0, 0.01), (2.0, 0.02), (3.0, 0.03), (4.0, 0.04)];
    let mut one_each = timed(world(2, 2, 3), &times);
    one_each
        .records
        .retain(|record| record.run.scenario % 2 == 1);
    let said = nothing(&one_each);
    assert!(!said.contains("one scenario was measured"), "{said}");
    assert!(said.contains("No task has two scenarios"), "{said}");
}

#[test]
fn tasks_with_one_answer_share_it() {
    let each = [
        (100.0, 0.010),
        (50.0, 0.005),
        (300.0, 0.030),
        (100.0, 0.010),
        (100.0, 0.010),
        (900.0, 0.090),
    ];
    let answer = answer(&timed(world(3, 2, 5), &each));
    let said = said(&answer);
    let [most, other] = answer.recommendations.as_slice() else {
        panic!("two answers: {said}")
    };
    assert_eq!(
        (most.tasks.as_slice(), other.tasks.as_slice()),
        (&[0, 1][..], &[2][..])
    );
    assert_eq!(most.what, "cheapest and fastest for task1; task2");
    // From the narrowest end of the smaller saving to the widest end of the larger.
    assert!(most.saves[0].starts_with("Costs 4"), "{said}");
    assert!(
        most.saves[0]
            .contains("less than the usual choice, which is the worst, depending on the task"),
        "{said}"
    );
    assert!(
        other.saves[0].starts_with("It is the usual choice"),
        "{said}"
    );
}

#[test]
fn without_the_usual_choice_nothing_is_compared_with_it() {
    let mut world = timed(
        world(1, 3, 3),
        &[(100.0, 0.01), (50.0, 0.005), (200.0, 0.02)],
    );
    world.records.retain(|record| record.run.scenario != 1);
    let answer = answer(&world);
    assert_eq!(answer.tasks[0].usual, None);
    let said = said(&answer);
    assert!(!said.contains("usual"), "{said}");
    assert!(said.contains("the worst choice (C3)"), "{said}");
}

#[test]
fn cautions_are_those_that_may_change_the_decision() {
    let mut world = timed(world(1, 2, 3), &[(100.0, 0.01), (50.0, 0.005)]);
    for record in &mut world.records {
        record.machine.usable_cores = 2.0;
        record.environment.limits.cores = None;
    }
    let busy = model::Warning::FewerCores {
        got: 0.5,
        asked: 2.0,
    };
    let plain = answer(&world).cautions;
    assert!(!plain.join(" ").contains("busy"), "{plain:?}");
    world.record("C1-r1").warnings.push(busy);
    world
        .record("C1-r1")
        .warnings
        .push(model::Warning::Governor {
            governor: "powersave".to_owned(),
        });
    let with = answer(&world).cautions.join("\n");
    assert!(with.contains("the machine was busy"), "{with}");
    assert!(!with.contains("governor"), "{with}");
    let priced = world.records[0]
        .price
        .as_ref()
        .unwrap()
        .shape
        .vcpus
        .is_some();
    assert_eq!(with.contains("is not a prediction"), priced, "{with}");
}
