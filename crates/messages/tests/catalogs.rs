//! The catalogs have the same messages, and the program uses these and no others.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod uses;

use std::collections::BTreeSet;

use messages::{Catalog, Language, Pattern, catalog};

fn translations() -> impl Iterator<Item = (Language, &'static Catalog)> {
    let others = Language::ALL.into_iter().skip(1);
    others.map(|language| (language, catalog(language)))
}

fn english(id: &str) -> &'static Pattern {
    catalog(Language::English)
        .get(id)
        .unwrap_or_else(|| panic!("{id} is not in the English catalog"))
}

fn ids(language: Language) -> BTreeSet<&'static str> {
    catalog(language).messages().map(|(id, _)| id).collect()
}

#[test]
fn every_line_can_be_read() {
    for language in Language::ALL {
        assert_eq!(catalog(language).mistakes(), [], "{language:?}");
    }
}

#[test]
fn all_languages_have_the_same_messages() {
    let expected = ids(Language::English);
    for language in Language::ALL {
        let found = ids(language);
        let missing: Vec<_> = expected.difference(&found).collect();
        let more: Vec<_> = found.difference(&expected).collect();
        assert!(missing.is_empty(), "{language:?} lacks {missing:?}");
        assert!(more.is_empty(), "only {language:?} has {more:?}");
    }
}

/// What a sentence writes it writes in every language; by what words are chosen is grammar.
#[test]
fn all_languages_write_the_same_arguments() {
    for (language, catalog) in translations() {
        for (id, pattern) in catalog.messages() {
            let english = english(id);
            assert_eq!(pattern.written(), english.written(), "{language:?} {id}");
            let unknown: Vec<_> = pattern
                .arguments()
                .difference(&english.arguments())
                .copied()
                .collect();
            assert!(unknown.is_empty(), "{language:?} {id}: {unknown:?}");
        }
    }
}

const PLURALS: [&str; 4] = ["one", "few", "many", "other"];

#[test]
fn counts_have_all_plurals_of_their_language_and_no_others() {
    for language in Language::ALL {
        for (id, pattern) in catalog(language).messages() {
            for keys in pattern.choices() {
                let is_number = |key: &&str| key.bytes().all(|byte| byte.is_ascii_digit());
                let words: Vec<&str> = keys.into_iter().filter(|key| !is_number(key)).collect();
                let is_plural = words.iter().all(|key| PLURALS.contains(key)) && words != ["other"];
                if is_plural {
                    assert_eq!(words, language.plurals(), "{language:?} {id}");
                }
            }
        }
    }
}

#[test]
fn every_use_has_its_message_and_every_message_its_use() {
    let uses = uses::in_sources();
    assert!(uses.messages.len() > 10, "the sources were not found");
    let mut unused = ids(Language::English);
    for one in &uses.messages {
        let place = format!("{}: {}", one.file, one.id);
        let pattern = catalog(Language::English).get(&one.id);
        let pattern = pattern.unwrap_or_else(|| panic!("{place} is in no catalog"));
        let given: BTreeSet<&str> = one.arguments.iter().map(String::as_str).collect();
        assert_eq!(given, pattern.arguments(), "{place}");
        unused.remove(one.id.as_str());
    }
    unused.retain(|id| {
        let families = uses.families.iter();
        !families
            .into_iter()
            .any(|f| id.starts_with(&format!("{f}-")))
    });
    assert!(unused.is_empty(), "no source uses {unused:?}");
}
