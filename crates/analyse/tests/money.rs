//! What was paid and by whom, prices that changed, and results that came from a file.

mod common;

use analyse::{Analysis, Input, Verdict, analyse};
use common::{Recipe, World, factor, price};
use model::money::PaidPhases;
use model::run::{Origin, metric};
use model::study::CommandWorkload;
use model::{Currency, ExchangeRate, Level, Money, RunRecord, Status, Workload};
use rust_decimal::Decimal;

fn analysis(world: &World, superseded: &[RunRecord]) -> Analysis {
    analyse(&Input {
        superseded,
        ..world.input()
    })
}

fn price_notes(world: &World) -> Vec<String> {
    let notes = analysis(world, &[]).notes;
    notes.into_iter().filter(|n| n.contains("/h (")).collect()
}

fn import(record: &mut RunRecord) {
    record.origin = Origin::Imported {
        file: "old.csv".into(),
        line: 2,
        undated: false,
    };
}

fn billed<'r>(records: impl IntoIterator<Item = &'r RunRecord>) -> Money {
    let bills = records.into_iter().filter_map(|r| r.bill.as_ref());
    let sum: Decimal = bills.map(|b| b.total.amount).sum();
    Money::new(sum, Currency::USD)
}

#[test]
fn a_price_that_changed_since_is_said() {
    let mut world = Recipe::default().world();
    let check = |world: &World, expected: &[&str]| assert_eq!(price_notes(world), expected);
    check(&world, &[]);

    // Read again on another day, the number is the same and so is every bill.
    world.study.environments[0].price.as_mut().unwrap().date = "2024-09-01".into();
    check(&world, &[]);

    world.study.environments[0].price.as_mut().unwrap().per_hour = "0.192 USD".parse().unwrap();
    check(
        &world,
        &[
            "Prices of local: C1-r1, C1-r2, C1-r3 and 21 more were billed at US$ 0.169/h (2024-03-01), the study now says US$ 0.192/h (2024-09-01): bills do not change after a run.",
        ],
    );

    world.study.environments[0].price = None;
    check(
        &world,
        &[
            "Prices of local: C1-r1, C1-r2, C1-r3 and 21 more were billed at US$ 0.169/h (2024-03-01), the study now has no price: bills do not change after a run.",
        ],
    );

    world.study.environments[0].name = "elsewhere".into();
    check(&world, &[]);
}

#[test]
fn runs_of_one_environment_at_two_prices_are_said() {
    let mut world = Recipe::default().world();
    let more_expensive = world.record("C2-r1").price.as_mut().unwrap();
    more_expensive.per_hour = "0.2 USD".parse().unwrap();
    let now = world.record("C2-r1").price.clone();
    let expected = "Prices of local: C1-r1, C1-r2, C1-r3 and 20 more were billed at US$ 0.169/h (2024-03-01); C2-r1 was billed at US$ 0.20/h (2024-03-01), the study now says US$ 0.20/h (2024-03-01): bills do not change after a run.";
    world.study.environments[0].price = now;
    assert_eq!(price_notes(&world), [expected]);
}

#[test]
fn environments_with_a_price_each_are_no_change() {
    let names = [Level::from("local"), Level::from("gpu")];
    let mut world = Recipe {
        factors: vec![factor("environment", &names)],
        ..Recipe::default()
    }
    .world();
    assert_eq!(price_notes(&world), [""; 0]);
    world.study.environments[1].price = Some(price("local").into());
    let notes = price_notes(&world);
    assert_eq!(notes.len(), 1);
    assert!(notes[0].starts_with("Prices of gpu: "), "{notes:?}");
}

#[test]
fn another_way_of_billing_is_another_price() {
    let mut world = Recipe::default().world();
    let now = world.study.environments[0].price.as_mut().unwrap();
    now.billing.step_seconds = 60;
    now.billing.paid = PaidPhases::Only(vec!["train".into()]);
    let notes = price_notes(&world);
    assert!(
        notes[0].contains(
            "at US$ 0.169/h (2024-03-01; the exact time is billed; all phases of a run; a new machine for every run), the study now says US$ 0.169/h (2024-03-01; time is rounded up to multiples of 1 min 00 s; only train; a new machine for every run):"
        ),
        "{notes:?}"
    );
}

#[test]
fn spent_is_what_the_budget_counts() {
    let mut world = Recipe::default().world();
    let mut superseded = vec![world.records[0].clone(), world.records[1].clone()];
    let all = billed(&world.records);
    let again = billed(&superseded);
    let totals = analysis(&world, &superseded).totals;
    assert_eq!(
        totals.spent_total,
        Some(Money::new(all.amount + again.amount, Currency::USD))
    );
    assert_eq!(totals.spent_again, Some(again));
    assert_eq!(totals.cost_total, [all]);
    assert_eq!((totals.spent[0].runs, totals.spent[0].money), (24, all));
    assert_eq!(totals.runs.total(), 24);

    // Measured elsewhere: a cost, but not from this budget.
    world.records[3..].iter_mut().for_each(import);
    superseded.iter_mut().for_each(import);
    let totals = analysis(&world, &superseded).totals;
    assert_eq!(totals.spent_total, Some(billed(&world.records[..3])));
    assert_eq!(totals.spent_again, None);
    assert_eq!(totals.cost_total, [all]);

    world.records.iter_mut().for_each(import);
    assert_eq!(analysis(&world, &[]).totals.spent_total, None);
}

#[test]
fn bills_in_another_currency_are_not_of_the_budget() {
    let mut world = Recipe::default().world();
    world.study.currency = Currency::BRL;
    let totals = analysis(&world, &[]).totals;
    assert_eq!(totals.spent_total, None);
    assert_eq!(totals.cost_total, [billed(&world.records)]);
}

#[test]
fn a_run_without_time_has_no_total_time() {
    let mut world = Recipe::default().world();
    for run in ["C1-r1", "C1-r2"] {
        let record = world.record(run);
        import(record);
        record.metrics.remove(metric::TOTAL_SECONDS);
        record.seconds = 0.0;
    }
    world.record("C1-r2").seconds = f64::NAN;
    let found = analysis(&world, &[]);
    assert_eq!(found.scenarios[0].metrics[metric::TOTAL_SECONDS].count, 1);
    assert_eq!(found.scenarios[1].metrics[metric::TOTAL_SECONDS].count, 3);
}

#[test]
fn where_nothing_can_be_run_nothing_is_to_do() {
    let mut world = Recipe::default().world();
    world.records.truncate(20);
    world.records[0].outcome.status = Status::Failed;
    let to_do = |world: &World| {
        let found = analysis(world, &[]);
        let told = found.advice.iter().filter(|a| a.contains("`bancada run"));
        (found.totals.missing, told.count())
    };
    assert_eq!(to_do(&world), (4, 2));
    world.study.workload = Workload::Command(CommandWorkload {
        command: Vec::new(),
        env: Default::default(),
        directory: None,
        inputs: Vec::new(),
        log: Vec::new(),
    });
    assert_eq!(to_do(&world), (0, 0));
    assert_eq!(analysis(&world, &[]).study.workload, "measured elsewhere");
}

/// Faster with one network and slower with the other: on average nothing, and yet a choice.
#[test]
fn a_factor_that_matters_only_with_another_is_not_free() {
    let factors = vec![
        factor("network", &[Level::from("a"), Level::from("b")]),
        factor("layout", &[Level::from("c"), Level::from("d")]),
        factor("colour", &[Level::from("e"), Level::from("f")]),
    ];
    let mut world = Recipe {
        factors,
        repetitions: 4,
        // Little enough to know it for each network.
        noise: 0.006,
        ..Recipe::default()
    }
    .world();
    let free = |world: &World| {
        let advice = analysis(world, &[]).advice;
        advice
            .into_iter()
            .find(|a| a.contains("practically no effect on the time"))
            .unwrap_or_default()
    };
    let before = free(&world);
    assert!(
        before.starts_with("layout and colour have practically"),
        "{before}"
    );
    let level =
        |record: &RunRecord, factor: &str| record.scenario.level(factor).unwrap().to_string();
    for record in &mut world.records {
        let crossed = (level(record, "network") == "a") == (level(record, "layout") == "c");
        let time = record.metrics.get_mut(metric::TRAIN_SECONDS).unwrap();
        time.value *= if crossed { 2.0 } else { 1.0 };
    }
    let found = analysis(&world, &[]);
    let time = found.variation(metric::TRAIN_SECONDS).unwrap();
    let alone = time.terms.iter().find(|t| t.name() == "layout").unwrap();
    assert_eq!(alone.reversed_by.as_deref(), Some("network"));
    let said = free(&world);
    assert!(said.starts_with("colour has practically"), "{said}");
}

#[test]
fn a_budget_is_said_in_the_currency_of_what_was_spent() {
    let mut world = Recipe {
        currency: Currency::BRL,
        ..Recipe::default()
    }
    .world();
    assert_eq!(
        analysis(&world, &[]).study.budget,
        Some("1 USD".parse().unwrap())
    );
    world.study.rates = vec![ExchangeRate {
        from: Currency::USD,
        to: Currency::BRL,
        rate: "5".parse().unwrap(),
        date: "2024-03-01".to_owned(),
        source: String::new(),
    }];
    assert_eq!(
        analysis(&world, &[]).study.budget,
        Some("5 BRL".parse().unwrap())
    );
}

#[test]
fn an_accuracy_that_nobody_told_is_said() {
    let mut world = Recipe::default().world();
    world.study.target_accuracy_percent = Some(90.0);
    let says = |world: &World| {
        let notes = analysis(world, &[]).notes;
        notes
            .iter()
            .any(|note| note.contains("no run reported an accuracy"))
    };
    assert!(!says(&world));
    for record in &mut world.records {
        record.metrics.remove(metric::ACCURACY);
    }
    assert!(says(&world));
}

#[test]
fn advice_after_a_spent_budget_says_so() {
    let mut world = Recipe::default().world();
    world.records.truncate(20);
    let spent = billed(&world.records);
    let advice = |world: &World| analysis(world, &[]).advice.join("\n");
    let goes_on = "`bancada run` continues where it stopped";
    assert!(advice(&world).contains(goes_on));

    let mean = spent.amount / Decimal::from(20);
    world.study.budget = Some(Money::new(
        spent.amount + mean * Decimal::TWO,
        spent.currency,
    ));
    assert!(advice(&world).contains(goes_on));

    world.study.budget = Some(Money::new(
        spent.amount + mean / Decimal::TWO,
        spent.currency,
    ));
    let said = advice(&world);
    assert!(
        said.contains("4 runs are missing: the budget of "),
        "{said}"
    );
    assert!(
        said.contains("--over-budget") && !said.contains(goes_on),
        "{said}"
    );
}

#[test]
fn cost_follows_time_only_where_it_rises_with_it() {
    let follows = "Cost follows time";
    let said = |world: &World| -> String {
        let findings = analysis(world, &[]).findings;
        let texts: Vec<String> = findings.into_iter().map(|f| f.text).collect();
        texts.join("\n")
    };
    let mut world = Recipe::default().world();
    assert!(said(&world).contains(follows));
    // The same factors, as much of the variation each, and the slowest is the cheapest.
    for record in &mut world.records {
        let bill = record.bill.as_mut().unwrap();
        bill.total.amount = (Decimal::ONE / bill.total.amount).round_dp(9);
    }
    let said = said(&world);
    assert!(!said.contains(follows), "{said}");
}

#[test]
fn a_price_of_another_machine_is_said() {
    let mut world = Recipe::default().world();
    let notes = |world: &World| {
        let notes = analysis(world, &[]).notes;
        let said = notes
            .into_iter()
            .filter(|n| n.contains("is not a prediction"));
        said.collect::<Vec<String>>()
    };
    assert_eq!(notes(&world), Vec::<String>::new());
    let set = |world: &mut World, vcpus: u32, architecture: &str| {
        for record in &mut world.records {
            record.machine.architecture = "x86_64".into();
            record.machine.usable_cores = 2.0;
            record.environment.limits.cores = None;
            let price = record.price.as_mut().unwrap();
            price.shape.vcpus = Some(vcpus.into());
            price.shape.architecture = Some(architecture.into());
        }
    };
    set(&mut world, 2, "x86-64");
    assert_eq!(notes(&world), Vec::<String>::new());
    set(&mut world, 4, "x86-64");
    let said = notes(&world);
    assert_eq!(said.len(), 1);
    assert!(
        said[0].contains("has 4 vCPUs, and were measured on 2 cores"),
        "{said:?}"
    );
    set(&mut world, 2, "arm64");
    assert!(notes(&world)[0].contains("is arm64, and were measured on x86-64"));
    // Cores that the study asks for are its own affair.
    set(&mut world, 4, "x86-64");
    for record in &mut world.records {
        record.environment.limits.cores = Some(2.0);
    }
    assert_eq!(notes(&world), Vec::<String>::new());
}

#[test]
fn bills_that_repetitions_share_to_the_digit_still_have_a_cause() {
    let mut world = Recipe::default().world();
    world.study.metrics = vec![metric::COST.to_owned()];
    for record in &mut world.records {
        let large = record
            .scenario
            .level("image")
            .is_some_and(|l| l.to_string() == "64");
        let bill = record.bill.as_mut().unwrap();
        bill.total.amount = Decimal::new(if large { 2 } else { 1 }, 3);
    }
    let found = analysis(&world, &[]);
    let cost = found.variation(metric::COST).unwrap();
    let verdict = |name: &str| {
        let mut terms = cost.terms.iter();
        terms.find(|t| t.factors == [name]).map(|t| t.verdict)
    };
    assert_eq!(verdict("image"), Some(Verdict::Different));
    assert_eq!(verdict("network"), Some(Verdict::PracticallyEqual));
}
