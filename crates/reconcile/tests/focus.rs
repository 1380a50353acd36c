//! FOCUS bills of several versions.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Study, amount, causes, decimal, items, money, sums_up};
use reconcile::{Format, MatchedBy};

const T4: &str = "aws/g4dn.xlarge@us-east-1";

/// Version 1.0: the machine is named only in the description.
fn focus(rows: &[&str]) -> String {
    let header = "BilledCost,BillingCurrency,ChargeCategory,ChargeClass,ChargeDescription,\
        ChargePeriodEnd,ChargePeriodStart,ConsumedQuantity,ConsumedUnit,ContractedUnitPrice,\
        PricingQuantity,ProviderName,RegionId,ResourceId,ServiceName,SubAccountId,Tags";
    format!("{header}\n{}\n", rows.join("\n"))
}

fn two_runs() -> Study {
    Study::in_dollars()
        .run(T4, "0.526", "2024-03-04T10:00:00Z", 1800.0)
        .run(T4, "0.526", "2024-03-04T11:00:00Z", 3600.0)
}

/// On from 9 to 13, billed by the hour; the runs took 1.5 hours.
const MACHINE: [&str; 4] = [
    r#"0.263,USD,Usage,NULL,"$0.526 per On Demand Linux g4dn.xlarge Instance Hour",2024-03-04 10:00:00,2024-03-04 09:00:00,0.5,Hrs,0.526,0.5,AWS,us-east-1,i-1,Amazon Elastic Compute Cloud,1,"{""bancada"": ""training-cost""}""#,
    r#"0.526,USD,Usage,NULL,"$0.526 per On Demand Linux g4dn.xlarge Instance Hour",2024-03-04 11:00:00,2024-03-04 10:00:00,1,Hrs,0.526,1,AWS,us-east-1,i-1,Amazon Elastic Compute Cloud,1,"{""bancada"": ""training-cost""}""#,
    r#"0.526,USD,Usage,NULL,"$0.526 per On Demand Linux g4dn.xlarge Instance Hour",2024-03-04 12:00:00,2024-03-04 11:00:00,1,Hrs,0.526,1,AWS,us-east-1,i-1,Amazon Elastic Compute Cloud,1,"{""bancada"": ""training-cost""}""#,
    r#"0.1315,USD,Usage,NULL,"$0.526 per On Demand Linux g4dn.xlarge Instance Hour",2024-03-04 13:00:00,2024-03-04 12:00:00,0.25,Hrs,0.526,0.25,AWS,us-east-1,i-1,Amazon Elastic Compute Cloud,1,"{""bancada"": ""training-cost""}""#,
];
const DISK: &str = r#"0.08,USD,Usage,NULL,"$0.08 per GB-month of General Purpose (gp3) provisioned storage",2024-03-05,2024-03-04,1,GB-Mo,0.08,1,AWS,us-east-1,vol-1,Amazon Elastic Compute Cloud,1,"{""bancada"": ""training-cost""}""#;

#[test]
fn idle_time_and_disks_are_told_apart() {
    let found = two_runs().against(&focus(&[&MACHINE[..], &[DISK]].concat()));
    assert_eq!(found.files[0].format, Format::Focus);
    assert_eq!(
        found.matched_by,
        MatchedBy::Tag {
            tag: "bancada=training-cost".to_owned()
        }
    );
    assert_eq!(found.estimate, money("0.789 USD"));
    assert_eq!(found.bill, money("1.5265 USD"));
    assert_eq!(
        causes(&found),
        [
            "after-runs 0.1315",
            "before-runs 0.263",
            "between-runs 0.263",
            "disk 0.08"
        ]
    );
    sums_up(&found);
}

#[test]
fn without_tags_the_machine_and_its_account_are_matched() {
    let rows: Vec<String> = [&MACHINE[..], &[DISK]]
        .concat()
        .iter()
        .map(|row| row.replace("bancada", "env"))
        .collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let found = two_runs().against(&focus(&rows));
    assert_eq!(found.matched_by, MatchedBy::MachineAndTime);
    assert_eq!(found.bill, money("1.5265 USD"));
    sums_up(&found);
}

#[test]
fn others_in_the_account_leave_disks_undecided() {
    let rows: Vec<String> = [&MACHINE[..], &[DISK]]
        .concat()
        .iter()
        .map(|row| row.replace("bancada", "env"))
        .collect();
    let mut rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    rows.push(r#"9.6,USD,Usage,NULL,"$0.096 per On Demand Linux m5.large Instance Hour",2024-03-05 00:00:00,2024-03-04 00:00:00,100,Hrs,0.096,100,AWS,us-east-1,i-2,Amazon Elastic Compute Cloud,1,"#);
    let found = two_runs().against(&focus(&rows));
    assert_eq!(found.bill, money("1.4465 USD"));
    assert_eq!(amount(&found, "disk"), decimal("0"));
    let notes: Vec<String> = found.notes.iter().map(ToString::to_string).collect();
    assert!(
        notes
            .iter()
            .any(|n| n.starts_with("US$ 0.080 in `1` may be")),
        "{notes:?}"
    );
    assert_eq!(
        items(&found),
        [
            "Study aws/g4dn.xlarge@us-east-1: US$ 1.45",
            "Others aws Amazon Elastic Compute Cloud: US$ 9.68",
        ]
    );
    sums_up(&found);
}

#[test]
fn a_dearer_price_shows_both() {
    let pricier = MACHINE.map(|row| {
        let cost = row.split(',').next().unwrap();
        let double = (decimal(cost) * decimal("2")).to_string();
        row.replacen(cost, &double, 1).replace(",0.526,", ",1.052,")
    });
    let found = two_runs().against(&focus(
        &[&pricier[1..3]]
            .concat()
            .iter()
            .map(|s| s.as_str())
            .collect::<Vec<_>>(),
    ));
    assert_eq!(amount(&found, "unit-price"), decimal("0.789"));
    let line = &found
        .lines
        .iter()
        .find(|l| l.cause == "unit-price")
        .unwrap();
    assert_eq!(
        line.details,
        [
            "aws/g4dn.xlarge@us-east-1: US$ 1.052/h in the bill, 2024-03-04 to 2024-03-04; \
             US$ 0.526/h in the estimate, price list of 2024-02-20"
        ]
    );
    sums_up(&found);
}

#[test]
fn taxes_and_credits_are_divided_by_what_was_charged() {
    let rows = [
        MACHINE[1],
        MACHINE[2],
        r#"3.156,USD,Usage,NULL,"$0.526 per On Demand Linux p9.huge Instance Hour",2024-03-05 00:00:00,2024-03-04 00:00:00,6,Hrs,0.526,6,AWS,us-east-1,i-9,Amazon Elastic Compute Cloud,1,"#,
        "0.4,USD,Tax,,VAT,2024-04-01,2024-03-01,,,,,AWS,,,Amazon Elastic Compute Cloud,1,",
        "-0.8,USD,Credit,,promotion,2024-04-01,2024-03-01,,,,,AWS,,,Amazon Elastic Compute Cloud,1,",
    ];
    let found = two_runs().against(&focus(&rows));
    assert_eq!(amount(&found, "tax"), decimal("0.1"));
    assert_eq!(amount(&found, "credit"), decimal("-0.2"));
    sums_up(&found);
}

#[test]
fn version_1_2_tells_the_machine_and_the_rate() {
    let study = Study::in_reais("5").run(T4, "0.526", "2024-03-04T10:00:00Z", 3600.0);
    let bill = "BilledCost,BillingCurrency,ChargeCategory,ChargeClass,ChargeDescription,ChargePeriodEnd,ChargePeriodStart,ConsumedQuantity,ConsumedUnit,InvoiceId,PricingCurrency,PricingCurrencyEffectiveCost,ProviderName,RegionId,ResourceId,ServiceName,ServiceSubcategory,SkuMeter,SkuPriceDetails,SubAccountId,Tags\n\
        2.75,BRL,Usage,,Linux,2024-03-04T11:00:00Z,2024-03-04T10:00:00Z,1,Hours,x,USD,0.55,AWS,us-east-1,i-1,Amazon Elastic Compute Cloud,Virtual Machines,BoxUsage,\"{\"\"InstanceType\"\":\"\"g4dn.xlarge\"\"}\",1,\"{\"\"bancada\"\":\"\"training-cost\"\"}\"\n";
    let found = study.against(bill);
    assert_eq!(causes(&found), ["unit-price 0.12"]);
    assert_eq!(found.rates[0].bill_rate, decimal("5"));
    let pricier = study.against(&bill.replace("2.75,", "3.3,"));
    assert_eq!(
        causes(&pricier),
        ["exchange-rate 0.526", "unit-price 0.144"]
    );
    sums_up(&pricier);
}

#[test]
fn a_tag_that_no_row_has_counts_nothing() {
    let found = two_runs().against_tagged(&focus(&MACHINE), "project=thesis");
    assert_eq!(found.bill, money("0 USD"));
    assert_eq!(causes(&found), ["not-billed -0.789"]);
    let notes: Vec<String> = found.notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes[0], "no row of the bill has the tag project=thesis");
    sums_up(&found);
}

#[test]
fn rounding_up_that_was_expected_explains_itself() {
    let mut study = Study::in_dollars();
    study.billing.step_seconds = 3600;
    let study = study.run(T4, "0.526", "2024-03-04T10:00:00Z", 1800.0);
    let check = |row: &str, expected: &[&str]| {
        let found = study.against(&focus(&[row]));
        assert_eq!(causes(&found), expected);
        sums_up(&found);
    };
    check(MACHINE[1], &[]);
    let half = MACHINE[1]
        .replacen("0.526,USD", "0.263,USD", 1)
        .replace(",1,Hrs,0.526,1,", ",0.5,Hrs,0.526,0.5,");
    check(&half, &["estimated-rounding -0.263"]);
}

#[test]
fn amounts_in_cents_are_told_as_rounding() {
    let study = Study::in_dollars().run(T4, "0.526", "2024-03-04T10:00:00Z", 3600.0);
    let row = MACHINE[1].replacen("0.526,USD", "0.53,USD", 1);
    let found = study.against(&focus(&[&row]));
    assert_eq!(causes(&found), ["rounding 0.004"]);
    sums_up(&found);
}
