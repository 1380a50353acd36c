//! Numbers in a shape: what goes into a model and what comes out.

/// float32, row after row; the first size counts images.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    shape: Vec<usize>,
    values: Vec<f32>,
}

impl Tensor {
    /// None where the shape has another number of values.
    pub fn new(shape: Vec<usize>, values: Vec<f32>) -> Option<Tensor> {
        let product = shape.iter().try_fold(1, |a: usize, &b| a.checked_mul(b));
        (!shape.is_empty() && product == Some(values.len())).then_some(Tensor { shape, values })
    }

    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    pub fn values(&self) -> &[f32] {
        &self.values
    }

    pub fn images(&self) -> usize {
        self.shape[0]
    }

    /// The values of each image.
    pub fn rows(&self) -> impl Iterator<Item = &[f32]> {
        let size = self.shape[1..].iter().product::<usize>();
        self.values.chunks_exact(size.max(1))
    }

    /// Each image as a tensor of its own.
    pub(crate) fn singles(&self) -> impl Iterator<Item = Tensor> {
        self.rows().map(|row| Tensor {
            shape: [&[1], &self.shape[1..]].concat(),
            values: row.to_vec(),
        })
    }

    /// One after the other; none where they differ in more than the number of images.
    pub(crate) fn together(tensors: &[&Tensor]) -> Option<Tensor> {
        let (first, rest) = tensors.split_first()?;
        if rest.iter().any(|one| one.shape[1..] != first.shape[1..]) {
            return None;
        }
        let images = tensors.iter().map(|one| one.images()).sum();
        Some(Tensor {
            shape: [&[images], &first.shape[1..]].concat(),
            values: tensors
                .iter()
                .flat_map(|one| &one.values)
                .copied()
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_and_values_agree() {
        assert!(Tensor::new(vec![2, 3], vec![0.0; 6]).is_some());
        assert_eq!(Tensor::new(vec![2, 3], vec![0.0; 5]), None);
        assert_eq!(Tensor::new(vec![], vec![0.0]), None);
        assert_eq!(Tensor::new(vec![usize::MAX, 2], vec![0.0; 2]), None);
    }

    #[test]
    fn put_together_and_taken_apart() {
        let one = Tensor::new(vec![1, 2], vec![1.0, 2.0]).unwrap();
        let two = Tensor::new(vec![2, 2], vec![3.0, 4.0, 5.0, 6.0]).unwrap();
        let three = Tensor::together(&[&one, &two]).unwrap();
        assert_eq!(three.shape(), [3, 2]);
        assert_eq!(three.singles().next(), Some(one.clone()));
        assert_eq!(three.singles().count(), 3);
        let other = Tensor::new(vec![1, 3], vec![0.0; 3]).unwrap();
        assert_eq!(Tensor::together(&[&one, &other]), None);
    }
}
