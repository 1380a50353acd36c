//! SkyPilot-style `vms.csv`: one row per machine and zone, columns in any order, and for Google rows
//! of GPUs that no machine is named in.

use std::collections::BTreeMap;

use cost::{Architecture, Gpu, Paying, Reason, Shape};
use model::{Currency, Money};
use rust_decimal::Decimal;

use crate::FetchError;
use crate::prices::collect::{About, Collector, Offer, PriceList, amount, number, split_digits};
use crate::prices::{aws, azure_shapes, gcp_shapes};

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
                format!("no column `{name}`: a vms.csv has at least InstanceType, Price and Region")
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

/// Whose machines a `vms.csv` lists, by their names; `None` if they do not tell.
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
) -> Result<PriceList, FetchError> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|e| FetchError::of(file, e))?;
    let columns = Columns::new(headers).map_err(|why| FetchError::of(file, why))?;
    let mut list = List {
        file,
        text,
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
    prices: RowPrices,
    disagree: bool,
    used: bool,
    /// Of every row, for messages.
    places: Vec<String>,
}

#[derive(Debug, Default, Clone, Copy)]
struct RowPrices {
    on_demand: Option<Decimal>,
    spot: Option<Decimal>,
}

/// A row with at least one price.
struct Row {
    machine: String,
    region: String,
    prices: RowPrices,
    place: String,
}

struct List<'f> {
    file: &'f str,
    /// The whole file, to tell on which line a row is.
    text: &'f str,
    provider: &'f str,
    columns: Columns,
    collector: Collector,
    gpus: BTreeMap<GpuKey, GpuPrices>,
    /// Machines that are not whole without a GPU, or that may have one attached.
    hosts: Vec<Row>,
}

impl List<'_> {
    fn row(&mut self, record: &csv::StringRecord) {
        let line = record.position().map_or(0, |at| {
            diagnostics::row_line(self.text, at.byte(), at.line(), None)
        });
        let place = format!("{}:{line}", self.file);
        let machine = record.get(self.columns.machine).unwrap_or_default().trim();
        let leave = |list: &mut Self, reason: Reason, said: String| {
            let place = || format!("{place}: {machine}: {said}");
            list.collector.leave_out(reason, place);
        };
        if record.len() != self.columns.count {
            let said = format!("{} cells, expected {}", record.len(), self.columns.count);
            return leave(self, Reason::TooFewCells, said);
        }
        let region = record.get(self.columns.region).unwrap_or_default().trim();
        if region.is_empty() {
            return leave(self, Reason::NoRegion, "no region".to_owned());
        }
        let mut wrong = Vec::new();
        let mut price = |column: Option<usize>| {
            // An empty cell is a price that nobody claims to know.
            let text = self.cell(record, column)?;
            amount(text)
                .map_err(|reason| wrong.push((reason, text)))
                .ok()
        };
        let prices = RowPrices {
            on_demand: price(Some(self.columns.price)),
            spot: price(self.columns.spot),
        };
        let has_price = prices.on_demand.is_some() || prices.spot.is_some();
        if !has_price && wrong.is_empty() {
            leave(self, Reason::ZeroPrice, "no price".to_owned());
        }
        for (reason, text) in wrong {
            leave(self, reason, format!("the price is {text}"));
        }
        if has_price {
            let row = Row {
                machine: machine.to_owned(),
                region: region.to_owned(),
                prices,
                place: place.clone(),
            };
            self.priced(record, row);
        }
    }

    fn priced(&mut self, record: &csv::StringRecord, row: Row) {
        let has_gpu = self.cell(record, self.columns.gpu).is_some();
        match (self.provider, row.machine.is_empty()) {
            ("gcp", true) => return self.gpu(record, row),
            (_, true) => {
                let place = || row.place.clone();
                return self.collector.leave_out(Reason::NoMachine, place);
            }
            ("gcp", false) if !has_gpu && gcp_shapes::needs_gpu(&row.machine) => {
                return self.hosts.push(row);
            }
            _ => {}
        }
        let shape = self.shape(record, &row.machine);
        self.offer(&row, shape);
        if self.provider == "gcp" && !has_gpu {
            self.hosts.push(row);
        }
    }

    fn offer(&mut self, row: &Row, shape: Shape) {
        let prices = [
            (Paying::OnDemand, row.prices.on_demand),
            (Paying::Spot, row.prices.spot),
        ];
        for (paying, amount) in prices {
            let Some(amount) = amount else { continue };
            self.collector.add(Offer {
                machine: row.machine.clone(),
                region: row.region.clone(),
                paying,
                // The catalog has no column for it: all its prices are in dollars.
                per_hour: Money::new(amount, Currency::USD),
                shape: shape.clone(),
                since: String::new(),
                place: row.place.clone(),
            });
        }
    }

    /// A row without machine: a price of GPUs alone.
    fn gpu(&mut self, record: &csv::StringRecord, row: Row) {
        let kind = self.cell(record, self.columns.gpu);
        let count = self.cell(record, self.columns.gpus).and_then(number);
        let (Some(kind), Some(count)) = (kind, count) else {
            return self.collector.leave_out(Reason::NoMachine, || row.place);
        };
        let key = GpuKey {
            kind: kind.to_owned(),
            count,
            region: row.region,
        };
        let known = self.gpus.entry(key).or_default();
        known.places.push(row.place);
        // Zones differ in their spot prices: the lowest is kept, as for machines.
        let spots = [known.prices.spot, row.prices.spot].into_iter().flatten();
        known.prices.spot = spots.min();
        if let Some(new) = row.prices.on_demand {
            known.disagree |= known.prices.on_demand.is_some_and(|old| old != new);
            known.prices.on_demand = Some(new);
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
            let mut known = !gcp_shapes::needs_gpu(&host.machine);
            for machine in machines.iter().filter(|m| m.host() == host.machine) {
                known = true;
                self.combine(machine, &host);
            }
            if !known {
                let place = || format!("{}: {}", host.place, host.machine);
                self.collector.leave_out(Reason::UnknownShape, place);
            }
        }
        for (key, gpu) in &self.gpus {
            let reason = match (gpu.disagree, gpu.used) {
                (true, _) => Reason::Disagreeing,
                (false, true) => continue,
                (false, false) => Reason::NoMachine,
            };
            for place in &gpu.places {
                let (count, kind) = (key.count, &key.kind);
                self.collector
                    .leave_out(reason, || format!("{place}: {count} × {kind}"));
            }
        }
        self.collector
    }

    fn combine(&mut self, machine: &gcp_shapes::Machine, host: &Row) {
        let Some(gpu) = &machine.shape.gpu else {
            return;
        };
        let key = GpuKey {
            kind: gpu.kind.clone(),
            count: gpu.count.unwrap_or_default(),
            region: host.region.clone(),
        };
        let mut gpus = RowPrices::default();
        if let Some(known) = self.gpus.get_mut(&key).filter(|known| !known.disagree) {
            known.used = true;
            gpus = known.prices;
        }
        let sum = |host: Option<Decimal>, gpus: Option<Decimal>| Some(host? + gpus?);
        let prices = RowPrices {
            on_demand: sum(host.prices.on_demand, gpus.on_demand),
            spot: sum(host.prices.spot, gpus.spot),
        };
        if prices.on_demand.is_some() || prices.spot.is_some() {
            let whole = Row {
                machine: machine.name.clone(),
                region: host.region.clone(),
                place: host.place.clone(),
                prices,
            };
            self.offer(&whole, machine.shape.clone());
        } else if machine.name == host.machine {
            self.collector.leave_out(Reason::GpuMissing, || {
                let Row { place, machine, .. } = host;
                format!("{place}: {machine} needs {} × {}", key.count, key.kind)
            });
        }
    }
}

/// Of one GPU, from `{'Gpus': [{… 'MemoryInfo': {'SizeInMiB': 16384}}], …}`.
fn gpu_memory_gib(info: &str) -> Option<Decimal> {
    let rest = info.split("SizeInMiB").nth(1)?;
    let digits = rest.trim_start_matches(|c: char| !c.is_ascii_digit());
    let mebibytes: Decimal = split_digits(digits).0.parse().ok()?;
    let gib = mebibytes / Decimal::from(1024);
    (!gib.is_zero()).then(|| gib.round_dp(1).normalize())
}
