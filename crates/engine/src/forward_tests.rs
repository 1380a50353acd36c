//! Values of layers against those computed by hand or by plain loops.

use burn_tensor::{Device, Tensor, TensorData};
use data::Random;
use network::{Graph, Node, Op, Padding, Parameter, Shape, Weights};

use crate::check;
use crate::executor::{DropoutPlace, Executor, Forward, Mode};
use crate::ops::{self, ConvOp, Lrn};
use crate::parameters::{Parameters, numbers};

fn tensor(values: &[f32], shape: [usize; 4]) -> Tensor<4> {
    Tensor::from_data(TensorData::new(values.to_vec(), shape), &Device::flex())
}

fn close(found: Tensor<4>, expected: &[f32]) {
    let found = numbers(found).unwrap();
    assert_eq!(found.len(), expected.len());
    let near = found
        .iter()
        .zip(expected)
        .all(|(a, b)| (a - b).abs() < 1e-4);
    assert!(near, "{found:?} is not {expected:?}");
}

fn padding(top: u32, bottom: u32, left: u32, right: u32) -> Padding {
    Padding {
        top,
        bottom,
        left,
        right,
    }
}

#[test]
fn max_pool_takes_padding_for_less_than_anything() {
    let input = tensor(&[-1.0, -2.0, -3.0, -4.0], [1, 1, 2, 2]);
    close(
        ops::max_pool(input.clone(), [2, 2], [2, 2], padding(1, 0, 1, 0)),
        &[-1.0],
    );
    close(
        ops::max_pool(input, [2, 2], [2, 2], padding(1, 1, 1, 1)),
        &[-1.0, -2.0, -3.0, -4.0],
    );
}

#[test]
fn avg_pool_does_not_count_padding() {
    let input = tensor(&[1.0, 2.0, 3.0, 4.0], [1, 1, 2, 2]);
    close(
        ops::avg_pool(input.clone(), [2, 2], [1, 1], padding(0, 1, 0, 1)),
        &[2.5, 3.0, 3.5, 4.0],
    );
    close(
        ops::avg_pool(input, [2, 2], [2, 2], padding(1, 1, 1, 1)),
        &[1.0, 2.0, 3.0, 4.0],
    );
}

#[test]
fn lrn_sums_over_neighbouring_channels() {
    // One pixel, three channels, size 3, α/size = 1, β = 1, k = 1.
    let rule = Lrn {
        size: 3,
        alpha: 3.0,
        beta: 1.0,
        k: 1.0,
    };
    let expected = [1.0 / 6.0, 2.0 / 15.0, 3.0 / 14.0];
    close(
        ops::lrn(tensor(&[1.0, 2.0, 3.0], [1, 3, 1, 1]), &rule),
        &expected,
    );
}

/// Plain loops, for comparison.
fn plain_conv(input: &[f32], weight: &[f32], op: &PlainConv) -> Vec<f32> {
    let PlainConv {
        channels,
        side,
        kernel,
        stride,
        pad,
        output,
        groups,
    } = *op;
    let (inputs, outputs) = (channels / groups, output / groups);
    let height = (side + pad.top as usize + pad.bottom as usize - kernel) / stride + 1;
    let width = (side + pad.left as usize + pad.right as usize - kernel) / stride + 1;
    let mut result = Vec::new();
    for out in 0..output {
        for y in 0..height {
            for x in 0..width {
                let mut sum = 0.0;
                for channel in 0..inputs {
                    for (ky, kx) in (0..kernel).flat_map(|ky| (0..kernel).map(move |kx| (ky, kx))) {
                        let row = (y * stride + ky)
                            .checked_sub(pad.top as usize)
                            .filter(|&row| row < side);
                        let column = (x * stride + kx)
                            .checked_sub(pad.left as usize)
                            .filter(|&column| column < side);
                        if let (Some(row), Some(column)) = (row, column) {
                            let from = ((out / outputs) * inputs + channel) * side * side
                                + row * side
                                + column;
                            sum += input[from]
                                * weight[((out * inputs + channel) * kernel + ky) * kernel + kx];
                        }
                    }
                }
                result.push(sum);
            }
        }
    }
    result
}

#[derive(Clone, Copy)]
struct PlainConv {
    channels: usize,
    side: usize,
    kernel: usize,
    stride: usize,
    pad: Padding,
    output: usize,
    groups: usize,
}

#[test]
fn conv_is_that_of_plain_loops() {
    let all = [
        PlainConv {
            channels: 2,
            side: 5,
            kernel: 3,
            stride: 1,
            pad: padding(1, 1, 1, 1),
            output: 3,
            groups: 1,
        },
        PlainConv {
            channels: 4,
            side: 6,
            kernel: 3,
            stride: 2,
            pad: padding(0, 1, 0, 1),
            output: 6,
            groups: 2,
        },
        PlainConv {
            channels: 8,
            side: 5,
            kernel: 3,
            stride: 2,
            pad: padding(1, 0, 0, 2),
            output: 8,
            groups: 8,
        },
        PlainConv {
            channels: 16,
            side: 7,
            kernel: 5,
            stride: 1,
            pad: padding(2, 2, 2, 2),
            output: 9,
            groups: 1,
        },
        PlainConv {
            channels: 3,
            side: 4,
            kernel: 1,
            stride: 1,
            pad: Padding::default(),
            output: 5,
            groups: 1,
        },
    ];
    for op in all {
        let mut random = Random::at(&[1]);
        let mut draw =
            |count: usize| -> Vec<f32> { (0..count).map(|_| random.between(-1.0, 1.0)).collect() };
        let input = draw(op.channels * op.side * op.side);
        let weight = draw(op.output * op.channels / op.groups * op.kernel * op.kernel);
        let conv = ConvOp::of(&Op::Conv {
            kernel: [op.kernel as u32; 2],
            stride: [op.stride as u32; 2],
            padding: op.pad,
            output: op.output as u32,
            groups: op.groups as u32,
            bias: false,
        })
        .unwrap();
        let values = Tensor::from_data(
            TensorData::new(weight.clone(), [weight.len()]),
            &Device::flex(),
        );
        let found = ops::conv(
            tensor(&input, [1, op.channels, op.side, op.side]),
            &conv,
            values,
            None,
        );
        close(found, &plain_conv(&input, &weight, &op));
    }
}

fn node(
    name: &str,
    op: Op,
    inputs: &[usize],
    shape: Shape,
    parameters: &[(&str, &[u32], bool)],
) -> Node {
    let parameters = parameters
        .iter()
        .map(|&(role, shape, trained)| Parameter {
            name: format!("{name}.{role}"),
            shape: shape.to_vec(),
            trained,
        })
        .collect();
    Node {
        name: name.to_owned(),
        op,
        inputs: inputs.to_vec(),
        shape,
        parameters,
        flops: 0,
    }
}

/// Two values in, a batch-norm or dropout over them, two values out.
fn one_layer(op: Op, parameters: &[(&str, &[u32], bool)]) -> Graph {
    let image = Shape::Image {
        channels: 2,
        height: 1,
        width: 1,
    };
    let nodes = vec![
        node("input", Op::Input, &[], image, &[]),
        node("layer", op, &[0], image, parameters),
        node(
            "flatten",
            Op::Flatten,
            &[1],
            Shape::Vector { features: 2 },
            &[],
        ),
    ];
    Graph {
        name: "one".to_owned(),
        nodes,
        logits: 2,
        classes: 2,
    }
}

fn forward(graph: Graph, mode: &Mode, input: &[f32]) -> Forward {
    let weights: Weights = network::initial_weights(&graph, 1);
    let executor = Executor::new(graph, Device::flex()).unwrap();
    let parameters = Parameters::new(executor.graph(), &weights, executor.device()).unwrap();
    executor
        .forward(&parameters, tensor(input, [input.len() / 2, 2, 1, 1]), mode)
        .unwrap()
}

const TRAIN: Mode = Mode::Train {
    place: DropoutPlace { seed: 1, step: 1 },
};

#[test]
fn batch_norm_normalises_by_the_batch_and_gathers_its_statistics() {
    let shape: &[u32] = &[2];
    let parameters = [
        ("gamma", shape, true),
        ("beta", shape, true),
        ("mean", shape, false),
        ("variance", shape, false),
    ];
    let graph = one_layer(
        Op::BatchNorm {
            epsilon: 0.0,
            momentum: 0.1,
        },
        &parameters,
    );
    let input = [1.0, 10.0, 3.0, 30.0];
    let trained = forward(graph.clone(), &TRAIN, &input);
    assert_eq!(numbers(trained.logits).unwrap(), [-1.0, -1.0, 1.0, 1.0]);
    // Mean 2 and 20, unbiased variance 2 and 200, each a tenth of the way from 0 and 1.
    let gathered: Vec<(usize, Vec<f32>)> = trained
        .gathered
        .into_iter()
        .map(|new| (new.parameter, numbers(new.values).unwrap()))
        .collect();
    assert_eq!(gathered[0], (2, vec![0.2, 2.0]));
    assert_eq!(gathered[1].0, 3);
    assert!((gathered[1].1[0] - 1.1).abs() < 1e-6 && (gathered[1].1[1] - 20.9).abs() < 1e-5);
    let answered = forward(graph, &Mode::Answer, &input);
    assert_eq!(numbers(answered.logits).unwrap(), input);
    assert!(answered.gathered.is_empty());
}

#[test]
fn dropout_keeps_the_mean_in_training_and_everything_in_answers() {
    let graph = one_layer(Op::Dropout { rate: 0.25 }, &[]);
    let input = vec![1.0; 8000];
    let values = numbers(forward(graph.clone(), &TRAIN, &input).logits).unwrap();
    let dropped = values.iter().filter(|&&value| value == 0.0).count();
    assert!((1850..2150).contains(&dropped), "{dropped} of 8000");
    assert!(
        values
            .iter()
            .all(|&value| value == 0.0 || (value - 4.0 / 3.0).abs() < 1e-6)
    );
    assert_eq!(
        numbers(forward(graph, &Mode::Answer, &input).logits).unwrap(),
        input
    );
}

#[test]
fn graphs_that_do_not_fit_together_are_refused() {
    let good = one_layer(Op::Relu, &[]);
    assert!(check::check(&good).is_ok());
    let spoil = |spoil: &dyn Fn(&mut Graph), expected: &str| {
        let mut graph = good.clone();
        spoil(&mut graph);
        let error = check::check(&graph).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    spoil(
        &|graph| graph.nodes[1].inputs = vec![2],
        "does not come before it",
    );
    spoil(&|graph| graph.nodes[1].inputs = vec![], "it has no input");
    spoil(
        &|graph| graph.nodes[1].op = Op::Input,
        "the first layer, and no other",
    );
    spoil(
        &|graph| graph.nodes[1].shape = Shape::Vector { features: 2 },
        "in the description",
    );
    spoil(
        &|graph| {
            graph.nodes[1].op = Op::Dense {
                output: 2,
                bias: true,
            }
        },
        "flatten first",
    );
    spoil(
        &|graph| graph.nodes[1].op = Op::Dropout { rate: 1.0 },
        "a rate of 1",
    );
    spoil(
        &|graph| {
            graph.nodes[1].op = Op::BatchNorm {
                epsilon: 0.0,
                momentum: 0.1,
            }
        },
        "it needs the parameters",
    );
    spoil(&|graph| graph.logits = 9, "no logits layer");
    spoil(&|graph| graph.logits = 1, "not one value per class");
    spoil(&|graph| graph.classes = 3, "not one value per class");
    let pool = |kernel, stride, padding| Op::MaxPool {
        kernel,
        stride,
        padding,
    };
    spoil(
        &|graph| graph.nodes[1].op = pool([1, 1], [0, 1], Padding::default()),
        "does not fit",
    );
    spoil(
        &|graph| graph.nodes[1].op = pool([2, 2], [1, 1], Padding::default()),
        "does not fit",
    );
    spoil(
        &|graph| graph.nodes[1].op = pool([1, 1], [1, 1], padding(1, 0, 0, 0)),
        "only padding",
    );
    spoil(&|graph| graph.nodes.clear(), "no logits layer");
}
