//! What figures along a numeric factor share: how lines look, which of many are seen at first, and
//! the axis of the levels.

use serde_json::{Value, json};

use super::arrange::DASHES;
use super::axis::label;

/// More lines wait in the legend until they are asked for.
const MOST_VISIBLE: usize = 12;
/// More are only in the table.
const MOST_LINES: usize = 48;
/// More levels do not fit below the axis.
const MOST_TICKS: usize = 16;

/// How one line is drawn.
pub(super) struct Look {
    pub(super) name: String,
    /// Stands for the name where it must be a plain word.
    pub(super) group: String,
    pub(super) colour: String,
    pub(super) dash: &'static str,
    visible: bool,
}

impl Look {
    /// What Plotly calls it: shown, or waiting in the legend.
    pub(super) fn visible(&self) -> Value {
        match self.visible {
            true => json!(true),
            false => json!("legendonly"),
        }
    }
}

/// The lines of one figure.
pub(super) struct Looks {
    pub(super) looks: Vec<Look>,
    in_all: usize,
}

impl Looks {
    pub(super) fn new<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> Self {
        let in_all = names.len();
        let drawn = in_all.min(MOST_LINES);
        // Spread over all of them, as neighbours are alike.
        let every = drawn.div_ceil(MOST_VISIBLE).max(1);
        let look = |(place, name): (usize, &str)| Look {
            name: label(name),
            group: format!("line-{place}"),
            colour: format!("@{}", place % 8 + 1),
            dash: DASHES[place / 8 % DASHES.len()].plotly,
            visible: place % every == 0,
        };
        Looks {
            looks: names.enumerate().take(MOST_LINES).map(look).collect(),
            in_all,
        }
    }

    /// What a reader does not see at once; begins with a space, or is empty.
    pub(super) fn sentence(&self) -> String {
        let mut text = String::new();
        if self.looks.iter().any(|l| !l.visible) {
            text += " A click in the legend shows the lines that are grey there.";
        }
        if self.in_all > self.looks.len() {
            text += &format!(" The first {} of {} lines.", self.looks.len(), self.in_all);
        }
        text
    }
}

/// Levels at their own numbers; logarithmic where they allow it.
pub(super) fn level_axis(name: &str, values: &[f64]) -> Value {
    let mut axis = json!({ "title": { "text": label(name) }, "tickformat": "~g" });
    if values.iter().all(|v| *v > 0.0) {
        axis["type"] = json!("log");
    }
    if values.len() <= MOST_TICKS {
        axis["tickmode"] = json!("array");
        axis["tickvals"] = json!(values);
    }
    axis
}
