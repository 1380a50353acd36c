//! One number of a tensor: read from bytes, written to JSON, made of a number of another kind.

use std::fmt;

use half::f16;
use serde::Serialize;

use super::{Kind, Values};

/// A number of any kind, without loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Whole(i128),
    Float(f64),
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Whole(number) => number.fmt(f),
            Number::Float(number) if number.abs() >= 1e16 => write!(f, "{number:e}"),
            Number::Float(number) => number.fmt(f),
        }
    }
}

pub(crate) trait Element: Copy + Default {
    type Json: Serialize;

    /// `None` if it cannot be held; what is rounded is held.
    fn of(number: Number) -> Option<Self>;
    fn number(self) -> Number;
    fn json(self) -> Self::Json;
    fn from_le(bytes: &[u8]) -> Option<Self>;
    fn is_finite(self) -> bool {
        true
    }
}

macro_rules! whole {
    ($($type:ident)*) => {$(
        impl Element for $type {
            type Json = $type;

            fn of(number: Number) -> Option<$type> {
                match number {
                    Number::Whole(number) => number.try_into().ok(),
                    // Larger ones saturate, and do not fit either.
                    Number::Float(number) if number.fract() == 0.0 => (number as i128).try_into().ok(),
                    Number::Float(_) => None,
                }
            }

            fn number(self) -> Number {
                Number::Whole(self.into())
            }

            fn json(self) -> $type {
                self
            }

            fn from_le(bytes: &[u8]) -> Option<$type> {
                Some($type::from_le_bytes(bytes.try_into().ok()?))
            }
        }
    )*};
}

whole! { i8 i16 i32 i64 u8 u16 u32 u64 }

macro_rules! floats {
    ($($type:ident $json:ident $from_f64:expr;)*) => {$(
        impl Element for $type {
            type Json = $json;

            fn of(number: Number) -> Option<$type> {
                let number = match number {
                    Number::Whole(number) => number as f64,
                    Number::Float(number) => number,
                };
                Some($from_f64(number)).filter(|number: &$type| Element::is_finite(*number))
            }

            fn number(self) -> Number {
                Number::Float(self.into())
            }

            fn json(self) -> $json {
                self.into()
            }

            fn from_le(bytes: &[u8]) -> Option<$type> {
                Some($type::from_le_bytes(bytes.try_into().ok()?))
            }

            fn is_finite(self) -> bool {
                $type::is_finite(self)
            }
        }
    )*};
}

floats! {
    f32 f32 |number| number as f32;
    f64 f64 |number| number;
    f16 f32 f16::from_f64;
}

impl Element for bool {
    type Json = bool;

    fn of(number: Number) -> Option<bool> {
        match u8::of(number)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn number(self) -> Number {
        Number::Whole(self.into())
    }

    fn json(self) -> bool {
        self
    }

    fn from_le(bytes: &[u8]) -> Option<bool> {
        match bytes {
            [byte] => Some(*byte != 0),
            _ => None,
        }
    }
}

pub(super) fn from_le_bytes<T: Element>(bytes: &[u8]) -> Option<Vec<T>> {
    bytes.chunks(size_of::<T>()).map(T::from_le).collect()
}

pub(super) fn check_finite<T: Element>(values: &[T]) -> Result<(), Number> {
    match values.iter().find(|value| !value.is_finite()) {
        Some(value) => Err(value.number()),
        None => Ok(()),
    }
}

pub(super) fn converted<T: Element>(values: &[T], kind: Kind) -> Result<Values, Number> {
    Values::from_numbers(kind, values.iter().map(|value| value.number()))
}

pub(super) fn collected<T: Element>(
    numbers: impl Iterator<Item = Number>,
) -> Result<Vec<T>, Number> {
    numbers.map(|number| T::of(number).ok_or(number)).collect()
}
