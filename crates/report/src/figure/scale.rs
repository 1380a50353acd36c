//! From values to places and back: ranges of axes, the values that are marked on them, and how
//! these are written.

use analyse::Estimate;

use super::{Axis, Extent, Scale};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Range {
    pub(crate) fn new(low: f64, high: f64) -> Self {
        Range { low, high }
    }

    /// The interval of an estimate, where it has one.
    pub(crate) fn of(estimate: &Estimate) -> Option<Self> {
        let interval = estimate.interval;
        interval.map(|i| Range::new(i.low, i.high))
    }

    /// `None` if no value is a number.
    pub(crate) fn over(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let finite = values.into_iter().filter(|v| v.is_finite());
        finite.fold(None, |range, v| match range {
            None => Some(Range::new(v, v)),
            Some(Range { low, high }) => Some(Range::new(low.min(v), high.max(v))),
        })
    }
}

/// What an axis reaches over, drawn linearly and, where its values allow it, logarithmically.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Reach {
    pub(super) linear: Range,
    pub(super) logarithmic: Option<Range>,
}

/// Room beyond the outermost values, as a part of what they span.
const ROOM: f64 = 0.06;

impl Reach {
    pub(super) fn of(axis: &Axis, values: &[f64]) -> Self {
        if let Some(count) = axis.category_count() {
            return Reach {
                linear: Range::new(-0.5, count.max(1) as f64 - 0.5),
                logarithmic: None,
            };
        }
        match axis.extent {
            Extent::Shared(reach) => return reach,
            Extent::Exactly(range) => {
                return Reach {
                    linear: range,
                    logarithmic: (range.low > 0.0).then_some(range),
                };
            }
            _ => {}
        }
        let ends: Vec<f64> = match axis.extent {
            Extent::Over(range) => vec![range.low, range.high],
            _ => values.to_vec(),
        };
        let over = Range::over(ends.iter().copied()).unwrap_or(Range::new(0.0, 1.0));
        let above = Range::over(ends.into_iter().filter(|v| *v > 0.0));
        Reach {
            linear: match axis.extent {
                Extent::FromZero => from_zero(over),
                _ => roomy(over),
            },
            logarithmic: above.map(|range| {
                let logs = roomy(Range::new(range.low.log10(), range.high.log10()));
                Range::new(10f64.powf(logs.low), 10f64.powf(logs.high))
            }),
        }
    }

    pub(super) fn chosen(&self, axis: &Axis) -> Mapping {
        match (&axis.scale, self.logarithmic) {
            (Scale::Logarithmic, Some(range)) => Mapping::new(range, true),
            _ => Mapping::new(self.linear, false),
        }
    }
}

fn roomy(range: Range) -> Range {
    let span = range.high - range.low;
    // One value alone stands in the middle.
    let room = match span > 0.0 {
        true => ROOM * span,
        false => (range.high.abs() * 0.2).max(0.1),
    };
    Range::new(range.low - room, range.high + room)
}

fn from_zero(range: Range) -> Range {
    let low = range.low.min(0.0);
    let high = range.high.max(0.0);
    match high - low > 0.0 {
        true => {
            let room = ROOM * (high - low);
            let below = if low < 0.0 { room } else { 0.0 };
            Range::new(low - below, high + if high > 0.0 { room } else { 0.0 })
        }
        false => Range::new(0.0, 1.0),
    }
}

/// A value to its place between two pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mapping {
    pub(super) range: Range,
    pub(super) logarithmic: bool,
    pub(super) from: f64,
    pub(super) to: f64,
}

/// Pixels between marked values.
const CLOSEST: f64 = 18.0;

impl Mapping {
    fn new(range: Range, logarithmic: bool) -> Self {
        Mapping {
            range,
            logarithmic,
            from: 0.0,
            to: 1.0,
        }
    }

    pub(super) fn between(mut self, from: f64, to: f64) -> Self {
        self.from = from;
        self.to = to;
        self
    }

    /// What a logarithm does not know stands at the low end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let Range { low, high } = self.range;
        let part = match self.logarithmic {
            true if value <= low => 0.0,
            true => (value / low).ln() / (high / low).ln(),
            false => (value - low) / (high - low),
        };
        self.from + part * (self.to - self.from)
    }

    pub(super) fn pixels(&self) -> f64 {
        (self.to - self.from).abs()
    }

    fn holds(&self, value: f64) -> bool {
        // Rounding must not take the outermost tick away.
        let slack = 1e-9 * (self.range.high - self.range.low).abs();
        value >= self.range.low - slack && value <= self.range.high + slack
    }

    /// At most so many values, evenly and at round numbers.
    pub(super) fn ticks(&self, most: usize, whole: bool) -> Vec<f64> {
        let ticks = match self.logarithmic {
            true => log_ticks(self.range, most),
            false => linear_ticks(self.range, most, whole),
        };
        let mut free = f64::NEG_INFINITY;
        let fits = |value: &f64| {
            let along = (self.at(*value) - self.from).abs();
            // Round numbers come close to each other at the end of a logarithmic axis.
            let fits = self.holds(*value) && (!self.logarithmic || along >= free);
            if fits {
                free = along + CLOSEST;
            }
            fits
        };
        ticks.into_iter().filter(fits).collect()
    }
}

pub(super) fn linear_ticks(range: Range, most: usize, whole: bool) -> Vec<f64> {
    let span = range.high - range.low;
    if !span.is_finite() || span <= 0.0 {
        return vec![range.low];
    }
    let step = round_step(span / most.max(2) as f64);
    let step = if whole { step.max(1.0) } else { step };
    let first = (range.low / step - 1e-9).ceil() as i64;
    let last = (range.high / step + 1e-9).floor() as i64;
    // Counting steps keeps sums of them from drifting.
    (first..=last).map(|n| n as f64 * step).collect()
}

/// The least of 1, 2, 5, 10 … times a power of ten that is not below.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let part = least / power;
    let rounds = [1.0, 2.0, 5.0, 10.0];
    let round = rounds.into_iter().find(|r| part <= r * (1.0 + 1e-9));
    round.unwrap_or(10.0) * power
}

/// Powers of ten, with 2 and 5 between them where there is room; round numbers below a decade.
pub(super) fn log_ticks(range: Range, most: usize) -> Vec<f64> {
    let decades = (range.high / range.low).log10();
    if !decades.is_finite() || decades <= 0.0 {
        return vec![range.low];
    }
    if decades < 1.0 {
        return linear_ticks(range, most, false);
    }
    let first = range.low.log10().floor() as i32;
    let last = range.high.log10().ceil() as i32;
    let parts: &[f64] = match most as f64 / decades {
        room if room >= 3.0 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let every = (decades / most.max(2) as f64).ceil().max(1.0) as i32;
    let powers = (first..=last).filter(|p| p.rem_euclid(every) == 0);
    powers
        .flat_map(|p| parts.iter().map(move |part| part * 10f64.powi(p)))
        .collect()
}

/// As few digits as the value has, of at most seven.
pub(super) fn tick_text(value: f64) -> String {
    let value = digits(value);
    let size = value.abs();
    if size > 0.0 && !(1e-7..1e9).contains(&size) {
        return scientific(value);
    }
    messages::number(&value.to_string())
}

/// The same, with as many decimals as the others have where steps between them are equal.
pub(super) fn tick_texts(ticks: &[f64], mapping: &Mapping) -> Vec<String> {
    let mut texts: Vec<String> = ticks.iter().copied().map(tick_text).collect();
    if mapping.logarithmic || texts.iter().any(|text| text.contains('×')) {
        return texts;
    }
    let decimals = |text: &String| text.split_once('.').map_or(0, |(_, part)| part.len());
    let most = texts.iter().map(decimals).max().unwrap_or(0);
    for text in texts.iter_mut().filter(|text| *text != "0") {
        let missing = most - decimals(text);
        if missing == most && most > 0 {
            text.push('.');
        }
        text.push_str(&"0".repeat(missing));
    }
    texts
}

/// Rounded to seven digits: more cannot be seen, and sums of steps have noise behind them.
pub(super) fn digits(value: f64) -> f64 {
    format!("{value:.6e}").parse().unwrap_or(value)
}

fn scientific(value: f64) -> String {
    let text = format!("{value:.2e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    let raised: String = power
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            digit => char::from_u32('⁰' as u32 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
        })
        .collect();
    let sign = digits.replace('-', "−");
    match sign.as_str() {
        "1" => format!("10{raised}"),
        sign => format!("{sign}×10{raised}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_linear(low: f64, high: f64, expected: &[f64]) {
        let found = linear_ticks(Range::new(low, high), 6, false);
        let texts = |ticks: &[f64]| ticks.iter().copied().map(tick_text).collect::<Vec<_>>();
        assert_eq!(texts(&found), texts(expected), "{low} to {high}");
    }

    #[test]
    fn ticks_are_round() {
        check_linear(0.0, 10.0, &[0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        check_linear(0.0, 0.00031, &[0.0, 0.0001, 0.0002, 0.0003]);
        check_linear(-1.0, 1.1, &[-1.0, -0.5, 0.0, 0.5, 1.0]);
        check_linear(
            10_240.0,
            10_310.0,
            &[10_240.0, 10_260.0, 10_280.0, 10_300.0],
        );
        check_linear(3.0, 3.0, &[3.0]);
        assert_eq!(linear_ticks(Range::new(0.8, 2.2), 8, true), [1.0, 2.0]);
    }

    #[test]
    fn logarithmic_ticks_are_powers_and_what_fits_between() {
        let log = |low, high, most| log_ticks(Range::new(low, high), most);
        assert_eq!(log(1.0, 1e6, 6), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6]);
        assert_eq!(
            log(1.0, 100.0, 8),
            [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0]
        );
        assert_eq!(log(1.0, 4.0, 3), [1.0, 2.0, 3.0, 4.0], "below a decade");
        assert!(log(1e-9, 1e9, 5).len() <= 6);
    }

    #[test]
    fn numbers_are_written_as_people_read_them() {
        let check = |value: f64, expected: &str| assert_eq!(tick_text(value), expected);
        check(0.0, "0");
        check(0.1 + 0.2, "0.3");
        check(-2.5, "−2.5");
        check(1_000.0, "1000");
        check(1_250_000.0, "1,250,000");
        check(0.00002, "0.00002");
        check(3e-9, "3×10⁻⁹");
        check(1e12, "10¹²");
    }

    #[test]
    fn neighbours_have_the_same_decimals() {
        let check = |ticks: &[f64], logarithmic: bool, expected: &[&str]| {
            let mapping = Mapping::new(Range::new(0.1, 1.0), logarithmic);
            assert_eq!(tick_texts(ticks, &mapping), expected);
        };
        check(
            &[0.0, 0.05, 0.1, 1.0],
            false,
            &["0", "0.05", "0.10", "1.00"],
        );
        check(&[0.05, 0.1, 1.0], true, &["0.05", "0.1", "1"]);
        check(&[5.0, 10.0], false, &["5", "10"]);
    }

    #[test]
    fn values_go_to_their_places() {
        let linear = Mapping::new(Range::new(0.0, 10.0), false).between(100.0, 0.0);
        assert_eq!(
            (linear.at(0.0), linear.at(2.5), linear.at(10.0)),
            (100.0, 75.0, 0.0)
        );
        let log = Mapping::new(Range::new(1.0, 100.0), true).between(0.0, 100.0);
        assert!((log.at(10.0) - 50.0).abs() < 1e-9);
        assert_eq!((log.at(0.0), log.at(-3.0)), (0.0, 0.0), "the foot of a bar");
    }

    #[test]
    fn axes_reach_over_their_points() {
        let check = |extent: Extent, values: &[f64], low: f64, high: f64| {
            let found = Reach::of(&Axis::linear("", extent), values).linear;
            let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
            assert!(near(found.low, low) && near(found.high, high), "{found:?}");
        };
        check(Extent::FromZero, &[5.0, 10.0], 0.0, 10.6);
        check(Extent::Points, &[0.0, 100.0], -6.0, 106.0);
        check(Extent::Points, &[5.0], 4.0, 6.0);
        check(Extent::FromZero, &[], 0.0, 1.06);
        check(Extent::FromZero, &[0.0, 0.0], 0.0, 1.0);
        check(Extent::Points, &[f64::NAN, 0.0, f64::INFINITY], -0.1, 0.1);
        check(
            Extent::Exactly(Range::new(0.0, 105.0)),
            &[500.0],
            0.0,
            105.0,
        );
        let none = Reach::of(&Axis::logarithmic(""), &[0.0, -1.0]);
        assert_eq!(
            none.logarithmic, None,
            "no logarithm of what is not above zero"
        );
    }
}
