//! A bill of a million rows, reconciled: seconds, rows a second, peak memory beside that of a
//! tenth of it; and what Python's `csv` and DuckDB take to sum one column of the same files.
//!
//! `cargo bench -p reconcile`. `BANCADA_BENCH_PYTHON` names a Python that may have duckdb.

#![expect(clippy::unwrap_used, reason = "what is not expected ends the bench")]

#[path = "../tests/common/mod.rs"]
mod common;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use common::Study;
use reconcile::reconcile;

const ROWS: u64 = 1_000_000;
/// Set for the process that only reads, so that its memory is that of reading.
const READ: &str = "BANCADA_BENCH_READ";
const ROUNDS: usize = 3;

fn main() {
    if let Some(bill) = std::env::var_os(READ) {
        return read(Path::new(&bill));
    }
    // Without the flag it is `cargo test --benches`, which only asks whether it starts.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, column, write) in [
        ("focus", "BilledCost", focus as fn(u64) -> String),
        ("aws", "lineItem/UnblendedCost", aws),
    ] {
        let small = bill(folder.path(), name, ROWS / 10, write);
        let large = bill(folder.path(), name, ROWS, write);
        let megabytes = fs::metadata(&large).unwrap().len() as f64 / 1e6;
        println!("{name}: {ROWS} rows, {megabytes:.0} MB");
        for _ in 0..ROUNDS {
            again(&small);
            again(&large);
            peers(&large, column);
        }
        fs::remove_file(large).unwrap();
    }
}

fn bill(folder: &Path, name: &str, rows: u64, line: fn(u64) -> String) -> PathBuf {
    let path = folder.join(format!("{name}-{rows}.csv"));
    let mut file = BufWriter::new(File::create(&path).unwrap());
    // Line 0 is the header.
    for number in 0..=rows {
        file.write_all(line(number).as_bytes()).unwrap();
    }
    file.flush().unwrap();
    path
}

fn again(bill: &Path) {
    let this = std::env::current_exe().unwrap();
    let ended = Command::new(this).env(READ, bill).status().unwrap();
    assert!(ended.success());
}

fn read(bill: &Path) {
    let study = study();
    let begun = Instant::now();
    let found = reconcile(&study.question(), |bills| {
        bills.read("bill", File::open(bill).unwrap())
    })
    .unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    let rows = found.files[0].rows;
    println!(
        "  {:<24} {seconds:>7.2} s (CPU {:>5.2}, queued {:>5.2}) {:>8.0} rows/s   peak {:>6.1} MB   ({} matched, {} left out)",
        format!("bancada, {rows} rows"),
        cpu_seconds(),
        queued_seconds(),
        rows as f64 / seconds,
        peak_megabytes(),
        found.bill_rows,
        found.files[0].left_out,
    );
}

fn study() -> Study {
    let mut study = Study::in_reais("4.865");
    for run in 0..240 {
        let (day, hour) = (4 + run / 24, run % 24);
        let started = format!("2024-03-{day:02}T{hour:02}:10:00Z");
        study = study.run("aws/g4dn.xlarge@us-east-1", "0.526", &started, 2400.0);
    }
    study
}

/// Of this process, user and system, in the hundredths of a second that Linux counts in.
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2);
    ticks
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}

/// In which this process could have gone on and others had the cores. What is left of the wall
/// time next to it and the CPU time was spent waiting for the disk.
fn queued_seconds() -> f64 {
    let schedstat = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = schedstat.split_whitespace().nth(1);
    let nanoseconds = nanoseconds.and_then(|text| text.parse::<f64>().ok());
    nanoseconds.unwrap_or(f64::NAN) / 1e9
}

/// `VmHWM` of this process.
fn peak_megabytes() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) / 1024.0
}

fn peers(bill: &Path, column: &str) {
    let python = std::env::var_os("BANCADA_BENCH_PYTHON").unwrap_or_else(|| "python3".into());
    let csv = "import csv,sys,decimal,resource,time\n\
        t=time.time()\n\
        rows=csv.reader(open(sys.argv[1],newline=''))\n\
        at=next(rows).index(sys.argv[2])\n\
        total=sum(decimal.Decimal(row[at]) for row in rows)\n\
        u=resource.getrusage(resource.RUSAGE_SELF)\n\
        print(time.time()-t,u.ru_utime+u.ru_stime,u.ru_maxrss/1024)";
    let duckdb = "import duckdb,sys,resource,time\n\
        t=time.time()\n\
        duckdb.sql('set enable_progress_bar=false')\n\
        total=duckdb.sql(f'select sum(\"{sys.argv[2]}\"::decimal(38,18)) from read_csv(\\'{sys.argv[1]}\\', all_varchar=true, header=true)').fetchall()\n\
        u=resource.getrusage(resource.RUSAGE_SELF)\n\
        print(time.time()-t,u.ru_utime+u.ru_stime,u.ru_maxrss/1024)";
    for (name, script) in [("python csv, one sum", csv), ("duckdb, one sum", duckdb)] {
        let ended = Command::new(&python)
            .args(["-c", script])
            .arg(bill)
            .arg(column)
            .output();
        let told = match ended {
            Ok(output) if output.status.success() => {
                String::from_utf8_lossy(&output.stdout).trim().to_owned()
            }
            _ => "not installed".to_owned(),
        };
        let mut figures = told.split(' ').map(str::parse::<f64>);
        match [figures.next(), figures.next(), figures.next()] {
            [Some(Ok(seconds)), Some(Ok(cpu)), Some(Ok(megabytes))] => println!(
                "  {name:<24} {seconds:>7.2} s (CPU {cpu:>5.2}) {:>8.0} rows/s   peak {megabytes:>6.1} MB",
                ROWS as f64 / seconds
            ),
            _ => println!("  {name:<24} {told}"),
        }
    }
}

/// What a row is, from its number: always the same file.
struct Made {
    day: u64,
    hour: u64,
    resource: u64,
    cost: u64,
    ours: bool,
    kind: usize,
}

/// Services, usage types, operations, descriptions and units as large bills have them.
const KINDS: [[&str; 5]; 8] = [
    [
        "AmazonEC2",
        "BoxUsage:g4dn.xlarge",
        "RunInstances",
        "$0.526 per On Demand Linux g4dn.xlarge Instance Hour",
        "Hrs",
    ],
    [
        "AmazonEC2",
        "BoxUsage:m5.large",
        "RunInstances",
        "$0.096 per On Demand Linux m5.large Instance Hour",
        "Hrs",
    ],
    [
        "AmazonEC2",
        "EBS:VolumeUsage.gp3",
        "CreateVolume-Gp3",
        "$0.08 per GB-month of General Purpose (gp3) provisioned storage",
        "GB-Mo",
    ],
    [
        "AmazonS3",
        "TimedStorage-ByteHrs",
        "StandardStorage",
        "$0.023 per GB - first 50 TB / month of storage used",
        "GB-Mo",
    ],
    [
        "AmazonEC2",
        "USE1-EUC1-AWS-Out-Bytes",
        "InterZone-Out",
        "$0.02 per GB - US East data transfer to EU (Frankfurt)",
        "GB",
    ],
    [
        "AWSLambda",
        "Lambda-GB-Second",
        "Invoke",
        "$0.0000166667 for every GB-second, monthly tier",
        "GB-Seconds",
    ],
    [
        "AmazonCloudWatch",
        "CW:MetricMonitorUsage",
        "MetricStorage",
        "$0.30 per metric-month for the first 10,000 metrics",
        "Metrics",
    ],
    [
        "AmazonVPC",
        "PublicIPv4:InUseAddress",
        "RunInstances",
        "$0.005 per In-use public IPv4 address per hour",
        "Hrs",
    ],
];

fn made(number: u64) -> Made {
    let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    let ours = mixed.is_multiple_of(50);
    Made {
        day: 1 + mixed / 7 % 28,
        hour: mixed / 11 % 24,
        resource: mixed % 20_000,
        cost: mixed % 1_000_000,
        ours,
        kind: match ours {
            true => (mixed / 50 % 3) as usize,
            false => 1 + (mixed % 7) as usize,
        },
    }
}

fn focus(number: u64) -> String {
    if number == 0 {
        return "AvailabilityZone,BilledCost,BillingAccountId,BillingAccountName,BillingCurrency,BillingPeriodEnd,BillingPeriodStart,ChargeCategory,ChargeClass,ChargeDescription,ChargeFrequency,ChargePeriodEnd,ChargePeriodStart,CommitmentDiscountCategory,CommitmentDiscountId,CommitmentDiscountName,CommitmentDiscountStatus,CommitmentDiscountType,ConsumedQuantity,ConsumedUnit,ContractedCost,ContractedUnitPrice,EffectiveCost,InvoiceIssuerName,ListCost,ListUnitPrice,PricingCategory,PricingQuantity,PricingUnit,ProviderName,PublisherName,RegionId,RegionName,ResourceId,ResourceName,ResourceType,ServiceCategory,ServiceName,SkuId,SkuPriceId,SubAccountId,SubAccountName,Tags\n".to_owned();
    }
    let Made {
        day,
        hour,
        resource,
        cost,
        ours,
        kind,
    } = made(number);
    let [service, _, _, description, unit] = KINDS[kind];
    let next = hour + 1;
    let study = if ours { "training-cost" } else { "another" };
    format!(
        "us-east-1a,0.{cost:06}0000,\"1234567890123\",\"Institute\",\"USD\",\"2024-04-01 00:00:00\",\"2024-03-01 00:00:00\",\"Usage\",NULL,\"{description}\",\"Usage-Based\",\"2024-03-{day:02} {next:02}:00:00\",\"2024-03-{day:02} {hour:02}:00:00\",NULL,NULL,NULL,NULL,NULL,1.000000000000000,\"{unit}\",0.{cost:06}0000,0.526,0.{cost:06}0000,\"Amazon Web Services, Inc.\",0.{cost:06}0000,\"0.526\",\"Standard\",1.00000000000,\"{unit}\",\"AWS\",\"Amazon Web Services, Inc.\",\"us-east-1\",\"US East (N. Virginia)\",\"arn:aws:ec2:us-east-1:123456789012:instance/i-0{resource:015}\",NULL,NULL,\"Compute\",\"{service}\",\"G95FST5FTYV3JSRX\",\"G95FST5FTYV3JSRX.JRTCKXETXF.VXGXCWQKTY\",\"51738928782\",\"Group of networks\",\"{{\"\"application\"\": \"\"training\"\", \"\"environment\"\": \"\"dev\"\", \"\"bancada\"\": \"\"{study}\"\"}}\"\n"
    )
}

fn aws(number: u64) -> String {
    // A report has a column for every attribute of every product; most are empty.
    const EMPTY: usize = 80;
    if number == 0 {
        let empty: String = (0..EMPTY)
            .map(|n| format!(",product/attribute{n}"))
            .collect();
        return format!(
            "identity/LineItemId,identity/TimeInterval,bill/InvoiceId,bill/BillingEntity,bill/BillType,bill/PayerAccountId,bill/BillingPeriodStartDate,bill/BillingPeriodEndDate,lineItem/UsageAccountId,lineItem/LineItemType,lineItem/UsageStartDate,lineItem/UsageEndDate,lineItem/ProductCode,lineItem/UsageType,lineItem/Operation,lineItem/AvailabilityZone,lineItem/ResourceId,lineItem/UsageAmount,lineItem/CurrencyCode,lineItem/UnblendedRate,lineItem/UnblendedCost,lineItem/LineItemDescription,product/ProductName,product/instanceType,product/region,pricing/unit,resourceTags/user:bancada{empty}\n"
        );
    }
    let Made {
        day,
        hour,
        resource,
        cost,
        ours,
        kind,
    } = made(number);
    let [service, usage, operation, description, unit] = KINDS[kind];
    let machine = usage.strip_prefix("BoxUsage:").unwrap_or_default();
    let next = hour + 1;
    let study = if ours { "training-cost" } else { "" };
    let (start, end) = (
        format!("2024-03-{day:02}T{hour:02}:00:00Z"),
        format!("2024-03-{day:02}T{next:02}:00:00Z"),
    );
    let empty = ",".repeat(EMPTY);
    format!(
        "ab{number:050},{start}/{end},1234,AWS,Anniversary,123456789012,2024-03-01T00:00:00Z,2024-04-01T00:00:00Z,51738928782,Usage,{start},{end},{service},{usage},{operation},us-east-1a,arn:aws:ec2:us-east-1:123456789012:instance/i-0{resource:015},1.0000000000,USD,0.5260000000,0.{cost:06}0000,\"{description}\",Amazon Elastic Compute Cloud,{machine},us-east-1,{unit},{study}{empty}\n"
    )
}
