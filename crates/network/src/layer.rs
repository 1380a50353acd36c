//! One layer given what arrives: its shape, its parameters, its FLOPs.

use crate::description::{Count, LayerOp, PaddingRule};
use crate::graph::{Image, Op, Shape, Window};
use crate::shapes::{MOST_ELEMENTS, Refusal};

/// A layer whose sizes are known.
pub(crate) struct Made {
    pub(crate) op: Op,
    pub(crate) shape: Shape,
    pub(crate) parameters: Vec<Tensor>,
    pub(crate) flops: u64,
}

pub(crate) struct Tensor {
    pub(crate) role: &'static str,
    pub(crate) shape: Vec<u32>,
    pub(crate) trained: bool,
}

/// FLOPs count a multiply-add as two, and every other arithmetic operation (a comparison, a root,
/// an exponential) as one.
pub(crate) fn make(layer: &LayerOp, inputs: &[Shape], classes: u32) -> Result<Made, Refusal> {
    let Some(&input) = inputs.first() else {
        return Err(Refusal::new("gets nothing", "give it an input"));
    };
    let made = match layer {
        LayerOp::Conv { .. } => conv(layer, input, classes),
        LayerOp::Dense { output, bias } => dense(*output, *bias, input, classes),
        LayerOp::MaxPool(window) => pool(*window, input, Op::MaxPool),
        LayerOp::AvgPool(window) => pool(*window, input, Op::AvgPool),
        LayerOp::BatchNorm { epsilon, momentum } => Ok(batch_norm(*epsilon, *momentum, input)),
        LayerOp::Input => Ok(same(Op::Input, input, 0)),
        LayerOp::Relu => Ok(same(Op::Relu, input, 1)),
        LayerOp::Dropout { rate } => Ok(same(Op::Dropout { rate: *rate }, input, 0)),
        LayerOp::GlobalAvgPool => {
            let image = image(input)?;
            Ok(Made {
                shape: Shape::Vector {
                    features: image.channels,
                },
                ..same(Op::GlobalAvgPool, input, 1)
            })
        }
        LayerOp::Flatten => flatten(input),
        LayerOp::Add => add(inputs, input),
        LayerOp::Concat => concat(inputs, input),
        LayerOp::Lrn {
            size,
            alpha,
            beta,
            k,
        } => {
            image(input)?;
            let op = Op::Lrn {
                size: *size,
                alpha: *alpha,
                beta: *beta,
                k: *k,
            };
            // A square and a sum a neighbour, then scale, shift, power and division.
            Ok(same(op, input, 2 * u64::from(*size) + 4))
        }
        LayerOp::Softmax => {
            vector(input)?;
            // Maximum, difference, exponential, sum, division.
            Ok(same(Op::Softmax, input, 5))
        }
    };
    made.and_then(check_size)
}

/// An activation or parameter beyond any machine is refused here, so that no later sum overflows.
fn check_size(made: Made) -> Result<Made, Refusal> {
    let parameters = made.parameters.iter().map(|tensor| elements(&tensor.shape));
    let largest = parameters.fold(made.shape.elements(), u64::max);
    if largest > MOST_ELEMENTS || made.flops == u64::MAX {
        return Err(too_large());
    }
    Ok(made)
}

pub(crate) fn too_large() -> Refusal {
    Refusal::new(
        "would not fit on any machine",
        "use a smaller image, or fewer outputs",
    )
}

fn elements(shape: &[u32]) -> u64 {
    product(shape.iter().map(|&side| u64::from(side)))
}

fn product(factors: impl IntoIterator<Item = u64>) -> u64 {
    factors.into_iter().fold(1, u64::saturating_mul)
}

fn image(shape: Shape) -> Result<Image, Refusal> {
    match shape {
        Shape::Image(image) => Ok(image),
        Shape::Vector { .. } => Err(Refusal::new(
            format!("gets {shape} but needs an image"),
            "put it before flatten, dense or global-avg-pool, which produce a vector",
        )),
    }
}

fn vector(shape: Shape) -> Result<u32, Refusal> {
    match shape {
        Shape::Vector { features } => Ok(features),
        Shape::Image(_) => Err(Refusal::new(
            format!("gets an image of {shape} but needs a vector"),
            "put \"flatten\" or \"global-avg-pool\" before it",
        )),
    }
}

/// What changes no shape and does so many operations on each number.
fn same(op: Op, shape: Shape, flops_each: u64) -> Made {
    Made {
        op,
        shape,
        parameters: Vec::new(),
        flops: shape.elements().saturating_mul(flops_each),
    }
}

fn resolve(count: Count, channels: u32, classes: u32) -> u32 {
    match count {
        Count::Fixed(number) => number,
        Count::Channels => channels,
        Count::Classes => classes,
    }
}

fn weight(shape: Vec<u32>) -> Tensor {
    Tensor {
        role: "weight",
        shape,
        trained: true,
    }
}

fn with_bias(weight: Tensor, bias: bool, output: u32) -> Vec<Tensor> {
    let bias = bias.then(|| Tensor {
        role: "bias",
        shape: vec![output],
        trained: true,
    });
    [weight].into_iter().chain(bias).collect()
}

fn conv(layer: &LayerOp, input: Shape, classes: u32) -> Result<Made, Refusal> {
    let &LayerOp::Conv {
        kernel,
        stride,
        padding,
        output,
        groups,
        bias,
    } = layer
    else {
        return Err(Refusal::new("is not a convolution", "describe it as one"));
    };
    let image = image(input)?;
    let output = resolve(output, image.channels, classes);
    let groups = resolve(groups, image.channels, classes);
    for (what, channels) in [("gets", image.channels), ("gives", output)] {
        if !channels.is_multiple_of(groups) {
            return Err(Refusal::new(
                format!("{what} {channels} channels, which are not divisible by {groups} groups"),
                "choose a number of groups that divides both input and output channels",
            ));
        }
    }
    let window = Window {
        kernel,
        stride,
        padding,
    };
    let moved = window.over(image)?;
    let shape = moved.image(output);
    let per_group = image.channels / groups;
    let sides = [per_group, kernel[0], kernel[1]].map(u64::from);
    let additions = if bias { shape.elements() } else { 0 };
    Ok(Made {
        op: Op::Conv {
            kernel,
            stride,
            padding: moved.padding,
            output,
            groups,
            bias,
        },
        shape,
        parameters: with_bias(
            weight(vec![output, per_group, kernel[0], kernel[1]]),
            bias,
            output,
        ),
        flops: product([2, shape.elements(), product(sides)]).saturating_add(additions),
    })
}

fn dense(output: Count, bias: bool, input: Shape, classes: u32) -> Result<Made, Refusal> {
    let features = vector(input)?;
    let output = resolve(output, features, classes);
    let additions = if bias { u64::from(output) } else { 0 };
    Ok(Made {
        op: Op::Dense { output, bias },
        shape: Shape::Vector { features: output },
        parameters: with_bias(weight(vec![output, features]), bias, output),
        flops: product([2, u64::from(output), u64::from(features)]).saturating_add(additions),
    })
}

fn batch_norm(epsilon: f64, momentum: f64, input: Shape) -> Made {
    let features = match input {
        Shape::Image(image) => image.channels,
        Shape::Vector { features } => features,
    };
    let roles = [
        ("gamma", true),
        ("beta", true),
        ("mean", false),
        ("variance", false),
    ];
    let tensor = |(role, trained)| Tensor {
        role,
        shape: vec![features],
        trained,
    };
    Made {
        parameters: roles.into_iter().map(tensor).collect(),
        // As at inference: one scale, one shift.
        ..same(Op::BatchNorm { epsilon, momentum }, input, 2)
    }
}

fn pool(
    window: Window<PaddingRule>,
    input: Shape,
    op: impl FnOnce(Window) -> Op,
) -> Result<Made, Refusal> {
    let image = image(input)?;
    let Window { kernel, stride, .. } = window;
    if let PaddingRule::Explicit(sides) | PaddingRule::Ceil(sides) = window.padding {
        let most = [sides.top.max(sides.bottom), sides.left.max(sides.right)];
        if most[0] >= kernel[0] || most[1] >= kernel[1] {
            return Err(Refusal::new(
                format!(
                    "has a padding of {}×{}, as large as its window",
                    most[0], most[1]
                ),
                "use a padding smaller than k, so that every window contains a pixel",
            ));
        }
    }
    let moved = window.over(image)?;
    let each = product(kernel.map(u64::from));
    let window = Window {
        kernel,
        stride,
        padding: moved.padding,
    };
    Ok(same(op(window), moved.image(image.channels), each))
}

fn flatten(input: Shape) -> Result<Made, Refusal> {
    let features = u32::try_from(input.elements()).map_err(|_| too_large())?;
    Ok(Made {
        shape: Shape::Vector { features },
        ..same(Op::Flatten, input, 0)
    })
}

fn add(inputs: &[Shape], first: Shape) -> Result<Made, Refusal> {
    match inputs.iter().find(|&&shape| shape != first) {
        Some(other) => Err(Refusal::new(
            format!("gets {first} and {other} but needs equal shapes"),
            "make the shapes equal, for example with a 1×1 convolution",
        )),
        None => Ok(same(Op::Add, first, inputs.len() as u64 - 1)),
    }
}

fn concat(inputs: &[Shape], first: Shape) -> Result<Made, Refusal> {
    let mut total = first;
    for &next in &inputs[1..] {
        let sum = |a: u32, b: u32| a.checked_add(b).ok_or_else(too_large);
        total = match (total, next) {
            (Shape::Image(total), Shape::Image(next))
                if (total.height, total.width) == (next.height, next.width) =>
            {
                Shape::Image(Image {
                    channels: sum(total.channels, next.channels)?,
                    ..total
                })
            }
            (Shape::Vector { features }, Shape::Vector { features: more }) => Shape::Vector {
                features: sum(features, more)?,
            },
            _ => {
                return Err(Refusal::new(
                    format!("gets {first} and {next} but needs images of equal height and width"),
                    "use the same strides in all branches, and padding where they shrink",
                ));
            }
        };
    }
    Ok(same(Op::Concat, total, 0))
}
