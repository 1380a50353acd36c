//! Offer files of the AWS Price List: hundreds of megabytes of JSON, read as a stream, with only
//! the machines kept that are looked for.

use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead, BufReader, Read};

use cost::Reason;
use model::KnownDate;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::FetchError;
use crate::prices::aws::{Machine, Product, Terms};
use crate::prices::collect::{About, Collector, PriceList, day};

pub(crate) const SOURCE: &str = "AWS Price List";
const EXPECTED: &str = "an offer file of the AWS Price List";

/// The date of the prices is the one on which the file was published.
pub fn read(file: &str, reader: impl Read, about: &About) -> Result<PriceList, FetchError> {
    let mut state = State {
        collector: Collector::new("aws"),
        ..State::default()
    };
    let mut reader = BufReader::with_capacity(1 << 18, reader);
    skip_mark(&mut reader).map_err(|error| FetchError::of(file, error))?;
    let mut json = serde_json::Deserializer::from_reader(reader);
    let wrong = |error: serde_json::Error| FetchError::json(file, EXPECTED, &error);
    let whole = Table {
        state: &mut state,
        of: Of::WholeFile,
    };
    whole.deserialize(&mut json).map_err(wrong)?;
    json.end().map_err(wrong)?;
    if !state.has_products {
        let problem = format!("not {EXPECTED}: it has no products");
        return Err(FetchError::of(file, problem));
    }
    let about = about.published(state.published.take());
    Ok(state.finish().finish(&about))
}

/// A byte-order mark is no JSON.
fn skip_mark(reader: &mut impl BufRead) -> std::io::Result<()> {
    if reader.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
        reader.consume(3);
    }
    Ok(())
}

#[derive(Default)]
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

/// A table of the file, read entry by entry: none is kept as a whole.
struct Table<'s> {
    state: &'s mut State,
    of: Of,
}

#[derive(Clone, Copy)]
enum Of {
    WholeFile,
    /// `products`: by SKU.
    Products,
    /// `terms`: on demand, reserved and others.
    TermKinds,
    /// `terms.OnDemand`: by SKU.
    OnDemand,
    /// Anything whose entries are only counted.
    Counted(Reason),
}

impl<'de> DeserializeSeed<'de> for Table<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Table<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of JSON")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            self.entry(key, &mut map)?;
        }
        Ok(())
    }
}

impl Table<'_> {
    fn entry<'de, A: MapAccess<'de>>(&mut self, key: String, map: &mut A) -> Result<(), A::Error> {
        let inner = match (self.of, key.as_str()) {
            (Of::WholeFile, "publicationDate") => {
                let date: String = map.next_value()?;
                let day = Some(day(&date)).filter(|day| day.parse::<KnownDate>().is_ok());
                self.state.published = day.map(str::to_owned);
                return Ok(());
            }
            (Of::WholeFile, "products") => Of::Products,
            (Of::WholeFile, "terms") => Of::TermKinds,
            (Of::TermKinds, "OnDemand") => Of::OnDemand,
            (Of::TermKinds, "Reserved") => Of::Counted(Reason::Reservation),
            (Of::TermKinds, _) => Of::Counted(Reason::OtherUsage),
            (Of::Products, _) => {
                let mut product: Product = map.next_value()?;
                product.sku = key;
                self.state.product(&product);
                return Ok(());
            }
            // Terms of what is not looked for are passed over without being built.
            (Of::OnDemand, sku)
                if !self.state.has_products || self.state.machines.contains_key(sku) =>
            {
                let terms: Terms = map.next_value()?;
                self.state.terms(key, terms);
                return Ok(());
            }
            (Of::Counted(reason), sku) => {
                self.state.collector.rows += 1;
                let place = || format!("SKU {sku}");
                self.state.collector.leave_out(reason, place);
                return map.next_value().map(|IgnoredAny| ());
            }
            (Of::WholeFile | Of::OnDemand, _) => return map.next_value().map(|IgnoredAny| ()),
        };
        map.next_value_seed(Table {
            state: self.state,
            of: inner,
        })?;
        self.state.has_products |= matches!(inner, Of::Products);
        Ok(())
    }
}
