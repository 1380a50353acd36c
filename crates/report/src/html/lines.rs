//! What figures along a numeric factor share: how lines look, which of many are seen at first, and
//! the axis of the levels.

use messages::{message, word};

use crate::figure::{Axis, Colour, Dash, Extent, Line, Mark, Series};

/// More lines wait in the legend until they are requested.
const MOST_VISIBLE: usize = 12;
/// More are only in the table.
const MOST_LINES: usize = 48;
/// More levels do not fit below the axis.
const MOST_TICKS: usize = 16;

/// How one line is drawn.
pub(super) struct Look {
    name: String,
    group: String,
    colour: Colour,
    dash: Dash,
    hidden: bool,
}

impl Look {
    /// Its line, without points.
    pub(super) fn line(&self) -> Series {
        let line = Line {
            dots: Line::DOTS,
            ..Line::plain(2.0, self.dash)
        };
        Series {
            name: self.name.clone(),
            ..self.marks(Mark::Line(line))
        }
    }

    /// Marks that belong to the line.
    pub(super) fn marks(&self, mark: Mark) -> Series {
        Series {
            group: self.group.clone(),
            hidden: self.hidden,
            ..Series::new("", self.colour, mark)
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
        let look = |(place, name): (usize, &str)| {
            // Those that are seen at first differ before the others do.
            let rank = place / every + place % every * MOST_VISIBLE;
            Look {
                name: name.to_owned(),
                group: format!("line-{place}"),
                colour: Colour::Series(rank),
                dash: Dash::ALL[rank / 8 % Dash::ALL.len()],
                hidden: place % every != 0,
            }
        };
        Looks {
            looks: names.enumerate().take(MOST_LINES).map(look).collect(),
            in_all,
        }
    }

    /// What a reader does not see at once; begins with a space, or is empty.
    pub(super) fn sentence(&self) -> String {
        let mut text = String::new();
        if self.looks.iter().any(|l| l.hidden) {
            text += word!("lines-greyed");
        }
        if self.in_all > self.looks.len() {
            text += &message!("lines-first", shown = self.looks.len(), all = self.in_all);
        }
        text
    }
}

/// Levels at their own numbers; logarithmic where they allow it.
pub(super) fn level_axis(name: &str, values: &[f64]) -> Axis {
    let axis = match values.iter().all(|v| *v > 0.0) {
        true => Axis::logarithmic(name),
        false => Axis::linear(name, Extent::Points),
    };
    Axis {
        ticks: match values.len() <= MOST_TICKS {
            true => values.to_vec(),
            false => Vec::new(),
        },
        ..axis
    }
}
