//! Why numbers could not be analysed.

use std::fmt;

/// Why numbers could not be analysed. Indices count from zero, as the caller passed them.
#[derive(Debug, Clone, PartialEq)]
pub enum StatsError {
    /// Fewer values than the method needs.
    TooFew { needed: usize, given: usize },
    /// A value is infinite or not a number.
    NotFinite { index: usize },
    /// A value is zero or negative where a logarithm is taken.
    NotPositive { index: usize },
    /// An observation names another number of factors than the design has.
    WrongFactorCount {
        index: usize,
        expected: usize,
        given: usize,
    },
    /// An observation names a level that the design does not have.
    LevelOutOfRange {
        index: usize,
        factor: usize,
        level: usize,
        levels: usize,
    },
    /// More factors than can be analysed together.
    TooManyFactors { most: usize, given: usize },
    /// Two lists that belong together have different lengths.
    LengthMismatch { first: usize, second: usize },
    /// All values of the explaining variable are the same, so nothing can be fitted.
    NoSpread,
    /// A probability or confidence lies outside (0, 1).
    NotAProbability { given: f64 },
    /// No combination of levels has two values, so that nothing shows the noise.
    NoRepetitions,
    /// So few combinations have a second value that the noise of the others is not known from them.
    FewRepetitions,
}

impl fmt::Display for StatsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { needed, given } => write!(
                f,
                "{given} values are too few, at least {needed} are needed: repeat the measurement"
            ),
            Self::NotFinite { index } => write!(
                f,
                "value {index} is infinite or NaN: remove it before the analysis"
            ),
            Self::NotPositive { index } => write!(
                f,
                "value {index} is not above zero, so it has no logarithm: use the linear scale"
            ),
            Self::WrongFactorCount {
                index,
                expected,
                given,
            } => write!(
                f,
                "observation {index} gives levels of {given} factors, the design has {expected}"
            ),
            Self::LevelOutOfRange {
                index,
                factor,
                level,
                levels,
            } => write!(
                f,
                "observation {index} has level {level} of factor {factor}, which has only {levels} levels (counted from 0)"
            ),
            Self::TooManyFactors { most, given } => write!(
                f,
                "{given} factors are too many, at most {most} can be analysed together: fix some of them"
            ),
            Self::LengthMismatch { first, second } => write!(
                f,
                "two lists that must match have {first} and {second} entries"
            ),
            Self::NoSpread => write!(
                f,
                "all values of the explanatory variable are equal: measure at two or more points"
            ),
            Self::NotAProbability { given } => {
                write!(f, "{given} is not a probability between 0 and 1")
            }
            Self::NoRepetitions => write!(
                f,
                "every combination of levels was measured once: repeat the measurement"
            ),
            Self::FewRepetitions => write!(
                f,
                "too few combinations of levels were measured twice: repeat the measurement"
            ),
        }
    }
}

impl std::error::Error for StatsError {}

/// The values are finite and at least `needed`.
pub(crate) fn require_finite(values: &[f64], needed: usize) -> Result<(), StatsError> {
    if values.len() < needed {
        return Err(StatsError::TooFew {
            needed,
            given: values.len(),
        });
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(StatsError::NotFinite { index }),
        None => Ok(()),
    }
}

/// Logarithms of values that are all above zero.
pub(crate) fn logarithms(values: &[f64]) -> Result<Vec<f64>, StatsError> {
    require_finite(values, 0)?;
    match values.iter().position(|value| *value <= 0.0) {
        Some(index) => Err(StatsError::NotPositive { index }),
        None => Ok(values.iter().map(|value| value.ln()).collect()),
    }
}

/// A confidence or probability strictly between 0 and 1.
pub(crate) fn require_probability(given: f64) -> Result<(), StatsError> {
    if given > 0.0 && given < 1.0 {
        Ok(())
    } else {
        Err(StatsError::NotAProbability { given })
    }
}
