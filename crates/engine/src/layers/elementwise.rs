//! Layers without weights that work value by value, or only move values.

use data::Random;
use rayon::prelude::*;

use crate::dims::{Dims, each, pieces, pieces_mut};

/// NaN stays, so that a loss that is lost is seen.
pub(crate) fn relu(mut values: Vec<f32>) -> Vec<f32> {
    pieces_mut(&mut values, 1024).for_each(|values| {
        for value in values {
            *value = if *value < 0.0 { 0.0 } else { *value };
        }
    });
    values
}

pub(crate) fn relu_backward(mut gradient: Vec<f32>, output: &[f32]) -> Vec<f32> {
    each(&mut gradient, output, |gradient, output| {
        *gradient = if output <= 0.0 { 0.0 } else { *gradient };
    });
    gradient
}

pub(crate) fn add(mut values: Vec<f32>, others: &[f32]) -> Vec<f32> {
    each(&mut values, others, |value, other| *value += other);
    values
}

/// Each value is dropped with this chance, and those that stay grow so that the mean does too
/// (Srivastava et al. 2014, inverted). Drawn image by image, as the images lie outside.
pub(crate) fn dropout_mask(dims: Dims, rate: f64, random: &mut Random) -> Vec<f32> {
    let (rate, scale) = (rate as f32, (1.0 / (1.0 - rate)) as f32);
    let drawn: Vec<f32> = (0..dims.len())
        .map(|_| if random.unit() < rate { 0.0 } else { scale })
        .collect();
    dims.by_channel(&drawn)
}

pub(crate) fn multiply(mut values: Vec<f32>, others: &[f32]) -> Vec<f32> {
    each(&mut values, others, |value, other| *value *= other);
    values
}

/// A channel for each place of each channel, in that order.
pub(crate) fn flatten(input: &[f32], from: Dims) -> Vec<f32> {
    transpose(input, from.batch, from.plane())
}

pub(crate) fn flatten_backward(gradient: &[f32], from: Dims) -> Vec<f32> {
    transpose(gradient, from.plane(), from.batch)
}

/// Of every [rows, columns] in turn.
fn transpose(values: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    let mut result = vec![0.0; values.len()];
    let tasks = pieces_mut(&mut result, rows * columns).zip(pieces(values, rows * columns));
    tasks.for_each(|(result, values)| {
        for (column, result) in result.chunks_exact_mut(rows).enumerate() {
            for (result, value) in result
                .iter_mut()
                .zip(values[column..].iter().step_by(columns))
            {
                *result = *value;
            }
        }
    });
    result
}

/// Of every image's vector.
pub(crate) fn softmax(input: &[f32], batch: usize) -> Vec<f32> {
    let mut rows = transpose(input, input.len() / batch, batch);
    rows.chunks_exact_mut(input.len() / batch)
        .for_each(softmax_row);
    transpose(&rows, batch, input.len() / batch)
}

pub(crate) fn softmax_row(row: &mut [f32]) {
    let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    row.iter_mut()
        .for_each(|value| *value = (*value - largest).exp());
    let sum: f32 = row.iter().sum();
    row.iter_mut().for_each(|value| *value /= sum);
}

/// y · (dy − Σ dy · y).
pub(crate) fn softmax_backward(gradient: &[f32], output: &[f32], batch: usize) -> Vec<f32> {
    let mut sums = vec![0.0; batch];
    for (place, (gradient, output)) in gradient.iter().zip(output).enumerate() {
        sums[place % batch] += gradient * output;
    }
    let values = gradient.iter().zip(output).enumerate();
    values
        .map(|(place, (gradient, output))| output * (gradient - sums[place % batch]))
        .collect()
}
