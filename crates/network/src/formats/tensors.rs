use crate::Tensor;

use crate::formats::error::FormatError;

/// A tensor whose shape and numbers do not belong together would be read as another.
pub(crate) fn check(tensor: &Tensor) -> Result<(), FormatError> {
    let sides = tensor.shape.iter().map(|&side| u64::from(side));
    let elements = sides.fold(1, u64::saturating_mul);
    if elements == tensor.values.len() as u64 {
        return Ok(());
    }
    Err(FormatError::graph(format!(
        "`{}` has {} numbers but a shape for {elements}",
        tensor.name,
        tensor.values.len()
    )))
}
