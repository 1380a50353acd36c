//! Rows of bills and lines of estimates → categories, by the rules of `categories.toml`.

use std::sync::LazyLock;

use model::BillLine;
use model::money::LineKind;
use serde::Deserialize;

use crate::charge::{Charge, Provider, contains};

/// A place in [`Rules::categories`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CategoryId(u8);

#[derive(Debug, Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rules {
    #[serde(rename = "category")]
    categories: Vec<Category>,
    #[serde(rename = "service")]
    services: Vec<Service>,
    uses: Uses,
    #[serde(rename = "rule")]
    rules: Vec<Rule>,
}

/// Words of rows that tell what a machine was rented for.
#[derive(Debug, Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Uses {
    hosting: Vec<String>,
    training: Vec<String>,
}

/// A service that is paid by requests.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Service {
    /// `aws/lambda`.
    pub(crate) name: String,
    what: Vec<String>,
    /// What stands before a worker's gigabytes, where rows tell them.
    pub(crate) memory: Option<String>,
}

#[derive(Debug, Default, Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct Category {
    pub(crate) name: String,
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) shared: bool,
    /// Lines of an estimate that are held against it.
    #[serde(default)]
    estimated: Vec<LineKind>,
    /// Words of their names; none means all.
    #[serde(default)]
    called: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    category: String,
    provider: Option<String>,
    #[serde(default)]
    kind: Vec<String>,
    #[serde(default)]
    service: Vec<String>,
    #[serde(default)]
    what: Vec<String>,
    #[serde(default)]
    without: Vec<String>,
}

pub(crate) fn rules() -> &'static Rules {
    static EMBEDDED: LazyLock<Rules> = LazyLock::new(|| {
        // That the embedded text is whole is a test; a bad rule must not stop a reconciliation.
        toml::from_str(include_str!("categories.toml")).unwrap_or_default()
    });
    &EMBEDDED
}

impl Rules {
    pub(crate) fn category(&self, id: CategoryId) -> Category {
        let found = self.categories.get(usize::from(id.0)).cloned();
        found.unwrap_or_else(|| Category {
            name: "other".to_owned(),
            title: "services that match no rule".to_owned(),
            ..Category::default()
        })
    }

    /// Of a name in the file; anything else is the last one, `other`.
    pub(crate) fn id(&self, name: &str) -> CategoryId {
        let found = self.categories.iter().position(|c| c.name == name);
        let place = found.unwrap_or(self.categories.len().saturating_sub(1));
        CategoryId(u8::try_from(place).unwrap_or(u8::MAX))
    }

    pub(crate) fn of(&self, charge: &Charge) -> CategoryId {
        let found = self.rules.iter().find(|rule| rule.fits(charge));
        self.id(found.map_or("other", |rule| &rule.category))
    }

    /// Of something that is paid beside a machine's time.
    pub(crate) fn of_line(&self, line: &BillLine) -> CategoryId {
        let is_called = |word: &String| has_word(&line.what, word);
        let found = self.categories.iter().find(|category| {
            let called = &category.called;
            category.estimated.contains(&line.kind)
                && (called.is_empty() || called.iter().any(is_called))
        });
        self.id(found.map_or("other", |category| &category.name))
    }

    /// Whether a machine's row is of hosting a model (or of training one); `None` where it does
    /// not say, as rows of plain machines.
    pub(crate) fn hosts(&self, charge: &Charge) -> Option<bool> {
        let is_told = |words: &[String]| {
            let texts = [&charge.meter, &charge.sku, &charge.description];
            let is_in = |word: &String| texts.iter().any(|text| has_word(text, word));
            words.iter().any(is_in)
        };
        match is_told(&self.uses.hosting) {
            true => Some(true),
            false => is_told(&self.uses.training).then_some(false),
        }
    }

    /// Of `aws/lambda 2048 MB`.
    pub(crate) fn service(&self, price: &str) -> Option<&Service> {
        self.services.iter().find(|s| price.starts_with(&s.name))
    }
}

impl Service {
    pub(crate) fn is_named(&self, charge: &Charge) -> bool {
        let texts = [
            &charge.service,
            &charge.meter,
            &charge.sku,
            &charge.description,
        ];
        let is_in = |word: &String| texts.iter().any(|text| has_word(text, word));
        self.what.iter().any(is_in)
    }
}

impl Rule {
    fn fits(&self, charge: &Charge) -> bool {
        let provider = self.provider.as_deref();
        let texts = [
            &charge.meter,
            &charge.meter_kind,
            &charge.sku,
            &charge.description,
        ];
        let is_told = |word: &String| texts.iter().any(|text| has_word(text, word));
        let is_kind = |kind: &String| kind.eq_ignore_ascii_case(&charge.kind);
        let is_service = |service: &String| has_word(&charge.service, service);
        // A bill of an unknown provider is tried by all rules.
        provider
            .is_none_or(|word| charge.provider == Provider::Other || word == charge.provider.word())
            && (self.kind.is_empty() || self.kind.iter().any(is_kind))
            && (self.service.is_empty() || self.service.iter().any(is_service))
            && (self.what.is_empty() || self.what.iter().any(is_told))
            && !self.without.iter().any(is_told)
    }
}

fn has_word(text: &str, word: &str) -> bool {
    contains(text.as_bytes(), word.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_rules_are_whole() {
        let rules: Rules = toml::from_str(include_str!("categories.toml")).unwrap();
        for rule in &rules.rules {
            let known = rules.categories.iter().any(|c| c.name == rule.category);
            assert!(known, "{}", rule.category);
            let provider = rule.provider.as_deref().unwrap_or("aws");
            assert!(["aws", "azure", "gcp"].contains(&provider), "{provider}");
        }
        assert_eq!(rules.categories.last().unwrap().name, "other");
        assert!(rules.categories.len() < 100);
    }

    #[test]
    fn lines_of_an_estimate_have_the_categories_of_rows() {
        let check = |kind: LineKind, what: &str, expected: &str| {
            let line = BillLine {
                what: what.to_owned(),
                kind,
                phase: None,
                seconds: Default::default(),
                per_hour: None,
                counted: None,
                amount: model::Money::zero(model::Currency::USD),
            };
            let category = rules().category(rules().of_line(&line));
            assert_eq!(category.name, expected, "{what}");
        };
        check(LineKind::Disk, "disk", "disk");
        check(LineKind::Storage, "object storage", "object-storage");
        check(LineKind::Storage, "image registry", "registry");
        check(LineKind::Storage, "Snapshots", "snapshot");
        check(LineKind::Traffic, "data out", "traffic");
        check(LineKind::Address, "address", "address");
        check(LineKind::Requests, "requests made", "serverless");
        check(LineKind::Fee, "support plan", "support");
        check(LineKind::Fee, "NAT gateway", "network");
        check(LineKind::Fee, "membership", "fee");
        check(LineKind::Tax, "tax of 19 %", "tax");
    }
}
