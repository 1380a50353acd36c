//! Runs where they serve a goal.

use std::collections::{BTreeMap, BTreeSet};

use model::goal::{Goal, Hopeless};
use model::{Outcome, RunId, Status};
use place::{Fake, Fault, Place, Script};
use runner::{Ended, SearchGoal};

use crate::bench::{Bench, Came, fake};

/// 4 × 4 × 3 scenarios of one task.
fn bench(more: &str) -> Bench {
    let text = format!(
        "[study]\nname = \"s\"\nrepetitions = 3\nseed = 5\n{more}\
         [factors]\nm = [1, 4, 16, 64]\nbatch = [8, 32, 128, 512]\nkind = [\"a\", \"b\", \"c\"]\n\
         [workload]\ncommand = [\"true\", \"{{m}}\", \"{{batch}}\", \"{{kind}}\"]\n"
    );
    Bench::of(&text)
}

fn seconds_of(bench: &Bench, scenario: u32) -> f64 {
    let scenario = bench.plan.scenario(scenario).unwrap();
    let number = |name: &str| scenario.level(name).unwrap().as_float().unwrap();
    let kind = match scenario.level("kind").unwrap().as_text().unwrap() {
        "a" => 1.0,
        "b" => 0.8,
        _ => 1.3,
    };
    kind * (1.0 + 100.0 / number("m") + 200.0 / number("batch") + number("batch") / 16.0)
}

fn place(bench: &Bench) -> Fake {
    place_with(bench, |_| None)
}

fn place_with(
    bench: &Bench,
    fault: impl Fn(RunId) -> Option<Fault> + Send + Sync + 'static,
) -> Fake {
    let scenarios = bench.plan.scenarios.iter().map(|scenario| scenario.number);
    let seconds: BTreeMap<u32, f64> = scenarios.map(|n| (n, seconds_of(bench, n))).collect();
    fake(move |order| Script {
        // A little noise that depends on the run alone.
        seconds: seconds[&order.run.scenario]
            * (1.0 + 0.01 * f64::from((order.run.scenario * 7 + order.run.repetition * 3) % 5)),
        fault: fault(order.run),
        ..Script::default()
    })
}

fn goal(bench: &Bench, text: &str) -> Goal {
    plan::read_goal(text, &bench.study).unwrap()
}

fn carry_out(
    bench: &Bench,
    goal: &Goal,
    places: Vec<(&dyn Place, BTreeSet<String>)>,
) -> (Came, model::Searched) {
    let records = bench.records();
    let none = BTreeMap::new();
    let mut search = SearchGoal::new(
        &bench.study,
        &bench.plan,
        goal,
        bench.due(),
        &records,
        &none,
    );
    let came = bench.run_by(&mut search, places);
    let found = search.searched(&bench.records(), &[], None);
    (came, found)
}

fn all() -> BTreeSet<String> {
    ["local".to_owned(), "here".to_owned()].into()
}

fn best(bench: &Bench) -> f64 {
    let scenarios = bench.plan.scenarios.iter();
    let times = scenarios.map(|scenario| seconds_of(bench, scenario.number));
    times.fold(f64::INFINITY, f64::min)
}

#[test]
fn the_fastest_is_found_from_a_part_of_the_runs() {
    let bench = bench("");
    let goal = goal(&bench, "min time");
    let place = place(&bench);
    let (came, found) = carry_out(&bench, &goal, vec![(&place, all())]);
    assert_eq!(came.ended(), Ended::AllDone);
    assert!(found.is_settled);
    let chosen = found.tasks[0].chosen.unwrap();
    assert!(seconds_of(&bench, chosen) <= best(&bench) / 0.95);
    assert!(found.tasks[0].probability >= 0.95);
    let scenarios: BTreeSet<u32> = place.started().iter().map(|run| run.scenario).collect();
    assert!(scenarios.len() < 30, "{} of 48", scenarios.len());
    assert_eq!(found.tried.len(), place.started().len());
}

#[test]
fn a_limit_is_kept_and_failures_are_learned_from() {
    let bench = bench("");
    // The largest batches fail.
    let scenarios = bench.plan.scenarios.iter();
    let large: BTreeSet<u32> = scenarios
        .filter(|s| s.level("batch").unwrap().as_int().unwrap() >= 64)
        .map(|s| s.number)
        .collect();
    let fails = large.clone();
    let place = place_with(&bench, move |run| {
        fails
            .contains(&run.scenario)
            .then_some(Fault::LeavesNoMeasurement)
    });
    let goal = goal(&bench, "min time where total_seconds > 25s");
    let (_, found) = carry_out(&bench, &goal, vec![(&place, all())]);
    let chosen = found.tasks[0].chosen.unwrap();
    assert!(!large.contains(&chosen));
    let seconds = seconds_of(&bench, chosen);
    assert!((24.0..40.0).contains(&seconds), "{seconds}");
}

#[test]
fn the_same_records_give_the_same_runs_after_an_interruption() {
    let whole = {
        let bench = bench("");
        let place = place(&bench);
        carry_out(&bench, &goal(&bench, "min time"), vec![(&place, all())]);
        place.started()
    };
    let bench = bench("");
    let stuck_at = whole[10];
    let seconds: BTreeMap<u32, f64> = bench
        .plan
        .scenarios
        .iter()
        .map(|s| (s.number, seconds_of(&bench, s.number)))
        .collect();
    let stuck = fake(move |order| Script {
        seconds: seconds[&order.run.scenario]
            * (1.0 + 0.01 * f64::from((order.run.scenario * 7 + order.run.repetition * 3) % 5)),
        looks: (order.run != stuck_at).then_some(1),
        ..Script::default()
    });
    let goal = goal(&bench, "min time");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stuck.started().contains(&stuck_at) {
                std::thread::yield_now();
            }
            bench.stop.request_finish();
        });
        let (came, found) = carry_out(&bench, &goal, vec![(&stuck, all())]);
        assert_eq!(came.ended(), Ended::Interrupted);
        assert!(!found.is_settled);
    });
    let bench = Bench {
        stop: model::Stop::new(),
        ..bench
    };
    let rest = place(&bench);
    let (came, _) = carry_out(&bench, &goal, vec![(&rest, all())]);
    assert_eq!(came.ended(), Ended::AllDone);
    assert_eq!(rest.started(), whole[10..]);
}

#[test]
fn a_place_that_dies_costs_no_run() {
    let bench = bench("");
    let dying = place_with(&bench, |_| Some(Fault::Dies));
    let living = place(&bench);
    let goal = goal(&bench, "min time");
    let (came, found) = carry_out(&bench, &goal, vec![(&dying, all()), (&living, all())]);
    assert_eq!(came.ended(), Ended::AllDone);
    assert!(found.is_settled);
    assert!(
        bench
            .statuses()
            .values()
            .all(|status| *status == Status::Ok)
    );
    assert!(living.started().contains(&dying.started()[0]));
}

#[test]
fn the_budget_ends_a_search_that_is_not_settled() {
    let text = "[study]\nname = \"s\"\nrepetitions = 3\nbudget = \"200 USD\"\n\
                [factors]\nn = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]\n\
                [workload]\ncommand = [\"true\", \"{n}\"]\n\
                [environments.here]\nprice = \"3600 USD/h\"\n";
    let bench = Bench::of(text);
    let place = fake(|order| Script {
        seconds: 30.0 + f64::from(order.run.scenario),
        ..Script::default()
    });
    let goal = goal(&bench, "min cost");
    let (came, found) = carry_out(&bench, &goal, vec![(&place, all())]);
    assert_eq!(came.ended(), Ended::BudgetSpent);
    assert!(!found.is_settled);
    assert!(place.started().len() < 8);
}

/// 48 scenarios × 3 repetitions would be paid for, and nothing could be said.
#[test]
fn a_search_ends_where_more_runs_cannot_help() {
    let bench = bench("metrics = [\"score\"]\n");
    let place = place(&bench);
    let (_, found) = carry_out(&bench, &goal(&bench, "max score"), vec![(&place, all())]);
    let metric = "score".to_owned();
    assert_eq!(found.hopeless, Some(Hopeless::NoValue { metric }));
    assert!(place.started().len() <= 10, "{}", place.started().len());
}

#[test]
fn a_search_ends_when_every_level_failed() {
    let bench = bench("");
    let failed = || Outcome {
        status: Status::Failed,
        ..Outcome::ok()
    };
    let place = fake(move |_| Script {
        outcome: failed(),
        ..Script::default()
    });
    let (_, found) = carry_out(&bench, &goal(&bench, "min time"), vec![(&place, all())]);
    assert_eq!(found.hopeless, Some(Hopeless::AllFailed));
    assert_eq!(found.tasks[0].chosen, None);
    assert!(place.started().len() <= 20, "{}", place.started().len());
}
