//! The loss function.

use burn_tensor::{Device, Tensor, TensorData, activation};

/// Mean over the batch of −log softmax(logits)[label]; taken from the logits, because the
/// logarithm of a softmax that became 0 is lost.
pub(crate) fn cross_entropy(logits: Tensor<2>, labels: &[u16], device: &Device) -> Tensor<1> {
    let [batch, classes] = logits.dims();
    let mut chosen = vec![0.0f32; batch * classes];
    for (row, &label) in chosen.chunks_exact_mut(classes.max(1)).zip(labels) {
        if let Some(place) = row.get_mut(usize::from(label)) {
            *place = -1.0 / batch as f32;
        }
    }
    let chosen = Tensor::<2>::from_data(TensorData::new(chosen, [batch, classes]), device);
    activation::log_softmax(logits, 1)
        .mul(chosen.autodiff())
        .sum()
}

/// How many of the rows are largest at their label.
pub(crate) fn right_answers(logits: &[f32], classes: usize, labels: &[u16]) -> usize {
    let rows = logits.chunks_exact(classes.max(1));
    rows.zip(labels)
        .filter(|(row, label)| largest(row) == Some(usize::from(**label)))
        .count()
}

/// Place of the largest value; the first of equals, none where nothing is a number.
pub(crate) fn largest(row: &[f32]) -> Option<usize> {
    let numbers = row.iter().enumerate().filter(|(_, value)| !value.is_nan());
    numbers
        .fold(
            None,
            |best: Option<(usize, f32)>, (index, &value)| match best {
                Some((_, highest)) if highest >= value => best,
                _ => Some((index, value)),
            },
        )
        .map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(logits: [[f32; 3]; 2], labels: [u16; 2], expected: f32) {
        let device = Device::flex();
        let loss = cross_entropy(
            Tensor::from_data(logits, &device).autodiff(),
            &labels,
            &device,
        );
        let loss: f32 = loss.into_scalar();
        assert!((loss - expected).abs() < 1e-6, "{loss} is not {expected}");
    }

    #[test]
    fn even_answers_cost_the_logarithm_of_the_classes() {
        check([[0.0; 3], [7.0; 3]], [0, 2], 3f32.ln());
    }

    #[test]
    fn a_sure_answer_costs_nothing_when_right_and_its_margin_when_wrong() {
        check([[100.0, 0.0, 0.0], [0.0, 100.0, 0.0]], [0, 1], 0.0);
        check([[100.0, 0.0, 0.0], [0.0, 100.0, 0.0]], [0, 2], 50.0);
    }

    #[test]
    fn right_answers_are_counted() {
        assert_eq!(
            right_answers(&[0.1, 0.9, 0.8, 0.2, f32::NAN, 0.0], 2, &[1, 1, 1]),
            2
        );
        assert_eq!(largest(&[f32::NAN]), None);
        assert_eq!(largest(&[1.0, 1.0]), Some(0));
    }
}
