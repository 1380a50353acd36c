//! Laws of growth, each as a scale times a shape: `time(x) = scale · shape(x / reference)`, shape 1 at
//! the reference.

use serde::Serialize;

/// How a time goes with a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// It does not depend on it.
    Constant,
    /// A constant part and one that is divided: `s + (1 − s) / u` (Amdahl 1967).
    Amdahl,
    /// Amdahl's law with a cost of coherence: `(1 + σ(u − 1) + κu(u − 1)) / u` (Gunther 1993).
    Scalability,
    /// A constant part and one in proportion: `s + (1 − s)·u`.
    Linear,
    /// `u^p`.
    Power,
    /// A constant part and a power: `s + (1 − s)·u^p`.
    PowerAndConstant,
    /// Of learning curves: `s + (1 − s)·u^(−r)`.
    PowerDecay,
    /// Of learning curves: `s + (1 − s)·e^(−r(u − 1))`.
    ExponentialDecay,
}

/// One parameter of a shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slot {
    pub(crate) name: &'static str,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Where small values matter: candidates stand closer to the lower bound.
    pub(crate) dense_at_low: bool,
}

/// At most two, the outer one first; unused places are zero.
pub(crate) type Shape = [f64; 2];

const fn slot(name: &'static str, low: f64, high: f64, dense_at_low: bool) -> Slot {
    Slot {
        name,
        low,
        high,
        dense_at_low,
    }
}

const CONSTANT_SHARE: Slot = slot("constant share", 0.0, 1.0, true);
const EXPONENT: Slot = slot("exponent", -5.0, 5.0, false);

impl Law {
    pub(crate) fn slots(self) -> &'static [Slot] {
        const AMDAHL: [Slot; 1] = [slot("serial share", 0.0, 1.0, true)];
        const SCALABILITY: [Slot; 2] = [
            slot("coherence", 0.0, 1.0, true),
            slot("contention", 0.0, 1.0, true),
        ];
        const DECAY: [Slot; 2] = [slot("rate", 0.0, 5.0, true), CONSTANT_SHARE];
        match self {
            Law::Constant => &[],
            Law::Amdahl => &AMDAHL,
            Law::Scalability => &SCALABILITY,
            Law::Linear => &[CONSTANT_SHARE],
            Law::Power => &[EXPONENT],
            Law::PowerAndConstant => &[EXPONENT, CONSTANT_SHARE],
            Law::PowerDecay | Law::ExponentialDecay => &DECAY,
        }
    }

    /// With the scale.
    pub fn parameters(self) -> usize {
        1 + self.slots().len()
    }

    /// Logarithm of the shape at `u`, above zero.
    pub(crate) fn ln_shape(self, shape: Shape, u: f64) -> f64 {
        let [first, second] = shape;
        let mixed = |constant: f64, rest: f64| (constant + (1.0 - constant) * rest).ln();
        match self {
            Law::Constant => 0.0,
            Law::Amdahl => mixed(first, 1.0 / u),
            Law::Scalability => {
                let beyond = u - 1.0;
                ((1.0 + second * beyond + first * u * beyond) / u).ln()
            }
            Law::Linear => mixed(first, u),
            Law::Power => first * u.ln(),
            Law::PowerAndConstant => mixed(second, u.powf(first)),
            Law::PowerDecay => mixed(second, u.powf(-first)),
            Law::ExponentialDecay => mixed(second, (-first * (u - 1.0)).exp()),
        }
    }

    /// Where the shape is lowest, if that is not at an end: the number above which more is slower.
    pub(crate) fn turning_point(self, shape: Shape) -> Option<f64> {
        let [coherence, contention] = shape;
        match self {
            Law::Scalability if coherence > 0.0 => Some(((1.0 - contention) / coherence).sqrt()),
            _ => None,
        }
    }
}

impl Slot {
    /// The candidate at `part` of the way, 0 to 1.
    pub(crate) fn candidate(&self, part: f64) -> f64 {
        let part = if self.dense_at_low {
            part.powi(3)
        } else {
            part
        };
        self.low + part * (self.high - self.low)
    }
}
