//! Batch normalisation: (x − mean) / √(variance + ε) · γ + β (Ioffe, Szegedy 2015).

use rayon::prelude::*;

use crate::dims::{pieces, pieces_mut, sum, sum_of};

/// One layer's numbers, one a channel each.
#[derive(Clone, Copy)]
pub(crate) struct Norm<'a> {
    pub(crate) gamma: &'a [f32],
    pub(crate) beta: &'a [f32],
    pub(crate) mean: &'a [f32],
    pub(crate) variance: &'a [f32],
    pub(crate) epsilon: f64,
}

/// A channel of a batch: its mean, and one over its standard deviation.
#[derive(Clone, Copy)]
pub(crate) struct Statistics {
    mean: f32,
    inverse: f32,
}

pub(crate) struct Trained {
    pub(crate) output: Vec<f32>,
    pub(crate) statistics: Vec<Statistics>,
    /// What the gathered statistics become.
    pub(crate) mean: Vec<f32>,
    pub(crate) variance: Vec<f32>,
}

/// With the gathered statistics.
pub(crate) fn answer(mut values: Vec<f32>, norm: &Norm<'_>) -> Vec<f32> {
    let run = values.len() / norm.gamma.len();
    pieces_mut(&mut values, run)
        .enumerate()
        .for_each(|(channel, values)| {
            let inverse = (f64::from(norm.variance[channel]) + norm.epsilon)
                .sqrt()
                .recip();
            let scale = norm.gamma[channel] * inverse as f32;
            let shift = norm.beta[channel] - norm.mean[channel] * scale;
            for value in values {
                *value = *value * scale + shift;
            }
        });
    values
}

/// Normalised by the batch's own statistics. The gathered ones move by `momentum` towards them;
/// the variance gathered is the unbiased one, the one normalised with is not (as PyTorch's
/// BatchNorm).
pub(crate) fn train(input: &[f32], norm: &Norm<'_>, momentum: f64) -> Trained {
    let run = input.len() / norm.gamma.len();
    let count = run as f64;
    let mut output = vec![0.0; input.len()];
    let channels = pieces_mut(&mut output, run).zip(pieces(input, run));
    let found: Vec<(Statistics, f64)> = channels
        .enumerate()
        .map(|(channel, (output, input))| {
            let mean = (sum(input) / count) as f32;
            let squares = sum_of(input, input, |value, _| (value - mean) * (value - mean));
            let variance = squares / count;
            let inverse = (variance + norm.epsilon).sqrt().recip() as f32;
            let (gamma, beta) = (norm.gamma[channel], norm.beta[channel]);
            for (value, input) in output.iter_mut().zip(input) {
                *value = (input - mean) * inverse * gamma + beta;
            }
            (Statistics { mean, inverse }, variance)
        })
        .collect();
    let unbiased = if run > 1 { count / (count - 1.0) } else { 1.0 };
    let moved = |old: &f32, new: f64| (f64::from(*old) * (1.0 - momentum) + new * momentum) as f32;
    let pairs = norm.mean.iter().zip(norm.variance).zip(&found);
    let (mean, variance) = pairs
        .map(|((mean, old), (statistics, variance))| {
            (
                moved(mean, statistics.mean.into()),
                moved(old, variance * unbiased),
            )
        })
        .unzip();
    Trained {
        output,
        statistics: found
            .into_iter()
            .map(|(statistics, _)| statistics)
            .collect(),
        mean,
        variance,
    }
}

/// Gradients of the input (in the place of the output's), of γ and of β.
pub(crate) struct Backward {
    pub(crate) input: Vec<f32>,
    pub(crate) gamma: Vec<f32>,
    pub(crate) beta: Vec<f32>,
}

/// Through the statistics of the batch: γ / σ · (dy − mean(dy) − x̂ · mean(dy · x̂)).
pub(crate) fn backward(
    mut gradient: Vec<f32>,
    input: &[f32],
    gamma: &[f32],
    statistics: &[Statistics],
) -> Backward {
    let run = input.len() / gamma.len();
    let channels = pieces_mut(&mut gradient, run).zip(pieces(input, run));
    let sums = channels.enumerate().map(|(channel, (gradient, input))| {
        let Statistics { mean, inverse } = statistics[channel];
        let beta = sum(gradient);
        let centred = sum_of(gradient, input, |gradient, input| gradient * (input - mean));
        let of_gamma = centred * f64::from(inverse);
        let scale = gamma[channel] * inverse;
        let (mean_gradient, slope) = (
            (beta / run as f64) as f32,
            (of_gamma / run as f64) as f32 * inverse,
        );
        for (gradient, input) in gradient.iter_mut().zip(input) {
            *gradient = scale * (*gradient - mean_gradient - (input - mean) * slope);
        }
        (of_gamma as f32, beta as f32)
    });
    let (gamma, beta) = sums.unzip();
    Backward {
        input: gradient,
        gamma,
        beta,
    }
}
