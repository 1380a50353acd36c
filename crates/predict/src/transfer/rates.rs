//! The time of a layer on a machine, from the probe's networks of its kind.

use model::profile::{FrameworkProbe, LayerWork, StepTime, WorkKind};

use super::Refusal;

pub(super) struct Rates<'a> {
    probe: &'a FrameworkProbe,
}

/// Of all layers of an entry.
pub(super) struct LayerTime {
    pub(super) seconds: f64,
}

/// One network of the probe: what a FLOP or byte takes in layers of this size.
struct Point {
    size: f64,
    seconds_per_unit: f64,
}

impl<'a> Rates<'a> {
    pub(super) fn new(probe: &'a FrameworkProbe) -> Self {
        Rates { probe }
    }

    fn steps(&self, kind: WorkKind) -> impl Iterator<Item = &'a StepTime> {
        let steps = self.probe.steps.iter();
        steps.filter(move |step| step.kind == Some(kind))
    }

    /// Between two sizes of the probe on a straight line of logarithms, outside as at the nearest.
    pub(super) fn seconds(&self, layer: &LayerWork) -> Result<LayerTime, Refusal> {
        let mut points: Vec<Point> = self.steps(layer.kind).filter_map(point).collect();
        points.sort_by(|one, other| one.size.total_cmp(&other.size));
        let unknown = Refusal::KindNotProbed { kind: layer.kind };
        let (first, last) = points.first().zip(points.last()).ok_or(unknown)?;
        let size = layer.size.clamp(first.size, last.size);
        let upper = points.iter().position(|point| point.size >= size);
        let upper = upper.unwrap_or(points.len() - 1);
        let (below, above) = (&points[upper.saturating_sub(1)], &points[upper]);
        let width = (above.size / below.size).ln();
        let way = match width > 0.0 {
            true => (size / below.size).ln() / width,
            false => 0.0,
        };
        let logarithm =
            (1.0 - way) * below.seconds_per_unit.ln() + way * above.seconds_per_unit.ln();
        Ok(LayerTime {
            seconds: layer.total() * logarithm.exp(),
        })
    }

    /// Of this kind's times, relative.
    pub(super) fn error(&self, kind: WorkKind) -> f64 {
        let errors = self.steps(kind).map(|step| step.seconds.standard_error());
        errors.fold(0.0, f64::max)
    }
}

fn point(step: &StepTime) -> Option<Point> {
    let own = || {
        step.work
            .iter()
            .filter(|layer| Some(layer.kind) == step.kind)
    };
    let size = own().map(|layer| layer.size).fold(0.0, f64::max);
    let total: f64 = own().map(LayerWork::total).sum();
    let seconds_per_unit = step.seconds.median / total;
    (size > 0.0 && seconds_per_unit.is_finite() && seconds_per_unit > 0.0).then_some(Point {
        size,
        seconds_per_unit,
    })
}
