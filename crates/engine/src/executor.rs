//! Executes a graph: forward through its nodes, each result kept only while it is needed.

use burn_tensor::{Device, Tensor};
use network::{Graph, Node, Op};

use crate::check::check;
use crate::error::EngineError;
use crate::ops::Activation;
use crate::parameters::Parameters;
use crate::pass::Pass;

pub(crate) struct Executor {
    graph: Graph,
    device: Device,
    /// Of each node: its first parameter's place among all.
    first_parameter: Vec<usize>,
    /// Of each node: the last node that reads it; `None` for those the logits do not need.
    last_reader: Vec<Option<usize>>,
}

/// Looks at a layer's output.
pub(crate) type Watch<'a> = dyn FnMut(&str, &Activation) -> Result<(), EngineError> + 'a;

/// Training and answering differ in dropout and batch-norm.
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

/// The answers, and what the batch-norm layers gathered on the way.
pub(crate) struct Forward {
    pub(crate) logits: Tensor<2>,
    pub(crate) gathered: Vec<Gathered>,
}

/// A new value for a parameter that is not trained.
pub(crate) struct Gathered {
    pub(crate) parameter: usize,
    pub(crate) values: Tensor<1>,
}

impl Executor {
    pub(crate) fn new(graph: Graph, device: Device) -> Result<Self, EngineError> {
        check(&graph)?;
        let counts = graph.nodes.iter().scan(0, |sum, node| {
            let first = *sum;
            *sum += node.parameters.len();
            Some(first)
        });
        let first_parameter = counts.collect();
        let last_reader = last_readers(&graph);
        Ok(Executor {
            graph,
            device,
            first_parameter,
            last_reader,
        })
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Where a node's first parameter is among all.
    pub(crate) fn first_parameter(&self, node: usize) -> usize {
        self.first_parameter[node]
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn forward(
        &self,
        parameters: &Parameters,
        input: Tensor<4>,
        mode: &Mode,
    ) -> Result<Forward, EngineError> {
        self.watched(parameters, input, mode, &mut |_, _| Ok(()))
    }

    /// The same, showing every layer's output by its name.
    pub(crate) fn watched(
        &self,
        parameters: &Parameters,
        input: Tensor<4>,
        mode: &Mode,
        watch: &mut Watch<'_>,
    ) -> Result<Forward, EngineError> {
        let mut results: Vec<Option<Activation>> = vec![None; self.graph.nodes.len()];
        let mut pass = Pass {
            executor: self,
            parameters,
            mode,
            gathered: Vec::new(),
        };
        let mut input = Some(Activation::Image(input));
        for (index, node) in self
            .graph
            .nodes
            .iter()
            .enumerate()
            .take(self.graph.logits + 1)
        {
            if self.last_reader[index].is_none() {
                continue;
            }
            let inputs = self.take_inputs(index, node, &mut results);
            let result = match node.op {
                Op::Input => input.take(),
                _ => pass.node(index, inputs),
            };
            let broken = || EngineError::Graph {
                node: node.name.clone(),
                problem: "its inputs do not fit".to_owned(),
            };
            let result = result.ok_or_else(broken)?;
            if node.op != Op::Input {
                watch(&node.name, &result)?;
            }
            results[index] = Some(result);
        }
        let logits = results
            .swap_remove(self.graph.logits)
            .map(Activation::flatten);
        let nothing = || EngineError::Graph {
            node: self.graph.name.clone(),
            problem: "it has no logits".to_owned(),
        };
        Ok(Forward {
            logits: logits.ok_or_else(nothing)?,
            gathered: pass.gathered,
        })
    }

    /// The inputs of a node; those it is the last to read are taken, so that they can be changed
    /// in place or freed.
    fn take_inputs(
        &self,
        index: usize,
        node: &Node,
        results: &mut [Option<Activation>],
    ) -> Vec<Activation> {
        let inputs = node
            .inputs
            .iter()
            .enumerate()
            .filter_map(|(place, &input)| {
                let read_again = self.last_reader[input] != Some(index)
                    || node.inputs[place + 1..].contains(&input);
                if read_again {
                    results[input].clone()
                } else {
                    results[input].take()
                }
            });
        inputs.collect()
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
