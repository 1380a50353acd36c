//! What a study expects beside the time of its machines, against the same of the bill.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Study, amount, causes, charge, charges, decimal, details, money, sums_up};
use model::money::{AroundRun, Discount, DiscountTerms, Interruptions, LineKind, MonthOfUse, Unit};

const T4: &str = "aws/g4dn.xlarge@us-east-1";

/// A newer report of AWS; each row: type, product, usage type, resource, hours or so, cost.
fn report(rows: &[[&str; 6]]) -> String {
    let header = "line_item_usage_account_id,line_item_line_item_type,line_item_usage_start_date,\
        line_item_usage_end_date,line_item_product_code,line_item_usage_type,\
        line_item_resource_id,line_item_usage_amount,line_item_currency_code,\
        line_item_unblended_cost,product_region_code,pricing_unit";
    let row = |[kind, product, usage, resource, quantity, cost]: &[&str; 6]| {
        let unit = match usage.contains("Usage:") {
            true => "Hrs",
            false => "",
        };
        format!(
            "111,{kind},2024-03-04 10:00:00.000,2024-03-04 11:00:00.000,{product},{usage},{resource},\
             {quantity},USD,{cost},us-east-1,{unit}"
        )
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    format!("{header}\n{}\n", rows.join("\n"))
}

const MACHINE: [&str; 6] = [
    "Usage",
    "AmazonEC2",
    "BoxUsage:g4dn.xlarge",
    "i-1",
    "1",
    "0.526",
];

/// A run of an hour, with whatever else it pays.
fn study(billing: impl FnOnce(&mut model::BillingRule)) -> Study {
    let mut study = Study::in_dollars();
    billing(&mut study.billing);
    study.run(T4, "0.526", "2024-03-04T10:00:00Z", 3600.0)
}

#[test]
fn only_what_differs_from_the_estimate_is_a_line() {
    let study = study(|rule| {
        rule.charges = vec![
            charge(LineKind::Disk, "disk", "4.10 USD"),
            charge(LineKind::Address, "address", "0.005 USD"),
        ];
    });
    let found = study.against(&report(&[
        MACHINE,
        [
            "Usage",
            "AmazonEC2",
            "EBS:VolumeUsage.gp3",
            "vol-1",
            "54",
            "4.35",
        ],
        [
            "Usage",
            "AmazonVPC",
            "PublicIPv4:InUseAddress",
            "ip",
            "1",
            "0.005",
        ],
    ]));
    assert_eq!(causes(&found), ["disk 0.25"]);
    // Also what came as expected is told.
    assert_eq!(
        charges(&found),
        [
            "disks: US$ 4.10 estimated, US$ 4.35 billed",
            "public addresses: US$ 0.0050 estimated, US$ 0.0050 billed"
        ]
    );
    assert_eq!(found.charges[0].rows, 1);
    assert_eq!(found.estimate, money("4.631 USD"));
    sums_up(&found);
}

#[test]
fn what_the_bill_lacks_was_estimated_alone() {
    let study = study(|rule| {
        rule.charges = vec![
            charge(LineKind::Storage, "image registry", "0.10 USD"),
            charge(LineKind::Storage, "object storage", "0.20 USD"),
            charge(LineKind::Fee, "membership", "1 USD"),
        ];
    });
    let found = study.against(&report(&[
        MACHINE,
        [
            "Usage",
            "AmazonS3",
            "TimedStorage-ByteHrs",
            "bucket",
            "9",
            "0.21",
        ],
    ]));
    assert_eq!(
        causes(&found),
        ["fee -1", "object-storage 0.01", "registry -0.1"]
    );
    assert_eq!(
        charges(&found),
        [
            "image registry: US$ 0.10 estimated, not on the bill",
            "object and file storage: US$ 0.20 estimated, US$ 0.21 billed",
            "fees: US$ 1.00 estimated, not on the bill"
        ]
    );
    assert_eq!(details(&found, "fee"), ["estimated, not on the bill"]);
    sums_up(&found);
}

#[test]
fn what_is_free_goes_with_its_charge_and_tax_with_tax() {
    let study = study(|rule| {
        rule.charges = vec![model::money::Charge {
            unit: Unit::Gigabyte,
            quantity: decimal("10"),
            free: decimal("50"),
            ..charge(LineKind::Traffic, "data out", "0.09 USD")
        }];
        rule.month.gigabytes = Some(decimal("100"));
        rule.tax_percent = Some(decimal("10"));
    });
    // 0.526 of the machine, 0.45 of traffic, of which half is free, and a tenth of both.
    assert_eq!(study.runs[0].bill.as_ref().unwrap().lines.len(), 4);
    let found = study.against(&report(&[
        MACHINE,
        [
            "Usage",
            "AWSDataTransfer",
            "DataTransfer-Out-Bytes",
            "i-1",
            "10",
            "0.5",
        ],
        ["Tax", "AmazonEC2", "", "", "", "0.11"],
    ]));
    assert_eq!(causes(&found), ["tax 0.0124", "traffic 0.05"]);
    assert_eq!(
        charges(&found),
        [
            "data transfer: US$ 0.45 estimated, US$ 0.50 billed",
            "tax: US$ 0.098 estimated, US$ 0.11 billed"
        ]
    );
    sums_up(&found);
}

#[test]
fn charges_are_converted_as_the_run_was() {
    let mut study = Study::in_reais("5");
    study.billing.charges = vec![charge(LineKind::Disk, "disk", "0.1 USD")];
    let mut study = study.run(T4, "0.5", "2024-03-04T10:00:00Z", 3600.0);
    // The study may have got another rate since.
    study.rates = vec![common::rate_of("USD", "BRL", "6")];
    let disk = [
        "Usage",
        "AmazonEC2",
        "EBS:VolumeUsage.gp3",
        "vol-1",
        "1",
        "0.6",
    ];
    let machine = [
        "Usage",
        "AmazonEC2",
        "BoxUsage:g4dn.xlarge",
        "i-1",
        "1",
        "2.5",
    ];
    let found = study.against(&report(&[machine, disk]).replace(",USD,", ",BRL,"));
    assert_eq!(
        charges(&found),
        ["disks: R$ 0.50 estimated, R$ 0.60 billed"]
    );
    assert_eq!(causes(&found), ["disk 0.1"]);
    sums_up(&found);
}

#[test]
fn expected_losses_are_an_expectation() {
    let study = study(|rule| {
        rule.interruptions = Some(Interruptions {
            per_hour: decimal("0.1"),
            restart_seconds: 60,
            checkpoint_seconds: None,
            unpaid_seconds: 0,
        });
    });
    let found = study.against(&report(&[MACHINE]));
    let lost = found.estimate.amount - decimal("0.526");
    assert!(lost > decimal("0.02"), "{lost}");
    let line = amount(&found, "expected-losses");
    assert_eq!(line.round_dp(8), -lost.round_dp(8));
    let told = &details(&found, "expected-losses")[0];
    assert!(
        told.starts_with("aws/g4dn.xlarge@us-east-1, 0.05 h on average: an expected value;"),
        "{told}"
    );
    sums_up(&found);
}

fn half_off(rule: &mut model::BillingRule) {
    rule.discounts = vec![Discount {
        what: "savings plan".to_owned(),
        terms: DiscountTerms::Committed {
            percent: decimal("50"),
            share_percent: decimal("100"),
        },
    }];
}

#[test]
fn discounts_are_in_the_price_where_the_bill_has_no_credits() {
    let study = study(half_off);
    let half = [
        "Usage",
        "AmazonEC2",
        "BoxUsage:g4dn.xlarge",
        "i-1",
        "1",
        "0.263",
    ];
    assert_eq!(causes(&study.against(&report(&[half]))), [""; 0]);
    let found = study.against(&report(&[MACHINE]));
    assert_eq!(causes(&found), ["unit-price 0.263"]);
    let told = &details(&found, "unit-price")[0];
    assert!(told.ends_with(", minus discounts of US$ 0.26"), "{told}");
    sums_up(&found);
}

#[test]
fn discounts_are_held_against_credits_of_the_machine() {
    let mut study = Study::in_dollars();
    study.billing.month = MonthOfUse {
        hours: Some(decimal("730")),
        ..MonthOfUse::default()
    };
    half_off(&mut study.billing);
    let machine = "gcp/n1-standard-4@us-central1";
    let study = study.run(machine, "0.19", "2024-03-04T10:00:00Z", 3600.0);
    let bill = "service.description,sku.description,usage_start_time,usage_end_time,project.id,\
        location.region,resource.name,cost,currency,usage.amount,usage.unit,machine_spec,credits.amount\n\
        Compute Engine,N1 Predefined Instance Core running in Americas,2024-03-04 10:00:00 UTC,\
        2024-03-04 11:00:00 UTC,lab,us-central1,vm-1,0.19,USD,14400,seconds,n1-standard-4,-0.09\n";
    let found = study.against(bill);
    assert_eq!(causes(&found), ["credit 0.005"]);
    assert_eq!(
        charges(&found),
        ["credits, discounts, free tier: US$ -0.095 estimated, US$ -0.090 billed"]
    );
    sums_up(&found);
}

#[test]
fn machines_outside_the_period_take_their_charges_along() {
    let mut study = Study::in_dollars();
    study.billing.charges = vec![charge(LineKind::Disk, "disk", "0.1 USD")];
    let study = study.run(T4, "0.526", "2024-03-04T10:00:00Z", 3600.0).run(
        T4,
        "0.526",
        "2024-05-04T10:00:00Z",
        3600.0,
    );
    let found = study.against(&report(&[MACHINE]));
    assert_eq!(causes(&found), ["disk -0.1", "not-in-period -0.626"]);
    sums_up(&found);
}

#[test]
fn typed_prices_are_told_by_environment() {
    let mut study = Study::in_dollars();
    study.environment = "desk";
    let mut study = study.run("own", "0.10", "2024-03-04T10:00:00Z", 3600.0);
    study.environment = "lab";
    study.machines = 2;
    let study = study.run("own", "0.50", "2024-03-04T10:00:00Z", 7200.0);
    let found = study.against(&report(&[MACHINE]));
    let told: Vec<String> = found.machines.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "own (desk): 1 h estimated at US$ 0.1/h (2024-02-20), which is on no provider's bill",
            "own (lab): 4 h estimated at US$ 0.5/h (2024-02-20), which is on no provider's bill"
        ]
    );
    assert_eq!(found.machines[1].environments, ["lab"]);
    assert_eq!(
        details(&found, "not-billed"),
        ["own (desk), 1 run", "own (lab), 1 run"]
    );
    let note = found.notes[0].to_string();
    assert!(
        note.starts_with("the prices of own (desk), own (lab) name no provider's machine"),
        "{note}"
    );
    sums_up(&found);
}

#[test]
fn a_typed_price_still_has_its_disk_on_the_bill() {
    let mut study = Study::in_dollars();
    study.billing.charges = vec![charge(LineKind::Disk, "disk", "0.1 USD")];
    let study = study.run("own", "0.5", "2024-03-04T10:00:00Z", 3600.0);
    let bill = report(&[[
        "Usage",
        "AmazonEC2",
        "EBS:VolumeUsage.gp3",
        "vol-1",
        "1",
        "0.12",
    ]]);
    let tagged = bill
        .replacen("pricing_unit", "pricing_unit,resource_tags", 1)
        .replacen(
            "us-east-1,\n",
            "us-east-1,,\"{\"\"user_project\"\":\"\"thesis\"\"}\"\n",
            1,
        );
    let found = study.against_tagged(&tagged, "project=thesis");
    assert_eq!(causes(&found), ["disk 0.02", "not-billed -0.5"]);
    sums_up(&found);
}

#[test]
fn several_machines_are_rows_of_that_machine() {
    let mut study = Study::in_dollars();
    study.machines = 3;
    let mut study = study.run(T4, "0.526", "2024-03-04T10:00:00Z", 1800.0);
    study.machines = 1;
    let study = study.run(T4, "0.526", "2024-03-04T10:30:00Z", 1800.0);
    let half = |id| {
        [
            "Usage",
            "AmazonEC2",
            "BoxUsage:g4dn.xlarge",
            id,
            "0.5",
            "0.263",
        ]
    };
    let found = study.against(&report(&[MACHINE, half("i-2"), half("i-3")]));
    assert_eq!(causes(&found), [""; 0]);
    assert_eq!(found.estimate, money("1.052 USD"));
    assert_eq!(found.machines.len(), 1);
    assert_eq!(
        found.machines[0].to_string(),
        "aws/g4dn.xlarge@us-east-1: 2 h estimated at US$ 0.526/h (2024-02-20), 2 h billed at US$ \
         0.526/h"
    );
    // Three resources for three machines at once are no reason to doubt.
    let notes: Vec<String> = found.notes.iter().map(ToString::to_string).collect();
    assert!(
        !notes.iter().any(|note| note.contains("at once")),
        "{notes:?}"
    );
    sums_up(&found);
}

#[test]
fn spot_machines_are_rows_of_spot_machines() {
    let study = Study::in_dollars()
        .run(T4, "0.526", "2024-03-04T10:00:00Z", 3600.0)
        .run(
            "aws/g4dn.xlarge@us-east-1+spot",
            "0.16",
            "2024-03-04T10:00:00Z",
            3600.0,
        );
    let spot = [
        "Usage",
        "AmazonEC2",
        "SpotUsage:g4dn.xlarge",
        "i-2",
        "1",
        "0.17",
    ];
    let found = study.against(&report(&[spot, MACHINE]));
    assert_eq!(causes(&found), ["unit-price 0.01"]);
    let told = &details(&found, "unit-price")[0];
    assert!(
        told.starts_with("aws/g4dn.xlarge@us-east-1+spot: US$ 0.17/h"),
        "{told}"
    );
    sums_up(&found);
}

#[test]
fn the_life_of_a_machine_around_its_run_was_estimated() {
    let mut study = Study::in_dollars();
    study.billing.around = AroundRun {
        startup_seconds: 300,
        install_seconds: 600,
        shutdown_seconds: 300,
    };
    // The machine was on from ten to eleven, the run on it for forty minutes.
    let study = study.run(T4, "0.526", "2024-03-04T10:15:00Z", 2400.0);
    let found = study.against(&report(&[MACHINE]));
    assert_eq!(found.estimate.amount, decimal("0.526"));
    assert_eq!(causes(&found), Vec::<String>::new());
    sums_up(&found);
}
