//! Numbers in a shape: what goes into a model and what comes out.

mod element;

use std::ops::Range;

use half::f16;
use serde::ser::{Serialize, Serializer};

pub(crate) use element::{Element, Number};

/// Every kind of numbers: its type, its name in the Open Inference Protocol, its name in NumPy's files.
macro_rules! with_kinds {
    ($made_of:ident) => {
        $made_of! {
            Float32 f32 "FP32" "<f4"
            Float64 f64 "FP64" "<f8"
            Float16 f16 "FP16" "<f2"
            Int8 i8 "INT8" "|i1"
            Int16 i16 "INT16" "<i2"
            Int32 i32 "INT32" "<i4"
            Int64 i64 "INT64" "<i8"
            Uint8 u8 "UINT8" "|u1"
            Uint16 u16 "UINT16" "<u2"
            Uint32 u32 "UINT32" "<u4"
            Uint64 u64 "UINT64" "<u8"
            Bool bool "BOOL" "|b1"
        }
    };
}
pub(crate) use with_kinds;

macro_rules! kinds {
    ($($kind:ident $type:ident $name:literal $npy:literal)*) => {
        /// What a tensor's elements are.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Kind { $($kind,)* }

        impl Kind {
            const ALL: &[Kind] = &[$(Kind::$kind,)*];

            /// As in the Open Inference Protocol.
            pub fn name(self) -> &'static str {
                match self { $(Kind::$kind => $name,)* }
            }

            fn npy(self) -> &'static str {
                match self { $(Kind::$kind => $npy,)* }
            }
        }

        /// A tensor's elements, row after row.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Values { $($kind(Vec<$type>),)* }

        $(impl From<Vec<$type>> for Values {
            fn from(values: Vec<$type>) -> Values { Values::$kind(values) }
        })*

        impl Values {
            pub fn kind(&self) -> Kind {
                match self { $(Values::$kind(_) => Kind::$kind,)* }
            }

            pub(crate) fn len(&self) -> usize {
                match self { $(Values::$kind(values) => values.len(),)* }
            }

            pub(crate) fn zeros(kind: Kind, count: usize) -> Values {
                match kind { $(Kind::$kind => vec![$type::default(); count].into(),)* }
            }

            fn part(&self, range: Range<usize>) -> Values {
                match self { $(Values::$kind(values) => values[range].to_vec().into(),)* }
            }

            /// False where the kinds differ.
            fn append(&mut self, more: &Values) -> bool {
                match (self, more) {
                    $((Values::$kind(values), Values::$kind(more)) => values.extend_from_slice(more),)*
                    _ => return false,
                }
                true
            }

            /// `None` if the bytes are not a whole number of elements.
            pub(crate) fn from_le_bytes(kind: Kind, bytes: &[u8]) -> Option<Values> {
                match kind { $(Kind::$kind => element::from_le_bytes::<$type>(bytes).map(Values::from),)* }
            }

            /// The first value that this kind cannot hold is the error.
            pub(crate) fn converted(self, kind: Kind) -> Result<Values, Number> {
                match (self, kind) {
                    $((Values::$kind(values), Kind::$kind) => {
                        element::check_finite(&values)?;
                        Ok(values.into())
                    })*
                    $((Values::$kind(values), _) => element::converted(&values, kind),)*
                }
            }

            fn from_numbers(kind: Kind, numbers: impl Iterator<Item = Number>) -> Result<Values, Number> {
                match kind { $(Kind::$kind => element::collected::<$type>(numbers).map(Values::from),)* }
            }

            /// As 64-bit numbers; `None` if they are not floating-point.
            pub(crate) fn scores(&self) -> Option<Vec<f64>> {
                match self {
                    Values::Float32(values) => Some(values.iter().map(|&value| value.into()).collect()),
                    Values::Float64(values) => Some(values.clone()),
                    Values::Float16(values) => Some(values.iter().map(|&value| value.into()).collect()),
                    _ => None,
                }
            }
        }

        /// A flat list.
        impl Serialize for Values {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Values::$kind(values) => serializer.collect_seq(values.iter().map(|value| value.json())),)*
                }
            }
        }
    };
}

with_kinds!(kinds);

impl Kind {
    pub(crate) fn of_name(name: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    pub(crate) fn of_npy(word: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|kind| kind.npy() == word)
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Kind::Float32 | Kind::Float64 | Kind::Float16)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    shape: Vec<usize>,
    values: Values,
}

impl Tensor {
    /// `None` if the shape has another number of values.
    pub fn new(shape: Vec<usize>, values: impl Into<Values>) -> Option<Tensor> {
        let values = values.into();
        let product = shape.iter().try_fold(1, |a: usize, &b| a.checked_mul(b));
        (product == Some(values.len())).then_some(Tensor { shape, values })
    }

    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Where they are float32.
    pub fn floats(&self) -> Option<&[f32]> {
        match &self.values {
            Values::Float32(values) => Some(values),
            _ => None,
        }
    }

    /// The first size, where it counts examples.
    pub fn examples(&self) -> usize {
        self.shape.first().copied().unwrap_or(1)
    }

    /// Some of the examples.
    pub(crate) fn part(&self, examples: Range<usize>) -> Tensor {
        let size: usize = self.shape.iter().skip(1).product();
        let sizes = self.shape.iter().copied().skip(1);
        Tensor {
            shape: [examples.len()].into_iter().chain(sizes).collect(),
            values: self.values.part(examples.start * size..examples.end * size),
        }
    }

    /// One after the other; `None` if they differ in more than the number of examples.
    pub(crate) fn together<'t>(tensors: impl IntoIterator<Item = &'t Tensor>) -> Option<Tensor> {
        let mut tensors = tensors.into_iter();
        let mut all = tensors.next()?.clone();
        for more in tensors {
            if all.shape.is_empty()
                || more.shape.len() != all.shape.len()
                || more.shape[1..] != all.shape[1..]
                || !all.values.append(&more.values)
            {
                return None;
            }
            all.shape[0] += more.shape[0];
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_and_values_agree() {
        assert!(Tensor::new(vec![2, 3], vec![0.0_f32; 6]).is_some());
        assert_eq!(Tensor::new(vec![2, 3], vec![0_i64; 5]), None);
        assert!(Tensor::new(vec![], vec![0.0_f32]).is_some());
        assert_eq!(Tensor::new(vec![usize::MAX, 2], vec![0.0_f32; 2]), None);
    }

    #[test]
    fn put_together_and_taken_apart() {
        let one = Tensor::new(vec![1, 2], vec![1_i64, 2]).unwrap();
        let two = Tensor::new(vec![2, 2], vec![3_i64, 4, 5, 6]).unwrap();
        let three = Tensor::together([&one, &two]).unwrap();
        assert_eq!(three.shape(), [3, 2]);
        assert_eq!(three.part(0..1), one);
        assert_eq!(three.part(1..3), two);
        let longer = Tensor::new(vec![1, 3], vec![0_i64; 3]).unwrap();
        assert_eq!(Tensor::together([&one, &longer]), None);
        let floats = Tensor::new(vec![1, 2], vec![0.0_f32; 2]).unwrap();
        assert_eq!(Tensor::together([&one, &floats]), None);
        let scalar = Tensor::new(vec![], vec![0_i64]).unwrap();
        assert_eq!(Tensor::together([&scalar, &scalar]), None);
    }

    #[test]
    fn values_of_one_kind_as_another() {
        let check = |values: Values, kind: Kind, expected: Result<Values, &str>| {
            let found = values.converted(kind);
            assert_eq!(
                found.map_err(|number| number.to_string()),
                expected.map_err(str::to_owned)
            );
        };
        check(
            vec![1_i64, -2].into(),
            Kind::Float32,
            Ok(vec![1_f32, -2.0].into()),
        );
        check(
            vec![1.0, 2.0].into(),
            Kind::Int64,
            Ok(vec![1_i64, 2].into()),
        );
        check(vec![1.0, 2.5].into(), Kind::Int64, Err("2.5"));
        check(vec![3_i64, 256].into(), Kind::Uint8, Err("256"));
        check(vec![-1_i64].into(), Kind::Uint64, Err("-1"));
        check(
            vec![1_i64, 0].into(),
            Kind::Bool,
            Ok(vec![true, false].into()),
        );
        check(vec![2_i64].into(), Kind::Bool, Err("2"));
        check(vec![1e39].into(), Kind::Float32, Err("1e39"));
        check(vec![f32::NAN].into(), Kind::Float32, Err("NaN"));
        check(vec![1e300].into(), Kind::Int64, Err("1e300"));
        check(
            vec![0.5_f32].into(),
            Kind::Float16,
            Ok(vec![f16::from_f32(0.5)].into()),
        );
        check(vec![1e6].into(), Kind::Float16, Err("1000000"));
        let exact = i64::MAX - 1;
        check(vec![exact].into(), Kind::Int64, Ok(vec![exact].into()));
    }

    #[test]
    fn values_are_written_as_json() {
        let check = |values: Values, expected: &str| {
            assert_eq!(serde_json::to_string(&values).unwrap(), expected);
        };
        check(vec![0.1_f32, f32::NAN].into(), "[0.1,null]");
        check(vec![f16::from_f32(0.5)].into(), "[0.5]");
        check(vec![i64::MIN].into(), "[-9223372036854775808]");
        check(vec![true].into(), "[true]");
    }
}
