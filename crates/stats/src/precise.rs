//! Keeping digits: centring of data with constant leading digits, and sums without loss.

/// Values less a shift near their mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Centred {
    pub shift: f64,
    pub values: Vec<f64>,
}

/// Subtracts a number near the mean from every value, without losing digits.
///
/// Each value is read as the shortest decimal that rounds to it, which is what was written before it became
/// binary: 1000000000000.4 is taken as exactly that, although the nearest `f64` is 2.4e-5 away. The subtraction
/// is done with twice the precision of `f64`.
pub fn centre(values: &[f64]) -> Centred {
    let count = values.len().max(1) as f64;
    let scaled: Vec<f64> = values.iter().map(|value| value / count).collect();
    let shift = sum(&scaled);
    let values = values.iter().map(|value| minus(*value, shift)).collect();
    Centred { shift, values }
}

/// The decimal that `value` was written as, minus `shift`.
fn minus(value: f64, shift: f64) -> f64 {
    let tail = decimal_tail(value);
    let difference = two_sum(value, -shift);
    difference.high + (difference.low + tail)
}

/// What the shortest decimal that rounds to `value` has beyond `value`: at most half a unit in the last place.
fn decimal_tail(value: f64) -> f64 {
    // Powers of ten up to 10^22 are exact in `f64`; beyond, and for whole numbers, there is no tail to recover.
    const LARGEST_EXACT_POWER: i32 = 22;
    if value == value.trunc() || !value.is_finite() {
        return 0.0;
    }
    let Some(decimal) = shortest_decimal(value.abs()) else {
        return 0.0;
    };
    if decimal.exponent >= 0 || decimal.exponent < -LARGEST_EXACT_POWER {
        return 0.0;
    }
    let power = 10f64.powi(-decimal.exponent);
    let high = decimal.digits as f64;
    let low = (i128::from(decimal.digits) - high as i128) as f64;
    // digits − |value| · power, exactly; the tail is that over the power.
    let product = two_product(value.abs(), power);
    let rest = ((high - product.high) + (low - product.low)) / power;
    if value < 0.0 { -rest } else { rest }
}

struct Decimal {
    digits: u64,
    exponent: i32,
}

fn shortest_decimal(value: f64) -> Option<Decimal> {
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    let fraction_digits = mantissa.split_once('.').map_or(0, |(_, rest)| rest.len());
    let digits: u64 = mantissa.replace('.', "").parse().ok()?;
    Some(Decimal {
        digits,
        exponent: exponent - i32::try_from(fraction_digits).ok()?,
    })
}

struct Pair {
    high: f64,
    low: f64,
}

/// a + b = high + low, exactly (Knuth, TAOCP vol. 2, 4.2.2).
fn two_sum(a: f64, b: f64) -> Pair {
    let high = a + b;
    let part = high - a;
    Pair {
        high,
        low: (a - (high - part)) + (b - part),
    }
}

/// a · b = high + low, exactly.
fn two_product(a: f64, b: f64) -> Pair {
    let high = a * b;
    Pair {
        high,
        low: a.mul_add(b, -high),
    }
}

/// Sum with the rounding errors carried along (Neumaier 1974).
pub fn sum(values: &[f64]) -> f64 {
    let mut total = Accumulator::default();
    for value in values {
        total.add(*value);
    }
    total.total()
}

/// Mean of the values, zero for none.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let centred = centre(values);
    centred.shift + sum(&centred.values) / values.len() as f64
}

/// A running sum that carries its rounding error (Neumaier 1974).
#[derive(Debug, Clone, Copy, Default)]
pub struct Accumulator {
    sum: f64,
    error: f64,
}

impl Accumulator {
    pub fn add(&mut self, value: f64) {
        let pair = two_sum(self.sum, value);
        self.sum = pair.high;
        self.error += pair.low;
    }

    pub fn total(&self) -> f64 {
        self.sum + self.error
    }
}

/// Sum of squares, carried like [`sum`].
pub fn sum_of_squares(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut total = Accumulator::default();
    for value in values {
        total.add(value * value);
    }
    total.total()
}
