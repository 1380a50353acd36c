//! One forward pass: what each kind of layer does with its inputs.

use burn_tensor::Tensor;
use data::Random;
use network::Op;

use crate::executor::{Executor, Gathered, Mode};
use crate::ops::{self, Activation, ConvOp, Lrn, Norm};
use crate::parameters::Parameters;

pub(crate) struct Pass<'a> {
    pub(crate) executor: &'a Executor,
    pub(crate) parameters: &'a Parameters,
    pub(crate) mode: &'a Mode,
    pub(crate) gathered: Vec<Gathered>,
}

const DROPOUT: u64 = 0x64_72_6F_70;

impl Pass<'_> {
    /// The output of a node; `None` if inputs or parameters are missing, which a checked graph
    /// does not have.
    pub(crate) fn node(&mut self, index: usize, inputs: Vec<Activation>) -> Option<Activation> {
        let executor = self.executor;
        match executor.graph().nodes.get(index)?.op {
            Op::Concat => ops::concat(inputs),
            Op::Add => inputs.into_iter().reduce(Activation::add),
            ref op => self.one_input(index, op, inputs.into_iter().next()?),
        }
    }

    fn one_input(&mut self, index: usize, op: &Op, input: Activation) -> Option<Activation> {
        match *op {
            Op::Conv { .. } | Op::Dense { .. } => self.weighted(index, op, input),
            Op::BatchNorm { epsilon, momentum } => {
                self.batch_norm(index, input, Normalising { epsilon, momentum })
            }
            Op::Dropout { rate } => Some(self.dropout(index, input, rate)),
            Op::Relu => Some(input.relu()),
            Op::Softmax => Some(input.softmax()),
            Op::Flatten => Some(Activation::Vector(input.flatten())),
            Op::GlobalAvgPool => Some(Activation::Vector(input.global_avg_pool())),
            _ => on_images(op, image(input)?).map(Activation::Image),
        }
    }

    fn weighted(&self, index: usize, op: &Op, input: Activation) -> Option<Activation> {
        let weight = self.parameter(index, 0)?;
        let bias = match op {
            Op::Conv { bias: true, .. } | Op::Dense { bias: true, .. } => {
                Some(self.parameter(index, 1)?)
            }
            _ => None,
        };
        match op {
            Op::Dense { output, .. } => Some(Activation::Vector(ops::dense(
                input.flatten(),
                *output,
                weight,
                bias,
            ))),
            _ => Some(Activation::Image(ops::conv(
                image(input)?,
                &ConvOp::of(op)?,
                weight,
                bias,
            ))),
        }
    }

    fn batch_norm(
        &mut self,
        index: usize,
        input: Activation,
        rule: Normalising,
    ) -> Option<Activation> {
        let norm = Norm {
            gamma: self.parameter(index, 0)?,
            beta: self.parameter(index, 1)?,
            mean: self.parameter(index, 2)?,
            variance: self.parameter(index, 3)?,
        };
        if matches!(self.mode, Mode::Answer) {
            return Some(ops::batch_norm(input, norm, rule.epsilon));
        }
        let trained = ops::batch_norm_train(input, norm, rule.epsilon, rule.momentum);
        let first = self.executor.first_parameter(index);
        self.gathered.push(Gathered {
            parameter: first + 2,
            values: trained.mean,
        });
        self.gathered.push(Gathered {
            parameter: first + 3,
            values: trained.variance,
        });
        Some(trained.output)
    }

    fn dropout(&self, index: usize, input: Activation, rate: f64) -> Activation {
        match self.mode {
            Mode::Train { place } if rate > 0.0 => {
                let mut random = Random::at(&[place.seed, DROPOUT, place.step, index as u64]);
                input.dropout(rate, &mut random, self.executor.device())
            }
            _ => input,
        }
    }

    fn parameter(&self, index: usize, place: usize) -> Option<Tensor<1>> {
        let parameter = self
            .parameters
            .all
            .get(self.executor.first_parameter(index) + place)?;
        Some(parameter.values.clone())
    }
}

#[derive(Clone, Copy)]
struct Normalising {
    epsilon: f64,
    momentum: f64,
}

/// Layers from image to image without anything kept.
fn on_images(op: &Op, input: Tensor<4>) -> Option<Tensor<4>> {
    match *op {
        Op::MaxPool {
            kernel,
            stride,
            padding,
        } => Some(ops::max_pool(input, kernel, stride, padding)),
        Op::AvgPool {
            kernel,
            stride,
            padding,
        } => Some(ops::avg_pool(input, kernel, stride, padding)),
        Op::Lrn {
            size,
            alpha,
            beta,
            k,
        } => Some(ops::lrn(
            input,
            &Lrn {
                size,
                alpha,
                beta,
                k,
            },
        )),
        _ => None,
    }
}

fn image(activation: Activation) -> Option<Tensor<4>> {
    match activation {
        Activation::Image(image) => Some(image),
        Activation::Vector(_) => None,
    }
}
