//! Several runs on one machine.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::run;
use cost::{BillRequest, Rental, settle, settle_measured};
use model::money::{LineKind, RentalScope};
use model::{Bill, BillingRule, MachineLife, PaidPhases, Price, RentalPart, RunRecord};
use proptest::prelude::*;
use rust_decimal::Decimal;

fn at(per_hour: &str, step_seconds: u32, minimum_seconds: u32) -> Price {
    Price {
        billing: BillingRule {
            step_seconds,
            minimum_seconds,
            ..BillingRule::default()
        },
        ..Price::typed_in(per_hour.parse().unwrap())
    }
}

/// One rental of runs of these seconds, half a second idle before each but the first.
fn rented(price: &Price, seconds: &[f64]) -> Vec<RunRecord> {
    let mut records: Vec<RunRecord> = Vec::new();
    for (place, seconds) in seconds.iter().enumerate() {
        let mut record = run(1, place as u32 + 1, *seconds, Some(price));
        record.rental = Some(RentalPart {
            id: "2026-01-01T00:00:00Z".to_owned(),
            idle_seconds: if place == 0 { 0.0 } else { 0.5 },
        });
        records.push(record);
    }
    settle(&mut records);
    records
}

fn bills(records: &[RunRecord]) -> Vec<&Bill> {
    records.iter().filter_map(|r| r.bill.as_deref()).collect()
}

fn total(records: &[RunRecord]) -> Decimal {
    bills(records).iter().map(|bill| bill.total.amount).sum()
}

fn seconds_of(records: &[RunRecord], kind: LineKind) -> Decimal {
    let lines = bills(records).into_iter().flat_map(|bill| &bill.lines);
    let lines = lines.filter(|line| line.kind == kind);
    lines.map(|line| line.seconds).sum()
}

#[test]
fn a_minimum_is_paid_once_and_each_run_bears_its_part() {
    // 20 s of use and 0.5 s idle, at least 60 s: 39.5 s more.
    let records = rented(&at("3.6 USD", 1, 60), &[15.0, 5.0]);
    let lines: Vec<String> = bills(&records)[0]
        .lines
        .iter()
        .map(|line| format!("{}: {} s, {}", line.what, line.seconds, line.amount.amount))
        .collect();
    assert_eq!(
        lines,
        [
            "train: 5 s, 0.005",
            "save: 10 s, 0.01",
            "share of idle between runs: 0.375 s, 0.000375",
            "share of rounding up to 1 s: 0.375 s, 0.000375",
            "share of minimum of 60 s: 29.25 s, 0.02925",
        ]
    );
    assert_eq!(total(&records), Decimal::new(6, 2));
}

#[test]
fn many_short_runs_pay_one_minimum_and_machines_of_their_own_one_each() {
    let check = |scope: RentalScope, expected: &str| {
        let mut price = at("3.6 USD", 1, 60);
        price.billing.rental = scope;
        let records = rented(&price, &[10.0; 9]);
        assert_eq!(total(&records), expected.parse().unwrap(), "{scope:?}");
    };
    // 90 s of use and 4 s idle.
    check(RentalScope::Study, "0.094");
    check(RentalScope::Run, "0.54");
}

#[test]
fn the_machines_start_and_end_are_paid_once() {
    let mut price = at("3.6 USD", 1, 0);
    price.billing.around.startup_seconds = 40;
    price.billing.around.shutdown_seconds = 20;
    assert_eq!(
        total(&rented(&price, &[10.0, 30.0])),
        "0.101".parse().unwrap()
    );
}

#[test]
fn who_pays_for_some_phases_only_pays_no_idle_time() {
    let mut price = at("3.6 USD", 0, 0);
    price.billing.paid = PaidPhases::Only(vec!["train".to_owned()]);
    let records = rented(&price, &[20.0, 40.0]);
    assert_eq!(seconds_of(&records, LineKind::Idle), Decimal::ZERO);
    assert_eq!(total(&records), "0.04".parse().unwrap());
}

#[test]
fn another_session_another_price_and_another_environment_are_other_rentals() {
    let price = at("3.6 USD", 1, 60);
    let check = |change: &dyn Fn(&mut RunRecord), expected: &str| {
        let mut records = rented(&price, &[20.0, 20.0]);
        change(&mut records[1]);
        settle(&mut records);
        assert_eq!(total(&records), expected.parse().unwrap());
    };
    check(&|_| (), "0.06");
    check(&|r| r.environment.name = "other".to_owned(), "0.12");
    check(&|r| r.rental = None, "0.12");
    let pricier = at("7.2 USD", 1, 60);
    check(&|r| r.price = Some(pricier.clone().into()), "0.18");
}

#[test]
fn the_growing_sum_pays_the_minimum_at_the_price_that_holds() {
    let mut price = at("3.6 USD", 1, 60);
    price.changes = vec![model::money::PriceChange {
        from: "1970-01-01T00:00:10Z".parse().unwrap(),
        per_hour: Decimal::from(36),
    }];
    let records = rented(&price, &[20.0]);
    let mut rental = Rental::new(&price);
    rental.add(
        &BillRequest::of(&records[0], &price, price.per_hour.currency, &[]),
        0.0,
    );
    assert_eq!(rental.total().amount, total(&records));
}

#[test]
fn settling_twice_changes_nothing() {
    let mut records = rented(&at("3.6 USD", 60, 600), &[15.0, 5.5, 77.25]);
    let once = records.clone();
    settle(&mut records);
    assert_eq!(records, once);
}

#[test]
fn taxes_and_discounts_hold_for_what_the_rental_adds_too() {
    let mut price = at("3.6 USD", 1, 60);
    price.billing.tax_percent = Some(Decimal::from(10));
    assert_eq!(
        total(&rented(&price, &[15.0, 5.0])),
        "0.066".parse().unwrap()
    );
}

proptest! {
    /// The whole is what a provider bills: used and idle time, rounded up once.
    #[test]
    fn parts_sum_to_the_whole(
        milliseconds in proptest::collection::vec(10_001u32..5_000_000, 1..20),
        step in prop_oneof![Just(0u32), Just(1), Just(60), Just(600)],
        minimum in 0u32..1000,
    ) {
        let price = at("1 USD", step, minimum);
        let seconds: Vec<f64> = milliseconds.iter().map(|ms| f64::from(*ms) / 1000.0).collect();
        let records = rented(&price, &seconds);
        let used: Decimal = milliseconds.iter().map(|ms| Decimal::new(i64::from(*ms), 3)).sum();
        let idle = Decimal::new(5 * (milliseconds.len() as i64 - 1), 1);
        let steps = (used + idle).checked_div(Decimal::from(step)).map(|n| n.ceil() * Decimal::from(step));
        let paid = steps.unwrap_or(used + idle).max(Decimal::from(minimum));
        let all = [LineKind::Time, LineKind::Idle, LineKind::Rounding, LineKind::Minimum];
        let sum: Decimal = all.iter().map(|kind| seconds_of(&records, *kind)).sum();
        prop_assert_eq!(sum, paid);
        prop_assert_eq!(total(&records), cost::amount_for(paid, Decimal::ONE));
    }

    /// What the budget counts while runs come in is what their bills say at the end.
    #[test]
    fn the_sum_that_grows_is_the_sum_of_the_bills(
        milliseconds in proptest::collection::vec(10_001u32..5_000_000, 1..20),
        scope in prop_oneof![Just(RentalScope::Study), Just(RentalScope::Run)],
    ) {
        let mut price = at("1 USD", 60, 600);
        price.billing.rental = scope;
        price.billing.tax_percent = Some(Decimal::from(17));
        let seconds: Vec<f64> = milliseconds.iter().map(|ms| f64::from(*ms) / 1000.0).collect();
        let records = rented(&price, &seconds);
        let mut rental = Rental::new(&price);
        for record in &records {
            let idle = record.rental.as_ref().map_or(0.0, |part| part.idle_seconds);
            rental.add(&BillRequest::of(record, &price, price.per_hour.currency, &[]), idle);
        }
        let difference = (rental.total().amount - total(&records)).abs();
        prop_assert!(difference <= Decimal::new(3 * records.len() as i64, 10), "{difference}");
    }
}

/// All of a rented machine's life is paid: boot, installation, idle time and end beside the runs.
#[test]
fn a_measured_life_is_paid_from_its_first_moment_to_its_last() {
    let price = at("3.6 USD", 1, 0);
    let mut records = rented(&price, &[15.0, 5.0]);
    let life = MachineLife {
        rental: "2026-01-01T00:00:00Z".to_owned(),
        environment: records[0].environment.name.clone(),
        began: records[0].started,
        startup_seconds: 40.6,
        install_seconds: 20.0,
        shutdown_seconds: 10.0,
        total_seconds: 100.0,
    };
    let mut other = life.clone();
    other.rental = "another".to_owned();
    settle_measured(&mut records, &[other.clone()]);
    assert_eq!(
        total(&records),
        "0.021".parse().unwrap(),
        "of another rental"
    );
    settle_measured(&mut records, &[other, life]);
    assert_eq!(total(&records), "0.1".parse().unwrap());
    // 100 s less 20 s of runs and 40 + 20 + 10 s around them.
    assert_eq!(seconds_of(&records, LineKind::Idle), Decimal::from(10));
    let startup = bills(&records)[0].lines.iter();
    assert!(
        startup
            .map(|line| line.what.as_str())
            .any(|what| what.contains("startup"))
    );
}

/// The sum that grows counts a machine that is on as its bill will.
#[test]
fn a_machine_that_is_on_is_paid_before_and_between_its_runs() {
    let price = at("3.6 USD", 1, 0);
    let records = rented(&price, &[15.0, 5.0]);
    let mut life = MachineLife {
        rental: "2026-01-01T00:00:00Z".to_owned(),
        environment: records[0].environment.name.clone(),
        began: records[0].started,
        startup_seconds: 40.6,
        install_seconds: 20.0,
        shutdown_seconds: 0.0,
        total_seconds: 70.0,
    };
    let mut rental = Rental::new(&price);
    let mut check = |rental: &mut Rental, total_seconds: f64, expected: &str| {
        life.total_seconds = total_seconds;
        rental.set_life(life.clone());
        assert_eq!(rental.total().amount, expected.parse().unwrap());
    };
    check(&mut rental, 70.0, "0.07");
    for record in &records {
        let request = BillRequest::of(record, &price, price.per_hour.currency, &[]);
        rental.add(&request, 0.5);
    }
    check(&mut rental, 90.0, "0.09");
    check(&mut rental, 100.0, "0.1");
}
