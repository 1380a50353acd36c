//! Languages, and which one a thread speaks.

use std::cell::Cell;
use std::str::FromStr;

/// A language that there is a catalog of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Language {
    #[default]
    English,
    /// Of Brazil.
    Portuguese,
    Spanish,
    Russian,
}

thread_local! {
    static CURRENT: Cell<Language> = const { Cell::new(Language::English) };
}

impl Language {
    pub const ALL: [Language; 4] = [
        Language::English,
        Language::Portuguese,
        Language::Spanish,
        Language::Russian,
    ];

    pub const CODES: [&'static str; 4] = ["en", "pt", "es", "ru"];

    /// ISO 639-1, the name of the catalog's folder.
    pub fn code(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Portuguese => "pt",
            Language::Spanish => "es",
            Language::Russian => "ru",
        }
    }

    /// Of this thread.
    pub fn current() -> Language {
        CURRENT.get()
    }

    /// What `work` writes for people on this thread is in this language.
    pub fn scope<T>(self, work: impl FnOnce() -> T) -> T {
        let _before = Restore(CURRENT.replace(self));
        work()
    }

    /// Plural category of a count (Unicode CLDR 46, cardinal numbers).
    pub fn plural(self, count: u64) -> &'static str {
        match self {
            Language::English | Language::Spanish if count == 1 => "one",
            Language::English | Language::Spanish => "other",
            Language::Portuguese if count < 2 => "one",
            Language::Portuguese => "other",
            Language::Russian => match (count % 10, count % 100) {
                (1, last) if last != 11 => "one",
                (2..=4, last) if !(12..=14).contains(&last) => "few",
                _ => "many",
            },
        }
    }

    /// The categories that a message with a count must have, the default last.
    pub fn plurals(self) -> &'static [&'static str] {
        match self {
            Language::Russian => &["one", "few", "many"],
            _ => &["one", "other"],
        }
    }
}

/// Also when the work ends by a panic.
struct Restore(Language);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// `pt`, `pt-BR`, `pt_BR.UTF-8`.
impl FromStr for Language {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let code = text.split(['-', '_', '.']).next().unwrap_or_default();
        let found = Language::ALL.into_iter().find(|one| one.code() == code);
        found.ok_or_else(|| {
            format!(
                "no language `{text}`; there are {}",
                Language::CODES.join(", ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_the_plural_of_their_language() {
        let check = |language: Language, count, expected: &str| {
            assert_eq!(language.plural(count), expected, "{language:?} {count}");
        };
        check(Language::English, 1, "one");
        check(Language::English, 0, "other");
        check(Language::Portuguese, 0, "one");
        check(Language::Portuguese, 2, "other");
        check(Language::Spanish, 0, "other");
        for (count, expected) in [(1, "one"), (21, "one"), (2, "few"), (24, "few")] {
            check(Language::Russian, count, expected);
        }
        for count in [0, 5, 11, 12, 14, 20, 111] {
            check(Language::Russian, count, "many");
        }
    }

    #[test]
    fn a_scope_ends_however_its_work_ends() {
        let spoken = Language::Russian.scope(|| Language::Spanish.scope(Language::current));
        assert_eq!(spoken, Language::Spanish);
        let ended = std::panic::catch_unwind(|| Language::Russian.scope(|| panic!("work")));
        assert!(ended.is_err());
        assert_eq!(Language::current(), Language::English);
    }

    #[test]
    fn languages_are_named_as_systems_name_them() {
        let check = |text: &str, expected: Option<Language>| {
            assert_eq!(text.parse::<Language>().ok(), expected, "{text}");
        };
        check("pt", Some(Language::Portuguese));
        check("pt_BR.UTF-8", Some(Language::Portuguese));
        check("es-MX", Some(Language::Spanish));
        check("C", None);
        check("", None);
    }
}
