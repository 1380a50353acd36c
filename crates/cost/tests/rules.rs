//! What billing rules make of a run: discounts, charges, free amounts, taxes, prices that move,
//! machines that are taken away.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use cost::{BillRequest, Requests, bill, rules};
use model::money::{
    AroundRun, Charge, Discount, DiscountTerms, Interruptions, LineKind, MonthOfUse, PriceChange,
    RentalScope, SustainedTier, Unit,
};
use model::{Bill, BillingRule, Currency, PaidPhases, Phase, Price, Timestamp};
use proptest::prelude::*;
use rust_decimal::Decimal;

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn price(per_hour: &str, billing: BillingRule) -> Price {
    Price {
        // Every run has a machine of its own.
        billing: BillingRule {
            rental: RentalScope::Run,
            ..billing
        },
        ..Price::typed_in(per_hour.parse().unwrap())
    }
}

fn exact() -> BillingRule {
    BillingRule {
        step_seconds: 0,
        ..BillingRule::default()
    }
}

/// A run that trains all its life.
fn bill_of(seconds: f64, price: &Price, requests: Option<Requests>) -> Bill {
    let phases = [Phase {
        name: "train".to_owned(),
        begin_seconds: 0.0,
        seconds,
    }];
    bill(&BillRequest {
        phases: &phases,
        total_seconds: seconds,
        started: "2026-11-16T12:00:00Z".parse().ok(),
        requests,
        price,
        study_currency: Currency::USD,
        rates: &[],
    })
    .bill
}

fn told(bill: &Bill) -> Vec<String> {
    let line = |l: &model::BillLine| format!("{} {}", l.what, l.amount.amount);
    let mut told: Vec<String> = bill.lines.iter().map(line).collect();
    told.push(bill.total.amount.to_string());
    told
}

fn charge(what: &str, kind: LineKind, unit_price: &str, quantity: &str, free: &str) -> Charge {
    let cost::UnitPrice { price, unit } = cost::unit_price(unit_price).unwrap();
    Charge {
        what: what.to_owned(),
        kind,
        unit,
        price,
        quantity: decimal(quantity),
        free: decimal(free),
        source: "a test".to_owned(),
        date: "2026-11-16".to_owned(),
    }
}

fn committed(percent: &str, share: &str) -> Discount {
    Discount {
        what: "plan".to_owned(),
        terms: DiscountTerms::Committed {
            percent: decimal(percent),
            share_percent: decimal(share),
        },
    }
}

#[test]
fn a_promise_takes_percent_off_the_time_it_covers() {
    let check = |discounts: Vec<Discount>, expected: &[&str]| {
        let rule = BillingRule {
            discounts,
            ..exact()
        };
        assert_eq!(
            told(&bill_of(3600.0, &price("1 USD", rule), None)),
            expected
        );
    };
    check(
        vec![committed("30", "100")],
        &["train 1", "plan -0.3", "0.7"],
    );
    check(
        vec![committed("30", "60")],
        &["train 1", "plan -0.18", "0.82"],
    );
    // One after the other, not added up.
    let twice = vec![committed("50", "100"), committed("50", "100")];
    check(twice, &["train 1", "plan -0.5", "plan -0.25", "0.25"]);
    check(vec![committed("100", "100")], &["train 1", "plan -1", "0"]);
}

/// The quarters of Google's n1: half a month has 10 % off, the whole 30 %.
#[test]
fn long_use_is_discounted_by_the_hours_of_a_month() {
    let tier = |up_to: i64, pays: i64| SustainedTier {
        up_to_percent: Decimal::from(up_to),
        pays_percent: Decimal::from(pays),
    };
    let terms = DiscountTerms::Sustained {
        tiers: vec![tier(25, 100), tier(50, 80), tier(75, 60), tier(100, 40)],
    };
    let check = |hours: Option<&str>, expected: &str| {
        let rule = BillingRule {
            discounts: vec![Discount {
                what: "sustained use".to_owned(),
                terms: terms.clone(),
            }],
            month: MonthOfUse {
                hours: hours.map(decimal),
                ..MonthOfUse::default()
            },
            ..exact()
        };
        let total = bill_of(3600.0, &price("1 USD", rule), None).total;
        assert_eq!(total.amount, decimal(expected), "{hours:?}");
    };
    check(Some("100"), "1");
    check(Some("182.5"), "1");
    check(Some("365"), "0.9");
    check(Some("547.5"), "0.8");
    check(Some("730"), "0.7");
    check(Some("744"), "0.7");
    // Nobody said how much of a month.
    check(None, "1");
}

#[test]
fn charges_have_lines_of_their_own_and_tax_is_on_all() {
    let rule = BillingRule {
        charges: vec![
            charge("disk", LineKind::Disk, "0.08 USD/GB-month", "100", "0"),
            charge("address", LineKind::Address, "0.005 USD/h", "1", "0"),
            charge("data out", LineKind::Traffic, "0.09 USD/GB", "2", "0"),
            charge("support", LineKind::Fee, "10 USD/run", "1", "0"),
        ],
        tax_percent: Some(decimal("17")),
        ..exact()
    };
    let bill = bill_of(7300.0, &price("3.6 USD", rule), None);
    // 100 GB for a 360th of a month; 7300 s are 2.02777… h.
    assert_eq!(
        told(&bill),
        [
            "train 7.3",
            "disk 0.0222222223",
            "address 0.0101388889",
            "data out 0.18",
            "support 10",
            "tax of 17 % 2.9771013890",
            "20.4894625002"
        ]
        .map(|text| text.replace("2.9771013890", "2.977101389"))
    );
    let disk = bill.lines[1].counted.as_ref().unwrap();
    assert_eq!(disk.unit, Unit::GigabyteMonth);
    assert_eq!(disk.unit_price.amount, decimal("0.08"));
}

#[test]
fn what_a_month_has_for_nothing_is_shared_by_its_use() {
    let check =
        |unit_price: &str, quantity: &str, free: &str, month: MonthOfUse, expected: &str| {
            let rule = BillingRule {
                charges: vec![charge("it", LineKind::Fee, unit_price, quantity, free)],
                month,
                ..exact()
            };
            let requests = Requests {
                count: 1_000_000,
                seconds: 100.0,
                as_billed: false,
            };
            let bill = bill_of(3600.0, &price("0 USD", rule), Some(requests));
            assert_eq!(bill.total.amount, decimal(expected), "{unit_price}");
        };
    let month = |hours: &str, requests: &str, gigabytes: &str| MonthOfUse {
        hours: hours.parse().ok(),
        requests: requests.parse().ok(),
        gigabytes: gigabytes.parse().ok(),
    };
    // 50 of 250 GB are beyond the free ones: a fifth is paid.
    check("0.10 USD/GB", "10", "200", month("", "", "250"), "0.2");
    check("0.10 USD/GB", "10", "200", month("", "", "150"), "0");
    check("0.10 USD/GB", "10", "200", month("", "", ""), "1");
    check(
        "0.20 USD/million requests",
        "0",
        "1",
        month("", "4000000", ""),
        "0.15",
    );
    check("0.005 USD/h", "1", "50", month("100", "", ""), "0.0025");
    // Two addresses have twice the hours.
    check("0.005 USD/h", "2", "50", month("100", "", ""), "0.0075");
    check("73 USD/GB-month", "20", "10", month("", "", ""), "1");
    // A fee of a month is spread over its hours.
    check("20 USD/month", "1", "0", month("100", "", ""), "0.2");
}

#[test]
fn a_request_is_counted_in_whole_steps() {
    let check = |step: u32, minimum: u32, micros: u64, expected: u64| {
        let rule = BillingRule {
            request_step_ms: step,
            request_minimum_ms: minimum,
            ..BillingRule::requests()
        };
        let used = std::time::Duration::from_micros(micros);
        assert_eq!(cost::request_milliseconds(&rule, used), expected);
    };
    check(1, 0, 0, 0);
    check(1, 0, 1001, 2);
    check(100, 0, 1001, 100);
    check(100, 0, 100_001, 200);
    check(0, 0, 1001, 2);
    check(1, 100, 1001, 100);
}

#[test]
fn requests_are_rounded_up_one_by_one_and_have_a_fee() {
    let check = |step: u32, minimum: u32, expected: &[&str]| {
        let rule = BillingRule {
            request_step_ms: step,
            request_minimum_ms: minimum,
            charges: vec![charge(
                "requests made",
                LineKind::Requests,
                "0.20 USD/million requests",
                "0",
                "0",
            )],
            ..BillingRule::requests()
        };
        let requests = Requests {
            count: 1000,
            seconds: 70.5,
            as_billed: false,
        };
        let bill = bill_of(600.0, &price("3.6 USD", rule), Some(requests));
        assert_eq!(told(&bill), expected);
    };
    check(0, 0, &["requests 0.0705", "requests made 0.0002", "0.0707"]);
    check(1, 0, &["requests 0.071", "requests made 0.0002", "0.0712"]);
    check(100, 0, &["requests 0.1", "requests made 0.0002", "0.1002"]);
    check(1, 200, &["requests 0.2", "requests made 0.0002", "0.2002"]);
    // What the service has rounded is not rounded again.
    let rule = BillingRule {
        request_step_ms: 1,
        ..BillingRule::requests()
    };
    let requests = Requests {
        count: 20,
        seconds: 0.023,
        as_billed: true,
    };
    let bill = bill_of(600.0, &price("3.6 USD", rule), Some(requests));
    assert_eq!(told(&bill), ["requests 0.000023", "0.000023"]);
}

#[test]
fn a_request_costs_its_time_its_fee_and_its_tax() {
    let check = |per_hour: &str, rule: BillingRule, seconds: f64, expected: &str| {
        let money = cost::per_request(&price(per_hour, rule), seconds, false);
        assert_eq!(money.amount, decimal(expected));
    };
    let fee = || {
        charge(
            "fee",
            LineKind::Requests,
            "0.20 USD/million requests",
            "0",
            "0",
        )
    };
    // A machine that is paid by the minute: a request pays its share, and no run its fee.
    let machine = BillingRule {
        step_seconds: 60,
        minimum_seconds: 600,
        charges: vec![
            fee(),
            charge("support", LineKind::Fee, "10 USD/run", "1", "0"),
        ],
        ..BillingRule::default()
    };
    check("3.6 USD", machine, 0.01, "0.0000102");
    let workers = BillingRule {
        request_step_ms: 100,
        charges: vec![fee()],
        tax_percent: Some(decimal("10")),
        ..BillingRule::requests()
    };
    check("3.6 USD", workers, 0.07, "0.00011022");
    check("0.0000036 USD", exact(), 0.001, "0.000000000001");
}

/// AWS's own example: 3 million requests of 1 s with 512 MB cost 18.34 + 0.40 USD a month.
#[test]
fn the_months_bill_of_lambda_is_the_providers_own() {
    let lambda = rules().named("aws/lambda").unwrap();
    let mut rule = lambda.billing(Some(512));
    rule.month.requests = Some(decimal("3000000"));
    let price = price(
        &format!("{} USD", lambda.per_hour(512).unwrap().amount),
        rule,
    );
    let requests = Requests {
        count: 3_000_000,
        seconds: 3_000_000.0,
        as_billed: true,
    };
    let bill = bill_of(3_000_000.0, &price, Some(requests));
    let sum = |kinds: &[&str]| -> Decimal {
        let lines = bill.lines.iter();
        let some = lines.filter(|l| kinds.contains(&l.what.as_str()));
        some.map(|l| l.amount.amount).sum::<Decimal>().round_dp(2)
    };
    let time = sum(&["requests", "400000 free GB-seconds per month"]);
    assert_eq!(time, decimal("18.33"));
    assert_eq!(
        sum(&["requests made", "free requests made"]),
        decimal("0.40")
    );
}

#[test]
fn a_price_that_moves_is_paid_as_it_stood() {
    let mut price = price("1 USD", exact());
    let change = |from: &str, per_hour: &str| PriceChange {
        from: from.parse().unwrap(),
        per_hour: decimal(per_hour),
    };
    price.changes = vec![
        change("2026-11-16T11:00:00Z", "2"),
        change("2026-11-16T12:30:00Z", "4"),
        change("2026-11-17T00:00:00Z", "8"),
    ];
    // Begun at noon, at 2 an hour.
    assert_eq!(
        told(&bill_of(3600.0, &price, None)),
        ["train at 2 USD/h 1", "train at 4 USD/h 2", "3"]
    );
    let lines = bill_of(3600.0, &price, None).lines;
    let unit_prices: Vec<String> = lines
        .iter()
        .filter_map(|line| Some(line.per_hour?.to_string()))
        .collect();
    assert_eq!(unit_prices, ["US$ 2.00", "US$ 4.00"]);
    price.changes.truncate(1);
    assert_eq!(
        told(&bill_of(3600.0, &price, None)),
        ["train at 2 USD/h 2", "2"]
    );
    price.changes = vec![change("2026-11-18T00:00:00Z", "2")];
    assert_eq!(
        told(&bill_of(3600.0, &price, None)),
        ["train at 1 USD/h 1", "1"]
    );
    price.billing.step_seconds = 3600;
    price.changes = vec![change("2026-11-16T12:00:10Z", "10")];
    assert_eq!(
        told(&bill_of(20.0, &price, None)),
        [
            "train at 1 USD/h 0.0027777778",
            "train at 10 USD/h 0.0277777778",
            "rounding up to 3600 s 9.9444444444",
            "9.975"
        ]
    );
}

#[test]
fn attempts_that_are_expected_to_be_lost_are_on_the_bill() {
    let check = |per_hour: &str, restart: u32, expected: &[&str]| {
        let rule = BillingRule {
            interruptions: Some(Interruptions {
                per_hour: decimal(per_hour),
                restart_seconds: restart,
                checkpoint_seconds: None,
                unpaid_seconds: 0,
            }),
            ..exact()
        };
        assert_eq!(
            told(&bill_of(3600.0, &price("1 USD", rule), None)),
            expected
        );
    };
    check("0", 60, &["train 1", "1"]);
    // e − 1 interruptions, which take (e − 1) − 1 hours beside the one that counts.
    check(
        "1",
        0,
        &[
            "train 1",
            "lost attempts, 1.7 expected 0.7182819445",
            "1.7182819445",
        ],
    );
    // And a minute each time.
    check(
        "1",
        60,
        &[
            "train 1",
            "lost attempts, 1.7 expected 0.7469197223",
            "1.7469197223",
        ],
    );
}

#[test]
fn a_total_with_more_losses_than_can_be_counted_is_a_lower_bound() {
    let check = |per_hour: &str, expected: bool| {
        let rule = BillingRule {
            interruptions: Some(Interruptions {
                per_hour: decimal(per_hour),
                restart_seconds: 0,
                checkpoint_seconds: None,
                unpaid_seconds: 0,
            }),
            ..exact()
        };
        let bill = bill_of(3600.0, &price("1 USD", rule), None);
        assert_eq!(bill.is_lower_bound(), expected, "{per_hour}");
    };
    check("0", false);
    check("1", false);
    // e^20 is half of a thousand million, e^21 more than that.
    check("20", false);
    check("21", true);
}

fn some_rule() -> impl Strategy<Value = BillingRule> {
    let charge_of = |(unit, cents, quantity, free): (usize, i64, i64, i64)| Charge {
        what: "it".to_owned(),
        kind: LineKind::Fee,
        unit: Unit::ALL[unit],
        price: model::Money::new(Decimal::new(cents, 2), Currency::USD),
        quantity: Decimal::from(quantity),
        free: Decimal::from(free),
        source: String::new(),
        date: String::new(),
    };
    let charges = prop::collection::vec((0usize..6, 0i64..1000, 0i64..100, 0i64..100), 0..4);
    let discounts = prop::collection::vec((0i64..=100, 0i64..=100), 0..3);
    let month = (1i64..744, 1i64..10_000_000, 1i64..1000);
    (
        0u32..100,
        0u32..100,
        discounts,
        charges,
        month,
        0i64..=50,
        0i64..3,
    )
        .prop_map(
            move |(step, minimum, discounts, charges, (hours, requests, gigabytes), tax, lost)| {
                let discount = |(percent, share): (i64, i64)| {
                    committed(&percent.to_string(), &share.to_string())
                };
                BillingRule {
                    step_seconds: step,
                    minimum_seconds: minimum,
                    discounts: discounts.into_iter().map(discount).collect(),
                    charges: charges.into_iter().map(charge_of).collect(),
                    tax_percent: Some(Decimal::from(tax)),
                    month: MonthOfUse {
                        hours: Some(Decimal::from(hours)),
                        requests: Some(Decimal::from(requests)),
                        gigabytes: Some(Decimal::from(gigabytes)),
                    },
                    interruptions: Some(Interruptions {
                        per_hour: Decimal::new(lost, 2),
                        restart_seconds: 30,
                        checkpoint_seconds: None,
                        unpaid_seconds: 0,
                    }),
                    ..BillingRule::default()
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn totals_are_sums_and_never_below_nothing(rule in some_rule(), ms in 0u32..100_000_000) {
        let bill = bill_of(f64::from(ms) / 1e3, &price("0.731 USD", rule), None);
        let sum: Decimal = bill.lines.iter().map(|l| l.amount.amount).sum();
        prop_assert_eq!(sum, bill.total.amount);
        prop_assert!(bill.total.amount >= Decimal::ZERO);
    }

    #[test]
    fn longer_never_costs_less(rule in some_rule(), a in 0u32..100_000_000, b in 0u32..100_000_000) {
        let price = price("0.731 USD", rule);
        let total = |ms: u32| bill_of(f64::from(ms) / 1e3, &price, None).total.amount;
        prop_assert!(total(a.min(b)) <= total(a.max(b)));
    }

    #[test]
    fn parts_never_cost_less_than_the_whole(mut rule in some_rule(), a in 0u32..50_000_000, b in 0u32..50_000_000) {
        // Two short attempts lose less than a long one: that is what saving states is for.
        rule.interruptions = None;
        let price = price("0.731 USD", rule);
        let total = |ms: u32| bill_of(f64::from(ms) / 1e3, &price, None).total.amount;
        prop_assert!(total(a) + total(b) >= total(a + b));
    }

    #[test]
    fn changes_of_price_stay_between_the_lowest_and_the_highest(cut in 1i64..3600, cents in 1i64..1000) {
        let start: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
        let second = Timestamp::from_second(start.as_second() + cut).unwrap();
        let mut moving = price("1 USD", exact());
        moving.changes = vec![PriceChange { from: second, per_hour: Decimal::new(cents, 2) }];
        let total = bill_of(3600.0, &moving, None).total.amount;
        let other = Decimal::new(cents, 2);
        let up = Decimal::new(2, 10);
        prop_assert!(total >= Decimal::ONE.min(other) && total <= Decimal::ONE.max(other) + up);
    }
}

#[test]
fn only_named_phases_move_with_the_price_too() {
    let mut price = price("1 USD", exact());
    price.billing.paid = PaidPhases::Only(vec!["train".to_owned()]);
    price.changes = vec![PriceChange {
        from: "2026-11-16T12:30:00Z".parse().unwrap(),
        per_hour: decimal("2"),
    }];
    let phase = |name: &str, begin_seconds, seconds| Phase {
        name: name.to_owned(),
        begin_seconds,
        seconds,
    };
    let phases = [
        phase("load-data", 0.0, 1800.0),
        phase("train", 1800.0, 1800.0),
    ];
    let bill = bill(&BillRequest {
        phases: &phases,
        total_seconds: 3600.0,
        started: "2026-11-16T12:00:00Z".parse().ok(),
        requests: None,
        price: &price,
        study_currency: Currency::USD,
        rates: &[],
    })
    .bill;
    assert_eq!(told(&bill), ["train at 2 USD/h 1", "1"]);
}

#[test]
fn the_machines_life_around_a_run_is_paid_and_rounded_with_it() {
    let around = AroundRun {
        startup_seconds: 45,
        install_seconds: 120,
        shutdown_seconds: 15,
    };
    let rule = |paid: PaidPhases| BillingRule {
        step_seconds: 60,
        paid,
        around,
        ..BillingRule::default()
    };
    // A cent a second: 100 s of training, 180 s around it, 20 s up to the fifth minute.
    let check = |paid: PaidPhases, expected: &[&str]| {
        assert_eq!(
            told(&bill_of(100.0, &price("36 USD", rule(paid)), None)),
            expected
        );
    };
    check(
        PaidPhases::All,
        &[
            "train 1",
            "startup of the machine 0.45",
            "install of the machine 1.2",
            "shutdown of the machine 0.15",
            "rounding up to 60 s 0.2",
            "3",
        ],
    );
    // Whatever phases are paid.
    check(
        PaidPhases::Only(vec!["verify".to_owned()]),
        &[
            "startup of the machine 0.45",
            "install of the machine 1.2",
            "shutdown of the machine 0.15",
            "1.8",
        ],
    );
}
