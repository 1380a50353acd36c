//! Buying against renting, and an expensive machine against a cheap one, reckoned by hand.

#![expect(clippy::unwrap_used, reason = "a test may fail so")]

mod common;

use analyse::{Basis, BreakEvens, Buying, CostVerdict};
use common::{Recipe, World, analysis, factor, price};
use cost::BillRequest;
use model::money::RentalScope;
use model::{Currency, ExchangeRate, Level, Money, OwnMachine, Phase, Price};
use rust_decimal::Decimal;

fn dollars(amount: &str) -> Money {
    format!("{amount} USD").parse().unwrap()
}

/// Seconds of a run in each environment.
struct Times {
    nuc: f64,
    cpu: f64,
    gpu: f64,
}

const TIMES: Times = Times {
    nuc: 100.0,
    cpu: 200.0,
    gpu: 20.0,
};

/// 876 dollars over two years are 36.50 a month; 100 W at 0.20 are 0.02 an hour.
fn own(currency: &str) -> OwnMachine {
    OwnMachine {
        purchase: format!("876 {currency}").parse().unwrap(),
        years: Decimal::TWO,
        watts: Decimal::ONE_HUNDRED,
        electricity_per_kilowatt_hour: format!("0.2 {currency}").parse().unwrap(),
        hours_per_day: None,
    }
}

fn prices(environment: &str) -> Price {
    let mut price = price(environment);
    match environment {
        "nuc" => {
            price.own = Some(own("USD"));
            price.per_hour = cost::own_machine_per_hour(&own("USD")).unwrap();
        }
        "cpu" => price.per_hour = dollars("0.17"),
        _ => price.per_hour = dollars("0.51"),
    }
    price
}

/// Three repetitions that differ by a hundredth, so that geometric means are the times given.
fn world(times: &Times, networks: &[&str], price_of: impl Fn(&str) -> Price) -> World {
    let levels = |names: &[&str]| names.iter().map(|n| Level::from(*n)).collect::<Vec<_>>();
    let mut world = Recipe {
        factors: vec![
            factor("environment", &levels(&["nuc", "cpu", "gpu"])),
            factor("network", &levels(networks)),
        ],
        ..Recipe::default()
    }
    .world();
    for record in &mut world.records {
        let environment = record.environment.name.clone();
        let network = record.scenario.level("network").unwrap().to_string();
        let place = networks.iter().position(|n| **n == network).unwrap();
        let seconds = match environment.as_str() {
            "nuc" => times.nuc,
            "cpu" => times.cpu,
            // Each network is half as fast there as the one before.
            _ => times.gpu * 2_f64.powi(place as i32),
        };
        record.seconds = seconds * (0.01 * (f64::from(record.run.repetition) - 2.0)).exp();
        record.phases = vec![Phase {
            name: "train".to_owned(),
            begin_seconds: 0.0,
            seconds: record.seconds,
        }];
        let price = price_of(&environment);
        let request = BillRequest::of(record, &price, Currency::USD, &[]);
        record.bill = Some(cost::bill(&request).bill.into());
        record.price = Some(price.into());
    }
    world
}

fn found(times: &Times) -> BreakEvens {
    analysis(&world(times, &["rede1"], prices)).money.break_even
}

fn close(actual: f64, expected: f64) {
    let apart = (actual / expected - 1.0).abs();
    assert!(apart < 1e-4, "{actual} is not about {expected}");
}

#[test]
fn buying_pays_from_hours_on() {
    let found = found(&TIMES);
    assert_eq!(found.buying.len(), 2);
    let cpu = &found.buying[0];
    assert_eq!(
        (cpu.own, cpu.rented, cpu.rented_environment.as_str()),
        (1, 2, "cpu")
    );
    assert_eq!(cpu.per_month, dollars("36.5"));
    assert_eq!(cpu.electricity_per_hour, dollars("0.02"));
    assert_eq!(cpu.rent_per_hour, dollars("0.17"));
    close(cpu.time_ratio.value, 2.0);
    // 36.5 / (0.17 · 2 − 0.02).
    let hours = cpu.hours_per_month.as_ref().unwrap();
    close(hours.value, 114.0625);
    // The ratio is known to e^±0.02267: t of 4 degrees is 2.7764, twice a variance of 0.0001 / 3.
    let interval = hours.interval.unwrap();
    close(interval.low, 111.350);
    close(interval.high, 116.845);
    assert_eq!(cpu.verdict, Buying::Pays);
    // 36.5 / (0.51 · 0.2 − 0.02).
    close(
        found.buying[1].hours_per_month.as_ref().unwrap().value,
        445.122,
    );
    assert_eq!(
        found.sentences[0],
        "From 114 hours of work per month [111, 117] on, buying nuc is cheaper than renting cpu."
    );
}

#[test]
fn buying_may_never_pay() {
    // 36.5 / (0.51 · 0.12 − 0.02) is more than a month has; 0.51 · 0.01 is less than 0.02.
    let slow = |gpu: f64| found(&Times { gpu, ..TIMES }).buying.remove(1);
    let month = slow(12.0);
    assert_eq!(month.verdict, Buying::NotWithinAMonth);
    close(month.hours_per_month.unwrap().value, 885.92);
    let never = slow(1.0);
    assert_eq!(
        (never.verdict, never.hours_per_month.is_none()),
        (Buying::Never, true)
    );
    let said = found(&Times { gpu: 1.0, ..TIMES }).sentences;
    assert_eq!(
        said[1],
        "Renting gpu costs no more than the electricity of nuc for the same work: buying is never cheaper."
    );
}

#[test]
fn what_an_interval_leaves_open_is_not_decided() {
    // 730 hours need a ratio of 0.1372; the interval of 0.136 reaches 0.1391.
    let near = found(&Times { gpu: 13.6, ..TIMES });
    assert_eq!(near.buying[1].verdict, Buying::Inconclusive);
    assert_eq!(
        near.sentences[1],
        "Whether buying nuc becomes cheaper than renting gpu within a month is inconclusive: by the mean times it does not, within their interval it may."
    );
}

#[test]
fn a_dear_machine_pays_from_a_speed_up_on() {
    let check = |gpu: f64, verdict: CostVerdict, said: &str| {
        let found = found(&Times { gpu, ..TIMES });
        assert_eq!(found.more_expensive.len(), 1);
        let pair = &found.more_expensive[0];
        assert_eq!(
            (
                pair.expensive_environment.as_str(),
                pair.cheap_environment.as_str()
            ),
            ("gpu", "cpu")
        );
        assert_eq!((pair.basis, pair.verdict), (Basis::Hours, verdict));
        close(pair.break_even, 3.0);
        close(pair.speed_up.value, TIMES.cpu / gpu);
        close(pair.cost_ratio.value, TIMES.cpu / gpu / 3.0);
        assert_eq!(found.sentences[2], said);
    };
    let pays = "gpu costs 3.0 times as much per hour as cpu, so it is worth it from a speed-up of 3.0; measured";
    check(
        20.0,
        CostVerdict::Cheaper,
        &format!("{pays} 10.0 [9.78, 10.2]: it is 70 % cheaper."),
    );
    check(
        100.0,
        CostVerdict::MoreExpensive,
        &format!("{pays} 2.00 [1.96, 2.05]: it costs 1.5 times as much."),
    );
    check(
        200.0 / 3.0,
        CostVerdict::Inconclusive,
        &format!("{pays} 3.0 [2.9, 3.1]: inconclusive: its cost is [93 %, 108 %] of the other's."),
    );
}

/// One machine for all runs, with a minimum that is long beside them: what the hours cost decides
/// nothing.
/// Which machine is cheaper is one of the study's statements, and shares its error rate: an ordinary interval that just
/// leaves out the break-even point does not decide it.
#[test]
fn an_ordinary_interval_does_not_decide_which_machine_is_cheaper() {
    let near = found(&Times {
        gpu: TIMES.cpu / 3.0 / 1.04,
        ..TIMES
    });
    let pair = &near.more_expensive[0];
    let ordinary = pair.speed_up.interval.unwrap();
    assert!(ordinary.low > pair.break_even, "{ordinary:?}");
    assert_eq!(pair.verdict, CostVerdict::Inconclusive);
}

#[test]
fn a_shared_machine_that_is_hardly_used_is_not_judged_by_its_hours() {
    let shared = |environment: &str| {
        let mut price = prices(environment);
        if environment == "gpu" {
            price.billing.rental = RentalScope::Study;
            price.billing.minimum_seconds = 36_000;
        }
        price
    };
    let mut world = world(&TIMES, &["rede1"], shared);
    cost::settle(&mut world.records);
    let found = analysis(&world).money.break_even;
    let pair = &found.more_expensive[0];
    assert_eq!(
        (pair.basis, pair.verdict),
        (Basis::Runs, CostVerdict::MoreExpensive)
    );
}

#[test]
fn where_bills_round_up_the_runs_decide() {
    let rounded = |environment: &str| {
        let mut price = prices(environment);
        if environment == "gpu" {
            price.billing.step_seconds = 60;
        }
        price
    };
    let found = analysis(&world(&TIMES, &["rede1"], rounded))
        .money
        .break_even;
    let pair = &found.more_expensive[0];
    // A minute is paid for 20 s: nine times the price of the time. It is a tenth cheaper, which three runs do not show.
    assert_eq!(
        (pair.basis, pair.verdict),
        (Basis::Runs, CostVerdict::Inconclusive)
    );
    close(pair.hour_ratio, 3.0);
    close(pair.break_even, 9.0);
    close(pair.cost_ratio.value, 200.0 * 0.17 / (60.0 * 0.51));
    assert!(
        found.sentences[2].contains("inconclusive: its cost is ["),
        "{}",
        found.sentences[2]
    );
    // Who rents for hours pays no minute for each run: 36.5 / (0.51 · 0.2 − 0.02).
    let rented = &found.buying[1];
    assert_eq!(
        rented.rent_per_hour.amount.round_dp(4),
        dollars("0.51").amount
    );
    let hours = rented.hours_per_month.as_ref().unwrap().value;
    assert!((hours - 445.1).abs() < 0.1, "{hours}");
}

#[test]
fn a_tax_is_part_of_the_rent() {
    let taxed = |environment: &str| {
        let mut price = prices(environment);
        if environment == "gpu" {
            price.billing.tax_percent = Some(Decimal::TEN);
            price.billing.step_seconds = 60;
        }
        price
    };
    let found = analysis(&world(&TIMES, &["rede1"], taxed)).money.break_even;
    // 36.5 / (0.51 · 1.1 · 0.2 − 0.02).
    let rented = &found.buying[1];
    close(rented.hours_per_month.as_ref().unwrap().value, 395.879);
}

#[test]
fn what_long_runs_are_rounded_up_by_does_not_count() {
    let seconds = |environment: &str| {
        let mut price = prices(environment);
        price.billing.step_seconds = 1;
        price.billing.minimum_seconds = 60;
        price
    };
    let basis = |gpu: f64| {
        let times = Times { gpu, ..TIMES };
        let found = analysis(&world(&times, &["rede1"], seconds))
            .money
            .break_even;
        found.more_expensive[0].basis
    };
    assert_eq!((basis(110.0), basis(90.0)), (Basis::Hours, Basis::Runs));
}

#[test]
fn many_combinations_are_one_sentence() {
    let networks = ["a", "b", "c"];
    let found = analysis(&world(&TIMES, &networks, prices)).money;
    let evens = &found.break_even;
    assert_eq!((evens.buying.len(), evens.more_expensive.len()), (6, 3));
    assert_eq!(evens.more_expensive[1].phrase, "b");
    assert_eq!(
        evens.sentences[2],
        "gpu costs 3.0 times as much per hour as cpu, so it is worth it from a speed-up of 3.0; measured 2.5 to 10.0 over 3 combinations: it is cheaper in 2 (a and b), more expensive in 1 (c)."
    );
    assert_eq!(
        evens.sentences[0],
        "From 114 hours of work per month on, buying nuc is cheaper than renting cpu, over 3 combinations."
    );
    assert!(found.sentences.contains(&evens.sentences[2]));
}

#[test]
fn two_currencies_need_a_rate() {
    let euros = |environment: &str| {
        let mut price = prices(environment);
        if environment == "nuc" {
            price.own = Some(own("EUR"));
        }
        price
    };
    let mut world = world(&TIMES, &["rede1"], euros);
    let found = analysis(&world).money.break_even;
    assert_eq!(
        (
            found.buying.len(),
            found.more_expensive.len(),
            found.notes.len()
        ),
        (0, 1, 2)
    );
    assert!(
        found.notes[0].starts_with("No break-even for nuc and cpu:"),
        "{:?}",
        found.notes
    );
    world.study.rates = vec![ExchangeRate {
        from: Currency::EUR,
        to: Currency::USD,
        rate: Decimal::TWO,
        date: "2024-03-01".to_owned(),
        source: "central bank".to_owned(),
    }];
    let found = analysis(&world).money.break_even;
    assert!(found.notes.is_empty());
    assert_eq!(found.buying[0].per_month, dollars("73"));
    // 73 / (0.17 · 2 − 0.04).
    close(
        found.buying[0].hours_per_month.as_ref().unwrap().value,
        243.333,
    );
}

#[test]
fn one_run_each_decides_nothing() {
    let mut world = world(&TIMES, &["rede1"], prices);
    world.records.retain(|record| record.run.repetition == 2);
    let found = analysis(&world).money.break_even;
    assert_eq!(found.more_expensive[0].verdict, CostVerdict::Inconclusive);
    assert!(found.sentences[2].ends_with("inconclusive: too few repetitions."));
    assert!(
        found.buying[0]
            .hours_per_month
            .as_ref()
            .unwrap()
            .interval
            .is_none()
    );
}

#[test]
fn machines_of_one_price_are_no_pair() {
    let same = |_: &str| prices("cpu");
    let found = analysis(&world(&TIMES, &["rede1"], same)).money.break_even;
    assert!(
        found.more_expensive.is_empty() && found.buying.is_empty() && found.sentences.is_empty()
    );
}
