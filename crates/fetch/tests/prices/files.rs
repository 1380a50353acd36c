//! Lists as files, and the catalog that is kept.

use std::fs;
use std::path::PathBuf;

use cost::{Catalog, Reason};
use fetch::prices::{Given, Kind, catalog_file, keep, kind_of, load, read_files};

use crate::support::shown;
use crate::{azure, gcp};

#[test]
fn a_file_tells_what_it_is() {
    let check = |head: &str, expected| assert_eq!(kind_of(head.as_bytes()), expected, "{head}");
    check(&azure::page(&[], None), Some(Kind::Azure));
    check(
        "\u{feff} {\"Items\":[{\"armSkuName\":\"x\"",
        Some(Kind::Azure),
    );
    check(&gcp::page(&[], ""), Some(Kind::Gcp));
    check(
        "{\n \"formatVersion\" : \"v1.0\",\n \"offerCode\" : \"AmazonEC2\"",
        Some(Kind::AwsOffer),
    );
    check(
        "{\"PriceList\":[\"{\\\"product\\\":",
        Some(Kind::AwsProducts),
    );
    check("[{\"product\": {", Some(Kind::AwsProducts));
    check("InstanceType,Price\n", Some(Kind::SkyPilot));
    check("\u{feff}vCPUs,InstanceType,Price\n", Some(Kind::SkyPilot));
    check("provider,machine,region,vcpus,", Some(Kind::Catalog));
    check("a,b,c\n", None);
    check("", None);
    check("{}", None);
}

fn written(folder: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn files_of_all_kinds_are_read_and_pages_belong_together() {
    let folder = tempfile::tempdir().unwrap();
    let core = gcp::page(
        &[gcp::sku("E2 Instance Core running in Americas", 20_000_000)],
        "2",
    );
    let ram = gcp::page(
        &[gcp::sku("E2 Instance Ram running in Americas", 3_000_000)],
        "",
    );
    let paths = [
        written(
            &folder,
            "vms.csv",
            "InstanceType,Price,SpotPrice,Region\nm5.large,0.096,,us-east-1\n",
        ),
        written(&folder, "1.json", &core),
        written(&folder, "2.json", &ram),
        written(&folder, "letter.txt", "Dear reader,\n"),
        folder.path().join("none.csv"),
    ];
    let given = Given {
        date: Some("2025-05-05"),
        provider: None,
    };
    let read = read_files(&paths, &given);
    assert_eq!(read.len(), 4);
    let vms = read[0].list.as_ref().unwrap();
    let quote = vms.catalog.entries[0].on_demand.clone().unwrap();
    assert_eq!(quote.source, "SkyPilot catalog (vms.csv)");
    assert_eq!(quote.date, "2025-05-05");
    let letter = read[1].list.as_ref().unwrap_err().to_string();
    assert!(letter.contains("unknown format of price list"), "{letter}");
    assert!(read[2].list.is_err());
    let google = read[3].list.as_ref().unwrap();
    assert!(shown(&google.catalog).contains(&"gcp/e2-standard-2@us-central1 0.064 USD".to_owned()));
}

#[test]
fn a_list_of_someone_else_needs_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let text = "InstanceType,Price,Region\ngpu_1x_a100,1.29,us-south-1\n";
    let path = written(&folder, "vms.csv", text);
    let read = |provider| {
        let given = Given {
            provider,
            date: None,
        };
        read_files(std::slice::from_ref(&path), &given)
            .pop()
            .unwrap()
            .list
    };
    assert!(read(None).unwrap_err().to_string().contains("--provider"));
    let list = read(Some("lambda")).unwrap();
    assert_eq!(
        shown(&list.catalog),
        ["lambda/gpu_1x_a100@us-south-1 1.29 USD"]
    );
}

const HEAD: &str = "provider,machine,region,vcpus,memory_gib,gpu,gpus,gpu_memory_gib,architecture,currency,on_demand,on_demand_source,on_demand_date,spot,spot_source,spot_date\n";

#[test]
fn kept_prices_go_over_the_embedded_ones_when_they_are_newer() {
    let home = tempfile::tempdir().unwrap();
    let of = |price: &str, date: &str| {
        let row = format!("azure,Standard_F4s_v2,eastus,,,,,,,USD,{price},mine,{date},,,\n");
        Catalog::parse("t", &format!("{HEAD}{row}")).catalog
    };
    let now = || {
        let loaded = load(home.path());
        let price = loaded
            .catalog
            .price("azure/Standard_F4s_v2@eastus")
            .unwrap();
        assert_eq!(
            loaded
                .catalog
                .all_named("azure/Standard_F4s_v2@eastus")
                .unwrap()
                .len(),
            1
        );
        price.per_hour.amount.to_string()
    };
    assert_eq!(now(), "0.169");
    keep(home.path(), of("0.1", "2020-01-01")).unwrap();
    assert_eq!(now(), "0.169");
    keep(home.path(), of("0.2", "2026-11-01")).unwrap();
    assert_eq!(now(), "0.2");
    keep(home.path(), of("0.3", "2026-10-01")).unwrap();
    assert_eq!(now(), "0.2");
    // What the embedded one knows of it serves the other.
    let loaded = load(home.path());
    let entry = loaded.catalog.find("azure/Standard_F4s_v2@eastus").unwrap();
    assert_eq!(entry.shape.memory_gib, Some(8.into()));
    assert!(entry.spot.is_some());
}

#[test]
fn a_damaged_catalog_is_said_and_the_rest_of_it_used() {
    let home = tempfile::tempdir().unwrap();
    let path = catalog_file(home.path());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let good = "p,m,r,,,,,,,USD,0.5,s,2026-01-01,,,\n";
    fs::write(&path, format!("{HEAD}{good}p,n,r,,,,,,,USD,0.5")).unwrap();
    let loaded = load(home.path());
    assert_eq!(loaded.left_out.of(Reason::TooFewCells), 1);
    assert!(loaded.catalog.find("p/m@r").is_ok());
    fs::write(&path, b"\xff\xfe\x00").unwrap();
    let loaded = load(home.path());
    assert!(loaded.problem.is_some());
    assert!(loaded.catalog.find("azure/Standard_F4s_v2@eastus").is_ok());
}

const VMS: &str = "InstanceType,Region,GpuInfo,Price\n\
                   m5.large,us-east-1,,0.096\n\
                   m5.xlarge,us-east-1,\"a, b\",0.192\n";
const OWN: &str = "provider,machine,region,vcpus,memory_gib,gpu,gpus,gpu_memory_gib,architecture,currency,\
                   on_demand,on_demand_source,on_demand_date,spot,spot_source,spot_date\n\
                   lab,a,here,4,16,,,,,USD,0.5,me,2025-05-05,,,\n\
                   lab,b,here,8,32,,,,,USD,1.0,me,2025-05-05,0.25,me,2025-05-05\n";

#[test]
fn tables_that_break_off_are_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let list = |text: &str| {
        let path = written(&folder, "list.csv", text);
        read_files(&[path], &Given::default()).remove(0).list
    };
    let check = |text: &str, prices: &[&str], cut: u64| {
        let list = list(text).unwrap();
        assert_eq!(shown(&list.catalog), prices, "{text}");
        assert_eq!(list.left_out.of(Reason::CutOff), cut, "{text}");
        let all = list.left_out.total() + list.catalog.entries.len() as u64;
        assert_eq!(list.rows, all, "{text}");
    };
    let (large, xlarge) = (
        "aws/m5.large@us-east-1 0.096 USD",
        "aws/m5.xlarge@us-east-1 0.192 USD",
    );
    check(VMS, &[large, xlarge], 0);
    check(&VMS.replace('\n', "\r\n"), &[large, xlarge], 0);
    check(
        OWN,
        &["lab/a@here 0.5 USD", "lab/b@here 1.0 USD, spot 0.25"],
        0,
    );
    // 0.192 may have lost its last digits; nothing else can have.
    check(VMS.trim_end_matches("2\n"), &[large], 1);
    check(VMS.trim_end(), &[large], 1);
    check(OWN.trim_end(), &["lab/a@here 0.5 USD"], 1);
    let refused = |text: &str, line: &str| {
        let error = list(text).unwrap_err().to_string();
        assert!(
            error.contains(&format!("is truncated in line {line}")),
            "{error}"
        );
    };
    refused(VMS.split_once(",0.192").unwrap().0, "3");
    refused(VMS.split_once(" b\"").unwrap().0, "3");
    refused(VMS.split_once("xlarge").unwrap().0, "3");
    refused(OWN.split_once(",0.25").unwrap().0, "3");
}
