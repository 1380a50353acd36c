//! Values of layers against those computed by hand or by plain loops.

use data::Random;
use network::{Graph, Image, Node, Op, Padding, Parameter, Shape, Weights, Window};

use crate::check;
use crate::executor::{DropoutPlace, Executor, Forward, Mode};
use crate::layers::conv::{self, Conv};
use crate::layers::lrn::{self, Lrn};
use crate::layers::sweep::Sweep;
use crate::layers::{Gradients, depthwise, pool};

fn close(found: &[f32], expected: &[f32]) {
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

/// A window of 2 over an image of 2 × 2.
fn sweep(stride: usize, before: usize, to: usize) -> Sweep {
    Sweep {
        batch: 1,
        from: [2, 2],
        to: [to; 2],
        kernel: [2, 2],
        stride: [stride; 2],
        before: [before; 2],
    }
}

#[test]
fn max_pool_takes_padding_for_less_than_anything() {
    let input = [-1.0, -2.0, -3.0, -4.0];
    close(&pool::largest(&sweep(2, 1, 1), &input).output, &[-1.0]);
    close(&pool::largest(&sweep(2, 1, 2), &input).output, &input);
    let lost = pool::largest(&sweep(2, 0, 1), &[1.0, f32::NAN, 3.0, 2.0]);
    assert!(lost.output[0].is_nan());
}

#[test]
fn avg_pool_does_not_count_padding() {
    let input = [1.0, 2.0, 3.0, 4.0];
    close(&pool::mean(&sweep(1, 0, 2), &input), &[2.5, 3.0, 3.5, 4.0]);
    close(&pool::mean(&sweep(2, 1, 2), &input), &input);
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
    close(&lrn::forward(&rule, &[1.0, 2.0, 3.0], 1).output, &expected);
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
        let found = op.forward(1, &input, &weight);
        close(&found, &plain_conv(&input, &weight, &op));
    }
}

impl PlainConv {
    fn conv(&self, batch: usize) -> Conv {
        let to = |before: u32, after: u32| {
            (self.side + before as usize + after as usize - self.kernel) / self.stride + 1
        };
        Conv {
            sweep: Sweep {
                batch,
                from: [self.side; 2],
                to: [
                    to(self.pad.top, self.pad.bottom),
                    to(self.pad.left, self.pad.right),
                ],
                kernel: [self.kernel; 2],
                stride: [self.stride; 2],
                before: [self.pad.top as usize, self.pad.left as usize],
            },
            channels: self.channels,
            outputs: self.output,
            groups: self.groups,
        }
    }

    fn forward(&self, batch: usize, input: &[f32], weight: &[f32]) -> Vec<f32> {
        let conv = self.conv(batch);
        match conv.is_depthwise() {
            true => depthwise::forward(&conv.sweep, input, weight, None),
            false => conv::forward(&conv, input, weight, None),
        }
    }

    fn backward(&self, batch: usize, given: &conv::Backward<'_>) -> Gradients {
        let conv = self.conv(batch);
        match conv.is_depthwise() {
            true => depthwise::backward(&conv.sweep, given),
            false => conv::backward(&conv, given),
        }
    }
}

/// A convolution is linear in its input and in its weight, so gradient · change of either is
/// gradient · change of the output, however large the change. Large enough for several tasks.
#[test]
fn gradients_of_large_convolutions_are_those_of_linear_functions() {
    let shape = |channels, kernel, stride, output, groups| PlainConv {
        channels,
        side: 19,
        kernel,
        stride,
        pad: padding(kernel as u32 / 2, 1, 0, kernel as u32 / 2),
        output,
        groups,
    };
    for op in [
        shape(40, 3, 1, 24, 1),
        shape(36, 5, 2, 20, 2),
        shape(50, 1, 1, 30, 1),
        shape(12, 3, 1, 12, 12),
        shape(12, 5, 2, 12, 12),
    ] {
        let batch = 7;
        let mut random = Random::at(&[2]);
        let mut draw =
            |count: usize| -> Vec<f32> { (0..count).map(|_| random.between(-1.0, 1.0)).collect() };
        let values = op.channels * batch * op.side * op.side;
        let weights = op.output * op.channels / op.groups * op.kernel * op.kernel;
        let (input, weight) = (draw(values), draw(weights));
        let (other_input, other_weight) = (draw(values), draw(weights));
        let gradient = draw(op.forward(batch, &input, &weight).len());
        let mut given = conv::Backward {
            input: &input,
            weight: &weight,
            gradient: &gradient,
            has_bias: true,
            wants_input: true,
        };
        let found = op.backward(batch, &given);
        let dot = |a: &[f32], b: &[f32]| -> f64 {
            a.iter()
                .zip(b)
                .map(|(&a, &b)| f64::from(a) * f64::from(b))
                .sum()
        };
        let same =
            |a: f64, b: f64| assert!((a - b).abs() < 1e-3 + 1e-5 * a.abs(), "{a} is not {b}");
        let by_input = op.forward(batch, &other_input, &weight);
        let by_weight = op.forward(batch, &input, &other_weight);
        same(
            dot(&gradient, &by_input),
            dot(&found.input.unwrap(), &other_input),
        );
        same(
            dot(&gradient, &by_weight),
            dot(&found.weight, &other_weight),
        );
        let sum: f32 = found.bias.unwrap().iter().sum();
        same(dot(&gradient, &vec![1.0; gradient.len()]), sum.into());
        given.wants_input = false;
        let alone = op.backward(batch, &given).weight;
        same(dot(&gradient, &by_weight), dot(&alone, &other_weight));
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
    let image = Shape::Image(Image {
        channels: 2,
        height: 1,
        width: 1,
    });
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

fn forward(graph: Graph, mode: Mode, input: &[f32]) -> Forward {
    let weights: Weights = network::initial_weights(&graph, 1);
    let executor = Executor::new(graph).unwrap();
    executor.forward(&weights, input, mode).unwrap()
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
    let trained = forward(graph.clone(), TRAIN, &input);
    assert_eq!(trained.logits, [-1.0, -1.0, 1.0, 1.0]);
    // Mean 2 and 20, unbiased variance 2 and 200, each a tenth of the way from 0 and 1.
    let gathered: Vec<(usize, Vec<f32>)> = trained
        .gathered
        .into_iter()
        .map(|new| (new.parameter, new.values))
        .collect();
    assert_eq!(gathered[0], (2, vec![0.2, 2.0]));
    assert_eq!(gathered[1].0, 3);
    assert!((gathered[1].1[0] - 1.1).abs() < 1e-6 && (gathered[1].1[1] - 20.9).abs() < 1e-5);
    let answered = forward(graph, Mode::Answer, &input);
    assert_eq!(answered.logits, input);
    assert!(answered.gathered.is_empty());
}

#[test]
fn dropout_keeps_the_mean_in_training_and_everything_in_answers() {
    let graph = one_layer(Op::Dropout { rate: 0.25 }, &[]);
    let input = vec![1.0; 8000];
    let values = forward(graph.clone(), TRAIN, &input).logits;
    let dropped = values.iter().filter(|&&value| value == 0.0).count();
    assert!((1850..2150).contains(&dropped), "{dropped} of 8000");
    assert!(
        values
            .iter()
            .all(|&value| value == 0.0 || (value - 4.0 / 3.0).abs() < 1e-6)
    );
    assert_eq!(forward(graph, Mode::Answer, &input).logits, input);
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
    let pool = |kernel, stride, padding| {
        Op::MaxPool(Window {
            kernel,
            stride,
            padding,
        })
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
