//! Seconds per image against batch, and against whatever else is a number: the curves, the cells
//! that have no time, and the table of both.

use analyse::{Analysis, CellState, MetricInfo, Sweep, SweepCell, SweepLine, format};
use serde_json::{Value, json};

use super::axis::hover;
use super::lines::{Look, Looks, level_axis};
use super::page::{Figure, LogSwitch, Page};
use crate::markdown::capital;
use crate::tables::{scenario, sweep_table, sweep_unit};

/// Further factors are in the exported analysis.
const MOST_SWEEPS: usize = 3;

pub(super) fn sweeps(page: &mut Page, analysis: &Analysis) {
    let sweeps = analysis.sweeps.iter().take(MOST_SWEEPS);
    let drawn: Vec<(&Sweep, &MetricInfo)> = sweeps
        .filter_map(|s| Some((s, analysis.metric(&s.metric)?)))
        .collect();
    let Some((first, info)) = drawn.first() else {
        return;
    };
    let what = capital(&info.label);
    page.open(
        "sweeps",
        &match drawn.len() {
            1 => format!("{what} against {}", first.factor),
            _ if drawn.iter().all(|(_, other)| other.name == info.name) => {
                format!("{what} along a factor")
            }
            _ => format!("{what} and cost along a factor"),
        },
    );
    for (sweep, info) in &drawn {
        if drawn.len() > 1 {
            let what = capital(&info.label);
            page.subtitle(&format!("{what} against {}", sweep.factor));
        }
        page.figure(&figure(analysis, sweep, info));
        if let Some(table) = sweep_table(analysis, sweep) {
            page.table(&table);
            let without = |c: &SweepCell| MARKS.iter().any(|m| m.state == c.state);
            let result = match sweep.lines.iter().flat_map(|l| &l.cells).any(without) {
                true => {
                    " That a combination does not fit in memory, or in the time allowed, is a result."
                }
                false => "",
            };
            page.note(&format!(
                "{} in {}; ± is half the {} interval.{result}",
                capital(&info.label),
                sweep_unit(analysis, sweep, info).name,
                format::percent(analysis.study.confidence)
            ));
        }
    }
    page.close();
}

fn figure(analysis: &Analysis, sweep: &Sweep, info: &MetricInfo) -> Figure {
    let unit = sweep_unit(analysis, sweep, info);
    let looks = Looks::new(sweep.lines.iter().map(|l| l.phrase.as_str()));
    let mut data = Vec::new();
    let mut marks_at = vec![0; sweep.levels.len()];
    for (line, look) in sweep.lines.iter().zip(&looks.looks) {
        let drawn = Drawn {
            analysis,
            sweep,
            line,
            look,
            info,
            scale: unit.scale,
        };
        data.push(drawn.times());
        data.extend(drawn.ended(&mut marks_at));
    }
    let cells = || sweep.lines.iter().flat_map(|l| &l.cells);
    let marks: Vec<&str> = MARKS
        .iter()
        .filter(|m| cells().any(|c| c.state == m.state))
        .map(|m| m.said)
        .collect();
    let marks = match marks.is_empty() {
        true => String::new(),
        false => format!(
            " Marks at the foot are combinations without a time: {}.",
            marks.join(", ")
        ),
    };
    let values: Vec<f64> = sweep.levels.iter().map(|l| l.value).collect();
    Figure {
        caption: format!(
            "{} against {}, one line for each combination of the other factors; whiskers are {} intervals.{marks}{}",
            capital(&info.label),
            sweep.factor,
            format::percent(analysis.study.confidence),
            looks.sentence()
        ),
        height: 460,
        data,
        layout: json!({
            "xaxis": level_axis(&sweep.factor, &values),
            "yaxis": {
                "title": { "text": format!("{} ({})", info.label, unit.name) },
                "type": "log", "tickformat": "~g",
            },
            // Without a time there is no height: marks stand on an axis of their own.
            "yaxis2": { "overlaying": "y", "range": [0, 1], "visible": false, "fixedrange": true },
            "showlegend": sweep.lines.len() > 1,
        }),
        log_switch: Some(LogSwitch::StartsLogarithmic),
    }
}

struct Mark {
    state: CellState,
    symbol: &'static str,
    said: &'static str,
}

const MARKS: [Mark; 3] = [
    Mark {
        state: CellState::OutOfMemory,
        symbol: "x",
        said: "✕ out of memory",
    },
    Mark {
        state: CellState::TimedOut,
        symbol: "triangle-up",
        said: "▲ timed out",
    },
    Mark {
        state: CellState::Failed,
        symbol: "diamond",
        said: "◆ failed",
    },
];

/// One line of the figure.
struct Drawn<'a> {
    analysis: &'a Analysis,
    sweep: &'a Sweep,
    line: &'a SweepLine,
    look: &'a Look,
    info: &'a MetricInfo,
    scale: f64,
}

impl Drawn<'_> {
    fn times(&self) -> Value {
        let (mut x, mut y, mut margins, mut text) = (vec![], vec![], vec![], vec![]);
        for (cell, level) in self.line.cells.iter().zip(&self.sweep.levels) {
            let found = cell.scenario.and_then(|n| scenario(self.analysis, n));
            let mean = found.and_then(|s| s.mean(&self.info.name));
            x.push(level.value);
            y.push(mean.map(|e| e.value / self.scale));
            margins.push(mean.and_then(|e| e.margin()).map(|m| m / self.scale));
            let value = mean.map(|e| format::duration(e.value)).unwrap_or_default();
            text.push(found.map(|s| hover(s, &[format!("{} {value}", self.info.label)])));
        }
        let look = self.look;
        json!({
            "type": "scatter", "mode": "lines+markers", "name": look.name, "legendgroup": look.group,
            "visible": look.visible(), "x": x, "y": y, "text": text, "hoverinfo": "text",
            "error_y": { "type": "data", "array": margins, "color": look.colour, "thickness": 1.2, "width": 3 },
            "line": { "color": look.colour, "width": 2, "dash": look.dash },
            "marker": { "color": look.colour, "size": 6 },
        })
    }

    /// Cells without a time, above those that other lines have there already.
    fn ended(&self, marks_at: &mut [usize]) -> Option<Value> {
        let (mut x, mut y, mut symbols, mut text) = (vec![], vec![], vec![], vec![]);
        let cells = self.line.cells.iter().zip(&self.sweep.levels);
        for ((cell, level), below) in cells.zip(marks_at) {
            let mark = MARKS.iter().find(|m| m.state == cell.state);
            let found = cell.scenario.and_then(|n| scenario(self.analysis, n));
            if let (Some(mark), Some(found)) = (mark, found) {
                x.push(level.value);
                y.push(0.02 + 0.035 * *below as f64);
                *below += 1;
                symbols.push(mark.symbol);
                text.push(hover(found, &[cell.state.words().to_owned()]));
            }
        }
        (!x.is_empty()).then(|| {
            json!({
                "type": "scatter", "mode": "markers", "name": self.look.name, "yaxis": "y2",
                "legendgroup": self.look.group, "showlegend": false, "visible": self.look.visible(),
                "x": x, "y": y, "text": text, "hoverinfo": "text", "cliponaxis": false,
                "marker": { "color": self.look.colour, "size": 9, "symbol": symbols },
            })
        })
    }
}
