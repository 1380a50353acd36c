//! Search in the catalog: minimum cores, kind of GPU, maximum price.

use std::cmp::Ordering;

use model::{Currency, Money};
use rust_decimal::Decimal;

use super::{Architecture, Catalog, CatalogEntry, Gpu, Paying, Shape, provider_named};

/// A number that is requested: `4` is at least 4, `=4` exactly, `4-8` between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    pub least: Decimal,
    pub most: Option<Decimal>,
}

impl Bound {
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("`{text}` is not a number such as 4 (at least), =4 (exactly) or 4-8 (between)")
        };
        let number = |text: &str| text.trim().parse::<Decimal>().map_err(|_| wrong());
        let (least, most) = match (text.strip_prefix('='), text.split_once('-')) {
            (Some(exact), _) => (exact, Some(exact)),
            (None, Some((least, most))) => (least, Some(most)),
            (None, None) => (text, None),
        };
        let bound = Bound {
            least: number(least)?,
            most: most.map(number).transpose()?,
        };
        let reversed = bound.most.is_some_and(|most| most < bound.least);
        match reversed || bound.least < Decimal::ZERO {
            true => Err(wrong()),
            false => Ok(bound),
        }
    }

    fn holds(&self, value: Decimal) -> bool {
        value >= self.least && self.most.is_none_or(|most| value <= most)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GpuWanted {
    /// A machine without.
    None,
    Any,
    /// `A100` is found as `A100-80GB` too.
    Kind(String),
}

impl GpuWanted {
    pub fn parse(text: &str) -> Self {
        match text.to_ascii_lowercase().as_str() {
            "none" => GpuWanted::None,
            "any" => GpuWanted::Any,
            _ => GpuWanted::Kind(text.to_owned()),
        }
    }

    fn holds(&self, gpu: Option<&Gpu>) -> bool {
        match (self, gpu) {
            (GpuWanted::None, gpu) => gpu.is_none(),
            (GpuWanted::Any, gpu) => gpu.is_some(),
            (GpuWanted::Kind(kind), Some(gpu)) => {
                let head = gpu.kind.get(..kind.len());
                let rest = gpu.kind.get(kind.len()..).unwrap_or_default();
                head.is_some_and(|head| head.eq_ignore_ascii_case(kind))
                    && (rest.is_empty() || rest.starts_with('-'))
            }
            (GpuWanted::Kind(_), None) => false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortBy {
    #[default]
    Price,
    Vcpus,
    Memory,
}

/// What is looked for; what is not said may be anything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MachineQuery {
    pub provider: Option<String>,
    pub region: Option<String>,
    pub vcpus: Option<Bound>,
    pub memory_gib: Option<Bound>,
    pub gpu: Option<GpuWanted>,
    pub gpus: Option<Bound>,
    pub architecture: Option<Architecture>,
    pub currency: Option<Currency>,
    pub most_per_hour: Option<Money>,
    pub paying: Paying,
    pub sort: SortBy,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct MachineMatches<'c> {
    pub entries: Vec<&'c CatalogEntry>,
    /// Fit as far as is known, but their cores, memory or processor are not known.
    pub of_unknown_shape: usize,
    /// Fit, but have no price of the kind that is requested.
    pub without_price: usize,
    /// Fit, but are priced in another currency than the limit.
    pub of_other_currency: usize,
}

pub fn search<'c>(catalog: &'c Catalog, wanted: &MachineQuery) -> MachineMatches<'c> {
    let mut found = MachineMatches::default();
    for entry in &catalog.entries {
        if !is_there(entry, wanted) {
            continue;
        }
        match fits(&entry.shape, wanted) {
            Some(true) => {}
            Some(false) => continue,
            None => {
                found.of_unknown_shape += 1;
                continue;
            }
        }
        let Some(quote) = entry.quote(wanted.paying) else {
            found.without_price += 1;
            continue;
        };
        match wanted.most_per_hour {
            Some(most) if most.currency != quote.per_hour.currency => found.of_other_currency += 1,
            Some(most) if quote.per_hour.amount > most.amount => {}
            _ => found.entries.push(entry),
        }
    }
    found.entries.sort_by(|a, b| order(a, b, wanted));
    found
}

fn is_there(entry: &CatalogEntry, wanted: &MachineQuery) -> bool {
    let provider = wanted.provider.as_deref().map(provider_named);
    provider.is_none_or(|provider| entry.provider == provider)
        && wanted
            .region
            .as_ref()
            .is_none_or(|region| entry.region == *region)
        && wanted.currency.is_none_or(|c| entry.currency() == Some(c))
        && wanted
            .gpu
            .as_ref()
            .is_none_or(|gpu| gpu.holds(entry.shape.gpu.as_ref()))
}

/// `None` if it is not known.
fn fits(shape: &Shape, wanted: &MachineQuery) -> Option<bool> {
    let holds = |bound: Option<Bound>, value: Option<Decimal>| match bound {
        None => Some(true),
        Some(bound) => value.map(|value| bound.holds(value)),
    };
    let gpus = shape
        .gpu
        .as_ref()
        .map_or(Some(Decimal::ZERO), |gpu| gpu.count);
    let architecture = match wanted.architecture {
        None => Some(true),
        Some(wanted) => shape.architecture.map(|known| known == wanted),
    };
    let answers = [
        holds(wanted.vcpus, shape.vcpus),
        holds(wanted.memory_gib, shape.memory_gib),
        holds(wanted.gpus, gpus),
        architecture,
    ];
    match answers.contains(&Some(false)) {
        true => Some(false),
        false => answers.iter().all(Option::is_some).then_some(true),
    }
}

/// Amounts of two currencies do not compare: each currency is a group of its own, dollars first.
fn order(a: &CatalogEntry, b: &CatalogEntry, wanted: &MachineQuery) -> Ordering {
    let amount = |e: &CatalogEntry| e.quote(wanted.paying).map(|q| q.per_hour.amount);
    let by_price = || {
        let group = |e: &CatalogEntry| (e.currency() != Some(Currency::USD), e.currency());
        let currencies = group(a).cmp(&group(b));
        currencies.then_with(|| amount(a).cmp(&amount(b)))
    };
    let by_name =
        || (&a.provider, &a.machine, &a.region).cmp(&(&b.provider, &b.machine, &b.region));
    let first = match wanted.sort {
        SortBy::Price => Ordering::Equal,
        SortBy::Vcpus => a.shape.vcpus.cmp(&b.shape.vcpus),
        SortBy::Memory => a.shape.memory_gib.cmp(&b.shape.memory_gib),
    };
    first.then_with(by_price).then_with(by_name)
}

/// What a machine of this shape could be exchanged for: as many cores and as much memory at
/// least, at most twice as many cores, the same kind and number of GPUs.
pub fn same_shape(shape: &Shape) -> MachineQuery {
    let two = Decimal::TWO;
    MachineQuery {
        vcpus: shape.vcpus.map(|vcpus| Bound {
            least: vcpus,
            most: Some(vcpus.saturating_mul(two)),
        }),
        memory_gib: shape.memory_gib.map(|least| Bound { least, most: None }),
        gpu: Some(match &shape.gpu {
            Some(gpu) => GpuWanted::Kind(gpu.kind.clone()),
            None => GpuWanted::None,
        }),
        gpus: shape
            .gpu
            .as_ref()
            .and_then(|gpu| gpu.count)
            .map(|count| Bound {
                least: count,
                most: Some(count),
            }),
        ..MachineQuery::default()
    }
}
