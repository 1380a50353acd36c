//! Whether a graph can be built: a job file may come from anywhere, and tensors of the wrong
//! shape would end the process.

use network::{Graph, Image, Node, Op, Padding, Shape};

use crate::error::EngineError;

/// Inputs come before their users, shapes follow from them, and every parameter is there.
pub(crate) fn check(graph: &Graph) -> Result<(), EngineError> {
    for (index, node) in graph.nodes.iter().enumerate() {
        let inputs: Option<Vec<Shape>> = node
            .inputs
            .iter()
            .map(|&i| Some(graph.nodes.get(i).filter(|_| i < index)?.shape))
            .collect();
        let result = match inputs {
            None => Err("one of its inputs does not come before it".to_owned()),
            Some(_) if (index == 0) != matches!(node.op, Op::Input) => {
                Err("the first layer, and no other, is the input".to_owned())
            }
            Some(inputs) => check_node(node, &inputs),
        };
        result.map_err(|problem| EngineError::Graph {
            node: node.name.clone(),
            problem,
        })?;
    }
    let whole = |problem: &str| EngineError::Graph {
        node: graph.name.clone(),
        problem: problem.to_owned(),
    };
    let logits = graph
        .nodes
        .get(graph.logits)
        .ok_or_else(|| whole("there is no logits layer"))?;
    match logits.shape {
        Shape::Vector { features } if features == graph.classes && features > 0 => Ok(()),
        _ => Err(whole("its logits are not one value per class")),
    }
}

fn check_node(node: &Node, inputs: &[Shape]) -> Result<(), String> {
    let expected = match node.op {
        Op::Input => node.shape,
        _ => output_shape(&node.op, inputs)?,
    };
    if expected != node.shape || expected.elements() == 0 {
        return Err(format!(
            "its output is {:?} according to its inputs, but {:?} in the description",
            expected, node.shape
        ));
    }
    let wanted = parameter_shapes(&node.op, inputs);
    let given: Vec<(&str, &[u32])> = node
        .parameters
        .iter()
        .map(|parameter| (role(&parameter.name), parameter.shape.as_slice()))
        .collect();
    let same = wanted.len() == given.len()
        && wanted
            .iter()
            .zip(&given)
            .all(|((a, b), (c, d))| a == c && b == d);
    if same {
        Ok(())
    } else {
        Err(format!(
            "it needs the parameters {wanted:?} but has {given:?}"
        ))
    }
}

/// `weight` of `conv1.weight`.
fn role(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or_default()
}

fn output_shape(op: &Op, inputs: &[Shape]) -> Result<Shape, String> {
    let first = *inputs.first().ok_or("it has no input")?;
    if inputs.len() > 1 && !matches!(op, Op::Add | Op::Concat) {
        return Err(format!("it takes one input, not {}", inputs.len()));
    }
    match *op {
        Op::Conv {
            kernel,
            stride,
            padding,
            output,
            groups,
            ..
        } => {
            let channels = image(first)?.channels;
            if groups == 0 || !channels.is_multiple_of(groups) || !output.is_multiple_of(groups) {
                return Err(format!(
                    "{groups} groups do not divide {channels} into {output} channels"
                ));
            }
            let [height, width] = window(first, kernel, stride, padding)?;
            Ok(Shape::Image(Image {
                channels: output,
                height,
                width,
            }))
        }
        Op::MaxPool(pool) | Op::AvgPool(pool) => {
            let kernel = pool.kernel;
            let Padding {
                top,
                bottom,
                left,
                right,
            } = pool.padding;
            if top.max(bottom) >= kernel[0] || left.max(right) >= kernel[1] {
                return Err("a window would contain only padding".to_owned());
            }
            let [height, width] = window(first, kernel, pool.stride, pool.padding)?;
            Ok(Shape::Image(Image {
                channels: image(first)?.channels,
                height,
                width,
            }))
        }
        Op::GlobalAvgPool => Ok(match node_vector(first) {
            Some(vector) => vector,
            None => Shape::Vector {
                features: image(first)?.channels,
            },
        }),
        Op::Dense { output, .. } => {
            node_vector(first).ok_or("it needs a vector: flatten first")?;
            Ok(Shape::Vector { features: output })
        }
        Op::Flatten => {
            let features = u32::try_from(first.elements()).map_err(|_| "its input is too large")?;
            Ok(Shape::Vector { features })
        }
        Op::Add => match inputs.iter().all(|shape| *shape == first) {
            true => Ok(first),
            false => Err(format!("shapes that differ cannot be added: {inputs:?}")),
        },
        Op::Concat => concatenated(inputs),
        Op::Dropout { rate } if !(0.0..1.0).contains(&rate) => {
            Err(format!("a rate of {rate} is not from 0 to below 1"))
        }
        Op::Lrn { size: 0, .. } => Err("a size of 0 covers no channel".to_owned()),
        Op::Lrn { .. } => image(first).map(|_| first),
        Op::Softmax => node_vector(first).ok_or_else(|| "softmax needs a vector".to_owned()),
        Op::Input | Op::BatchNorm { .. } | Op::Relu | Op::Dropout { .. } => Ok(first),
    }
}

fn image(shape: Shape) -> Result<Image, String> {
    match shape {
        Shape::Image(image) => Ok(image),
        Shape::Vector { .. } => Err("it needs an image but gets a vector".to_owned()),
    }
}

fn node_vector(shape: Shape) -> Option<Shape> {
    matches!(shape, Shape::Vector { .. }).then_some(shape)
}

/// Height and width after a window has gone over an image.
fn window(
    input: Shape,
    kernel: [u32; 2],
    stride: [u32; 2],
    padding: Padding,
) -> Result<[u32; 2], String> {
    let Image { height, width, .. } = image(input)?;
    let padded = [
        height
            .checked_add(padding.top)
            .and_then(|sum| sum.checked_add(padding.bottom)),
        width
            .checked_add(padding.left)
            .and_then(|sum| sum.checked_add(padding.right)),
    ];
    let side = |axis: usize| -> Option<u32> {
        let room = padded[axis]?.checked_sub(kernel[axis])?;
        let steps = room.checked_div(stride[axis])?.checked_add(1)?;
        (kernel[axis] > 0).then_some(steps)
    };
    match (side(0), side(1)) {
        (Some(height), Some(width)) => Ok([height, width]),
        _ => Err(format!(
            "a window of {kernel:?} with stride {stride:?} does not fit in {input:?}"
        )),
    }
}

fn concatenated(inputs: &[Shape]) -> Result<Shape, String> {
    let mut shapes = inputs.iter().copied();
    let first = shapes.next().ok_or("it has no input")?;
    shapes.try_fold(first, |sum, next| {
        let together = match (sum, next) {
            (Shape::Image(a), Shape::Image(b)) if (a.height, a.width) == (b.height, b.width) => {
                let channels = a.channels.checked_add(b.channels);
                channels.map(|channels| Shape::Image(Image { channels, ..a }))
            }
            (Shape::Vector { features: a }, Shape::Vector { features: b }) => {
                a.checked_add(b).map(|features| Shape::Vector { features })
            }
            _ => None,
        };
        together.ok_or_else(|| {
            format!(
                "shapes that differ in more than their channels cannot be concatenated: {inputs:?}"
            )
        })
    })
}

/// Names and shapes of what a layer keeps, in the order the executor takes them.
fn parameter_shapes(op: &Op, inputs: &[Shape]) -> Vec<(&'static str, Vec<u32>)> {
    let (channels, features) = match inputs.first() {
        Some(Shape::Image(image)) => (image.channels, 0),
        Some(Shape::Vector { features }) => (*features, *features),
        None => (0, 0),
    };
    match *op {
        Op::Conv {
            kernel: [height, width],
            output,
            groups,
            bias,
            ..
        } => {
            let weight = (
                "weight",
                vec![output, channels / groups.max(1), height, width],
            );
            std::iter::once(weight)
                .chain(bias.then(|| ("bias", vec![output])))
                .collect()
        }
        Op::Dense { output, bias } => {
            let weight = ("weight", vec![output, features]);
            std::iter::once(weight)
                .chain(bias.then(|| ("bias", vec![output])))
                .collect()
        }
        Op::BatchNorm { .. } => ["gamma", "beta", "mean", "variance"]
            .map(|name| (name, vec![channels]))
            .to_vec(),
        _ => Vec::new(),
    }
}
