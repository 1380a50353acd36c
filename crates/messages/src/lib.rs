//! Sentences for people, in several languages: the one home of their texts.
//!
//! A sentence is a message of a catalog, with named arguments: `message!("drift-none", metric)`.
//! The language is a scope of the thread, set once around a whole piece of work
//! ([`Language::scope`]), so that no function between carries it. Without a scope it is English.
//! docs/languages.md says how catalogs are written and how a language is added.

mod catalog;
mod language;
mod number;
mod pattern;

pub use catalog::{Catalog, Mistake, catalog};
pub use language::Language;
pub use number::{date, decimal_mark, number, thousands_mark};
pub use pattern::{Argument, Pattern, Value};

/// The message of this id with its arguments, in the language of the scope.
///
/// `message!("runs", count)` is short for `message!("runs", count = count)`. Every use is compared
/// with the catalogs by a test, so ids are literals; see [`named`] for those that are not.
#[macro_export]
macro_rules! message {
    ($id:literal $(, $name:ident $(= $value:expr)?)* $(,)?) => {
        $crate::render($id, &[$($crate::argument!($name $(= $value)?)),*])
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! argument {
    ($name:ident) => {
        (stringify!($name), $crate::Argument::value(&$name))
    };
    ($name:ident = $value:expr) => {
        (stringify!($name), $crate::Argument::value(&$value))
    };
}

/// Use [`message!`]. An id that no catalog has stands for itself, so that nothing is lost.
pub fn render(id: &str, arguments: &[(&str, Value<'_>)]) -> String {
    let language = Language::current();
    let own = catalog(language).get(id);
    match own.or_else(|| catalog(Language::English).get(id)) {
        Some(pattern) => pattern.render(language, arguments),
        None => id.to_owned(),
    }
}

/// One of a family of fixed texts, such as `metric-cost`; `None` for a name that has none.
pub fn named(family: &str, name: &str) -> Option<&'static str> {
    fixed(&format!("{family}-{name}"))
}

/// A text without arguments: `word!("verdict-different")`.
#[macro_export]
macro_rules! word {
    ($id:literal) => {
        $crate::fixed($id).unwrap_or($id)
    };
}

/// Use [`word!`] or [`named`].
pub fn fixed(id: &str) -> Option<&'static str> {
    catalog(Language::current()).get(id)?.fixed()
}
