//! The matrix product, on one thread: callers divide their work.

use gemm_common::Parallelism;

/// A matrix inside a slice.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a> {
    values: &'a [f32],
    rows: usize,
    columns: usize,
    row_step: usize,
    column_step: usize,
}

impl<'a> Matrix<'a> {
    /// Row by row; a row begins `row_step` values after the one before.
    pub(crate) fn new(values: &'a [f32], [rows, columns]: [usize; 2], row_step: usize) -> Self {
        let last = rows.saturating_sub(1) * row_step + columns;
        assert!(rows == 0 || last <= values.len(), "a matrix in its slice");
        Matrix {
            values,
            rows,
            columns,
            row_step,
            column_step: 1,
        }
    }

    /// Row by row without gaps.
    pub(crate) fn dense(values: &'a [f32], columns: usize) -> Self {
        Matrix::new(values, [values.len() / columns.max(1), columns], columns)
    }

    pub(crate) fn transposed(self) -> Self {
        Matrix {
            rows: self.columns,
            columns: self.rows,
            row_step: self.column_step,
            column_step: self.row_step,
            ..self
        }
    }
}

/// What becomes of the values that are already there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    Replaced,
    Added,
}

/// `result`, row by row without gaps, becomes the product of both.
pub(crate) fn product(left: Matrix<'_>, right: Matrix<'_>, result: &mut [f32], before: Before) {
    assert!(left.columns == right.rows, "inner sides of a product");
    assert!(
        result.len() == left.rows * right.columns,
        "outer sides of a product"
    );
    let step = |step: usize| step as isize;
    // The kernels prefer columns: the transposed product of the transposed matrices is the same.
    // SAFETY: both matrices lie in their slices (checked by `new`; `transposed` keeps that), the
    // result has as many values as the product (checked above), and is borrowed alone.
    unsafe {
        gemm_f32::gemm::f32::get_gemm_fn()(
            right.columns,
            left.rows,
            left.columns,
            result.as_mut_ptr(),
            step(right.columns),
            1,
            before == Before::Added,
            right.values.as_ptr(),
            step(right.row_step),
            step(right.column_step),
            left.values.as_ptr(),
            step(left.row_step),
            step(left.column_step),
            1.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_plain_loops() {
        for [rows, inner, columns] in [[1, 1, 1], [3, 2, 5], [17, 33, 9], [1, 70, 40], [40, 70, 1]]
        {
            let draw =
                |count: usize| -> Vec<f32> { (0..count).map(|i| (i % 7) as f32 - 3.0).collect() };
            let (a, b) = (draw(rows * inner), draw(inner * columns));
            let mut expected = vec![1.0; rows * columns];
            for (i, value) in expected.iter_mut().enumerate() {
                let (row, column) = (i / columns, i % columns);
                *value += (0..inner)
                    .map(|k| a[row * inner + k] * b[k * columns + column])
                    .sum::<f32>();
            }
            let (left, right) = (Matrix::dense(&a, inner), Matrix::dense(&b, columns));
            let mut found = vec![1.0; rows * columns];
            product(left, right, &mut found, Before::Added);
            assert_eq!(found, expected);
            let mut turned = vec![9.0; rows * columns];
            product(
                right.transposed(),
                left.transposed(),
                &mut turned,
                Before::Replaced,
            );
            for (i, value) in turned.iter().enumerate() {
                assert_eq!(value + 1.0, expected[i % rows * columns + i / rows]);
            }
        }
    }
}
