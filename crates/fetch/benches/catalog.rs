//! A refreshed catalog of 60,000 rows, loaded from its file and searched, beside Python's csv
//! module and the sqlite3 program doing the same. Prints medians; asserts nothing.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and may panic"
)]

use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use cost::{
    Architecture, Bound, Catalog, CatalogEntry, Gpu, GpuWanted, MachineQuery, Paying, Quote, Shape,
};
use model::{Currency, Money};
use rust_decimal::Decimal;

const ROWS: usize = 60_000;
const TIMES: usize = 21;

/// Rows like those of three providers: 60 regions, 1000 machines, some with GPUs.
fn generated() -> Catalog {
    let quote = |amount: i64, source: &str| {
        Some(Quote {
            per_hour: Money::new(Decimal::new(amount, 5), Currency::USD),
            source: source.to_owned(),
            date: "2026-11-16".to_owned(),
        })
    };
    let entry = |number: usize| {
        let (machine, region) = (number / 60, number % 60);
        let (provider, source) = [
            ("azure", "Azure Retail Prices API"),
            ("aws", "AWS Price List, AmazonEC2"),
            ("gcp", "Google Cloud Billing Catalog"),
        ][region % 3];
        let vcpus = 1_u32 << (machine % 8);
        let price = i64::try_from(machine * 97 + region * 13).unwrap() + 500;
        let kinds = ["T4", "L4", "A10G", "A100", "A100-80GB", "H100"];
        CatalogEntry {
            provider: provider.to_owned(),
            machine: format!("Standard_X{vcpus}s_{machine}_v5"),
            region: format!("region-{region}"),
            shape: Shape {
                vcpus: Some(vcpus.into()),
                memory_gib: Some((vcpus * 4).into()),
                gpu: (machine.is_multiple_of(5)).then(|| Gpu {
                    kind: kinds[machine / 5 % kinds.len()].to_owned(),
                    count: Some(Decimal::ONE),
                    memory_gib: Some(Decimal::from(16)),
                }),
                architecture: Some(Architecture::X86),
            },
            on_demand: quote(price, source),
            spot: (!number.is_multiple_of(4))
                .then(|| quote(price / 3 + 1, source))
                .flatten(),
        }
    };
    Catalog {
        entries: (0..ROWS).map(entry).collect(),
    }
}

fn wanted() -> MachineQuery {
    MachineQuery {
        vcpus: Some(Bound::parse("4").unwrap()),
        gpu: Some(GpuWanted::parse("T4")),
        provider: Some("azure".to_owned()),
        paying: Paying::OnDemand,
        ..MachineQuery::default()
    }
}

/// Milliseconds: the median, the least and the most; then the median of this thread's CPU time,
/// which other work on the machine does not lengthen as much.
fn measured(mut work: impl FnMut() -> usize) -> (String, usize) {
    let mut found = 0;
    let (mut walls, mut cpus) = (Vec::new(), Vec::new());
    for _ in 0..TIMES {
        let (begin, cpu) = (Instant::now(), cpu_milliseconds());
        found = black_box(work());
        walls.push(begin.elapsed().as_secs_f64() * 1e3);
        cpus.push(cpu_milliseconds() - cpu);
    }
    walls.sort_by(f64::total_cmp);
    cpus.sort_by(f64::total_cmp);
    let text = format!(
        "{:7.1} ms  [{:.1}, {:.1}]  CPU {:.1} ms",
        walls[TIMES / 2],
        walls[0],
        walls[TIMES - 1],
        cpus[TIMES / 2]
    );
    (text, found)
}

/// The first number of schedstat is nanoseconds on a processor.
fn cpu_milliseconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = text.split(' ').next().and_then(|n| n.parse::<f64>().ok());
    first.unwrap_or(f64::NAN) / 1e6
}

fn main() {
    let home = tempfile::tempdir().unwrap();
    fetch::prices::keep(home.path(), generated()).unwrap();
    let file = fetch::prices::catalog_file(home.path());
    let bytes = std::fs::metadata(&file).unwrap().len();
    println!(
        "{ROWS} rows, {:.1} MB, median of {TIMES} [least, most]\n",
        bytes as f64 / 1e6
    );

    let wanted = wanted();
    let (both, found) = measured(|| {
        let loaded = fetch::prices::load(home.path());
        cost::search(&loaded.catalog, &wanted).entries.len()
    });
    println!("bancada: loaded and searched   {both}   {found} found");
    let loaded = fetch::prices::load(home.path());
    let (search, _) = measured(|| cost::search(&loaded.catalog, &wanted).entries.len());
    println!("bancada: searched alone        {search}");
    python(&file);
    sqlite(&file);
}

const PYTHON: &str = r#"
import csv, statistics, sys, time
from decimal import Decimal
times, cpus = [], []
for _ in range(int(sys.argv[2])):
    begin, cpu = time.perf_counter(), time.process_time()
    with open(sys.argv[1], newline="") as file:
        rows = list(csv.DictReader(file))
    found = [r for r in rows if r["provider"] == "azure" and r["gpu"] == "T4" and Decimal(r["vcpus"]) >= 4 and r["on_demand"]]
    found.sort(key=lambda r: Decimal(r["on_demand"]))
    times.append((time.perf_counter() - begin) * 1e3)
    cpus.append((time.process_time() - cpu) * 1e3)
print(f"python3 csv: the same          {statistics.median(times):7.1f} ms  [{min(times):.1f}, {max(times):.1f}]  CPU {statistics.median(cpus):.1f} ms   {len(found)} found")
"#;

/// Its own start is not counted.
fn python(file: &Path) {
    let ran = Command::new("python3")
        .args(["-c", PYTHON])
        .arg(file)
        .arg("7")
        .output();
    match ran {
        Ok(output) if output.status.success() => {
            print!("{}", String::from_utf8_lossy(&output.stdout));
        }
        _ => println!("python3 is not here"),
    }
}

/// Import and query; the start of the program is counted, some milliseconds.
fn sqlite(file: &Path) {
    let script = format!(
        ".mode csv\n.import {} prices\nselect count(*) from (select * from prices where provider = 'azure' \
         and gpu = 'T4' and cast(vcpus as real) >= 4 and on_demand <> '' order by cast(on_demand as real));\n",
        file.display()
    );
    let once = || -> Option<usize> {
        let mut child = Command::new("sqlite3")
            .arg(":memory:")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        child.stdin.take()?.write_all(script.as_bytes()).ok()?;
        let output = child.wait_with_output().ok()?;
        String::from_utf8_lossy(&output.stdout).trim().parse().ok()
    };
    if once().is_none() {
        return println!("sqlite3 is not here");
    }
    let (text, found) = measured(|| once().unwrap_or(0));
    let wall = text.split("  CPU").next().unwrap_or_default();
    println!("sqlite3: .import and select    {wall}   {found} found");
}
