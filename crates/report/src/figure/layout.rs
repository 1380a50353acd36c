//! Where everything stands: margins, the mapping of each axis, the places of bars, and which words
//! of categories fit.

use super::scale::{Mapping, Range, Reach, tick_texts};
use super::text::{fitted, width};
use super::{Axis, BarMode, Category, Figure, Mark, Scale, Series, Side};

/// The script of a page draws for the width that the reader has; this is for paper, and for pages
/// whose scripts do not run.
pub(super) const WIDTH: f64 = 760.0;
/// Part of a category's room that bars take.
const BARS: f64 = 0.74;

pub(super) struct Layout<'a> {
    pub(super) figure: &'a Figure,
    pub(super) height: f64,
    pub(super) margins: Margins,
    pub(super) x: Mapping,
    pub(super) y: Mapping,
    pub(super) right: Option<Mapping>,
    /// Where each bar of each series begins: on zero, or on those below it.
    pub(super) bases: Vec<Vec<f64>>,
    pub(super) reach: AxesReach,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Margins {
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
    pub(super) left: f64,
}

pub(super) struct AxesReach {
    pub(super) x: Reach,
    pub(super) y: Reach,
    pub(super) right: Option<Reach>,
}

impl<'a> Layout<'a> {
    pub(super) fn new(figure: &'a Figure) -> Self {
        let height = f64::from(figure.height);
        let bases = bases(figure);
        let reach = AxesReach {
            x: Reach::of(&figure.x, &values(figure, &bases, Direction::Across)),
            y: Reach::of(
                &figure.y,
                &values(figure, &bases, Direction::Up(Side::Left)),
            ),
            right: figure
                .right
                .as_ref()
                .map(|axis| Reach::of(axis, &values(figure, &bases, Direction::Up(Side::Right)))),
        };
        let upright = |reach: &Reach, axis: &Axis| reach.chosen(axis).between(height, 0.0);
        let y = upright(&reach.y, &figure.y);
        let right = figure.right.as_ref().zip(reach.right);
        let right = right.map(|(axis, reach)| upright(&reach, axis));
        let margins = margins(figure, &y, right.as_ref());
        let (foot, head) = (height - margins.bottom, margins.top);
        Layout {
            figure,
            height,
            margins,
            x: reach
                .x
                .chosen(&figure.x)
                .between(margins.left, WIDTH - margins.right),
            y: match figure.is_lying() {
                true => y.between(head, foot),
                false => y.between(foot, head),
            },
            right: right.map(|mapping| mapping.between(foot, head)),
            bases,
            reach,
        }
    }

    pub(super) fn foot(&self) -> f64 {
        self.height - self.margins.bottom
    }

    /// The height of a value of a series.
    pub(super) fn up(&self, series: &Series, value: f64) -> f64 {
        match series.on {
            Side::Left => self.y.at(value),
            Side::Right => self.right.as_ref().unwrap_or(&self.y).at(value),
            Side::Foot => self.foot() - value,
        }
    }
}

/// Parts of one figure, which are compared with each other, have the same vertical axes.
pub(crate) fn share_heights(figures: &mut [Figure]) {
    let axis = |figure: &Figure, side: Side| match side {
        Side::Right => figure.right.clone(),
        _ => Some(figure.y.clone()),
    };
    for side in [Side::Left, Side::Right] {
        let axes: Vec<Axis> = figures.iter().filter_map(|f| axis(f, side)).collect();
        let Some(first) = axes.first().cloned() else {
            continue;
        };
        let is_same = |other: &Axis| other.title == first.title && other.extent == first.extent;
        if first.category_count().is_some() || !axes.iter().all(is_same) {
            continue;
        }
        let all = figures
            .iter()
            .flat_map(|figure| values(figure, &bases(figure), Direction::Up(side)));
        let reach = Reach::of(&first, &all.collect::<Vec<f64>>());
        for figure in figures.iter_mut() {
            let own = match side {
                Side::Right => figure.right.as_mut(),
                _ => Some(&mut figure.y),
            };
            own.into_iter()
                .for_each(|axis| axis.extent = super::Extent::Shared(reach));
        }
    }
}

/// At most so many ticks fit.
pub(super) fn most_ticks(mapping: &Mapping, apart: f64) -> usize {
    ((mapping.pixels() / apart) as usize).max(2)
}

pub(super) const APART_ACROSS: f64 = 80.0;
pub(super) const APART_UP: f64 = 34.0;

fn margins(figure: &Figure, y: &Mapping, right: Option<&Mapping>) -> Margins {
    let titled = |axis: &Axis| !axis.title.is_empty();
    let top = if titled(&figure.y) || figure.right.as_ref().is_some_and(titled) {
        32.0
    } else {
        12.0
    };
    let left = match &figure.y.scale {
        Scale::Categories(rows) => widest(rows.iter().map(|row| row_text(row, WIDTH))),
        _ => ticks_width(&figure.y, y),
    };
    let right = match (right, &figure.right) {
        (Some(mapping), Some(axis)) => ticks_width(axis, mapping),
        _ if figure.names_at_lines() => names_width(figure),
        _ => 4.0,
    };
    let (left, right) = (left.max(24.0) + 12.0, right + 12.0);
    let across = WIDTH - left - right;
    let words = match &figure.x.scale {
        Scale::Categories(categories) => {
            CategoryWords::fitting(categories, across).room(categories)
        }
        _ => 20.0,
    };
    let title = match &figure.x.scale {
        _ if !titled(&figure.x) => 0.0,
        Scale::Categories(all) if CategoryWords::fitting(all, across) == CategoryWords::Long => 0.0,
        _ => 22.0,
    };
    Margins {
        top,
        right,
        bottom: words + title + 6.0,
        left,
    }
}

fn ticks_width(axis: &Axis, mapping: &Mapping) -> f64 {
    let ticks = mapping.ticks(most_ticks(mapping, APART_UP), axis.whole);
    widest(tick_texts(&ticks, mapping))
}

fn widest(texts: impl IntoIterator<Item = String>) -> f64 {
    texts.into_iter().map(|t| width(&t)).fold(0.0, f64::max)
}

fn names_width(figure: &Figure) -> f64 {
    widest(figure.series.iter().map(|s| s.name.clone())) + 8.0
}

/// What stands before a row: all that is said of the category, cut to a part of the width.
pub(super) fn row_text(row: &Category, across: f64) -> String {
    let long = row.long.join(" · ");
    fitted(format!("{} {long}", row.short).trim_end(), 0.38 * across)
}

/// Which words stand below categories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CategoryWords {
    /// Short names and all levels.
    Long,
    /// Short names, of every one or of every so many.
    Short { every: usize },
    /// Short names, upwards.
    Turned,
}

/// A short name may be somebody's own word.
pub(super) const LONGEST_SHORT: f64 = 110.0;
/// Turned words need the height of a line each.
const LINE: f64 = 15.0;

impl CategoryWords {
    pub(super) fn fitting(categories: &[Category], across: f64) -> Self {
        let band = across / categories.len().max(1) as f64;
        let short = widest(categories.iter().map(|c| c.short.clone())).min(LONGEST_SHORT);
        let long = widest(categories.iter().flat_map(|c| c.long.iter().cloned()));
        let any_long = categories.iter().any(|c| !c.long.is_empty());
        if any_long && short.max(long) + 10.0 <= band {
            CategoryWords::Long
        } else if short + 8.0 <= band {
            CategoryWords::Short { every: 1 }
        } else if band >= LINE {
            CategoryWords::Turned
        } else {
            let rounds = (0..).flat_map(|power| [1, 2, 5].map(|part| part * 10_usize.pow(power)));
            let every = rounds
                .take(12)
                .find(|every| band * *every as f64 >= short + 10.0);
            CategoryWords::Short {
                every: every.unwrap_or(categories.len().max(1)),
            }
        }
    }

    fn room(self, categories: &[Category]) -> f64 {
        let lines = categories.iter().map(|c| c.long.len()).max().unwrap_or(0);
        match self {
            CategoryWords::Long => 20.0 + LINE * lines as f64,
            CategoryWords::Short { .. } => 20.0,
            CategoryWords::Turned => {
                widest(categories.iter().map(|c| fitted(&c.short, LONGEST_SHORT))) + 12.0
            }
        }
    }
}

/// The middle of a series' bars beside that of the category, and their width, in categories.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Slot {
    pub(super) offset: f64,
    pub(super) width: f64,
}

impl Slot {
    /// `None` if the series has no bars.
    pub(super) fn of(figure: &Figure, series: &Series) -> Option<Self> {
        let place = figure.bar_series().position(|s| std::ptr::eq(s, series))?;
        let places = figure.bars_side_by_side();
        let width = BARS / places as f64;
        let place = if places > 1 { place } else { 0 };
        Some(Slot {
            offset: (place as f64 + 0.5) * width - BARS / 2.0,
            width,
        })
    }
}

fn bases(figure: &Figure) -> Vec<Vec<f64>> {
    let stacked = figure.bars == BarMode::Stacked;
    let mut tops: std::collections::BTreeMap<i64, f64> = std::collections::BTreeMap::new();
    let mut base = |series: &Series, place: f64, value: Option<f64>| {
        if !stacked || series.mark != Mark::Bars {
            return 0.0;
        }
        let top = tops.entry(place.round() as i64).or_insert(0.0);
        let base = *top;
        *top += value.filter(|v| v.is_finite()).unwrap_or(0.0);
        base
    };
    let mut of_series = |series: &Series| {
        let points = series.points.iter();
        let bases = points.map(|p| match figure.is_lying() {
            true => base(series, p.y.unwrap_or(0.0), Some(p.x)),
            false => base(series, p.x, p.y),
        });
        bases.collect()
    };
    figure.series.iter().map(&mut of_series).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Across,
    Up(Side),
}

/// All that an axis must reach over.
fn values(figure: &Figure, bases: &[Vec<f64>], direction: Direction) -> Vec<f64> {
    let ends = |range: Option<Range>| range.into_iter().flat_map(|r| [r.low, r.high]);
    let along = match direction {
        Direction::Across => figure.is_lying(),
        Direction::Up(_) => !figure.is_lying(),
    };
    let mut values = Vec::new();
    for (series, bases) in figure.series.iter().zip(bases) {
        if direction != Direction::Across && direction != Direction::Up(series.on) {
            continue;
        }
        for (point, base) in series.points.iter().zip(bases) {
            let base = if along { *base } else { 0.0 };
            match direction {
                Direction::Across => {
                    values.push(base + point.x);
                    values.extend(ends(point.x_ends));
                }
                Direction::Up(_) => {
                    values.extend(point.y.map(|y| base + y));
                    values.extend(ends(point.y_ends));
                }
            }
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_categories_never_touch() {
        let many = |count: usize, long: &str| -> Vec<Category> {
            let one = |n: usize| Category {
                short: format!("C{}", n + 1),
                long: vec![long.to_owned()],
            };
            (0..count).map(one).collect()
        };
        let check = |count: usize, expected: CategoryWords| {
            let found = CategoryWords::fitting(&many(count, "batch 32"), 700.0);
            assert_eq!(found, expected, "{count}");
        };
        check(4, CategoryWords::Long);
        check(12, CategoryWords::Short { every: 1 });
        check(40, CategoryWords::Turned);
        check(200, CategoryWords::Short { every: 20 });
        check(1000, CategoryWords::Short { every: 100 });
        let words = vec![
            Category {
                short: "w".repeat(400),
                long: Vec::new()
            };
            5
        ];
        assert_eq!(
            CategoryWords::fitting(&words, 700.0),
            CategoryWords::Short { every: 1 }
        );
    }
}
