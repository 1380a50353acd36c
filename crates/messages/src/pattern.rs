//! The text of one message: words, arguments and choices.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::{Language, number};

/// What stands for an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value<'a> {
    Text(Cow<'a, str>),
    /// Written in the language's way, and what plurals go by.
    Count(u64),
}

/// What may be an argument of a message. Numbers other than counts, and money, are written by the
/// functions that know their digits, and are texts here.
pub trait Argument {
    fn value(&self) -> Value<'_>;
}

impl Argument for str {
    fn value(&self) -> Value<'_> {
        Value::Text(Cow::Borrowed(self))
    }
}

impl Argument for String {
    fn value(&self) -> Value<'_> {
        self.as_str().value()
    }
}

/// For choices: `true` or `false`.
impl Argument for bool {
    fn value(&self) -> Value<'_> {
        if *self { "true" } else { "false" }.value()
    }
}

impl Argument for usize {
    fn value(&self) -> Value<'_> {
        Value::Count(*self as u64)
    }
}

impl Argument for u32 {
    fn value(&self) -> Value<'_> {
        Value::Count(u64::from(*self))
    }
}

impl Argument for u64 {
    fn value(&self) -> Value<'_> {
        Value::Count(*self)
    }
}

impl<T: Argument + ?Sized> Argument for &T {
    fn value(&self) -> Value<'_> {
        (**self).value()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pattern {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// `{runs}`.
    Argument(String),
    /// `{runs: one=run | other=runs}`; the last branch is the default.
    Choice {
        argument: String,
        branches: Vec<Branch>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Branch {
    key: String,
    pattern: Pattern,
}

impl Pattern {
    /// The error says what is wrong with the text.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        let mut reader = Reader { rest: text };
        let pattern = reader.pattern(false)?;
        match reader.rest {
            "" => Ok(pattern),
            _ => Err("`}` without `{`".to_owned()),
        }
    }

    pub fn render(&self, language: Language, arguments: &[(&str, Value<'_>)]) -> String {
        let mut out = String::new();
        self.write(&mut out, language, arguments);
        out
    }

    fn write(&self, out: &mut String, language: Language, arguments: &[(&str, Value<'_>)]) {
        let find = |name: &str| arguments.iter().find(|(known, _)| *known == name);
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Argument(name) => match find(name) {
                    Some((_, Value::Text(text))) => out.push_str(text),
                    Some((_, Value::Count(count))) => out.push_str(&number(&count.to_string())),
                    None => {
                        out.push('{');
                        out.push_str(name);
                        out.push('}');
                    }
                },
                Part::Choice { argument, branches } => {
                    let keys: [Cow<str>; 2] = match find(argument) {
                        Some((_, Value::Count(count))) => [
                            count.to_string().into(),
                            Cow::Borrowed(language.plural(*count)),
                        ],
                        Some((_, Value::Text(text))) => [text.clone(), Cow::Borrowed("")],
                        None => [Cow::Borrowed(""), Cow::Borrowed("")],
                    };
                    let chosen = keys
                        .iter()
                        .find_map(|key| branches.iter().find(|branch| branch.key == **key));
                    if let Some(branch) = chosen.or(branches.last()) {
                        branch.pattern.write(out, language, arguments);
                    }
                }
            }
        }
    }

    /// The whole text, if nothing in it depends on arguments.
    pub fn fixed(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Names that are written somewhere in it, not only chosen by.
    pub fn written(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        self.visit(&mut |part| {
            if let Part::Argument(name) = part {
                names.insert(name.as_str());
            }
        });
        names
    }

    /// Names that are written or chosen by.
    pub fn arguments(&self) -> BTreeSet<&str> {
        let mut names = self.written();
        self.visit(&mut |part| {
            if let Part::Choice { argument, .. } = part {
                names.insert(argument.as_str());
            }
        });
        names
    }

    /// The keys of every choice, in their order.
    pub fn choices(&self) -> Vec<Vec<&str>> {
        let mut choices = Vec::new();
        self.visit(&mut |part| {
            if let Part::Choice { branches, .. } = part {
                choices.push(branches.iter().map(|branch| branch.key.as_str()).collect());
            }
        });
        choices
    }

    fn visit<'p>(&'p self, seen: &mut impl FnMut(&'p Part)) {
        for part in &self.parts {
            seen(part);
            if let Part::Choice { branches, .. } = part {
                branches.iter().for_each(|b| b.pattern.visit(seen));
            }
        }
    }
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    /// Up to the end of the text; inside a choice, to the `|` or `}` that ends the branch.
    fn pattern(&mut self, in_choice: bool) -> Result<Pattern, String> {
        let mut parts = Vec::new();
        let mut text = String::new();
        loop {
            let mut letters = self.rest.chars();
            let Some(letter) = letters.next() else { break };
            let doubled = letters.next() == Some(letter);
            match letter {
                '{' | '}' if doubled && !(in_choice && letter == '}') => {
                    text.push(letter);
                    self.rest = &self.rest[2..];
                }
                '{' => {
                    self.rest = &self.rest[1..];
                    if !text.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut text)));
                    }
                    parts.push(self.placed()?);
                }
                '}' => break,
                '|' if in_choice => break,
                _ => {
                    text.push(letter);
                    self.rest = &self.rest[letter.len_utf8()..];
                }
            }
        }
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        Ok(Pattern { parts })
    }

    /// Behind a `{`.
    fn placed(&mut self) -> Result<Part, String> {
        let name = self.word();
        if name.is_empty() {
            return Err("no name behind `{`".to_owned());
        }
        if self.takes("}") {
            return Ok(Part::Argument(name));
        }
        if !self.takes(":") {
            return Err(format!("`}}` or `:` is missing behind `{{{name}`"));
        }
        let mut branches = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            let key = self.word();
            if key.is_empty() || !self.takes("=") {
                return Err(format!("a branch of `{name}` is not `key=text`"));
            }
            let mut pattern = self.pattern(true)?;
            let ends_here = !self.rest.starts_with('|');
            // The space before a `|` is for the reader.
            if let Some(Part::Text(text)) = pattern.parts.last_mut().filter(|_| !ends_here) {
                *text = text.strip_suffix(' ').unwrap_or(text).to_owned();
            }
            branches.push(Branch { key, pattern });
            if self.takes("}") {
                break;
            }
            if !self.takes("|") {
                return Err(format!("the choice by `{name}` has no end"));
            }
        }
        Ok(Part::Choice {
            argument: name,
            branches,
        })
    }

    fn takes(&mut self, mark: &str) -> bool {
        let rest = self.rest.strip_prefix(mark);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn word(&mut self) -> String {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, language: Language, arguments: &[(&str, Value<'_>)]) -> String {
        match Pattern::parse(text) {
            Ok(pattern) => language.scope(|| pattern.render(language, arguments)),
            Err(mistake) => mistake,
        }
    }

    #[test]
    fn choices_follow_counts_and_words() {
        let runs = "{runs} {runs: one=запуск | few=запуска | many=запусков}";
        for (count, expected) in [(1, "1 запуск"), (3, "3 запуска"), (11, "11 запусков")]
        {
            let found = shown(runs, Language::Russian, &[("runs", Value::Count(count))]);
            assert_eq!(found, expected);
        }
        let way = "it {way: grew=grew by {by} | fell=fell by {by}}.";
        let arguments = [("way", "fell".value()), ("by", "2 %".value())];
        assert_eq!(shown(way, Language::English, &arguments), "it fell by 2 %.");
        let none = "{count: 0=nothing | one={count} thing | other={count} things}";
        let check = |count, expected: &str| {
            let found = shown(none, Language::English, &[("count", Value::Count(count))]);
            assert_eq!(found, expected);
        };
        check(0, "nothing");
        check(12_345, "12,345 things");
        let nested = "{a: x=1 {b: y=2 | z=3} | other=4}!";
        let arguments = [("a", "x".value()), ("b", "z".value())];
        assert_eq!(shown(nested, Language::English, &arguments), "1 3!");
    }

    #[test]
    fn a_wrong_text_says_what_is_wrong() {
        let check = |text: &str, expected: &str| {
            assert_eq!(shown(text, Language::English, &[]), expected);
        };
        check("{{ idle = 1 }}", "{ idle = 1 }");
        check("a {b", "`}` or `:` is missing behind `{b`");
        check("a } b", "`}` without `{`");
        check("{}", "no name behind `{`");
        check("{n: one run}", "a branch of `n` is not `key=text`");
        check("{n: one=run", "the choice by `n` has no end");
        check("{missing}", "{missing}");
    }
}
