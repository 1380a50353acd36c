//! The Google Cloud Billing Catalog: parts put together to machines.

use cost::Reason;
use fetch::prices::{PriceList, gcp};

use crate::support::{about, check_left_out, check_shape, shown};

pub(crate) struct Sku<'s> {
    pub(crate) description: &'s str,
    pub(crate) usage: &'s str,
    pub(crate) regions: &'s str,
    pub(crate) unit: &'s str,
    pub(crate) currency: &'s str,
    pub(crate) units: &'s str,
    pub(crate) nanos: i64,
    pub(crate) family: &'s str,
}

/// Priced on demand in Iowa.
pub(crate) fn sku(description: &str, nanos: i64) -> Sku<'_> {
    Sku {
        description,
        usage: "OnDemand",
        regions: "\"us-central1\"",
        unit: if description.contains("Ram") {
            "GiBy.h"
        } else {
            "h"
        },
        currency: "USD",
        units: "0",
        nanos,
        family: "Compute",
    }
}

impl Sku<'_> {
    pub(crate) fn json(&self) -> String {
        let Sku {
            description,
            usage,
            regions,
            unit,
            currency,
            units,
            nanos,
            family,
        } = self;
        format!(
            "{{\"name\":\"services/X/skus/AAAA-BBBB\",\"skuId\":\"AAAA-BBBB\",\"description\":\"{description}\",\
             \"category\":{{\"serviceDisplayName\":\"Compute Engine\",\"resourceFamily\":\"{family}\",\"resourceGroup\":\"CPU\",\"usageType\":\"{usage}\"}},\
             \"serviceRegions\":[{regions}],\"pricingInfo\":[{{\"summary\":\"\",\"pricingExpression\":{{\"usageUnit\":\"{unit}\",\"displayQuantity\":1,\
             \"tieredRates\":[{{\"startUsageAmount\":0,\"unitPrice\":{{\"currencyCode\":\"{currency}\",\"units\":\"{units}\",\"nanos\":{nanos}}}}}]}},\
             \"currencyConversionRate\":1,\"effectiveTime\":\"2026-11-01T10:00:00.681Z\"}}],\"serviceProviderName\":\"Google\"}}"
        )
    }
}

pub(crate) fn page(skus: &[Sku<'_>], next: &str) -> String {
    let skus: Vec<String> = skus.iter().map(Sku::json).collect();
    format!(
        "{{\"skus\":[{}],\"nextPageToken\":\"{next}\"}}",
        skus.join(",")
    )
}

fn read(pages: &[&[Sku<'_>]]) -> PriceList {
    let mut reader = gcp::Reader::new(about());
    for (number, skus) in pages.iter().enumerate() {
        let token = if number + 1 < pages.len() { "more" } else { "" };
        let next = reader
            .page(&format!("page {number}"), &page(skus, token))
            .unwrap();
        assert_eq!(next.is_some(), number + 1 < pages.len());
    }
    reader.finish()
}

fn price<'l>(lines: &'l [String], machine: &str) -> Option<&'l str> {
    let begin = format!("gcp/{machine}@");
    lines
        .iter()
        .find(|line| line.starts_with(&begin))
        .map(String::as_str)
}

#[test]
fn machines_are_sums_of_cores_memory_and_gpus() {
    let list = read(&[
        &[
            sku("N2 Instance Core running in Americas", 31_611_000),
            sku("A2 Instance Core running in Americas", 31_611_000),
            sku(
                "N1 Predefined Instance Core running in Americas",
                31_611_000,
            ),
        ],
        &[
            sku("N2 Instance Ram running in Americas", 4_237_000),
            sku("A2 Instance Ram running in Americas", 4_237_000),
            sku("N1 Predefined Instance Ram running in Americas", 4_237_000),
            Sku {
                units: "2",
                ..sku("Nvidia Tesla A100 GPU running in Americas", 933_908_000)
            },
            sku("Nvidia Tesla T4 GPU running in Americas", 350_000_000),
            Sku {
                usage: "Preemptible",
                ..sku(
                    "Spot Preemptible N1 Predefined Instance Core running in Americas",
                    10_000_000,
                )
            },
            Sku {
                usage: "Preemptible",
                ..sku(
                    "Spot Preemptible N1 Predefined Instance Ram running in Americas",
                    1_000_000,
                )
            },
            Sku {
                usage: "Preemptible",
                ..sku(
                    "Nvidia Tesla T4 GPU attached to Spot Preemptible VMs running in Americas",
                    100_000_000,
                )
            },
        ],
    ]);
    let lines = shown(&list.catalog);
    let check = |machine, expected: &str| assert_eq!(price(&lines, machine), Some(expected));
    // 4 × 0.031611 + 16 × 0.004237.
    check(
        "n2-standard-4",
        "gcp/n2-standard-4@us-central1 0.194236 USD",
    );
    // 12 × 0.031611 + 85 × 0.004237 + 2.933908.
    check(
        "a2-highgpu-1g",
        "gcp/a2-highgpu-1g@us-central1 3.673385 USD",
    );
    check(
        "n1-standard-4",
        "gcp/n1-standard-4@us-central1 0.189999 USD, spot 0.055",
    );
    check(
        "n1-standard-4+T4",
        "gcp/n1-standard-4+T4@us-central1 0.539999 USD, spot 0.155",
    );
    // Its disks are priced apart.
    assert_eq!(price(&lines, "a2-ultragpu-1g"), None);
    check_shape(
        &list,
        "a2-highgpu-1g",
        "12 vCPU, 85 GiB, 1 × A100 of 40 GiB, x86-64",
    );
    check_shape(&list, "n1-standard-4", "4 vCPU, 15 GiB, x86-64");
    check_left_out(&list, &[]);
}

#[test]
fn a_machine_of_which_a_part_lacks_is_said() {
    let list = read(&[&[
        sku("G2 Instance Core running in Americas", 24_000_000),
        sku("G2 Instance Ram running in Americas", 2_000_000),
        sku("C3 Instance Core running in Americas", 33_000_000),
    ]]);
    assert_eq!(shown(&list.catalog), Vec::<String>::new());
    // 8 sizes of g2 without its L4, 18 of c3 without memory.
    check_left_out(&list, &[(Reason::GpuMissing, 8), (Reason::PartMissing, 18)]);
    let (_, gpus) = list.left_out.iter().next().unwrap();
    assert_eq!(
        gpus.examples[0],
        "g2-standard-4@us-central1: no price of gpu L4"
    );
}

#[test]
fn other_things_of_the_catalog_are_counted() {
    let list = read(&[&[
        sku("N2 Instance Core running in Americas", 31_611_000),
        sku("N2 Instance Ram running in Americas", 4_237_000),
        sku("N2 Custom Instance Core running in Americas", 33_191_000),
        sku(
            "N2 Sole Tenancy Instance Ram running in Americas",
            4_237_000,
        ),
        sku(
            "Nvidia Tesla T4 GPU attached to DWS Defined Duration VMs running in Americas",
            350_000_000,
        ),
        sku("Reserved Nvidia Tesla A100 GPU in Americas", 0),
        Sku {
            usage: "Commit1Yr",
            ..sku("Commitment v1: N2 Cpu in Americas for 1 Year", 19_915_000)
        },
        Sku {
            family: "Storage",
            ..sku("SSD backed PD Capacity", 170_000_000)
        },
        Sku {
            unit: "mo",
            ..sku("E2 Instance Core running in Americas", 21_000_000)
        },
        sku("E2 Instance Core running in Americas", 0),
        sku("E2 Instance Ram running in Americas", -5),
        Sku {
            currency: "XYZ",
            ..sku("E2 Instance Ram running in Americas", 5)
        },
        Sku {
            regions: "",
            ..sku("E2 Instance Ram running in Americas", 5)
        },
    ]]);
    assert_eq!(
        price(&shown(&list.catalog), "n2-standard-2"),
        Some("gcp/n2-standard-2@us-central1 0.097118 USD")
    );
    check_left_out(
        &list,
        &[
            (Reason::PartOfMachine, 4),
            (Reason::OtherUsage, 1),
            (Reason::OtherService, 1),
            (Reason::OtherUnit, 1),
            (Reason::ZeroPrice, 1),
            (Reason::Negative, 1),
            (Reason::UnknownCurrency, 1),
            (Reason::NoRegion, 1),
        ],
    );
}

#[test]
fn regions_and_currencies_are_not_mixed() {
    let list = read(&[&[
        Sku {
            regions: "\"us-central1\",\"us-east1\"",
            ..sku("N2 Instance Core running in Americas", 31_611_000)
        },
        Sku {
            regions: "\"us-east1\"",
            ..sku("N2 Instance Ram running in Americas", 4_237_000)
        },
        Sku {
            currency: "IDR",
            units: "68",
            ..sku("N2 Instance Ram running in Iowa", 204_999_658)
        },
    ]]);
    let lines = shown(&list.catalog);
    assert!(
        lines
            .iter()
            .all(|line| line.contains("@us-east1 ") && line.contains("USD")),
        "{lines:?}"
    );
    assert!(list.left_out.of(Reason::PartMissing) > 0);
}

#[test]
fn an_answer_that_breaks_off_is_noticed() {
    let whole = page(&[sku("N2 Instance Core running in Americas", 1)], "");
    let mut reader = gcp::Reader::new(about());
    assert!(
        reader
            .page("p", &whole[..100])
            .unwrap_err()
            .to_string()
            .contains("is truncated")
    );
    assert!(reader.page("p", "{\"error\":{\"code\":403}}").is_err());
}
