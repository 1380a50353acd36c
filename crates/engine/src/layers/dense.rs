//! x·Wᵀ + b, weight [out, in].

use rayon::prelude::*;

use super::Gradients;
use crate::dims::sum;
use crate::product::{Before, Matrix, product};

/// Rows of a result that one task computes.
const ROWS: usize = 32;

pub(crate) fn forward(
    input: &[f32],
    batch: usize,
    weight: &[f32],
    bias: Option<&[f32]>,
) -> Vec<f32> {
    let features = input.len() / batch;
    let mut output = vec![0.0; weight.len() / features * batch];
    let tasks = output
        .par_chunks_mut(ROWS * batch)
        .zip(weight.par_chunks(ROWS * features));
    tasks.enumerate().for_each(|(task, (output, weight))| {
        let weight = Matrix::dense(weight, features);
        product(
            weight,
            Matrix::dense(input, batch),
            output,
            Before::Replaced,
        );
        let bias = bias.map_or(&[][..], |bias| &bias[task * ROWS..]);
        for (row, bias) in output.chunks_exact_mut(batch).zip(bias) {
            row.iter_mut().for_each(|value| *value += bias);
        }
    });
    output
}

/// What [`backward`] is given.
pub(crate) struct Backward<'a> {
    pub(crate) input: &'a [f32],
    pub(crate) batch: usize,
    pub(crate) weight: &'a [f32],
    pub(crate) gradient: &'a [f32],
    pub(crate) has_bias: bool,
    pub(crate) wants_input: bool,
}

pub(crate) fn backward(given: &Backward<'_>) -> Gradients {
    let &Backward {
        batch, gradient, ..
    } = given;
    let features = given.input.len() / batch;
    let outputs = gradient.len() / batch;
    let mut weight = vec![0.0; given.weight.len()];
    let tasks = weight
        .par_chunks_mut(ROWS * features)
        .zip(gradient.par_chunks(ROWS * batch));
    tasks.for_each(|(weight, gradient)| {
        let gradient = Matrix::dense(gradient, batch);
        let input = Matrix::dense(given.input, batch).transposed();
        product(gradient, input, weight, Before::Replaced);
    });
    let input = given.wants_input.then(|| {
        let mut input = vec![0.0; given.input.len()];
        // Long pieces of the rows of the weight.
        let rows = 8 * ROWS;
        let tasks = input.par_chunks_mut(rows * batch).enumerate();
        tasks.for_each(|(task, input)| {
            let sides = [outputs, input.len() / batch];
            let weight = Matrix::new(&given.weight[task * rows..], sides, features);
            let gradient = Matrix::dense(gradient, batch);
            product(weight.transposed(), gradient, input, Before::Replaced);
        });
        input
    });
    let sums = || gradient.chunks_exact(batch).map(|row| sum(row) as f32);
    Gradients {
        input,
        weight,
        bias: given.has_bias.then(|| sums().collect()),
    }
}
