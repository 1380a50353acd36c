//! SkyPilot-style `vms.csv`: one row a machine and zone, columns in any order, and for Google rows
//! of GPUs that no machine is named in.

use std::collections::BTreeMap;

use cost::{Architecture, Gpu, Paying, Reason, Shape};
use model::{Currency, Money};
use rust_decimal::Decimal;

use crate::collect::{About, Collector, Offer, PriceList, Unreadable, amount, number};
use crate::{aws, azure_shapes, gcp_shapes};

pub(crate) const SOURCE: &str = "SkyPilot catalog";

/// Where the columns are; those that may lack are none.
struct Columns {
    count: usize,
    machine: usize,
    price: usize,
    region: usize,
    spot: Option<usize>,
    vcpus: Option<usize>,
    memory: Option<usize>,
    gpu: Option<usize>,
    gpus: Option<usize>,
    gpu_info: Option<usize>,
}

impl Columns {
    fn new(headers: &csv::StringRecord) -> Result<Self, String> {
        let find = |name: &str| headers.iter().position(|h| h.trim() == name);
        let need = |name: &str| {
            find(name).ok_or_else(|| {
                format!("no column `{name}`: a vms.csv has InstanceType, Price and Region at least")
            })
        };
        Ok(Columns {
            count: headers.len(),
            machine: need("InstanceType")?,
            price: need("Price")?,
            region: need("Region")?,
            spot: find("SpotPrice"),
            vcpus: find("vCPUs"),
            memory: find("MemoryGiB"),
            gpu: find("AcceleratorName"),
            gpus: find("AcceleratorCount"),
            gpu_info: find("GpuInfo"),
        })
    }
}

/// Whose machines a `vms.csv` lists, by their names; none where they do not tell.
pub fn provider_of(text: &str) -> Option<&'static str> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(text.as_bytes());
    let column = Columns::new(reader.headers().ok()?).ok()?.machine;
    let mut provider = None;
    for record in reader.records().map_while(Result::ok).take(1000) {
        let name = record.get(column).unwrap_or_default();
        let of_name = match name {
            "" => continue,
            name if name.starts_with("Standard_") || name.starts_with("Basic_") => "azure",
            name if is_gcp(name) => "gcp",
            name if is_aws(name) => "aws",
            _ => return None,
        };
        match provider {
            Some(known) if known != of_name => return None,
            _ => provider = Some(of_name),
        }
    }
    provider
}

/// `n2-standard-4`, `a2-highgpu-1g`.
fn is_gcp(name: &str) -> bool {
    let kinds = [
        "standard", "highmem", "highcpu", "highgpu", "megagpu", "ultragpu", "edgegpu", "ultramem",
        "megamem", "hypermem", "micro", "small", "medium",
    ];
    let kind = name.split('-').nth(1).unwrap_or_default();
    !name.contains('.') && kinds.contains(&kind)
}

/// `m5.xlarge`, `u-6tb1.metal`.
fn is_aws(name: &str) -> bool {
    let mut parts = name.split('.');
    let family = parts.next().unwrap_or_default();
    let size = parts.next().unwrap_or_default();
    let sizes = ["nano", "micro", "small", "medium", "large", "metal"];
    parts.next().is_none()
        && family.starts_with(|c: char| c.is_ascii_lowercase())
        && sizes.iter().any(|known| size.contains(known))
}

pub fn read(
    file: &str,
    text: &str,
    provider: &str,
    about: &About,
) -> Result<PriceList, Unreadable> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(text.as_bytes());
    let wrong = |why: String| Unreadable {
        file: file.to_owned(),
        why,
    };
    let headers = reader.headers().map_err(|e| wrong(e.to_string()))?;
    let columns = Columns::new(headers).map_err(wrong)?;
    let mut list = List {
        file,
        provider,
        columns,
        collector: Collector::new(provider),
        gpus: BTreeMap::new(),
        hosts: Vec::new(),
    };
    list.collector.zones_have_spot_prices = true;
    for record in reader.records() {
        list.collector.rows += 1;
        match record {
            Ok(record) => list.row(&record),
            Err(error) => {
                let place = || format!("{file}: {error}");
                list.collector.leave_out(Reason::Malformed, place);
            }
        }
    }
    Ok(list.finish().finish(about))
}

/// Of one kind, so many together, in a region.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct GpuKey {
    kind: String,
    count: Decimal,
    region: String,
}

/// What so many GPUs cost apart.
#[derive(Debug, Default)]
struct GpuPrices {
    on_demand: Option<Decimal>,
    spot: Option<Decimal>,
    disagree: bool,
    rows: u64,
    used: bool,
    place: String,
}

/// A machine that is not whole without its GPU.
struct Host {
    machine: String,
    region: String,
    paying: Paying,
    amount: Decimal,
    place: String,
}

struct List<'f> {
    file: &'f str,
    provider: &'f str,
    columns: Columns,
    collector: Collector,
    gpus: BTreeMap<GpuKey, GpuPrices>,
    hosts: Vec<Host>,
}

impl List<'_> {
    fn row(&mut self, record: &csv::StringRecord) {
        let line = record.position().map_or(0, csv::Position::line);
        let place = format!("{}:{line}", self.file);
        let machine = record.get(self.columns.machine).unwrap_or_default().trim();
        let leave = |list: &mut Self, reason: Reason, said: String| {
            list.collector
                .leave_out(reason, || format!("{place}: {machine}: {said}"));
        };
        if record.len() != self.columns.count {
            let said = format!("{} cells, expected {}", record.len(), self.columns.count);
            return leave(self, Reason::TooFewCells, said);
        }
        let region = record.get(self.columns.region).unwrap_or_default().trim();
        if region.is_empty() {
            return leave(self, Reason::NoRegion, "no region".to_owned());
        }
        let mut priced = false;
        let prices = [
            (Paying::OnDemand, record.get(self.columns.price)),
            (
                Paying::Spot,
                self.columns.spot.and_then(|at| record.get(at)),
            ),
        ];
        for (paying, text) in prices {
            // An empty cell is a price that nobody claims to know.
            let text = text.unwrap_or_default().trim();
            match amount(text) {
                _ if text.is_empty() => {}
                Ok(amount) => {
                    priced = true;
                    let host = Host {
                        machine: machine.to_owned(),
                        region: region.to_owned(),
                        paying,
                        amount,
                        place: place.clone(),
                    };
                    self.price(record, host);
                }
                Err(reason) => {
                    priced = true;
                    leave(self, reason, format!("the price is {text}"));
                }
            }
        }
        if !priced {
            leave(self, Reason::ZeroPrice, "no price".to_owned());
        }
    }

    fn price(&mut self, record: &csv::StringRecord, host: Host) {
        let has_machine = !host.machine.is_empty();
        if self.provider == "gcp" && !has_machine {
            return self.gpu(record, host);
        }
        if !has_machine {
            let place = || format!("{}: {}", host.place, host.amount);
            return self.collector.leave_out(Reason::NoMachine, place);
        }
        if self.provider == "gcp" {
            let gpu_in_row = self.cell(record, self.columns.gpu).is_some();
            if gcp_shapes::needs_gpu(&host.machine) && !gpu_in_row {
                return self.hosts.push(host);
            }
            let attached =
                gcp_shapes::with_gpus().any(|m| m.name != host.machine && m.host() == host.machine);
            if attached && !gpu_in_row {
                let Host {
                    machine,
                    region,
                    place,
                    ..
                } = &host;
                self.hosts.push(Host {
                    machine: machine.clone(),
                    region: region.clone(),
                    place: place.clone(),
                    ..host
                });
            }
        }
        let shape = self.shape(record, &host.machine);
        self.collector.add(offer(host, shape));
    }

    /// A row without machine: a price of GPUs alone.
    fn gpu(&mut self, record: &csv::StringRecord, row: Host) {
        let kind = self.cell(record, self.columns.gpu);
        let count = self.cell(record, self.columns.gpus).and_then(number);
        let (Some(kind), Some(count)) = (kind, count) else {
            let place = || format!("{}: {}", row.place, row.amount);
            return self.collector.leave_out(Reason::NoMachine, place);
        };
        let key = GpuKey {
            kind: kind.to_owned(),
            count,
            region: row.region.clone(),
        };
        let prices = self.gpus.entry(key).or_default();
        prices.rows += 1;
        if prices.place.is_empty() {
            prices.place = row.place;
        }
        match row.paying {
            // Zones differ in their spot prices: the lowest is kept, as for machines.
            Paying::Spot => {
                let lowest = prices
                    .spot
                    .map_or(row.amount, |known| known.min(row.amount));
                prices.spot = Some(lowest);
            }
            Paying::OnDemand => {
                prices.disagree |= prices.on_demand.is_some_and(|known| known != row.amount);
                prices.on_demand = Some(row.amount);
            }
        }
    }

    fn cell<'r>(&self, record: &'r csv::StringRecord, column: Option<usize>) -> Option<&'r str> {
        let text = record.get(column?)?.trim();
        (!text.is_empty()).then_some(text)
    }

    fn shape(&self, record: &csv::StringRecord, machine: &str) -> Shape {
        let count = |column| self.cell(record, column).and_then(number);
        let gpu = self.cell(record, self.columns.gpu).map(|kind| Gpu {
            kind: kind.to_owned(),
            count: count(self.columns.gpus),
            memory_gib: self
                .cell(record, self.columns.gpu_info)
                .and_then(gpu_memory_gib),
        });
        let architecture = match self.provider {
            "aws" => Some(aws::architecture(machine)),
            "azure" => azure_shapes::shape(machine).architecture,
            "gcp" => Some(gcp_shapes::architecture(machine)),
            _ => None::<Architecture>,
        };
        Shape {
            vcpus: count(self.columns.vcpus),
            memory_gib: count(self.columns.memory),
            gpu,
            architecture,
        }
    }

    /// Machines are put together with their GPUs where both prices are there.
    fn finish(mut self) -> Collector {
        let machines: Vec<gcp_shapes::Machine> = gcp_shapes::with_gpus().collect();
        for host in std::mem::take(&mut self.hosts) {
            let mut known = false;
            for machine in machines.iter().filter(|m| m.host() == host.machine) {
                known = true;
                self.combine(machine, &host);
            }
            if !known {
                let place = || format!("{}: {}", host.place, host.machine);
                self.collector.leave_out(Reason::UnknownShape, place);
            }
        }
        for (key, prices) in &self.gpus {
            let reason = match (prices.disagree, prices.used) {
                (true, _) => Reason::Disagreeing,
                (false, true) => continue,
                (false, false) => Reason::NoMachine,
            };
            for _ in 0..prices.rows {
                self.collector.leave_out(reason, || {
                    format!("{}: {} × {}", prices.place, key.count, key.kind)
                });
            }
        }
        self.collector
    }

    fn combine(&mut self, machine: &gcp_shapes::Machine, host: &Host) {
        let Some(gpu) = &machine.shape.gpu else {
            return;
        };
        let key = GpuKey {
            kind: gpu.kind.clone(),
            count: gpu.count.unwrap_or_default(),
            region: host.region.clone(),
        };
        let price = self.gpus.get_mut(&key).and_then(|prices| {
            prices.used = true;
            match host.paying {
                _ if prices.disagree => None,
                Paying::OnDemand => prices.on_demand,
                Paying::Spot => prices.spot,
            }
        });
        match price {
            Some(price) => self.collector.add(offer(
                Host {
                    machine: machine.name.clone(),
                    region: host.region.clone(),
                    amount: host.amount + price,
                    place: host.place.clone(),
                    paying: host.paying,
                },
                machine.shape.clone(),
            )),
            None if machine.name == host.machine => {
                self.collector.leave_out(Reason::GpuMissing, || {
                    format!(
                        "{}: {} needs {} × {}",
                        host.place, host.machine, key.count, key.kind
                    )
                })
            }
            None => {}
        }
    }
}

fn offer(host: Host, shape: Shape) -> Offer {
    Offer {
        machine: host.machine,
        region: host.region,
        paying: host.paying,
        // The catalog has no column for it: all its prices are in dollars.
        per_hour: Money::new(host.amount, Currency::USD),
        shape,
        since: String::new(),
        place: host.place,
    }
}

/// Of one GPU, from `{'Gpus': [{… 'MemoryInfo': {'SizeInMiB': 16384}}], …}`.
fn gpu_memory_gib(info: &str) -> Option<Decimal> {
    let rest = info.split("SizeInMiB").nth(1)?;
    let digits = rest.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(digits.len());
    let mebibytes: Decimal = digits[..end].parse().ok()?;
    let gib = mebibytes / Decimal::from(1024);
    (!gib.is_zero()).then(|| gib.round_dp(1).normalize())
}
