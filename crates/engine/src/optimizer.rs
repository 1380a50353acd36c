//! Gradients → better weights. The formulas are PyTorch's, so that losses can be compared.

use burn_tensor::Tensor;
use model::Optimizer;

/// An optimiser with what it remembers of earlier steps, for each parameter.
pub(crate) struct Stepper {
    rule: Optimizer,
    step: i32,
    memories: Vec<Option<Memory>>,
}

#[expect(
    clippy::large_enum_variant,
    reason = "one for each parameter tensor: a few hundred at most"
)]
enum Memory {
    Sgd { velocity: Tensor<1> },
    Adam { first: Tensor<1>, second: Tensor<1> },
}

/// What happens to one parameter in one step.
struct Update {
    values: Tensor<1>,
    memory: Memory,
}

impl Stepper {
    pub(crate) fn new(rule: Optimizer, parameters: usize) -> Self {
        Stepper {
            rule,
            step: 0,
            memories: (0..parameters).map(|_| None).collect(),
        }
    }

    /// Counts a step; every parameter is then given to [`Stepper::improve`] once.
    pub(crate) fn begin_step(&mut self) {
        self.step = self.step.saturating_add(1);
    }

    pub(crate) fn improve(
        &mut self,
        index: usize,
        values: Tensor<1>,
        gradient: Tensor<1>,
    ) -> Tensor<1> {
        let memory = self.memories.get_mut(index).and_then(Option::take);
        let update = match self.rule {
            Optimizer::Sgd {
                learning_rate,
                momentum,
            } => sgd(
                values,
                gradient,
                memory,
                &Sgd {
                    learning_rate,
                    momentum,
                },
            ),
            Optimizer::Adam {
                learning_rate,
                beta1,
                beta2,
                epsilon,
            } => {
                let step = self.step;
                adam(
                    values,
                    gradient,
                    memory,
                    &Adam {
                        learning_rate,
                        beta1,
                        beta2,
                        epsilon,
                        step,
                    },
                )
            }
        };
        if let Some(slot) = self.memories.get_mut(index) {
            *slot = Some(update.memory);
        }
        update.values
    }
}

struct Sgd {
    learning_rate: f64,
    momentum: f64,
}

/// v ← m·v + g, w ← w − lr·v (torch.optim.SGD; Sutskever et al. 2013 put lr inside v).
fn sgd(values: Tensor<1>, gradient: Tensor<1>, memory: Option<Memory>, rule: &Sgd) -> Update {
    let velocity = match memory {
        Some(Memory::Sgd { velocity }) => velocity.mul_scalar(rule.momentum).add(gradient),
        _ => gradient,
    };
    let values = values.sub(velocity.clone().mul_scalar(rule.learning_rate));
    Update {
        values,
        memory: Memory::Sgd { velocity },
    }
}

struct Adam {
    learning_rate: f64,
    beta1: f64,
    beta2: f64,
    epsilon: f64,
    step: i32,
}

/// m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g²,
/// w ← w − lr/(1−β₁ᵗ) · m / (√v/√(1−β₂ᵗ) + ε)
/// (Kingma, Ba 2015, arXiv 1412.6980; ε outside the corrected root, as torch.optim.Adam).
fn adam(values: Tensor<1>, gradient: Tensor<1>, memory: Option<Memory>, rule: &Adam) -> Update {
    let fresh_first = gradient.clone().mul_scalar(1.0 - rule.beta1);
    let fresh_second = gradient.square().mul_scalar(1.0 - rule.beta2);
    let (first, second) = match memory {
        Some(Memory::Adam { first, second }) => (
            first.mul_scalar(rule.beta1).add(fresh_first),
            second.mul_scalar(rule.beta2).add(fresh_second),
        ),
        _ => (fresh_first, fresh_second),
    };
    let rate = rule.learning_rate / (1.0 - rule.beta1.powi(rule.step));
    let correction = (1.0 - rule.beta2.powi(rule.step)).sqrt();
    let scale = second
        .clone()
        .sqrt()
        .div_scalar(correction)
        .add_scalar(rule.epsilon);
    let values = values.sub(first.clone().div(scale).mul_scalar(rate));
    Update {
        values,
        memory: Memory::Adam { first, second },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn_tensor::Device;

    /// Minimises w²/2, whose gradient is w, from w = 1, and returns w after each step.
    fn walk(rule: Optimizer, steps: usize) -> Vec<f32> {
        let mut stepper = Stepper::new(rule, 1);
        let mut values = Tensor::<1>::from_data([1.0f32], &Device::flex());
        (0..steps)
            .map(|_| {
                stepper.begin_step();
                values = stepper.improve(0, values.clone(), values.clone());
                values.clone().into_scalar::<f32>()
            })
            .collect()
    }

    fn check(rule: Optimizer, expected: &[f32]) {
        let values = walk(rule, expected.len());
        for (value, expected) in values.iter().zip(expected) {
            assert!((value - expected).abs() < 1e-6, "{values:?}");
        }
    }

    #[test]
    fn sgd_without_momentum_goes_down_the_gradient() {
        check(
            Optimizer::Sgd {
                learning_rate: 0.1,
                momentum: 0.0,
            },
            &[0.9, 0.81, 0.729],
        );
    }

    #[test]
    fn sgd_with_momentum_keeps_its_velocity() {
        // By hand: v = 1, w = 0.9; v = 0.9·1 + 0.9 = 1.8, w = 0.72; v = 0.9·1.8 + 0.72 = 2.34, w = 0.486.
        check(
            Optimizer::Sgd {
                learning_rate: 0.1,
                momentum: 0.9,
            },
            &[0.9, 0.72, 0.486],
        );
    }

    #[test]
    fn adam_takes_corrected_steps() {
        // By hand, in f64: the first step is lr·1/(1 + 1e-8); the second has m̂ = (0.09 + 0.09)/0.19
        // … evaluated below, so that the constants can be followed.
        let (rate, beta1, beta2, epsilon) = (0.1f64, 0.9f64, 0.999f64, 1e-8f64);
        let (mut w, mut m, mut v) = (1.0f64, 0.0f64, 0.0f64);
        let expected: Vec<f32> = (1..=4)
            .map(|t| {
                m = beta1 * m + (1.0 - beta1) * w;
                v = beta2 * v + (1.0 - beta2) * w * w;
                let (corrected_m, corrected_v) =
                    (m / (1.0 - beta1.powi(t)), v / (1.0 - beta2.powi(t)));
                w -= rate * corrected_m / (corrected_v.sqrt() + epsilon);
                w as f32
            })
            .collect();
        assert!((expected[0] - 0.9).abs() < 1e-7);
        check(
            Optimizer::Adam {
                learning_rate: rate,
                beta1,
                beta2,
                epsilon,
            },
            &expected,
        );
    }

    #[test]
    fn a_large_epsilon_slows_adam_as_in_pytorch() {
        // m̂ = 1, v̂ = 1: w = 1 − 0.1·1/(1 + 1) in the first step; were ε inside the root, 1 − 0.1/√2.
        let rule = Optimizer::Adam {
            learning_rate: 0.1,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1.0,
        };
        check(rule, &[0.95]);
    }
}
