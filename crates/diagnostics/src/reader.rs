use std::cell::RefCell;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::{Diagnostic, Problems, grammar};

pub type Span = Range<usize>;

/// A value with the place it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct Located<T> {
    pub value: T,
    pub span: Span,
}

impl<T> Located<T> {
    pub fn new(value: T, span: Span) -> Self {
        Located { value, span }
    }

    /// To be said of it, where it stands.
    pub fn wrong(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::at(self.span.clone(), message)
    }

    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Located<U> {
        Located::new(f(self.value), self.span)
    }
}

/// Reads as much of a TOML text as can be read; grammar errors go to `problems`.
/// The closure gets the top table.
pub fn parse<T>(text: &str, problems: &Problems, read: impl FnOnce(Table<'_>) -> T) -> T {
    let (document, errors) = DeTable::parse_recoverable(text);
    for (index, error) in errors.iter().enumerate() {
        let is_among_first = index < crate::MOST_SHOWN;
        problems.push(grammar::explained(text, error, is_among_first));
    }
    let span = document.span();
    read(Table::new("", document.get_ref(), span, problems))
}

/// A table being read. Every key requested is known; [`Table::finish`] complains about the rest.
pub struct Table<'t> {
    /// `[study]`; empty for the top of the file.
    name: String,
    pub span: Span,
    /// In the order of the file.
    entries: Vec<(Located<&'t str>, Value<'t>)>,
    asked: RefCell<Vec<String>>,
    pub problems: &'t Problems,
}

impl<'t> Table<'t> {
    fn new(
        name: impl Into<String>,
        table: &'t DeTable<'t>,
        span: Span,
        problems: &'t Problems,
    ) -> Self {
        let mut entries: Vec<_> = table
            .iter()
            .map(|(key, value)| {
                let located = Located::new(key.get_ref().as_ref(), key.span());
                (
                    located,
                    Value {
                        inner: value.get_ref(),
                        span: value.span(),
                        problems,
                    },
                )
            })
            .collect();
        entries.sort_by_key(|(key, _)| key.span.start);
        Table {
            name: name.into(),
            span,
            entries,
            asked: RefCell::default(),
            problems,
        }
    }

    pub fn entries(&self) -> impl Iterator<Item = (&Located<&'t str>, &Value<'t>)> {
        self.entries.iter().map(|(key, value)| (key, value))
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Every text in the table, however deep.
    pub fn texts(&self) -> Vec<Located<&'t str>> {
        let mut found = Vec::new();
        for (_, value) in &self.entries {
            texts_in(value.inner, &value.span, &mut found);
        }
        found
    }

    /// To be said of it, where it stands.
    pub fn wrong(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::at(self.span.clone(), message)
    }

    pub fn complain(&self, diagnostic: Diagnostic) {
        self.problems.push(diagnostic);
    }

    pub fn key_span(&self, key: &str) -> Option<Span> {
        self.entries
            .iter()
            .find(|(k, _)| k.value == key)
            .map(|(k, _)| k.span.clone())
    }

    pub fn get(&self, key: &str) -> Option<Value<'t>> {
        self.asked.borrow_mut().push(key.to_owned());
        self.entries
            .iter()
            .find(|(k, _)| k.value == key)
            .map(|(_, v)| v.clone())
    }

    pub fn required(&self, key: &str) -> Option<Value<'t>> {
        let found = self.get(key);
        if found.is_none() {
            let place = if self.name.is_empty() {
                "the file".to_owned()
            } else {
                format!("[{}]", self.name)
            };
            let message = format!("`{key}` is missing in {place}");
            // The top table's span is the whole file: a caret there would point at nothing.
            self.problems.push(match self.name.is_empty() {
                true => Diagnostic::whole(message),
                false => {
                    Diagnostic::at(self.span.clone(), message).label(format!("add `{key} = …`"))
                }
            });
        }
        found
    }

    pub fn text(&self, key: &str) -> Option<Located<String>> {
        self.get(key)?.text(key)
    }

    pub fn required_text(&self, key: &str) -> Option<Located<String>> {
        self.required(key)?.text(key)
    }

    pub fn integer(&self, key: &str) -> Option<Located<i64>> {
        self.get(key)?.integer(key)
    }

    pub fn number(&self, key: &str) -> Option<Located<f64>> {
        self.get(key)?.number(key)
    }

    pub fn boolean(&self, key: &str) -> Option<Located<bool>> {
        self.get(key)?.boolean(key)
    }

    pub fn array(&self, key: &str) -> Option<Vec<Value<'t>>> {
        self.get(key)?.array(key)
    }

    pub fn table(&self, key: &str) -> Option<Table<'t>> {
        let name = if self.name.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.name)
        };
        self.get(key)?.table(&name)
    }

    /// Whatever was never requested is unknown.
    pub fn finish(&self) {
        let asked = self.asked.borrow();
        for (key, _) in &self.entries {
            if !asked.iter().any(|a| a == key.value) {
                let kind = if self.name.is_empty() {
                    "key".to_owned()
                } else {
                    format!("key in [{}]", self.name)
                };
                let known = asked.iter().map(String::as_str);
                self.problems.push(Diagnostic::unknown(
                    &kind,
                    key.value,
                    key.span.clone(),
                    known,
                ));
            }
        }
    }
}

fn texts_in<'t>(value: &'t DeValue<'t>, span: &Span, found: &mut Vec<Located<&'t str>>) {
    match value {
        DeValue::String(text) => found.push(Located::new(text.as_ref(), span.clone())),
        DeValue::Array(items) => {
            for item in items.iter() {
                texts_in(item.get_ref(), &item.span(), found);
            }
        }
        DeValue::Table(table) => {
            for (_, value) in table.iter() {
                texts_in(value.get_ref(), &value.span(), found);
            }
        }
        _ => {}
    }
}

/// A value of a TOML file and where it stands.
#[derive(Clone)]
pub struct Value<'t> {
    inner: &'t DeValue<'t>,
    pub span: Span,
    pub problems: &'t Problems,
}

impl<'t> Value<'t> {
    /// `string`, `integer`, `float`, `boolean`, `array`, `table`, `datetime`.
    pub fn kind(&self) -> &'static str {
        self.inner.type_str()
    }

    pub fn as_text(&self) -> Option<&'t str> {
        self.inner.as_str()
    }

    pub fn as_integer(&self) -> Option<i64> {
        let integer = self.inner.as_integer()?;
        i64::from_str_radix(integer.as_str(), integer.radix()).ok()
    }

    /// Integers too.
    pub fn as_number(&self) -> Option<f64> {
        match self.inner.as_float() {
            Some(float) => float.as_str().parse().ok(),
            None => self.as_integer().map(|value| value as f64),
        }
    }

    pub fn as_boolean(&self) -> Option<bool> {
        self.inner.as_bool()
    }

    /// To be said of it, where it stands.
    pub fn wrong(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::at(self.span.clone(), message)
    }

    pub fn complain(&self, diagnostic: Diagnostic) {
        self.problems.push(diagnostic);
    }

    pub fn text(&self, key: &str) -> Option<Located<String>> {
        self.read(key, "a string in quotes", self.as_text().map(str::to_owned))
    }

    pub fn integer(&self, key: &str) -> Option<Located<i64>> {
        self.read(key, "a whole number", self.as_integer())
    }

    pub fn number(&self, key: &str) -> Option<Located<f64>> {
        self.read(key, "a number", self.as_number())
    }

    pub fn boolean(&self, key: &str) -> Option<Located<bool>> {
        self.read(key, "true or false", self.as_boolean())
    }

    pub fn array(&self, key: &str) -> Option<Vec<Value<'t>>> {
        let items = self.inner.as_array().map(|array| {
            array
                .iter()
                .map(|item| Value {
                    inner: item.get_ref(),
                    span: item.span(),
                    problems: self.problems,
                })
                .collect()
        });
        self.read(key, "a list in [ ]", items)
            .map(|located| located.value)
    }

    pub fn table(&self, name: &str) -> Option<Table<'t>> {
        let table = self
            .inner
            .as_table()
            .map(|table| Table::new(name, table, self.span.clone(), self.problems));
        self.read(name, "a table", table)
            .map(|located| located.value)
    }

    fn read<T>(&self, key: &str, expected: &str, got: Option<T>) -> Option<Located<T>> {
        if got.is_none() {
            let message = match (expected, self.kind()) {
                ("a whole number" | "a number", "integer") => {
                    format!("`{key}` is too large a number")
                }
                (_, kind) => format!("`{key}` must be {expected}, not {}", article(kind)),
            };
            self.problems
                .push(Diagnostic::at(self.span.clone(), message));
        }
        got.map(|value| Located::new(value, self.span.clone()))
    }
}

fn article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {kind}")
}
