//! Files that are no bills, or broken ones: sentences, never a panic, and the rest still used.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod common;

use common::{Study, causes, money, sums_up};
use reconcile::{BillError, reconcile};
use rust_decimal::Decimal;

fn study() -> Study {
    let machine = "azure/Standard_F4s_v2@eastus";
    Study::in_dollars().run(machine, "0.169", "2024-03-04T10:00:00Z", 3600.0)
}

const HEADER: &str = "Date,MeterName,MeterCategory,Quantity,UnitOfMeasure,Cost,Currency,ResourceId";
const ROW: &str = "2024-03-04,F4s v2,Virtual Machines,1,1 Hour,0.169,USD,vm";

fn error(bytes: &[u8]) -> BillError {
    let study = study();
    let found = reconcile(&study.question(), |bills| bills.read("bill.csv", bytes));
    match found {
        Err(error) => error,
        Ok(found) => panic!("{found:#?}"),
    }
}

#[test]
fn files_that_are_no_bills_are_told_apart() {
    let check = |bytes: &[u8], expected: &str| {
        let message = error(bytes).to_string();
        assert!(message.starts_with(expected), "{message}");
    };
    check(b"", "it is empty; expected a bill with a header line");
    check(b"\xef\xbb\xbf\n\n", "it is empty");
    check(
        b"a,b\n1,2\n",
        "no known bill format has the columns `a`, `b`; expected FOCUS",
    );
    check(
        b"\xff\xfeD\0a\0t\0e\0",
        "it is UTF-16 text; save it as CSV in UTF-8",
    );
    check(b"D\0a\0t\0e\0,\0", "it is UTF-16 text");
    check(b"{\"a\": 1}\n", "no known bill format has the columns");
    check(b"\x1f\x8bnot gzip at all", "it cannot be read");
    check(
        b"PK\x03\x04\x14\0\x08\0",
        "it is a zip archive or a workbook; unpack it",
    );
    check(b"PAR1\x15\x04", "it is a Parquet file; export it as CSV");
    check(
        b"Date,MeterName,MeterCategory,Quantity,Cost\n",
        "no known bill format has the columns `Date`, `MeterName`, `MeterCategory`, `Quantity`, `Cost`; the most similar format is Azure cost export, but BillingCurrency is missing",
    );
}

#[test]
fn a_header_alone_is_a_bill_of_nothing() {
    let found = study().against(&format!("{HEADER}\n"));
    assert_eq!(found.bill, money("0 USD"));
    assert_eq!(causes(&found), ["not-billed -0.169"]);
    sums_up(&found);
}

#[test]
fn broken_rows_are_left_out_and_counted() {
    let bill = format!(
        "{HEADER}\n{ROW}\n\
         2024-03-04,F4s v2,Virtual Machines,1,1 Hour,much,USD,vm\n\
         2024-03-04,F4s v2,Virtual Machines,1,1 Hour,,USD,vm\n\
         2024-03-04,F4s v2,Virtual Machines,1,1 Hour,0.169,dollars,vm\n\
         2024-03-04,F4s v2,Virtual Machines,1\n\
         2024-03-04,F4s v2, Ltd.,Virtual Machines,1,1 Hour,0.169,USD,vm\n\
         2024-03-04,F4s v2,Virtual Machines,1,1 Hour,99999999999999999999,USD,vm\n"
    );
    let found = study().against(&bill);
    assert_eq!(found.bill, money("0.169 USD"));
    assert_eq!((found.files[0].rows, found.files[0].left_out), (7, 6));
    let told: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
    let expected = "expected an amount such as 12.34";
    assert_eq!(
        told,
        [
            format!("bill.csv:3: `Cost` is `much`; {expected}"),
            format!("bill.csv:4: `Cost` is empty; {expected}"),
            "bill.csv:5: `Currency` is `dollars`; expected a currency code such as USD".to_owned(),
            "bill.csv:6: it has 4 cells; expected 8, as in the header".to_owned(),
            "bill.csv:7: it has 9 cells; expected 8, as in the header".to_owned(),
            format!("bill.csv:8: `Cost` is `99999999999999999999`; {expected}"),
        ]
    );
    assert_eq!(
        found.notes[0].to_string(),
        "6 rows were skipped: the bill's total may be off by them"
    );
    sums_up(&found);
}

#[test]
fn a_row_without_date_or_quantity_still_costs() {
    let bill = format!(
        "{HEADER}\n{ROW}\nsoon,F4s v2,Virtual Machines,1,1 Hour,0.169,USD,vm\n\
         2024-03-04,S4 LRS Disk,Storage,some,1/Month,0.1,USD,vm\n"
    );
    let found = study().against(&bill);
    assert_eq!(found.bill, money("0.438 USD"));
    assert_eq!(causes(&found), ["between-runs 0.169", "disk 0.1"]);
    assert_eq!(found.files[0].left_out, 0);
    let told: Vec<String> = found.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "bill.csv:3: `Date` is `soon`; expected a date such as 2024-03-21; the row counts \
             without its time",
            "bill.csv:4: `Quantity` is `some`; expected a number; the row counts without it",
        ]
    );
    sums_up(&found);
}

#[test]
fn line_ends_marks_and_quotes_do_not_matter() {
    let plain = study().against(&format!("{HEADER}\n{ROW}\n"));
    let check = |bill: &str| {
        let found = study().against(bill);
        assert_eq!(found.lines, plain.lines, "{bill:?}");
        assert_eq!(found.bill, plain.bill);
    };
    check(&format!("\u{feff}{HEADER}\r\n{ROW}\r\n"));
    check(&format!("\n\n{HEADER}\n\n{ROW}"));
    check(&format!("{HEADER}\n{}\n", ROW.replace("vm", "\"v\nm\"")));
    check(&format!(
        "{HEADER}\n{}\n",
        ROW.replace("F4s v2", "\"F4s v2\"")
    ));
    check(&format!("\u{feff}{HEADER}\n{ROW}\n").replace(',', ";"));
    check(&format!("{HEADER}\n{ROW}\n").replace(',', "\t"));
}

#[test]
fn refunds_are_negative_rows() {
    let bill = format!(
        "{HEADER},ChargeType\n{ROW},Usage\n2024-03-04,F4s v2,Virtual Machines,-0.5,1 Hour,-0.0845,USD,vm,Refund\n"
    );
    let found = study().against(&bill);
    assert_eq!(found.bill, money("0.0845 USD"));
    assert_eq!(causes(&found), ["credit -0.0845"]);
    sums_up(&found);
}

#[test]
fn currencies_without_rate_are_put_aside() {
    let bill = format!(
        "{HEADER}\n{ROW}\n2024-03-04,F4s v2,Virtual Machines,1,1 Hour,0.9,BRL,vm\n2024-03-04,S4 LRS Disk,Storage,1,1/Month,3,EUR,vm\n"
    );
    let found = study().against(&bill);
    let notes: Vec<String> = found.notes.iter().map(ToString::to_string).collect();
    assert!(
        notes.contains(
            &"R$ 0.90 of the bill is not counted: no exchange rate from BRL to USD; add one as [[rates]]"
                .to_owned()
        ),
        "{notes:?}"
    );
    assert_eq!(found.bill, money("0.169 USD"));
    sums_up(&found);
}

#[test]
fn a_bill_in_other_money_is_compared_in_it() {
    // Without any rate for the study's reais, dollars are compared with dollars.
    let mut study = study();
    study.currency = model::Currency::BRL;
    let found = study.against(&format!("{HEADER}\n{ROW}\n"));
    assert_eq!(found.currency, model::Currency::USD);
    assert_eq!(found.difference, money("0 USD"));
    sums_up(&found);
}

#[test]
fn a_line_of_ten_megabytes_costs_only_itself() {
    let long = "x".repeat(10 << 20);
    let found = study().against(&format!("{HEADER}\n{long}\n{ROW}\n"));
    assert_eq!(found.bill, money("0.169 USD"));
    assert_eq!(found.problems[0].line, 2);
    sums_up(&found);
}

#[test]
fn day_and_month_that_turn_out_exchanged_are_said() {
    let row = |date: &str| ROW.replace("2024-03-04", date);
    let bill = format!("{HEADER}\n{}\n{}\n", row("04/03/2024"), row("25/03/2024"));
    let found = study().against(&bill);
    let told: Vec<u64> = found.problems.iter().map(|problem| problem.line).collect();
    assert_eq!(told, [3]);
    let at_once = format!("{HEADER}\n{}\n{}\n", row("25/03/2024"), row("04/03/2024"));
    assert_eq!(study().against(&at_once).problem_count, 0);
}

#[test]
fn bytes_that_are_no_text_are_read_as_far_as_they_are() {
    let mut bytes = format!("{HEADER}\n{ROW}\n").into_bytes();
    bytes.extend_from_slice(b"2024-03-04,M\xe4dchen,Storage,1,GB,0.5,USD,d\xff\n");
    let found = study().against_bytes(&bytes);
    assert_eq!(found.bill, money("0.669 USD"));
    sums_up(&found);
}

#[test]
fn unpriced_runs_are_said() {
    let study = study().unpriced_run("2024-03-04T12:00:00Z", 10.0);
    let found = study.against(&format!("{HEADER}\n{ROW}\n"));
    let notes: Vec<String> = found.notes.iter().map(ToString::to_string).collect();
    assert!(
        notes.contains(&"1 run has no price and is not in the estimate".to_owned()),
        "{notes:?}"
    );
}

#[test]
fn runs_outside_the_period_are_a_line() {
    let machine = "azure/Standard_F4s_v2@eastus";
    let study = study().run(machine, "0.169", "2024-05-01T10:00:00Z", 3600.0);
    let found = study.against(&format!("{HEADER}\n{ROW}\n"));
    assert_eq!(causes(&found), ["not-in-period -0.169"]);
    sums_up(&found);
}

#[test]
fn talk_before_the_header_and_headers_within_are_passed_by() {
    let bill = format!("Usage report\nfor March\n\n{HEADER}\n{ROW}\n{HEADER}\n{ROW}\n");
    let found = study().against(&bill);
    assert_eq!(found.bill, money("0.338 USD"));
    assert_eq!((found.files[0].rows, found.problem_count), (2, 0));
}

#[test]
fn a_tax_for_the_month_does_not_cover_runs_after_the_bill() {
    let machine = "aws/c5.xlarge@us-east-1";
    let study = Study::in_dollars()
        .run(machine, "0.17", "2024-03-04T10:00:00Z", 3600.0)
        .run(machine, "0.17", "2024-03-20T10:00:00Z", 3600.0);
    let found = study.against(
        "lineItem/UsageStartDate,lineItem/UsageEndDate,lineItem/LineItemType,lineItem/ProductCode,lineItem/UsageType,lineItem/UsageAmount,pricing/unit,lineItem/UnblendedCost,lineItem/ResourceId\n\
         2024-03-04T10:00:00Z,2024-03-04T11:00:00Z,Usage,AmazonEC2,BoxUsage:c5.xlarge,1,Hrs,0.17,i-1\n\
         2024-03-01T00:00:00Z,2024-04-01T00:00:00Z,Tax,AmazonEC2,,1,,0.017,\n",
    );
    assert_eq!(causes(&found), ["not-in-period -0.17", "tax 0.017"]);
    sums_up(&found);
}

#[test]
fn what_is_beyond_the_bounds_is_summed_together() {
    // More machines, places and services than are kept apart, each with its own stretch of time.
    let machine = "azure/Standard_F4s_v2@eastus";
    let study = study().run(machine, "0.169", "2024-03-20T10:00:00Z", 3600.0);
    let mut bill = format!("{HEADER},ResourceGroup\n");
    for n in 0..6000 {
        let day = 4 + n % 17;
        let date = format!("2024-03-{day:02}");
        bill += &format!("{date},F4s v2,Virtual Machines,1,1 Hour,0.169,USD,vm{n},g{n}\n");
        bill += &format!("{date},Something,Service {n},1,1,0.01,USD,x{n},g{n}\n");
    }
    let found = study.against(&bill);
    assert_eq!(found.total[0].amount, Decimal::new(179 * 6000, 3));
    let pooled = found
        .notes
        .iter()
        .filter(|note| matches!(note, reconcile::Note::Pooled { .. }));
    assert_eq!(pooled.count(), 3);
    sums_up(&found);
}

#[test]
fn numbers_beyond_all_measure_are_survived() {
    let header = "Date,MeterName,MeterCategory,Quantity,UnitOfMeasure,Cost,BillingCurrency,ResourceId,EffectivePrice,PricingCurrency,ExchangeRatePricingToBilling";
    let row = |quantity: &str, cost: &str, price: &str, rate: &str| {
        format!(
            "2024-03-04,F4s v2,Virtual Machines,{quantity},100 Hours,{cost},BRL,vm,{price},USD,{rate}\n"
        )
    };
    let (large, small) = ("1000000000000", "0.000000000000000001");
    let mut bill = format!("{header}\n");
    for _ in 0..20 {
        bill += &row(large, large, large, small);
        bill += &row(large, large, small, large);
        bill += &row("-1000000000000", large, large, "0");
        bill += &row(small, &format!("-{large}"), small, small);
        bill += &row("1e11", "1e-18", "1e11", "1e-11");
    }
    let mut study = study();
    study.rates = vec![common::rate_of("BRL", "USD", "0.0000001")];
    sums_up(&study.against(&bill));
}

#[test]
fn long_rows_of_time_are_survived() {
    let bill = "BilledCost,BillingCurrency,ChargePeriodStart,ChargePeriodEnd,ServiceName,ChargeDescription,ConsumedQuantity,ConsumedUnit,ProviderName\n\
        1,USD,1970-01-01,9999-12-31,Virtual Machines,F4s v2,1000000000000,Hours,Azure\n\
        1,USD,9999-12-31,1970-01-01,Virtual Machines,F4s v2,1000000000000,Hours,Azure\n";
    sums_up(&study().against(bill));
}

#[test]
fn nulls_of_json_are_nothing() {
    let found = study().against(
        "{\"service\":{\"description\":\"Compute Engine\"},\"usage_start_time\":\"2024-03-04T10:00:00Z\",\"usage_end_time\":null,\"cost\":0.5,\"currency\":\"USD\",\"labels\":null,\"system_labels\":null,\"credits\":null,\"cost_type\":null,\"usage\":null,\"location\":null,\"resource\":{\"name\":null},\"project\":{\"id\":null}}\n\
         not json\n",
    );
    assert_eq!(found.items[0].amount, money("0.5 USD"));
    assert_eq!((found.files[0].rows, found.files[0].left_out), (2, 1));
}
