//! Gradients → better weights. The formulas are PyTorch's, so that losses can be compared.

use model::Optimizer;
use rayon::prelude::*;

/// An optimiser with what it remembers of earlier steps, for each parameter.
pub(crate) struct Stepper {
    rule: Optimizer,
    step: i32,
    memories: Vec<Memory>,
}

/// SGD's velocity, or Adam's first and second moment; empty before the first step.
#[derive(Clone, Default)]
struct Memory {
    first: Vec<f32>,
    second: Vec<f32>,
}

/// Values that one task changes.
const TASK: usize = 16 * 1024;

impl Stepper {
    pub(crate) fn new(rule: Optimizer, parameters: usize) -> Self {
        Stepper {
            rule,
            step: 0,
            memories: vec![Memory::default(); parameters],
        }
    }

    /// Counts a step; every parameter is then given to [`Stepper::improve`] once.
    pub(crate) fn begin_step(&mut self) {
        self.step = self.step.saturating_add(1);
    }

    pub(crate) fn improve(&mut self, index: usize, values: &mut [f32], gradient: &[f32]) {
        let Some(Memory { first, second }) = self.memories.get_mut(index) else {
            return;
        };
        first.resize(values.len(), 0.0);
        let tasks = values
            .par_chunks_mut(TASK)
            .zip(gradient.par_chunks(TASK))
            .zip(first.par_chunks_mut(TASK));
        match self.rule {
            Optimizer::Sgd {
                learning_rate,
                momentum,
            } => {
                let [rate, momentum] = [learning_rate, momentum].map(|number| number as f32);
                tasks.for_each(|((values, gradient), velocity)| {
                    sgd(values, gradient, velocity, [rate, momentum])
                });
            }
            Optimizer::Adam {
                learning_rate,
                beta1,
                beta2,
                epsilon,
            } => {
                let rule = Adam {
                    beta1: beta1 as f32,
                    beta2: beta2 as f32,
                    fresh1: (1.0 - beta1) as f32,
                    fresh2: (1.0 - beta2) as f32,
                    epsilon: epsilon as f32,
                    rate: (learning_rate / (1.0 - beta1.powi(self.step))) as f32,
                    correction: (1.0 - beta2.powi(self.step)).sqrt() as f32,
                };
                second.resize(gradient.len(), 0.0);
                tasks.zip(second.par_chunks_mut(TASK)).for_each(
                    |(((values, gradient), first), second)| {
                        adam(values, gradient, [first, second], &rule)
                    },
                );
            }
        }
    }
}

/// v ← m·v + g, w ← w − lr·v (torch.optim.SGD; Sutskever et al. 2013 put lr inside v).
fn sgd(values: &mut [f32], gradient: &[f32], velocity: &mut [f32], [rate, momentum]: [f32; 2]) {
    for ((value, gradient), velocity) in values.iter_mut().zip(gradient).zip(velocity) {
        *velocity = *velocity * momentum + gradient;
        *value -= *velocity * rate;
    }
}

/// Of one step: the rate and √v's divisor are those corrected for it.
struct Adam {
    beta1: f32,
    beta2: f32,
    /// 1 − β, rounded once.
    fresh1: f32,
    fresh2: f32,
    epsilon: f32,
    rate: f32,
    correction: f32,
}

/// m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g²,
/// w ← w − lr/(1−β₁ᵗ) · m / (√v/√(1−β₂ᵗ) + ε)
/// (Kingma, Ba 2015, arXiv 1412.6980; ε outside the corrected root, as torch.optim.Adam).
fn adam(values: &mut [f32], gradient: &[f32], [first, second]: [&mut [f32]; 2], rule: &Adam) {
    let moments = first.iter_mut().zip(second);
    for ((value, gradient), (first, second)) in values.iter_mut().zip(gradient).zip(moments) {
        *first = *first * rule.beta1 + gradient * rule.fresh1;
        *second = *second * rule.beta2 + gradient * gradient * rule.fresh2;
        let scale = second.sqrt() / rule.correction + rule.epsilon;
        *value -= *first / scale * rule.rate;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Minimises w²/2, whose gradient is w, from w = 1, and returns w after each step.
    fn walk(rule: Optimizer, steps: usize) -> Vec<f32> {
        let mut stepper = Stepper::new(rule, 1);
        let mut values = [1.0];
        (0..steps)
            .map(|_| {
                stepper.begin_step();
                let gradient = values;
                stepper.improve(0, &mut values, &gradient);
                values[0]
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
