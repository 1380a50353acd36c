//! A graph put to work: forward through its nodes, each result kept only while it is needed.

use burn_tensor::{Device, Tensor};
use data::Random;
use network::{Graph, Node, Op};

use crate::check::check;
use crate::error::EngineError;
use crate::ops::{self, Activation, ConvOp, Lrn, Norm, NormTrained};
use crate::parameters::Parameters;

pub(crate) struct Executor {
    graph: Graph,
    device: Device,
    /// Of each node: its first parameter's place among all.
    first_parameter: Vec<usize>,
    /// Of each node: the last node that reads it; none for those the logits do not need.
    last_reader: Vec<Option<usize>>,
}

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

const DROPOUT: u64 = 0x64_72_6F_70;

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

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn forward(
        &self,
        parameters: &Parameters,
        input: Tensor<4>,
        mode: &Mode,
    ) -> Result<Forward, EngineError> {
        let mut results: Vec<Option<Activation>> = vec![None; self.graph.nodes.len()];
        let mut gathered = Vec::new();
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
                _ => self.node(index, inputs, parameters, mode, &mut gathered),
            };
            let broken = || EngineError::Graph {
                node: node.name.clone(),
                problem: "its inputs do not fit".to_owned(),
            };
            results[index] = Some(result.ok_or_else(broken)?);
        }
        let logits = results
            .swap_remove(self.graph.logits)
            .map(Activation::flatten);
        let nothing = || EngineError::Graph {
            node: self.graph.name.clone(),
            problem: "it gives no logits".to_owned(),
        };
        Ok(Forward {
            logits: logits.ok_or_else(nothing)?,
            gathered,
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

    fn node(
        &self,
        index: usize,
        inputs: Vec<Activation>,
        parameters: &Parameters,
        mode: &Mode,
        gathered: &mut Vec<Gathered>,
    ) -> Option<Activation> {
        let node = &self.graph.nodes[index];
        if matches!(node.op, Op::Concat) {
            return ops::concat(inputs);
        }
        let mut inputs = inputs.into_iter();
        let first = inputs.next()?;
        let parameter = |place: usize| {
            let all = &parameters.all;
            (place < node.parameters.len())
                .then(|| all.get(self.first_parameter[index] + place))
                .flatten()
        };
        let values = |place: usize| parameter(place).map(|parameter| parameter.values.clone());
        Some(match node.op {
            Op::Conv { .. } => Activation::Image(ops::conv(
                image(first)?,
                &ConvOp::of(&node.op)?,
                values(0)?,
                values(1),
            )),
            Op::Dense { output, .. } => {
                Activation::Vector(ops::dense(first.flatten(), output, values(0)?, values(1)))
            }
            Op::BatchNorm { epsilon, momentum } => {
                let norm = Norm {
                    gamma: values(0)?,
                    beta: values(1)?,
                    mean: values(2)?,
                    variance: values(3)?,
                };
                match mode {
                    Mode::Answer => ops::batch_norm(first, norm, epsilon),
                    Mode::Train { .. } => {
                        let trained = ops::batch_norm_train(first, norm, epsilon, momentum);
                        self.gather(index, trained, gathered)
                    }
                }
            }
            Op::Relu => first.relu(),
            Op::MaxPool {
                kernel,
                stride,
                padding,
            } => Activation::Image(ops::max_pool(image(first)?, kernel, stride, padding)),
            Op::AvgPool {
                kernel,
                stride,
                padding,
            } => Activation::Image(ops::avg_pool(image(first)?, kernel, stride, padding)),
            Op::GlobalAvgPool => Activation::Vector(first.global_avg_pool()),
            Op::Dropout { rate } => match mode {
                Mode::Train { place } if rate > 0.0 => {
                    let mut random = Random::at(&[place.seed, DROPOUT, place.step, index as u64]);
                    first.dropout(rate, &mut random, &self.device)
                }
                _ => first,
            },
            Op::Flatten => Activation::Vector(first.flatten()),
            Op::Add => inputs.fold(first, Activation::add),
            Op::Lrn {
                size,
                alpha,
                beta,
                k,
            } => Activation::Image(ops::lrn(
                image(first)?,
                &Lrn {
                    size,
                    alpha,
                    beta,
                    k,
                },
            )),
            Op::Softmax => first.softmax(),
            Op::Input | Op::Concat => return None,
        })
    }

    fn gather(
        &self,
        index: usize,
        trained: NormTrained,
        gathered: &mut Vec<Gathered>,
    ) -> Activation {
        let first = self.first_parameter[index];
        gathered.push(Gathered {
            parameter: first + 2,
            values: trained.mean,
        });
        gathered.push(Gathered {
            parameter: first + 3,
            values: trained.variance,
        });
        trained.output
    }
}

fn image(activation: Activation) -> Option<Tensor<4>> {
    match activation {
        Activation::Image(image) => Some(image),
        Activation::Vector(_) => None,
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
