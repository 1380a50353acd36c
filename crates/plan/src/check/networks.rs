//! The networks a study names: of the zoo, or from files next to it.

use std::collections::BTreeMap;
use std::io;

use diagnostics::{Diagnostic, Span};
use network::Description;

use crate::field::{Field, FieldKind};
use crate::read::{ReadOptions, Sent};

/// What only the folder of a training run has.
const JOB_FILE: &str = "job.json";

/// Each network is read once.
pub(super) struct Networks<'a> {
    options: &'a ReadOptions<'a>,
    known: BTreeMap<String, Description>,
}

impl<'a> Networks<'a> {
    pub(super) fn new(options: &'a ReadOptions<'a>) -> Self {
        Networks {
            options,
            known: BTreeMap::new(),
        }
    }

    /// What is wrong with naming this network; nothing if it can be used.
    pub(super) fn complaint(&mut self, name: &str, span: Span) -> Option<Diagnostic> {
        if self.known.contains_key(name) {
            return None;
        }
        let loaded = match name.ends_with(".toml") {
            true => self.load_file(name, span),
            false => load_from_zoo(name, span),
        };
        match loaded {
            Ok(description) => {
                self.known.insert(name.to_owned(), description);
                None
            }
            Err(diagnostic) => Some(*diagnostic),
        }
    }

    /// What is wrong with naming this model: a network, or something that was made elsewhere.
    pub(super) fn model_complaint(&mut self, name: &str, span: Span) -> Option<Diagnostic> {
        let is_network = network::names().any(|known| known == name) || name.ends_with(".toml");
        if is_network {
            return self.complaint(name, span);
        }
        self.is_missing(name).then(|| {
            let unknown = Diagnostic::unknown("model", name, span, network::names());
            unknown.note(
                "or the path, relative to the study file, of an ONNX file, of a folder with one, or of a run",
            )
        })
    }

    /// What is wrong with naming this file of what is sent.
    pub(super) fn sent_complaint(
        &self,
        field: &Field,
        typed: &str,
        span: Span,
    ) -> Option<Diagnostic> {
        let name = field.name;
        if self.is_missing(typed) {
            let message = format!("`{name}`: `{typed}` does not exist");
            let relative = "the path is relative to the folder of the study file";
            return Some(Diagnostic::at(span, message).note(relative));
        }
        let path = self.options.path_of(typed);
        let sent = match field.kind {
            FieldKind::Trace => Sent::Trace(&path),
            _ => Sent::Bodies(&path),
        };
        let wrong = (self.options.requests_in)(sent).err()?;
        Some(Diagnostic::at(span, format!("`{name}`: {wrong}")))
    }

    /// `None` if it cannot be read, which was complained of.
    pub(super) fn requests_in_trace(&self, typed: &str) -> Option<u64> {
        (self.options.requests_in)(Sent::Trace(&self.options.path_of(typed))).ok()
    }

    /// Whether a model's layers are known: a network, or a run. Of what was made elsewhere there is
    /// only the ONNX file.
    pub(super) fn has_layers(&self, model: &str) -> bool {
        let is_network = network::names().any(|known| known == model) || model.ends_with(".toml");
        let job = self.options.path_of(model).join(JOB_FILE);
        is_network || (self.options.read)(&job).is_ok()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Description> {
        self.known.get(name)
    }

    /// Whether a file or folder that the study names is not there.
    pub(super) fn is_missing(&self, typed: &str) -> bool {
        self.options.is_missing(typed)
    }

    fn load_file(&self, name: &str, span: Span) -> Result<Description, Box<Diagnostic>> {
        let path = self.options.path_of(name);
        let text = (self.options.read)(&path).map_err(|error| {
            let reason = match error.kind() {
                io::ErrorKind::NotFound => "file not found".to_owned(),
                _ => error.to_string(),
            };
            let message = format!("the network file `{name}` cannot be read: {reason}");
            let diagnostic = Diagnostic::at(span.clone(), message);
            Box::new(diagnostic.note("the path is relative to the folder of the study file"))
        })?;
        network::parse(&text).map_err(|mistakes| {
            let count = match mistakes.len() {
                1 => "an error".to_owned(),
                several => format!("{several} errors"),
            };
            let message = format!("the network file `{name}` has {count}");
            let mut diagnostic = Diagnostic::at(span, message);
            for mistake in &mistakes {
                let place = match &mistake.span {
                    Some(span) => format!("{name}:{}", line_number(&text, span.start)),
                    None => name.to_owned(),
                };
                diagnostic = diagnostic.note(format!("{place}: {}", mistake.message));
            }
            Box::new(diagnostic)
        })
    }
}

fn load_from_zoo(name: &str, span: Span) -> Result<Description, Box<Diagnostic>> {
    if !network::names().any(|known| known == name) {
        let unknown = Diagnostic::unknown("network", name, span, network::names());
        let files = "a name ending in .toml is the path of a network file";
        return Err(Box::new(unknown.note(files)));
    }
    network::load(name).map_err(|error| Box::new(Diagnostic::at(span, error.to_string())))
}

fn line_number(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}
