//! Every row of a bill is in exactly one item, and the items sum to the file's total.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Study, decimal, items, money, sums_up};
use proptest::prelude::*;
use reconcile::{Format, Reconciliation};
use rust_decimal::Decimal;

const CUR: &str = "line_item_usage_account_id,line_item_line_item_type,\
    line_item_usage_start_date,line_item_usage_end_date,line_item_product_code,\
    line_item_usage_type,line_item_resource_id,line_item_usage_amount,line_item_currency_code,\
    line_item_unblended_cost,product_region_code,pricing_unit";

/// Each row: type, product, usage type, resource, cost. S3 is of another account.
fn aws(rows: &[[&str; 5]]) -> String {
    let row = |[kind, product, usage, resource, cost]: &[&str; 5]| {
        let account = if *product == "AmazonS3" { 222 } else { 111 };
        format!(
            "{account},{kind},2024-03-04 10:00:00.000,2024-03-04 11:00:00.000,{product},{usage},\
             {resource},1,USD,{cost},us-east-1,Hrs"
        )
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    format!("{CUR}\n{}\n", rows.join("\n"))
}

fn against(machine: &str, rows: &[[&str; 5]]) -> Reconciliation {
    let study = Study::in_dollars().run(machine, "0.5", "2024-03-04T10:00:00Z", 3600.0);
    let found = study.against(&aws(rows));
    sums_up(&found);
    found
}

const T4: [&str; 5] = ["Usage", "AmazonEC2", "BoxUsage:g4dn.xlarge", "i-1", "0.5"];
const OTHERS: [&str; 5] = ["Usage", "AmazonS3", "TimedStorage-ByteHrs", "b", "1.5"];

#[test]
fn a_tax_of_an_account_without_the_study_is_an_item() {
    let found = against(
        "aws/p9.huge",
        &[OTHERS, ["Tax", "AmazonS3", "", "", "0.08"]],
    );
    assert_eq!(
        items(&found),
        ["Account tax: US$ 0.080", "Others aws AmazonS3: US$ 1.50"]
    );
    assert_eq!(found.total, [money("1.58 USD")]);
    assert_eq!(found.bill.amount, Decimal::ZERO);
}

#[test]
fn a_credit_is_one_item_of_which_the_study_has_a_share() {
    let credit = ["Credit", "AmazonEC2", "", "", "-2.61"];
    let found = against("aws/g4dn.xlarge", &[T4, OTHERS, credit]);
    assert_eq!(
        items(&found),
        [
            "Study aws/g4dn.xlarge: US$ 0.50",
            "Account credits, discounts, free tier: US$ -2.61, US$ -0.65 of the study",
            "Others aws AmazonS3: US$ 1.50",
        ]
    );
    assert_eq!(found.total, [money("-0.61 USD")]);
    assert_eq!(found.bill, money("-0.1525 USD"));
}

#[test]
fn what_cannot_be_divided_is_an_item_all_the_same() {
    let back = ["Usage", "AmazonS3", "TimedStorage-ByteHrs", "b", "-1"];
    let found = against(
        "aws/g4dn.xlarge",
        &[T4, back, ["Tax", "AmazonEC2", "", "", "0.3"]],
    );
    assert!(items(&found).contains(&"Account tax: US$ 0.30".to_owned()));
    let is_said =
        |note: &reconcile::Note| note.to_string().starts_with("tax of US$ 0.30 cannot be");
    assert!(found.notes.iter().any(is_said));
}

#[test]
fn money_without_a_rate_is_in_the_items() {
    let bill = aws(&[T4]).replace("USD", "EUR");
    let study = Study::in_dollars().run("aws/g4dn.xlarge", "0.5", "2024-03-04T10:00:00Z", 3600.0);
    let found = study.against(&bill);
    sums_up(&found);
    assert_eq!(found.total, [money("0.5 EUR")]);
    assert_eq!(found.bill.amount, Decimal::ZERO);
}

#[test]
fn hosting_is_not_training() {
    let host = [
        "Usage",
        "AmazonSageMaker",
        "USE1-Host:ml.m5.xlarge",
        "e",
        "7",
    ];
    let train = [
        "Usage",
        "AmazonSageMaker",
        "USE1-Train:ml.m5.xlarge",
        "t",
        "3",
    ];
    let study = |serves: bool| {
        let mut study = Study::in_dollars().run(
            "sagemaker/ml.m5.xlarge",
            "0.23",
            "2024-03-04T10:00:00Z",
            3600.0,
        );
        if serves {
            study.runs[0].serving = Some(Box::default());
        }
        let found = study.against(&aws(&[host, train]));
        sums_up(&found);
        items(&found)
    };
    assert_eq!(
        study(false),
        [
            "Study sagemaker/ml.m5.xlarge: US$ 3.00",
            "Others aws AmazonSageMaker: US$ 7.00"
        ]
    );
    assert_eq!(
        study(true),
        [
            "Study sagemaker/ml.m5.xlarge: US$ 7.00",
            "Others aws AmazonSageMaker: US$ 3.00"
        ]
    );
}

#[test]
fn a_credit_that_cannot_be_read_is_reported() {
    let header = "service.description,sku.description,usage_start_time,cost,currency,credits";
    let row = |credit: &str| format!("Compute Engine,E2,2024-03-04T10:00:00Z,1,USD,{credit}\n");
    let bill = format!("{header}\n{}{}{}", row("-0.1"), row("none"), row("[{]"));
    let found = Study::in_dollars().against(&bill);
    assert_eq!(found.total, [money("2.9 USD")]);
    assert_eq!(found.problem_count, 2);
    assert!(found.problems.iter().all(|problem| !problem.left_out));
}

/// A row of any format.
#[derive(Debug, Clone)]
struct Row {
    kind: usize,
    cost: Decimal,
    credits: Decimal,
    account: u32,
    resource: Option<u32>,
    hour: u32,
    currency: &'static str,
    tagged: bool,
}

/// Kind of charge, service, what, in the words of AWS; the same for all formats.
const KINDS: [[&str; 3]; 7] = [
    ["Usage", "AmazonEC2", "BoxUsage:g4dn.xlarge"],
    ["Usage", "AmazonEC2", "BoxUsage:p9.huge"],
    ["Usage", "AmazonEC2", "EBS:VolumeUsage.gp3"],
    ["Usage", "AmazonSageMaker", "Host:ml.m5.xlarge"],
    ["Tax", "AmazonEC2", "VAT"],
    ["Credit", "AmazonEC2", "promotion"],
    ["Usage", "Something new", "Something"],
];
const FORMATS: [Format; 5] = [
    Format::Focus,
    Format::AwsReport,
    Format::AzureExport,
    Format::GoogleCsv,
    Format::GoogleJson,
];

fn row() -> impl Strategy<Value = Row> {
    let amount = || (-1_000_000_000_000_i64..1_000_000_000_000, 0_u32..13);
    let place = (0_u32..3, prop::option::of(0_u32..4), 0_u32..60);
    let rest = (0..KINDS.len(), any::<bool>(), any::<bool>(), any::<bool>());
    (amount(), amount(), place, rest).prop_map(|(cost, credits, place, rest)| Row {
        kind: rest.0,
        cost: Decimal::new(cost.0, cost.1),
        credits: match rest.1 {
            true => Decimal::new(credits.0, credits.1),
            false => Decimal::ZERO,
        },
        account: place.0,
        resource: place.1,
        hour: place.2,
        currency: if rest.2 { "USD" } else { "EUR" },
        tagged: rest.3 && place.2 % 5 == 0,
    })
}

impl Row {
    /// What the format can say of it: only Google writes credits into the row.
    fn sum(&self, format: Format) -> Decimal {
        match format {
            Format::GoogleCsv | Format::GoogleJson => self.cost + self.credits,
            Format::Focus | Format::AwsReport | Format::AzureExport => self.cost,
        }
    }

    fn text(&self, format: Format) -> String {
        let [kind, service, what] = KINDS[self.kind];
        let Row {
            cost,
            credits,
            account,
            currency,
            ..
        } = self;
        let resource = self.resource.map_or(String::new(), |r| format!("r{r}"));
        let start = format!(
            "2024-03-{:02}T{:02}:00:00Z",
            4 + self.hour / 24,
            self.hour % 24
        );
        let value = if self.tagged { "training-cost" } else { "" };
        match format {
            Format::Focus => format!(
                "{cost},{currency},{kind},{what},{start},AWS,{resource},{service},{account},bancada={value}"
            ),
            Format::AwsReport => format!(
                "{account},{kind},{start},{start},{service},{what},{resource},1,{currency},{cost},us-east-1,Hrs"
            ),
            Format::AzureExport => format!(
                "{start},{what},{service},1,1 Hour,{cost},{currency},{resource},{kind},g{account}"
            ),
            Format::GoogleCsv => format!(
                "{service},{what},{start},{account},{resource},{cost},{currency},{credits},{kind}"
            ),
            Format::GoogleJson => format!(
                r#"{{"service":{{"description":"{service}"}},"sku":{{"description":"{what}"}},"usage_start_time":"{start}","project":{{"id":"{account}"}},"cost":"{cost}","currency":"{currency}","credits":[{{"amount":"{credits}"}}],"cost_type":"{kind}","labels":[{{"key":"bancada","value":"{value}"}}],"resource":{{"name":"{resource}"}}}}"#
            ),
        }
    }
}

fn header(format: Format) -> &'static str {
    match format {
        Format::Focus => {
            "BilledCost,BillingCurrency,ChargeCategory,ChargeDescription,ChargePeriodStart,ProviderName,ResourceId,ServiceName,SubAccountId,Tags\n"
        }
        Format::AwsReport => "",
        Format::AzureExport => {
            "Date,MeterName,MeterCategory,Quantity,UnitOfMeasure,Cost,BillingCurrency,ResourceId,ChargeType,ResourceGroup\n"
        }
        Format::GoogleCsv => {
            "service.description,sku.description,usage_start_time,project.id,resource.name,cost,currency,credits.amount,cost_type\n"
        }
        Format::GoogleJson => "",
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn items_sum_to_the_file(rows in prop::collection::vec(row(), 1..40), divided in any::<bool>()) {
        let machine = if divided { "aws/g4dn.xlarge" } else { "aws/none.xlarge" };
        let study = Study::in_dollars().run(machine, "0.5", "2024-03-04T10:00:00Z", 36000.0);
        for format in FORMATS {
            let head = match format {
                Format::AwsReport => format!("{CUR}\n"),
                _ => header(format).to_owned(),
            };
            let lines: Vec<String> = rows.iter().map(|row| row.text(format)).collect();
            let found = study.against(&format!("{head}{}\n", lines.join("\n")));
            prop_assert_eq!(found.files[0].format, format);
            prop_assert_eq!((found.files[0].left_out, found.problem_count), (0, 0), "{:?}", found.problems);
            for currency in ["USD", "EUR"] {
                let of = rows.iter().filter(|row| row.currency == currency);
                let expected: Decimal = of.map(|row| row.sum(format)).sum();
                let total = found.total.iter().find(|sum| sum.currency.to_string() == currency);
                prop_assert_eq!(total.map_or(decimal("0"), |sum| sum.amount), expected);
            }
            sums_up(&found);
        }
    }
}
