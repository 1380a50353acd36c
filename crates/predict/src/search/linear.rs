//! The little linear algebra that a surrogate needs: symmetric positive matrices, row by row.

/// The lower triangle L with L Lᵀ = A, in place of A. False where A is not positive.
pub(super) fn cholesky(matrix: &mut [f64], size: usize) -> bool {
    for row in 0..size {
        for column in 0..=row {
            let (done, rest) = matrix.split_at(row * size);
            let this = &rest[..size];
            let other = match column < row {
                true => &done[column * size..column * size + column],
                false => &this[..column],
            };
            let dot: f64 = this[..column].iter().zip(other).map(|(a, b)| a * b).sum();
            let left = this[column] - dot;
            if column < row {
                matrix[row * size + column] = left / matrix[column * size + column];
            } else if left > 0.0 {
                matrix[row * size + row] = left.sqrt();
            } else {
                return false;
            }
        }
    }
    true
}

/// L⁻¹ v, in place of v.
pub(super) fn forward(lower: &[f64], size: usize, vector: &mut [f64]) {
    for row in 0..size {
        let (done, rest) = vector.split_at_mut(row);
        let dot: f64 = lower[row * size..row * size + row]
            .iter()
            .zip(done.iter())
            .map(|(a, b)| a * b)
            .sum();
        rest[0] = (rest[0] - dot) / lower[row * size + row];
    }
}

/// L⁻ᵀ v, in place of v.
pub(super) fn backward(lower: &[f64], size: usize, vector: &mut [f64]) {
    for row in (0..size).rev() {
        let mut left = vector[row];
        for below in row + 1..size {
            left -= lower[below * size + row] * vector[below];
        }
        vector[row] = left / lower[row * size + row];
    }
}

/// L⁻¹ B for many columns at once: rows of `block` are `width` long.
pub(super) fn forward_block(lower: &[f64], size: usize, block: &mut [f64], width: usize) {
    for row in 0..size {
        let (done, rest) = block.split_at_mut(row * width);
        let this = &mut rest[..width];
        for (other, earlier) in done.chunks_exact(width).enumerate() {
            let factor = lower[row * size + other];
            for (value, before) in this.iter_mut().zip(earlier) {
                *value -= factor * before;
            }
        }
        let diagonal = lower[row * size + row];
        this.iter_mut().for_each(|value| *value /= diagonal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved() {
        let matrix = [4.0, 2.0, 0.6, 2.0, 5.0, 1.0, 0.6, 1.0, 3.0];
        let mut lower = matrix;
        assert!(cholesky(&mut lower, 3));
        let mut solved = [1.0, 2.0, 3.0];
        forward(&lower, 3, &mut solved);
        let mut block = [1.0, 1.0, 2.0, 2.0, 3.0, 3.0];
        forward_block(&lower, 3, &mut block, 2);
        assert!((block[4] - solved[2]).abs() < 1e-12);
        backward(&lower, 3, &mut solved);
        for row in 0..3 {
            let found: f64 = (0..3).map(|c| matrix[row * 3 + c] * solved[c]).sum();
            assert!((found - (row + 1) as f64).abs() < 1e-12);
        }
        assert!(!cholesky(&mut [1.0, 2.0, 2.0, 1.0], 2));
    }
}
