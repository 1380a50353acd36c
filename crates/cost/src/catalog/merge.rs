//! Several lists → one catalog: the newest price of a machine wins, and what one list knows of a
//! machine serves all.

use std::collections::HashMap;

use model::Currency;

use super::{Catalog, CatalogEntry, Quote, Shape};

/// Takes entries in any order.
#[derive(Debug, Default)]
pub struct Builder {
    entries: Vec<CatalogEntry>,
    places: HashMap<Key, usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    provider: String,
    machine: String,
    region: String,
    currency: Currency,
}

impl Builder {
    pub fn from(catalog: Catalog) -> Self {
        let mut builder = Builder {
            places: HashMap::with_capacity(catalog.entries.len()),
            entries: Vec::with_capacity(catalog.entries.len()),
        };
        builder.extend(catalog);
        builder
    }

    pub fn extend(&mut self, catalog: Catalog) {
        for entry in catalog.entries {
            self.add(entry);
        }
    }

    /// On-demand and spot prices are renewed each by itself: a list may have only one of them.
    pub fn add(&mut self, entry: CatalogEntry) {
        let Some(currency) = entry.currency() else {
            return;
        };
        let key = Key {
            provider: entry.provider.clone(),
            machine: entry.machine.clone(),
            region: entry.region.clone(),
            currency,
        };
        match self.places.get(&key) {
            Some(&place) => {
                let known = &mut self.entries[place];
                newest(&mut known.on_demand, entry.on_demand);
                newest(&mut known.spot, entry.spot);
                known.shape.complete(&entry.shape);
            }
            None => {
                self.places.insert(key, self.entries.len());
                self.entries.push(entry);
            }
        }
    }

    /// A machine has one shape wherever it stands: a region whose source does not tell it learns
    /// it from the others.
    pub fn finish(mut self) -> Catalog {
        let lacking = |e: &CatalogEntry| !e.shape.is_whole();
        if self.entries.iter().any(lacking) {
            let mut shapes: HashMap<(String, String), Shape> = HashMap::new();
            for entry in &self.entries {
                let key = (entry.provider.clone(), entry.machine.clone());
                shapes.entry(key).or_default().complete(&entry.shape);
            }
            for entry in self.entries.iter_mut().filter(|e| lacking(e)) {
                let key = (entry.provider.clone(), entry.machine.clone());
                if let Some(shape) = shapes.get(&key) {
                    entry.shape.complete(shape);
                }
            }
        }
        Catalog {
            entries: self.entries,
        }
    }
}

impl Catalog {
    /// This catalog over another one: what only the other has is added, and of what both have the
    /// newest price stays, of one day this one's. Neither may have anything twice. Quicker than a
    /// [`Builder`] where the other is small.
    pub fn over(mut self, other: &Catalog) -> Catalog {
        type Key<'e> = (&'e str, &'e str, &'e str, Option<Currency>);
        fn place(e: &CatalogEntry) -> Key<'_> {
            (&e.machine, &e.region, &e.provider, e.currency())
        }
        let numbered = other.entries.iter().enumerate();
        let others: HashMap<Key<'_>, usize> =
            numbered.map(|(number, e)| (place(e), number)).collect();
        let mut is_here = vec![false; other.entries.len()];
        let shapes: HashMap<(&str, &str), &Shape> = other
            .entries
            .iter()
            .map(|e| ((e.machine.as_str(), e.provider.as_str()), &e.shape))
            .collect();
        for entry in &mut self.entries {
            if let Some(number) = others.get(&place(entry)).copied() {
                is_here[number] = true;
                let known = &other.entries[number];
                for (mine, theirs) in [
                    (&mut entry.on_demand, &known.on_demand),
                    (&mut entry.spot, &known.spot),
                ] {
                    let ours = mine.take();
                    *mine = theirs.clone();
                    newest(mine, ours);
                }
            }
            if !entry.shape.is_whole()
                && let Some(shape) = shapes.get(&(entry.machine.as_str(), entry.provider.as_str()))
            {
                entry.shape.complete(shape);
            }
        }
        let rest = other
            .entries
            .iter()
            .zip(is_here)
            .filter(|(_, is_here)| !is_here);
        self.entries.extend(rest.map(|(entry, _)| entry.clone()));
        self
    }
}

/// Of two read on the same day the later given wins.
fn newest(known: &mut Option<Quote>, other: Option<Quote>) {
    let Some(other) = other else { return };
    match known {
        Some(quote) if quote.date > other.date => {}
        _ => *known = Some(other),
    }
}

impl Shape {
    fn is_whole(&self) -> bool {
        self.vcpus.is_some() && self.memory_gib.is_some() && self.architecture.is_some()
    }

    /// What is not known yet; nothing that is known changes.
    fn complete(&mut self, other: &Shape) {
        self.vcpus = self.vcpus.or(other.vcpus);
        self.memory_gib = self.memory_gib.or(other.memory_gib);
        self.architecture = self.architecture.or(other.architecture);
        match (&mut self.gpu, &other.gpu) {
            (None, Some(gpu)) => self.gpu = Some(gpu.clone()),
            (Some(gpu), Some(other)) if gpu.kind == other.kind => {
                gpu.memory_gib = gpu.memory_gib.or(other.memory_gib);
                gpu.count = gpu.count.or(other.count);
            }
            _ => {}
        }
    }
}
