//! What a product of the AWS Price List is: a Linux machine by the hour, or one of the many other
//! things in it. Offer files and GetProducts answers have the same products and terms.

use std::collections::HashMap;

use cost::{Architecture, Gpu, Paying, Reason, Shape, known_currency};
use model::Money;
use rust_decimal::Decimal;
use serde::Deserialize;

use crate::prices::aws_regions;
use crate::prices::collect::{Collector, Offer, amount, day, number, refuse_if};

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Product {
    pub(crate) sku: String,
    product_family: String,
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

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Term {
    effective_date: String,
    price_dimensions: HashMap<String, Dimension>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Dimension {
    unit: String,
    begin_range: String,
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
        let in_a_region = matches!(a.location_type.as_str(), "" | "AWS Region");
        refuse_if(!in_a_region, Reason::OtherRegion)?;
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
        let is_machine = self.product_family.starts_with("Compute Instance");
        refuse_if(!is_machine, Reason::OtherService)?;
        let is_free = is(&a.license_model, "No License required");
        refuse_if(
            a.operating_system != "Linux" || !is_free,
            Reason::OtherSystem,
        )?;
        refuse_if(a.tenancy != "Shared", Reason::OtherTenancy)?;
        refuse_if(!is(&a.pre_installed_software, "NA"), Reason::OtherSoftware)?;
        refuse_if(!is(&a.capacitystatus, "Used"), Reason::CapacityReservation)?;
        refuse_if(!is(&a.marketoption, "OnDemand"), Reason::OtherUsage)?;
        refuse_if(!is(&a.operation, "RunInstances"), Reason::OtherSoftware)?;
        refuse_if(a.instance_type.is_empty(), Reason::NoMachine)?;
        Ok(&a.instance_type)
    }

    /// Machines of real-time endpoints; notebooks and training have prices of their own.
    fn sagemaker(&self) -> Result<&str, Reason> {
        let a = &self.attributes;
        refuse_if(a.instance_name.is_empty(), Reason::OtherService)?;
        let is_hosting = a.component.eq_ignore_ascii_case("Hosting");
        refuse_if(!is_hosting, Reason::OtherUsage)?;
        Ok(&a.instance_name)
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
        refuse_if(self.unit != "Hrs", Reason::OtherUnit)?;
        let from_zero = matches!(self.begin_range.as_str(), "" | "0");
        refuse_if(!from_zero, Reason::Tiered)?;
        refuse_if(self.price_per_unit.is_empty(), Reason::ZeroPrice)?;
        let price = |(code, text): (&String, &String)| {
            let currency = known_currency(code).map_err(|_| Reason::UnknownCurrency)?;
            Ok(Money::new(amount(text)?, currency))
        };
        self.price_per_unit.iter().map(price).collect()
    }
}

/// Accelerators by the family of the machine, with the memory of one in GiB: the price list has
/// their number only. From docs.aws.amazon.com/ec2/latest/instancetypes (2025).
const ACCELERATORS: &[(&str, &str, u32)] = &[
    ("p2", "K80", 12),
    ("p3", "V100", 16),
    ("p3dn", "V100", 32),
    ("p4d", "A100", 40),
    ("p4de", "A100-80GB", 80),
    ("p5", "H100", 80),
    ("p5e", "H200", 141),
    ("p5en", "H200", 141),
    ("g3", "M60", 8),
    ("g3s", "M60", 8),
    ("g4dn", "T4", 16),
    ("g4ad", "Radeon-V520", 8),
    ("g5", "A10G", 24),
    ("g5g", "T4G", 16),
    ("g6", "L4", 24),
    ("gr6", "L4", 24),
    ("g6e", "L40S", 48),
    ("inf1", "Inferentia", 8),
    ("inf2", "Inferentia2", 32),
    ("trn1", "Trainium", 32),
    ("trn1n", "Trainium", 32),
];

/// `g4dn` of `g4dn.xlarge` and of `ml.g4dn.xlarge`.
fn family(machine: &str) -> &str {
    let machine = machine.strip_prefix("ml.").unwrap_or(machine);
    machine.split('.').next().unwrap_or(machine)
}

fn gpu(machine: &str, count: Option<Decimal>) -> Option<Gpu> {
    let family = family(machine);
    let known = ACCELERATORS.iter().find(|(of, ..)| *of == family);
    let (kind, memory_gib) = match known {
        Some((_, kind, memory_gib)) => (*kind, Some(Decimal::from(*memory_gib))),
        None if count.is_some() => ("unknown", None),
        None => return None,
    };
    Some(Gpu {
        kind: kind.to_owned(),
        count,
        memory_gib,
    })
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
