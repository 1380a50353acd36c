//! Offer files of the AWS Price List: hundreds of megabytes of JSON, read as a stream, with only
//! the machines kept that are looked for.

use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead, BufReader, Read};

use cost::Reason;
use model::KnownDate;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::aws::{Machine, Product, Terms};
use crate::collect::{About, Collector, PriceList, Unreadable, day};

pub(crate) const SOURCE: &str = "AWS Price List";
const EXPECTED: &str = "an offer file of the AWS Price List";

/// The date of the prices is the one on which the file was published.
pub fn read(file: &str, reader: impl Read, about: &About) -> Result<PriceList, Unreadable> {
    let mut state = State {
        collector: Collector::new("aws"),
        machines: HashMap::new(),
        early: HashMap::new(),
        published: None,
        has_products: false,
    };
    let mut reader = BufReader::with_capacity(1 << 18, reader);
    skip_mark(&mut reader).map_err(|error| Unreadable {
        file: file.to_owned(),
        why: error.to_string(),
    })?;
    let mut json = serde_json::Deserializer::from_reader(reader);
    let wrong = |error: serde_json::Error| Unreadable::json(file, EXPECTED, &error);
    OfferFile(&mut state)
        .deserialize(&mut json)
        .map_err(wrong)?;
    json.end().map_err(wrong)?;
    if !state.has_products {
        return Err(Unreadable {
            file: file.to_owned(),
            why: format!("not {EXPECTED}: it has no products"),
        });
    }
    let about = About {
        date: state.published.clone().unwrap_or(about.date.clone()),
        ..about.clone()
    };
    Ok(state.finish().finish(&about))
}

/// A byte-order mark is no JSON.
fn skip_mark(reader: &mut impl BufRead) -> std::io::Result<()> {
    if reader.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
        reader.consume(3);
    }
    Ok(())
}

struct State {
    collector: Collector,
    /// By SKU; a machine is taken out when its price has come.
    machines: HashMap<String, Machine>,
    /// Prices that came before the products, which usual files do not have.
    early: HashMap<String, Terms>,
    published: Option<String>,
    has_products: bool,
}

impl State {
    fn product(&mut self, product: &Product) {
        self.collector.rows += 1;
        match product.machine() {
            Ok(machine) => _ = self.machines.insert(product.sku.clone(), machine),
            Err(reason) => {
                let sku = &product.sku;
                self.collector.leave_out(reason, || format!("SKU {sku}"));
            }
        }
    }

    fn terms(&mut self, sku: String, terms: Terms) {
        match self.machines.remove(&sku) {
            Some(machine) => machine.price(&sku, &terms, &mut self.collector),
            None if !self.has_products => _ = self.early.insert(sku, terms),
            None => {}
        }
    }

    fn finish(mut self) -> Collector {
        for (sku, terms) in std::mem::take(&mut self.early) {
            self.terms(sku, terms);
        }
        for sku in self.machines.keys() {
            self.collector.leave_out(Reason::ZeroPrice, || {
                format!("SKU {sku} has no on-demand price")
            });
        }
        self.collector
    }
}

/// The whole file.
struct OfferFile<'s>(&'s mut State);
/// `products`: by SKU.
struct Products<'s>(&'s mut State);
/// `terms`: on demand, reserved and others.
struct TermKinds<'s>(&'s mut State);
/// `terms.OnDemand`: by SKU.
struct OnDemand<'s>(&'s mut State);
/// Anything whose entries are only counted.
struct Counted<'s>(&'s mut State, Reason);

macro_rules! reads_a_map {
    ($($seed:ident),*) => {$(
        impl<'de> DeserializeSeed<'de> for $seed<'_> {
            type Value = ();

            fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
                from.deserialize_map(self)
            }
        }
    )*};
}

reads_a_map!(OfferFile, Products, TermKinds, OnDemand, Counted);

fn a_map(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("a table of JSON")
}

impl<'de> Visitor<'de> for OfferFile<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        a_map(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "publicationDate" => {
                    let date: String = map.next_value()?;
                    let day = Some(day(&date)).filter(|day| day.parse::<KnownDate>().is_ok());
                    self.0.published = day.map(str::to_owned);
                }
                "products" => {
                    map.next_value_seed(Products(self.0))?;
                    self.0.has_products = true;
                }
                "terms" => map.next_value_seed(TermKinds(self.0))?,
                _ => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Products<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        a_map(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(sku) = map.next_key::<String>()? {
            let mut product: Product = map.next_value()?;
            product.sku = sku;
            self.0.product(&product);
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for TermKinds<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        a_map(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(kind) = map.next_key::<String>()? {
            match kind.as_str() {
                "OnDemand" => map.next_value_seed(OnDemand(self.0))?,
                "Reserved" => map.next_value_seed(Counted(self.0, Reason::Reservation))?,
                _ => map.next_value_seed(Counted(self.0, Reason::OtherUsage))?,
            }
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for OnDemand<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        a_map(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(sku) = map.next_key::<String>()? {
            // Terms of what is not looked for are passed over without being built.
            if self.0.has_products && !self.0.machines.contains_key(&sku) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let terms: Terms = map.next_value()?;
            self.0.terms(sku, terms);
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Counted<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        a_map(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(sku) = map.next_key::<String>()? {
            map.next_value::<IgnoredAny>()?;
            let reason = self.1;
            self.0.collector.rows += 1;
            self.0.collector.leave_out(reason, || format!("SKU {sku}"));
        }
        Ok(())
    }
}
