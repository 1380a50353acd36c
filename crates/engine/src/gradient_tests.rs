//! Gradients of every kind of layer against finite differences.

use data::Random;
use network::{Graph, InputSpec, Weights};

use crate::executor::{DropoutPlace, Executor, Forward, Mode};
use crate::loss::{Loss, cross_entropy};

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
            executor: Executor::new(graph(layers)).unwrap(),
            input,
        }
    }

    fn forward(&self, weights: &Weights) -> Forward {
        let place = DropoutPlace { seed: 5, step: 1 };
        let mode = Mode::Train { place };
        self.executor.forward(weights, &self.input, mode).unwrap()
    }

    fn loss(&self, forward: &Forward) -> Loss {
        cross_entropy(&forward.logits, CLASSES as usize, &[0, 2, 1])
    }
}

/// Compares some elements of every parameter that is trained.
fn check(layers: &str) {
    let problem = Problem::new(layers);
    let weights = network::initial_weights(problem.executor.graph(), 3);
    let forward = problem.forward(&weights);
    let loss = problem.loss(&forward);
    let gradients = problem.executor.backward(&weights, forward, &loss.gradient);
    let nodes = &problem.executor.graph().nodes;
    let parameters = nodes.iter().flat_map(|node| &node.parameters);
    // Small, so that hardly any maximum or ReLU changes sides within it; rounding stays below 2e-4.
    let step = 3e-4;
    for (place, (parameter, gradient)) in parameters.zip(gradients).enumerate() {
        assert_eq!(gradient.is_some(), parameter.trained, "{}", parameter.name);
        let Some(gradient) = gradient else { continue };
        assert_eq!(gradient.len(), weights.tensors[place].values.len());
        let mut random = Random::at(&[place as u64]);
        for element in (0..6).map(|_| random.below(gradient.len())) {
            let moved = |by: f32| {
                let mut weights = weights.clone();
                weights.tensors[place].values[element] += by;
                problem.loss(&problem.forward(&weights)).mean
            };
            let expected = (moved(step) - moved(-step)) / (2.0 * f64::from(step));
            let found = f64::from(gradient[element]);
            let allowed = 2e-3 + 0.02 * expected.abs();
            assert!(
                (found - expected).abs() < allowed,
                "{}[{element}]: {found} is not {expected}",
                parameter.name
            );
        }
    }
}

#[test]
fn conv_and_dense() {
    check("");
    check("{ conv = { k = [3, 1], s = 2, p = [0, 1, 1, 0], o = 6, groups = 2, bias = false } },");
    check("{ conv = { k = 1, s = 2, o = 5 } },");
    check("{ conv = { k = 1, o = 3 } },");
    check(r#""flatten", { dense = { o = 5, bias = false } },"#);
}

#[test]
fn depthwise() {
    for window in [
        "k = 3, p = 1",
        "k = 3, s = 2, p = [0, 1, 0, 1]",
        "k = [2, 5], s = [1, 2], p = [1, 0, 2, 1], bias = false",
        "k = 2, s = 3",
        "k = 1, s = 2",
    ] {
        check(&format!(
            r#"{{ conv = {{ {window}, o = 4, groups = "channels" }} }},"#
        ));
    }
    check(r#"{ conv = { k = 3, p = 1, o = 8, groups = "channels" } },"#);
}

#[test]
fn a_block_of_depthwise_batch_norm_and_relu() {
    check(
        r#"{ conv = { k = 3, s = 2, p = "same", o = 4, groups = "channels", bias = false } },
           "batch-norm", "relu", { conv = { k = 1, o = 6, bias = false } }, "batch-norm", "relu","#,
    );
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
    check("{ lrn = { size = 2, alpha = 0.9, beta = 0.6, k = 1.5 } },");
}

#[test]
fn softmax_inside_a_network() {
    check(r#""flatten", { dense = { o = 5 } }, "softmax","#);
}
