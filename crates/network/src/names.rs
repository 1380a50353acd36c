//! The names of layers: given by hand, or made of their kind.

use std::collections::BTreeMap;

use diagnostics::{Diagnostic, Located, Span};

use crate::expand::RESERVED;
use crate::typed::TypedLayer;

/// The names of one list of layers.
pub(crate) struct Names<'a> {
    /// Names given by hand, above or below.
    given: BTreeMap<&'a str, &'a Span>,
    /// Where the layers met so far are.
    pub(crate) places: BTreeMap<String, usize>,
    /// Given to the next layer of a kind without a name; `None` if it is the only one.
    numbers: BTreeMap<&'a str, Option<u32>>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(scope: &'a [TypedLayer], top: bool) -> Self {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for layer in scope.iter().filter(|layer| layer.name.is_none()) {
            *counts.entry(kind_word(layer)).or_default() += u64::from(layer.times);
        }
        let numbered = |count| (top || count > 1).then_some(1);
        let given = scope.iter().filter_map(|layer| layer.name.as_ref());
        Names {
            given: given
                .map(|name| (name.value.as_str(), &name.span))
                .collect(),
            places: BTreeMap::new(),
            numbers: counts.into_iter().map(|(k, n)| (k, numbered(n))).collect(),
        }
    }

    /// Its own name, or one made of its kind: `conv1`, `conv2`; in a block with one of them, `conv`.
    pub(crate) fn next(&mut self, layer: &'a TypedLayer) -> String {
        if let Some(name) = &layer.name {
            return name.value.clone();
        }
        let kind = kind_word(layer);
        loop {
            let name = match self.numbers.get_mut(kind) {
                Some(Some(number)) => {
                    *number += 1;
                    format!("{kind}{}", *number - 1)
                }
                // Only one, but a layer named by hand may have taken its name.
                _ => {
                    self.numbers.insert(kind, Some(1));
                    kind.to_owned()
                }
            };
            if !self.places.contains_key(&name) && !self.given.contains_key(name.as_str()) {
                return name;
            }
        }
    }

    pub(crate) fn unknown(&self, word: &Located<String>) -> Diagnostic {
        if let Some(&place) = self.given.get(word.value.as_str()) {
            let message = format!("`{}` is defined below", word.value);
            return word
                .wrong(message)
                .label("a layer can only take input from layers above it")
                .other(place.clone(), "here");
        }
        let mut diagnostic = Diagnostic::unknown(
            "layer",
            &word.value,
            word.span.clone(),
            RESERVED.into_iter().chain(self.given.keys().copied()),
        );
        let above = self.places.keys().map(String::as_str);
        if let (None, Some(meant)) = (&diagnostic.label, diagnostics::closest(&word.value, above)) {
            diagnostic = diagnostic.label(format!("did you mean `{meant}`?"));
        }
        diagnostic
    }
}

fn kind_word(layer: &TypedLayer) -> &str {
    layer
        .kind
        .as_ref()
        .map_or("layer", |kind| kind.value.as_str())
}
