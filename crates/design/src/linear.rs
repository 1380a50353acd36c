//! The little linear algebra of designs, on matrices of tens of rows.

/// Square, by rows.
pub(crate) type Matrix = Vec<Vec<f64>>;

/// What is nothing beside one: entries are means of products of contrasts.
pub(crate) const NOTHING: f64 = 1e-9;

/// Sum of outer products of rows, over their number.
pub(crate) fn gram(size: usize, rows: impl Iterator<Item = Vec<f64>>) -> Matrix {
    let mut sums = vec![vec![0.0; size]; size];
    let mut count = 0.0;
    for row in rows {
        count += 1.0;
        for (left, sums) in row.iter().zip(&mut sums) {
            for (right, sum) in row.iter().zip(sums) {
                *sum += left * right;
            }
        }
    }
    let count = f64::max(count, 1.0);
    sums.iter_mut().flatten().for_each(|sum| *sum /= count);
    sums
}

/// Logarithm of the determinant and the inverse of a positive definite matrix; `None` if it is
/// singular. By Gauss and Jordan with symmetric pivots in the given order.
pub(crate) fn invert(matrix: &Matrix) -> Option<(f64, Matrix)> {
    let size = matrix.len();
    let mut work = matrix.clone();
    let mut inverse: Matrix = (0..size)
        .map(|row| (0..size).map(|c| f64::from(u8::from(row == c))).collect())
        .collect();
    let mut log_determinant = 0.0;
    for pivot in 0..size {
        let value = work[pivot][pivot];
        if value <= NOTHING {
            return None;
        }
        log_determinant += value.ln();
        for column in 0..size {
            work[pivot][column] /= value;
            inverse[pivot][column] /= value;
        }
        let (pivot_work, pivot_inverse) = (work[pivot].clone(), inverse[pivot].clone());
        for row in (0..size).filter(|row| *row != pivot) {
            let factor = work[row][pivot];
            for column in 0..size {
                work[row][column] -= factor * pivot_work[column];
                inverse[row][column] -= factor * pivot_inverse[column];
            }
        }
    }
    Some((log_determinant, inverse))
}

/// Vectors that a symmetric matrix takes to nothing, one for each dependent column.
pub(crate) fn null_space(matrix: &Matrix) -> Vec<Vec<f64>> {
    let size = matrix.len();
    let mut work = matrix.clone();
    let mut pivots: Vec<usize> = Vec::new();
    let mut free: Vec<usize> = Vec::new();
    for column in 0..size {
        let below = pivots.len()..size;
        let largest =
            below.max_by(|a, b| work[*a][column].abs().total_cmp(&work[*b][column].abs()));
        let Some(row) = largest.filter(|row| work[*row][column].abs() > NOTHING) else {
            free.push(column);
            continue;
        };
        let rank = pivots.len();
        work.swap(rank, row);
        let value = work[rank][column];
        work[rank].iter_mut().for_each(|cell| *cell /= value);
        let pivot = work[rank].clone();
        for other in (0..size).filter(|other| *other != rank) {
            let factor = work[other][column];
            for (cell, above) in work[other].iter_mut().zip(&pivot) {
                *cell -= factor * above;
            }
        }
        pivots.push(column);
    }
    let vector = |column: &usize| {
        let mut vector = vec![0.0; size];
        vector[*column] = 1.0;
        for (row, pivot) in pivots.iter().enumerate() {
            vector[*pivot] = -work[row][*column];
        }
        vector
    };
    free.iter().map(vector).collect()
}

pub(crate) struct Eigen {
    pub(crate) value: f64,
    pub(crate) vector: Vec<f64>,
}

/// Of a symmetric matrix, by Jacobi's rotations (Golub and Van Loan, 8.5).
pub(crate) fn eigen(matrix: &Matrix) -> Vec<Eigen> {
    const SWEEPS: usize = 60;
    let size = matrix.len();
    let mut work = matrix.clone();
    let mut vectors: Matrix = (0..size)
        .map(|row| (0..size).map(|c| f64::from(u8::from(row == c))).collect())
        .collect();
    for _ in 0..SWEEPS {
        let off: f64 = (0..size)
            .flat_map(|p| work[p][p + 1..].iter().map(|cell| cell * cell))
            .sum();
        if off < 1e-26 {
            break;
        }
        for p in 0..size {
            for q in p + 1..size {
                rotate(&mut work, &mut vectors, p, q);
            }
        }
    }
    let pair = |place: usize| Eigen {
        value: work[place][place],
        vector: vectors.iter().map(|row| row[place]).collect(),
    };
    (0..size).map(pair).collect()
}

fn rotate(work: &mut Matrix, vectors: &mut Matrix, p: usize, q: usize) {
    if work[p][q].abs() < 1e-300 {
        return;
    }
    let theta = (work[q][q] - work[p][p]) / (2.0 * work[p][q]);
    let tangent = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let tangent = if theta == 0.0 { 1.0 } else { tangent };
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    let turn = |row: &mut Vec<f64>| {
        let (left, right) = (row[p], row[q]);
        row[p] = cosine * left - sine * right;
        row[q] = sine * left + cosine * right;
    };
    work.iter_mut().for_each(turn);
    vectors.iter_mut().for_each(turn);
    let (left, right) = (work[p].clone(), work[q].clone());
    let turned = |a: f64, b: f64| {
        left.iter()
            .zip(&right)
            .map(move |(l, r)| a * l + b * r)
            .collect()
    };
    work[p] = turned(cosine, -sine);
    work[q] = turned(sine, cosine);
}

/// How many of the vectors' directions there are.
pub(crate) fn rank(size: usize, vectors: impl Iterator<Item = Vec<f64>>) -> usize {
    let eigen = eigen(&gram(size, vectors));
    let largest = eigen.iter().map(|e| e.value).fold(0.0, f64::max);
    let is_one = |e: &&Eigen| e.value > NOTHING * largest.max(NOTHING);
    eigen.iter().filter(is_one).count()
}
