//! Documents that went wrong on the way: read or refused, never a panic.

use fetch::prices::{aws_offer, aws_products, azure, gcp, kind_of, skypilot};
use proptest::prelude::*;

use crate::support::about;
use crate::{aws, azure as pages, gcp as skus};

fn documents() -> Vec<String> {
    let product = aws::product("A", "m5.xlarge", &[]);
    vec![
        pages::page(
            &[
                pages::item("Standard_D4s_v5", "0.192", &[]),
                pages::item("Standard_NC4as_T4_v3", "0.5", &[]),
            ],
            None,
        ),
        aws::offer(&[product], &[("A", "\"USD\":\"0.192\"".to_owned())]),
        skus::page(
            &[
                skus::sku("N1 Predefined Instance Core running in Americas", 31_611_000),
                skus::sku("N1 Predefined Instance Ram running in Americas", 4_237_000),
            ],
            "",
        ),
        "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,AvailabilityZone,Price,SpotPrice\n\
         a2-highgpu-1g,12.0,85.0,,,,us-central1,a,0.73948,0.42691\n\
         ,,,A100,1,\"{'MemoryInfo': {'SizeInMiB': 40960}}\",us-central1,a,2.93391,1.6939\n"
            .to_owned(),
    ]
}

/// All parsers on anything: each must say what is wrong or read it.
fn read(text: &str) {
    _ = kind_of(text.as_bytes());
    let mut azure = azure::Reader::new(about());
    _ = azure.page("a", text);
    _ = azure.finish();
    let mut gcp = gcp::Reader::new(about());
    _ = gcp.page("g", text);
    _ = gcp.finish();
    _ = aws_offer::read("o", text.as_bytes(), &about());
    _ = aws_products::read("p", text, &about());
    _ = skypilot::provider_of(text);
    for provider in ["gcp", "azure", "aws", "other"] {
        _ = skypilot::read("s", text, provider, &about());
    }
    _ = cost::Catalog::parse("c", text);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn anything_is_read_or_refused(text in "\\PC{0,200}") {
        read(&text);
    }

    #[test]
    fn what_was_damaged_is_read_or_refused(
        which in 0_usize..4,
        at in 0.0_f64..1.0,
        length in 0_usize..12,
        put in prop_oneof![
            Just("79228162514264337593543950335"),
            Just("-1e400"),
            Just("4294967295"),
            Just("\""),
            Just("ä,"),
            Just("\n"),
            Just("null"),
            Just(""),
        ],
    ) {
        let text = &documents()[which];
        let mut begin = (text.len() as f64 * at) as usize;
        while !text.is_char_boundary(begin) {
            begin -= 1;
        }
        let mut end = (begin + length).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        read(&format!("{}{put}{}", &text[..begin], &text[end.max(begin)..]));
        read(&text[..begin]);
    }
}

/// Numbers at the ends of what can be counted.
#[test]
fn large_numbers_are_refused() {
    let largest = "79228162514264337593543950335";
    let mut azure = azure::Reader::new(about());
    let items = [
        pages::item("Standard_D4294967295s_v5", largest, &[]),
        pages::item("Standard_D4294967295s_v5", "1", &[]),
        pages::item("Standard_E99999999999s_v5", "1", &[]),
    ];
    azure.page("a", &pages::page(&items, None)).unwrap();
    assert_eq!(azure.finish().left_out.of(cost::Reason::NotANumber), 1);
    let mut gcp = gcp::Reader::new(about());
    let skus = [
        skus::Sku {
            units: "9223372036854775807",
            ..skus::sku("N1 Predefined Instance Core running in A", 1)
        },
        skus::Sku {
            units: largest,
            ..skus::sku("N1 Predefined Instance Ram running in A", 1)
        },
        skus::sku("N1 Predefined Instance Ram running in A", i64::MIN),
    ];
    gcp.page("g", &self::skus::page(&skus, "")).unwrap();
    let list = gcp.finish();
    assert_eq!(list.left_out.of(cost::Reason::NotANumber), 2);
    assert_eq!(list.left_out.of(cost::Reason::Negative), 1);
}
