//! Answers of the AWS Price List's GetProducts: the command line's `PriceList` of JSON in quotes,
//! or products one after the other.

use std::collections::HashMap;

use cost::Reason;
use model::KnownDate;
use serde::Deserialize;
use serde_json::Value;

use crate::FetchError;
use crate::prices::aws::{Product, Terms};
use crate::prices::collect::{About, Collector, PriceList, day};

pub(crate) const SOURCE: &str = "AWS Price List, GetProducts";
const EXPECTED: &str = "a response of GetProducts";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OneProduct {
    product: Product,
    #[serde(default)]
    terms: HashMap<String, Value>,
    publication_date: Option<String>,
}

/// The date of the prices is the newest on which one of them was published.
pub fn read(file: &str, text: &str, about: &About) -> Result<PriceList, FetchError> {
    let mut reading = Reading {
        file,
        collector: Collector::new("aws"),
        published: None,
    };
    let text = text.trim_start_matches('\u{feff}');
    for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        let value = value.map_err(|error| FetchError::json(file, EXPECTED, &error))?;
        reading.any(value);
    }
    if reading.collector.rows == 0 {
        let problem = format!("not {EXPECTED}: it has no products");
        return Err(FetchError::of(file, problem));
    }
    let about = about.published(reading.published);
    Ok(reading.collector.finish(&about))
}

struct Reading<'f> {
    file: &'f str,
    collector: Collector,
    published: Option<String>,
}

impl Reading<'_> {
    fn any(&mut self, value: Value) {
        match value {
            Value::Array(values) => values.into_iter().for_each(|value| self.any(value)),
            Value::String(text) => match serde_json::from_str(&text) {
                Ok(Value::String(_)) | Err(_) => self.malformed("a product that is not JSON"),
                Ok(value) => self.any(value),
            },
            Value::Object(mut table) => match table.remove("PriceList") {
                Some(list) => self.any(list),
                None => self.product(Value::Object(table)),
            },
            _ => self.malformed("neither a product nor a list of them"),
        }
    }

    fn product(&mut self, value: Value) {
        let one: OneProduct = match serde_json::from_value(value) {
            Ok(one) => one,
            Err(error) => return self.malformed(&error.to_string()),
        };
        self.collector.rows += 1;
        let date = one.publication_date.as_deref().map(day);
        if let Some(date) = date.filter(|date| date.parse::<KnownDate>().is_ok()) {
            self.published = self.published.take().max(Some(date.to_owned()));
        }
        let (sku, file) = (&one.product.sku, self.file);
        let place = || format!("{file}, SKU {sku}");
        let machine = match one.product.machine() {
            Ok(machine) => machine,
            Err(reason) => return self.collector.leave_out(reason, place),
        };
        let mut on_demand = Terms::new();
        for (kind, terms) in one.terms {
            if kind != "OnDemand" {
                let count = terms.as_object().map_or(1, serde_json::Map::len);
                for _ in 0..count {
                    self.collector.rows += 1;
                    self.collector.leave_out(Reason::Reservation, place);
                }
                continue;
            }
            match serde_json::from_value(terms) {
                Ok(terms) => on_demand = terms,
                Err(error) => self
                    .collector
                    .leave_out(Reason::Malformed, || format!("{}: {error}", place())),
            }
        }
        if on_demand.is_empty() {
            return self.collector.leave_out(Reason::ZeroPrice, place);
        }
        machine.price(sku, &on_demand, &mut self.collector);
    }

    fn malformed(&mut self, why: &str) {
        self.collector.rows += 1;
        let file = self.file;
        self.collector
            .leave_out(Reason::Malformed, || format!("{file}: {why}"));
    }
}
