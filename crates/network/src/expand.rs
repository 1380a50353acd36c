//! From what was typed to what it means: blocks written out, `from` resolved.

use std::collections::BTreeSet;

use diagnostics::{Diagnostic, Located, Problems, Span};

use crate::description::{Description, Layer, LayerOp};
use crate::names::Names;
use crate::settings::{Settings, builtin_kinds, is_builtin};
use crate::typed::{Entry, Setting, TypedBlock, TypedLayer, TypedNetwork};

/// Words of `from`: what the network or the block gets, and the layer before.
pub(crate) const RESERVED: [&str; 2] = [INPUT, PREVIOUS];
const INPUT: &str = "input";
const PREVIOUS: &str = "previous";

/// Words of settings.
pub(crate) const WORDS: [&str; 3] = ["classes", "channels", "same"];

/// The deepest published networks have about a thousand. Blocks in blocks grow fast.
const MOST_LAYERS: usize = 10_000;
const DEEPEST_BLOCKS: usize = 32;

pub(crate) fn expand(network: TypedNetwork, problems: &Problems) -> Option<Description> {
    if network.broken {
        return None;
    }
    let mut expansion = Expansion::new(&network.blocks);
    expansion.check_blocks();
    expansion.scope(&network.layers, &Frame::top());
    expansion.check_unused();
    let Expansion { layers, found, .. } = expansion;
    found.list.into_iter().for_each(|d| problems.push(d));
    Some(Description {
        name: network.name?,
        about: network.about,
        input: network.input,
        layers,
    })
}

struct Expansion<'a> {
    blocks: &'a [TypedBlock],
    layers: Vec<Layer>,
    found: Found,
    /// Blocks being written out, the innermost last.
    open: Vec<&'a str>,
    /// Layers and blocks met so far: bounds the work of blocks in blocks.
    steps: usize,
    /// While a block is checked by itself, the blocks it uses are not entered.
    shallow: bool,
}

/// The list of layers being written out.
struct Frame<'a> {
    /// `inception2.`; empty for the network itself.
    prefix: String,
    /// The block's parameters with their values.
    parameters: Vec<Entry>,
    /// What `input` means.
    input: usize,
    /// `None` for the network itself.
    block: Option<&'a TypedBlock>,
}

impl Frame<'_> {
    fn top() -> Self {
        Frame {
            prefix: String::new(),
            parameters: Vec::new(),
            input: 0,
            block: None,
        }
    }
}

/// Mistakes, each once: a block's own would come with every use of it.
#[derive(Default)]
struct Found {
    list: Vec<Diagnostic>,
    seen: BTreeSet<(usize, usize, String)>,
}

impl Found {
    fn push(&mut self, diagnostic: Diagnostic) {
        let span = diagnostic.span.clone().unwrap_or_default();
        if self
            .seen
            .insert((span.start, span.end, diagnostic.message.clone()))
        {
            self.list.push(diagnostic);
        }
    }
}

impl<'a> Expansion<'a> {
    fn new(blocks: &'a [TypedBlock]) -> Self {
        Expansion {
            blocks,
            layers: Vec::new(),
            found: Found::default(),
            open: Vec::new(),
            steps: 0,
            shallow: false,
        }
    }

    /// Each block by itself, whatever its parameters will be: used or not, its errors are shown.
    fn check_blocks(&mut self) {
        self.shallow = true;
        for block in self.blocks {
            let any = |name: &str, span: &Span| Entry {
                key: Located::new(name.to_owned(), span.clone()),
                value: Located::new(Setting::Any, span.clone()),
            };
            let frame = Frame {
                parameters: block
                    .parameters()
                    .map(|name| any(name, &block.name.span))
                    .collect(),
                block: Some(block),
                ..Frame::top()
            };
            self.scope(&block.layers, &frame);
            self.layers.clear();
            self.steps = 0;
        }
        self.shallow = false;
    }

    /// Writes out a list of layers; gives the index of its last.
    fn scope(&mut self, typed: &'a [TypedLayer], frame: &Frame<'a>) -> usize {
        let mut names = Names::new(typed, frame.block.is_none());
        let mut previous = frame.input;
        for layer in typed {
            let mut inputs = self.inputs(layer, &names, [frame.input, previous]);
            for _ in 0..layer.times {
                self.steps += 1;
                if self.steps > MOST_LAYERS {
                    self.too_many(layer);
                    return previous;
                }
                let name = names.next(layer);
                if names.places.contains_key(&name) {
                    let message = format!("two layers are named `{name}`");
                    self.found.push(Diagnostic::at(layer.span.clone(), message));
                }
                let site = Site {
                    layer,
                    name: format!("{}{name}", frame.prefix),
                    inputs,
                };
                previous = self.one(site, frame);
                names.places.insert(name, previous);
                inputs = vec![previous];
            }
        }
        previous
    }

    fn inputs(
        &mut self,
        layer: &TypedLayer,
        names: &Names,
        [input, previous]: [usize; 2],
    ) -> Vec<usize> {
        if layer.from.is_empty() {
            return vec![previous];
        }
        let mut inputs = Vec::new();
        for word in &layer.from {
            let place = match word.value.as_str() {
                INPUT => Some(input),
                PREVIOUS => Some(previous),
                name => names.places.get(name).copied(),
            };
            // A placeholder keeps the number of inputs right.
            inputs.push(place.unwrap_or(previous));
            if place.is_none() {
                self.found.push(names.unknown(word));
            }
        }
        inputs
    }

    /// One layer, or one block: gives the index of its output.
    fn one(&mut self, site: Site<'a>, frame: &Frame<'a>) -> usize {
        let Some(kind) = &site.layer.kind else {
            return self.place(site, LayerOp::Relu);
        };
        let settings = put_in(&site.layer.settings, &frame.parameters);
        if is_builtin(&kind.value) {
            let parameters = frame.block.iter().flat_map(|block| block.parameters());
            let problems = Problems::default();
            let op = Settings {
                kind: &kind.value,
                span: kind.span.clone(),
                entries: settings,
                parameters: parameters.collect(),
            }
            .layer(&problems);
            let arity = check_arity(&op, &site, kind);
            for problem in problems.into_sorted().into_iter().chain(arity) {
                self.found.push(problem);
            }
            return self.place(site, op);
        }
        if let Some(block) = self.blocks.iter().find(|b| b.name.value == kind.value) {
            let settings = self.known_words(settings, frame);
            return self.block(site, block, settings);
        }
        let blocks = self.blocks.iter().map(|block| block.name.value.as_str());
        let mut known: Vec<&str> = builtin_kinds().collect();
        known.extend(blocks);
        let span = kind.span.clone();
        self.found
            .push(Diagnostic::unknown("layer kind", &kind.value, span, known));
        self.place(site, LayerOp::Relu)
    }

    fn block(&mut self, site: Site<'a>, block: &'a TypedBlock, given: Vec<Entry>) -> usize {
        let name = block.name.value.as_str();
        let kind_span = site.kind_span();
        let parameters = self.arguments(block, given, &kind_span);
        let &[input] = &site.inputs[..] else {
            let message = format!("block `{name}` takes a single input");
            self.found
                .push(Diagnostic::at(kind_span, message).label("add or concat them first"));
            return self.place(site, LayerOp::Relu);
        };
        if self.open.contains(&name) {
            let message = format!("block `{name}` contains itself");
            let path = [&self.open[..], &[name]].concat().join(" → ");
            self.found
                .push(Diagnostic::at(kind_span, message).label(path));
            return self.place(site, LayerOp::Relu);
        }
        if self.open.len() == DEEPEST_BLOCKS {
            let message = format!("blocks are nested more than {DEEPEST_BLOCKS} deep");
            self.found.push(Diagnostic::at(kind_span, message));
            return self.place(site, LayerOp::Relu);
        }
        if self.shallow {
            return self.place(site, LayerOp::Relu);
        }
        self.open.push(name);
        let frame = Frame {
            prefix: format!("{}.", site.name),
            parameters,
            input,
            block: Some(block),
        };
        let output = self.scope(&block.layers, &frame);
        self.open.pop();
        output
    }

    /// A word that means nothing here must not reach the block, where it could mean a parameter.
    fn known_words(&mut self, mut settings: Vec<Entry>, frame: &Frame<'_>) -> Vec<Entry> {
        for entry in &mut settings {
            let Setting::Word(word) = &entry.value.value else {
                continue;
            };
            let mut known = WORDS.to_vec();
            if known.contains(&word.as_str()) {
                continue;
            }
            known.extend(frame.block.iter().flat_map(|block| block.parameters()));
            let kind = format!("value of `{}`:", entry.key.value);
            let span = entry.value.span.clone();
            self.found
                .push(Diagnostic::unknown(&kind, word, span, known));
            entry.value.value = Setting::Any;
        }
        settings
    }

    /// What the use gives, and the defaults for the rest.
    fn arguments(&mut self, block: &TypedBlock, given: Vec<Entry>, place: &Span) -> Vec<Entry> {
        for entry in &given {
            if !block.parameters().any(|known| known == entry.key.value) {
                let kind = format!("parameter of block `{}`:", block.name.value);
                self.found.push(Diagnostic::unknown(
                    &kind,
                    &entry.key.value,
                    entry.key.span.clone(),
                    block.parameters(),
                ));
            }
        }
        let is_given = |name: &str| given.iter().any(|entry| entry.key.value == name);
        for need in block.needs.iter().filter(|need| !is_given(&need.value)) {
            let message = format!("`{}` is missing in `{}`", need.value, block.name.value);
            self.found.push(
                Diagnostic::at(place.clone(), message).label(format!("add `{} = …`", need.value)),
            );
        }
        let defaults = block.defaults.iter().filter(|d| !is_given(&d.key.value));
        let defaults: Vec<Entry> = defaults.cloned().collect();
        given.into_iter().chain(defaults).collect()
    }

    fn place(&mut self, site: Site<'_>, op: LayerOp) -> usize {
        self.layers.push(Layer {
            name: site.name,
            op,
            inputs: site.inputs,
            span: site.layer.span.clone(),
        });
        self.layers.len()
    }

    fn too_many(&mut self, layer: &TypedLayer) {
        let message =
            format!("the network has more than {MOST_LAYERS} layers after expanding all blocks");
        if self.steps == MOST_LAYERS + 1 {
            self.found.push(
                Diagnostic::at(layer.span.clone(), message).label("this one exceeds the limit"),
            );
        }
    }

    /// A layer that nothing takes from is a `from` forgotten.
    fn check_unused(&mut self) {
        if !self.found.list.is_empty() {
            return;
        }
        let used: BTreeSet<usize> = self.layers.iter().flat_map(|l| l.inputs.clone()).collect();
        for (index, layer) in self.layers.iter().enumerate() {
            let last = index + 1 == self.layers.len();
            if !last && !used.contains(&(index + 1)) {
                let message = format!("the output of `{}` is not used", layer.name);
                self.found.push(
                    Diagnostic::at(layer.span.clone(), message)
                        .label("use it in the `from` of a different layer, or remove it"),
                );
            }
        }
    }
}

/// One layer being written out: as typed, with its full name and its inputs.
struct Site<'a> {
    layer: &'a TypedLayer,
    name: String,
    inputs: Vec<usize>,
}

impl Site<'_> {
    fn kind_span(&self) -> Span {
        let kind = self.layer.kind.as_ref();
        kind.map_or(self.layer.span.clone(), |kind| kind.span.clone())
    }
}

fn check_arity(op: &LayerOp, site: &Site<'_>, kind: &Located<String>) -> Option<Diagnostic> {
    let joins = matches!(op, LayerOp::Add | LayerOp::Concat);
    let message = match (joins, site.inputs.len()) {
        (true, 0 | 1) => format!("`{}` needs at least two inputs", kind.value),
        (false, 2..) => format!("`{}` takes a single input", kind.value),
        _ => return None,
    };
    let label = match joins {
        true => "add `from = [\"previous\", …]`",
        false => "add or concat them first",
    };
    Some(kind.wrong(message).label(label))
}

/// The settings with the names of parameters replaced by their values.
fn put_in(settings: &[Entry], parameters: &[Entry]) -> Vec<Entry> {
    let value_of = |value: &Located<Setting>| match &value.value {
        Setting::Word(word) => parameters
            .iter()
            .find(|parameter| parameter.key.value == *word)
            .map_or(value.clone(), |parameter| parameter.value.clone()),
        _ => value.clone(),
    };
    let replaced = |entry: &Entry| Entry {
        key: entry.key.clone(),
        value: match &entry.value.value {
            Setting::List(items) => Located::new(
                Setting::List(items.iter().map(value_of).collect()),
                entry.value.span.clone(),
            ),
            _ => value_of(&entry.value),
        },
    };
    settings.iter().map(replaced).collect()
}
