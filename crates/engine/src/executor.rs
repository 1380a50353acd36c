//! Executes a graph: forward through its nodes, each result kept only while it is needed, and
//! backward with the gradient of the loss.

use std::borrow::Cow;

use network::{Graph, Node, Op, Weights};

use crate::check::check;
use crate::dims::Dims;
use crate::error::EngineError;
use crate::pass::{Memory, Pass};

pub(crate) struct Executor {
    graph: Graph,
    /// Of each node: its first parameter's place among all.
    first_parameter: Vec<usize>,
    /// Of each node: the last node that reads it; `None` for those the logits do not need.
    last_reader: Vec<Option<usize>>,
    /// Of each node: whether the way back needs its output.
    read_again: Vec<bool>,
    /// Of each node: whether a parameter lies on the way to it.
    learns: Vec<bool>,
}

/// Looks at a layer's output.
pub(crate) type Watch<'a> = dyn FnMut(&str, &[f32]) + 'a;

/// Training and answering differ in dropout and batch-norm.
#[derive(Clone, Copy)]
pub(crate) enum Mode {
    Train { place: DropoutPlace },
    Answer,
}

/// Masks are drawn for a place, so that they do not depend on anything else that is drawn.
#[derive(Clone, Copy)]
pub(crate) struct DropoutPlace {
    pub(crate) seed: u64,
    pub(crate) step: u64,
}

/// The answers, and what is needed on the way back.
pub(crate) struct Forward {
    /// One vector for each image.
    pub(crate) logits: Vec<f32>,
    /// What the batch-norm layers gathered.
    pub(crate) gathered: Vec<Gathered>,
    batch: usize,
    values: Vec<Option<Vec<f32>>>,
    memories: Vec<Memory>,
}

/// New values for a parameter that is not trained.
pub(crate) struct Gathered {
    pub(crate) parameter: usize,
    pub(crate) values: Vec<f32>,
}

impl Executor {
    pub(crate) fn new(graph: Graph) -> Result<Self, EngineError> {
        check(&graph)?;
        let counts = graph.nodes.iter().scan(0, |sum, node| {
            let first = *sum;
            *sum += node.parameters.len();
            Some(first)
        });
        Ok(Executor {
            first_parameter: counts.collect(),
            last_reader: last_readers(&graph),
            read_again: read_again(&graph),
            learns: learns(&graph),
            graph,
        })
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Where a node's first parameter is among all.
    pub(crate) fn first_parameter(&self, node: usize) -> usize {
        self.first_parameter[node]
    }

    pub(crate) fn learns(&self, node: usize) -> bool {
        self.learns[node]
    }

    /// The weights in the order of the graph, complete.
    pub(crate) fn arrange(&self, mut weights: Weights) -> Result<Weights, EngineError> {
        weights.check(&self.graph)?;
        let described = self.graph.nodes.iter().flat_map(|node| &node.parameters);
        let tensors = described.filter_map(|parameter| {
            let found = weights
                .tensors
                .iter()
                .position(|tensor| tensor.name == parameter.name);
            Some(weights.tensors.swap_remove(found?))
        });
        Ok(Weights {
            tensors: tensors.collect(),
        })
    }

    /// Of images one after the other.
    pub(crate) fn forward(
        &self,
        weights: &Weights,
        images: &[f32],
        mode: Mode,
    ) -> Result<Forward, EngineError> {
        self.watched(weights, images, mode, &mut |_, _| {})
    }

    /// The same, showing every layer's output by its name.
    pub(crate) fn watched(
        &self,
        weights: &Weights,
        images: &[f32],
        mode: Mode,
        watch: &mut Watch<'_>,
    ) -> Result<Forward, EngineError> {
        let batch = self.batch(images)?;
        let pass = Pass {
            executor: self,
            weights,
            batch,
        };
        let is_training = matches!(mode, Mode::Train { .. });
        let nodes = &self.graph.nodes;
        let mut values: Vec<Option<Vec<f32>>> = vec![None; nodes.len()];
        let mut memories: Vec<Memory> = nodes.iter().map(|_| Memory::Nothing).collect();
        let mut gathered = Vec::new();
        for (index, node) in nodes.iter().enumerate().take(self.graph.logits + 1) {
            if self.last_reader[index].is_none() {
                continue;
            }
            let taken = self.take_inputs(index, node, is_training, &mut values);
            let inputs = node
                .inputs
                .iter()
                .zip(taken)
                .map(|(&input, taken)| match taken {
                    Some(values) => Cow::Owned(values),
                    None => Cow::Borrowed(values[input].as_deref().unwrap_or_default()),
                });
            let inputs = inputs.collect();
            let made = match node.op {
                Op::Input => pass.dims(index).by_channel(images).into(),
                _ => pass.forward(index, inputs, mode, &mut gathered),
            };
            if node.op != Op::Input {
                watch(&node.name, &made.output);
            }
            (values[index], memories[index]) = (Some(made.output), made.memory);
        }
        let logits = values[self.graph.logits].as_deref().unwrap_or_default();
        Ok(Forward {
            logits: pass.dims(self.graph.logits).by_image(logits),
            gathered,
            batch,
            values,
            memories,
        })
    }

    fn batch(&self, images: &[f32]) -> Result<usize, EngineError> {
        let one = self
            .graph
            .nodes
            .first()
            .map_or(0, |input| Dims::new(input.shape, 1).len());
        if images.is_empty() || !images.len().is_multiple_of(one.max(1)) {
            let problem = format!(
                "has {} values, not a multiple of the {one} of an image",
                images.len()
            );
            return Err(EngineError::Setting {
                name: "images",
                problem,
            });
        }
        Ok(images.len() / one.max(1))
    }

    /// The inputs that a node is the last to read, to be changed in place or freed.
    fn take_inputs(
        &self,
        index: usize,
        node: &Node,
        is_training: bool,
        values: &mut [Option<Vec<f32>>],
    ) -> Vec<Option<Vec<f32>>> {
        let is_last = |&&input: &&usize| {
            let once = node.inputs.iter().filter(|&&other| other == input).count() == 1;
            once && self.last_reader[input] == Some(index)
                && !(is_training && self.read_again[input])
        };
        let inputs = node.inputs.iter();
        inputs
            .map(|input| {
                Some(input)
                    .filter(is_last)
                    .and_then(|&input| values[input].take())
            })
            .collect()
    }

    /// The gradient of every parameter that is trained, from that of the logits of each image.
    pub(crate) fn backward(
        &self,
        weights: &Weights,
        mut forward: Forward,
        logits: &[f32],
    ) -> Vec<Option<Vec<f32>>> {
        let pass = Pass {
            executor: self,
            weights,
            batch: forward.batch,
        };
        let mut parameters = vec![None; weights.tensors.len()];
        let mut gradients: Vec<Option<Vec<f32>>> = vec![None; self.graph.nodes.len()];
        let last = self.graph.logits;
        gradients[last] = Some(pass.dims(last).by_channel(logits));
        for (index, node) in self.graph.nodes.iter().enumerate().take(last + 1).rev() {
            if let Some(gradient) = gradients[index].take().filter(|_| self.learns[index]) {
                let back =
                    pass.backward(index, gradient, &forward.values, &forward.memories[index]);
                for (&input, gradient) in node.inputs.iter().zip(back.inputs) {
                    if self.learns[input] {
                        gradients[input] = Some(match gradients[input].take() {
                            Some(sum) => crate::layers::elementwise::add(sum, &gradient),
                            None => gradient,
                        });
                    }
                }
                for (place, gradient) in back.parameters.into_iter().enumerate() {
                    parameters[self.first_parameter[index] + place] = Some(gradient);
                }
            }
            // All its readers were before it.
            forward.values[index] = None;
            forward.memories[index] = Memory::Nothing;
        }
        parameters
    }
}

fn last_readers(graph: &Graph) -> Vec<Option<usize>> {
    let mut last = vec![None; graph.nodes.len()];
    last[graph.logits] = Some(graph.logits);
    for index in (0..=graph.logits).rev() {
        if last[index].is_some() {
            for &input in &graph.nodes[index].inputs {
                // Going backwards, the first reader met is the last.
                last[input].get_or_insert(index);
            }
        }
    }
    last
}

fn read_again(graph: &Graph) -> Vec<bool> {
    let mut again: Vec<bool> = graph
        .nodes
        .iter()
        .map(|node| matches!(node.op, Op::Relu | Op::Softmax))
        .collect();
    for node in &graph.nodes {
        let reads = matches!(
            node.op,
            Op::Conv { .. } | Op::Dense { .. } | Op::BatchNorm { .. } | Op::Lrn { .. }
        );
        for &input in node.inputs.iter().filter(|_| reads) {
            again[input] = true;
        }
    }
    again
}

fn learns(graph: &Graph) -> Vec<bool> {
    let mut learns: Vec<bool> = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        let has_own = node.parameters.iter().any(|parameter| parameter.trained);
        learns.push(has_own || node.inputs.iter().any(|&input| learns[input]));
    }
    learns
}
