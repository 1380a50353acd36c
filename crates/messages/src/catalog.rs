//! The messages of a language, read once from the texts that are part of the program.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::{Language, Pattern};

#[derive(Debug, Default)]
pub struct Catalog {
    messages: BTreeMap<&'static str, Pattern>,
    /// Lines that could not be read; a test finds them.
    mistakes: Vec<Mistake>,
}

/// A line of a catalog that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    pub file: &'static str,
    pub line: usize,
    pub what: String,
}

macro_rules! files {
    ($code:literal: $($area:literal),*) => {
        &[$(($area, include_str!(concat!("../catalogs/", $code, "/", $area, ".txt")))),*]
    };
}

macro_rules! catalogs {
    ($($language:ident $code:literal),*) => {
        /// The files of a language, by subject.
        fn files(language: Language) -> &'static [(&'static str, &'static str)] {
            match language {
                $(Language::$language => files!(
                    $code: "numbers", "names", "effects", "answer", "choice", "money", "workload", "notes", "screen", "warnings", "report", "tables", "method", "figures"
                ),)*
            }
        }
    };
}

catalogs!(English "en", Portuguese "pt", Spanish "es", Russian "ru");

/// Of a language.
pub fn catalog(language: Language) -> &'static Catalog {
    static READ: [OnceLock<Catalog>; 4] = [const { OnceLock::new() }; 4];
    READ[language as usize].get_or_init(|| Catalog::read(files(language)))
}

impl Catalog {
    fn read(files: &[(&'static str, &'static str)]) -> Catalog {
        let mut catalog = Catalog::default();
        for (file, text) in files {
            for (place, line) in text.lines().enumerate() {
                if let Err(what) = catalog.add(line) {
                    catalog.mistakes.push(Mistake {
                        file,
                        line: place + 1,
                        what,
                    });
                }
            }
        }
        catalog
    }

    /// `id = text`; empty lines and lines with `#` are for the reader.
    fn add(&mut self, line: &'static str) -> Result<(), String> {
        if line.trim().is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let (id, text) = line.split_once(" = ").ok_or("not `id = text`")?;
        let pattern = Pattern::parse(text)?;
        match self.messages.insert(id, pattern) {
            None => Ok(()),
            Some(_) => Err(format!("`{id}` is there twice")),
        }
    }

    pub fn get(&self, id: &str) -> Option<&Pattern> {
        self.messages.get(id)
    }

    pub fn messages(&self) -> impl Iterator<Item = (&'static str, &Pattern)> {
        self.messages.iter().map(|(id, pattern)| (*id, pattern))
    }

    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }
}
