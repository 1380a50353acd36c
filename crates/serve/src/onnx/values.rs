//! Tensors of ours as the runtime's, and back.

use half::f16;
use ort::session::SessionInputValue;
use ort::value::{
    DynValue, Outlet, PrimitiveTensorElementType, TensorElementType, TensorRef, ValueType,
};

use crate::model::{ModelError, Port};
use crate::tensor::{Kind, Tensor, Values, with_kinds};

/// The runtime has the same names for the kinds.
macro_rules! conversions {
    ($($kind:ident $type:ident $name:literal $npy:literal)*) => {
        /// Borrows the numbers.
        pub(super) fn input_value(tensor: &Tensor) -> ort::Result<SessionInputValue<'_>> {
            match tensor.values() {
                $(Values::$kind(values) => borrowed(tensor.shape(), values),)*
            }
        }

        pub(super) fn tensor(value: &DynValue) -> Result<Tensor, ModelError> {
            match kind(value.dtype()).ok_or_else(|| unserved("an output", value.dtype()))? {
                $(Kind::$kind => copied::<$type>(value),)*
            }
        }

        fn kind(value: &ValueType) -> Option<Kind> {
            match value {
                $(ValueType::Tensor { ty: TensorElementType::$kind, .. } => Some(Kind::$kind),)*
                _ => None,
            }
        }
    };
}

with_kinds!(conversions);

fn borrowed<'t, T: PrimitiveTensorElementType + Clone + std::fmt::Debug + 'static>(
    shape: &'t [usize],
    values: &'t [T],
) -> ort::Result<SessionInputValue<'t>> {
    Ok(TensorRef::from_array_view((shape, values))?.into())
}

fn copied<T: PrimitiveTensorElementType + Clone>(value: &DynValue) -> Result<Tensor, ModelError>
where
    Values: From<Vec<T>>,
{
    let (shape, values) = value.try_extract_tensor::<T>()?;
    let shape = shape.iter().map(|&size| size.max(0) as usize).collect();
    Tensor::new(shape, values.to_vec())
        .ok_or_else(|| ModelError::new("the size of an output does not match its shape"))
}

pub(super) fn port(outlet: &Outlet) -> Option<Port> {
    let ValueType::Tensor { shape, .. } = outlet.dtype() else {
        return None;
    };
    Some(Port {
        name: outlet.name().to_owned(),
        kind: kind(outlet.dtype())?,
        sizes: shape
            .iter()
            .map(|&size| usize::try_from(size).ok())
            .collect(),
    })
}

pub(super) fn unserved(what: &str, kind: &ValueType) -> ModelError {
    ModelError::new(format!(
        "{what} has the type {kind}; only tensors of numbers and bool can be served"
    ))
}
