//! Prices of machines that can be rented: what is known of one, the list that comes with Bancada,
//! and how lists are put together.

mod file;
mod left_out;
mod lookup;
mod merge;
mod search;

use std::sync::LazyLock;

use model::money::PricedShape;
use model::{BillingRule, Money, Price};
use rust_decimal::Decimal;

pub use file::{CatalogFile, write_catalog};
pub use left_out::{LeftOut, Reason, Tally};
pub use lookup::{LookupError, LookupProblem, in_region, provider_named};
pub use merge::Builder;
pub use search::{Bound, GpuWanted, MachineMatches, MachineQuery, SortBy, same_shape, search};

use crate::rules;

/// The catalog that comes with Bancada: facts with their sources and dates, in the format of
/// every other catalog file.
pub fn catalog() -> &'static Catalog {
    // That every row of it is good is a test; a bad one must not stop a study here.
    static EMBEDDED: LazyLock<Catalog> = LazyLock::new(|| {
        Catalog::parse("the embedded catalog", include_str!("../../catalog.csv")).catalog
    });
    &EMBEDDED
}

/// Full names of the embedded catalog, in its order.
pub fn names() -> impl Iterator<Item = String> {
    catalog().entries.iter().map(CatalogEntry::name)
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Catalog {
    pub entries: Vec<CatalogEntry>,
}

/// One machine in one region, and what an hour of it costs in one currency.
#[derive(Debug, Clone, PartialEq)]
pub struct CatalogEntry {
    /// `azure`, `aws`, `gcp`, or whoever else lets machines.
    pub provider: String,
    pub machine: String,
    pub region: String,
    pub shape: Shape,
    pub on_demand: Option<Quote>,
    pub spot: Option<Quote>,
}

/// What is known of a machine. Sources of prices often do not say it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shape {
    /// Shared cores are parts of one.
    pub vcpus: Option<Decimal>,
    pub memory_gib: Option<Decimal>,
    /// `None` for machines without.
    pub gpu: Option<Gpu>,
    pub architecture: Option<Architecture>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gpu {
    /// `T4`, `A100-80GB`; accelerators that are no GPUs too.
    pub kind: String,
    /// Some machines have a part of one.
    pub count: Option<Decimal>,
    /// Of one of them.
    pub memory_gib: Option<Decimal>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    X86,
    Arm64,
}

impl Architecture {
    pub fn word(self) -> &'static str {
        match self {
            Architecture::X86 => "x86-64",
            Architecture::Arm64 => "arm64",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        match text.to_ascii_lowercase().as_str() {
            "x86-64" | "x86_64" | "x86" | "amd64" | "x64" => Some(Architecture::X86),
            "arm64" | "aarch64" | "arm" => Some(Architecture::Arm64),
            _ => None,
        }
    }
}

/// A price as it was read somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    pub per_hour: Money,
    pub source: String,
    /// `2026-08-22`: when it was read there. A year alone is where no day is known.
    pub date: String,
}

/// How a machine is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Paying {
    #[default]
    OnDemand,
    Spot,
}

impl Paying {
    pub const ALL: [Paying; 2] = [Paying::OnDemand, Paying::Spot];

    /// At the end of a name.
    fn mark(self) -> &'static str {
        match self {
            Paying::OnDemand => "",
            Paying::Spot => lookup::SPOT_MARK,
        }
    }
}

impl CatalogEntry {
    /// `azure/Standard_F4s_v2@eastus`.
    pub fn name(&self) -> String {
        format!("{}/{}@{}", self.provider, self.machine, self.region)
    }

    pub fn quote(&self, paying: Paying) -> Option<&Quote> {
        match paying {
            Paying::OnDemand => self.on_demand.as_ref(),
            Paying::Spot => self.spot.as_ref(),
        }
    }

    pub fn quote_mut(&mut self, paying: Paying) -> &mut Option<Quote> {
        match paying {
            Paying::OnDemand => &mut self.on_demand,
            Paying::Spot => &mut self.spot,
        }
    }

    /// What both prices are in; an entry without any is not made.
    pub fn currency(&self) -> Option<model::Currency> {
        let quote = self.on_demand.as_ref().or(self.spot.as_ref());
        quote.map(|quote| quote.per_hour.currency)
    }

    /// The provider's rule when the price was read. A rule that discounts long use is for machines
    /// that stay.
    fn billing(&self, paying: Paying, day: &str) -> BillingRule {
        let rule = rules().of_machine(&self.provider, &self.machine, day);
        let mut billing = rule.map_or_else(BillingRule::default, |rule| rule.billing(None));
        if paying == Paying::Spot {
            billing.discounts.clear();
        }
        billing
    }

    /// As a run is billed; a spot price says so in its name.
    pub fn price(&self, paying: Paying) -> Option<Price> {
        let quote = self.quote(paying)?;
        Some(Price {
            machine: format!("{}{}", self.name(), paying.mark()),
            per_hour: quote.per_hour,
            source: quote.source.clone(),
            date: quote.date.clone(),
            billing: self.billing(paying, &quote.date),
            changes: Vec::new(),
            own: None,
            shape: PricedShape {
                vcpus: self.shape.vcpus,
                memory_gib: self.shape.memory_gib,
                architecture: self.shape.architecture.map(|a| a.word().to_owned()),
            },
            sizes: Vec::new(),
        })
    }
}
