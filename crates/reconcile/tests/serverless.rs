//! What is paid by requests: functions on a bill have no hours of a machine.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Study, amount, causes, charges, decimal, money, sums_up};
use reconcile::{HeldAgainst, MatchedBy, Reconciliation};

/// An older report of AWS; each row: product, usage type, resource, quantity, unit, cost.
fn report(rows: &[[&str; 6]]) -> String {
    let header = "lineItem/UsageAccountId,lineItem/LineItemType,lineItem/UsageStartDate,\
        lineItem/UsageEndDate,lineItem/ProductCode,lineItem/UsageType,lineItem/ResourceId,\
        lineItem/UsageAmount,pricing/unit,lineItem/CurrencyCode,lineItem/UnblendedCost,\
        product/region";
    let row = |[product, usage, resource, quantity, unit, cost]: &[&str; 6]| {
        format!(
            "111,Usage,2024-03-04T10:00:00Z,2024-03-04T11:00:00Z,{product},{usage},{resource},\
             {quantity},{unit},USD,{cost},us-east-1"
        )
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    format!("{header}\n{}\n", rows.join("\n"))
}

/// Runs of ten minutes in which requests were handled for so many seconds.
fn study(rule: &str, memory_mb: Option<u32>, count: u64, seconds: f64) -> Study {
    let mut study = Study::in_dollars();
    study.billing = cost::rules().named(rule).unwrap().billing(memory_mb);
    study.requests = Some(cost::Requests {
        count,
        seconds,
        as_billed: true,
    });
    study
}

fn notes(found: &Reconciliation) -> Vec<String> {
    found.notes.iter().map(ToString::to_string).collect()
}

const AT_TEN: &str = "2024-03-04T10:00:00Z";

#[test]
fn a_function_is_held_against_its_seconds_and_requests() {
    let study = study("aws/lambda", Some(2048), 1_000_000, 1000.0);
    let per_hour = "0.12000024";
    let study = study.run("aws/lambda 2048 MB", per_hour, AT_TEN, 600.0);
    // 1000 s of 2 GB, and a million requests.
    assert_eq!(
        study.runs[0].bill.as_ref().unwrap().total,
        money("0.2333334 USD")
    );
    let found = study.against(&report(&[
        [
            "AWSLambda",
            "Lambda-GB-Second",
            "f-1",
            "2100",
            "Lambda-GB-Second",
            "0.035",
        ],
        ["AWSLambda", "Request", "f-1", "1000000", "Requests", "0.2"],
        [
            "AWSDataTransfer",
            "DataTransfer-Out-Bytes",
            "f-1",
            "1",
            "GB",
            "0.09",
        ],
    ]));
    assert_eq!(found.matched_by, MatchedBy::MachineAndTime);
    assert_eq!(causes(&found), ["serverless 0.0016666", "traffic 0.09"]);
    assert_eq!(
        charges(&found),
        ["functions and requests: US$ 0.23 estimated, US$ 0.24 billed"]
    );
    let machine = &found.machines[0];
    assert_eq!(machine.held_against, HeldAgainst::Requests);
    assert_eq!(
        machine.to_string(),
        "aws/lambda: 0.28 h estimated for requests, compared with the cost of functions and requests, not with machine hours"
    );
    assert_eq!(found.unexplained.amount, money("0 USD"));
    sums_up(&found);
}

#[test]
fn workers_of_all_sizes_are_on_the_rows_of_one_service() {
    let mut small = study("aws/lambda", Some(1024), 0, 360.0);
    small = small.run("aws/lambda 1024 MB", "0.06", AT_TEN, 600.0);
    let later = "2024-03-04T10:30:00Z";
    let study = small.run("aws/lambda 2048 MB", "0.12", later, 600.0);
    let found = study.against(&report(&[[
        "AWSLambda",
        "USE1-Lambda-GB-Second",
        "f-1",
        "1080",
        "Lambda-GB-Second",
        "0.018",
    ]]));
    assert_eq!(found.machines.len(), 1);
    assert_eq!(found.estimate, money("0.018 USD"));
    assert_eq!(causes(&found), [""; 0]);
    sums_up(&found);
}

#[test]
fn endpoints_are_told_apart_by_memory() {
    let study = study("aws/sagemaker-serverless", None, 0, 1000.0)
        .run(
            "aws/sagemaker-serverless-2048@us-east-1",
            "0.144",
            AT_TEN,
            600.0,
        )
        .run(
            "aws/sagemaker-serverless-4096@us-east-1",
            "0.288",
            AT_TEN,
            600.0,
        );
    let row = |usage, resource, cost| ["AmazonSageMaker", usage, resource, "1000", "seconds", cost];
    let found = study.against(&report(&[
        row("USE1-ServerlessInf:Mem-4GB", "e-4", "0.09"),
        row("USE1-ServerlessInf:Mem-2GB", "e-2", "0.04"),
        row("USE1-ServerlessInf:Mem-6GB", "e-6", "0.5"),
        row("USE1-Hst:Data-Bytes-Out", "e-2", "0.01"),
    ]));
    let resources: Vec<u64> = found.machines.iter().map(|m| m.resources).collect();
    assert_eq!(resources, [1, 1]);
    assert_eq!(causes(&found), ["serverless 0.01"]);
    // The one of 6 GB is another's, so that nobody knows whose the traffic of the account is.
    let note = "US$ 0.51 in `111` may belong to this study but are not counted";
    let notes = notes(&found);
    assert!(notes.iter().any(|n| n.starts_with(note)), "{notes:?}");
    sums_up(&found);
}

#[test]
fn a_function_that_the_bill_lacks_is_not_hours_of_a_machine() {
    let study = study("aws/lambda", Some(1024), 0, 360.0);
    let study = study.run("aws/lambda 1024 MB", "0.06", AT_TEN, 600.0);
    let found = study.against(&report(&[[
        "AmazonEC2",
        "BoxUsage:m5.large",
        "i-1",
        "1",
        "Hrs",
        "0.096",
    ]]));
    assert_eq!(causes(&found), ["serverless -0.006"]);
    assert_eq!(
        charges(&found),
        ["functions and requests: US$ 0.0060 estimated, not on the bill"]
    );
    assert_eq!(
        notes(&found)[0],
        "the bill has no rows of aws/lambda while the runs were in progress"
    );
    sums_up(&found);
}

#[test]
fn a_typed_price_of_requests_goes_by_the_tag() {
    let mut study = study("aws/lambda", None, 0, 360.0);
    study.billing.origin = None;
    study.environment = "on-demand";
    let study = study.run("own", "0.06", AT_TEN, 600.0);
    let bill = "Date,MeterName,MeterCategory,Quantity,UnitOfMeasure,Cost,Currency,ResourceId,Tags\n\
        2024-03-04,Standard Execution Time,Functions,360,1 GB Second,0.00576,USD,f,bancada=training-cost\n\
        2024-03-04,Standard Total Executions,Functions,0.1,10,0.002,USD,f,bancada=training-cost\n";
    let found = study.against(bill);
    assert_eq!(found.machines[0].machine, "own (on-demand)");
    assert_eq!(found.machines[0].held_against, HeldAgainst::Requests);
    assert_eq!(causes(&found), ["serverless 0.00176"]);
    sums_up(&found);
}

#[test]
fn azure_functions_are_matched_by_their_service() {
    let study = study("azure/functions", Some(1024), 10, 360.0);
    let study = study.run("azure/functions 1024 MB", "0.0576", AT_TEN, 600.0);
    let bill = "Date,MeterName,MeterCategory,Quantity,UnitOfMeasure,Cost,Currency,ResourceGroup,ResourceId\n\
        2024-03-04,Standard Execution Time,Functions,400,1 GB Second,0.0064,USD,lab,f\n\
        2024-03-04,Hot LRS Data Stored,Storage,1,1 GB/Month,0.02,USD,lab,s\n";
    let found = study.against(bill);
    assert_eq!(found.matched_by, MatchedBy::MachineAndTime);
    assert_eq!(found.bill, money("0.0264 USD"));
    assert_eq!(amount(&found, "serverless"), decimal("0.000638"));
    sums_up(&found);
}
