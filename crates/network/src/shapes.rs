//! From a description and an input to a graph: every shape computed and checked.

use std::fmt;

use crate::description::{Description, InputSpec, Layer};
use crate::error::ShapeProblem;
use crate::graph::{Graph, Image, Node, Op, Parameter, Shape};
use crate::layer::{Made, make};
use crate::typed::LARGEST;

/// Numbers in one tensor. No machine holds as many, and no sum of them overflows.
pub(crate) const MOST_ELEMENTS: u64 = 1 << 40;

pub(crate) fn instantiate(
    description: &Description,
    input: InputSpec,
) -> Result<Graph, Vec<ShapeProblem>> {
    check_input(input)?;
    let inference = infer(description, input);
    if !inference.problems.is_empty() {
        let side = inference.too_small.then(|| enough(description, input));
        return Err(with_side(inference.problems, side.flatten()));
    }
    let nodes = inference.nodes;
    let logits = logits(&nodes);
    let graph = Graph {
        name: description.name.clone(),
        nodes,
        logits,
        classes: input.classes,
    };
    check_logits(&graph).map_err(|problem| vec![problem])?;
    Ok(graph)
}

/// Why a layer cannot be made.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// A larger image would help.
    pub(crate) too_small: bool,
}

impl Refusal {
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Refusal {
            message: message.into(),
            hint: Some(hint.into()),
            too_small: false,
        }
    }
}

struct Inference {
    nodes: Vec<Node>,
    problems: Vec<ShapeProblem>,
    too_small: bool,
}

fn check_input(input: InputSpec) -> Result<(), Vec<ShapeProblem>> {
    let sides = [
        ("channels", input.channels),
        ("height", input.height),
        ("width", input.width),
        ("classes", input.classes),
    ];
    let mut problems = Vec::new();
    for (what, value) in sides {
        if !(1..=LARGEST).contains(&i64::from(value)) {
            problems.push(ShapeProblem {
                layer: "input".to_owned(),
                message: format!("has {what} = {value}"),
                hint: Some(format!("give a number from 1 to {LARGEST}")),
            });
        }
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(problems),
    }
}

/// Goes on past an error: what hangs on the layer is left out, the rest is still checked.
fn infer(description: &Description, input: InputSpec) -> Inference {
    let shape = Shape::Image(Image {
        channels: input.channels,
        height: input.height,
        width: input.width,
    });
    let mut shapes = vec![Some(shape)];
    let mut inference = Inference {
        nodes: vec![Node {
            name: "input".to_owned(),
            op: Op::Input,
            inputs: Vec::new(),
            shape,
            parameters: Vec::new(),
            flops: 0,
        }],
        problems: Vec::new(),
        too_small: false,
    };
    for layer in &description.layers {
        let arriving: Option<Vec<Shape>> = layer
            .inputs
            .iter()
            .map(|&index| shapes.get(index).copied().flatten())
            .collect();
        let made = arriving.map(|arriving| make(&layer.op, &arriving, input.classes));
        shapes.push(match made {
            Some(Ok(made)) => Some(inference.place(layer, made)),
            Some(Err(refusal)) => {
                inference.too_small |= refusal.too_small;
                inference.problems.push(problem(layer, refusal));
                None
            }
            None => None,
        });
    }
    inference
}

impl Inference {
    fn place(&mut self, layer: &Layer, made: Made) -> Shape {
        let parameters = made.parameters.into_iter().map(|tensor| Parameter {
            name: format!("{}.{}", layer.name, tensor.role),
            shape: tensor.shape,
            trained: tensor.trained,
        });
        self.nodes.push(Node {
            name: layer.name.clone(),
            op: made.op,
            inputs: layer.inputs.clone(),
            shape: made.shape,
            parameters: parameters.collect(),
            flops: made.flops,
        });
        made.shape
    }
}

fn problem(layer: &Layer, refusal: Refusal) -> ShapeProblem {
    ShapeProblem {
        layer: layer.name.clone(),
        message: refusal.message,
        hint: refusal.hint,
    }
}

/// The last node, or what a final softmax takes.
fn logits(nodes: &[Node]) -> usize {
    let last = nodes.len().saturating_sub(1);
    match nodes.get(last) {
        Some(Node {
            op: Op::Softmax,
            inputs,
            ..
        }) => inputs.first().copied().unwrap_or(last),
        _ => last,
    }
}

fn check_logits(graph: &Graph) -> Result<(), ShapeProblem> {
    let expected = Shape::Vector {
        features: graph.classes,
    };
    let Some(node) = graph.nodes.get(graph.logits) else {
        return Ok(());
    };
    if node.shape == expected {
        return Ok(());
    }
    Err(ShapeProblem {
        layer: node.name.clone(),
        message: format!(
            "is the last layer and produces {}, but must produce a vector of {}, one number per class",
            node.shape, graph.classes
        ),
        hint: Some("end with `{ dense = { o = \"classes\" } }`".to_owned()),
    })
}

/// The smallest square image on which no layer finds too little; `None` if no size helps.
fn enough(description: &Description, input: InputSpec) -> Option<u32> {
    let fits = |side: u32| {
        !infer(
            description,
            InputSpec::square(input.channels, side, input.classes),
        )
        .too_small
    };
    let mut low = input.height.min(input.width);
    let mut high = low;
    while !fits(high) {
        low = high;
        high = high.checked_mul(2).filter(|&side| side <= 1 << 14)?;
    }
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if fits(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

fn with_side(problems: Vec<ShapeProblem>, side: Option<u32>) -> Vec<ShapeProblem> {
    let hint = side.map(|side| format!("use an image of at least {side} px"));
    let complete = |problem: ShapeProblem| ShapeProblem {
        hint: problem.hint.or_else(|| hint.clone()),
        ..problem
    };
    problems.into_iter().map(complete).collect()
}

/// `64×7×7` (channels × height × width), or `a vector of 128`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Image(Image {
                channels,
                height,
                width,
            }) => f.pad(&format!("{channels}×{height}×{width}")),
            Shape::Vector { features } => f.pad(&format!("a vector of {features}")),
        }
    }
}
