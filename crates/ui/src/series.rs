//! A number over time, kept short, and drawn small.

use std::fmt::Write as _;

use crate::html::Html;

/// Points that are kept: with more, every second one goes.
const MOST_POINTS: usize = 160;

#[derive(Debug, Clone, Default)]
pub(crate) struct Series {
    points: Vec<f64>,
    /// Every so many numbers are a point; one at first.
    halvings: u32,
    skipped: u32,
}

impl Series {
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut series = Series::default();
        values.into_iter().for_each(|value| series.add(value));
        series
    }

    pub(crate) fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        if self.skipped + 1 < 1 << self.halvings {
            self.skipped += 1;
            return;
        }
        self.skipped = 0;
        self.points.push(value);
        if self.points.len() >= MOST_POINTS {
            let mut place = 0;
            self.points.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.halvings += 1;
        }
    }

    /// Nothing for fewer than two points. `words` is what it shows, for who cannot see it.
    pub(crate) fn draw(&self, words: &str, is_large: bool) -> Html {
        let mut html = Html::new();
        if self.points.len() < 2 {
            return html;
        }
        let (width, height) = match is_large {
            true => (720.0, 160.0),
            false => (120.0, 24.0),
        };
        let low = self.points.iter().copied().fold(f64::INFINITY, f64::min);
        let high = self
            .points
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        let span = (high - low).max(f64::MIN_POSITIVE);
        let last = (self.points.len() - 1) as f64;
        let mut line = String::new();
        for (place, value) in self.points.iter().enumerate() {
            let x = place as f64 / last * (width - 4.0) + 2.0;
            let y = height - 2.0 - (value - low) / span * (height - 4.0);
            // Writing to a text never fails.
            _ = write!(line, "{x:.1},{y:.1} ");
        }
        html.raw(match is_large {
            true => "<svg class=\"line large\" role=\"img\"",
            false => "<svg class=\"line\" role=\"img\"",
        });
        html.attribute("viewBox", format!("0 0 {width} {height}"));
        html.attribute("aria-label", words);
        html.raw(" preserveAspectRatio=\"none\"><polyline vector-effect=\"non-scaling-stroke\"");
        html.attribute("points", line.trim_end());
        html.raw("/></svg>");
        html
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_series_keeps_its_course() {
        let series = Series::of((0..100_000).map(f64::from));
        assert!(series.points.len() < MOST_POINTS && series.points.len() >= MOST_POINTS / 2);
        assert!(series.points.is_sorted());
        assert!(series.points.last().is_some_and(|last| *last > 90_000.0));
        assert_eq!(Series::of([1.0, f64::NAN]).draw("loss", false), Html::new());
    }
}
