//! Tensors of ours as the runtime's, and back.

use ort::session::SessionInputValue;
use ort::value::{
    DynValue, Outlet, PrimitiveTensorElementType, TensorElementType, TensorRef, ValueType,
};

use crate::model::{ModelError, Port};
use crate::tensor::{Kind, Tensor, Values};

/// Borrows the numbers.
pub(super) fn input_value(tensor: &Tensor) -> ort::Result<SessionInputValue<'_>> {
    fn borrowed<'t, T: PrimitiveTensorElementType + Clone + std::fmt::Debug + 'static>(
        shape: &'t [usize],
        values: &'t [T],
    ) -> ort::Result<SessionInputValue<'t>> {
        Ok(TensorRef::from_array_view((shape, values))?.into())
    }
    let shape = tensor.shape();
    match tensor.values() {
        Values::Float32(values) => borrowed(shape, values),
        Values::Float64(values) => borrowed(shape, values),
        Values::Float16(values) => borrowed(shape, values),
        Values::Int8(values) => borrowed(shape, values),
        Values::Int16(values) => borrowed(shape, values),
        Values::Int32(values) => borrowed(shape, values),
        Values::Int64(values) => borrowed(shape, values),
        Values::Uint8(values) => borrowed(shape, values),
        Values::Uint16(values) => borrowed(shape, values),
        Values::Uint32(values) => borrowed(shape, values),
        Values::Uint64(values) => borrowed(shape, values),
        Values::Bool(values) => borrowed(shape, values),
    }
}

pub(super) fn tensor(value: &DynValue) -> Result<Tensor, ModelError> {
    fn copied<T: PrimitiveTensorElementType + Clone>(value: &DynValue) -> Result<Tensor, ModelError>
    where
        Values: From<Vec<T>>,
    {
        let (shape, values) = value.try_extract_tensor::<T>().map_err(ModelError::new)?;
        let shape = shape.iter().map(|&size| size.max(0) as usize).collect();
        Tensor::new(shape, values.to_vec())
            .ok_or_else(|| ModelError::new("the size of an output does not match its shape"))
    }
    match kind(value.dtype()).ok_or_else(|| unserved("an output", value.dtype()))? {
        Kind::Float32 => copied::<f32>(value),
        Kind::Float64 => copied::<f64>(value),
        Kind::Float16 => copied::<half::f16>(value),
        Kind::Int8 => copied::<i8>(value),
        Kind::Int16 => copied::<i16>(value),
        Kind::Int32 => copied::<i32>(value),
        Kind::Int64 => copied::<i64>(value),
        Kind::Uint8 => copied::<u8>(value),
        Kind::Uint16 => copied::<u16>(value),
        Kind::Uint32 => copied::<u32>(value),
        Kind::Uint64 => copied::<u64>(value),
        Kind::Bool => copied::<bool>(value),
    }
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

fn kind(value: &ValueType) -> Option<Kind> {
    let ValueType::Tensor { ty, .. } = value else {
        return None;
    };
    Some(match ty {
        TensorElementType::Float32 => Kind::Float32,
        TensorElementType::Float64 => Kind::Float64,
        TensorElementType::Float16 => Kind::Float16,
        TensorElementType::Int8 => Kind::Int8,
        TensorElementType::Int16 => Kind::Int16,
        TensorElementType::Int32 => Kind::Int32,
        TensorElementType::Int64 => Kind::Int64,
        TensorElementType::Uint8 => Kind::Uint8,
        TensorElementType::Uint16 => Kind::Uint16,
        TensorElementType::Uint32 => Kind::Uint32,
        TensorElementType::Uint64 => Kind::Uint64,
        TensorElementType::Bool => Kind::Bool,
        _ => return None,
    })
}
