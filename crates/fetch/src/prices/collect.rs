//! Rows of price lists gathered into a catalog: what is there twice must agree.

use std::collections::HashMap;

use cost::{Builder, Catalog, CatalogEntry, Paying, Quote, Reason, Shape, Tally};
use model::{Currency, Money};
use rust_decimal::Decimal;
use serde::Deserialize;

use crate::FetchError;

/// Where a list comes from, for its prices and for messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// `Azure Retail Prices API`.
    pub source: String,
    /// `2026-11-16`: when it was read, unless the list says when it was published.
    pub date: String,
}

/// What a list gave.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PriceList {
    pub catalog: Catalog,
    pub left_out: Tally,
    /// Rows, items, products, reserved terms or SKUs that were looked at.
    pub rows: u64,
    /// Prices that were there already: the same one again, or a more expensive zone of the region.
    pub repeated: u64,
}

impl About {
    /// With the date that the list itself has, if it has one.
    pub(crate) fn published(&self, date: Option<String>) -> About {
        About {
            source: self.source.clone(),
            date: date.unwrap_or_else(|| self.date.clone()),
        }
    }
}

impl PriceList {
    /// On-demand and spot prices that are used. With those repeated and left out, they are all
    /// that the list has.
    pub fn kept(&self) -> u64 {
        let entries = self.catalog.entries.iter();
        let quotes = entries.flat_map(|entry| Paying::ALL.map(|paying| entry.quote(paying)));
        quotes.flatten().count() as u64
    }

    /// A day that has not come is an error, and its price would be the newest until then.
    pub fn leave_out_after(&mut self, today: &str) {
        let left_out = &mut self.left_out;
        for entry in &mut self.catalog.entries {
            let name = entry.name();
            for quote in [&mut entry.on_demand, &mut entry.spot] {
                if let Some(wrong) = quote.take_if(|quote| quote.date.as_str() > today) {
                    left_out.count(Reason::FutureDate, || format!("{name}: {}", wrong.date));
                }
            }
        }
        self.drop_unpriced();
    }

    /// Of one day a machine has one price: where rows say several, none of them can be trusted.
    pub(crate) fn leave_out_disagreeing(&mut self) {
        let mut known: HashMap<(Key, String), Option<Decimal>> = HashMap::new();
        let keyed = |entry: &CatalogEntry, quote: &Quote, paying: Paying| {
            let key = Key {
                machine: format!("{}/{}", entry.provider, entry.machine),
                region: entry.region.clone(),
                currency: quote.per_hour.currency,
                paying,
            };
            (key, quote.date.clone())
        };
        for entry in &self.catalog.entries {
            for paying in Paying::ALL {
                let Some(quote) = entry.quote(paying) else {
                    continue;
                };
                let amount = quote.per_hour.amount;
                known
                    .entry(keyed(entry, quote, paying))
                    .and_modify(|first| *first = first.filter(|first| *first == amount))
                    .or_insert(Some(amount));
            }
        }
        for entry in &mut self.catalog.entries {
            for paying in Paying::ALL {
                let is_wrong =
                    |quote: &&Quote| known.get(&keyed(entry, quote, paying)) == Some(&None);
                if let Some(quote) = entry.quote(paying).filter(is_wrong) {
                    let said = format!("{}: {}", entry.name(), quote.per_hour.amount);
                    self.left_out.count(Reason::Disagreeing, || said);
                    *entry.quote_mut(paying) = None;
                }
            }
        }
        self.drop_unpriced();
    }

    fn drop_unpriced(&mut self) {
        let entries = &mut self.catalog.entries;
        entries.retain(|entry| entry.currency().is_some());
    }
}

/// A price of a machine, as a row says it.
#[derive(Debug, Clone)]
pub(crate) struct Offer {
    pub(crate) machine: String,
    pub(crate) region: String,
    pub(crate) paying: Paying,
    pub(crate) per_hour: Money,
    pub(crate) shape: Shape,
    /// From when on the price holds, where the list says it.
    pub(crate) since: String,
    /// For messages: `vms.csv:12`.
    pub(crate) place: String,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    machine: String,
    region: String,
    currency: Currency,
    paying: Paying,
}

struct Slot {
    offer: Offer,
    /// How many more rows offered the same.
    repeated: u64,
    disagrees: bool,
}

/// Prices of one provider.
#[derive(Default)]
pub(crate) struct Collector {
    provider: String,
    slots: HashMap<Key, usize>,
    /// In the order they came.
    list: Vec<Slot>,
    pub(crate) left_out: Tally,
    pub(crate) rows: u64,
    /// Spot prices differ from zone to zone of a region: the lowest is kept.
    pub(crate) zones_have_spot_prices: bool,
}

impl Collector {
    pub(crate) fn new(provider: &str) -> Self {
        Collector {
            provider: provider.to_owned(),
            ..Collector::default()
        }
    }

    pub(crate) fn leave_out(&mut self, reason: Reason, place: impl FnOnce() -> String) {
        self.left_out.count(reason, place);
    }

    pub(crate) fn add(&mut self, offer: Offer) {
        let key = Key {
            machine: offer.machine.clone(),
            region: offer.region.clone(),
            currency: offer.per_hour.currency,
            paying: offer.paying,
        };
        match self.slots.get(&key) {
            Some(&place) => self.again(place, offer),
            None => {
                self.slots.insert(key, self.list.len());
                self.list.push(Slot {
                    offer,
                    repeated: 0,
                    disagrees: false,
                });
            }
        }
    }

    /// A price that is there already: the same, a newer one, another zone's, or a contradiction.
    fn again(&mut self, place: usize, offer: Offer) {
        let slot = &mut self.list[place];
        let left_out = &mut self.left_out;
        let (known, new) = (slot.offer.per_hour.amount, offer.per_hour.amount);
        if known == new && !slot.disagrees {
            slot.repeated += 1;
        } else if slot.offer.since != offer.since {
            let older = match slot.offer.since < offer.since {
                true => {
                    for _ in 0..std::mem::take(&mut slot.repeated) {
                        left_out.count(Reason::Superseded, || shown(&slot.offer));
                    }
                    slot.disagrees = false;
                    std::mem::replace(&mut slot.offer, offer)
                }
                false => offer,
            };
            left_out.count(Reason::Superseded, || shown(&older));
        } else if self.zones_have_spot_prices && offer.paying == Paying::Spot {
            slot.repeated += 1;
            if new < known {
                slot.offer = offer;
            }
        } else {
            if !std::mem::replace(&mut slot.disagrees, true) {
                for _ in 0..=std::mem::take(&mut slot.repeated) {
                    left_out.count(Reason::Disagreeing, || shown(&slot.offer));
                }
            }
            left_out.count(Reason::Disagreeing, || shown(&offer));
        }
    }

    /// Rows that disagree are all left out: none of them can be trusted.
    pub(crate) fn finish(self, about: &About) -> PriceList {
        let mut builder = Builder::default();
        let repeated = self.list.iter().map(|slot| slot.repeated).sum();
        for slot in self.list.into_iter().filter(|slot| !slot.disagrees) {
            let offer = slot.offer;
            let mut entry = CatalogEntry {
                provider: self.provider.clone(),
                machine: offer.machine,
                region: offer.region,
                shape: offer.shape,
                on_demand: None,
                spot: None,
            };
            *entry.quote_mut(offer.paying) = Some(Quote {
                per_hour: Money::new(offer.per_hour.amount.normalize(), offer.per_hour.currency),
                source: about.source.clone(),
                date: about.date.clone(),
            });
            builder.add(entry);
        }
        PriceList {
            catalog: builder.finish(),
            left_out: self.left_out,
            rows: self.rows,
            repeated,
        }
    }
}

fn shown(offer: &Offer) -> String {
    let Money { amount, currency } = offer.per_hour;
    format!(
        "{}: {}@{} {amount} {currency}",
        offer.place, offer.machine, offer.region
    )
}

/// A price as it stands in a list: decimal digits, never a binary fraction on the way. Zero means
/// that the price is not known. Who wrote the list may have computed in binary fractions
/// (`1.8214000000000001`): digits beyond those that such a number holds are no price.
pub(crate) fn amount(text: &str) -> Result<Decimal, Reason> {
    let text = text.trim();
    let value = text
        .parse::<Decimal>()
        .or_else(|_| Decimal::from_scientific(text))
        .map_err(|_| Reason::NotANumber)?;
    let value = value.round_sf(FLOAT_DIGITS).unwrap_or(value).normalize();
    match value {
        zero if zero.is_zero() => Err(Reason::ZeroPrice),
        negative if negative.is_sign_negative() => Err(Reason::Negative),
        value if value > MOST_PER_HOUR => Err(Reason::NotANumber),
        value => Ok(value),
    }
}

/// Decimal digits that survive a binary floating-point number of 64 bits.
const FLOAT_DIGITS: u32 = 15;

/// Beyond every machine for rent, in the smallest currencies too, and far from what decimals can
/// count: sums and products of prices stay in range.
const MOST_PER_HOUR: Decimal = Decimal::from_parts(1_000_000_000, 0, 0, false, 0);

/// A number of cores or gigabytes; what is no such number is not known.
pub(crate) fn number(text: &str) -> Option<Decimal> {
    let plain: String = text.chars().filter(|c| *c != ',').collect();
    let value = plain.trim().parse::<Decimal>().ok()?;
    (value > Decimal::ZERO).then(|| value.normalize())
}

/// `2025-11-01T00:00:00Z` is of the day `2025-11-01`.
pub(crate) fn day(time: &str) -> &str {
    time.get(..10).unwrap_or(time)
}

/// What a page or a file of JSON holds.
pub(crate) fn from_json<'t, T: Deserialize<'t>>(
    file: &str,
    expected: &str,
    text: &'t str,
) -> Result<T, FetchError> {
    serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| FetchError::json(file, expected, &error))
}

/// Fails with the reason for which a row is not used.
pub(crate) fn refuse_if(unwanted: bool, reason: Reason) -> Result<(), Reason> {
    match unwanted {
        true => Err(reason),
        false => Ok(()),
    }
}

/// The digits at the beginning, and the rest.
pub(crate) fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit());
    text.split_at(end.unwrap_or(text.len()))
}
