//! The Azure Retail Prices API.

use cost::Reason;
use fetch::prices::{PriceList, azure};

use crate::support::{about, check_left_out, check_prices, check_shape};

/// An item of a page; fields given here go before the usual ones.
pub(crate) fn item(machine: &str, price: &str, more: &[(&str, &str)]) -> String {
    let mut fields = vec![
        ("currencyCode", "\"USD\"".to_owned()),
        ("tierMinimumUnits", "0.0".to_owned()),
        ("retailPrice", price.to_owned()),
        ("unitPrice", price.to_owned()),
        ("armRegionName", "\"eastus\"".to_owned()),
        ("location", "\"US East\"".to_owned()),
        ("effectiveStartDate", "\"2025-11-01T00:00:00Z\"".to_owned()),
        (
            "meterId",
            "\"11111111-2222-3333-4444-555555555555\"".to_owned(),
        ),
        ("meterName", "\"X4 v9\"".to_owned()),
        ("productName", "\"Virtual Machines Xv9 Series\"".to_owned()),
        ("skuName", "\"X4 v9\"".to_owned()),
        ("serviceName", "\"Virtual Machines\"".to_owned()),
        ("serviceFamily", "\"Compute\"".to_owned()),
        ("unitOfMeasure", "\"1 Hour\"".to_owned()),
        ("type", "\"Consumption\"".to_owned()),
        ("isPrimaryMeterRegion", "true".to_owned()),
        ("armSkuName", format!("\"{machine}\"")),
    ];
    for (name, value) in more {
        match fields.iter_mut().find(|(known, _)| known == name) {
            Some(field) => field.1 = (*value).to_owned(),
            None => fields.push((name, (*value).to_owned())),
        }
    }
    let fields: Vec<String> = fields.iter().map(|(n, v)| format!("\"{n}\":{v}")).collect();
    format!("{{{}}}", fields.join(","))
}

pub(crate) fn page(items: &[String], next: Option<&str>) -> String {
    let next = next.map_or("null".to_owned(), |link| format!("\"{link}\""));
    format!(
        "{{\"BillingCurrency\":\"USD\",\"CustomerEntityId\":\"Default\",\"Items\":[{}],\"NextPageLink\":{next},\"Count\":{}}}",
        items.join(","),
        items.len()
    )
}

fn read(items: &[String]) -> PriceList {
    let mut reader = azure::Reader::new(about());
    assert_eq!(reader.page("page.json", &page(items, None)), Ok(None));
    reader.finish()
}

#[test]
fn only_the_linux_hour_and_its_spot_price_are_used() {
    let m = "Standard_D4s_v5";
    let list = read(&[
        // A savings plan inside the item is not its price.
        item(
            m,
            "0.192",
            &[(
                "savingsPlan",
                "[{\"unitPrice\":0.08,\"retailPrice\":0.08,\"term\":\"3 Years\"}]",
            )],
        ),
        item(
            m,
            "0.0211",
            &[
                ("skuName", "\"D4s v5 Spot\""),
                ("meterName", "\"D4s v5 Spot\""),
            ],
        ),
        item(m, "0.04", &[("skuName", "\"D4s v5 Low Priority\"")]),
        item(
            m,
            "0.376",
            &[("productName", "\"Virtual Machines Dsv5 Series Windows\"")],
        ),
        item(m, "0.15", &[("type", "\"DevTestConsumption\"")]),
        // The price of a year, labelled as an hour's.
        item(
            m,
            "416.0",
            &[
                ("type", "\"Reservation\""),
                ("reservationTerm", "\"1 Year\""),
            ],
        ),
        item(m, "803.0", &[("reservationTerm", "\"3 Years\"")]),
        item(m, "0.1", &[("type", "\"SavingsPlanConsumption\"")]),
        item(m, "3", &[("productName", "\"Dsv5 Series Dedicated Host\"")]),
        item(
            m,
            "0.2",
            &[("productName", "\"Dsv5 Series Cloud Services\"")],
        ),
        item(m, "0.5", &[("serviceName", "\"Storage\"")]),
        item(m, "5", &[("unitOfMeasure", "\"1/Day\"")]),
        item(m, "0.18", &[("tierMinimumUnits", "100.0")]),
        item(
            m,
            "0.3",
            &[("effectiveStartDate", "\"2027-01-01T00:00:00Z\"")],
        ),
    ]);
    check_prices(
        &list,
        &["azure/Standard_D4s_v5@eastus 0.192 USD, spot 0.0211"],
    );
    check_left_out(
        &list,
        &[
            (Reason::LowPriority, 1),
            (Reason::OtherSystem, 1),
            (Reason::DevTest, 1),
            (Reason::Reservation, 2),
            (Reason::SavingsPlan, 1),
            (Reason::OtherTenancy, 1),
            (Reason::OtherService, 2),
            (Reason::OtherUnit, 1),
            (Reason::Tiered, 1),
            (Reason::NotYet, 1),
        ],
    );
    assert_eq!(list.rows, 14);
    check_shape(&list, m, "4 vCPU, 16 GiB, x86-64");
}

#[test]
fn what_cannot_be_trusted_is_said() {
    let list = read(&[
        item("Standard_D4s_v5", "0.192", &[]),
        item("Standard_A", "0.0", &[]),
        item("Standard_B", "-0.1", &[]),
        item("Standard_C", "0.1", &[("currencyCode", "\"XYZ\"")]),
        item("Standard_C", "0.1", &[("currencyCode", "\"usd\"")]),
        item("", "0.1", &[]),
        item("Standard_D", "0.1", &[("armRegionName", "\"\"")]),
        item("Standard_E", "\"much\"", &[]),
        item("Standard_F", "0.1", &[("armSkuName", "7")]),
    ]);
    check_prices(&list, &["azure/Standard_D4s_v5@eastus 0.192 USD"]);
    check_left_out(
        &list,
        &[
            (Reason::ZeroPrice, 1),
            (Reason::Negative, 1),
            (Reason::UnknownCurrency, 2),
            (Reason::NoMachine, 1),
            (Reason::NoRegion, 1),
            (Reason::NotANumber, 1),
            (Reason::Malformed, 1),
        ],
    );
    let (_, zero) = list.left_out.iter().next().unwrap();
    assert_eq!(
        zero.examples,
        ["page.json, item 2: Standard_A (Virtual Machines Xv9 Series) 0.0 USD"]
    );
}

#[test]
fn rows_that_disagree_are_all_left_out_and_newer_ones_win() {
    let since = |day: &str| format!("\"{day}T00:00:00Z\"");
    let (old, new) = (since("2024-01-01"), since("2025-01-01"));
    let list = read(&[
        item("Standard_A", "0.1", &[]),
        item("Standard_A", "0.1", &[]),
        item("Standard_B", "0.1", &[]),
        item("Standard_B", "0.2", &[]),
        item("Standard_C", "0.3", &[("effectiveStartDate", &new)]),
        item("Standard_C", "0.4", &[("effectiveStartDate", &old)]),
    ]);
    check_prices(
        &list,
        &[
            "azure/Standard_A@eastus 0.1 USD",
            "azure/Standard_C@eastus 0.3 USD",
        ],
    );
    check_left_out(&list, &[(Reason::Superseded, 1), (Reason::Disagreeing, 2)]);
}

#[test]
fn currencies_stand_beside_each_other() {
    let list = read(&[
        item("Standard_A", "0.1", &[]),
        item("Standard_A", "0.55", &[("currencyCode", "\"BRL\"")]),
    ]);
    check_prices(
        &list,
        &[
            "azure/Standard_A@eastus 0.1 USD",
            "azure/Standard_A@eastus 0.55 BRL",
        ],
    );
}

#[test]
fn digits_stay_as_they_are() {
    let list = read(&[
        item("Standard_A", "0.015598", &[]),
        item("Standard_B", "5.2E-05", &[]),
        item("Standard_C", "27.197", &[]),
    ]);
    check_prices(
        &list,
        &[
            "azure/Standard_A@eastus 0.015598 USD",
            "azure/Standard_B@eastus 0.000052 USD",
            "azure/Standard_C@eastus 27.197 USD",
        ],
    );
}

#[test]
fn a_mark_at_the_beginning_and_an_early_end_are_noticed() {
    let whole = page(
        &[item("Standard_A", "0.1", &[])],
        Some("https://h/api?$skip=1000"),
    );
    let mut reader = azure::Reader::new(about());
    let next = reader.page("p", &format!("\u{feff}{whole}")).unwrap();
    assert_eq!(next.as_deref(), Some("https://h/api?$skip=1000"));
    let cut = reader.page("p", &whole[..whole.len() / 2]).unwrap_err();
    assert!(cut.to_string().contains("is truncated"), "{cut}");
    let html = reader.page("p", "<html>sign in</html>").unwrap_err();
    assert!(
        html.to_string().contains("not a response of the Azure"),
        "{html}"
    );
}

#[test]
fn shapes_are_in_the_names_as_far_as_they_tell() {
    let check = |machine: &str, expected: &str| {
        check_shape(&read(&[item(machine, "0.1", &[])]), machine, expected);
    };
    check("Standard_F4s_v2", "4 vCPU, 8 GiB, x86-64");
    check("Standard_D4ps_v5", "4 vCPU, 16 GiB, arm64");
    check("Standard_D4pls_v5", "4 vCPU, 8 GiB, arm64");
    check("Standard_E8-2s_v5", "2 vCPU, 64 GiB, x86-64");
    check("Standard_E96s_v5", "96 vCPU, ? GiB, x86-64");
    check(
        "Standard_NC4as_T4_v3",
        "4 vCPU, 28 GiB, 1 × T4 of 16 GiB, x86-64",
    );
    check(
        "Standard_NC12",
        "12 vCPU, 112 GiB, 2 × K80 of 12 GiB, x86-64",
    );
    check(
        "Standard_NC32ads_X9_v9",
        "32 vCPU, ? GiB, ? × X9 of ? GiB, x86-64",
    );
    // The number of a D before v3 is no number of cores.
    check("Standard_DS3_v2", "? vCPU, ? GiB, x86-64");
    check("Standard_D3_v2", "? vCPU, ? GiB, x86-64");
    check("Basic_A1", "? vCPU, ? GiB, ?");
}
