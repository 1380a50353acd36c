//! The settings of one layer: read by key, errors reported with positions.

use diagnostics::{Diagnostic, Located, Problems, Span};

use crate::description::{Count, LayerOp, PaddingRule};
use crate::graph::{Padding, Window};
use crate::typed::{Entry, LARGEST, Setting};

const BUILTIN: [&str; 13] = [
    "conv",
    "batch-norm",
    "relu",
    "max-pool",
    "avg-pool",
    "global-avg-pool",
    "dense",
    "dropout",
    "flatten",
    "add",
    "concat",
    "lrn",
    "softmax",
];

pub(crate) fn builtin_kinds() -> impl Iterator<Item = &'static str> + Clone {
    BUILTIN.into_iter()
}

pub(crate) fn is_builtin(kind: &str) -> bool {
    BUILTIN.contains(&kind)
}

/// A layer's settings with the block's parameters put in.
pub(crate) struct Settings<'a> {
    pub(crate) kind: &'a str,
    /// Where to say that something is missing.
    pub(crate) span: Span,
    pub(crate) entries: Vec<Entry>,
    /// Parameters that a word could have meant.
    pub(crate) parameters: Vec<&'a str>,
}

impl Settings<'_> {
    /// The layer that these settings make. With an error in `problems` it is any layer.
    pub(crate) fn layer(self, problems: &Problems) -> LayerOp {
        let mut reader = Reader {
            settings: &self,
            asked: Vec::new(),
            problems,
        };
        let op = reader.layer();
        let asked = reader.asked;
        for entry in &self.entries {
            if !asked.contains(&entry.key.value.as_str()) {
                problems.push(self.unknown_key(entry, &asked));
            }
        }
        op
    }

    fn unknown_key(&self, entry: &Entry, known: &[&'static str]) -> Diagnostic {
        let span = entry.key.span.clone();
        if known.is_empty() {
            let message = format!("`{}` has no settings", self.kind);
            return Diagnostic::at(span, message).label("leave it out");
        }
        let kind = format!("setting of `{}`:", self.kind);
        Diagnostic::unknown(&kind, &entry.key.value, span, known.iter().copied())
    }
}

struct Reader<'a> {
    settings: &'a Settings<'a>,
    asked: Vec<&'static str>,
    problems: &'a Problems,
}

impl Reader<'_> {
    fn layer(&mut self) -> LayerOp {
        match self.settings.kind {
            "conv" => LayerOp::Conv {
                kernel: self.pair("k", None),
                stride: self.pair("s", Some([1, 1])),
                padding: self.padding(),
                output: self.count("o", None),
                groups: self.count("groups", Some(Count::Fixed(1))),
                bias: self.flag("bias", true),
            },
            "batch-norm" => LayerOp::BatchNorm {
                epsilon: self.real("epsilon", Some(1e-5), 0.0..=1.0),
                momentum: self.real("momentum", Some(0.1), 0.0..=1.0),
            },
            "max-pool" => LayerOp::MaxPool(self.pool()),
            "avg-pool" => LayerOp::AvgPool(self.pool()),
            "global-avg-pool" => LayerOp::GlobalAvgPool,
            "dense" => LayerOp::Dense {
                output: self.count("o", None),
                bias: self.flag("bias", true),
            },
            "dropout" => LayerOp::Dropout {
                // A rate of 1 would leave nothing to scale up.
                rate: self.real("rate", None, 0.0..=0.999),
            },
            "flatten" => LayerOp::Flatten,
            "add" => LayerOp::Add,
            "concat" => LayerOp::Concat,
            "lrn" => LayerOp::Lrn {
                size: self.whole("size", Some(5)),
                alpha: self.real("alpha", Some(1e-4), 0.0..=1e6),
                beta: self.real("beta", Some(0.75), 0.0..=1e6),
                k: self.real("k", Some(1.0), 0.0..=1e6),
            },
            "softmax" => LayerOp::Softmax,
            _ => LayerOp::Relu,
        }
    }

    fn pool(&mut self) -> Window<PaddingRule> {
        let kernel = self.pair("k", None);
        let stride = self.pair("s", Some(kernel));
        let padding = match (self.padding(), self.flag("ceil", false)) {
            (PaddingRule::Explicit(padding), true) => PaddingRule::Ceil(padding),
            (padding, _) => padding,
        };
        Window {
            kernel,
            stride,
            padding,
        }
    }

    fn count(&mut self, key: &'static str, default: Option<Count>) -> Count {
        let Some(found) = self.find(key, default.is_none()) else {
            return default.unwrap_or(Count::Fixed(1));
        };
        match &found.value {
            Setting::Word(word) if word == "classes" => Count::Classes,
            Setting::Word(word) if word == "channels" => Count::Channels,
            _ => Count::Fixed(self.positive(key, &found, &["classes", "channels"])),
        }
    }

    fn whole(&mut self, key: &'static str, default: Option<u32>) -> u32 {
        match self.find(key, default.is_none()) {
            Some(found) => self.positive(key, &found, &[]),
            None => default.unwrap_or(1),
        }
    }

    /// `3`, or `[3, 5]` for height and width.
    fn pair(&mut self, key: &'static str, default: Option<[u32; 2]>) -> [u32; 2] {
        let Some(found) = self.find(key, default.is_none()) else {
            return default.unwrap_or([1, 1]);
        };
        match &found.value {
            Setting::List(items) => {
                if let [height, width] = &items[..] {
                    return [height, width].map(|side| self.positive(key, side, &[]));
                }
                self.wrong(key, &found, "a whole number or [height, width]");
                [1, 1]
            }
            _ => [self.positive(key, &found, &[]); 2],
        }
    }

    /// `1`, `[vertical, horizontal]`, `[top, bottom, left, right]` or `"same"`.
    fn padding(&mut self) -> PaddingRule {
        let none = PaddingRule::Explicit(Padding::default());
        let Some(found) = self.find("p", false) else {
            return none;
        };
        let sides = match &found.value {
            Setting::Word(word) if word == "same" => return PaddingRule::Same,
            Setting::List(items) => match &items[..] {
                [vertical, horizontal] => [vertical, vertical, horizontal, horizontal],
                [top, bottom, left, right] => [top, bottom, left, right],
                _ => {
                    let expected = "a whole number, [vertical, horizontal], \
                                    [top, bottom, left, right] or \"same\"";
                    self.wrong("p", &found, expected);
                    return none;
                }
            },
            _ => [&found; 4],
        };
        let [top, bottom, left, right] = sides.map(|side| self.from("p", side, 0, &["same"]));
        PaddingRule::Explicit(Padding {
            top,
            bottom,
            left,
            right,
        })
    }

    fn flag(&mut self, key: &'static str, default: bool) -> bool {
        let Some(found) = self.find(key, false) else {
            return default;
        };
        match &found.value {
            Setting::Flag(flag) => *flag,
            Setting::Any => default,
            _ => {
                self.wrong(key, &found, "true or false");
                default
            }
        }
    }

    fn real(
        &mut self,
        key: &'static str,
        default: Option<f64>,
        range: std::ops::RangeInclusive<f64>,
    ) -> f64 {
        let fallback = default.unwrap_or(*range.start());
        let Some(found) = self.find(key, default.is_none()) else {
            return fallback;
        };
        let number = match &found.value {
            Setting::Real(number) => *number,
            Setting::Whole(number) => *number as f64,
            Setting::Any => return fallback,
            _ => {
                self.wrong(key, &found, "a number");
                return fallback;
            }
        };
        if !range.contains(&number) {
            let expected = format!("a number from {} to {}", range.start(), range.end());
            self.wrong(key, &found, &expected);
        }
        number
    }

    fn positive(&mut self, key: &str, found: &Located<Setting>, words: &[&str]) -> u32 {
        self.from(key, found, 1, words)
    }

    /// A whole number of at least `least`; `words` are what could stand there instead.
    fn from(&mut self, key: &str, found: &Located<Setting>, least: i64, words: &[&str]) -> u32 {
        match &found.value {
            Setting::Whole(number) if (least..=LARGEST).contains(number) => *number as u32,
            Setting::Any => 1,
            Setting::Word(word) => {
                let known = words.iter().chain(&self.settings.parameters).copied();
                let kind = format!("value of `{key}`:");
                let span = found.span.clone();
                let mut diagnostic = Diagnostic::unknown(&kind, word, span, known.clone());
                if known.count() == 0 {
                    diagnostic = diagnostic.label("expected a whole number");
                }
                self.problems.push(diagnostic);
                1
            }
            _ => {
                let expected = format!("a whole number from {least} to {LARGEST}");
                self.wrong(key, found, &expected);
                1
            }
        }
    }

    fn find(&mut self, key: &'static str, required: bool) -> Option<Located<Setting>> {
        self.asked.push(key);
        let entry = self.settings.entries.iter().find(|e| e.key.value == key);
        if entry.is_none() && required {
            let message = format!("`{key}` is missing in `{}`", self.settings.kind);
            self.problems.push(
                Diagnostic::at(self.settings.span.clone(), message)
                    .label(format!("add `{key} = …`")),
            );
        }
        entry.map(|entry| entry.value.clone())
    }

    fn wrong(&mut self, key: &str, found: &Located<Setting>, expected: &str) {
        let message = format!("`{key}` of `{}` must be {expected}", self.settings.kind);
        self.problems.push(found.wrong(message));
    }
}
