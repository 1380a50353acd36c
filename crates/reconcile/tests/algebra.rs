//! What holds for every study and every bill.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Study, charge, sums_up};
use model::money::{Charge, Discount, DiscountTerms, Interruptions, LineKind, Unit};
use model::{BillingRule, PaidPhases};
use proptest::prelude::*;
use rust_decimal::Decimal;

const HEADER: &str = "BilledCost,BillingCurrency,ChargeCategory,ChargeDescription,ChargePeriodEnd,\
    ChargePeriodStart,ConsumedQuantity,ConsumedUnit,ContractedUnitPrice,PricingCurrency,\
    PricingCurrencyEffectiveCost,ProviderName,RegionId,ResourceId,ServiceName,SubAccountId,Tags";

#[derive(Debug, Clone)]
struct Row {
    what: usize,
    cost_millionths: i64,
    hour: u32,
    hours: u32,
    quantity_thousandths: i64,
    resource: u32,
    account: u32,
    tagged: bool,
    currency: usize,
    listed: bool,
}

const WHATS: [[&str; 3]; 9] = [
    [
        "Usage",
        "On Demand Linux g4dn.xlarge Instance Hour",
        "Amazon Elastic Compute Cloud",
    ],
    [
        "Usage",
        "On Demand Linux c5.xlarge Instance Hour",
        "Amazon Elastic Compute Cloud",
    ],
    [
        "Usage",
        "On Demand Linux p9.huge Instance Hour",
        "Amazon Elastic Compute Cloud",
    ],
    [
        "Usage",
        "GB-month of gp3 provisioned storage",
        "Amazon Elastic Compute Cloud",
    ],
    ["Tax", "VAT", "Amazon Elastic Compute Cloud"],
    ["Credit", "promotion", "Amazon Elastic Compute Cloud"],
    ["Usage", "support by the hour", "AWS Support (Business)"],
    ["Usage", "something new", "Amazon Something"],
    ["Usage", "Lambda-GB-Second", "AWS Lambda"],
];
const CURRENCIES: [&str; 3] = ["USD", "BRL", "EUR"];

impl Row {
    fn text(&self) -> String {
        let [kind, description, service] = WHATS[self.what];
        let resource = match kind {
            "Usage" => format!("r-{}", self.resource),
            _ => String::new(),
        };
        let time = |hour: u32| format!("2024-03-{:02} {:02}:00:00", 1 + hour / 24, hour % 24);
        let tag = if self.tagged {
            "bancada=training-cost"
        } else {
            ""
        };
        let listed = match self.listed {
            true => format!("USD,{}", Decimal::new(self.cost_millionths, 6)),
            false => ",".to_owned(),
        };
        format!(
            "{},{},{kind},{description},{},{},{},Hours,0.526,{listed},AWS,us-east-1,{resource},{service},{},{tag}",
            Decimal::new(self.cost_millionths, 6),
            CURRENCIES[self.currency],
            time(self.hour + self.hours),
            time(self.hour),
            Decimal::new(self.quantity_thousandths, 3),
            self.account,
        )
    }
}

fn rows(currencies: usize) -> impl Strategy<Value = Vec<Row>> {
    let row = (
        (
            0..WHATS.len(),
            -500_000_i64..5_000_000,
            0_u32..240,
            1_u32..30,
        ),
        (-500_i64..30_000, 0_u32..4, 0_u32..3, any::<bool>()),
        (0..currencies, any::<bool>()),
    );
    let row = row.prop_map(|(a, b, c)| Row {
        what: a.0,
        cost_millionths: a.1,
        hour: a.2,
        hours: a.3,
        quantity_thousandths: b.0,
        resource: b.1,
        account: b.2,
        tagged: b.3,
        currency: c.0,
        listed: c.1,
    });
    prop::collection::vec(row, 0..40)
}

#[derive(Debug, Clone)]
struct Run {
    machine: usize,
    machines: u32,
    hour: u32,
    seconds: u32,
}

fn runs() -> impl Strategy<Value = Vec<Run>> {
    let run = (0..4_usize, 1_u32..4, 0_u32..300, 0_u32..40_000);
    let run = run.prop_map(|(machine, machines, hour, seconds)| Run {
        machine,
        machines,
        hour,
        seconds,
    });
    prop::collection::vec(run, 0..12)
}

/// Everything that is paid beside the time of a machine, or taken off it.
fn terms() -> impl Strategy<Value = BillingRule> {
    let discount = Discount {
        what: "savings plan".to_owned(),
        terms: DiscountTerms::Committed {
            percent: Decimal::from(30),
            share_percent: Decimal::from(70),
        },
    };
    let interruptions = Interruptions {
        per_hour: Decimal::new(3, 1),
        restart_seconds: 30,
        checkpoint_seconds: Some(600),
        unpaid_seconds: 0,
    };
    let disk = Charge {
        unit: Unit::GigabyteMonth,
        quantity: Decimal::from(40),
        free: Decimal::from(10),
        ..charge(LineKind::Disk, "disk", "0.083 USD")
    };
    let charges = vec![disk, charge(LineKind::Fee, "support", "0.011 USD")];
    (
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        prop::option::of(0_i64..30),
    )
        .prop_map(move |(discounted, interrupted, charged, tax)| BillingRule {
            discounts: Vec::from_iter(discounted.then(|| discount.clone())),
            interruptions: interrupted.then(|| interruptions.clone()),
            charges: if charged { charges.clone() } else { Vec::new() },
            tax_percent: tax.map(Decimal::from),
            ..BillingRule::default()
        })
}

fn study(runs: &[Run], reais: bool, step_seconds: u32, training_alone: bool) -> Study {
    let terms = BillingRule::default();
    study_on(terms, runs, reais, step_seconds, training_alone)
}

fn study_on(
    terms: BillingRule,
    runs: &[Run],
    reais: bool,
    step_seconds: u32,
    training_alone: bool,
) -> Study {
    const MACHINES: [&str; 4] = [
        "aws/g4dn.xlarge@us-east-1",
        "aws/c5.xlarge",
        "own",
        "aws/lambda 2048 MB",
    ];
    let mut study = match reais {
        true => Study::in_reais("4.865"),
        false => Study::in_dollars(),
    };
    study.billing = BillingRule {
        step_seconds,
        ..terms
    };
    if training_alone {
        study = study.paying_training_alone();
    }
    for run in runs {
        let started = format!(
            "2024-03-{:02}T{:02}:13:00Z",
            1 + run.hour / 24,
            run.hour % 24
        );
        let machine = MACHINES[run.machine];
        let paid = study.billing.paid.clone();
        if machine.starts_with("aws/lambda") {
            study.billing.paid = PaidPhases::Requests;
        }
        study.machines = run.machines;
        study.requests = Some(cost::Requests {
            count: 7,
            seconds: f64::from(run.seconds) / 9.0,
            as_billed: true,
        });
        study = study.run(machine, "0.526", &started, f64::from(run.seconds) / 7.0);
        study.billing.paid = paid;
    }
    study
}

fn bill(rows: &[Row]) -> String {
    let rows: Vec<String> = rows.iter().map(Row::text).collect();
    format!("{HEADER}\n{}\n", rows.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn lines_sum_to_bill_less_estimate(
        rows in rows(3),
        runs in runs(),
        reais: bool,
        step in 0_u32..4000,
        training_alone: bool,
        terms in terms(),
    ) {
        let study = study_on(terms, &runs, reais, step, training_alone);
        let found = study.against(&bill(&rows));
        prop_assert_eq!(found.files[0].left_out, 0);
        sums_up(&found);
        for charge in &found.charges {
            let difference = charge.billed.amount - charge.estimated.amount;
            prop_assert_eq!(common::amount(&found, &charge.cause), difference);
        }
    }

    /// No run time is paid twice, however the stretches of rows overlap: what the bill has of it
    /// is at most what there was.
    #[test]
    fn run_time_is_counted_once(mut rows in rows(1), runs in runs()) {
        rows.iter_mut().for_each(|row| {
            row.cost_millionths = row.quantity_thousandths.abs();
            row.quantity_thousandths = row.quantity_thousandths.abs();
            row.what %= 2;
        });
        let found = study(&runs, false, 1, false).against(&bill(&rows));
        prop_assert!(common::amount(&found, "missing-time") <= Decimal::ZERO);
        for cause in ["before-runs", "between-runs", "after-runs"] {
            prop_assert!(common::amount(&found, cause) >= Decimal::ZERO, "{}", cause);
        }
        sums_up(&found);
    }

    /// The order of rows says nothing.
    #[test]
    fn rows_in_another_order_are_the_same_bill(rows in rows(2), runs in runs()) {
        let study = study(&runs, true, 60, false);
        let mut turned = rows.clone();
        turned.reverse();
        let (one, other) = (study.against(&bill(&rows)), study.against(&bill(&turned)));
        prop_assert_eq!(one.lines, other.lines);
        prop_assert_eq!(one.bill, other.bill);
        prop_assert_eq!(one.unexplained.amount, other.unexplained.amount);
    }

    /// Any bytes: a sentence or a result, never a panic.
    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..2000), with_header: bool) {
        let study = Study::in_dollars().run("aws/c5.xlarge", "0.17", "2024-03-04T10:00:00Z", 60.0);
        let mut text = Vec::new();
        if with_header {
            text.extend_from_slice(HEADER.as_bytes());
            text.push(b'\n');
        }
        text.extend_from_slice(&bytes);
        let question = study.question();
        if let Ok(found) = reconcile::reconcile(&question, |bills| bills.read("x", text.as_slice())) {
            sums_up(&found);
        }
    }
}
