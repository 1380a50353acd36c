//! ONNX: a `ModelProto`. What its operators compute is in docs/Operators.md of the ONNX project.

mod nodes;
mod schema;

use crate::{Graph, Shape, Tensor, Weights};

use crate::formats::error::FormatError;
use crate::formats::protobuf::Message;
use crate::formats::tensors;
use schema::{entry, model, operator_set, shape, tensor, type_proto, value_info};

const FORMAT: &str = "ONNX";
/// Of May 2021, with operator set 17 of a year later: what runtimes in use all read.
const IR_VERSION: u64 = 8;
const OPERATOR_SET: u64 = 17;

const INPUT: &str = "input";
const LOGITS: &str = "logits";
const PROBABILITIES: &str = "probabilities";
/// The key under which a model says where its weights come from; `serve` looks for it.
const WEIGHTS: &str = "bancada.weights";

/// The network as it answers, ready for a runtime: `input`, float32 [batch, channels, height, width]
/// with any batch, gives `probabilities` and `logits`, both [batch, classes]. Dropout is left out,
/// batch normalisation uses what it gathered, initialisers have the names of the parameters.
pub fn onnx(graph: &Graph, weights: &Weights) -> Result<Vec<u8>, FormatError> {
    written(graph, weights, None)
}

/// The same with weights as they are before training, which the file says: whoever serves it can tell.
pub fn untrained_onnx(graph: &Graph, weights: &Weights, seed: u64) -> Result<Vec<u8>, FormatError> {
    let origin = format!("untrained, random with seed {seed}");
    written(graph, weights, Some(origin))
}

fn written(
    graph: &Graph,
    weights: &Weights,
    origin: Option<String>,
) -> Result<Vec<u8>, FormatError> {
    weights.check(graph)?;
    let mut body = Message::new();
    body.text(schema::graph::NAME, &graph.name);
    for node in nodes::nodes(graph)? {
        body.message(schema::graph::NODE, node);
    }
    for tensor in &weights.tensors {
        body.message(schema::graph::INITIALIZER, initializer(tensor)?);
    }
    let classes = Shape::Vector {
        features: graph.classes,
    };
    body.message(schema::graph::INPUT, value(INPUT, input_shape(graph)?));
    body.message(schema::graph::OUTPUT, value(PROBABILITIES, classes));
    body.message(schema::graph::OUTPUT, value(LOGITS, classes));
    whole(graph, body, origin)?.file(FORMAT)
}

fn whole<'w>(
    graph: &Graph,
    body: Message<'w>,
    origin: Option<String>,
) -> Result<Message<'w>, FormatError> {
    let mut operators = Message::new();
    operators
        .text(operator_set::DOMAIN, "")
        .int(operator_set::VERSION, OPERATOR_SET);
    let input = input_shape(graph)?;
    let about = format!(
        "{} for images of {input} and {} classes; pixels are scaled as x / 127.5 - 1",
        graph.name, graph.classes
    );
    let mut whole = Message::new();
    whole
        .int(model::IR_VERSION, IR_VERSION)
        .text(model::PRODUCER_NAME, "bancada")
        .text(model::PRODUCER_VERSION, env!("CARGO_PKG_VERSION"))
        .text(model::DOC_STRING, &about)
        .message(model::GRAPH, body)
        .message(model::OPSET_IMPORT, operators);
    let about = [
        ("network", graph.name.clone()),
        ("classes", graph.classes.to_string()),
        ("input", input.to_string()),
    ];
    let origin = origin.map(|origin| (WEIGHTS, origin));
    for (key, text) in about.into_iter().chain(origin) {
        let mut pair = Message::new();
        pair.text(entry::KEY, key).text(entry::VALUE, &text);
        whole.message(model::METADATA_PROPS, pair);
    }
    Ok(whole)
}

fn input_shape(graph: &Graph) -> Result<Shape, FormatError> {
    let first = graph.nodes.first();
    first
        .map(|node| node.shape)
        .ok_or_else(|| FormatError::graph("it has no layers"))
}

fn initializer(given: &Tensor) -> Result<Message<'_>, FormatError> {
    tensors::check(given)?;
    let mut message = Message::new();
    for &side in &given.shape {
        message.int(tensor::DIMS, side.into());
    }
    message
        .int(tensor::DATA_TYPE, tensor::FLOAT)
        .text(tensor::NAME, &given.name)
        .floats(tensor::RAW_DATA, &given.values);
    Ok(message)
}

/// A float32 input or output with a batch of any size before its shape.
fn value(name: &str, of_one: Shape) -> Message<'static> {
    let sides = match of_one {
        Shape::Image(image) => vec![image.channels, image.height, image.width],
        Shape::Vector { features } => vec![features],
    };
    let mut batch = Message::new();
    batch.text(shape::DIM_PARAM, "batch");
    let mut dimensions = Message::new();
    dimensions.message(shape::DIM, batch);
    for side in sides {
        let mut dimension = Message::new();
        dimension.int(shape::DIM_VALUE, side.into());
        dimensions.message(shape::DIM, dimension);
    }
    let mut tensor_type = Message::new();
    tensor_type
        .int(type_proto::ELEM_TYPE, tensor::FLOAT)
        .message(type_proto::SHAPE, dimensions);
    let mut kind = Message::new();
    kind.message(type_proto::TENSOR_TYPE, tensor_type);
    let mut message = Message::new();
    message
        .text(value_info::NAME, name)
        .message(value_info::TYPE, kind);
    message
}
