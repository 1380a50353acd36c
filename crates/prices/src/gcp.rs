//! The Google Cloud Billing Catalog: pages of SKUs, each the price of a core, a gigabyte or a GPU.
//! <https://cloud.google.com/billing/docs/reference/rest/v1/services.skus/list>

use std::collections::BTreeSet;

use cost::{CatalogEntry, Paying, Reason, known_currency};
use model::{Currency, Money};
use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::collect::{About, Collector, Offer, PriceList, Unreadable, amount, day};
use crate::gcp_shapes::{self, Machine};

pub(crate) const SOURCE: &str = "Google Cloud Billing Catalog";
const EXPECTED: &str = "a response of the Google Cloud Billing Catalog";

/// How a SKU's description begins → the part it prices. Others are custom machines, sole tenancy,
/// commitments, licences: not what a machine of the list is made of.
const PARTS: &[(&str, &str)] = &[
    ("N1 Predefined Instance Core", "n1 core"),
    ("N1 Predefined Instance Ram", "n1 ram"),
    ("N2 Instance Core", "n2 core"),
    ("N2 Instance Ram", "n2 ram"),
    ("N2D AMD Instance Core", "n2d core"),
    ("N2D AMD Instance Ram", "n2d ram"),
    ("E2 Instance Core", "e2 core"),
    ("E2 Instance Ram", "e2 ram"),
    ("Compute optimized Core", "c2 core"),
    ("Compute optimized Ram", "c2 ram"),
    ("Compute optimized Instance Core", "c2 core"),
    ("Compute optimized Instance Ram", "c2 ram"),
    ("C2D AMD Instance Core", "c2d core"),
    ("C2D AMD Instance Ram", "c2d ram"),
    ("C3 Instance Core", "c3 core"),
    ("C3 Instance Ram", "c3 ram"),
    ("T2D AMD Instance Core", "t2d core"),
    ("T2D AMD Instance Ram", "t2d ram"),
    ("T2A Arm Instance Core", "t2a core"),
    ("T2A Arm Instance Ram", "t2a ram"),
    ("A2 Instance Core", "a2 core"),
    ("A2 Instance Ram", "a2 ram"),
    ("G2 Instance Core", "g2 core"),
    ("G2 Instance Ram", "g2 ram"),
    ("Nvidia Tesla K80 GPU", "gpu K80"),
    ("Nvidia Tesla P100 GPU", "gpu P100"),
    ("Nvidia Tesla V100 GPU", "gpu V100"),
    ("Nvidia Tesla T4 GPU", "gpu T4"),
    ("Nvidia Tesla A100 GPU", "gpu A100"),
    ("Nvidia L4 GPU", "gpu L4"),
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<'p> {
    #[serde(borrow)]
    skus: Vec<&'p RawValue>,
    #[serde(default)]
    next_page_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sku {
    #[serde(default)]
    sku_id: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    category: Category,
    #[serde(default)]
    service_regions: Vec<String>,
    #[serde(default)]
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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PricingExpression {
    #[serde(default)]
    usage_unit: String,
    #[serde(default)]
    tiered_rates: Vec<Rate>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rate {
    unit_price: UnitPrice,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UnitPrice {
    #[serde(default)]
    currency_code: String,
    /// Whole units, in quotes because they may be large.
    #[serde(default)]
    units: String,
    #[serde(default)]
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
    pub fn page(&mut self, file: &str, text: &str) -> Result<Option<String>, Unreadable> {
        let text = text.trim_start_matches('\u{feff}');
        let page: Page<'_> =
            serde_json::from_str(text).map_err(|error| Unreadable::json(file, EXPECTED, &error))?;
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
        let part = match part(sku) {
            Ok(part) => part,
            Err(reason) => {
                let (id, description) = (&sku.sku_id, &sku.description);
                let place = || format!("{file}, SKU {id}: {description}");
                return self.parts.leave_out(reason, place);
            }
        };
        for region in &sku.service_regions {
            self.parts.add(Offer {
                machine: part.name.to_owned(),
                region: region.clone(),
                paying: part.paying,
                per_hour: part.per_hour,
                shape: Default::default(),
                since: part.since.clone(),
                place: format!("{file}, SKU {}", sku.sku_id),
            });
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

/// A core, a gigabyte or a GPU for an hour.
struct Part {
    name: &'static str,
    paying: Paying,
    per_hour: Money,
    since: String,
}

fn part(sku: &Sku) -> Result<Part, Reason> {
    if sku.category.resource_family != "Compute" {
        return Err(Reason::OtherService);
    }
    let paying = match sku.category.usage_type.as_str() {
        "OnDemand" => Paying::OnDemand,
        "Preemptible" => Paying::Spot,
        _ => return Err(Reason::OtherUsage),
    };
    let head = head(&sku.description);
    let known = PARTS
        .iter()
        .find(|(words, _)| words.eq_ignore_ascii_case(head));
    let (_, name) = known.ok_or(Reason::PartOfMachine)?;
    if sku.service_regions.is_empty() {
        return Err(Reason::NoRegion);
    }
    // The last is the one in force.
    let info = sku.pricing_info.last().ok_or(Reason::ZeroPrice)?;
    let unit = match name.ends_with("ram") {
        true => "GiBy.h",
        false => "h",
    };
    if info.pricing_expression.usage_unit != unit {
        return Err(Reason::OtherUnit);
    }
    let [rate] = info.pricing_expression.tiered_rates.as_slice() else {
        return Err(Reason::Tiered);
    };
    Ok(Part {
        name,
        paying,
        per_hour: rate.unit_price.money()?,
        since: day(&info.effective_time).to_owned(),
    })
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
        for paying in [Paying::OnDemand, Paying::Spot] {
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
        let [core, ram] = [self.of(&names[0]), self.of(&names[1])];
        let (core, ram) = match (core, ram) {
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
