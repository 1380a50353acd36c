//! Bills by example, then the laws that hold for every bill.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use cost::{BillRequest, Requests, bill, convert, own_machine_per_hour};
use model::money::RentalScope;
use model::{
    Bill, BillingRule, Currency, ExchangeRate, Money, OwnMachine, PaidPhases, Phase, Price, Warning,
};
use proptest::prelude::*;
use rust_decimal::Decimal;

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn price(per_hour: &str, step_seconds: u32, minimum_seconds: u32, paid: PaidPhases) -> Price {
    Price {
        billing: BillingRule {
            step_seconds,
            minimum_seconds,
            paid,
            rental: RentalScope::Run,
            ..BillingRule::default()
        },
        ..Price::typed_in(per_hour.parse().unwrap())
    }
}

fn rate(from: Currency, to: Currency, rate: &str, date: &str) -> ExchangeRate {
    ExchangeRate {
        from,
        to,
        rate: decimal(rate),
        date: date.to_owned(),
        source: String::new(),
    }
}

/// Phases that follow one another from zero on.
fn phases(parts: &[(&str, f64)]) -> Vec<Phase> {
    let mut begin_seconds = 0.0;
    parts
        .iter()
        .map(|(name, seconds)| {
            let phase = Phase {
                name: (*name).to_owned(),
                begin_seconds,
                seconds: *seconds,
            };
            begin_seconds += seconds;
            phase
        })
        .collect()
}

fn bill_of(parts: &[(&str, f64)], total_seconds: f64, price: &Price) -> Bill {
    let phases = phases(parts);
    let study_currency = price.per_hour.currency;
    let request = BillRequest {
        phases: &phases,
        total_seconds,
        requests: None,
        started: None,
        price,
        study_currency,
        rates: &[],
    };
    bill(&request).bill
}

#[test]
fn requests_alone_are_paid_where_the_rule_says_so() {
    let check = |seconds: Option<f64>, expected: &[&str]| {
        let price = price("0.144 USD", 0, 0, PaidPhases::Requests);
        let request = BillRequest {
            phases: &phases(&[("setup", 5.0), ("warm", 100.0)]),
            total_seconds: 105.0,
            requests: seconds.map(|seconds| Requests {
                count: 5,
                seconds,
                as_billed: true,
            }),
            started: None,
            price: &price,
            study_currency: Currency::USD,
            rates: &[],
        };
        assert_eq!(told(&bill(&request).bill), expected);
    };
    // 2.5 s of 2048 MB at 0.00004 US$ a second.
    check(Some(2.5), &["requests: 2.5 s, 0.0001", "0.0001 USD"]);
    check(None, &["0 USD"]);
}

fn total_of(seconds: f64, price: &Price) -> Decimal {
    bill_of(&[("train", seconds)], seconds, price).total.amount
}

/// One line of text for a line of the bill, then the total.
fn told(bill: &Bill) -> Vec<String> {
    let line = |l: &model::BillLine| format!("{}: {} s, {}", l.what, l.seconds, l.amount.amount);
    let mut told: Vec<String> = bill.lines.iter().map(line).collect();
    told.push(format!("{} {}", bill.total.amount, bill.total.currency));
    told
}

#[test]
fn an_hour_costs_the_price_of_an_hour() {
    let check = |per_hour, seconds, expected| {
        let bill = bill_of(
            &[("train", seconds)],
            seconds,
            &price(per_hour, 1, 0, PaidPhases::All),
        );
        assert_eq!(bill.total, expected, "{per_hour} {seconds}");
    };
    let usd = |text| Money::new(decimal(text), Currency::USD);
    check("0.169 USD", 3600.0, usd("0.169"));
    check("0.526 USD", 360.0, usd("0.0526"));
    check("0.526 USD", 0.0, usd("0"));
    check("0 USD", 12345.6, usd("0"));
    // A price per second written as 0.0000200 is 0.072 an hour.
    check("0.072 USD", 1.0, usd("0.00002"));
}

#[test]
fn every_paid_phase_has_a_line_and_rounding_has_its_own() {
    let parts = [
        ("startup", 1.25),
        ("train", 60.0),
        ("verify", 2.0),
        ("train", 30.5),
    ];
    let all = price("3.6 USD", 60, 0, PaidPhases::All);
    let expected = [
        "startup: 1.25 s, 0.00125",
        "train: 90.5 s, 0.0905",
        "verify: 2 s, 0.002",
        "outside phases: 0.25 s, 0.00025",
        "rounding up to 60 s: 26 s, 0.026",
        "0.12 USD",
    ];
    assert_eq!(told(&bill_of(&parts, 94.0, &all)), expected);
}

#[test]
fn only_the_phases_named_are_paid() {
    let parts = [("startup", 1.0), ("train", 10.0), ("save", 2.0)];
    let only = |names: &[&str], step, minimum| {
        let names = names.iter().map(|n| (*n).to_owned()).collect();
        told(&bill_of(
            &parts,
            13.0,
            &price("3.6 USD", step, minimum, PaidPhases::Only(names)),
        ))
    };
    assert_eq!(only(&["train"], 0, 0), ["train: 10 s, 0.01", "0.01 USD"]);
    assert_eq!(
        only(&["save", "train"], 0, 60),
        [
            "train: 10 s, 0.01",
            "save: 2 s, 0.002",
            "minimum of 60 s: 48 s, 0.048",
            "0.06 USD"
        ]
    );
    assert_eq!(only(&["install"], 60, 60), ["0 USD"]);
}

#[test]
fn a_run_without_phases_is_one_line() {
    let bill = bill_of(&[], 2.0004, &price("3.6 USD", 0, 0, PaidPhases::All));
    assert_eq!(told(&bill), ["run: 2.001 s, 0.002001", "0.002001 USD"]);
}

#[test]
fn step_then_minimum() {
    let rule = price("3.6 USD", 10, 60, PaidPhases::All);
    let check = |seconds, expected: &str| assert_eq!(total_of(seconds, &rule), decimal(expected));
    check(1.0, "0.06");
    check(60.0, "0.06");
    check(60.001, "0.07");
    // A step that began is paid, however little of it was used.
    check(60.000_4, "0.07");
    check(60.000_000_000_01, "0.06");
    check(69.9996, "0.07");
}

#[test]
fn odd_times_and_prices_do_not_panic() {
    let times = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -1.0,
        1e300,
        f64::MIN_POSITIVE,
    ];
    let prices = [
        "79228162514264337593543950335 USD",
        "-1 USD",
        "0.0000000000000000000000000001 USD",
    ];
    for seconds in times {
        for per_hour in prices {
            let rule = price(per_hour, u32::MAX, u32::MAX, PaidPhases::All);
            bill_of(&[("train", seconds), ("save", seconds)], seconds, &rule);
        }
    }
}

#[test]
fn the_total_is_told_in_the_studys_currency() {
    let rates = [
        rate(Currency::USD, Currency::BRL, "4.80", "2024-01-01"),
        rate(Currency::USD, Currency::BRL, "4.865", "2024-03-01"),
    ];
    let price = price("200 USD", 0, 0, PaidPhases::All);
    let ask = |study_currency, rates| {
        bill(&BillRequest {
            phases: &[],
            total_seconds: 3600.0,
            requests: None,
            started: None,
            price: &price,
            study_currency,
            rates,
        })
    };
    let told = ask(Currency::BRL, &rates);
    let converted = told.bill.converted.unwrap();
    assert_eq!(converted.total, Money::new(decimal("973"), Currency::BRL));
    assert_eq!(converted.rate, rates[1]);
    assert_eq!(told.warning, None);
    assert_eq!(ask(Currency::USD, &rates).bill.converted, None);
    let none = ask(Currency::EUR, &rates);
    assert_eq!(none.bill.converted, None);
    assert_eq!(
        none.warning,
        Some(Warning::NoRate {
            from: "USD".to_owned(),
            to: "EUR".to_owned()
        })
    );
}

#[test]
fn rates_work_both_ways_and_never_over_a_third_currency() {
    let rates = [
        rate(Currency::USD, Currency::BRL, "5", "2024-01-01"),
        rate(Currency::EUR, Currency::USD, "1.25", "2024-01-01"),
        rate(Currency::USD, Currency::EUR, "0", "2025-01-01"),
    ];
    let check = |from: &str, to: Currency, expected: Option<&str>| {
        let money: Money = from.parse().unwrap();
        let expected = expected.map(|text| text.parse::<Money>().unwrap());
        assert_eq!(convert(money, to, &rates), expected, "{from} to {to}");
    };
    check("10 USD", Currency::BRL, Some("50 BRL"));
    check("10 BRL", Currency::USD, Some("2 USD"));
    check("10 USD", Currency::EUR, Some("8 EUR"));
    check("10 USD", Currency::USD, Some("10 USD"));
    check("10 BRL", Currency::EUR, None);
}

#[test]
fn an_own_machine_costs_purchase_and_electricity() {
    let money = |text: &str| text.parse::<Money>().unwrap();
    let machine = OwnMachine {
        purchase: money("8766 EUR"),
        years: decimal("4"),
        watts: decimal("500"),
        electricity_per_kilowatt_hour: money("0.30 EUR"),
        hours_per_day: None,
    };
    // 8766 EUR over 4 × 8766 h is 0.25 EUR; half a kilowatt for an hour is 0.15 EUR.
    let check = |machine, expected: Result<&str, &str>| {
        let found = own_machine_per_hour(&machine);
        let expected = expected.map(money).map_err(str::to_owned);
        assert_eq!(found, expected);
    };
    check(machine, Ok("0.4 EUR"));
    check(
        OwnMachine {
            hours_per_day: Some(decimal("12")),
            ..machine
        },
        Ok("0.65 EUR"),
    );
    check(
        OwnMachine {
            years: Decimal::ZERO,
            ..machine
        },
        Err("`years` must be above zero"),
    );
    check(
        OwnMachine {
            hours_per_day: Some(Decimal::ZERO),
            ..machine
        },
        Err("`hours_per_day` must be above zero"),
    );
    check(
        OwnMachine {
            hours_per_day: Some(decimal("25")),
            ..machine
        },
        Err("a day has 24 hours"),
    );
    check(
        OwnMachine {
            watts: decimal("-1"),
            ..machine
        },
        Err("`watts` must not be negative"),
    );
    check(
        OwnMachine {
            purchase: money("1 USD"),
            ..machine
        },
        Err(
            "the purchase price is in USD and the electricity price in EUR: use one currency for both",
        ),
    );
    check(
        OwnMachine {
            purchase: Money::new(Decimal::MAX, Currency::EUR),
            years: decimal("0.0001"),
            ..machine
        },
        Err("these numbers give no usable price per hour"),
    );
}

fn some_price() -> impl Strategy<Value = Price> {
    let step = prop_oneof![
        Just(0u32),
        Just(1),
        Just(60),
        Just(600),
        Just(3600),
        1u32..100
    ];
    // Up to 1,000 an hour, to a millionth.
    (0i64..1_000_000_000, step, 0u32..1000).prop_map(|(millionths, step, minimum)| {
        let per_hour = format!("{} USD", Decimal::new(millionths, 6));
        price(&per_hour, step, minimum, PaidPhases::All)
    })
}

/// Times that a clock can tell, in whole microseconds up to a day.
fn some_seconds() -> impl Strategy<Value = f64> {
    (0u64..86_400_000_000).prop_map(|microseconds| microseconds as f64 / 1e6)
}

fn some_phases() -> impl Strategy<Value = Vec<(&'static str, f64)>> {
    let name = prop_oneof![
        Just("startup"),
        Just("load-data"),
        Just("train"),
        Just("verify")
    ];
    prop::collection::vec((name, some_seconds()), 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn total_is_the_sum_of_the_lines(parts in some_phases(), outside in some_seconds(), price in some_price(), only in any::<bool>()) {
        let total_seconds = parts.iter().map(|p| p.1).sum::<f64>() + outside;
        let mut price = price;
        if only {
            price.billing.paid = PaidPhases::Only(vec!["train".to_owned()]);
        }
        let bill = bill_of(&parts, total_seconds, &price);
        let sum: Decimal = bill.lines.iter().map(|l| l.amount.amount).sum();
        prop_assert_eq!(sum, bill.total.amount);
        prop_assert!(bill.lines.iter().all(|l| l.seconds > Decimal::ZERO));
        prop_assert!(bill.lines.iter().all(|l| l.amount.amount >= Decimal::ZERO));
    }

    #[test]
    fn total_does_not_depend_on_the_division_into_phases(parts in some_phases(), price in some_price()) {
        let total_seconds = parts.iter().map(|p| p.1).sum::<f64>();
        let divided = bill_of(&parts, total_seconds, &price).total;
        prop_assert_eq!(divided, bill_of(&[], total_seconds, &price).total);
    }

    #[test]
    fn longer_never_costs_less(a in some_seconds(), b in some_seconds(), price in some_price()) {
        prop_assert!(total_of(a.min(b), &price) <= total_of(a.max(b), &price));
    }

    #[test]
    fn parts_never_cost_less_than_the_whole(a in 0u32..86_400_000, b in 0u32..86_400_000, price in some_price()) {
        // Whole milliseconds, the unit a bill counts in.
        let (first, second) = (f64::from(a) / 1e3, f64::from(b) / 1e3);
        let whole = total_of((f64::from(a) + f64::from(b)) / 1e3, &price);
        prop_assert!(total_of(first, &price) + total_of(second, &price) >= whole);
    }

    #[test]
    fn a_smaller_step_never_costs_more(seconds in some_seconds(), price in some_price(), factor in 2u32..20) {
        let mut coarser = price.clone();
        coarser.billing.step_seconds *= factor;
        prop_assert!(total_of(seconds, &price) <= total_of(seconds, &coarser));
    }

    #[test]
    fn no_price_no_cost(seconds in some_seconds(), mut price in some_price()) {
        price.per_hour = Money::zero(Currency::USD);
        prop_assert_eq!(total_of(seconds, &price), Decimal::ZERO);
    }

    #[test]
    fn there_and_back_is_the_same_money(cents in 0i64..1_000_000_000_000, thousandths in 1i64..1_000_000) {
        let money = Money::new(Decimal::new(cents, 2), Currency::USD);
        let rates = [rate(Currency::USD, Currency::BRL, &Decimal::new(thousandths, 3).to_string(), "2024-03-01")];
        let there = convert(money, Currency::BRL, &rates).unwrap();
        let back = convert(there, Currency::USD, &rates).unwrap();
        // Half a unit of the tenth place there is worth this much here, and half a unit is added on the way back.
        let unit = Decimal::new(1, 10);
        let tolerance = unit / rates[0].rate + unit;
        prop_assert!((back.amount - money.amount).abs() <= tolerance, "{money:?} {there:?} {back:?}");
    }
}
