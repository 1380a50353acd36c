//! Whether two frameworks computed the same: what they say of the first steps, side by side.

use model::verify::{Magnitudes, VerifyReport};

/// Relative difference of the first batch's loss that is still the same computation: 32-bit sums
/// in another order differ by some 1e-6.
pub const FIRST_LOSS_TOLERANCE: f64 = 1e-4;
/// Of a layer's output, by its norm.
pub const LAYER_TOLERANCE: f64 = 1e-4;
/// Of a parameter's gradient, by its norm. A rounding may switch a rectifier on or off, and where
/// a batch gives a channel few values, each counts for much; what is computed in another way
/// differs by more than that.
pub const GRADIENT_TOLERANCE: f64 = 1e-2;
/// Of the whole gradient: a difference below it is rounding, if it is also within
/// [`CANCELLED_TOLERANCE`]. 32-bit numbers are rounded to 2^-24 of themselves, which switches about
/// that share of the rectifiers; as many terms of the gradient's sums come or go, and by the square
/// root of their share they change its norm. A parameter whose terms nearly cancel (a batch
/// normalisation's, summed over all places of a channel) gets that change undiminished, and may have
/// little gradient left to compare it with.
pub const WHOLE_GRADIENT_TOLERANCE: f64 = 1.0 / 4096.0;
/// Of a parameter's gradient however small a part of the whole it is: a layer that is computed in
/// another way must not hide behind larger ones.
pub const CANCELLED_TOLERANCE: f64 = 4e-2;
/// Of the first batch's loss after the steps: every step multiplies what the last one left.
pub const LAST_LOSS_TOLERANCE: f64 = 1e-3;
/// Gradients below this share of the whole gradient's norm are noise (a bias in front of a batch
/// normalisation has none at all), and are compared as parts of the whole.
const NOISE_SHARE: f64 = 1e-4;

/// One framework against the reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Agreement {
    pub same_parameters: bool,
    /// Relative differences.
    pub first_loss: f64,
    pub last_loss: f64,
    /// The largest among the layers' outputs; none where the framework shows none.
    pub layers: Option<f64>,
    /// The largest among the gradients; more than [`GRADIENT_TOLERANCE`] may be rounding, where it is
    /// a small part of the whole gradient.
    pub gradients: f64,
    /// Where the computations part, in words; none where they agree.
    pub differs_at: Option<String>,
}

/// A trained parameter of the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trained {
    pub name: String,
    pub elements: u64,
}

/// `trained`: first layer first.
pub fn compare(report: &VerifyReport, reference: &VerifyReport, trained: &[Trained]) -> Agreement {
    let sides = Sides::of(report, reference);
    let layers = sides.compare_layers();
    let gradients = sides.compare_gradients(trained);
    let first = |r: &VerifyReport| r.losses.first().copied().unwrap_or(f64::NAN);
    let mut agreement = Agreement {
        same_parameters: report.parameters == reference.parameters,
        first_loss: relative(first(report), first(reference)),
        last_loss: relative(report.last_loss, reference.last_loss),
        layers: layers.as_ref().map(|found| found.worst),
        gradients: gradients.worst,
        differs_at: None,
    };
    // In the order of the computation: what comes later differs because of what came before.
    let layer = layers.and_then(|found| found.first_beyond);
    agreement.differs_at = if !agreement.same_parameters {
        Some("the number of parameters".to_owned())
    } else if let Some(layer) = layer {
        Some(layer)
    } else if !within(agreement.first_loss, FIRST_LOSS_TOLERANCE) {
        Some("the loss".to_owned())
    } else if let Some(parameter) = gradients.first_beyond {
        Some(format!("the gradient of {parameter}"))
    } else if !within(agreement.last_loss, LAST_LOSS_TOLERANCE) {
        Some("the optimiser's steps".to_owned())
    } else {
        None
    };
    agreement
}

struct Compared {
    worst: f64,
    first_beyond: Option<String>,
}

/// Two sides of a comparison, by a measure that both report.
struct Sides<'r> {
    told: &'r Magnitudes,
    expected: &'r Magnitudes,
    /// Whether the measure is the mean of absolute values, else it is the Euclidean norm.
    is_mean: bool,
}

impl<'r> Sides<'r> {
    /// By norms unless the framework reports means only, as Caffe does.
    fn of(report: &'r VerifyReport, reference: &'r VerifyReport) -> Self {
        let is_mean =
            report.norms.gradients.is_empty() && !report.mean_absolutes.gradients.is_empty();
        let side = |report: &'r VerifyReport| match is_mean {
            true => &report.mean_absolutes,
            false => &report.norms,
        };
        Sides {
            told: side(report),
            expected: side(reference),
            is_mean,
        }
    }

    /// What makes a parameter's part of the whole gradient of its magnitude: numbers of one size have
    /// a norm of their mean times the root of their count.
    fn weight(&self, elements: u64) -> f64 {
        match self.is_mean {
            true => (elements as f64).sqrt(),
            false => 1.0,
        }
    }

    fn compare_layers(&self) -> Option<Compared> {
        if self.told.layers.is_empty() {
            return None;
        }
        let mut found = Compared {
            worst: 0.0,
            first_beyond: None,
        };
        for expected in &self.expected.layers {
            let told = self.told.layers.iter();
            let told = told.into_iter().find(|l| l.layer == expected.layer);
            // A framework may melt a layer into its neighbour; the neighbour is then compared.
            let Some(told) = told else { continue };
            let difference = relative(told.value, expected.value);
            found.worst = worse(found.worst, difference);
            if !within(difference, LAYER_TOLERANCE) && found.first_beyond.is_none() {
                found.first_beyond = Some(expected.layer.clone());
            }
        }
        Some(found)
    }

    /// From the last layer to the first, as the gradient flows.
    fn compare_gradients(&self, trained: &[Trained]) -> Compared {
        let parts = trained.iter().filter_map(|parameter| {
            let expected = self.expected.gradients.get(&parameter.name)?;
            Some((expected * self.weight(parameter.elements)).powi(2))
        });
        let whole = parts.sum::<f64>().sqrt();
        let floor = whole * NOISE_SHARE;
        let mut found = Compared {
            worst: 0.0,
            first_beyond: None,
        };
        for Trained { name, elements } in trained.iter().rev() {
            let weight = self.weight(*elements);
            let of = |side: &Magnitudes| side.gradients.get(name).map(|value| value * weight);
            let Some(expected) = of(self.expected) else {
                continue;
            };
            let told = of(self.told).unwrap_or(f64::NAN);
            let scale = told.abs().max(expected.abs()).max(floor);
            let share = |of: f64| match of > 0.0 {
                true => (told - expected).abs() / of,
                false => 0.0,
            };
            let difference = share(scale);
            found.worst = worse(found.worst, difference);
            let is_rounding = within(share(whole), WHOLE_GRADIENT_TOLERANCE)
                && within(difference, CANCELLED_TOLERANCE);
            let agrees = within(difference, GRADIENT_TOLERANCE) || is_rounding;
            if !agrees && found.first_beyond.is_none() {
                found.first_beyond = Some(name.clone());
            }
        }
        found
    }
}

/// What is no number is not within anything.
fn within(difference: f64, tolerance: f64) -> bool {
    difference <= tolerance
}

/// The larger; what is no number is the worst of all.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        a.max(b)
    }
}

fn relative(a: f64, b: f64) -> f64 {
    let scale = a.abs().max(b.abs());
    if a == b { 0.0 } else { (a - b).abs() / scale }
}

#[cfg(test)]
mod tests {
    use model::verify::LayerMagnitude;

    use super::*;

    fn report() -> VerifyReport {
        let layer = |layer: &str, value| LayerMagnitude {
            layer: layer.to_owned(),
            value,
        };
        VerifyReport {
            framework: "engine".to_owned(),
            version: "1".to_owned(),
            parameters: 12,
            losses: vec![2.3, 2.2],
            last_loss: 2.0,
            norms: Magnitudes {
                gradients: [("a.weight", 1.0), ("a.bias", 1e-9), ("b.weight", 3.0)]
                    .map(|(name, norm)| (name.to_owned(), norm))
                    .into(),
                layers: vec![layer("a", 10.0), layer("relu", 8.0), layer("b", 5.0)],
            },
            mean_absolutes: Magnitudes::default(),
        }
    }

    fn trained() -> Vec<Trained> {
        let trained = [("a.weight", 100), ("a.bias", 4), ("b.weight", 25)];
        trained
            .map(|(name, elements)| Trained {
                name: name.to_owned(),
                elements,
            })
            .into()
    }

    /// The same by means: each norm over the root of its count.
    fn by_means() -> VerifyReport {
        let mut report = report();
        report.mean_absolutes = report.norms.clone();
        for Trained { name, elements } in trained() {
            let mean = report.norms.gradients[&name] / (elements as f64).sqrt();
            report.mean_absolutes.gradients.insert(name, mean);
        }
        report
    }

    fn check(change: impl FnOnce(&mut VerifyReport), expected: Option<&str>) {
        let mut other = report();
        change(&mut other);
        let found = compare(&other, &report(), &trained());
        assert_eq!(found.differs_at.as_deref(), expected, "{found:?}");
    }

    #[test]
    fn the_first_difference_is_named() {
        check(|_| (), None);
        check(|r| r.losses[0] *= 1.0 + 5e-5, None);
        check(|r| r.parameters = 13, Some("the number of parameters"));
        check(|r| r.norms.layers[1].value = 8.01, Some("relu"));
        check(
            |r| {
                r.norms.layers[2].value = 6.0;
                r.losses[0] = 9.0;
            },
            Some("b"),
        );
        check(|r| r.losses[0] = 2.31, Some("the loss"));
        check(|r| r.losses[0] = f64::NAN, Some("the loss"));
        check(|r| r.last_loss = 2.1, Some("the optimiser's steps"));
        let change = |r: &mut VerifyReport| {
            _ = r.norms.gradients.insert("a.weight".to_owned(), 1.1);
        };
        check(change, Some("the gradient of a.weight"));
    }

    #[test]
    fn a_gradient_that_is_noise_may_be_any_noise() {
        let change = |r: &mut VerifyReport| {
            _ = r.norms.gradients.insert("a.bias".to_owned(), 3e-8);
        };
        check(change, None);
    }

    /// A gradient of this share of the whole, off by so much of itself.
    fn check_off(share: f64, by: f64, agrees: bool) {
        let of = |norm: f64| {
            let mut report = report();
            report.norms.gradients.insert("a.bias".to_owned(), norm);
            report
        };
        let norm = 10f64.sqrt() * share;
        for by in [by, -by] {
            let found = compare(&of(norm * (1.0 + by)), &of(norm), &trained());
            let expected = (!agrees).then_some("the gradient of a.bias");
            assert_eq!(found.differs_at.as_deref(), expected, "{share} {by}");
        }
    }

    #[test]
    fn a_gradient_that_nearly_cancels_is_held_against_the_whole() {
        check_off(0.1, 0.009, true);
        check_off(0.1, 0.011, false);
        // As ResNet-50's batch normalisations in Chainer.
        check_off(0.01, 0.015, true);
        check_off(0.01, 0.03, false);
        check_off(0.002, 0.03, true);
    }

    #[test]
    fn a_wrong_gradient_is_found_however_small_a_part_it_is() {
        for share in [1.0, 0.1, 0.01, 1e-3, 2e-4] {
            check_off(share, 0.05, false);
            check_off(share, 1.0, false);
        }
    }

    #[test]
    fn layers_that_cannot_be_seen_are_not_missed() {
        check(|r| r.norms.layers.clear(), None);
        check(
            |r| {
                r.norms.layers.clear();
                _ = r.norms.gradients.remove("b.weight");
            },
            Some("the gradient of b.weight"),
        );
    }

    #[test]
    fn means_are_compared_where_no_norms_are_reported() {
        let check = |change: &dyn Fn(&mut VerifyReport), expected: Option<&str>| {
            let mut other = by_means();
            other.norms = Magnitudes::default();
            change(&mut other);
            let found = compare(&other, &by_means(), &trained());
            assert_eq!(found.differs_at.as_deref(), expected, "{found:?}");
        };
        check(&|_| (), None);
        check(&|r| r.mean_absolutes.layers[0].value = 10.1, Some("a"));
        let gradient = |name: &'static str, by: f64| {
            move |r: &mut VerifyReport| {
                r.mean_absolutes
                    .gradients
                    .entry(name.to_owned())
                    .and_modify(|v| *v *= by);
            }
        };
        check(&gradient("b.weight", 1.005), None);
        check(
            &gradient("b.weight", 1.02),
            Some("the gradient of b.weight"),
        );
        // Noise beside the whole gradient, by the same measure as norms.
        check(&gradient("a.bias", 30.0), None);
        check(
            &|r| _ = r.mean_absolutes.gradients.remove("a.weight"),
            Some("the gradient of a.weight"),
        );
    }
}
