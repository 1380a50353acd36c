//! Measured time at other prices.

mod common;

use common::run;
use cost::{Comparison, LookupError, catalog, compare, settle, times};
use model::money::RentalScope;
use model::{PaidPhases, Price, RunRecord, Status};
use proptest::prelude::*;
use rust_decimal::Decimal;

fn find(name: &str) -> Result<Price, LookupError> {
    catalog().price(name)
}

fn amounts(comparison: &Comparison) -> Vec<String> {
    let totals = comparison.machines.iter().map(|m| m.total.amount);
    totals.map(|amount| amount.to_string()).collect()
}

fn records(price: &Price) -> Vec<RunRecord> {
    let mut records = vec![
        run(1, 1, 30.0, Some(price)),
        run(1, 2, 20.0, Some(price)),
        run(2, 1, 3600.0, Some(price)),
    ];
    settle(&mut records);
    records
}

#[test]
fn every_run_is_billed_anew_by_the_other_rule() {
    let azure = find("azure/Standard_F4s_v2").unwrap();
    let aws = find("aws/c7g.xlarge").unwrap();
    let comparison = compare(&records(&azure), &[], &[azure, aws]);
    // Its own price gives its own bills; EC2's minimum of a minute is long passed.
    let own = comparison.machines[0].total;
    assert_eq!(comparison.measured_total, Some(own));
    assert_eq!(amounts(&comparison)[1], "0.1470138889");
    assert_eq!(comparison.runs, 3);
    let paid: Vec<String> = comparison
        .scenarios
        .iter()
        .map(|s| format!("C{} {} {}", s.number, s.runs, s.paid_seconds))
        .collect();
    assert_eq!(paid, ["C1 2 25", "C2 1 3600"]);
    assert_eq!(
        comparison.machines[1].per_run[1],
        "0.145 USD".parse().unwrap()
    );
}

#[test]
fn machines_of_their_own_pay_their_own_minimum() {
    let mut azure = find("azure/Standard_F4s_v2").unwrap();
    azure.billing.rental = RentalScope::Run;
    let aws = find("aws/c7g.xlarge").unwrap();
    let comparison = compare(&records(&azure), &[], &[aws]);
    // EC2 counts a minute at least, twice here: 3720 s.
    assert_eq!(amounts(&comparison), ["0.1498333334"]);
}

#[test]
fn runs_that_failed_bear_their_part_of_the_machine_elsewhere_too() {
    let aws = find("aws/c7g.xlarge").unwrap();
    let mut all = vec![
        run(1, 1, 15.0, Some(&aws)),
        run(1, 2, 15.0, Some(&aws)),
        run(1, 3, 20.0, Some(&aws)),
    ];
    all[1].outcome.status = Status::Failed;
    settle(&mut all);
    let superseded = [all.remove(2)];
    let comparison = compare(&all, &superseded, &[aws]);
    assert_eq!(comparison.runs, 1);
    let there = comparison.machines[0].total;
    let own = comparison.measured_total.unwrap();
    // The run of 15 s bears 15/50 of a minute.
    assert!(
        (there.amount - own.amount).abs() <= Decimal::new(2, 10),
        "{there} {own}"
    );
    assert_eq!(own.amount.round_dp(6), "0.000725".parse().unwrap());
}

#[test]
fn the_machines_start_is_paid_elsewhere_too() {
    let mut azure = find("azure/Standard_F4s_v2").unwrap();
    azure.billing.around.startup_seconds = 350;
    let hour = Price {
        per_hour: "3.6 USD".parse().unwrap(),
        ..find("azure/Standard_NC4as_T4_v3").unwrap()
    };
    assert_eq!(amounts(&compare(&records(&azure), &[], &[hour])), ["4"]);
}

#[test]
fn only_the_phases_that_are_paid_count_and_only_runs_that_ended_ok() {
    let mut azure = find("azure/Standard_F4s_v2").unwrap();
    azure.billing.paid = PaidPhases::Only(vec!["train".to_owned()]);
    let mut failed = run(1, 2, 50.0, Some(&azure));
    failed.outcome.status = Status::Failed;
    let records = [run(1, 1, 100.0, Some(&azure)), failed];
    let hundred = Price {
        per_hour: "3600 USD".parse().unwrap(),
        ..find("azure/Standard_NC4as_T4_v3").unwrap()
    };
    let comparison = compare(&records, &[], &[hundred]);
    assert_eq!(amounts(&comparison), ["90"]);
    assert_eq!((comparison.runs, comparison.other_runs), (1, 1));
}

#[test]
fn runs_without_a_bill_have_no_total_of_their_own() {
    let comparison = compare(&[run(1, 1, 100.0, None)], &[], &[]);
    assert_eq!(comparison.measured_total, None);
    assert_eq!(comparison.scenarios[0].measured, None);
    assert_eq!(
        compare(&[], &[], &[find("aws/m5.large").unwrap()]).machines[0]
            .total
            .amount,
        Decimal::ZERO
    );
}

#[test]
fn prices_of_two_currencies_do_not_compare() {
    let money = |text: &str| text.parse().unwrap();
    assert_eq!(
        times(money("2 USD"), money("4 USD")),
        Some("0.5".parse().unwrap())
    );
    assert_eq!(times(money("2 USD"), money("4 BRL")), None);
    assert_eq!(times(money("2 USD"), money("0 USD")), None);
}

proptest! {
    #[test]
    fn a_dearer_machine_never_costs_less(seconds in 10.0_f64..1e6, cents in 1_i64..100_000) {
        let price = |cents: i64| Price {
            per_hour: model::Money::new(Decimal::new(cents, 2), model::Currency::USD),
            ..find("aws/m5.large").unwrap()
        };
        let comparison = compare(&[run(1, 1, seconds, None)], &[], &[price(cents), price(cents + 1)]);
        prop_assert!(comparison.machines[0].total.amount <= comparison.machines[1].total.amount);
    }
}
