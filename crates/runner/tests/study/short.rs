//! Short runs of a search, before whole ones.

use std::collections::{BTreeMap, BTreeSet};

use model::event::CountUnit;
use model::measurement::Foreseen;
use model::run::{Origin, phase};
use model::{Order, Phase, Scenario, Work};
use place::{Fake, Script};
use runner::{
    Ended, Ledger, OrderBuilder, Preview, RunForecast, SHORT_FOLDER, SearchGoal, ShortOrders,
    ShortRuns, short_records,
};
use store::{Store, StudyIdentity};

use crate::bench::{Bench, fake};

/// 36 trainings of 4,000 steps and more.
const STUDY: &str = "[study]\nname = \"s\"\nrepetitions = 2\nseed = 5\n\
    [factors]\nbatch = [1, 2, 4, 8, 16, 32]\nlearning_rate = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]\n\
    [workload]\nnetwork = \"lenet5\"\nimages = 6400\nepochs = 20\n\
    [environments.here]\nprice = \"36 USD/h\"\n";

fn seconds(scenario: &Scenario) -> f64 {
    let number = |name: &str| scenario.level(name).unwrap().as_float().unwrap();
    let batch = number("batch");
    100.0 * (1.0 + 8.0 / batch + batch / 8.0) * (1.0 + number("learning_rate"))
}

fn is_beginning(order: &Order) -> bool {
    matches!(&order.work, Work::Train(train) if train.job.preview.is_some())
}

/// A beginning takes a twentieth of the run and foresees it but for 2 %.
fn place(bench: &Bench) -> Fake {
    let scenarios = bench.plan.scenarios.iter();
    let seconds: BTreeMap<u32, f64> = scenarios.map(|s| (s.number, seconds(s))).collect();
    fake(move |order| {
        let whole = seconds[&order.run.scenario];
        let foreseen = is_beginning(order).then_some(Foreseen {
            unit: CountUnit::Steps,
            done: 200.0,
            total: 4000.0,
            total_seconds: whole * 1.02,
            relative_error: 0.01,
        });
        Script {
            seconds: if foreseen.is_some() {
                whole / 20.0
            } else {
                whole
            },
            foreseen,
            ..Script::default()
        }
    })
}

/// Of every scenario, with so much of it before the training.
fn expected(bench: &Bench, startup: f64) -> BTreeMap<u32, RunForecast> {
    let phase = |name: &str, seconds: f64| Phase {
        name: name.to_owned(),
        begin_seconds: 0.0,
        seconds,
    };
    let of = |scenario: &Scenario| {
        let all = seconds(scenario);
        let phases = vec![
            phase(phase::STARTUP, startup * all),
            phase(phase::TRAIN, (1.0 - startup) * all),
        ];
        (scenario.number, RunForecast::exactly(phases))
    };
    bench.plan.scenarios.iter().map(of).collect()
}

fn short_orders(
    bench: &Bench,
    goal: &str,
    expected: &BTreeMap<u32, RunForecast>,
) -> Option<ShortOrders> {
    let folder = bench.folder.path();
    let mut builder = OrderBuilder::new(&bench.study, folder, folder);
    builder.preview = Some(Preview::default());
    let orders = builder.of_runs(&bench.plan, &bench.plan.runs).unwrap();
    let goal = plan::read_goal(goal, &bench.study).unwrap();
    ShortOrders::of(orders, &goal, expected)
}

#[test]
fn many_scenarios_are_tried_short_and_the_best_is_run_whole() {
    let bench = Bench::of(STUDY);
    let goal = plan::read_goal("min cost", &bench.study).unwrap();
    let expected = expected(&bench, 0.02);
    let orders = short_orders(&bench, "min cost", &expected).unwrap();
    assert!(orders.share < 0.1, "{}", orders.share);
    let results = bench.store();
    let identity = StudyIdentity {
        name: bench.study.name.clone(),
        fingerprint: plan::digest(&bench.study),
    };
    let store = Store::create_or_open(&results.dir().join(SHORT_FOLDER), &identity).unwrap();
    let _lock = store.lock().unwrap();
    let none = BTreeMap::new();
    let search = SearchGoal::new(&bench.study, &bench.plan, &goal, bench.due(), &[], &none);
    let mut search = search.with_short_runs(Some(orders.share));
    let place = place(&bench);
    let here: BTreeSet<String> = ["here".to_owned()].into();
    let short = ShortRuns {
        store: &store,
        orders: &orders,
    };
    let came = bench.run_with(&mut search, vec![(&place, here)], Some(short));
    assert_eq!(came.ended(), Ended::AllDone);

    let whole = bench.records();
    let beginnings = short_records(&results).unwrap();
    let found = search.searched(&whole, &beginnings, None);
    let chosen = found.tasks[0].chosen.unwrap();
    let times = bench.plan.scenarios.iter().map(seconds);
    let best = times.fold(f64::INFINITY, f64::min);
    let own = seconds(bench.plan.scenario(chosen).unwrap());
    assert!(found.is_settled && own <= best / 0.95, "{own} {best}");
    // What was chosen was carried out to its end; results have whole runs alone.
    assert!(whole.iter().any(|record| record.run.scenario == chosen));
    assert!(
        whole
            .iter()
            .all(|record| matches!(record.origin, Origin::Measured { .. }))
    );
    assert!(
        beginnings
            .iter()
            .all(|record| record.prediction().is_some())
    );
    let tried = |is_short: bool| {
        found
            .tried
            .iter()
            .filter(|one| one.is_short == is_short)
            .count()
    };
    assert_eq!((tried(true), tried(false)), (beginnings.len(), whole.len()));
    let scenarios: BTreeSet<u32> = whole.iter().map(|record| record.run.scenario).collect();
    assert!(
        scenarios.len() < beginnings.len(),
        "{} of {}",
        scenarios.len(),
        beginnings.len()
    );

    // Paid is what was carried out: a cent for each second.
    let seen = beginnings.iter().filter_map(|record| record.prediction());
    let seconds: f64 = seen.map(|made| made.seen_seconds).sum::<f64>()
        + whole.iter().map(|record| record.seconds).sum::<f64>();
    let spent = Ledger::open(&bench.study, &results, &[]).unwrap().spent();
    let spent: f64 = spent.amount.to_string().parse().unwrap();
    assert!(
        (spent / (seconds / 100.0) - 1.0).abs() < 0.05,
        "{spent} {seconds}"
    );
}

#[test]
fn short_runs_are_made_only_where_they_tell_of_the_goal_and_save_much() {
    let bench = Bench::of(STUDY);
    let quick = expected(&bench, 0.02);
    assert!(short_orders(&bench, "min time", &quick).is_some());
    // Of an accuracy, a beginning says nothing.
    assert!(short_orders(&bench, "max accuracy", &quick).is_none());
    assert!(short_orders(&bench, "min cost where accuracy > 90%", &quick).is_none());
    // Start-up, which every run has, is most of it.
    assert!(short_orders(&bench, "min time", &expected(&bench, 0.6)).is_none());
    // How much it is, is not known.
    assert!(short_orders(&bench, "min time", &BTreeMap::new()).is_none());
    let few_steps = Bench::of(&STUDY.replace("images = 6400", "images = 32"));
    assert!(short_orders(&few_steps, "min time", &expected(&few_steps, 0.02)).is_none());
}
