//! What each kind of layer does with its inputs, and with the gradient of its output.

use std::borrow::Cow;

use data::Random;
use network::{Op, Weights};

use crate::dims::Dims;
use crate::executor::{Executor, Gathered, Mode};
use crate::layers::conv::{self, Conv};
use crate::layers::lrn::{self, Lrn};
use crate::layers::norm::{self, Norm, Statistics};
use crate::layers::sweep::Sweep;
use crate::layers::{Gradients, dense, depthwise, elementwise, pool};

pub(crate) struct Pass<'a> {
    pub(crate) executor: &'a Executor,
    pub(crate) weights: &'a Weights,
    pub(crate) batch: usize,
}

/// What a layer keeps for the way back, besides its input or output.
pub(crate) enum Memory {
    Nothing,
    Mask(Vec<f32>),
    Places(Vec<u32>),
    Scale(Vec<f32>),
    Statistics(Vec<Statistics>),
}

pub(crate) struct Made {
    pub(crate) output: Vec<f32>,
    pub(crate) memory: Memory,
}

impl From<Vec<f32>> for Made {
    fn from(output: Vec<f32>) -> Self {
        Made {
            output,
            memory: Memory::Nothing,
        }
    }
}

/// Gradients of a layer's inputs and parameters, in their order.
#[derive(Default)]
pub(crate) struct Back {
    pub(crate) inputs: Vec<Vec<f32>>,
    pub(crate) parameters: Vec<Vec<f32>>,
}

impl From<Vec<f32>> for Back {
    fn from(input: Vec<f32>) -> Self {
        Back {
            inputs: vec![input],
            parameters: Vec::new(),
        }
    }
}

impl From<Gradients> for Back {
    fn from(gradients: Gradients) -> Self {
        Back {
            inputs: vec![gradients.input.unwrap_or_default()],
            parameters: [gradients.weight]
                .into_iter()
                .chain(gradients.bias)
                .collect(),
        }
    }
}

const DROPOUT: u64 = 0x64_72_6F_70;

impl Pass<'_> {
    /// Of a node's output.
    pub(crate) fn dims(&self, index: usize) -> Dims {
        Dims::new(self.executor.graph().nodes[index].shape, self.batch)
    }

    /// Of a node's first input.
    fn input_dims(&self, index: usize) -> Dims {
        let input = self.executor.graph().nodes[index].inputs.first();
        self.dims(input.map_or(0, |&input| input))
    }

    fn op(&self, index: usize) -> &Op {
        &self.executor.graph().nodes[index].op
    }

    fn parameter(&self, index: usize, place: usize) -> &[f32] {
        &self.weights.tensors[self.executor.first_parameter(index) + place].values
    }

    fn bias(&self, index: usize) -> Option<&[f32]> {
        let has_bias = self.executor.graph().nodes[index].parameters.len() > 1;
        has_bias.then(|| self.parameter(index, 1))
    }

    fn sweep(&self, index: usize) -> Option<Sweep> {
        let window = self.op(index).window()?;
        Some(Sweep::new(window, self.input_dims(index), self.dims(index)))
    }

    fn conv(&self, index: usize, sweep: Sweep) -> Conv {
        let (channels, outputs) = (self.input_dims(index).channels, self.dims(index).channels);
        let groups = match *self.op(index) {
            Op::Conv { groups, .. } => groups as usize,
            _ => 1,
        };
        Conv {
            sweep,
            channels,
            outputs,
            groups,
        }
    }

    fn norm(&self, index: usize, epsilon: f64) -> Norm<'_> {
        Norm {
            gamma: self.parameter(index, 0),
            beta: self.parameter(index, 1),
            mean: self.parameter(index, 2),
            variance: self.parameter(index, 3),
            epsilon,
        }
    }

    /// The output of a node. Inputs that no one else reads are its own, to be changed in place.
    pub(crate) fn forward(
        &self,
        index: usize,
        inputs: Vec<Cow<'_, [f32]>>,
        mode: Mode,
        gathered: &mut Vec<Gathered>,
    ) -> Made {
        let op = self.op(index);
        if *op == Op::Concat {
            return inputs.concat().into();
        }
        let mut inputs = inputs.into_iter();
        let input = inputs.next().unwrap_or_default();
        match (op, self.sweep(index)) {
            (Op::Add, _) => inputs
                .fold(input.into_owned(), |sum, input| {
                    elementwise::add(sum, &input)
                })
                .into(),
            (Op::Conv { .. }, Some(sweep)) => {
                let conv = self.conv(index, sweep);
                let (weight, bias) = (self.parameter(index, 0), self.bias(index));
                match conv.is_depthwise() {
                    true => depthwise::forward(&sweep, &input, weight, bias).into(),
                    false => conv::forward(&conv, &input, weight, bias).into(),
                }
            }
            (Op::MaxPool(_), Some(sweep)) => {
                let pool::Largest { output, places } = pool::largest(&sweep, &input);
                Made {
                    output,
                    memory: Memory::Places(places),
                }
            }
            (Op::AvgPool(_), Some(sweep)) => pool::mean(&sweep, &input).into(),
            (Op::Dense { .. }, _) => dense::forward(
                &input,
                self.batch,
                self.parameter(index, 0),
                self.bias(index),
            )
            .into(),
            (&Op::BatchNorm { epsilon, momentum }, _) => {
                self.batch_norm(index, input, [epsilon, momentum], mode, gathered)
            }
            (Op::Relu, _) => elementwise::relu(input.into_owned()).into(),
            (&Op::Dropout { rate }, _) => self.dropout(index, input, rate, mode),
            (Op::Flatten, _) => elementwise::flatten(&input, self.input_dims(index)).into(),
            (Op::GlobalAvgPool, _) => {
                pool::global_mean(&input, self.input_dims(index).plane()).into()
            }
            (
                &Op::Lrn {
                    size,
                    alpha,
                    beta,
                    k,
                },
                _,
            ) => {
                let rule = Lrn {
                    size,
                    alpha,
                    beta,
                    k,
                };
                let lrn::Normalised { output, scale } =
                    lrn::forward(&rule, &input, self.dims(index).run());
                Made {
                    output,
                    memory: Memory::Scale(scale),
                }
            }
            (Op::Softmax, _) => elementwise::softmax(&input, self.batch).into(),
            // The input has no inputs; windows were handled above.
            _ => input.into_owned().into(),
        }
    }

    fn batch_norm(
        &self,
        index: usize,
        input: Cow<'_, [f32]>,
        [epsilon, momentum]: [f64; 2],
        mode: Mode,
        gathered: &mut Vec<Gathered>,
    ) -> Made {
        let norm = self.norm(index, epsilon);
        if matches!(mode, Mode::Answer) {
            return norm::answer(input.into_owned(), &norm).into();
        }
        let trained = norm::train(&input, &norm, momentum);
        let first = self.executor.first_parameter(index);
        for (place, values) in [(2, trained.mean), (3, trained.variance)] {
            let parameter = first + place;
            gathered.push(Gathered { parameter, values });
        }
        Made {
            output: trained.output,
            memory: Memory::Statistics(trained.statistics),
        }
    }

    fn dropout(&self, index: usize, input: Cow<'_, [f32]>, rate: f64, mode: Mode) -> Made {
        match mode {
            Mode::Train { place } if rate > 0.0 => {
                let mut random = Random::at(&[place.seed, DROPOUT, place.step, index as u64]);
                let mask = elementwise::dropout_mask(self.dims(index), rate, &mut random);
                Made {
                    output: elementwise::multiply(input.into_owned(), &mask),
                    memory: Memory::Mask(mask),
                }
            }
            _ => input.into_owned().into(),
        }
    }

    /// From the gradient of a node's output to those of its inputs and parameters.
    pub(crate) fn backward(
        &self,
        index: usize,
        gradient: Vec<f32>,
        values: &[Option<Vec<f32>>],
        memory: &Memory,
    ) -> Back {
        let node = &self.executor.graph().nodes[index];
        let value = |place: usize| values[place].as_deref().unwrap_or_default();
        let first = node.inputs.first().map_or(0, |&input| input);
        match (&node.op, self.sweep(index), memory) {
            (Op::Conv { .. }, Some(sweep), _) => self
                .conv_backward(index, sweep, value(first), &gradient)
                .into(),
            (Op::Dense { .. }, ..) => dense::backward(&dense::Backward {
                input: value(first),
                batch: self.batch,
                weight: self.parameter(index, 0),
                gradient: &gradient,
                has_bias: self.bias(index).is_some(),
                wants_input: self.executor.learns(first),
            })
            .into(),
            (Op::BatchNorm { .. }, _, Memory::Statistics(statistics)) => {
                let gamma = self.parameter(index, 0);
                let back = norm::backward(gradient, value(first), gamma, statistics);
                Back {
                    inputs: vec![back.input],
                    parameters: vec![back.gamma, back.beta],
                }
            }
            (Op::Relu, ..) => elementwise::relu_backward(gradient, value(index)).into(),
            (Op::MaxPool(_), Some(sweep), Memory::Places(places)) => {
                pool::largest_backward(&sweep, &gradient, places).into()
            }
            (Op::AvgPool(_), Some(sweep), _) => pool::mean_backward(&sweep, &gradient).into(),
            (Op::GlobalAvgPool, ..) => {
                pool::global_mean_backward(&gradient, self.input_dims(index).plane()).into()
            }
            (Op::Dropout { .. }, _, Memory::Mask(mask)) => {
                elementwise::multiply(gradient, mask).into()
            }
            (Op::Flatten, ..) => {
                elementwise::flatten_backward(&gradient, self.input_dims(index)).into()
            }
            (Op::Add, ..) => Back {
                inputs: vec![gradient; node.inputs.len()],
                parameters: Vec::new(),
            },
            (Op::Concat, ..) => self.concat_backward(index, &gradient),
            (
                &Op::Lrn {
                    size,
                    alpha,
                    beta,
                    k,
                },
                _,
                Memory::Scale(scale),
            ) => {
                let rule = Lrn {
                    size,
                    alpha,
                    beta,
                    k,
                };
                lrn::backward(
                    &rule,
                    &gradient,
                    value(first),
                    scale,
                    self.dims(index).run(),
                )
                .into()
            }
            (Op::Softmax, ..) => {
                elementwise::softmax_backward(&gradient, value(index), self.batch).into()
            }
            // A dropout that drops nothing.
            _ => gradient.into(),
        }
    }

    fn conv_backward(
        &self,
        index: usize,
        sweep: Sweep,
        input: &[f32],
        gradient: &[f32],
    ) -> Gradients {
        let conv = self.conv(index, sweep);
        let first = self.executor.graph().nodes[index].inputs[0];
        let given = conv::Backward {
            input,
            weight: self.parameter(index, 0),
            gradient,
            has_bias: self.bias(index).is_some(),
            wants_input: self.executor.learns(first),
        };
        match conv.is_depthwise() {
            true => depthwise::backward(&sweep, &given),
            false => conv::backward(&conv, &given),
        }
    }

    fn concat_backward(&self, index: usize, gradient: &[f32]) -> Back {
        let mut rest = gradient;
        let inputs = self.executor.graph().nodes[index].inputs.iter();
        let parts = inputs.filter_map(|&input| rest.split_off(..self.dims(input).len()));
        Back {
            inputs: parts.map(<[f32]>::to_vec).collect(),
            parameters: Vec::new(),
        }
    }
}
