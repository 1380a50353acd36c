use std::fmt;

use crate::{Diagnostic, Source, Style};

/// The mistakes in a text, with the text, so that whoever reads them sees the lines.
#[derive(Debug)]
pub struct Mistakes {
    /// What the user calls the text: a file, an option.
    pub name: String,
    pub text: String,
    pub found: Vec<Diagnostic>,
}

impl Mistakes {
    pub fn new(name: &str, text: &str, found: Vec<Diagnostic>) -> Self {
        Mistakes {
            name: name.to_owned(),
            text: text.to_owned(),
            found,
        }
    }

    pub fn rendered(&self, style: Style) -> String {
        let Mistakes { name, text, found } = self;
        let rendered = Source { name, text }.render_all(found, style);
        rendered.trim_end().to_owned()
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rendered(Style::Plain))
    }
}
