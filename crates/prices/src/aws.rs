//! What a product of the AWS Price List is: a Linux machine by the hour, or one of the many other
//! things in it. Offer files and GetProducts answers have the same products and terms.

use std::collections::HashMap;

use cost::{Architecture, Gpu, Paying, Reason, Shape, known_currency};
use model::Money;
use rust_decimal::Decimal;
use serde::Deserialize;

use crate::aws_regions;
use crate::collect::{Collector, Offer, amount, day, number};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Product {
    #[serde(default)]
    pub(crate) sku: String,
    #[serde(default)]
    product_family: String,
    #[serde(default)]
    attributes: Attributes,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Attributes {
    instance_type: String,
    /// SageMaker's `ml.m5.xlarge`, where `instance_type` has the component added.
    instance_name: String,
    component: String,
    servicecode: String,
    operating_system: String,
    tenancy: String,
    #[serde(rename = "preInstalledSw")]
    pre_installed_software: String,
    capacitystatus: String,
    license_model: String,
    marketoption: String,
    operation: String,
    location: String,
    location_type: String,
    region_code: String,
    vcpu: String,
    /// As SageMaker writes it.
    #[serde(rename = "vCpu")]
    v_cpu: String,
    memory: String,
    gpu: String,
}

/// `terms.OnDemand.SKU`: offers by their codes.
pub(crate) type Terms = HashMap<String, Term>;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Term {
    #[serde(default)]
    effective_date: String,
    #[serde(default)]
    price_dimensions: HashMap<String, Dimension>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Dimension {
    #[serde(default)]
    unit: String,
    #[serde(default)]
    begin_range: String,
    #[serde(default)]
    price_per_unit: HashMap<String, String>,
}

/// A machine whose price is looked for.
#[derive(Debug)]
pub(crate) struct Machine {
    name: String,
    region: String,
    shape: Shape,
}

impl Product {
    pub(crate) fn machine(&self) -> Result<Machine, Reason> {
        let a = &self.attributes;
        let name = match a.servicecode.as_str() {
            "AmazonSageMaker" => self.sagemaker()?,
            _ => self.ec2()?,
        };
        if !matches!(a.location_type.as_str(), "" | "AWS Region") {
            return Err(Reason::OtherRegion);
        }
        let region = match a.region_code.as_str() {
            "" => aws_regions::code(&a.location).ok_or(Reason::NoRegion)?,
            code => code,
        };
        let vcpus = [&a.vcpu, &a.v_cpu]
            .into_iter()
            .find_map(|text| number(text));
        Ok(Machine {
            name: name.to_owned(),
            region: region.to_owned(),
            shape: Shape {
                vcpus,
                memory_gib: a.memory.split_whitespace().next().and_then(number),
                gpu: gpu(name, number(&a.gpu)),
                architecture: Some(architecture(name)),
            },
        })
    }

    fn ec2(&self) -> Result<&str, Reason> {
        let a = &self.attributes;
        let is = |value: &str, wanted: &str| value.is_empty() || value == wanted;
        if !self.product_family.starts_with("Compute Instance") {
            return Err(Reason::OtherService);
        }
        if a.operating_system != "Linux" || !is(&a.license_model, "No License required") {
            return Err(Reason::OtherSystem);
        }
        if a.tenancy != "Shared" {
            return Err(Reason::OtherTenancy);
        }
        if !is(&a.pre_installed_software, "NA") {
            return Err(Reason::OtherSoftware);
        }
        if !is(&a.capacitystatus, "Used") {
            return Err(Reason::CapacityReservation);
        }
        if !is(&a.marketoption, "OnDemand") {
            return Err(Reason::OtherUsage);
        }
        if !is(&a.operation, "RunInstances") {
            return Err(Reason::OtherSoftware);
        }
        match a.instance_type.as_str() {
            "" => Err(Reason::NoMachine),
            name => Ok(name),
        }
    }

    /// Machines of real-time endpoints; notebooks and training have prices of their own.
    fn sagemaker(&self) -> Result<&str, Reason> {
        let a = &self.attributes;
        if a.instance_name.is_empty() {
            return Err(Reason::OtherService);
        }
        match a.component.eq_ignore_ascii_case("Hosting") {
            true => Ok(&a.instance_name),
            false => Err(Reason::OtherUsage),
        }
    }
}

impl Machine {
    /// The on-demand price of this machine's terms.
    pub(crate) fn price(self, sku: &str, terms: &Terms, collector: &mut Collector) {
        let mut left_out = |reason| {
            let (name, region) = (&self.name, &self.region);
            collector.leave_out(reason, || format!("SKU {sku}: {name}@{region}"));
        };
        let mut offers = Vec::new();
        for term in terms.values() {
            for dimension in term.price_dimensions.values() {
                match dimension.per_hour() {
                    Ok(prices) => offers.extend(prices.into_iter().map(|per_hour| Offer {
                        machine: self.name.clone(),
                        region: self.region.clone(),
                        paying: Paying::OnDemand,
                        per_hour,
                        shape: self.shape.clone(),
                        since: day(&term.effective_date).to_owned(),
                        place: format!("SKU {sku}"),
                    })),
                    Err(reason) => left_out(reason),
                }
            }
        }
        for offer in offers {
            collector.add(offer);
        }
    }
}

impl Dimension {
    fn per_hour(&self) -> Result<Vec<Money>, Reason> {
        if self.unit != "Hrs" {
            return Err(Reason::OtherUnit);
        }
        if !matches!(self.begin_range.as_str(), "" | "0") {
            return Err(Reason::Tiered);
        }
        if self.price_per_unit.is_empty() {
            return Err(Reason::ZeroPrice);
        }
        let price = |(code, text): (&String, &String)| {
            let currency = known_currency(code).map_err(|_| Reason::UnknownCurrency)?;
            Ok(Money::new(amount(text)?, currency))
        };
        self.price_per_unit.iter().map(price).collect()
    }
}

/// Accelerators by the family of the machine: the price list has their number only. From
/// docs.aws.amazon.com/ec2/latest/instancetypes (2025).
struct Accelerator {
    family: &'static str,
    kind: &'static str,
    memory_gib: u32,
}

const fn accelerator(family: &'static str, kind: &'static str, memory_gib: u32) -> Accelerator {
    Accelerator {
        family,
        kind,
        memory_gib,
    }
}

const ACCELERATORS: &[Accelerator] = &[
    accelerator("p2", "K80", 12),
    accelerator("p3", "V100", 16),
    accelerator("p3dn", "V100", 32),
    accelerator("p4d", "A100", 40),
    accelerator("p4de", "A100-80GB", 80),
    accelerator("p5", "H100", 80),
    accelerator("p5e", "H200", 141),
    accelerator("p5en", "H200", 141),
    accelerator("g3", "M60", 8),
    accelerator("g3s", "M60", 8),
    accelerator("g4dn", "T4", 16),
    accelerator("g4ad", "Radeon-V520", 8),
    accelerator("g5", "A10G", 24),
    accelerator("g5g", "T4G", 16),
    accelerator("g6", "L4", 24),
    accelerator("gr6", "L4", 24),
    accelerator("g6e", "L40S", 48),
    accelerator("inf1", "Inferentia", 8),
    accelerator("inf2", "Inferentia2", 32),
    accelerator("trn1", "Trainium", 32),
    accelerator("trn1n", "Trainium", 32),
];

/// `g4dn` of `g4dn.xlarge` and of `ml.g4dn.xlarge`.
fn family(machine: &str) -> &str {
    let machine = machine.strip_prefix("ml.").unwrap_or(machine);
    machine.split('.').next().unwrap_or(machine)
}

fn gpu(machine: &str, count: Option<Decimal>) -> Option<Gpu> {
    let known = ACCELERATORS.iter().find(|a| a.family == family(machine));
    match (known, count) {
        (Some(known), count) => Some(Gpu {
            kind: known.kind.to_owned(),
            count,
            memory_gib: Some(known.memory_gib.into()),
        }),
        (None, Some(count)) => Some(Gpu {
            kind: "unknown".to_owned(),
            count: Some(count),
            memory_gib: None,
        }),
        (None, None) => None,
    }
}

/// A `g` after the generation is a Graviton: `m6g`, `c7gn`, `t4g`; so is all of `a1`.
pub(crate) fn architecture(machine: &str) -> Architecture {
    let family = family(machine);
    let after = family.trim_start_matches(|c: char| !c.is_ascii_digit());
    let features = after.trim_start_matches(|c: char| c.is_ascii_digit());
    match family == "a1" || features.contains('g') {
        true => Architecture::Arm64,
        false => Architecture::X86,
    }
}
