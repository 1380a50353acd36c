//! Rows of bills → categories, by the rules of `categories.toml`.

use std::sync::LazyLock;

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
    #[serde(rename = "rule")]
    rules: Vec<Rule>,
}

#[derive(Debug, Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct Category {
    pub(crate) name: String,
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) shared: bool,
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
            title: "services no rule names".to_owned(),
            shared: false,
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
        let told = |words: &[String]| {
            let is_told = |word: &String| {
                let has = |text: &&std::borrow::Cow<str>| has_word(text, word);
                texts.iter().any(has)
            };
            words.iter().any(is_told)
        };
        // A bill of an unknown provider is tried by all rules.
        provider
            .is_none_or(|word| charge.provider == Provider::Other || word == charge.provider.word())
            && (self.kind.is_empty()
                || self
                    .kind
                    .iter()
                    .any(|k| k.eq_ignore_ascii_case(&charge.kind)))
            && (self.service.is_empty()
                || self.service.iter().any(|s| has_word(&charge.service, s)))
            && (self.what.is_empty() || told(&self.what))
            && !told(&self.without)
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
}
