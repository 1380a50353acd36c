//! The loss function.

/// The mean over a batch, and its gradient by the logits.
pub(crate) struct Loss {
    pub(crate) mean: f64,
    pub(crate) gradient: Vec<f32>,
}

/// Mean over the batch of −log softmax(logits)[label]; taken from the logits, because the
/// logarithm of a softmax that became 0 is lost.
pub(crate) fn cross_entropy(logits: &[f32], classes: usize, labels: &[u16]) -> Loss {
    let batch = labels.len() as f64;
    let mut mean = 0.0;
    let mut gradient = Vec::with_capacity(logits.len());
    for (row, &label) in logits.chunks_exact(classes.max(1)).zip(labels) {
        let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let above = |value: f32| f64::from(value) - f64::from(largest);
        let sum: f64 = row.iter().map(|&value| above(value).exp()).sum();
        let chosen = usize::from(label);
        mean += row
            .get(chosen)
            .map_or(0.0, |&value| sum.ln() - above(value))
            / batch;
        gradient.extend(row.iter().enumerate().map(|(class, &value)| {
            let wanted = f64::from(u8::from(class == chosen));
            ((above(value).exp() / sum - wanted) / batch) as f32
        }));
    }
    Loss { mean, gradient }
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

    fn check(logits: [[f32; 3]; 2], labels: [u16; 2], expected: f64) {
        let loss = cross_entropy(logits.as_flattened(), 3, &labels).mean;
        assert!((loss - expected).abs() < 1e-6, "{loss} is not {expected}");
    }

    #[test]
    fn even_answers_cost_the_logarithm_of_the_classes() {
        check([[0.0; 3], [7.0; 3]], [0, 2], 3f64.ln());
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
