//! SkyPilot-style `vms.csv`.

use cost::Reason;
use fetch::prices::{PriceList, skypilot};

use crate::support::{about, check_left_out, check_prices, check_shape};

const HEAD: &str = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone\n";

fn read(provider: &str, rows: &str) -> PriceList {
    skypilot::read("vms.csv", &format!("{HEAD}{rows}"), provider, &about()).unwrap()
}

const T4: &str = "\"{'Gpus': [{'Name': 'T4', 'Manufacturer': 'NVIDIA', 'Count': 1, 'MemoryInfo': {'SizeInMiB': 16384}}], 'TotalGpuMemoryInMiB': 16384}\"";

#[test]
fn commas_in_quotes_and_zones_of_a_region() {
    let rows = format!(
        "g4dn.xlarge,T4,1.0,4.0,16.0,{T4},0.526,0.3265,us-east-1,use1-az1\n\
         g4dn.xlarge,T4,1.0,4.0,16.0,{T4},0.526,0.3145,us-east-1,use1-az2\n\
         g4dn.xlarge,T4,1.0,4.0,16.0,{T4},0.526,,us-east-1,use1-az3\n\
         m6g.xlarge,,,4.0,16.0,,0.154,,us-east-1,use1-az1\n"
    );
    let list = read("aws", &rows);
    check_prices(
        &list,
        &[
            "aws/g4dn.xlarge@us-east-1 0.526 USD, spot 0.3145",
            "aws/m6g.xlarge@us-east-1 0.154 USD",
        ],
    );
    check_left_out(&list, &[]);
    check_shape(
        &list,
        "g4dn.xlarge",
        "4 vCPU, 16 GiB, 1 × T4 of 16 GiB, x86-64",
    );
    check_shape(&list, "m6g.xlarge", "4 vCPU, 16 GiB, arm64");
}

#[test]
fn bad_rows_name_their_line() {
    let list = read(
        "aws",
        "m5.large,,,2.0,8.0,,0.096,0.043,us-east-1,a\n\
         m5.xlarge,,,4.0,16.0,,0.0,,us-east-1,a\n\
         m5.2xlarge,,,8.0,32.0\n\
         m5.4xlarge,,,16.0,64.0,,-0.768,,us-east-1,a\n\
         m5.8xlarge,,,32.0,128.0,,much,,us-east-1,a\n\
         ,T4,1.0,,,,0.35,,us-east-1,a\n\
         m5.metal,,,96.0,384.0,,4.6,,,a\n\
         c5.large,,,2.0,4.0,,0.085,,us-east-1,a\n\
         c5.large,,,2.0,4.0,,0.095,,us-east-1,b\n\
         c6i.large,,,2.0,4.0,,,,us-east-1,a\n",
    );
    check_prices(&list, &["aws/m5.large@us-east-1 0.096 USD, spot 0.043"]);
    check_left_out(
        &list,
        &[
            (Reason::ZeroPrice, 2),
            (Reason::TooFewCells, 1),
            (Reason::Negative, 1),
            (Reason::NotANumber, 1),
            (Reason::NoMachine, 1),
            (Reason::NoRegion, 1),
            (Reason::Disagreeing, 2),
        ],
    );
    let examples: Vec<&str> = list
        .left_out
        .iter()
        .map(|(_, left_out)| left_out.examples[0].as_str())
        .collect();
    assert!(
        examples.contains(&"vms.csv:3: m5.xlarge: the price is 0.0"),
        "{examples:?}"
    );
    assert!(
        examples.contains(&"vms.csv:4: m5.2xlarge: 5 cells, expected 10"),
        "{examples:?}"
    );
    assert!(
        examples.contains(&"vms.csv:9: c5.large@us-east-1 0.085 USD"),
        "{examples:?}"
    );
}

const GCP_HEAD: &str = "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,AvailabilityZone,Price,SpotPrice\n";

fn read_gcp(rows: &str) -> PriceList {
    let text = format!("\u{feff}{GCP_HEAD}{rows}");
    skypilot::read("gcp.csv", &text, "gcp", &about()).unwrap()
}

/// A machine's row is its price without the GPU, which stands in a row of its own.
#[test]
fn a_machine_and_its_gpu_are_added_where_both_are_there() {
    let list = read_gcp(
        "a2-highgpu-1g,12.0,85.0,,,,us-central1,us-central1-a,0.73948,0.42691\n\
         a2-highgpu-1g,12.0,85.0,,,,us-central1,us-central1-b,0.73948,0.42691\n\
         a2-highgpu-2g,24.0,170.0,,,,us-central1,us-central1-a,1.47896,0.85382\n\
         a2-ultragpu-1g,12.0,170.0,,,,us-central1,us-central1-a,1.10,0.6\n\
         n2-standard-4,4.0,16.0,,,,us-central1,us-central1-a,0.19424,0.11147\n\
         n1-standard-4,4.0,15.0,,,,us-central1,us-central1-a,0.19,0.08918\n\
         ,,,A100,1,,us-central1,us-central1-a,2.93391,1.6939\n\
         ,,,A100,1,,us-central1,us-central1-b,2.93391,1.7\n\
         ,,,T4,1,,us-central1,us-central1-a,0.35,0.11\n\
         ,,,A100,2,,us-central1,us-central1-a,5.8,3.3\n\
         ,,,A100,2,,us-central1,us-central1-b,5.9,3.3\n\
         ,,,H100,8,,us-central1,us-central1-a,80.0,40.0\n",
    );
    check_prices(
        &list,
        &[
            "gcp/a2-highgpu-1g@us-central1 3.67339 USD, spot 2.12081",
            "gcp/n1-standard-4+T4@us-central1 0.54 USD, spot 0.19918",
            "gcp/n1-standard-4@us-central1 0.19 USD, spot 0.08918",
            "gcp/n2-standard-4@us-central1 0.19424 USD, spot 0.11147",
        ],
    );
    check_left_out(
        &list,
        &[
            // a2-highgpu-2g, a2-ultragpu-1g, the rows of H100 and of two A100 that disagree.
            (Reason::GpuMissing, 1),
            (Reason::UnknownShape, 1),
            (Reason::NoMachine, 1),
            (Reason::Disagreeing, 2),
        ],
    );
}

#[test]
fn whose_machines_they_are_is_told_by_their_names() {
    let check = |names: &[&str], expected: Option<&str>| {
        let rows: Vec<String> = names.iter().map(|n| format!("{n},,,,,,1,,r,z\n")).collect();
        let text = format!("{HEAD}{}", rows.concat());
        assert_eq!(skypilot::provider_of(&text), expected, "{names:?}");
    };
    check(&["m5.xlarge", "p4d.24xlarge", "u-6tb1.metal"], Some("aws"));
    check(&["Standard_F4s_v2"], Some("azure"));
    check(&["n2-standard-4", "", "a2-highgpu-1g"], Some("gcp"));
    check(&["m5.xlarge", "n2-standard-4"], None);
    check(&["gpu_1x_a100"], None);
    check(&[""], None);
}

#[test]
fn another_table_is_no_price_list() {
    let error = skypilot::read("x.csv", "a,b\n1,2\n", "aws", &about()).unwrap_err();
    assert!(
        error.to_string().contains("no column `InstanceType`"),
        "{error}"
    );
}

#[test]
fn lines_that_end_in_crlf_are_counted() {
    let rows = "m5.large,,,2.0,8.0,,0.096,0.043,us-east-1,a\n\
                m5.xlarge,,,4.0,16.0,,0.0,,us-east-1,a\n\
                \n\
                m5.metal,,,96.0,384.0,,free,,us-east-1,a\n";
    let check = |text: &str| {
        let list = skypilot::read("vms.csv", text, "aws", &about()).unwrap();
        let examples: Vec<&str> = list
            .left_out
            .iter()
            .flat_map(|(_, left_out)| left_out.examples.iter().map(String::as_str))
            .collect();
        let expected = [
            "vms.csv:3: m5.xlarge: the price is 0.0",
            "vms.csv:5: m5.metal: the price is free",
        ];
        assert_eq!(examples, expected);
    };
    let text = format!("{HEAD}{rows}");
    check(&text);
    check(&text.replace('\n', "\r\n"));
}

#[test]
fn binary_fractions_of_the_list_are_decimals() {
    let list = read(
        "aws",
        "m5.large,,,2.0,8.0,,1.8214000000000001,0.30000000000000004,us-east-1,a\n\
         m5.xlarge,,,4.0,16.0,,0.09599999999999999,1.7e-3,us-east-1,a\n",
    );
    check_prices(
        &list,
        &[
            "aws/m5.large@us-east-1 1.8214 USD, spot 0.3",
            "aws/m5.xlarge@us-east-1 0.096 USD, spot 0.0017",
        ],
    );
}

#[test]
fn kept_repeated_and_left_out_are_all_prices() {
    let check = |rows: &str, expected: [u64; 3]| {
        let list = read("aws", rows);
        let found = [list.kept(), list.repeated, list.left_out.total()];
        assert_eq!(found, expected, "{rows}");
    };
    let zero_spot = "m5.large,,,2.0,8.0,,0.096,0.0,us-east-1,a\n";
    check(zero_spot, [1, 0, 1]);
    let zones = "m5.large,,,2.0,8.0,,0.096,0.04,us-east-1,a\n\
                 m5.large,,,2.0,8.0,,0.096,0.03,us-east-1,b\n\
                 m5.large,,,2.0,8.0,,0.096,0.05,us-east-1,c\n";
    check(zones, [2, 4, 0]);
    // What was repeated before rows disagree is left out with them.
    let disagreeing = "c5.large,,,2.0,4.0,,0.085,,us-east-1,a\n\
                       c5.large,,,2.0,4.0,,0.085,,us-east-1,b\n\
                       c5.large,,,2.0,4.0,,0.095,,us-east-1,c\n\
                       c5.large,,,2.0,4.0,,0.085,,us-east-1,d\n";
    check(disagreeing, [0, 0, 4]);
    check("c6i.large,,,2.0,4.0,,,,us-east-1,a\n", [0, 0, 1]);
}
