//! Where the time of a step goes: kinds of operators, and the largest operators by name.

use analyse::{Analysis, OPERATOR_KINDS, ProfileResult, ScenarioResult, format};
use serde_json::{Value, json};

use super::axis::{hover, label};
use super::page::{Figure, Page, escape};
use crate::tables::{MOST_ROWS, kinds_of, operators_table, profiled};

pub(super) fn profile(page: &mut Page, analysis: &Analysis) {
    let all = profiled(analysis);
    if all.is_empty() {
        return;
    }
    page.open("profile", "What the steps do");
    page.paragraph("Time by kind of operator, from the framework's own profiler. A profile costs time, so its steps come after the measured ones and are not among them; frameworks count in their own ways, so compare shares rather than seconds.");
    let shown = &all[..all.len().min(MOST_ROWS)];
    page.figure(&figure(shown, all.len()));
    page.html("<details>\n<summary>The largest operators of each scenario</summary>");
    for (scenario, profile) in shown {
        operators(page, scenario, profile);
    }
    page.html("</details>");
    page.note("Every operator of every run: `bancada export --table profile`.");
    page.close();
}

fn figure(shown: &[(&ScenarioResult, &ProfileResult)], in_all: usize) -> Figure {
    let names: Vec<String> = shown
        .iter()
        .map(|(s, _)| label(&format!("{} {}", s.label, s.phrase())))
        .collect();
    let labels: Vec<&str> = shown.iter().map(|(s, _)| s.label.as_str()).collect();
    let bars = kinds_of(shown)
        .into_iter()
        .map(|kind| bar(kind, shown, &labels));
    let more = match in_all - shown.len() {
        0 => String::new(),
        _ => format!(" The first {} of {in_all} scenarios.", shown.len()),
    };
    Figure {
        caption: format!(
            "Share of the profiled time by kind of operator, mean of each scenario's runs.{more}"
        ),
        height: 130 + 24 * u32::try_from(shown.len()).unwrap_or(60),
        data: bars.collect(),
        layout: json!({
            "barmode": "stack", "bargap": 0.25, "margin": { "l": 64, "r": 16, "t": 64, "b": 48 },
            "xaxis": { "title": { "text": "share of the profiled time (%)" }, "range": [0, 100] },
            // The script takes the short words where the long ones leave no room.
            "yaxis": {
                "type": "category", "autorange": "reversed",
                "tickmode": "array", "tickvals": labels, "ticktext": names,
            },
            "legend": { "orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "traceorder": "normal" },
        }),
        log_switch: None,
    }
}

fn bar(kind: &str, shown: &[(&ScenarioResult, &ProfileResult)], labels: &[&str]) -> Value {
    let found = |p: &ProfileResult| p.kinds.iter().find(|k| k.kind == kind).cloned();
    let place = OPERATOR_KINDS.iter().position(|k| *k == kind).unwrap_or(0);
    // What is left over is no colour of its own.
    let colour = match kind {
        "other" => "@muted".to_owned(),
        _ => format!("@{}", place % 8 + 1),
    };
    let text = |(scenario, profile): &(&ScenarioResult, &ProfileResult)| {
        let said = found(profile).map(|k| {
            format!(
                "{}: {}, {}",
                kind.replace('-', " "),
                format::percent(k.share),
                format::duration(k.seconds)
            )
        });
        hover(scenario, &[said.unwrap_or_default()])
    };
    json!({
        "type": "bar", "orientation": "h", "name": kind.replace('-', " "), "y": labels,
        "x": shown.iter().map(|(_, p)| found(p).map_or(0.0, |k| k.share * 100.0)).collect::<Vec<_>>(),
        "text": shown.iter().map(text).collect::<Vec<_>>(), "textposition": "none",
        "hoverinfo": "text", "marker": { "color": colour },
    })
}

fn operators(page: &mut Page, scenario: &ScenarioResult, profile: &ProfileResult) {
    let runs = format::counted(profile.runs, "run", "runs");
    let of = match profile.operators_in_all > profile.operators.len() {
        true => format!(
            ", the largest {} of {} operators",
            profile.operators.len(),
            profile.operators_in_all
        ),
        false => String::new(),
    };
    page.html(&format!(
        "<details class=\"inner\">\n<summary><strong>{}</strong> {}: {}</summary>",
        escape(&scenario.label),
        escape(&scenario.phrase()),
        escape(&format!(
            "{} profiled, mean of {runs}{of}",
            format::duration(profile.seconds)
        ))
    ));
    page.table(&operators_table(profile));
    page.html("</details>");
}
