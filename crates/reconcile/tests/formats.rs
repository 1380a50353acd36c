//! Bills in the shapes that providers export, each held against the run it is of.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Study, causes, money, sums_up};
use reconcile::{Format, Reconciliation};

fn on_azure() -> Study {
    let machine = "azure/Standard_F4s_v2@eastus";
    Study::in_dollars().run(machine, "0.169", "2024-03-04T10:00:00Z", 7200.0)
}

fn on_aws() -> Study {
    let machine = "aws/g4dn.xlarge@us-east-1";
    Study::in_dollars().run(machine, "0.526", "2024-03-04T10:00:00Z", 3600.0)
}

fn on_google(study: Study) -> Study {
    let machine = "gcp/n1-standard-4@us-central1";
    study.run(machine, "0.19", "2024-03-04T10:00:00Z", 3600.0)
}

#[track_caller]
fn check(found: &Reconciliation, format: Format, bill: &str, expected: &[&str]) {
    assert_eq!(found.files[0].format, format);
    assert_eq!(found.files[0].left_out, 0, "{:?}", found.problems);
    assert_eq!(causes(found), expected, "{found:#?}");
    assert_eq!(found.bill, money(bill));
    sums_up(found);
}

#[test]
fn azure_in_german_with_decimal_commas() {
    let found = on_azure().against(include_str!("fixtures/azure-german.csv"));
    // Half an hour outside the run, before and after it in proportion: 10 and 12 hours.
    check(
        &found,
        Format::AzureExport,
        "0.473649 USD",
        &[
            "after-runs 0.0460909006",
            "before-runs 0.0384090994",
            "disk 0.051149",
        ],
    );
}

#[test]
fn azure_in_spanish_with_the_day_first() {
    let found = on_azure().against(include_str!("fixtures/azure-spanish.csv"));
    check(
        &found,
        Format::AzureExport,
        "0.6835 USD",
        &[
            "after-runs 0.0460909006",
            "before-runs 0.0384090994",
            "traffic 0.261",
        ],
    );
    assert_eq!(found.machines[0].billed_from.as_deref(), Some("2024-03-04"));
}

#[test]
fn azure_in_french_without_english_names() {
    let found = on_azure().against(include_str!("fixtures/azure-french.csv"));
    check(
        &found,
        Format::AzureExport,
        "0.5425 USD",
        &[
            "address 0.12",
            "after-runs 0.0460909006",
            "before-runs 0.0384090994",
        ],
    );
    assert_eq!(found.machines[0].billed_from.as_deref(), Some("2024-03-04"));
}

#[test]
fn azure_in_portuguese_and_reais() {
    let mut study = on_azure();
    study.currency = model::Currency::BRL;
    study.rates = vec![common::rate_of("USD", "BRL", "4.8")];
    let found = study.against(include_str!("fixtures/azure-portuguese.csv"));
    check(
        &found,
        Format::AzureExport,
        "2.9625 BRL",
        &[
            "after-runs 0.2304545028",
            "before-runs 0.1920454972",
            "exchange-rate 0.0676",
            "registry 0.85",
        ],
    );
    assert_eq!(found.rates[0].bill_rate.to_string(), "5");
}

#[test]
fn the_older_report_of_aws() {
    let found = on_aws().against(include_str!("fixtures/aws-legacy.csv"));
    check(
        &found,
        Format::AwsReport,
        "0.8922222222 USD",
        &[
            "address 0.005",
            "after-runs 0.263",
            "disk 0.0111111111",
            "tax 0.0811111111",
            "traffic 0.006",
        ],
    );
    assert_eq!(found.items.last().unwrap().what, "aws AmazonS3");
}

#[test]
fn the_newer_report_of_aws() {
    let found = on_aws().against(include_str!("fixtures/aws-cur2.csv"));
    check(
        &found,
        Format::AwsReport,
        "0.656 USD",
        &["credit -0.1", "machine 0.23"],
    );
}

#[test]
fn google_as_json_lines() {
    let found = on_google(Study::in_dollars()).against(include_str!("fixtures/google.jsonl"));
    check(
        &found,
        Format::GoogleJson,
        "0.1784556 USD",
        &["credit -0.0126444", "disk 0.0011"],
    );
}

#[test]
fn google_as_a_table_in_reais() {
    let study = on_google(Study::in_reais("4.5"));
    let found = study.against(include_str!("fixtures/google.csv"));
    check(
        &found,
        Format::GoogleCsv,
        "1.165 BRL",
        &[
            "credit -0.1",
            "exchange-rate 0.095",
            "tax 0.115",
            "traffic 0.2",
        ],
    );
}

#[test]
fn a_compressed_bill_is_the_same_bill() {
    let text = include_bytes!("fixtures/aws-legacy.csv");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, text).unwrap();
    let packed = encoder.finish().unwrap();
    assert_eq!(
        on_aws().against_bytes(&packed),
        on_aws().against_bytes(text)
    );
}
