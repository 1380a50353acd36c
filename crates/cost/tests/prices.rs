//! The embedded catalog is whole, names are found in it, lists are put together and searched.

use cost::{
    Architecture, Bound, Builder, Catalog, GpuWanted, LookupError, LookupProblem, MachineQuery,
    Paying, Reason, SortBy, catalog, names, same_shape, search, write_catalog,
};
use model::{Currency, Price};
use rust_decimal::Decimal;

const HEAD: &str = "provider,machine,region,vcpus,memory_gib,gpu,gpus,gpu_memory_gib,architecture,currency,on_demand,on_demand_source,on_demand_date,spot,spot_source,spot_date\n";

fn find(name: &str) -> Result<Price, LookupError> {
    catalog().price(name)
}

fn parse(rows: &str) -> Catalog {
    let read = Catalog::parse("test.csv", &format!("{HEAD}{rows}"));
    assert!(read.left_out.is_empty(), "{:?}", read.left_out);
    read.catalog
}

#[test]
fn the_embedded_catalog_is_whole() {
    let read = Catalog::parse("catalog.csv", include_str!("../catalog.csv"));
    assert!(read.left_out.is_empty(), "{:?}", read.left_out);
    assert_eq!(&read.catalog, catalog());
    let mut machines: Vec<String> = Vec::new();
    for entry in &read.catalog.entries {
        let name = entry.name();
        assert!(entry.on_demand.is_some(), "{name}");
        assert!(entry.shape.memory_gib.is_some(), "{name}");
        assert!(entry.shape.architecture.is_some(), "{name}");
        assert_eq!(
            names().filter(|n| *n == name).count(),
            1,
            "{name} stands twice"
        );
        let cheaper = |spot: &cost::Quote| {
            entry
                .on_demand
                .as_ref()
                .is_some_and(|q| spot.per_hour.amount < q.per_hour.amount)
        };
        assert!(entry.spot.as_ref().is_none_or(cheaper), "{name}");
        machines.push(format!("{}/{}", entry.provider, entry.machine));
    }
    machines.sort();
    machines.dedup();
    assert!(machines.len() >= 70, "{}", machines.len());
}

#[test]
fn the_machines_of_the_published_studies_are_there() {
    let check = |name, expected: &str| {
        let found = find(name).unwrap().per_hour;
        assert_eq!(found, expected.parse().unwrap(), "{name}");
    };
    check("azure/Standard_F4s_v2@eastus", "0.169 USD");
    check("azure/Standard_F4s_v2", "0.169 USD");
    check("azure/Standard_NC4as_T4_v3@eastus", "0.526 USD");
    check("azure/Standard_NC6@westus2", "0.9 USD");
    check("azure/Standard_NC12", "1.8 USD");
    // As these were called first.
    check("sagemaker/ml.m4.xlarge@us-east-1", "0.24 USD");
    check("sagemaker/ml.m6g.xlarge", "0.1848 USD");
    check("aws/ml.m5.xlarge", "0.23 USD");
    check("aws/ml.c7g.xlarge", "0.174 USD");
    for (megabytes, per_second) in [
        (1024, "0.0000200"),
        (2048, "0.0000400"),
        (3072, "0.0000600"),
        (4096, "0.0000800"),
        (5120, "0.0001000"),
        (6144, "0.0001200"),
    ] {
        let price = find(&format!("aws/sagemaker-serverless-{megabytes}@us-east-1")).unwrap();
        let per_second: Decimal = per_second.parse().unwrap();
        assert_eq!(price.per_hour.amount, per_second * Decimal::from(3600));
        assert_eq!(price.billing.minimum_seconds, 0);
    }
}

#[test]
fn a_price_keeps_its_source_its_date_and_its_rule() {
    let price = find("aws/m5.xlarge").unwrap();
    assert_eq!(price.machine, "aws/m5.xlarge@us-east-1");
    assert_eq!(price.source, "SkyPilot catalog");
    assert_eq!(price.date, "2026-08-22");
    assert_eq!(
        (price.billing.step_seconds, price.billing.minimum_seconds),
        (1, 60)
    );
    let spot = find("aws/m5.xlarge@us-east-1+spot").unwrap();
    assert_eq!(spot.machine, "aws/m5.xlarge@us-east-1+spot");
    assert_eq!(spot.per_hour, "0.0649 USD".parse().unwrap());
    let none = find("aws/ml.m5.xlarge+spot").unwrap_err();
    assert_eq!(none.problem, LookupProblem::NoSpot);
}

#[test]
fn what_was_meant_is_suggested() {
    let check = |name, expected: &str| {
        let error = find(name).unwrap_err();
        assert_eq!(error.problem, LookupProblem::Unknown, "{name}");
        let first = error.suggestions.first().map(String::as_str);
        assert_eq!(first, Some(expected), "{name}");
    };
    check(
        "azure/Standard_F4s_v3@eastus",
        "azure/Standard_F4s_v2@eastus",
    );
    check("F4s_v2", "azure/Standard_F4s_v2@eastus");
    check(
        "azure/standard_f4s_v2@westeurope",
        "azure/Standard_F4s_v2@westus2",
    );
    check("ml.m5.xlarge", "aws/ml.m5.xlarge@us-east-1");
    check("aws/c5.xlarge@us-east1", "aws/c5.xlarge@us-east-1");
    let nothing = find("").unwrap_err();
    assert_eq!(nothing.suggestions, Vec::<String>::new());
    assert!(nothing.to_string().contains("bancada price find"));
}

const TWO_REGIONS: &str = "\
p,m,north,1,2,,,,x86-64,EUR,0.5,s,2024-01-01,,,
p,m,south,1,2,,,,x86-64,EUR,0.4,s,2024-01-01,0.1,s,2024-01-02
";

#[test]
fn a_machine_in_two_regions_needs_its_region() {
    let catalog = parse(TWO_REGIONS);
    assert_eq!(catalog.find("p/m@south").unwrap().region, "south");
    let error = catalog.find("p/m").unwrap_err();
    assert_eq!(error.problem, LookupProblem::SeveralRegions);
    assert_eq!(error.suggestions, ["p/m@north", "p/m@south"]);
    assert_eq!(catalog.all_named("p/m").unwrap().len(), 2);
    assert_eq!(catalog.all_named("p/m@north").unwrap().len(), 1);
}

#[test]
fn without_region_the_providers_home_is_meant() {
    let rows = "aws,m,eu-west-1,1,2,,,,,USD,0.5,s,2024-01-01,,,\naws,m,us-east-1,1,2,,,,,USD,0.4,s,2024-01-01,,,\n";
    assert_eq!(parse(rows).find("aws/m").unwrap().region, "us-east-1");
}

#[test]
fn of_two_currencies_dollars_are_meant() {
    let rows = "azure,m,eastus,1,2,,,,,BRL,2.5,s,2024-01-02,,,\nazure,m,eastus,1,2,,,,,USD,0.4,s,2024-01-01,,,\n";
    let catalog = parse(rows);
    let currency = |name| catalog.price(name).unwrap().per_hour.currency;
    assert_eq!(currency("azure/m@eastus"), Currency::USD);
    assert_eq!(currency("azure/m@eastus:BRL"), Currency::BRL);
    assert_eq!(currency("azure/m:BRL"), Currency::BRL);
}

#[test]
fn rows_that_are_wrong_are_counted_and_the_rest_is_used() {
    let good = "p,m,north,1,2,,,,x86-64,EUR,0.5,s,2024-01-01,,,\n";
    let check = |row: &str, reason: Reason, expected: &str| {
        let read = Catalog::parse("my.csv", &format!("\u{feff}{HEAD}{row}\n{good}"));
        assert_eq!(read.catalog.entries.len(), 1, "{row}");
        assert_eq!(read.left_out.of(reason), 1, "{row}: {:?}", read.left_out);
        let shown = read.left_out.iter().next().unwrap().1.examples[0].clone();
        assert_eq!(shown, expected);
    };
    check(
        "p,m,north,1,2,,,,x86-64,EUR,-0.5,s,2024-01-01,,,",
        Reason::Negative,
        "my.csv:2: m: `on_demand` is -0.5",
    );
    check(
        "p,m,north,1,2,,,,x86-64,EUR,0.0,s,2024-01-01,,,",
        Reason::ZeroPrice,
        "my.csv:2: m: no price",
    );
    check(
        "p,m,north,1,2,,,,x86-64,XYZ,0.5,s,2024-01-01,,,",
        Reason::UnknownCurrency,
        "my.csv:2: m: `XYZ` is not a known currency",
    );
    check(
        "p,m,north,1,2,,,,x86-64,EUR,0.5,s,01.02.2024,,,",
        Reason::BadDate,
        "my.csv:2: m: `on_demand` has the source `s` and the date `01.02.2024`: both are required, the date as 2026-08-22",
    );
    check(
        "p,m,north,1,2",
        Reason::TooFewCells,
        "my.csv:2: m: 5 cells, expected 16",
    );
    check(
        "p,m,north,one,2,,,,x86-64,EUR,0.5,s,2024-01-01,,,",
        Reason::NotANumber,
        "my.csv:2: m: `vcpus` is `one`, expected a decimal number",
    );
    check(
        ",m,north,1,2,,,,x86-64,EUR,0.5,s,2024-01-01,,,",
        Reason::NoMachine,
        "my.csv:2: m: `provider` is empty",
    );
    let other = Catalog::parse("my.csv", "name,price\nm,1\n");
    assert_eq!(other.left_out.of(Reason::Malformed), 1);
}

#[test]
fn what_is_written_is_read_back() {
    let text = write_catalog(catalog());
    let read = Catalog::parse("again", &text);
    assert_eq!(&read.catalog, catalog());
}

#[test]
fn the_newest_price_wins_each_by_itself() {
    let old = parse("p,m,north,1,2,,,,x86-64,EUR,0.5,old,2024-01-01,0.1,old,2024-03-01\n");
    let new = parse("p,m,north,,,,,,,EUR,0.6,new,2024-02-01,0.2,new,2024-02-01\n");
    for (first, second) in [(old.clone(), new.clone()), (new, old)] {
        let mut builder = Builder::from(first);
        builder.extend(second);
        let merged = builder.finish();
        assert_eq!(merged.entries.len(), 1);
        let entry = &merged.entries[0];
        assert_eq!(entry.on_demand.as_ref().unwrap().source, "new");
        assert_eq!(entry.spot.as_ref().unwrap().source, "old");
        assert_eq!(entry.shape.vcpus, Some(Decimal::ONE));
    }
}

#[test]
fn a_machine_has_one_shape_in_all_regions() {
    let rows = "p,m,north,4,16,T4,1,16,x86-64,EUR,0.5,s,2024-01-01,,,\np,m,south,,,,,,,EUR,0.6,s,2024-01-01,,,\n";
    let merged = Builder::from(parse(rows)).finish();
    assert_eq!(merged.entries[0].shape, merged.entries[1].shape);
}

const FEW: &str = "\
aws,a,r1,4,16,,,,x86-64,USD,0.2,s,2024-01-01,0.05,s,2024-01-01
aws,b,r1,8,32,,,,arm64,USD,0.3,s,2024-01-01,,,
azure,c,r2,4,28,T4,1,16,x86-64,USD,0.5,s,2024-01-01,0.06,s,2024-01-01
azure,d,r2,24,220,A100-80GB,1,80,x86-64,USD,3.7,s,2024-01-01,,,
azure,e,r2,,,,,,,USD,0.1,s,2024-01-01,,,
azure,f,r2,4,16,,,,x86-64,BRL,0.9,s,2024-01-01,,,
";

#[test]
fn machines_are_found() {
    let few = parse(FEW);
    let check = |wanted: MachineQuery, expected: &str| {
        let found = search(&few, &wanted);
        let names: Vec<&str> = found.entries.iter().map(|e| e.machine.as_str()).collect();
        assert_eq!(names.join(" "), expected, "{wanted:?}");
        found
    };
    let any = MachineQuery::default;
    let bound = |text| Some(Bound::parse(text).unwrap());
    // Amounts of two currencies are two groups.
    check(any(), "e a b c d f");
    let four = MachineQuery {
        vcpus: bound("4"),
        ..any()
    };
    assert_eq!(check(four, "a b c d f").of_unknown_shape, 1);
    check(
        MachineQuery {
            vcpus: bound("=4"),
            ..any()
        },
        "a c f",
    );
    check(
        MachineQuery {
            vcpus: bound("5-10"),
            ..any()
        },
        "b",
    );
    check(
        MachineQuery {
            memory_gib: bound("28"),
            ..any()
        },
        "b c d",
    );
    check(
        MachineQuery {
            gpu: Some(GpuWanted::parse("t4")),
            ..any()
        },
        "c",
    );
    check(
        MachineQuery {
            gpu: Some(GpuWanted::parse("A100")),
            ..any()
        },
        "d",
    );
    check(
        MachineQuery {
            gpu: Some(GpuWanted::parse("A10")),
            ..any()
        },
        "",
    );
    check(
        MachineQuery {
            gpu: Some(GpuWanted::Any),
            ..any()
        },
        "c d",
    );
    check(
        MachineQuery {
            gpu: Some(GpuWanted::None),
            ..any()
        },
        "e a b f",
    );
    check(
        MachineQuery {
            architecture: Some(Architecture::Arm64),
            ..any()
        },
        "b",
    );
    check(
        MachineQuery {
            provider: Some("amazon".to_owned()),
            ..any()
        },
        "a b",
    );
    check(
        MachineQuery {
            region: Some("r1".to_owned()),
            ..any()
        },
        "a b",
    );
    check(
        MachineQuery {
            currency: Some(Currency::BRL),
            ..any()
        },
        "f",
    );
    let spot = MachineQuery {
        paying: Paying::Spot,
        ..any()
    };
    assert_eq!(check(spot, "a c").without_price, 4);
    let cheap = MachineQuery {
        most_per_hour: Some("0.3 USD".parse().unwrap()),
        ..any()
    };
    assert_eq!(check(cheap, "e a b").of_other_currency, 1);
    let by_memory = MachineQuery {
        sort: SortBy::Memory,
        vcpus: bound("1"),
        ..any()
    };
    check(by_memory, "a f c b d");
}

#[test]
fn dates_are_those_of_the_calendar() {
    let check = |date: &str, expected: bool| {
        let row = format!("p,m,north,1,2,,,,x86-64,EUR,0.5,s,{date},,,");
        let text = format!("{HEAD}{row}\n");
        let read = Catalog::parse("my.csv", &text);
        assert_eq!(!read.catalog.entries.is_empty(), expected, "{date}");
    };
    check("2024-02-29", true);
    check("2024-03", true);
    check("2023", true);
    check("2023-02-31", false);
    check("2026-08-22T", false);
    check("202", false);
}

#[test]
fn numbers_that_are_asked_for_are_read() {
    let check = |text: &str, expected: Option<(i64, Option<i64>)>| {
        let bound = Bound::parse(text).ok();
        let bound = bound.map(|b| (b.least, b.most));
        let expected = expected.map(|(l, m)| (Decimal::from(l), m.map(Decimal::from)));
        assert_eq!(bound, expected, "{text}");
    };
    check("4", Some((4, None)));
    check("=4", Some((4, Some(4))));
    check("4-8", Some((4, Some(8))));
    check("8-4", None);
    check("-4", None);
    check("four", None);
    check("", None);
}

#[test]
fn a_machine_is_exchanged_for_one_of_its_shape() {
    let wanted = same_shape(&catalog().find("azure/Standard_NC4as_T4_v3").unwrap().shape);
    let found = search(catalog(), &wanted);
    assert!(!found.entries.is_empty());
    for entry in found.entries {
        let gpu = entry.shape.gpu.as_ref().unwrap();
        assert_eq!((gpu.kind.as_str(), gpu.count), ("T4", Some(Decimal::ONE)));
        assert!(entry.shape.memory_gib.unwrap() >= Decimal::from(28));
    }
}
