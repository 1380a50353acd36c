//! Billing rules and other money, as studies and what-if files write them.

use model::money::{DiscountTerms, LineKind, RentalScope, Unit};
use model::{BillingRule, Currency, PaidPhases, Price, Study};
use plan::WhatIf;
use rust_decimal::Decimal;

use crate::support::{good, shown};

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn study_of(environment: &str) -> Study {
    good(&format!(
        "[study]\nname = \"s\"\n[workload]\nkind = \"serve\"\nmodel = \"lenet5\"\n[environments.a]\n{environment}"
    ))
}

fn price_of(study: &Study) -> &Price {
    study.environment("a").unwrap().price.as_ref().unwrap()
}

fn rule_of(environment: &str) -> BillingRule {
    price_of(&study_of(environment)).billing.clone()
}

#[test]
fn a_rule_has_all_that_a_bill_knows() {
    let rule = rule_of(
        r#"
price = "gcp/n1-standard-4"
[environments.a.billing]
step = "1min"
discounts = [{ what = "plan", percent = 37, share = 60 }, { percent = "5.5" }]
interruptions = { per_hour = 0.05, restart = "3min", checkpoint = "10min", unpaid = "1h" }
charges = [
  { price = "gcp/pd-balanced", gigabytes = 100 },
  { price = "0.09 USD/GB", gigabytes = 2, free = 100, what = "uploads" },
  { price = "0.10 USD/GB-month", gigabytes = 5, kind = "storage", source = "a list", date = 2026-11-16 },
]
tax = 17
month = { hours = 400, gigabytes = 250 }
"#,
    );
    assert_eq!((rule.step_seconds, rule.minimum_seconds), (60, 60));
    let percents: Vec<_> = rule.discounts.iter().map(|d| d.terms.clone()).collect();
    assert!(matches!(percents[0], DiscountTerms::Sustained { .. }));
    let committed = |percent: &str, share: &str| DiscountTerms::Committed {
        percent: decimal(percent),
        share_percent: decimal(share),
    };
    assert_eq!(
        percents[1..],
        [committed("37", "60"), committed("5.5", "100")]
    );
    let interruptions = rule.interruptions.unwrap();
    assert_eq!(interruptions.per_hour, decimal("0.05"));
    assert_eq!(interruptions.checkpoint_seconds, Some(600));
    let charges: Vec<_> = rule
        .charges
        .iter()
        .map(|c| (c.what.as_str(), c.kind, c.unit, c.quantity.to_string()))
        .collect();
    assert_eq!(
        charges,
        [
            (
                "disk",
                LineKind::Disk,
                Unit::GigabyteMonth,
                "100".to_owned()
            ),
            ("uploads", LineKind::Traffic, Unit::Gigabyte, "2".to_owned()),
            (
                "storage",
                LineKind::Storage,
                Unit::GigabyteMonth,
                "5".to_owned()
            ),
        ]
    );
    assert!(rule.charges[0].source.starts_with("https://"));
    assert_eq!(rule.charges[2].date, "2026-11-16");
    assert_eq!(rule.tax_percent, Some(decimal("17")));
    assert_eq!(rule.month.hours, Some(decimal("400")));
    assert_eq!(rule.origin.unwrap().name, "gcp/n1");
}

#[test]
fn a_rule_has_a_name_and_a_day() {
    let rule = rule_of(
        "price = \"gcp/e2-standard-4\"\nbilling = { rule = \"gcp@2016-05-01\", minimum = \"5min\" }",
    );
    assert_eq!((rule.step_seconds, rule.minimum_seconds), (60, 300));
    let unpaid = |price: &str| {
        let terms = "billing = { interruptions = { per_hour = 0.1 } }";
        let rule = rule_of(&format!("price = \"{price}\"\n{terms}"));
        rule.interruptions.unwrap().unpaid_seconds
    };
    assert_eq!(unpaid("aws/m5.xlarge+spot"), 3600);
    assert_eq!(unpaid("gcp/n1-standard-4+spot"), 0);
    let spot = rule_of("price = \"gcp/n1-standard-4+spot\"");
    assert!(spot.discounts.is_empty());
}

#[test]
fn memory_has_a_price_where_workers_have_memory() {
    let study = study_of("price = \"aws/lambda\"\nserverless = { memory = 2048 }");
    let price = price_of(&study);
    assert_eq!(price.machine, "aws/lambda 2048 MB");
    assert_eq!(price.per_hour.amount, decimal("0.12000024"));
    assert_eq!(price.billing.paid, PaidPhases::Requests);
    assert_eq!(price.billing.charges[0].unit, Unit::MillionRequests);
    // A price of one's own keeps what it says of charges.
    let own = rule_of(
        "price = \"mine\"\nserverless = { memory = 1024 }\n[prices.mine]\nper_hour = \"0.1 USD\"\nbilling = { tax = 20 }",
    );
    assert_eq!(
        (own.paid, own.tax_percent),
        (PaidPhases::Requests, Some(decimal("20")))
    );
}

#[test]
fn prices_may_move() {
    let study = study_of(
        r#"price = "market"
[prices.market]
per_hour = "0.10 USD"
changes = [
  { from = 2026-11-16T12:00:00Z, per_hour = "0.05 USD" },
  { from = "2026-11-17", per_hour = "0.20 USD" },
]"#,
    );
    let changes = &price_of(&study).changes;
    assert_eq!(changes.len(), 2);
    assert_eq!(changes[0].per_hour, decimal("0.05"));
    assert_eq!(changes[1].from.to_string(), "2026-11-17T00:00:00Z");
}

#[test]
fn what_if_goes_over_the_money_and_nothing_else() {
    let study = good(
        r#"
[study]
name = "s"
currency = "USD"
[factors]
environment = ["a", "b"]
[workload]
network = "rede1"
[environments.a]
price = "azure/Standard_F4s_v2"
[environments.b]
price = "0.5 USD/h"
[[rates]]
from = "USD"
to = "BRL"
rate = 5
date = "2026-01-01"
"#,
    );
    let text = r#"
currency = "BRL"
[environments.a]
billing = { tax = 17 }
[[rates]]
from = "USD"
to = "BRL"
rate = 6
date = "2025-01-01"
"#;
    let asked = WhatIf::of(study.clone());
    let what_if = asked.asking("if.toml", text, cost::catalog()).unwrap();
    assert_eq!(what_if.changed, ["a"]);
    assert_eq!(what_if.study.currency, Currency::BRL);
    assert_eq!(what_if.study.rates.len(), 1);
    assert_eq!(what_if.study.rates[0].rate, decimal("6"));
    let before = price_of(&study);
    let after = price_of(&what_if.study);
    assert_eq!(after.per_hour, before.per_hour);
    assert_eq!(after.billing.tax_percent, Some(decimal("17")));
    assert_eq!(what_if.study.environment("b"), study.environment("b"));
    assert_eq!(plan::digest(&what_if.study), plan::digest(&study));
    // Another price, the same tax.
    let pricier = "[environments.a]\nprice = \"aws/c7i.xlarge\"";
    let pricier = WhatIf::of(what_if.study.clone())
        .asking("if.toml", pricier, cost::catalog())
        .unwrap();
    let rule = &price_of(&pricier.study).billing;
    assert_eq!(
        (rule.minimum_seconds, rule.tax_percent),
        (60, Some(decimal("17")))
    );
    let check = |text: &str, expected: &str| {
        let mistakes = asked.asking("if.toml", text, cost::catalog()).unwrap_err();
        let told = shown(text, &mistakes);
        assert!(told.contains(expected), "{told}");
    };
    check(
        "[environments.c]\nprice = \"1 USD/h\"",
        "unknown environment `c`",
    );
    check("[environments.a]\ncores = 2", "cores");
    check("[study]\nname = \"x\"", "study");
    check("currency = ", "not TOML");
}

#[test]
fn a_what_if_knows_the_studys_names_and_says_where_a_price_comes_from() {
    let text = "[study]\nname = \"s\"\n[workload]\nnetwork = \"rede1\"\n[prices]\nspare = \"0.9 USD/h\"\n[environments.a]\nprice = \"0.5 USD/h\"";
    let study = good(text);
    assert_eq!(price_of(&study).source, "the study file");
    let asked = WhatIf::of(study).knowing(text);
    let read = |text: &str| asked.asking("if.toml", text, cost::catalog()).unwrap();

    let spare = price_of(&read("[environments.a]\nprice = \"spare\"").study).clone();
    assert_eq!(
        (spare.per_hour.amount, &*spare.source),
        (decimal("0.9"), "the study file")
    );

    let other = price_of(&read("[environments.a]\nprice = \"0.7 USD/h\"").study).clone();
    assert_eq!(other.source, "if.toml");
    let rate = "[[rates]]\nfrom = \"USD\"\nto = \"BRL\"\nrate = 6\ndate = \"2025-01-01\"";
    assert_eq!(read(rate).study.rates[0].source, "if.toml");

    // Its own name goes before the study's.
    let renamed = "[prices]\nspare = \"2 USD/h\"\n[environments.a]\nprice = \"spare\"";
    assert_eq!(price_of(&read(renamed).study).per_hour.amount, decimal("2"));
}

#[test]
fn a_study_file_of_today_has_todays_money() {
    let text = |price: &str| {
        format!(
            "[study]\nname = \"s\"\n[workload]\nnetwork = \"rede1\"\n[environments.a]\ncores = 2\n{price}"
        )
    };
    let study = good(&text("price = \"0.5 USD/h\""));
    let asked = WhatIf::of(study);
    let now = asked
        .by_the_study_now(&text("price = \"0.7 USD/h\""), cost::catalog())
        .unwrap();
    assert_eq!(price_of(&now.study).per_hour.amount, decimal("0.7"));
    assert_eq!(now.changed, ["a"]);
    let unpriced = asked.by_the_study_now(&text(""), cost::catalog()).unwrap();
    assert_eq!(unpriced.study.environment("a").unwrap().price, None);
}

#[test]
fn an_own_price_goes_before_the_catalogs_by_any_of_a_machines_names() {
    let check = |own: &str, asked: &str, expected: &str| {
        let study = study_of(&format!(
            "price = \"{asked}\"\n[prices]\n\"{own}\" = \"2 USD/h\""
        ));
        let amount = price_of(&study).per_hour.amount;
        assert_eq!(amount, decimal(expected), "{own} for {asked}");
    };
    let whole = "aws/m5.xlarge@us-east-1";
    check(whole, whole, "2");
    check(whole, "aws/m5.xlarge", "2");
    check("aws/m5.xlarge", whole, "2");
    check("aws/m5.xlarge", "aws/m5.large", "0.096");
    check(whole, "aws/m5.xlarge+spot", "0.0649");
}

#[test]
fn a_run_pays_the_cheapest_size_that_has_its_cores() {
    let text = r#"
[study]
name = "sizes"
[factors]
cores = [1, 2, 3, 8, 20]
[workload]
network = "rede1"
[prices.large]
per_hour = "2 USD"
vcpus = 32
[environments.a]
price = ["azure/Standard_F8s_v2", "large", "azure/Standard_F2s_v2", "azure/Standard_F4s_v2"]
billing = { step = "1min" }
"#;
    let study = good(text);
    let plan = plan::plan(&study);
    let paid = |scenario: &model::Scenario| {
        let price = plan::resolve(&study, scenario).environment.price.unwrap();
        assert!(price.sizes.is_empty());
        assert_eq!(price.billing.step_seconds, 60);
        price.machine.clone()
    };
    let machines: Vec<String> = plan.scenarios.iter().map(paid).collect();
    assert_eq!(
        machines,
        [
            "azure/Standard_F2s_v2@eastus",
            "azure/Standard_F2s_v2@eastus",
            "azure/Standard_F4s_v2@eastus",
            "azure/Standard_F8s_v2@eastus",
            "large"
        ]
    );
    // Another price for all takes the place of the sizes.
    let one = WhatIf::of(study.clone())
        .asking(
            "if.toml",
            "[environments.a]\nprice = \"1 USD/h\"",
            cost::catalog(),
        )
        .unwrap();
    assert!(price_of(&one.study).sizes.is_empty());
}

#[test]
fn how_long_a_machine_is_kept_is_read() {
    let check = |billing: &str, expected: RentalScope| {
        let rule = rule_of(&format!("price = \"1 USD/h\"\nbilling = {{ {billing} }}"));
        assert_eq!(rule.rental, expected, "{billing}");
    };
    check("step = \"60s\"", RentalScope::Study);
    check("rental = \"study\"", RentalScope::Study);
    check("rental = \"run\"", RentalScope::Run);
    check("rule = \"aws\", rental = \"run\"", RentalScope::Run);
}

#[test]
fn the_machines_life_around_a_run_is_read() {
    let rule = rule_of(
        "price = \"1 USD/h\"\nbilling = { around = { startup = \"45s\", install = \"2min\" } }",
    );
    let around = rule.around;
    assert_eq!(
        (
            around.startup_seconds,
            around.install_seconds,
            around.shutdown_seconds
        ),
        (45, 120, 0)
    );
}

#[test]
fn each_size_keeps_its_own_rule_with_what_is_written_over_it() {
    let text = r#"
[study]
name = "sizes"
[factors]
cores = [1, 2]
[workload]
network = "rede1"
[prices.mine]
per_hour = "0.01 USD"
vcpus = 1
billing = { step = "0s" }
[environments.a]
price = ["mine", "aws/m5.large"]
billing = { tax = 10 }
"#;
    let study = good(text);
    let price = price_of(&study);
    assert_eq!(price.machine, "aws/m5.large@us-east-1");
    assert_eq!(
        (price.billing.step_seconds, price.billing.minimum_seconds),
        (1, 60)
    );
    let mine = &price.sizes[0];
    assert_eq!(
        (mine.billing.step_seconds, mine.billing.minimum_seconds),
        (0, 0)
    );
    assert_eq!(mine.billing.tax_percent, Some(decimal("10")));

    // A name of a smaller size, renewed: the others stay.
    let asked = WhatIf::of(study.clone());
    let renewed = "[prices.mine]\nper_hour = \"1 USD\"";
    let renewed = asked.asking("if.toml", renewed, cost::catalog()).unwrap();
    let price = price_of(&renewed.study);
    assert_eq!(
        (price.per_hour, price.sizes.len()),
        (price_of(&study).per_hour, 1)
    );
    assert_eq!(price.sizes[0].per_hour.amount, decimal("1"));
    assert_eq!(price.sizes[0].shape.vcpus, Some(decimal("1")));
    assert_eq!(renewed.changed, ["a"]);
}

#[test]
fn a_price_or_rate_of_a_day_to_come_is_a_mistake() {
    let check = |date: &str, is_future: bool| {
        let text = format!(
            "[study]\nname = \"s\"\ncurrency = \"BRL\"\n[factors]\nn = [1]\n[workload]\ncommand = [\"true\", \"{{n}}\"]\n\
             [[rates]]\nfrom = \"USD\"\nto = \"BRL\"\nrate = \"5\"\ndate = \"{date}\"\n"
        );
        let said = crate::support::shown_on(&text, "2026-11-17");
        assert_eq!(
            said.contains(&format!("{date} is in the future")),
            is_future,
            "{said}"
        );
    };
    check("2026-11-17", false);
    check("2026-11-18", true);
    check("2026-11", false);
    check("2026-12", true);
    check("2026", false);
    check("2027", true);
}

#[test]
fn jobs_of_a_cluster_pay_for_their_own_time() {
    let check = |environment: &str, expected: RentalScope| {
        let study = good(&format!(
            "[study]\nname = \"s\"\n[workload]\ncommand = [\"true\"]\n[environments.a]\nprice = \"1 USD/h\"\n{environment}"
        ));
        assert_eq!(price_of(&study).billing.rental, expected, "{environment}");
    };
    check("", RentalScope::Study);
    check("slurm = {}\n", RentalScope::Run);
    check("slurm = {}\nbilling = { tax = 5 }\n", RentalScope::Run);
    let explicit = "slurm = {}\nbilling = { rental = \"study\" }\n";
    check(explicit, RentalScope::Study);
}
