//! The layers, one function each, on Burn's tensors.

use burn_tensor::module::{self, BatchNormTrainOutput};
use burn_tensor::ops::{AvgPoolOptions, ConvOptions, MaxPoolOptions, PadMode};
use burn_tensor::{Device, Tensor, TensorData, activation};
use data::Random;
use network::{Op, Padding};

use crate::error::EngineError;
use crate::parameters::numbers;

/// What flows between layers: [batch, channels, height, width] or [batch, features].
#[derive(Clone)]
pub(crate) enum Activation {
    Image(Tensor<4>),
    Vector(Tensor<2>),
}

impl Activation {
    pub(crate) fn relu(self) -> Self {
        self.map(activation::relu, activation::relu)
    }

    pub(crate) fn add(self, other: Self) -> Self {
        match (self, other) {
            (Activation::Image(a), Activation::Image(b)) => Activation::Image(a.add(b)),
            (Activation::Vector(a), Activation::Vector(b)) => Activation::Vector(a.add(b)),
            // The graph was checked: shapes to be added are the same.
            (first, _) => first,
        }
    }

    pub(crate) fn numbers(&self) -> Result<Vec<f32>, EngineError> {
        match self {
            Activation::Image(image) => numbers(image.clone()),
            Activation::Vector(vector) => numbers(vector.clone()),
        }
    }

    pub(crate) fn flatten(self) -> Tensor<2> {
        match self {
            Activation::Image(image) => {
                let [batch, channels, height, width] = image.dims();
                image.reshape([batch, channels * height * width])
            }
            Activation::Vector(vector) => vector,
        }
    }

    pub(crate) fn global_avg_pool(self) -> Tensor<2> {
        match self {
            Activation::Image(image) => {
                let [batch, channels, height, width] = image.dims();
                image
                    .reshape([batch, channels, height * width])
                    .mean_dim(2)
                    .reshape([batch, channels])
            }
            Activation::Vector(vector) => vector,
        }
    }

    pub(crate) fn softmax(self) -> Self {
        self.map(
            |image| activation::softmax(image, 1),
            |vector| activation::softmax(vector, 1),
        )
    }

    /// Each value is dropped with this chance, and those that stay grow so that the mean does too
    /// (Srivastava et al. 2014, inverted).
    pub(crate) fn dropout(self, rate: f64, random: &mut Random, device: &Device) -> Self {
        let mut keep = |count: usize| -> Vec<f32> {
            let (rate, scale) = (rate as f32, (1.0 / (1.0 - rate)) as f32);
            (0..count)
                .map(|_| if random.unit() < rate { 0.0 } else { scale })
                .collect()
        };
        match self {
            Activation::Image(image) => {
                let shape = image.dims();
                let mask = TensorData::new(keep(shape.iter().product()), shape);
                Activation::Image(image.mul(Tensor::<4>::from_data(mask, device).autodiff()))
            }
            Activation::Vector(vector) => {
                let shape = vector.dims();
                let mask = TensorData::new(keep(shape.iter().product()), shape);
                Activation::Vector(vector.mul(Tensor::<2>::from_data(mask, device).autodiff()))
            }
        }
    }

    fn map(
        self,
        image: impl FnOnce(Tensor<4>) -> Tensor<4>,
        vector: impl FnOnce(Tensor<2>) -> Tensor<2>,
    ) -> Self {
        match self {
            Activation::Image(tensor) => Activation::Image(image(tensor)),
            Activation::Vector(tensor) => Activation::Vector(vector(tensor)),
        }
    }
}

pub(crate) fn concat(inputs: Vec<Activation>) -> Option<Activation> {
    let mut images = Vec::new();
    let mut vectors = Vec::new();
    for input in inputs {
        match input {
            Activation::Image(image) => images.push(image),
            Activation::Vector(vector) => vectors.push(vector),
        }
    }
    match (images.is_empty(), vectors.is_empty()) {
        (false, _) => Some(Activation::Image(Tensor::cat(images, 1))),
        (_, false) => Some(Activation::Vector(Tensor::cat(vectors, 1))),
        _ => None,
    }
}

/// Weight [out, in / groups, height, width].
pub(crate) fn conv(
    input: Tensor<4>,
    op: &ConvOp,
    weight: Tensor<1>,
    bias: Option<Tensor<1>>,
) -> Tensor<4> {
    let [_, channels, _, _] = input.dims();
    let shape = [op.output, channels / op.groups, op.kernel[0], op.kernel[1]];
    let options = ConvOptions::new_with_padding(op.stride, op.padding, [1, 1], op.groups);
    module::conv2d(input, weight.reshape(shape), bias, options)
}

/// A convolution's or a pool's window in the tensor crate's own numbers.
pub(crate) struct ConvOp {
    kernel: [usize; 2],
    stride: [usize; 2],
    padding: [(usize, usize); 2],
    output: usize,
    groups: usize,
}

impl ConvOp {
    pub(crate) fn of(op: &Op) -> Option<Self> {
        let Op::Conv {
            kernel,
            stride,
            padding,
            output,
            groups,
            ..
        } = *op
        else {
            return None;
        };
        Some(ConvOp {
            kernel: pair(kernel),
            stride: pair(stride),
            padding: sides(padding),
            output: output as usize,
            groups: groups as usize,
        })
    }
}

fn pair(values: [u32; 2]) -> [usize; 2] {
    values.map(|value| value as usize)
}

fn sides(padding: Padding) -> [(usize, usize); 2] {
    [
        (padding.top as usize, padding.bottom as usize),
        (padding.left as usize, padding.right as usize),
    ]
}

pub(crate) fn max_pool(
    input: Tensor<4>,
    kernel: [u32; 2],
    stride: [u32; 2],
    padding: Padding,
) -> Tensor<4> {
    let mut options = MaxPoolOptions::new(pair(kernel)).with_stride(pair(stride));
    options.padding = sides(padding);
    module::max_pool2d(input, options)
}

/// Padding is not counted in the mean.
pub(crate) fn avg_pool(
    input: Tensor<4>,
    kernel: [u32; 2],
    stride: [u32; 2],
    padding: Padding,
) -> Tensor<4> {
    let mut options = AvgPoolOptions::new(pair(kernel)).with_stride(pair(stride));
    options.padding = sides(padding);
    options.count_include_pad = false;
    module::avg_pool2d(input, options)
}

/// x·Wᵀ + b, weight [out, in].
pub(crate) fn dense(
    input: Tensor<2>,
    output: u32,
    weight: Tensor<1>,
    bias: Option<Tensor<1>>,
) -> Tensor<2> {
    let [_, features] = input.dims();
    let product = input.matmul(weight.reshape([output as usize, features]).transpose());
    match bias {
        Some(bias) => product.add(bias.unsqueeze::<2>()),
        None => product,
    }
}

/// Scale, shift, mean and variance of one batch-norm layer.
pub(crate) struct Norm {
    pub(crate) gamma: Tensor<1>,
    pub(crate) beta: Tensor<1>,
    pub(crate) mean: Tensor<1>,
    pub(crate) variance: Tensor<1>,
}

/// (x − mean) / √(variance + ε) · γ + β with the gathered statistics (Ioffe, Szegedy 2015).
pub(crate) fn batch_norm(input: Activation, norm: Norm, epsilon: f64) -> Activation {
    let Norm {
        gamma,
        beta,
        mean,
        variance,
    } = norm;
    match input {
        Activation::Image(x) => {
            Activation::Image(module::batch_norm(x, gamma, beta, mean, variance, epsilon))
        }
        Activation::Vector(x) => {
            Activation::Vector(module::batch_norm(x, gamma, beta, mean, variance, epsilon))
        }
    }
}

/// Normalised by the batch's own statistics, and these statistics to be gathered.
pub(crate) struct NormTrained {
    pub(crate) output: Activation,
    pub(crate) mean: Tensor<1>,
    pub(crate) variance: Tensor<1>,
}

/// The gathered statistics move by `momentum` towards the batch's; the variance gathered is the
/// unbiased one, the one normalised with is not (as PyTorch's BatchNorm).
pub(crate) fn batch_norm_train(
    input: Activation,
    norm: Norm,
    epsilon: f64,
    momentum: f64,
) -> NormTrained {
    let count = match &input {
        Activation::Image(x) => x.dims()[0] * x.dims()[2] * x.dims()[3],
        Activation::Vector(x) => x.dims()[0],
    };
    let Norm {
        gamma,
        beta,
        mean,
        variance,
    } = norm;
    let (output, batch_mean, batch_variance) = match input {
        Activation::Image(x) => {
            let BatchNormTrainOutput {
                output,
                mean,
                variance,
            } = module::batch_norm_train(x, gamma, beta, epsilon);
            (Activation::Image(output), mean, variance)
        }
        Activation::Vector(x) => {
            let BatchNormTrainOutput {
                output,
                mean,
                variance,
            } = module::batch_norm_train(x, gamma, beta, epsilon);
            (Activation::Vector(output), mean, variance)
        }
    };
    let unbiased = if count > 1 {
        count as f64 / (count - 1) as f64
    } else {
        1.0
    };
    let moved = |old: Tensor<1>, new: Tensor<1>| {
        old.inner()
            .mul_scalar(1.0 - momentum)
            .add(new.inner().mul_scalar(momentum))
    };
    NormTrained {
        output,
        mean: moved(mean, batch_mean),
        variance: moved(variance, batch_variance.mul_scalar(unbiased)),
    }
}

pub(crate) struct Lrn {
    pub(crate) size: u32,
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) k: f64,
}

/// Across channels: x / (k + α/size · Σ x²)^β (Krizhevsky, Sutskever, Hinton 2012, §3.3, with α
/// divided by the size as Caffe and PyTorch do). The sum reaches ⌊size/2⌋ channels back.
pub(crate) fn lrn(input: Tensor<4>, rule: &Lrn) -> Tensor<4> {
    let [_, channels, _, _] = input.dims();
    let size = rule.size as usize;
    let before = size / 2;
    let squares = input.clone().square().pad(
        [(before, size - 1 - before), (0, 0), (0, 0)],
        PadMode::Constant(0.0),
    );
    let sum = (1..size).fold(squares.clone().narrow(1, 0, channels), |sum, offset| {
        sum.add(squares.clone().narrow(1, offset, channels))
    });
    input.div(
        sum.mul_scalar(rule.alpha / size as f64)
            .add_scalar(rule.k)
            .powf_scalar(rule.beta),
    )
}
