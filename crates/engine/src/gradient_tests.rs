//! Gradients of every kind of layer against finite differences.

use burn_tensor::{Device, Tensor, TensorData};
use data::Random;
use network::{Graph, InputSpec, Weights};

use crate::executor::{DropoutPlace, Executor, Mode};
use crate::loss::cross_entropy;
use crate::parameters::{Parameters, numbers};

const BATCH: usize = 3;
const SIDE: u32 = 6;
const CLASSES: u32 = 3;

/// A network of these layers, between a convolution (whose gradient must pass through them) and
/// a dense layer.
fn graph(layers: &str) -> Graph {
    let text = format!(
        r#"
        name = "small"
        layers = [
          {{ name = "front", conv = {{ k = 3, p = 1, o = 4 }} }},
          {layers}
          "flatten",
          {{ dense = {{ o = "classes" }} }},
        ]
        "#
    );
    let description = network::parse(&text).unwrap_or_else(|problems| panic!("{problems:?}"));
    let input = InputSpec {
        channels: 2,
        height: SIDE,
        width: SIDE,
        classes: CLASSES,
    };
    description
        .instantiate(input)
        .unwrap_or_else(|problems| panic!("{problems:?}"))
}

struct Problem {
    executor: Executor,
    input: Vec<f32>,
}

impl Problem {
    fn new(layers: &str) -> Self {
        let mut random = Random::at(&[11]);
        let input = (0..BATCH * 2 * (SIDE * SIDE) as usize)
            .map(|_| random.between(-1.0, 1.0))
            .collect();
        Problem {
            executor: Executor::new(graph(layers), Device::flex()).unwrap(),
            input,
        }
    }

    fn parameters(&self, weights: &Weights) -> Parameters {
        Parameters::new(self.executor.graph(), weights, self.executor.device()).unwrap()
    }

    fn loss(&self, parameters: &Parameters) -> Tensor<1> {
        let side = SIDE as usize;
        let data = TensorData::new(self.input.clone(), [BATCH, 2, side, side]);
        let device = self.executor.device();
        let input = Tensor::from_data(data, device).autodiff();
        let mode = Mode::Train {
            place: DropoutPlace { seed: 5, step: 1 },
        };
        let forward = self.executor.forward(parameters, input, &mode).unwrap();
        cross_entropy(forward.logits, &[0, 2, 1], device)
    }

    fn loss_number(&self, weights: &Weights) -> f64 {
        numbers(self.loss(&self.parameters(weights).as_leaves())).unwrap()[0].into()
    }
}

/// Compares some elements of every parameter that is trained.
fn check(layers: &str) {
    let problem = Problem::new(layers);
    let weights = network::initial_weights(problem.executor.graph(), 3);
    let leaves = problem.parameters(&weights).as_leaves();
    let mut gradients = problem.loss(&leaves).backward();
    // Small, so that hardly any maximum or ReLU changes sides within it; rounding stays below 2e-4.
    let step = 3e-4;
    for (place, leaf) in leaves
        .all
        .iter()
        .enumerate()
        .filter(|(_, leaf)| leaf.trained)
    {
        let gradient = numbers(leaf.values.grad_remove(&mut gradients).unwrap()).unwrap();
        let mut random = Random::at(&[place as u64]);
        for element in (0..6).map(|_| random.below(gradient.len())) {
            let moved = |by: f32| {
                let mut weights = weights.clone();
                weights.tensors[place].values[element] += by;
                problem.loss_number(&weights)
            };
            let expected = (moved(step) - moved(-step)) / (2.0 * f64::from(step));
            let found = f64::from(gradient[element]);
            let allowed = 2e-3 + 0.02 * expected.abs();
            assert!(
                (found - expected).abs() < allowed,
                "{}[{element}]: {found} is not {expected}",
                leaf.name
            );
        }
    }
}

#[test]
fn conv_and_dense() {
    check("");
    check("{ conv = { k = [3, 1], s = 2, p = [0, 1, 1, 0], o = 6, groups = 2, bias = false } },");
    check(r#"{ conv = { k = 3, p = 1, o = 4, groups = "channels" } },"#);
    check("{ conv = { k = 1, o = 3 } },");
    check(r#""flatten", { dense = { o = 5, bias = false } },"#);
}

#[test]
fn batch_norm_through_the_statistics_of_the_batch() {
    check(r#""batch-norm","#);
    check(r#""flatten", { dense = { o = 5 } }, "batch-norm","#);
}

#[test]
fn relu() {
    check(r#""relu","#);
}

#[test]
fn max_pool() {
    check("{ max-pool = { k = 2 } },");
    check("{ max-pool = { k = 3, s = 2, p = [0, 1, 0, 1] } },");
    check("{ max-pool = { k = 3, s = 2, p = 1 } },");
}

#[test]
fn avg_pool() {
    check("{ avg-pool = { k = 2 } },");
    check("{ avg-pool = { k = 3, s = 2, p = 1 } },");
    check("{ avg-pool = { k = 3, s = 2, p = [0, 1, 1, 0] } },");
    check(r#""global-avg-pool","#);
}

#[test]
fn dropout_with_the_mask_of_its_step() {
    check("{ dropout = { rate = 0.4 } },");
    check(r#""flatten", { dropout = { rate = 0.4 } },"#);
}

#[test]
fn add_and_concat() {
    check(r#"{ conv = { k = 1, o = 4 } }, { add = {}, from = ["previous", "front"] },"#);
    check(
        r#"{ conv = { k = 1, o = 2 } }, { concat = {}, from = ["front", "previous", "front"] },"#,
    );
}

#[test]
fn lrn() {
    check("{ lrn = { size = 3, alpha = 0.9, beta = 0.75, k = 1.5 } },");
}

#[test]
fn softmax_inside_a_network() {
    check(r#""flatten", { dense = { o = 5 } }, "softmax","#);
}
