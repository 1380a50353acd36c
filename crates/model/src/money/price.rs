//! What a machine costs.

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde::{Deserialize, Serialize};

use super::{BillingRule, Charge, Money};
use crate::Timestamp;

/// What an hour of a machine costs, and how time becomes money there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// `azure/Standard_F4s_v2@eastus`, or `own` for a price written in the study.
    pub machine: String,
    pub per_hour: Money,
    /// Where the number was read.
    pub source: String,
    /// `2024-03-01`: when it was read there.
    pub date: String,
    pub billing: BillingRule,
    /// What takes the place of `per_hour` from a moment on, in order of time: a market's price.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<PriceChange>,
    /// Of a machine that was bought: what `per_hour` was made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnMachine>,
    #[serde(default, skip_serializing_if = "PricedShape::is_unknown")]
    pub shape: PricedShape,
    /// Smaller machines of the same offer: what a run on fewer cores pays instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<Price>,
}

/// What a machine for that price is, as far as its catalog says.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PricedShape {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vcpus: Option<Decimal>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_gib: Option<Decimal>,
    /// `x86-64`, `arm64`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
}

impl PricedShape {
    pub fn is_unknown(&self) -> bool {
        *self == PricedShape::default()
    }

    /// Whether a run on so many cores has room there; what is not known has.
    pub fn holds(&self, cores: f64) -> bool {
        let vcpus = self.vcpus.and_then(|vcpus| vcpus.to_f64());
        vcpus.is_none_or(|vcpus| cores <= vcpus)
    }
}

impl Price {
    /// What stands for the machine of a price that was typed in.
    pub const TYPED_IN: &str = "own";

    /// By the second, with nothing else known of it.
    pub fn typed_in(per_hour: Money) -> Price {
        Price {
            machine: Price::TYPED_IN.to_owned(),
            per_hour,
            source: String::new(),
            date: String::new(),
            billing: BillingRule::default(),
            changes: Vec::new(),
            own: None,
            shape: PricedShape::default(),
            sizes: Vec::new(),
        }
    }

    /// As people know it: a price that was typed in goes by its environment.
    pub fn name_in<'n>(&'n self, environment: &'n str) -> &'n str {
        match self.machine == Price::TYPED_IN {
            true => environment,
            false => &self.machine,
        }
    }

    /// Of all sizes the cheapest that has the cores; the largest where they are not said.
    #[must_use]
    pub fn for_cores(&self, cores: Option<f64>) -> Price {
        let largest = || Price {
            sizes: Vec::new(),
            ..self.clone()
        };
        let Some(cores) = cores else {
            return largest();
        };
        let all = self.sizes.iter().cloned().chain([largest()]);
        let fitting = all.filter(|size| size.shape.holds(cores));
        let cheapest = fitting.min_by_key(|size| size.per_hour.amount);
        cheapest.unwrap_or_else(largest)
    }

    /// Each size by itself changed, whichever of them is then the largest.
    #[must_use]
    pub fn of_sizes(&self, change: impl Fn(&Price) -> Price) -> Price {
        let alone = |size: &Price| Price {
            sizes: Vec::new(),
            ..size.clone()
        };
        let mut all: Vec<Price> = self.all_sizes().map(|size| change(&alone(size))).collect();
        all.sort_by_key(|size| size.shape.vcpus);
        let largest = all.pop().unwrap_or_else(|| alone(self));
        Price {
            sizes: all,
            ..largest
        }
    }

    /// It and its sizes, the smallest first.
    pub fn all_sizes(&self) -> impl Iterator<Item = &Price> {
        self.sizes.iter().chain([self])
    }

    /// For all machines of a run: time and whatever goes with a machine are paid for each.
    pub fn of_machines(&mut self, machines: u32) {
        let times = Decimal::from(machines);
        self.machine = format!("{machines} × {}", self.machine);
        self.per_hour.amount = self.per_hour.amount.saturating_mul(times);
        for change in &mut self.changes {
            change.per_hour = change.per_hour.saturating_mul(times);
        }
        let of_a_machine = |charge: &&mut Charge| charge.unit.is_time();
        for charge in self.billing.charges.iter_mut().filter(of_a_machine) {
            charge.quantity = charge.quantity.saturating_mul(times);
        }
    }
}

/// Of a price that moves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriceChange {
    pub from: Timestamp,
    /// In the price's currency.
    #[serde(with = "rust_decimal::serde::str")]
    pub per_hour: Decimal,
}

/// A machine that was bought, not rented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnMachine {
    pub purchase: Money,
    /// How long it will be used.
    #[serde(with = "rust_decimal::serde::str")]
    pub years: Decimal,
    /// Drawn from the wall while it works.
    #[serde(with = "rust_decimal::serde::str")]
    pub watts: Decimal,
    pub electricity_per_kilowatt_hour: Money,
    /// Hours of a day that it works: a machine that idles half the day costs twice as much an
    /// hour of work. `None` means all 24.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours_per_day: Option<Decimal>,
}
