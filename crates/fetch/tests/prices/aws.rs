//! The AWS Price List: offer files and GetProducts.

use cost::Reason;
use fetch::FetchError;
use fetch::prices::{PriceList, aws_offer, aws_products};

use crate::support::{about, check_left_out, check_prices, check_shape};

pub(crate) struct Product {
    sku: &'static str,
    family: &'static str,
    attributes: Vec<(&'static str, &'static str)>,
}

/// A Linux machine in Virginia; attributes given here go before the usual ones.
pub(crate) fn product(
    sku: &'static str,
    machine: &'static str,
    more: &[(&'static str, &'static str)],
) -> Product {
    let mut attributes = vec![
        ("servicecode", "AmazonEC2"),
        ("location", "US East (N. Virginia)"),
        ("locationType", "AWS Region"),
        ("regionCode", "us-east-1"),
        ("instanceType", machine),
        ("operatingSystem", "Linux"),
        ("tenancy", "Shared"),
        ("preInstalledSw", "NA"),
        ("capacitystatus", "Used"),
        ("licenseModel", "No License required"),
        ("marketoption", "OnDemand"),
        ("operation", "RunInstances"),
        ("vcpu", "4"),
        ("memory", "16 GiB"),
    ];
    for (name, value) in more {
        match attributes.iter_mut().find(|(known, _)| known == name) {
            Some(attribute) => attribute.1 = value,
            None => attributes.push((name, value)),
        }
    }
    Product {
        sku,
        family: "Compute Instance",
        attributes,
    }
}

impl Product {
    fn of_family(self, family: &'static str) -> Self {
        Product { family, ..self }
    }

    fn json(&self) -> String {
        let attributes: Vec<String> = self
            .attributes
            .iter()
            .map(|(name, value)| format!("\"{name}\":\"{value}\""))
            .collect();
        format!(
            "{{\"sku\":\"{}\",\"productFamily\":\"{}\",\"attributes\":{{{}}}}}",
            self.sku,
            self.family,
            attributes.join(",")
        )
    }
}

/// The terms of a SKU: `SKU.CODE` with one price.
fn term(sku: &str, code: &str, unit: &str, price: &str) -> String {
    format!(
        "\"{sku}.{code}\":{{\"offerTermCode\":\"{code}\",\"sku\":\"{sku}\",\"effectiveDate\":\"2026-10-01T00:00:00Z\",\
         \"priceDimensions\":{{\"{sku}.{code}.6YS6EN2CT7\":{{\"unit\":\"{unit}\",\"beginRange\":\"0\",\"endRange\":\"Inf\",\
         \"description\":\"a price\",\"appliesTo\":[],\"pricePerUnit\":{{{price}}}}}}},\"termAttributes\":{{}}}}"
    )
}

fn usd(price: &str) -> String {
    format!("\"USD\":\"{price}\"")
}

pub(crate) fn offer(products: &[Product], on_demand: &[(&str, String)]) -> String {
    let list: Vec<String> = products
        .iter()
        .map(|product| format!("\"{}\":{}", product.sku, product.json()))
        .collect();
    let terms: Vec<String> = on_demand
        .iter()
        .map(|(sku, price)| format!("\"{sku}\":{{{}}}", term(sku, "JRTCKXETXF", "Hrs", price)))
        .collect();
    let reserved: Vec<String> = on_demand
        .iter()
        .map(|(sku, _)| {
            let upfront = term(sku, "38NPMPTW36", "Quantity", &usd("505"));
            format!("\"{sku}\":{{{upfront}}}")
        })
        .collect();
    format!(
        "{{\"formatVersion\":\"v1.0\",\"disclaimer\":\"none\",\"offerCode\":\"AmazonEC2\",\"version\":\"20261101\",\
         \"publicationDate\":\"2026-11-01T12:00:00Z\",\"products\":{{{}}},\"terms\":{{\"OnDemand\":{{{}}},\"Reserved\":{{{}}}}},\
         \"attributesList\":{{}}}}",
        list.join(","),
        terms.join(","),
        reserved.join(",")
    )
}

fn read(text: &str) -> Result<PriceList, FetchError> {
    aws_offer::read("index.json", text.as_bytes(), &about())
}

#[test]
fn only_linux_machines_by_the_hour_are_used() {
    let text = offer(
        &[
            product("A", "m5.xlarge", &[]),
            product("B", "m5.xlarge", &[("operatingSystem", "Windows")]),
            product("C", "m5.xlarge", &[("tenancy", "Dedicated")]),
            product(
                "D",
                "m5.xlarge",
                &[
                    ("preInstalledSw", "SQL Std"),
                    ("operation", "RunInstances:0004"),
                ],
            ),
            product(
                "E",
                "m5.xlarge",
                &[("capacitystatus", "UnusedCapacityReservation")],
            ),
            product("F", "p5.48xlarge", &[("marketoption", "CapacityBlock")]),
            product("G", "", &[]).of_family("Storage"),
            product(
                "H",
                "m5.xlarge",
                &[
                    ("locationType", "AWS Local Zone"),
                    ("regionCode", "us-east-1-bos-1"),
                ],
            ),
            product("I", "g4dn.xlarge", &[("gpu", "1")]),
            product("J", "m6g.xlarge", &[("memory", "1,952 GiB")]),
        ],
        &[
            ("A", usd("0.1920000000")),
            ("B", usd("0.3760000000")),
            ("C", usd("0.2040000000")),
            ("E", usd("0.1920000000")),
            ("F", usd("0.0000000000")),
            ("I", usd("0.5260000000")),
            ("J", usd("0.1540000000")),
        ],
    );
    let list = read(&text).unwrap();
    check_prices(
        &list,
        &[
            "aws/g4dn.xlarge@us-east-1 0.526 USD",
            "aws/m5.xlarge@us-east-1 0.192 USD",
            "aws/m6g.xlarge@us-east-1 0.154 USD",
        ],
    );
    check_left_out(
        &list,
        &[
            (Reason::Reservation, 7),
            (Reason::OtherSystem, 1),
            (Reason::OtherTenancy, 1),
            (Reason::OtherSoftware, 1),
            (Reason::CapacityReservation, 1),
            (Reason::OtherUsage, 1),
            (Reason::OtherService, 1),
            (Reason::OtherRegion, 1),
        ],
    );
    check_shape(
        &list,
        "g4dn.xlarge",
        "4 vCPU, 16 GiB, 1 × T4 of 16 GiB, x86-64",
    );
    check_shape(&list, "m6g.xlarge", "4 vCPU, 1952 GiB, arm64");
    // Its own date, not the day it was read.
    let quote = list.catalog.entries[0].on_demand.clone().unwrap();
    assert_eq!(quote.date, "2026-11-01");
}

#[test]
fn prices_that_are_none_are_said() {
    let text = offer(
        &[
            product("A", "m5.xlarge", &[]),
            product("B", "m5.2xlarge", &[]),
            product("C", "m5.4xlarge", &[]),
            product("D", "m5.8xlarge", &[]),
            product("E", "m5.large", &[]),
            product("F", "m5.large", &[]),
            product("G", "c5.large", &[]),
        ],
        &[
            ("A", usd("0.0000000000")),
            ("B", usd("-1")),
            ("C", "\"XYZ\":\"1\"".to_owned()),
            ("E", usd("0.1")),
            ("F", usd("0.2")),
            ("G", "\"USD\":\"0.1\",\"CNY\":\"0.7\"".to_owned()),
        ],
    );
    let list = read(&text).unwrap();
    check_prices(
        &list,
        &[
            "aws/c5.large@us-east-1 0.1 USD",
            "aws/c5.large@us-east-1 0.7 CNY",
        ],
    );
    check_left_out(
        &list,
        &[
            (Reason::Reservation, 6),
            // One of 0, one without any.
            (Reason::ZeroPrice, 2),
            (Reason::Negative, 1),
            (Reason::UnknownCurrency, 1),
            (Reason::Disagreeing, 2),
        ],
    );
}

#[test]
fn endpoints_have_prices_of_their_own() {
    let machine = |sku, component| {
        product(
            sku,
            "",
            &[
                ("servicecode", "AmazonSageMaker"),
                ("instanceName", "ml.m5.xlarge"),
                ("instanceType", "ml.m5.xlarge-Hosting"),
                ("component", component),
                ("vcpu", ""),
                ("vCpu", "4"),
            ],
        )
        .of_family("ML Instance")
    };
    let text = offer(
        &[
            machine("A", "Hosting"),
            machine("B", "Training"),
            machine("C", "studio-jupyterlab"),
        ],
        &[("A", usd("0.23")), ("B", usd("0.24")), ("C", usd("0.19"))],
    );
    let list = read(&text).unwrap();
    check_prices(&list, &["aws/ml.m5.xlarge@us-east-1 0.23 USD"]);
    check_shape(&list, "ml.m5.xlarge", "4 vCPU, 16 GiB, x86-64");
    check_left_out(&list, &[(Reason::OtherUsage, 2), (Reason::Reservation, 3)]);
}

#[test]
fn a_file_that_breaks_off_gives_nothing() {
    let text = offer(&[product("A", "m5.xlarge", &[])], &[("A", usd("0.192"))]);
    for end in [10, text.len() / 2, text.len() - 1] {
        let error = read(&text[..end]).unwrap_err();
        assert!(error.to_string().contains("is truncated"), "{error}");
    }
    let marked = read(&format!("\u{feff}{text}")).unwrap();
    check_prices(&marked, &["aws/m5.xlarge@us-east-1 0.192 USD"]);
    let other = read("{\"formatVersion\":\"v1.0\",\"offers\":{}}").unwrap_err();
    assert!(other.to_string().contains("no products"), "{other}");
}

/// As `aws pricing get-products` prints it, as a product alone, and one after the other.
#[test]
fn answers_of_get_products_are_read() {
    // Older answers have no code of the region.
    let one = |sku, machine, location, price: &str| {
        let product = product(sku, machine, &[("regionCode", ""), ("location", location)]);
        let on_demand = term(sku, "JRTCKXETXF", "Hrs", &usd(price));
        let reserved = [
            term(sku, "4NA7Y494T4", "Hrs", &usd("0.06")),
            term(sku, "CUZHX8X6JH", "Quantity", &usd("294")),
        ];
        format!(
            "{{\"product\":{},\"serviceCode\":\"AmazonEC2\",\"terms\":{{\"OnDemand\":{{{on_demand}}},\"Reserved\":{{{}}}}},\
             \"version\":\"20261101\",\"publicationDate\":\"2026-11-02T01:02:03Z\"}}",
            product.json(),
            reserved.join(",")
        )
    };
    let paris = one("A", "m5.large", "EU (Paris)", "0.112");
    let brazil = one("B", "m5.large", "South America (Sao Paulo)", "0.153");
    let moon = one("C", "m5.large", "Moon (Copernicus)", "9.99");
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let answer = format!(
        "{{\"FormatVersion\":\"aws_v1\",\"PriceList\":[{},{}],\"NextToken\":\"x\"}}",
        quoted(&paris),
        quoted(&brazil)
    );
    for text in [
        answer,
        format!("\u{feff}[{paris},{brazil}]"),
        format!("{paris}\n{brazil}"),
    ] {
        let list = aws_products::read("products.json", &text, &about()).unwrap();
        check_prices(
            &list,
            &[
                "aws/m5.large@eu-west-3 0.112 USD",
                "aws/m5.large@sa-east-1 0.153 USD",
            ],
        );
        check_left_out(&list, &[(Reason::Reservation, 4)]);
        let quote = list.catalog.entries[0].on_demand.clone().unwrap();
        assert_eq!(quote.date, "2026-11-02");
    }
    let list = aws_products::read("p", &format!("[{moon}, 7]"), &about()).unwrap();
    check_prices(&list, &[]);
    check_left_out(&list, &[(Reason::NoRegion, 1), (Reason::Malformed, 1)]);
    assert!(aws_products::read("p", "[]", &about()).is_err());
    assert!(aws_products::read("p", &paris[..40], &about()).is_err());
}
