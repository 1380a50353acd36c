//! What figures share: an axis with its unit, labels of scenarios, text that Plotly takes as text.

use analyse::{Analysis, MetricInfo, ScenarioResult, format, metric_value};
use serde_json::{Value, json};

use super::page::escape;
use crate::view::unit_of;

/// Above this, levels do not fit below the bars.
const MOST_LONG_TICKS: usize = 16;

/// Scenarios that belong in one figure.
pub(super) struct Group<'a> {
    pub(super) scenarios: Vec<&'a ScenarioResult>,
    /// ` on gpu`, or nothing where there is only one environment.
    pub(super) place: String,
}

/// Those that have run, however they ended.
pub(super) fn by_environment(analysis: &Analysis) -> Vec<Group<'_>> {
    let environments = analysis.environments();
    let several = environments.len() > 1;
    let group = |environment: &str| Group {
        scenarios: analysis
            .scenarios
            .iter()
            .filter(|s| s.environment == environment && s.runs.total() > 0)
            .collect(),
        place: if several {
            format!(" on {environment}")
        } else {
            String::new()
        },
    };
    environments.into_iter().map(group).collect()
}

/// A metric in the unit its axis is drawn in.
pub(super) struct Axis<'a> {
    pub(super) info: &'a MetricInfo,
    unit: format::Unit,
}

impl<'a> Axis<'a> {
    pub(super) fn new(info: &'a MetricInfo, scenarios: &[&ScenarioResult]) -> Self {
        let mut means: Vec<f64> = scenarios
            .iter()
            .filter_map(|s| s.mean(&info.name))
            .map(|e| e.value)
            .collect();
        means.sort_by(f64::total_cmp);
        Axis {
            info,
            unit: unit_of(info, means.get(means.len() / 2).copied().unwrap_or(0.0)),
        }
    }

    pub(super) fn title(&self) -> String {
        match self.unit.name {
            "" => self.info.label.clone(),
            unit => format!("{} ({unit})", self.info.label),
        }
    }

    pub(super) fn value(&self, scenario: &ScenarioResult) -> Option<f64> {
        scenario
            .mean(&self.info.name)
            .map(|e| e.value / self.unit.scale)
    }

    pub(super) fn text(&self, scenario: &ScenarioResult) -> String {
        let Some(mean) = scenario.mean(&self.info.name) else {
            return format::NONE.to_owned();
        };
        let quantity = format::quantity(mean, self.unit.scale).text();
        format!("{} {quantity} {}", self.info.label, self.unit.name)
    }

    pub(super) fn bars(&self, scenarios: &[&ScenarioResult], colour: &str) -> Value {
        let margin = |s: &&ScenarioResult| {
            s.mean(&self.info.name)?
                .margin()
                .map(|m| m / self.unit.scale)
        };
        let text: Vec<String> = scenarios
            .iter()
            .map(|s| hover(s, &[self.text(s)]))
            .collect();
        json!({
            "type": "bar", "name": self.title(), "x": labels(scenarios),
            "y": scenarios.iter().map(|s| self.value(s)).collect::<Vec<_>>(),
            "error_y": {
                "type": "data", "array": scenarios.iter().map(margin).collect::<Vec<_>>(),
                "color": "@ink", "thickness": 1.2, "width": 3,
            },
            "text": text, "textposition": "none", "hoverinfo": "text", "marker": { "color": colour },
        })
    }

    pub(super) fn single_runs(&self, analysis: &Analysis, scenarios: &[&ScenarioResult]) -> Value {
        let column = analysis
            .metrics
            .iter()
            .position(|m| m.name == self.info.name);
        let shown = |number: u32| scenarios.iter().any(|s| s.number == number);
        let ok = analysis
            .runs
            .iter()
            .filter(|r| r.status == model::Status::Ok && r.excluded.is_none())
            .filter(|r| shown(r.scenario));
        let points: Vec<(String, f64, String)> = ok
            .filter_map(|run| {
                let value = run.values.get(column?).copied().flatten()?;
                let text = format!("{}: {}", run.run, metric_value(self.info, value));
                Some((format!("C{}", run.scenario), value / self.unit.scale, text))
            })
            .collect();
        json!({
            "type": "scatter", "mode": "markers", "name": "single runs", "hoverinfo": "text",
            "x": points.iter().map(|p| &p.0).collect::<Vec<_>>(),
            "y": points.iter().map(|p| p.1).collect::<Vec<_>>(),
            "text": points.iter().map(|p| &p.2).collect::<Vec<_>>(),
            "marker": { "color": "@ink", "size": 4, "opacity": 0.55 },
        })
    }
}

pub(super) fn labels(scenarios: &[&ScenarioResult]) -> Vec<String> {
    scenarios.iter().map(|s| s.label.clone()).collect()
}

/// The script takes the long words where they fit, the short ones elsewhere.
pub(super) fn ticks(scenarios: &[&ScenarioResult]) -> Value {
    let short = labels(scenarios);
    let mut axis =
        json!({ "type": "category", "title": { "text": "scenario" }, "automargin": true });
    if scenarios.len() <= MOST_LONG_TICKS {
        let long = |s: &&ScenarioResult| {
            let levels: Vec<String> = s.levels.iter().map(|l| label(&l.phrase)).collect();
            format!("<b>{}</b><br>{}", s.label, levels.join("<br>"))
        };
        axis["tickmode"] = json!("array");
        axis["tickvals"] = json!(short);
        axis["ticktext"] = json!(scenarios.iter().map(long).collect::<Vec<_>>());
        axis["title"] = json!({ "text": "" });
    }
    axis
}

pub(super) fn hover(scenario: &ScenarioResult, lines: &[String]) -> String {
    let mut text = format!("<b>{}</b> {}", scenario.label, label(&scenario.phrase()));
    for line in lines.iter().filter(|l| !l.is_empty()) {
        text.push_str("<br>");
        text.push_str(&label(line));
    }
    text
}

/// Text for Plotly, which takes a few tags in strings for markup.
pub(super) fn label(text: &str) -> String {
    // It does not know how quotes are written in HTML; what carries the text quotes by itself.
    let quoted = escape(text).replace("&quot;", "\"").replace("&#39;", "'");
    quoted.replace('\n', " ")
}
