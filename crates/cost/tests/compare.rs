//! Measured time at other prices.

use std::collections::BTreeMap;

use cost::{BillRequest, Comparison, bill, compare, find, times};
use model::run::{BUNDLE_SCHEMA, EnvironmentRecord, Origin};
use model::{
    Currency, Inventory, Limits, Outcome, PaidPhases, Phase, Price, RunId, RunRecord, Scenario,
    Status, Timestamp,
};
use proptest::prelude::*;
use rust_decimal::Decimal;

/// A run of so many seconds, of which the last ten are saving.
fn run(scenario: u32, repetition: u32, seconds: f64, price: Option<&Price>) -> RunRecord {
    let phase = |name: &str, begin_seconds, seconds| Phase {
        name: name.to_owned(),
        begin_seconds,
        seconds,
    };
    let phases = vec![
        phase("train", 0.0, seconds - 10.0),
        phase("save", seconds - 10.0, 10.0),
    ];
    let billed = price.map(|price| {
        let request = BillRequest {
            phases: &phases,
            total_seconds: seconds,
            requests: None,
            started: None,
            price,
            spoken: Currency::USD,
            rates: &[],
        };
        bill(&request).bill
    });
    RunRecord {
        schema: BUNDLE_SCHEMA,
        study: "s".to_owned(),
        run: RunId {
            scenario,
            repetition,
        },
        scenario: Scenario {
            number: scenario,
            levels: Vec::new(),
        },
        origin: Origin::Measured {
            bancada: "0".to_owned(),
        },
        outcome: Outcome::ok(),
        started: Timestamp::UNIX_EPOCH,
        seconds,
        phases,
        epochs: Vec::new(),
        metrics: BTreeMap::new(),
        environment: EnvironmentRecord {
            name: "cpu".to_owned(),
            limits: Limits::default(),
            limits_by: "none".to_owned(),
            device: None,
        },
        command: Vec::new(),
        machine: Inventory::default(),
        price: price.cloned(),
        bill: billed,
        warnings: Vec::new(),
        framework: None,
        serving: None,
        profile: Vec::new(),
    }
}

fn amounts(comparison: &Comparison) -> Vec<String> {
    let totals = comparison.machines.iter().map(|m| m.total.amount);
    totals.map(|amount| amount.to_string()).collect()
}

#[test]
fn every_run_is_billed_anew_by_the_other_rule() {
    let azure = find("azure/Standard_F4s_v2").unwrap();
    let aws = find("aws/c7g.xlarge").unwrap();
    let records = [
        run(1, 1, 30.0, Some(&azure)),
        run(1, 2, 40.0, Some(&azure)),
        run(2, 1, 3600.0, Some(&azure)),
    ];
    let comparison = compare(&records, &[azure, aws]);
    // Its own price gives its own bills; EC2 counts a minute at least, twice here.
    let own = comparison.machines[0].total;
    assert_eq!(comparison.measured_total, Some(own));
    assert_eq!(amounts(&comparison)[1], "0.1498333334");
    assert_eq!(comparison.runs, 3);
    let paid: Vec<String> = comparison
        .scenarios
        .iter()
        .map(|s| format!("C{} {} {}", s.number, s.runs, s.paid_seconds))
        .collect();
    assert_eq!(paid, ["C1 2 35", "C2 1 3600"]);
    assert_eq!(
        comparison.machines[1].per_run[1],
        "0.145 USD".parse().unwrap()
    );
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
    let comparison = compare(&records, &[hundred]);
    assert_eq!(amounts(&comparison), ["90"]);
    assert_eq!((comparison.runs, comparison.other_runs), (1, 1));
}

#[test]
fn runs_without_a_bill_have_no_total_of_their_own() {
    let comparison = compare(&[run(1, 1, 100.0, None)], &[]);
    assert_eq!(comparison.measured_total, None);
    assert_eq!(comparison.scenarios[0].measured, None);
    assert_eq!(
        compare(&[], &[find("aws/m5.large").unwrap()]).machines[0]
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
            per_hour: model::Money::new(Decimal::new(cents, 2), Currency::USD),
            ..find("aws/m5.large").unwrap()
        };
        let comparison = compare(&[run(1, 1, seconds, None)], &[price(cents), price(cents + 1)]);
        prop_assert!(comparison.machines[0].total.amount <= comparison.machines[1].total.amount);
    }
}
