//! `bancada price`, as a person would use it.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::thread;

use crate::common::{Bench, Ran, shell_study};

#[test]
fn machines_are_found_by_what_they_have() {
    let bench = Bench::new();
    let asked = "price find --vcpus 4 --gpu T4 --provider azure --region eastus";
    let ran = bench.bancada(&words(asked)).ends_with(0);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(
        lines[1].starts_with("azure/Standard_NC4as_T4_v3@eastus"),
        "{}",
        ran.out
    );
    assert!(lines[1].contains("US$ 0.526"), "{}", ran.out);
    assert_eq!(lines.len(), 5, "{}", ran.out);
    let exact = bench.bancada(&words(
        &format!("{asked} --vcpus =8").replace("--vcpus 4 ", ""),
    ));
    assert_eq!(exact.ends_with(0).out.lines().count(), 2);
    let json = bench
        .bancada(&words(&format!("{asked} --json --limit 1")))
        .ends_with(0);
    let value: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(value[0]["on_demand"]["per_hour"], "0.526");
    assert_eq!(value[0]["on_demand"]["date"], "2025-09-11");
    assert_eq!(value[0]["gpu"]["kind"], "T4");
    let spot = bench
        .bancada(&words("price find --spot --max 0.02:USD"))
        .err;
    assert!(spot.contains("is not an amount"), "{spot}");
    let cheap = bench.bancada(&[
        "price",
        "find",
        "--spot",
        "--max",
        "0.02 USD/h",
        "--vcpus",
        "4",
    ]);
    assert!(cheap.ends_with(0).out.contains("Standard_F4s_v2@eastus"));
    bench
        .bancada(&words("price find --region mars"))
        .ends_with(2)
        .says("No region is called `mars`; known: eastus");
}

#[test]
fn everything_known_of_a_machine_is_shown() {
    let bench = Bench::new();
    bench
        .bancada(&words("price show azure/Standard_NC4as_T4_v3"))
        .ends_with(0)
        .says("4 vCPUs, 28 GiB, T4 of 16 GiB, x86-64")
        .says("westus2")
        .says("SkyPilot catalog")
        .says("2025-09-11")
        .says("months old");
    bench
        .bancada(&words("price show azure/Standard_NC4as_T4_v9"))
        .ends_with(3)
        .says("did you mean azure/Standard_NC4as_T4_v3@eastus");
    bench
        .bancada(&words("price compare azure/Standard_F4s_v2 aws/c7g.xlarge"))
        .ends_with(0)
        .says("aws/c7g.xlarge@us-east-1 is 14.2 % cheaper than azure/Standard_F4s_v2@eastus");
}

const PRICED: &str = "[environments.cpu]\nprice = \"azure/Standard_F4s_v2@eastus\"\n";

#[test]
fn measured_time_is_priced_on_other_machines() {
    let bench = Bench::new();
    let study = format!("{}{PRICED}", shell_study("priced", "true", 2, ""));
    bench.write("study.toml", &study);
    bench
        .bancada(&["run", "study.toml", "--quiet", "--no-pilot"])
        .ends_with(0);
    let named = bench.bancada(&words(
        "price compare results/priced aws/c7g.xlarge azure/Standard_F4s_v2",
    ));
    let named = named.ends_with(0).says("it does not predict speed");
    // EC2 bills a minute at least, and all runs are one rental: 60 s of 0.145 an hour in all.
    let named = named.says("4 runs that succeeded").says("as one rental");
    let all = named.out.lines().find(|line| line.starts_with("all"));
    assert!(all.unwrap().contains("US$ 0.002417"), "{}", named.out);
    bench.write(
        "study.toml",
        &study.replace(
            "[environments.cpu]\n",
            "[environments.cpu]\nbilling = { rental = \"run\" }\n",
        ),
    );
    bench
        .bancada(&[
            "run",
            "study.toml",
            "--quiet",
            "--no-pilot",
            "--out",
            "apart",
        ])
        .ends_with(0);
    let apart = bench.bancada(&words("price compare apart aws/c7g.xlarge"));
    let apart = apart.ends_with(0).says("each on its own machine");
    assert!(apart.out.contains("US$ 0.009667"), "{}", apart.out);
    bench.write("study.toml", &study);
    let shaped = bench
        .bancada(&words("price compare study.toml --json"))
        .ends_with(0);
    let value: serde_json::Value = serde_json::from_str(&shaped.out).unwrap();
    let machines = value[0]["machines"].as_array().unwrap();
    assert!(machines.len() > 10, "{}", machines.len());
    let own = machines
        .iter()
        .find(|m| m["price"]["machine"] == "azure/Standard_F4s_v2@eastus")
        .unwrap();
    assert_eq!(own["total"], value[0]["measured_total"]);
    bench
        .bancada(&words("price compare results/none"))
        .ends_with(3)
        .says("`results/none` has no known price");
}

/// The price that a study gets is the refreshed one, and its run keeps where it is from.
#[test]
fn a_study_uses_prices_that_were_refreshed() {
    let bench = Bench::new();
    bench.write(
        "vms.csv",
        "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Price,SpotPrice,Region\n\
         Standard_F4s_v2,4.0,8.0,,,,0.25,0.02,eastus\n\
         Standard_Broken,4.0,8.0,,,,0.0,,eastus\n\
         Standard_Short,4.0\n",
    );
    let ran = bench
        .bancada(&words("price update vms.csv --date 2026-11-16"))
        .ends_with(0);
    let ran = ran.says("3 rows read; 4 prices: 2 kept, 2 skipped");
    assert!(
        ran.out
            .contains("vms.csv:4: Standard_Short: 2 cells, expected 9"),
        "{}",
        ran.out
    );
    assert!(
        ran.out.contains("a price of 0, which means unknown"),
        "{}",
        ran.out
    );
    assert!(ran.err.contains("1 of them updated"), "{}", ran.err);
    let study = format!("{}{PRICED}", shell_study("priced", "true", 1, ""));
    bench.write("study.toml", &study);
    bench
        .bancada(&["run", "study.toml", "--quiet", "--no-pilot"])
        .ends_with(0);
    let price = &bench.record("priced", "C1-r1")["price"];
    assert_eq!(price["per_hour"]["amount"], "0.25");
    assert_eq!(price["source"], "SkyPilot catalog (vms.csv)");
    assert_eq!(price["date"], "2026-11-16");
    // An older list changes nothing.
    bench
        .bancada(&words("price update vms.csv --date 2020-01-01"))
        .ends_with(0);
    bench
        .bancada(&words("price show azure/Standard_F4s_v2@eastus"))
        .ends_with(0)
        .says("US$ 0.25");
    // A catalog that was damaged is said, and what came with the program is used.
    std::fs::write(bench.path().join("cache/prices/catalog.csv"), "gone\n").unwrap();
    bench
        .bancada(&["check", "study.toml"])
        .ends_with(0)
        .says("1 row of the updated prices skipped");
}

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

/// Answers every request with this, on this machine only, as long as the test lives.
fn serve(body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let lines = BufReader::new(&stream).lines().map_while(Result::ok);
            lines.take_while(|line| !line.is_empty()).for_each(drop);
            let length = body.len();
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
            _ = stream.write_all(head.as_bytes());
            _ = stream.write_all(body.as_bytes());
        }
    });
    url
}

const PAGE: &str = r#"{"BillingCurrency":"USD","Items":[
{"currencyCode":"USD","tierMinimumUnits":0.0,"retailPrice":0.171,"armRegionName":"eastus","effectiveStartDate":"2025-11-01T00:00:00Z","meterName":"F4s v2","productName":"Virtual Machines FSv2 Series","skuName":"F4s v2","serviceName":"Virtual Machines","unitOfMeasure":"1 Hour","type":"Consumption","armSkuName":"Standard_F4s_v2"},
{"currencyCode":"USD","tierMinimumUnits":0.0,"reservationTerm":"1 Year","retailPrice":873.0,"armRegionName":"eastus","effectiveStartDate":"2025-11-01T00:00:00Z","meterName":"F4s v2","productName":"Virtual Machines FSv2 Series","skuName":"F4s v2","serviceName":"Virtual Machines","unitOfMeasure":"1 Hour","type":"Reservation","armSkuName":"Standard_F4s_v2"}
],"NextPageLink":null,"Count":2}"#;

#[test]
fn prices_are_fetched_and_stay_when_nobody_answers() {
    let bench = Bench::new();
    let update = |url: &str| {
        let mut command = bench.command(&["price", "update", "azure"]);
        Ran::new(command.env("BANCADA_AZURE_PRICES", url).output().unwrap())
    };
    let ran = update(&serve(PAGE)).ends_with(0);
    let ran = ran.says("azure eastus: 2 rows read; 2 prices: 1 kept, 1 skipped");
    assert!(
        ran.out.contains("reservations (priced for the whole term"),
        "{}",
        ran.out
    );
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", nobody.local_addr().unwrap());
    drop(nobody);
    update(&url)
        .ends_with(1)
        .says("error: azure eastus: cannot be reached")
        .says("1 of them updated, the newest of today");
    bench
        .bancada(&words("price show azure/Standard_F4s_v2@eastus"))
        .ends_with(0)
        .says("US$ 0.171")
        .says("Azure Retail Prices API");
    // A list of one's own, whose address has a password.
    let secret = url.replace("http://", "http://me:hunter2@") + "/list.csv";
    let told = bench.bancada(&["price", "update", &secret]).ends_with(1);
    assert!(!told.err.contains("hunter2"), "{}", told.err);
    told.says("error: http://me:*******@127.0.0.1:");
    let columns = "provider,machine,region,vcpus,memory_gib,gpu,gpus,gpu_memory_gib,architecture,currency,\
                   on_demand,on_demand_source,on_demand_date,spot,spot_source,spot_date";
    let row = "lab,big,cellar,32,256,,,,x86-64,EUR,0.85,offer,2026-05-01,,,";
    bench.write("list.csv", &format!("{columns}\n{row}\nlab,bi"));
    bench
        .bancada(&["price", "update", "list.csv"])
        .ends_with(1)
        .says("error: list.csv: is truncated in line 3");
    let mut keyless = bench.command(&["price", "update", "google"]);
    Ran::new(keyless.env_remove("GOOGLE_API_KEY").output().unwrap())
        .ends_with(1)
        .says("google needs an API key, in GOOGLE_API_KEY or --key-file");
}

/// The prices of Azure that come with the program are of 2025.
#[test]
fn old_prices_of_the_catalog_are_mentioned_by_plan_and_run() {
    let told = |price: &str, arguments: &str| {
        let bench = Bench::new();
        let priced = format!("[environments.here]\nprice = \"{price}\"\n");
        let study = shell_study("old", "true", 1, "") + &priced;
        bench.write("study.toml", &study);
        let ran = bench.bancada(&words(arguments)).ends_with(0);
        (ran.out + &ran.err).contains("(read 2025-09-11): `bancada price update` fetches today's")
    };
    for command in ["plan study.toml --no-pilot", "run study.toml --no-pilot"] {
        assert!(told("azure/Standard_F4s_v2@eastus", command), "{command}");
        assert!(!told("0.169 USD/h", command), "{command}");
    }
}

#[test]
fn a_total_with_capped_losses_is_called_a_lower_bound() {
    let shown = |per_hour: &str| {
        let bench = Bench::new();
        let spot = format!(
            "[environments.spot]\nprice = \"1 USD/h\"\n\
             billing = {{ rental = \"run\", interruptions = {{ per_hour = {per_hour} }} }}\n"
        );
        let study = shell_study("spot", "sleep 0.1", 1, "") + &spot;
        bench.write("study.toml", &study);
        let ran = bench
            .bancada(&["run", "study.toml", "--quiet", "--no-pilot"])
            .ends_with(0);
        let report = bench.path().join("results/spot/report.html");
        let text = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        (text, std::fs::read_to_string(report).unwrap())
    };
    let bound = "and cost at least US$ ";
    let reason =
        "(2 runs are not expected to end on their spot machine, and lost attempts are capped)";
    // A machine that is taken away every millisecond, for runs of a hundred and more.
    let (text, report) = shown("3600000");
    assert!(text.contains(bound) && text.contains(reason), "{text}");
    assert!(report.contains("a lower bound: lost attempts are capped"));
    let (text, report) = shown("0.05");
    assert!(!text.contains("at least US$"), "{text}");
    assert!(!report.contains("a lower bound"));
}
