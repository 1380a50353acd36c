//! The embedded catalog is whole, and names are found in it.

use cost::{Catalog, LookupProblem, catalog, find, names};
use rust_decimal::Decimal;

#[test]
fn the_embedded_catalog_is_whole() {
    let parsed = Catalog::parse(include_str!("../catalog.toml")).unwrap();
    assert_eq!(&parsed, catalog());
    assert!(parsed.entries.len() >= 15);
    for entry in &parsed.entries {
        let name = entry.name();
        assert_eq!(
            name,
            format!("{}/{}@{}", entry.provider, entry.machine, entry.region)
        );
        assert!(entry.price.per_hour.amount > Decimal::ZERO, "{name}");
        assert!(entry.vcpus > 0 && entry.memory_gb > Decimal::ZERO, "{name}");
        assert_eq!(entry.gpu.is_some(), entry.gpus > 0, "{name}");
        assert!(!entry.price.source.is_empty(), "{name}");
        assert!(entry.price.date.starts_with("20"), "{name}");
        assert_eq!(
            names().filter(|n| *n == name).count(),
            1,
            "{name} stands twice"
        );
    }
}

#[test]
fn machines_are_found_with_and_without_region() {
    let check = |name, expected: &str| {
        assert_eq!(
            find(name).unwrap().per_hour,
            expected.parse().unwrap(),
            "{name}"
        );
    };
    check("azure/Standard_F4s_v2@eastus", "0.169 USD");
    check("azure/Standard_F4s_v2", "0.169 USD");
    check("azure/Standard_NC4as_T4_v3@eastus", "0.526 USD");
    check("sagemaker/ml.m6g.xlarge", "0.1848 USD");
}

#[test]
fn what_was_meant_is_suggested() {
    let check = |name, expected: &str| {
        let error = find(name).unwrap_err();
        assert_eq!(error.problem, LookupProblem::Unknown, "{name}");
        assert_eq!(
            error.suggestions.first().map(String::as_str),
            Some(expected),
            "{name}"
        );
    };
    check(
        "azure/Standard_F4s_v3@eastus",
        "azure/Standard_F4s_v2@eastus",
    );
    check("F4s_v2", "azure/Standard_F4s_v2@eastus");
    check(
        "azure/standard_f4s_v2@westeurope",
        "azure/Standard_F4s_v2@eastus",
    );
    check("ml.m5.xlarge", "sagemaker/ml.m5.xlarge@us-east-1");
    check("aws/c5.xlarge@us-east1", "aws/c5.xlarge@us-east-1");
    let nothing = find("").unwrap_err();
    assert_eq!(nothing.suggestions, Vec::<String>::new());
    assert!(nothing.to_string().contains("docs/study-file.md"));
}

const TWO_REGIONS: &str = r#"
[[list]]
provider = "p"
region = "north"
currency = "EUR"
source = "s"
date = "2024-01-01"
machines = [{ name = "m", vcpus = 1, memory_gb = "2", per_hour = "0.5" }]

[[list]]
provider = "p"
region = "south"
currency = "EUR"
source = "s"
date = "2024-01-01"
machines = [{ name = "m", vcpus = 1, memory_gb = "2", per_hour = "0.4" }]
"#;

#[test]
fn a_machine_in_two_regions_needs_its_region() {
    let catalog = Catalog::parse(TWO_REGIONS).unwrap();
    assert_eq!(catalog.find("p/m@south").unwrap().region, "south");
    let error = catalog.find("p/m").unwrap_err();
    assert_eq!(error.problem, LookupProblem::SeveralRegions);
    assert_eq!(error.suggestions, ["p/m@north", "p/m@south"]);
}

#[test]
fn mistakes_of_a_catalog_are_told() {
    let check = |from: &str, to: &str, expected: &str| {
        let mistakes = Catalog::parse(&TWO_REGIONS.replacen(from, to, 1)).unwrap_err();
        let messages: Vec<&str> = mistakes.iter().map(|m| m.message.as_str()).collect();
        assert_eq!(messages, [expected]);
    };
    check(
        "\"0.5\"",
        "0.5",
        "`per_hour` must be a text in quotes, not a float",
    );
    check(
        "\"0.5\"",
        "\"-1\"",
        "`per_hour` must be a decimal number above zero, in quotes",
    );
    check(
        "\"EUR\"",
        "\"euro\"",
        "`euro` is not a currency code such as USD, EUR or BRL",
    );
    check(
        "vcpus = 1",
        "vcpus = -1",
        "`vcpus` and `gpus` must not be negative",
    );
    check("source = \"s\"\n", "", "`source` is missing in [list]");
}
