//! Layers → ONNX nodes.

use std::collections::BTreeSet;

use crate::graph::Padding;
use crate::{Graph, Node, Op};

use super::schema::{attribute, node};
use super::{FORMAT, INPUT, LOGITS, PROBABILITIES};
use crate::formats::error::FormatError;
use crate::formats::protobuf::Message;

/// In an order in which every value is computed before it is used, as ONNX wants it.
pub(super) fn nodes(graph: &Graph) -> Result<Vec<Message<'static>>, FormatError> {
    let mut writer = Writer::new(graph);
    let until_logits = graph.nodes.get(..=graph.logits);
    let layers =
        until_logits.ok_or_else(|| FormatError::graph("its logits are not one of its layers"))?;
    for layer in layers {
        let value = writer.layer(layer)?;
        writer.values.push(value);
    }
    let answers = writer.values.last().cloned().unwrap_or_default();
    if answers != LOGITS {
        writer.emit(Call::new("Identity", vec![answers]), LOGITS.to_owned());
    }
    let softmax = Call::new("Softmax", vec![LOGITS.to_owned()]).int("axis", 1);
    writer.emit(softmax, PROBABILITIES.to_owned());
    Ok(writer.written)
}

struct Writer<'g> {
    graph: &'g Graph,
    /// Of each layer so far, the name of what it gives.
    values: Vec<String>,
    taken: BTreeSet<String>,
    written: Vec<Message<'static>>,
}

/// An operator with its inputs and attributes.
struct Call {
    operator: &'static str,
    inputs: Vec<String>,
    attributes: Vec<Message<'static>>,
}

impl<'g> Writer<'g> {
    fn new(graph: &'g Graph) -> Self {
        let parameters = graph.nodes.iter().flat_map(|node| &node.parameters);
        let mut taken: BTreeSet<String> = parameters.map(|p| p.name.clone()).collect();
        taken.extend([INPUT, LOGITS, PROBABILITIES].map(str::to_owned));
        Writer {
            graph,
            values: Vec::new(),
            taken,
            written: Vec::new(),
        }
    }

    /// Writes the layer; the name of what it gives.
    fn layer(&mut self, layer: &Node) -> Result<String, FormatError> {
        let inputs = self.inputs(layer)?;
        let call = match &layer.op {
            Op::Input => return Ok(INPUT.to_owned()),
            // At inference every number passes.
            Op::Dropout { .. } => return first(layer, inputs),
            Op::Conv { groups, .. } => Call::new("Conv", with_parameters(inputs, layer))
                .window(&layer.op)
                .int("group", (*groups).into()),
            Op::Dense { .. } => Call::new("Gemm", with_parameters(inputs, layer)).int("transB", 1),
            // Their momentum is the share of what was gathered before.
            Op::BatchNorm { epsilon, momentum } => {
                Call::new("BatchNormalization", with_parameters(inputs, layer))
                    .float("epsilon", *epsilon)
                    .float("momentum", 1.0 - momentum)
            }
            Op::Relu => Call::new("Relu", inputs),
            Op::MaxPool(_) => Call::new("MaxPool", inputs).window(&layer.op),
            Op::AvgPool(_) => Call::new("AveragePool", inputs)
                .window(&layer.op)
                .int("count_include_pad", 0),
            Op::GlobalAvgPool => {
                let pooled = self.free(&format!("{}.pooled", layer.name));
                self.emit(Call::new("GlobalAveragePool", inputs), pooled.clone());
                Call::new("Flatten", vec![pooled]).int("axis", 1)
            }
            Op::Flatten => Call::new("Flatten", inputs).int("axis", 1),
            Op::Add => Call::new("Sum", inputs),
            Op::Concat => Call::new("Concat", inputs).int("axis", 1),
            Op::Lrn {
                size,
                alpha,
                beta,
                k,
            } => normalisation(layer, inputs, *size)?
                .float("alpha", *alpha)
                .float("beta", *beta)
                .float("bias", *k),
            Op::Softmax => Call::new("Softmax", inputs).int("axis", 1),
        };
        let output = self.output(layer);
        self.emit(call, output.clone());
        Ok(output)
    }

    fn output(&mut self, layer: &Node) -> String {
        let is_answer = self.values.len() == self.graph.logits;
        match is_answer {
            true => LOGITS.to_owned(),
            false => self.free(&layer.name),
        }
    }

    fn inputs(&self, layer: &Node) -> Result<Vec<String>, FormatError> {
        let value = |&place: &usize| {
            self.values.get(place).cloned().ok_or_else(|| {
                FormatError::graph(format!("the input of `{}` is a later layer", layer.name))
            })
        };
        layer.inputs.iter().map(value).collect()
    }

    /// The name, or one like it where a parameter or an output has it.
    fn free(&mut self, name: &str) -> String {
        let mut name = name.to_owned();
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        name
    }

    fn emit(&mut self, call: Call, output: String) {
        let mut message = Message::new();
        for input in &call.inputs {
            message.text(node::INPUT, input);
        }
        message
            .text(node::OUTPUT, &output)
            .text(node::NAME, &output)
            .text(node::OP_TYPE, call.operator);
        for attribute in call.attributes {
            message.message(node::ATTRIBUTE, attribute);
        }
        self.written.push(message);
    }
}

impl Call {
    fn new(operator: &'static str, inputs: Vec<String>) -> Self {
        Call {
            operator,
            inputs,
            attributes: Vec::new(),
        }
    }

    fn window(self, op: &Op) -> Self {
        let Some(window) = op.window() else {
            return self;
        };
        let Padding {
            top,
            bottom,
            left,
            right,
        } = window.padding;
        self.ints("kernel_shape", &window.kernel)
            .ints("strides", &window.stride)
            // All begins, then all ends.
            .ints("pads", &[top, left, bottom, right])
    }

    fn int(mut self, name: &str, value: u64) -> Self {
        let mut message = named(name, attribute::TYPE_INT);
        message.int(attribute::I, value);
        self.attributes.push(message);
        self
    }

    fn ints(mut self, name: &str, values: &[u32]) -> Self {
        let mut message = named(name, attribute::TYPE_INTS);
        for &value in values {
            message.int(attribute::INTS, value.into());
        }
        self.attributes.push(message);
        self
    }

    fn float(mut self, name: &str, value: f64) -> Self {
        let mut message = named(name, attribute::TYPE_FLOAT);
        message.float(attribute::F, value as f32);
        self.attributes.push(message);
        self
    }
}

fn named(name: &str, kind: u64) -> Message<'static> {
    let mut message = Message::new();
    message
        .text(attribute::NAME, name)
        .int(attribute::TYPE, kind);
    message
}

/// Weight and bias; gamma, beta, mean and variance: the graph's order is ONNX's.
fn with_parameters(mut inputs: Vec<String>, layer: &Node) -> Vec<String> {
    inputs.extend(layer.parameters.iter().map(|p| p.name.clone()));
    inputs
}

/// `(bias + alpha / size · Σ x²)^beta`, as ours.
fn normalisation(layer: &Node, inputs: Vec<String>, size: u32) -> Result<Call, FormatError> {
    // Which side of an even window is longer differs between ONNX, its runtimes and PyTorch.
    if size.is_multiple_of(2) {
        let what = format!("its window of {size} channels has no centre; use an odd size");
        return Err(FormatError::layer(FORMAT, layer, what));
    }
    Ok(Call::new("LRN", inputs).int("size", size.into()))
}

fn first(layer: &Node, inputs: Vec<String>) -> Result<String, FormatError> {
    let missing = || FormatError::graph(format!("`{}` has no input", layer.name));
    inputs.into_iter().next().ok_or_else(missing)
}
