//! The Google Cloud Billing Catalog: pages of SKUs, each the price of a core, a gigabyte or a GPU.
//! <https://cloud.google.com/billing/docs/reference/rest/v1/services.skus/list>

use std::collections::BTreeSet;

use cost::{CatalogEntry, Paying, Reason, Shape, known_currency};
use model::{Currency, Money};
use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::FetchError;
use crate::prices::collect::{
    About, Collector, Offer, PriceList, amount, day, from_json, refuse_if,
};
use crate::prices::gcp_shapes::{self, Machine};

pub(crate) const SOURCE: &str = "Google Cloud Billing Catalog";
const EXPECTED: &str = "a response of the Google Cloud Billing Catalog";

/// How the description of a SKU of cores (`… Core`) or memory (`… Ram`) begins → the family it is
/// for. Others are custom machines, sole tenancy, commitments, licences: not what a machine of the
/// list is made of.
const FAMILIES: &[(&str, &str)] = &[
    ("N1 Predefined Instance", "n1"),
    ("N2 Instance", "n2"),
    ("N2D AMD Instance", "n2d"),
    ("E2 Instance", "e2"),
    ("Compute optimized", "c2"),
    ("Compute optimized Instance", "c2"),
    ("C2D AMD Instance", "c2d"),
    ("C3 Instance", "c3"),
    ("T2D AMD Instance", "t2d"),
    ("T2A Arm Instance", "t2a"),
    ("A2 Instance", "a2"),
    ("G2 Instance", "g2"),
];

/// The same of GPUs (`… GPU`).
const GPUS: &[(&str, &str)] = &[
    ("Nvidia Tesla K80", "K80"),
    ("Nvidia Tesla P100", "P100"),
    ("Nvidia Tesla V100", "V100"),
    ("Nvidia Tesla T4", "T4"),
    ("Nvidia Tesla A100", "A100"),
    ("Nvidia L4", "L4"),
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<'p> {
    #[serde(borrow)]
    skus: Vec<&'p RawValue>,
    next_page_token: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Sku {
    sku_id: String,
    description: String,
    category: Category,
    service_regions: Vec<String>,
    pricing_info: Vec<PricingInfo>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Category {
    resource_family: String,
    usage_type: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PricingInfo {
    pricing_expression: PricingExpression,
    #[serde(default)]
    effective_time: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PricingExpression {
    usage_unit: String,
    tiered_rates: Vec<Rate>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rate {
    unit_price: UnitPrice,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct UnitPrice {
    currency_code: String,
    /// Whole units, in quotes because they may be large.
    units: String,
    nanos: i64,
}

/// Takes page after page; machines are put together when all parts have come.
pub struct Reader {
    /// Parts in place of machines.
    parts: Collector,
    about: About,
}

impl Reader {
    pub fn new(about: About) -> Self {
        let parts = Collector::new("gcp");
        Reader { parts, about }
    }

    /// The token of the next page, if there is one.
    pub fn page(&mut self, file: &str, text: &str) -> Result<Option<String>, FetchError> {
        let page: Page<'_> = from_json(file, EXPECTED, text)?;
        for raw in page.skus {
            self.parts.rows += 1;
            match serde_json::from_str::<Sku>(raw.get()) {
                Ok(sku) => self.sku(file, &sku),
                Err(error) => self
                    .parts
                    .leave_out(Reason::Malformed, || format!("{file}: {error}")),
            }
        }
        Ok(page.next_page_token.filter(|token| !token.is_empty()))
    }

    fn sku(&mut self, file: &str, sku: &Sku) {
        let place = || format!("{file}, SKU {}", sku.sku_id);
        match part(sku, &place) {
            Ok(part) => {
                for region in sku.service_regions.iter().cloned() {
                    self.parts.add(Offer {
                        region,
                        ..part.clone()
                    });
                }
            }
            Err(reason) => {
                let place = || format!("{}: {}", place(), sku.description);
                self.parts.leave_out(reason, place);
            }
        }
    }

    pub fn finish(self) -> PriceList {
        let about = self.about;
        let PriceList {
            catalog: parts,
            left_out,
            rows,
            ..
        } = self.parts.finish(&about);
        let mut machines = Collector::new("gcp");
        machines.left_out = left_out;
        machines.rows = rows;
        compose(&parts.entries, &mut machines);
        machines.finish(&about)
    }
}

/// A core (`n2 core`), a gigabyte (`n2 ram`) or a GPU (`gpu T4`) for an hour, in no region yet.
fn part(sku: &Sku, place: &dyn Fn() -> String) -> Result<Offer, Reason> {
    let is_compute = sku.category.resource_family == "Compute";
    refuse_if(!is_compute, Reason::OtherService)?;
    let paying = match sku.category.usage_type.as_str() {
        "OnDemand" => Paying::OnDemand,
        "Preemptible" => Paying::Spot,
        _ => return Err(Reason::OtherUsage),
    };
    let name = part_name(&sku.description).ok_or(Reason::PartOfMachine)?;
    refuse_if(sku.service_regions.is_empty(), Reason::NoRegion)?;
    // The last is the one in force.
    let info = sku.pricing_info.last().ok_or(Reason::ZeroPrice)?;
    let unit = match name.ends_with("ram") {
        true => "GiBy.h",
        false => "h",
    };
    let is_by_the_hour = info.pricing_expression.usage_unit == unit;
    refuse_if(!is_by_the_hour, Reason::OtherUnit)?;
    let [rate] = info.pricing_expression.tiered_rates.as_slice() else {
        return Err(Reason::Tiered);
    };
    Ok(Offer {
        machine: name,
        region: String::new(),
        paying,
        per_hour: rate.unit_price.money()?,
        shape: Shape::default(),
        since: day(&info.effective_time).to_owned(),
        place: place(),
    })
}

/// `n2 core` of `Spot Preemptible N2 Instance Core running in Americas`.
fn part_name(description: &str) -> Option<String> {
    let (words, what) = head(description).rsplit_once(' ')?;
    let what = what.to_ascii_lowercase();
    let find = |table: &[(&str, &'static str)]| {
        let known = table
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(words));
        known.map(|(_, name)| *name)
    };
    match what.as_str() {
        "core" | "ram" => Some(format!("{} {what}", find(FAMILIES)?)),
        "gpu" => Some(format!("gpu {}", find(GPUS)?)),
        _ => None,
    }
}

/// `Spot Preemptible N2 Instance Core running in Americas` prices an `N2 Instance Core`.
fn head(description: &str) -> &str {
    let head = description.split(" running in ").next().unwrap_or_default();
    let head = head.strip_prefix("Spot Preemptible ").unwrap_or(head);
    let head = head.strip_prefix("Preemptible ").unwrap_or(head);
    head.strip_suffix(" attached to Spot Preemptible VMs")
        .unwrap_or(head)
        .trim()
}

impl UnitPrice {
    fn money(&self) -> Result<Money, Reason> {
        let currency = known_currency(&self.currency_code).map_err(|_| Reason::UnknownCurrency)?;
        let units: i64 = match self.units.as_str() {
            "" => 0,
            units => units.parse().map_err(|_| Reason::NotANumber)?,
        };
        let exact = Decimal::from(units) + Decimal::new(self.nanos, 9);
        Ok(Money::new(amount(&exact.to_string())?, currency))
    }
}

/// Machines of which all parts have a price; those of which one lacks are said.
fn compose(parts: &[CatalogEntry], machines: &mut Collector) {
    let places: BTreeSet<(&str, Currency)> = parts
        .iter()
        .filter_map(|part| Some((part.region.as_str(), part.currency()?)))
        .collect();
    let shapes = gcp_shapes::machines();
    for (region, currency) in places {
        let here =
            |part: &&CatalogEntry| part.region == region && part.currency() == Some(currency);
        let here: Vec<&CatalogEntry> = parts.iter().filter(here).collect();
        for paying in Paying::ALL {
            let prices = Prices {
                parts: &here,
                paying,
            };
            for machine in &shapes {
                match prices.sum(machine) {
                    Ok(amount) => machines.add(Offer {
                        machine: machine.name.clone(),
                        region: region.to_owned(),
                        paying,
                        per_hour: Money::new(amount, currency),
                        shape: machine.shape.clone(),
                        since: String::new(),
                        place: format!("{region}, sum of its parts"),
                    }),
                    Err(Lacking::All) => {}
                    Err(Lacking::One { reason, part }) => machines.leave_out(reason, || {
                        format!("{}@{region}: no price of {part}", machine.name)
                    }),
                }
            }
        }
    }
}

enum Lacking {
    /// The machine is not offered there.
    All,
    One {
        reason: Reason,
        part: String,
    },
}

/// Prices of the parts in one region.
struct Prices<'p> {
    parts: &'p [&'p CatalogEntry],
    paying: Paying,
}

impl Prices<'_> {
    fn of(&self, part: &str) -> Option<Decimal> {
        let part = self.parts.iter().find(|entry| entry.machine == part)?;
        Some(part.quote(self.paying)?.per_hour.amount)
    }

    fn sum(&self, machine: &Machine) -> Result<Decimal, Lacking> {
        let names = ["core", "ram"].map(|part| format!("{} {part}", machine.family));
        let shape = &machine.shape;
        let (core, ram) = match (self.of(&names[0]), self.of(&names[1])) {
            (None, None) => return Err(Lacking::All),
            (Some(core), Some(ram)) => (core, ram),
            (known, _) => {
                let part = names[usize::from(known.is_some())].clone();
                let reason = Reason::PartMissing;
                return Err(Lacking::One { reason, part });
            }
        };
        let times = |price: Decimal, count: Option<Decimal>| price * count.unwrap_or_default();
        let gpus = match &shape.gpu {
            None => Decimal::ZERO,
            Some(gpu) => {
                let part = format!("gpu {}", gpu.kind);
                match self.of(&part) {
                    Some(price) => times(price, gpu.count),
                    // Few regions have GPUs for N1, and none is missing where there are none.
                    None if machine.family == "n1" => return Err(Lacking::All),
                    None => {
                        let reason = Reason::GpuMissing;
                        return Err(Lacking::One { reason, part });
                    }
                }
            }
        };
        Ok(times(core, shape.vcpus) + times(ram, shape.memory_gib) + gpus)
    }
}
