//! What a figure shows, as a value: axes, series, points. Every figure of a report is built as a
//! [`Figure`] and drawn by [`svg`] alone, or by [`pgf`] for LaTeX, so a new figure is one function
//! that returns one. The
//! numbers of it are written next to the picture by [`data`], for the script of the page.

mod axes;
mod colour;
mod data;
mod file;
mod layout;
mod marks;
mod pgf;
mod scale;
mod svg;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use colour::{Colour, css as palette_css};
pub(crate) use data::data;
pub(crate) use file::svg_file;
pub(crate) use layout::share_heights;
pub(crate) use pgf::pgf;
pub(crate) use scale::{Range, Reach};
pub(crate) use svg::{svg, swatch};

pub(crate) struct Figure {
    /// What the figure shows: its caption, and what is read to those who cannot see it.
    pub(crate) caption: String,
    pub(crate) height: u32,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// A second vertical axis, on the right.
    pub(crate) right: Option<Axis>,
    pub(crate) bars: BarMode,
    /// Later ones are drawn over earlier ones.
    pub(crate) series: Vec<Series>,
    /// Whether it has a legend of its own; small figures share one.
    pub(crate) legend: bool,
}

#[derive(Clone)]
pub(crate) struct Axis {
    pub(crate) title: String,
    pub(crate) scale: Scale,
    pub(crate) extent: Extent,
    /// A reader can change between a linear and a logarithmic axis.
    pub(crate) switchable: bool,
    /// Marked values; chosen by the drawing where there are none.
    pub(crate) ticks: Vec<f64>,
    /// Only whole numbers are marked.
    pub(crate) whole: bool,
}

#[derive(Clone)]
pub(crate) enum Scale {
    Linear,
    Logarithmic,
    /// Points stand at the places of categories: 0, 1, 2 …
    Categories(Vec<Category>),
}

#[derive(Clone)]
pub(crate) struct Category {
    /// Where there is little room.
    pub(crate) short: String,
    /// Lines below the short name where they fit, and in the text of a point.
    pub(crate) long: Vec<String>,
}

/// How far an axis reaches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Extent {
    /// Over the points, with some room.
    Points,
    /// The same, and over zero.
    FromZero,
    /// Over these values, with some room: axes that are compared.
    Over(Range),
    Exactly(Range),
    /// As other figures of the same quantity.
    Shared(Reach),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BarMode {
    SideBySide,
    Stacked,
}

pub(crate) struct Series {
    /// Its name in the legend; where empty, it is not there.
    pub(crate) name: String,
    /// Series of one group are shown and hidden together; a plain word, or empty.
    pub(crate) group: String,
    pub(crate) colour: Colour,
    pub(crate) mark: Mark,
    pub(crate) on: Side,
    /// Waits in the legend until it is requested.
    pub(crate) hidden: bool,
    /// The first line of what its points say.
    pub(crate) heading: String,
    pub(crate) points: Vec<Point>,
}

/// What the height of a point is measured by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
    /// Pixels above the foot: what has no value.
    Foot,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Mark {
    Bars,
    Line(Line),
    Symbols {
        size: f64,
    },
    /// Only the words of the points, turned, from the foot upwards.
    Words,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Line {
    pub(crate) width: f64,
    pub(crate) dash: Dash,
    /// Their size; 0 where there are none.
    pub(crate) dots: f64,
    /// Ends of points are a band around the line, not whiskers.
    pub(crate) band: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dash {
    Solid,
    Dashed,
    Dotted,
    Mixed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Symbol {
    Dot,
    Diamond,
    Cross,
    Triangle,
    /// A stroke across a horizontal row.
    Stroke,
}

#[derive(Clone)]
pub(crate) struct Point {
    pub(crate) x: f64,
    /// `None` means a gap.
    pub(crate) y: Option<f64>,
    pub(crate) x_ends: Option<Range>,
    pub(crate) y_ends: Option<Range>,
    pub(crate) symbol: Symbol,
    /// Further lines of what it says when it is pointed at; without any text it says nothing.
    pub(crate) says: String,
    /// Written next to it.
    pub(crate) label: String,
}

impl Axis {
    pub(crate) fn linear(title: impl Into<String>, extent: Extent) -> Self {
        Axis {
            title: title.into(),
            scale: Scale::Linear,
            extent,
            switchable: false,
            ticks: Vec::new(),
            whole: false,
        }
    }

    pub(crate) fn logarithmic(title: impl Into<String>) -> Self {
        Axis {
            scale: Scale::Logarithmic,
            ..Axis::linear(title, Extent::Points)
        }
    }

    pub(crate) fn categories(title: impl Into<String>, categories: Vec<Category>) -> Self {
        Axis {
            scale: Scale::Categories(categories),
            ..Axis::linear(title, Extent::Points)
        }
    }

    pub(crate) fn switchable(mut self) -> Self {
        self.switchable = true;
        self
    }

    pub(crate) fn is_logarithmic(&self) -> bool {
        matches!(self.scale, Scale::Logarithmic)
    }

    fn category_count(&self) -> Option<usize> {
        match &self.scale {
            Scale::Categories(categories) => Some(categories.len()),
            _ => None,
        }
    }
}

impl Series {
    pub(crate) fn new(name: impl Into<String>, colour: Colour, mark: Mark) -> Self {
        Series {
            name: name.into(),
            group: String::new(),
            colour,
            mark,
            on: Side::Left,
            hidden: false,
            heading: String::new(),
            points: Vec::new(),
        }
    }

    pub(crate) fn with(mut self, points: impl IntoIterator<Item = Point>) -> Self {
        self.points = points.into_iter().collect();
        self
    }
}

impl Point {
    pub(crate) fn new(x: f64, y: impl Into<Option<f64>>) -> Self {
        Point {
            x,
            y: y.into(),
            x_ends: None,
            y_ends: None,
            symbol: Symbol::Dot,
            says: String::new(),
            label: String::new(),
        }
    }

    pub(crate) fn says(mut self, text: impl Into<String>) -> Self {
        self.says = text.into();
        self
    }

    /// An interval of so much to both sides of the value.
    pub(crate) fn margin(mut self, margin: Option<f64>) -> Self {
        let ends = |(y, margin): (f64, f64)| Range::new(y - margin, y + margin);
        self.y_ends = self.y.zip(margin).map(ends);
        self
    }
}

impl Line {
    /// The usual size of dots on a line.
    pub(crate) const DOTS: f64 = 5.5;

    pub(crate) fn plain(width: f64, dash: Dash) -> Self {
        Line {
            width,
            dash,
            dots: 0.0,
            band: false,
        }
    }
}

impl Dash {
    pub(crate) const ALL: [Dash; 4] = [Dash::Solid, Dash::Dashed, Dash::Dotted, Dash::Mixed];

    /// As SVG writes it.
    fn array(self) -> &'static str {
        match self {
            Dash::Solid => "",
            Dash::Dashed => "7 4",
            Dash::Dotted => "2 3",
            Dash::Mixed => "8 3 2 3",
        }
    }
}

impl Figure {
    pub(crate) fn new(caption: impl Into<String>, height: u32, x: Axis, y: Axis) -> Self {
        Figure {
            caption: caption.into(),
            height,
            x,
            y,
            right: None,
            bars: BarMode::SideBySide,
            series: Vec::new(),
            legend: true,
        }
    }

    pub(crate) fn with(mut self, series: Vec<Series>) -> Self {
        self.series = series;
        self
    }

    /// Rows of categories, their values to the right.
    fn is_lying(&self) -> bool {
        self.y.category_count().is_some()
    }

    /// How many series of bars share the place of a category.
    fn bars_side_by_side(&self) -> usize {
        match self.bars {
            BarMode::Stacked => 1,
            BarMode::SideBySide => self.bar_series().count().max(1),
        }
    }

    fn bar_series(&self) -> impl Iterator<Item = &Series> {
        self.series.iter().filter(|s| s.mark == Mark::Bars)
    }

    /// Bands of many lines cover each other: each is then seen when its name is pointed at.
    pub(crate) fn has_many_bands(&self) -> bool {
        const MOST: usize = 3;
        let is_banded = |series: &&Series| {
            let has_band = matches!(series.mark, Mark::Line(line) if line.band);
            has_band && series.points.iter().any(|point| point.y_ends.is_some())
        };
        self.series.iter().filter(is_banded).count() > MOST
    }

    /// What the series at this place is shown and hidden by.
    pub(crate) fn group(&self, place: usize) -> String {
        match self.series.get(place).map(|s| s.group.as_str()) {
            None | Some("") => format!("own-{place}"),
            Some(group) => group.to_owned(),
        }
    }

    /// Names stand at the ends of lines where these are few and the names short.
    fn names_at_lines(&self) -> bool {
        const MOST: usize = 5;
        const LONGEST: f64 = 170.0;
        let lines = || {
            let lines = self.series.iter().filter(|s| !s.name.is_empty());
            lines.filter(|s| matches!(s.mark, Mark::Line(_)))
        };
        let fits = |series: &Series| !series.hidden && text::width(&series.name) <= LONGEST;
        self.legend && (2..=MOST).contains(&lines().count()) && lines().all(fits)
    }
}
