//! What was paid and not used, of bills reckoned by hand.

#![expect(clippy::unwrap_used, reason = "a test may fail so")]

mod common;

use analyse::{Analysis, Input, Unused, analyse};
use common::{Recipe, World, factor, price};
use cost::BillRequest;
use model::money::{Charge, Discount, DiscountTerms, Interruptions, LineKind, RentalScope, Unit};
use model::run::Origin;
use model::{Currency, ExchangeRate, Level, Money, Price, RentalPart, RunRecord, Status};
use rust_decimal::Decimal;

fn dollars(amount: &str) -> Money {
    format!("{amount} USD").parse().unwrap()
}

/// A hundredth of a cent a second, in whole minutes.
fn minutes() -> Price {
    let mut price = price("local");
    price.per_hour = dollars("0.36");
    price.billing.step_seconds = 60;
    price
}

/// Four runs of 10 s startup, 30 s train, 2 s save: 18 s of the minute are rounding.
fn world(price: &Price, currency: Currency, rates: &[ExchangeRate]) -> World {
    let mut world = Recipe {
        factors: vec![factor("batch", &[Level::from(32)])],
        repetitions: 4,
        currency,
        ..Recipe::default()
    }
    .world();
    for record in &mut world.records {
        let parts = [
            ("startup", 0.0, 10.0),
            ("train", 10.0, 30.0),
            ("save", 40.0, 2.0),
        ];
        record.phases = common::phases_of(&parts);
        record.seconds = 42.0;
        record.price = Some(price.clone().into());
        let bill = cost::bill(&BillRequest::of(record, price, currency, rates)).bill;
        record.bill = Some(bill.into());
    }
    world
}

fn analysis(world: &World, superseded: &[RunRecord]) -> Analysis {
    analyse(&Input {
        superseded,
        ..world.input()
    })
}

fn unused(world: &World, superseded: &[RunRecord]) -> Unused {
    let mut found = analysis(world, superseded).money.unused;
    assert_eq!(found.len(), 1);
    found.remove(0)
}

fn share(actual: f64, expected: f64) {
    assert!(
        (actual - expected).abs() < 1e-9,
        "{actual} is not {expected}"
    );
}

#[test]
fn rounding_and_phases_are_told_apart() {
    let world = world(&minutes(), Currency::USD, &[]);
    let found = unused(&world, &[]);
    assert_eq!((found.runs, found.paid), (4, dollars("0.024")));
    assert_eq!(found.rounding, dollars("0.0072"));
    assert_eq!(found.unused, dollars("0.0072"));
    share(found.unused_share, 0.3);
    let phases: Vec<(&str, Money)> = found
        .not_work
        .iter()
        .map(|p| (p.phase.as_str(), p.cost))
        .collect();
    assert_eq!(
        phases,
        [("startup", dollars("0.004")), ("save", dollars("0.0008"))]
    );
    share(found.not_work_share, 0.2);
    assert_eq!(
        found.sentences,
        [
            "30 % of the cost in local is rounding up to 60 s: share one machine between the runs (rental = \"study\"), or choose a provider with a shorter increment or minimum."
        ]
    );
    let analysis = analysis(&world, &[]);
    let run = analysis.runs[0].unused.unwrap();
    assert_eq!(
        (run.unused, run.not_work),
        (dollars("0.0018"), dollars("0.0012"))
    );
    assert!(
        analysis
            .findings
            .iter()
            .any(|f| f.text == found.sentences[0])
    );
}

/// Half off, a fee of a tenth of a cent, a tenth of tax: a run costs (0.003 + 0.001) × 1.1.
#[test]
fn rounding_carries_its_part_of_discounts_and_tax_and_none_of_fees() {
    let mut price = minutes();
    price.billing.discounts = vec![Discount {
        what: "promise".to_owned(),
        terms: DiscountTerms::Committed {
            percent: Decimal::from(50),
            share_percent: Decimal::ONE_HUNDRED,
        },
    }];
    price.billing.charges = vec![Charge {
        what: "fee".to_owned(),
        kind: LineKind::Fee,
        unit: Unit::Run,
        price: dollars("0.001"),
        quantity: Decimal::ONE,
        free: Decimal::ZERO,
        source: "a list".to_owned(),
        date: "2024-03-01".to_owned(),
    }];
    price.billing.tax_percent = Some(Decimal::TEN);
    let found = unused(&world(&price, Currency::USD, &[]), &[]);
    assert_eq!(found.paid, dollars("0.0176"));
    assert_eq!(found.rounding, dollars("0.00396"));
    share(found.unused_share, 0.225);
}

#[test]
fn amounts_are_in_the_studys_currency() {
    let rate = ExchangeRate {
        from: Currency::USD,
        to: Currency::BRL,
        rate: Decimal::from(5),
        date: "2024-03-01".to_owned(),
        source: "central bank".to_owned(),
    };
    let found = unused(&world(&minutes(), Currency::BRL, &[rate]), &[]);
    assert_eq!(found.paid.to_string(), "R$ 0.12");
    assert_eq!(found.rounding, "0.036 BRL".parse().unwrap());
    share(found.unused_share, 0.3);
}

#[test]
fn a_minimum_is_no_rounding() {
    let mut price = minutes();
    price.billing.minimum_seconds = 600;
    let found = unused(&world(&price, Currency::USD, &[]), &[]);
    assert_eq!(found.rounding, dollars("0.0072"));
    assert_eq!(found.minimum, dollars("0.216"));
    share(found.unused_share, 0.93);
    assert!(
        found.sentences[0].starts_with(
            "93 % of the cost in local is rounding up to 60 s and the minimum of 10 min 00 s:"
        ),
        "{:?}",
        found.sentences
    );
}

#[test]
fn what_gave_nothing_was_paid_all_the_same() {
    let mut world = world(&minutes(), Currency::USD, &[]);
    let mut again = vec![world.records[0].clone(), world.records[1].clone()];
    // Somebody else paid for it.
    again[1].origin = Origin::Imported {
        file: "old.csv".into(),
        line: 2,
        undated: false,
    };
    world.records[3].outcome.status = Status::Failed;
    let found = unused(&world, &again);
    assert_eq!(found.paid, dollars("0.03"));
    assert_eq!(
        (found.done_again, found.no_result),
        (dollars("0.006"), dollars("0.006"))
    );
    // The failed run is not counted twice: of it, nothing is rounding.
    assert_eq!(found.rounding, dollars("0.0054"));
    share(found.unused_share, 0.58);
    assert!(
        found
            .sentences
            .iter()
            .any(|s| s.starts_with("40 % of the cost in local is for attempts")),
        "{:?}",
        found.sentences
    );
}

#[test]
fn what_is_expected_to_be_lost_stands_apart() {
    let mut price = minutes();
    price.billing.interruptions = Some(Interruptions {
        per_hour: Decimal::from(10),
        restart_seconds: 60,
        checkpoint_seconds: None,
        unpaid_seconds: 0,
    });
    let found = unused(&world(&price, Currency::USD, &[]), &[]);
    assert!(found.expected_lost.amount > Decimal::ZERO);
    assert_eq!(found.unused, dollars("0.0072"));
    assert_eq!(
        found.paid.amount - found.expected_lost.amount,
        dollars("0.024").amount
    );
}

#[test]
fn the_exact_time_leaves_nothing_unused() {
    let mut price = minutes();
    price.billing.step_seconds = 0;
    let found = unused(&world(&price, Currency::USD, &[]), &[]);
    assert_eq!(found.unused, dollars("0"));
    // Of 42 s, 12 s are no work.
    share(found.not_work_share, 12.0 / 42.0);
    assert_eq!(
        found.sentences,
        [
            "29 % of the cost in local is overhead outside the work itself (startup 24 %): longer runs would reduce this share."
        ]
    );
}

/// The same runs on one machine, five seconds idle before all but the first: 168 s of use and 15 s
/// idle make 183 s, and the fourth minute is paid.
#[test]
fn what_a_shared_machine_adds_is_found_on_its_runs() {
    let mut price = minutes();
    price.billing.rental = RentalScope::Study;
    let mut world = world(&price, Currency::USD, &[]);
    for (place, record) in world.records.iter_mut().enumerate() {
        record.rental = Some(RentalPart {
            id: "a".into(),
            idle_seconds: if place == 0 { 0.0 } else { 5.0 },
        });
    }
    cost::settle(&mut world.records);
    let found = unused(&world, &[]);
    assert_eq!(found.paid, dollars("0.024"));
    assert_eq!(found.idle, dollars("0.0015"));
    assert_eq!(found.rounding, dollars("0.0057"));
    assert_eq!(
        found.sentences,
        [
            "24 % of the cost in local is rounding up to 60 s: the rental as a whole is short compared with that.",
            "6.2 % of the cost in local is idle time of the machine between runs.",
        ]
    );
    let facts = &analysis(&world, &[]).bills[0];
    let rented = &facts.rented;
    assert_eq!((facts.runs, rented.rentals), (4, 1));
    assert_eq!(
        [
            rented.seconds,
            rented.idle_seconds,
            rented.rounding_seconds,
            rented.minimum_seconds
        ],
        [240, 15, 57, 0].map(Decimal::from)
    );
}
