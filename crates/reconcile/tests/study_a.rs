//! Study A of docs/studies.md: about R$ 134 were estimated, about R$ 158 billed. What came
//! between, as a bill of the shape that Azure writes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Study, amount, decimal, items, money, sums_up};
use reconcile::{MatchedBy, RateTold};

const CPU: &str = "azure/Standard_F4s_v2@eastus";
const GPU: &str = "azure/Standard_NC4as_T4_v3@eastus";

/// 140 hours on the CPU machine, 7.371 on the GPU machine, at R$ 4.865 for a dollar (R$ 973 for
/// the budget of US$ 200).
fn study() -> Study {
    let mut study = Study::in_reais("4.865");
    for started in [
        "2024-03-04T08:00:00Z",
        "2024-03-05T12:30:00Z",
        "2024-03-06T17:00:00Z",
        "2024-03-07T21:30:00Z",
        "2024-03-09T02:00:00Z",
    ] {
        study = study.run(CPU, "0.169", started, 28.0 * 3600.0);
    }
    for started in ["2024-03-11T09:00:00Z", "2024-03-11T13:01:07.8Z"] {
        study = study.run(GPU, "0.526", started, 13_267.8);
    }
    study
}

#[test]
fn the_difference_is_explained_line_by_line() {
    let found = study().against(include_str!("fixtures/study-a-azure.csv"));
    assert_eq!(found.matched_by, MatchedBy::MachineAndTime);
    assert_eq!(found.estimate.to_string(), "R$ 133.97");
    assert_eq!(found.bill, money("158 BRL"));
    let cents = |cause: &str| amount(&found, cause).round_dp(2);
    assert_eq!(cents("tax"), decimal("7.03"));
    assert_eq!(cents("exchange-rate"), decimal("4.27"));
    assert_eq!(cents("address"), decimal("3.61"));
    assert_eq!(cents("disk"), decimal("2.05"));
    assert_eq!(cents("traffic"), decimal("0.35"));
    // 2 h between the runs of the CPU machine, 20 min between those of the GPU machine.
    assert_eq!(cents("between-runs"), decimal("2.58"));
    let idle = amount(&found, "before-runs") + amount(&found, "after-runs");
    // 1 h 15 min of one, 1 h 10 min of the other.
    assert_eq!(idle.round_dp(2), decimal("4.14"));
    assert_eq!(found.unexplained.amount, money("0 BRL"));
    assert_eq!(
        items(&found),
        [
            "Study azure/Standard_F4s_v2@eastus: R$ 121.53",
            "Study azure/Standard_NC4as_T4_v3@eastus: R$ 23.42",
            "Study public addresses: R$ 3.61",
            "Study disks: R$ 2.05",
            "Study data transfer: R$ 0.35",
            "Account tax: R$ 7.03",
        ]
    );
    sums_up(&found);
}

#[test]
fn the_rate_is_told_by_the_bill() {
    let found = study().against(include_str!("fixtures/study-a-azure.csv"));
    let rate = &found.rates[0];
    assert_eq!(rate.told, RateTold::ByTheBill);
    assert_eq!(rate.study_rate.round_dp(3), decimal("4.865"));
    assert_eq!(rate.bill_rate.round_dp(3), decimal("5.02"));
    assert_eq!(rate.study_rate_date, "2024-03-01");
}

#[test]
fn a_whole_is_a_whole_in_parts() {
    // The same bill in two files, the header on both.
    let text = include_str!("fixtures/study-a-azure.csv");
    let lines: Vec<&str> = text.lines().collect();
    let part = |rows: &[&str]| format!("{}\n{}\n", lines[0], rows.join("\n"));
    let (first, second) = (part(&lines[1..9]), part(&lines[9..]));
    let study = study();
    let found = reconcile::reconcile(&study.question(), |bills| {
        bills.read("march-1.csv", first.as_bytes())?;
        bills.read("march-2.csv", second.as_bytes())
    })
    .unwrap();
    let whole = study.against(text);
    assert_eq!(found.lines, whole.lines);
    assert_eq!(found.bill, whole.bill);
}

#[test]
fn training_alone_leaves_phases_unpaid() {
    let study = Study::in_dollars().paying_training_alone().run(
        CPU,
        "0.169",
        "2024-03-04T08:00:00Z",
        7200.0,
    );
    let row = "2024-03-04,F4s v2,Virtual Machines,2.0166666667,1 Hour,0.3408166667,USD,eastus,vm";
    let bill = format!(
        "Date,MeterName,MeterCategory,Quantity,UnitOfMeasure,Cost,Currency,ResourceLocation,ResourceId\n{row}\n"
    );
    let found = study.against(&bill);
    // The run loads its data for a minute, which the estimate does not pay.
    assert_eq!(
        amount(&found, "unpaid-phases").round_dp(6),
        decimal("0.002817")
    );
    sums_up(&found);
}
