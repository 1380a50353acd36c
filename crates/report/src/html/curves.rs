//! Loss and accuracy against epochs: small figures side by side, so that eighty scenarios stay
//! readable (study D of docs/studies.md).

use std::collections::BTreeMap;

use analyse::{Analysis, CurvePoint, ScenarioResult, format};
use serde_json::{Value, json};

use super::arrange::{Arrangement, Placed};
use super::axis::{hover, label};
use super::page::{LogSwitch, Page};
use super::pieces::{LegendEntry, Panel, Panels};

/// Two points make a line; one is a dot that says nothing of learning.
const LEAST_EPOCHS: usize = 2;
/// More cannot be looked at; the export has all.
const MOST_PANELS: usize = 36;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Curve {
    Loss,
    Accuracy,
}

impl Curve {
    fn of(self, point: &CurvePoint) -> Option<f64> {
        match self {
            Curve::Loss => point.loss,
            Curve::Accuracy => point.accuracy_percent,
        }
    }
}

pub(super) fn learning(page: &mut Page, analysis: &Analysis) {
    let losses = told(analysis, Curve::Loss);
    let accuracies = told(analysis, Curve::Accuracy);
    if losses.is_empty() && accuracies.is_empty() {
        return;
    }
    page.open("learning", "Learning");
    if !losses.is_empty() {
        page.panels(&loss_panels(&losses));
        if let Some(sentence) = diverged(&losses) {
            page.callout("Runs that diverged", [sentence.as_str()]);
        }
    }
    if !accuracies.is_empty() {
        let first = losses.is_empty();
        if !first {
            page.html("<details>\n<summary>Accuracy after each epoch</summary>");
        }
        page.panels(&accuracy_panels(&accuracies));
        if !first {
            page.html("</details>");
        }
    }
    page.note("Every epoch of every run: `bancada export --table losses`.");
    page.close();
}

fn told(analysis: &Analysis, what: Curve) -> Vec<&ScenarioResult> {
    let enough = |s: &&ScenarioResult| {
        s.curve.len() >= LEAST_EPOCHS && s.curve.iter().any(|p| what.of(p).is_some())
    };
    let any = analysis.scenarios.iter().any(|s| {
        let told = s.curve.iter().filter(|p| what.of(p).is_some());
        told.count() >= LEAST_EPOCHS
    });
    match any {
        true => analysis.scenarios.iter().filter(enough).collect(),
        false => Vec::new(),
    }
}

fn loss_panels(scenarios: &[&ScenarioResult]) -> Panels {
    let values: Vec<f64> = scenarios
        .iter()
        .flat_map(|s| &s.curve)
        .flat_map(|p| [p.loss, p.loss_low, p.loss_high])
        .flatten()
        .collect();
    let axis = ValueAxis::new("loss", &values);
    let spread = scenarios
        .iter()
        .flat_map(|s| &s.curve)
        .any(|p| p.loss_low < p.loss_high);
    let band = match spread {
        true => "; bands reach from the lowest to the highest of them",
        false => "",
    };
    panels(
        scenarios,
        &axis,
        Curve::Loss,
        &format!("Loss after each epoch, mean over the repetitions{band}."),
    )
}

fn accuracy_panels(scenarios: &[&ScenarioResult]) -> Panels {
    let values: Vec<f64> = scenarios
        .iter()
        .flat_map(|s| &s.curve)
        .filter_map(|p| p.accuracy_percent)
        .collect();
    let axis = ValueAxis {
        logarithmic: None,
        ..ValueAxis::new("accuracy (%)", &values)
    };
    panels(
        scenarios,
        &axis,
        Curve::Accuracy,
        "Accuracy after each epoch, mean over the repetitions.",
    )
}

fn panels(scenarios: &[&ScenarioResult], axis: &ValueAxis, what: Curve, about: &str) -> Panels {
    let arrangement = Arrangement::new(scenarios);
    let mut order: Vec<&str> = Vec::new();
    let mut groups: BTreeMap<&str, Vec<&Placed>> = BTreeMap::new();
    for placed in &arrangement.placed {
        let lines = groups.entry(&placed.panel).or_default();
        if lines.is_empty() {
            order.push(&placed.panel);
        }
        lines.push(placed);
    }
    let step = epoch_step(scenarios);
    let panel = |title: &&str| {
        let lines = groups.get(*title).map_or(&[][..], Vec::as_slice);
        Panel {
            title: (*title).to_owned(),
            data: lines.iter().flat_map(|line| traces(line, what)).collect(),
            layout: json!({
                "showlegend": false,
                "margin": { "l": 52, "r": 10, "t": 26, "b": 40 },
                "xaxis": { "title": { "text": "epoch" }, "dtick": step },
                "yaxis": axis.layout(),
            }),
        }
    };
    let left = order.len().saturating_sub(MOST_PANELS);
    let more = match left {
        0 => String::new(),
        left => format!(
            " The first {MOST_PANELS} of {} figures.",
            MOST_PANELS + left
        ),
    };
    Panels {
        caption: format!("{about}{}{more}", arrangement.sentence),
        panels: order.iter().take(MOST_PANELS).map(panel).collect(),
        legend: arrangement.legend(),
        log_switch: axis.logarithmic.map(|on| match on {
            true => LogSwitch::StartsLogarithmic,
            false => LogSwitch::StartsLinear,
        }),
    }
}

impl Arrangement<'_> {
    fn legend(&self) -> Vec<LegendEntry> {
        let mut entries: Vec<LegendEntry> = Vec::new();
        for placed in &self.placed {
            if entries.iter().all(|e| e.group != placed.group) {
                entries.push(LegendEntry {
                    group: placed.group.clone(),
                    name: placed.name.clone(),
                    colour: placed.colour.clone(),
                    dashes: placed.dash.svg,
                });
            }
        }
        entries
    }
}

/// A line, the band of its repetitions below it, and a cross where it stops being a number.
fn traces(placed: &Placed, what: Curve) -> Vec<Value> {
    let curve = &placed.scenario.curve;
    let of_loss = what == Curve::Loss;
    let mut traces = Vec::new();
    if of_loss {
        traces.extend(band(placed));
    }
    let text = |p: &CurvePoint| match (what.of(p), p.loss_low.zip(p.loss_high)) {
        (Some(v), Some((low, high))) if of_loss && high > low => {
            let write = |v: f64| format::significant(v, 3);
            let spread = format::interval(low, high, write);
            format!("epoch {}: {} {spread}", p.epoch, write(v))
        }
        (Some(v), _) => format!("epoch {}: {}", p.epoch, format::significant(v, 3)),
        (None, _) => String::new(),
    };
    traces.push(json!({
        "type": "scatter", "mode": "lines+markers", "legendgroup": placed.group,
        "name": label(&placed.name), "hoverinfo": "text",
        "x": curve.iter().map(|p| p.epoch).collect::<Vec<_>>(),
        "y": curve.iter().map(|p| what.of(p)).collect::<Vec<_>>(),
        "text": curve.iter().map(|p| hover(placed.scenario, &[text(p)])).collect::<Vec<_>>(),
        "line": { "color": placed.colour, "width": 2, "dash": placed.dash.plotly },
        "marker": { "color": placed.colour, "size": 4 },
    }));
    let end = curve
        .iter()
        .zip(curve.iter().skip(1))
        .find(|(_, next)| next.diverged > 0);
    if let Some((last, next)) = end.filter(|(last, _)| of_loss && last.loss.is_some()) {
        let text = format!("diverged: no loss from epoch {} on", next.epoch);
        traces.push(json!({
            "type": "scatter", "mode": "markers", "legendgroup": placed.group,
            "x": [last.epoch], "y": [last.loss], "hoverinfo": "text",
            "text": [hover(placed.scenario, &[text])],
            "marker": { "color": placed.colour, "size": 11, "symbol": "x" },
        }));
    }
    traces
}

/// From the lowest to the highest repetition, one polygon for each stretch without a gap.
fn band(placed: &Placed) -> Option<Value> {
    let curve = &placed.scenario.curve;
    let (mut x, mut y): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    for stretch in curve.chunk_by(|a, b| a.loss.is_some() == b.loss.is_some()) {
        let ends: Vec<(u32, f64, f64)> = stretch
            .iter()
            .filter_map(|p| Some((p.epoch, p.loss_low?, p.loss_high?)))
            .collect();
        if ends.len() < 2 || ends.iter().all(|(_, low, high)| low == high) {
            continue;
        }
        if !x.is_empty() {
            x.push(Value::Null);
            y.push(Value::Null);
        }
        let up = ends.iter().map(|(epoch, _, high)| (*epoch, *high));
        let back = ends.iter().rev().map(|(epoch, low, _)| (*epoch, *low));
        for (epoch, loss) in up.chain(back) {
            x.push(json!(epoch));
            y.push(json!(loss));
        }
    }
    (!x.is_empty()).then(|| {
        json!({
            "type": "scatter", "mode": "lines", "legendgroup": placed.group,
            "x": x, "y": y, "hoverinfo": "skip", "fill": "toself",
            "fillcolor": format!("{}/0.16", placed.colour), "line": { "width": 0 },
        })
    })
}

/// What the values of all figures of a group share.
struct ValueAxis {
    title: &'static str,
    /// Whether the axis is logarithmic; none where it cannot be.
    logarithmic: Option<bool>,
    low: f64,
    high: f64,
}

impl ValueAxis {
    fn new(title: &'static str, values: &[f64]) -> Self {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        ValueAxis {
            title,
            // More than a decade does not fit on a linear axis.
            logarithmic: (low > 0.0).then_some(high > 10.0 * low),
            low,
            high,
        }
    }

    fn layout(&self) -> Value {
        let mut axis = json!({ "title": { "text": self.title }, "tickformat": "~g" });
        if self.logarithmic == Some(true) {
            axis["type"] = json!("log");
            axis["range"] = json!([self.low.log10() - 0.06, self.high.log10() + 0.06]);
        } else if self.low < self.high {
            let room = 0.05 * (self.high - self.low);
            // A range that begins above zero can be turned into a logarithmic one.
            let low = if self.low > 0.0 {
                (self.low - room).max(self.low / 2.0)
            } else {
                self.low - room
            };
            axis["range"] = json!([low, self.high + room]);
        }
        axis
    }
}

/// Whole epochs, about six of them: the figures are small.
fn epoch_step(scenarios: &[&ScenarioResult]) -> u32 {
    let epochs = scenarios.iter().flat_map(|s| &s.curve).map(|p| p.epoch);
    epochs.max().unwrap_or(1).div_ceil(6).max(1)
}

fn diverged(scenarios: &[&ScenarioResult]) -> Option<String> {
    let lost: Vec<String> = scenarios
        .iter()
        .filter_map(|s| {
            let first = s.curve.iter().find(|p| p.diverged > 0)?;
            let part = match first.diverged < first.runs {
                true => format!(", {} of {} runs", first.diverged, first.runs),
                false => String::new(),
            };
            Some(format!(
                "{} ({}) from epoch {} on{part}",
                s.label,
                s.phrase(),
                first.epoch
            ))
        })
        .collect();
    (!lost.is_empty()).then(|| {
        format!(
            "Diverged: {}. There the loss was no number any more, and nothing is drawn: a line ends with a cross, or is the mean of the runs that went on.",
            format::listed(&lost, 6)
        )
    })
}
