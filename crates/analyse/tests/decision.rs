//! Energy and CO₂ with where they come from, Pareto sets over more than time and cost, and recommendations: for each
//! sentence, data for which it must not be said.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use analyse::{Analysis, CompareRequest, Side, Verdict, Wishes, analyse, compare, recommend};
use common::{Recipe, World, factor};
use model::run::metric;
use model::{
    CarbonIntensity, EnergyCounters, EnergySource, Level, Metric, PowerModel, RunRecord, Status,
};

/// Scenarios by a factor that one may choose; a record is changed by its scenario and repetition.
fn world(scenarios: u32, repetitions: u32, change: impl Fn(&mut RunRecord, u32, u32)) -> World {
    let levels: Vec<Level> = (1..=scenarios)
        .map(|number| Level::from(format!("choice{number}").as_str()))
        .collect();
    let mut world = Recipe {
        factors: vec![factor("stack", &levels)],
        repetitions,
        noise: 0.0,
        ..Recipe::default()
    }
    .world();
    for record in &mut world.records {
        let run = record.run;
        change(record, run.scenario, run.repetition);
    }
    world
}

fn set(record: &mut RunRecord, name: &str, value: f64) {
    let definition = metric::definition(name).unwrap();
    let unit = definition.unit.symbol().to_owned();
    let metric = Metric { value, unit };
    record.metrics.insert(name.to_owned(), metric);
}

/// A run of this time and cost, with a little noise that every scenario has in an order of its own.
fn run(record: &mut RunRecord, seconds: f64, dollars: f64) {
    let (scenario, repetition) = (record.run.scenario, record.run.repetition);
    let place = repetition * (1 + scenario % 4) + scenario;
    let wobble = [1.0, 1.01, 0.99, 1.004, 0.996][place as usize % 5];
    set(record, metric::TRAIN_SECONDS, seconds * wobble);
    record.seconds = seconds * wobble;
    let bill = record.bill.as_mut().unwrap();
    let amount = format!("{:.6} USD", dollars * wobble).parse().unwrap();
    bill.total = amount;
    bill.converted = None;
}

fn found(world: &World) -> Analysis {
    analyse(&world.input())
}

fn said(found: &Analysis) -> String {
    found.best.sentences.join("\n")
}

fn notes(found: &Analysis) -> String {
    found.notes.join("\n")
}

fn power(idle_watts: f64, full_watts: f64) -> Option<PowerModel> {
    Some(PowerModel {
        idle_watts,
        full_watts,
        source: Some("a wall meter".to_owned()),
    })
}

fn carbon(grams: f64) -> Option<CarbonIntensity> {
    Some(CarbonIntensity {
        grams_per_kilowatt_hour: grams,
        source: "a table".to_owned(),
        date: "2026-05".to_owned(),
    })
}

/// Two scenarios of three runs, each run of 100 s with 80 s of CPU time on four cores.
fn timed() -> World {
    world(2, 3, |record, _, _| {
        record.seconds = 100.0;
        record.machine.logical_cores = 4;
        set(record, metric::CPU_SECONDS, 80.0);
        record.metrics.remove(metric::GPU_ENERGY_JOULES);
    })
}

fn energy(found: &Analysis, scenario: usize, name: &str) -> Option<f64> {
    found.scenarios[scenario].mean(name).map(|mean| mean.value)
}

fn label<'a>(found: &'a Analysis, name: &str) -> &'a str {
    &found.metric(name).unwrap().label
}

#[test]
fn without_counter_and_model_there_is_no_energy() {
    let mut world = timed();
    let plain = found(&world);
    assert!(plain.metric(metric::ENERGY_JOULES).is_none());
    assert!(!notes(&plain).to_lowercase().contains("energy"));
    assert!(plain.runs.iter().all(|run| run.energy_source.is_none()));
    // A study that wants it is told what is missing.
    world.study.metrics = vec!["energy".to_owned()];
    assert!(notes(&found(&world)).contains("No run has an energy: state `power"));
    // An intensity alone makes no CO₂.
    world.study.carbon = carbon(120.0);
    let found = found(&world);
    assert!(found.metric(metric::CO2_GRAMS).is_none());
    assert!(!notes(&found).contains("g/kWh"));
}

#[test]
fn a_stated_model_gives_energy_that_is_marked() {
    let mut world = timed();
    world.study.environments[0].power = power(60.0, 180.0);
    world.study.carbon = carbon(360.0);
    let found = found(&world);
    // 60 W × 100 s + 120 W × 80 s / 4 cores.
    assert_eq!(energy(&found, 0, metric::ENERGY_JOULES), Some(8400.0));
    assert_eq!(label(&found, metric::ENERGY_JOULES), "modelled energy");
    assert_eq!(label(&found, metric::CO2_GRAMS), "modelled CO₂");
    let grams = energy(&found, 0, metric::CO2_GRAMS).unwrap();
    assert!((grams - 0.84).abs() < 1e-12, "{grams}");
    let notes = notes(&found);
    assert!(notes.contains("modelled from CPU time and the stated power, not measured"));
    assert!(notes.contains("`local`: 60.0 W idle, 180 W with all cores busy (a wall meter)"));
    assert!(
        notes.contains("energy × 360 g/kWh (a table, 2026-05)"),
        "{notes}"
    );
    let source = Some(EnergySource::Modelled);
    assert!(found.runs.iter().all(|run| run.energy_source == source));
}

#[test]
fn measured_energy_goes_before_the_model_and_has_no_mark() {
    let mut world = timed();
    world.study.environments[0].power = power(60.0, 180.0);
    for record in &mut world.records {
        set(record, metric::CPU_ENERGY_JOULES, 5000.0);
    }
    let rapl = found(&world);
    assert_eq!(energy(&rapl, 1, metric::ENERGY_JOULES), Some(5000.0));
    assert_eq!(label(&rapl, metric::ENERGY_JOULES), "energy");
    assert!(notes(&rapl).contains("other programs included, from RAPL"));
    assert!(!notes(&rapl).contains("modelled"));
    for record in &mut world.records {
        set(record, metric::GPU_ENERGY_JOULES, 700.0);
    }
    let both = found(&world);
    assert_eq!(energy(&both, 1, metric::ENERGY_JOULES), Some(5700.0));
    assert!(notes(&both).contains("(RAPL) and GPUs (NVML)"));
    for record in &mut world.records {
        record.metrics.remove(metric::CPU_ENERGY_JOULES);
    }
    let half = found(&world);
    assert_eq!(energy(&half, 1, metric::ENERGY_JOULES), Some(9100.0));
    assert_eq!(label(&half, metric::ENERGY_JOULES), "modelled energy");
    world.study.environments[0].power = None;
    let gpus = found(&world);
    assert_eq!(energy(&gpus, 1, metric::ENERGY_JOULES), Some(700.0));
    assert_eq!(label(&gpus, metric::ENERGY_JOULES), "GPU-only energy");
}

/// C1 measured, C2 modelled: shown side by side, but nothing is concluded.
#[test]
fn measured_and_modelled_energy_are_not_compared() {
    let mut world = timed();
    world.study.environments[0].power = power(60.0, 180.0);
    world.study.metrics = vec!["energy".to_owned()];
    world.study.pareto = vec!["time".to_owned(), "cost".to_owned(), "energy".to_owned()];
    let alike = found(&world);
    assert!(alike.variation(metric::ENERGY_JOULES).is_some());
    assert!(
        alike
            .best
            .criteria
            .iter()
            .any(|name| name == metric::ENERGY_JOULES)
    );
    for record in world.records.iter_mut().filter(|r| r.run.scenario == 1) {
        set(record, metric::CPU_ENERGY_JOULES, 100.0);
    }
    let mixed = found(&world);
    assert!(mixed.variation(metric::ENERGY_JOULES).is_none());
    assert!(
        mixed
            .best
            .criteria
            .iter()
            .all(|name| name != metric::ENERGY_JOULES)
    );
    assert_eq!(
        label(&mixed, metric::ENERGY_JOULES),
        "energy from different sources"
    );
    let notes_mixed = notes(&mixed);
    assert!(
        notes_mixed.contains("not compared: measured (RAPL): C1; modelled: C2"),
        "{notes_mixed}"
    );
    assert!(notes_mixed.contains("The Pareto set is without `energy`: it has different sources."));
    assert_eq!(energy(&mixed, 0, metric::ENERGY_JOULES), Some(100.0));
    // One scenario with both has no mean.
    let mut records = world.records.iter_mut();
    let second = records.find(|r| r.run.scenario == 2).unwrap();
    set(second, metric::CPU_ENERGY_JOULES, 100.0);
    assert_eq!(energy(&found(&world), 1, metric::ENERGY_JOULES), None);
}

#[test]
fn studies_with_energy_of_different_sources_are_not_compared() {
    let mut world = timed();
    world.study.environments[0].power = power(60.0, 180.0);
    let modelled = found(&world);
    for record in &mut world.records {
        set(record, metric::CPU_ENERGY_JOULES, 5000.0);
    }
    let measured = found(&world);
    let against = |second: &Analysis| {
        let side = |name, analysis| Side {
            name,
            analysis,
            scenario: None,
            levels: &[],
        };
        let compared = compare(&CompareRequest {
            first: side("a", &modelled),
            second: side("b", second),
            metric: Some("energy"),
            equal_within_percent: 2.0,
        });
        compared.map(|_| ())
    };
    assert_eq!(against(&modelled), Ok(()));
    let refused = against(&measured).unwrap_err();
    assert!(refused.contains("(modelled, rapl)"), "{refused}");
}

#[test]
fn machines_that_were_not_measured_have_no_energy() {
    let mut world = timed();
    world.study.environments[0].power = power(60.0, 180.0);
    world.study.environments[0].hosts = Some(model::Hosts {
        names: vec!["a".to_owned(), "b".to_owned()],
        launch: Vec::new(),
    });
    assert!(found(&world).metric(metric::ENERGY_JOULES).is_none());
}

#[test]
fn counters_that_are_refused_are_mentioned_once_to_who_wants_energy() {
    let mut world = timed();
    for record in &mut world.records {
        record.machine.energy_counters = Some(EnergyCounters::Unreadable);
        record.machine.hostname = "desk".to_owned();
    }
    assert!(!notes(&found(&world)).contains("RAPL"));
    world.study.environments[0].power = power(60.0, 180.0);
    let said = notes(&found(&world));
    assert_eq!(said.matches("that only root may read").count(), 1, "{said}");
    for record in &mut world.records {
        record.machine.energy_counters = Some(EnergyCounters::Readable);
    }
    assert!(!notes(&found(&world)).contains("only root"));
}

fn asks(world: &mut World, criteria: &[&str]) {
    world.study.pareto = criteria.iter().map(|name| (*name).to_owned()).collect();
}

#[test]
fn dominated_scenarios_are_named_with_the_reason() {
    let mut world = world(3, 5, |record, scenario, _| match scenario {
        1 => run(record, 10.0, 0.10),
        2 => run(record, 20.0, 0.05),
        _ => run(record, 20.0, 0.20),
    });
    // Nobody asked: the terminal's sentences stay short, the data is there.
    let plain = found(&world);
    assert!(!said(&plain).contains("dominated"));
    let of_task = &plain.best.tasks[0];
    assert_eq!(of_task.pareto, [1, 2]);
    assert_eq!(of_task.dominated.len(), 1);
    asks(&mut world, &["time", "cost"]);
    let asked = said(&found(&world));
    assert!(
        asked.contains("Pareto set of training time and cost: C1 and C2 by the means."),
        "{asked}"
    );
    assert!(
        asked.contains("C3 is dominated by C1: takes 2.0× as long and costs 2.0× as much."),
        "{asked}"
    );
    assert!(!asked.contains("not settled"));
}

#[test]
fn a_criterion_in_which_it_is_better_saves_a_scenario() {
    let build = |accuracy: f64| {
        let mut world = world(2, 5, |record, scenario, repetition| {
            // Not in step: what a repetition has in common would be taken out.
            let place = (repetition * scenario) as usize % 5;
            let better = [97.0, 97.2, 96.8, 97.1, 96.9][place];
            match scenario {
                1 => run(record, 10.0, 0.10),
                _ => run(record, 20.0, 0.20),
            }
            let own = if scenario == 1 {
                better
            } else {
                better + accuracy
            };
            set(record, metric::ACCURACY, own);
        });
        asks(&mut world, &["time", "cost", "accuracy"]);
        said(&found(&world))
    };
    let worse = build(-8.0);
    assert!(worse.contains("C2 is dominated by C1: takes 2.0× as long, costs 2.0× as much and has 8.0 points less accuracy."), "{worse}");
    let equal = build(-0.1);
    assert!(
        equal.contains("costs 2.0× as much; accuracy is practically equal."),
        "{equal}"
    );
    // Better beyond doubt, if only a little.
    let better = build(1.8);
    assert!(!better.contains("dominated"), "{better}");
    assert!(better.contains("C1 and C2 by the means."), "{better}");
}

/// C3 is on the set for its accuracy alone: it is not between the others in time and cost.
#[test]
fn a_set_over_other_criteria_is_not_the_line_of_time_and_cost() {
    let build = |criteria: &[&str]| {
        let mut world = world(4, 5, |record, scenario, _| {
            match scenario {
                1 => run(record, 10.0, 0.10),
                2 => run(record, 20.0, 0.05),
                3 => run(record, 30.0, 0.20),
                _ => run(record, 15.0, 0.08),
            }
            let better = if scenario == 3 { 99.0 } else { 90.0 };
            set(record, metric::ACCURACY, better);
        });
        asks(&mut world, criteria);
        said(&found(&world))
    };
    let line = build(&[]);
    assert!(
        line.contains(
            "Between them on the Pareto line (nothing is faster and cheaper at once): C4."
        ),
        "{line}"
    );
    let set = build(&["time", "cost", "accuracy"]);
    assert!(!set.contains("Pareto line"), "{set}");
    assert!(set.contains("C1, C4, C2 and C3 by the means."), "{set}");
}

#[test]
fn what_intervals_do_not_settle_is_not_called_dominated() {
    let noisy = |repetitions: u32| {
        let mut world = world(2, repetitions, |record, scenario, repetition| {
            run(record, 10.0, 0.10);
            if scenario == 2 {
                let seconds = [10.0, 14.0, 7.5, 12.0, 9.0][repetition as usize - 1];
                set(record, metric::TRAIN_SECONDS, seconds);
                let bill = record.bill.as_mut().unwrap();
                bill.total = format!("{:.6} USD", seconds / 99.0).parse().unwrap();
            }
        });
        asks(&mut world, &["time", "cost"]);
        found(&world)
    };
    let open = noisy(5);
    assert!(open.best.tasks[0].dominated.is_empty());
    assert!(
        said(&open).contains("C1 by the means; not settled for C2."),
        "{}",
        said(&open)
    );
    // One run shows nothing, however far apart.
    let mut once = world(2, 1, |record, scenario, _| {
        run(record, 10.0 * f64::from(scenario), f64::from(scenario));
    });
    asks(&mut once, &["time", "cost"]);
    assert!(!said(&found(&once)).contains("dominated"));
}

#[test]
fn a_scenario_whose_runs_failed_dominates_nobody() {
    let mut world = world(2, 5, |record, scenario, repetition| {
        run(record, 10.0 * f64::from(scenario), f64::from(scenario));
        if scenario == 1 && repetition > 2 {
            record.outcome.status = Status::TimedOut;
        }
    });
    asks(&mut world, &["time", "cost"]);
    assert!(!said(&found(&world)).contains("dominated"));
}

#[test]
fn criteria_that_no_run_has_are_reported() {
    let mut world = timed();
    asks(&mut world, &["time", "energy", "loudness"]);
    let found = found(&world);
    assert!(found.best.criteria.is_empty());
    let notes = notes(&found);
    assert!(
        notes.contains("The Pareto set is without `loudness`: no run has it."),
        "{notes}"
    );
    assert!(
        notes.contains("There is no Pareto set: it needs at least two metrics"),
        "{notes}"
    );
}

/// Scenarios that do not differ: whatever is called dominated is a false claim.
#[test]
fn nothing_is_dominated_where_nothing_differs() {
    let mut false_claims = 0;
    for study in 0..150_u64 {
        let random = std::cell::RefCell::new(Draws(study * 7919 + 1));
        let mut world = world(6, 4, |record, _, _| {
            let mut random = random.borrow_mut();
            run(record, 10.0, 0.1);
            set(
                record,
                metric::TRAIN_SECONDS,
                10.0 * (1.0 + 0.03 * random.normal()),
            );
            set(
                record,
                metric::PEAK_MEMORY_BYTES,
                1e9 * (1.0 + 0.03 * random.normal()),
            );
            set(record, metric::ACCURACY, 95.0 + 0.5 * random.normal());
        });
        asks(&mut world, &["time", "memory", "accuracy"]);
        let found = found(&world);
        false_claims += usize::from(!found.best.tasks[0].dominated.is_empty());
    }
    // The rate is 0.25 %: two of 150 would be a chance of 5 %.
    assert!(false_claims <= 2, "{false_claims} of 150 studies");
}

/// Normal numbers by the sum of twelve uniform ones, from a multiplicative generator.
struct Draws(u64);

impl Draws {
    fn normal(&mut self) -> f64 {
        let mut sum = -6.0;
        for _ in 0..12 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            sum += (self.0 >> 11) as f64 / (1_u64 << 53) as f64;
        }
        sum
    }
}

fn wishes(deadline: Option<f64>, most: Option<&str>) -> Wishes {
    Wishes {
        deadline_seconds: deadline,
        most_cost: most.map(|money| money.parse().unwrap()),
        most_joules: None,
    }
}

/// C1 fast and expensive, C2 slow and cheap, C3 slower and more expensive.
fn three() -> World {
    world(3, 5, |record, scenario, _| match scenario {
        1 => run(record, 10.0, 0.10),
        2 => run(record, 20.0, 0.05),
        _ => run(record, 30.0, 0.20),
    })
}

fn recommended(world: &World, wishes: &Wishes) -> String {
    recommend(&found(world), wishes).unwrap().join("\n")
}

#[test]
fn recommendations_keep_the_limits() {
    let world = three();
    let check = |deadline: Option<f64>, most: Option<&str>, expected: &str| {
        let text = recommended(&world, &wishes(deadline, most));
        assert!(text.contains(expected), "{text}");
    };
    check(Some(25.0), None, "Within 25.0 s, choose C2 (");
    check(Some(25.0), None, "cheapest in 100 % of resamplings");
    check(Some(15.0), None, "Within 15.0 s, choose C1 (");
    check(Some(15.0), None, "the only one");
    check(None, Some("0.15 USD"), "Within US$ 0.15, choose C1 (");
    check(None, Some("0.15 USD"), "fastest in 100 % of resamplings");
    check(None, Some("0.07 USD"), "choose C2 (");
    check(
        Some(25.0),
        Some("0.07 USD"),
        "Within 25.0 s and US$ 0.070, choose C2 (",
    );
    // Each limit alone can be kept, both together cannot.
    check(
        Some(15.0),
        Some("0.07 USD"),
        "No scenario is surely within 15.0 s and US$ 0.070.",
    );
    check(Some(5.0), None, "No scenario is surely within 5.00 s.");
}

#[test]
fn what_the_intervals_leave_open_is_not_recommended() {
    let world = three();
    let text = recommended(&world, &wishes(Some(10.05), None));
    assert!(text.contains("No scenario is surely within"), "{text}");
    assert!(
        text.contains("Not settled by their intervals: C1."),
        "{text}"
    );
    let settled = recommended(&world, &wishes(Some(15.0), None));
    assert!(!settled.contains("Not settled"), "{settled}");
}

#[test]
fn stability_is_only_claimed_with_repetitions() {
    let once = world(2, 1, |record, scenario, _| {
        run(
            record,
            10.0 * f64::from(scenario),
            0.1 * f64::from(scenario),
        );
    });
    let text = recommended(&once, &wishes(Some(60.0), None));
    assert!(!text.contains("resamplings"), "{text}");
    // Two that do not differ: neither is chosen in nearly all resamplings.
    let tie = world(2, 5, |record, _, _| run(record, 10.0, 0.10));
    let text = recommended(&tie, &wishes(Some(60.0), None));
    assert!(text.contains("% of resamplings"), "{text}");
    assert!(!text.contains("100 % of resamplings"), "{text}");
    let found = found(&tie);
    let verdict = found.best.tasks[0].cost.as_ref().unwrap().verdict;
    assert_ne!(verdict, Verdict::Different);
}

#[test]
fn failed_runs_are_never_recommended() {
    let mut world = three();
    for record in world.records.iter_mut().filter(|r| r.run.scenario == 2) {
        if record.run.repetition > 3 {
            record.outcome.status = Status::OutOfMemory;
        }
    }
    let text = recommended(&world, &wishes(Some(25.0), None));
    assert!(!text.contains("C2"), "{text}");
    assert!(text.contains("choose C1"), "{text}");
}

#[test]
fn a_limit_in_another_currency_is_refused() {
    let wrong = recommend(&found(&three()), &wishes(None, Some("5 BRL")));
    assert!(wrong.unwrap_err().contains("the limit is in BRL"));
}

#[test]
fn a_limit_of_energy_needs_energy_that_can_be_compared() {
    let most = Wishes {
        most_joules: Some(1000.0),
        ..Wishes::default()
    };
    let without = recommend(&found(&three()), &most).unwrap_err();
    assert!(without.contains("no run has an energy"), "{without}");
    let mut world = three();
    world.study.environments[0].power = power(60.0, 60.0);
    for record in &mut world.records {
        record.metrics.remove(metric::GPU_ENERGY_JOULES);
    }
    // 600 J, 1200 J and 1800 J.
    let text = recommended(&world, &most);
    assert!(
        text.contains("Within 1.00 kJ of modelled energy, choose C1 ("),
        "{text}"
    );
    let both = Wishes {
        deadline_seconds: Some(25.0),
        most_joules: Some(1500.0),
        ..Wishes::default()
    };
    let text = recommended(&world, &both);
    assert!(
        text.contains("Within 25.0 s and 1.50 kJ of modelled energy, choose C2 ("),
        "{text}"
    );
    let first = world.records.first_mut().unwrap();
    set(first, metric::CPU_ENERGY_JOULES, 1.0);
    let mixed = recommend(&found(&world), &most).unwrap_err();
    assert!(mixed.contains("different sources"), "{mixed}");
}

/// A deadline is one of a run: the mean may keep it where 44 of 100 runs do not.
#[test]
fn a_deadline_is_not_kept_by_the_mean() {
    let spread = |scenario: u32, repetition: u32| {
        let place = f64::from((repetition * 37) % 100) - 49.5;
        f64::from(scenario) * (1.0 + 0.006 * place)
    };
    let world = world(2, 100, |record, scenario, repetition| {
        run(
            record,
            10.3 * spread(scenario, repetition),
            0.1 * f64::from(scenario),
        );
    });
    let all = found(&world);
    let mean = all.time_of(&all.scenarios[0]).unwrap();
    let deadline = 10.9;
    assert!(mean.interval.unwrap().high < deadline);
    let late = world.records.iter().filter(|r| r.run.scenario == 1);
    let late = late.filter(|r| r.metrics[metric::TRAIN_SECONDS].value > deadline);
    assert!(late.count() > 30);
    let text = recommended(&world, &wishes(Some(deadline), None));
    assert_eq!(text, "No scenario is surely within 10.9 s.");
    let text = recommended(&world, &wishes(Some(15.0), None));
    assert!(text.contains("Within 15.0 s, choose C1 ("), "{text}");
    assert!(text.contains("19 of 20 runs in at most 1"), "{text}");
}

/// A scenario that was not ranked may be on the line: then nobody knows that nothing else is.
#[test]
fn nothing_else_is_on_the_line_only_where_all_are_ranked() {
    let build = |runs_of_third: u32| {
        let mut world = world(3, 5, |record, scenario, _| match scenario {
            1 => run(record, 10.0, 0.05),
            2 => run(record, 20.0, 0.10),
            _ => run(record, 5.0, 0.01),
        });
        world.records.retain(|record| {
            let id = record.run;
            id.scenario < 3 || id.repetition <= runs_of_third
        });
        said(&found(&world))
    };
    let line = "Nothing else is on the Pareto line.";
    let all = build(0);
    assert!(all.contains("C1 (") && all.contains(line), "{all}");
    let one = build(1);
    assert!(one.contains("Not ranked: C3 (one run)."), "{one}");
    assert!(one.contains("C1 (") && !one.contains(line), "{one}");
}
