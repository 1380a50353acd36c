//! Results: the summary, the key numbers, the scenario table, unsuccessful runs.

use std::fmt::Write;

use analyse::{Analysis, ScenarioResult, Topic, format};
use model::run::metric;

use super::page::{Page, escape, prose};
use crate::tables::currency_symbol;
use crate::view::{Cell, Column, costs_besides_spent, wide_scenario_table};

pub(super) fn head(page: &mut Page, analysis: &Analysis) {
    let study = &analysis.study;
    let objective = study
        .objective
        .as_deref()
        .map(|o| format!("<p class=\"objective\">{}</p>\n", escape(o)));
    page.html(&format!(
        "<header>\n<h1>{}</h1>\n{}</header>",
        escape(&study.name),
        objective.unwrap_or_default()
    ));
    if let Some(scale) = &study.scale {
        page.callout("Reduced scale", [scale.sentence.as_str()]);
    }
    if let Some(repriced) = &study.repriced {
        page.callout("What-if prices", [repriced.as_str()]);
    }
    page.open("summary", "In short");
    page.paragraph(&crate::markdown::totals(analysis));
    let findings = analysis
        .findings
        .iter()
        .filter(|f| f.topic != Topic::Caution);
    let findings: Vec<&str> = findings.map(|f| f.text.as_str()).collect();
    if !findings.is_empty() {
        page.list("findings", findings);
    }
    let cautions = analysis
        .findings
        .iter()
        .filter(|f| f.topic == Topic::Caution);
    let cautions: Vec<&str> = cautions.map(|f| f.text.as_str()).collect();
    if !cautions.is_empty() {
        page.list("cautions", cautions);
    }
    if !analysis.advice.is_empty() {
        page.subtitle("What to do next");
        page.list("advice", analysis.advice.iter().map(String::as_str));
    }
    if analysis
        .scenarios
        .iter()
        .any(|s| s.mean_has_interval(analysis))
    {
        page.note(&format!(
            "Numbers in [brackets], or after ±, are {} confidence intervals: the range in which the true value is likely to be. Of many such intervals, 19 in 20 contain it.",
            format::percent(study.confidence)
        ));
    }
    page.close();
}

trait HasInterval {
    fn mean_has_interval(&self, analysis: &Analysis) -> bool;
}

impl HasInterval for ScenarioResult {
    fn mean_has_interval(&self, analysis: &Analysis) -> bool {
        let time = analysis
            .time_metric
            .as_deref()
            .and_then(|name| self.mean(name));
        time.is_some_and(|mean| mean.interval.is_some())
    }
}

pub(super) fn key_numbers(page: &mut Page, analysis: &Analysis) {
    let totals = &analysis.totals;
    let mut cards: Vec<(String, String, String)> = Vec::new();
    let of = match analysis.study.import_only {
        true => format!("of {} imported", format::count(totals.runs.total())),
        false if totals.runs.total() > totals.planned => format!(
            "of {}; {} planned",
            format::count(totals.runs.total()),
            format::count(totals.planned)
        ),
        false => format!("of {} planned", format::count(totals.planned)),
    };
    cards.push((
        "successful runs".to_owned(),
        format::count(totals.runs.ok),
        of,
    ));
    cards.push((
        "all runs in total".to_owned(),
        format::duration(totals.seconds),
        totals
            .span_seconds
            .map(|s| format!("{} elapsed", format::duration(s)))
            .unwrap_or_default(),
    ));
    cards.extend(money_cards(analysis));
    let find = |number: Option<u32>| analysis.scenarios.iter().find(|s| Some(s.number) == number);
    if let Some(fastest) = find(analysis.best.fastest).filter(|_| analysis.scenarios.len() > 1) {
        let time = analysis
            .time_metric
            .as_deref()
            .and_then(|name| fastest.mean(name));
        let time = time.map(|e| format::duration(e.value)).unwrap_or_default();
        cards.push((
            format!("fastest: {}", fastest.label),
            time,
            fastest.phrase(),
        ));
    }
    if let Some((cheapest, cost)) = find(analysis.best.cheapest)
        .filter(|_| analysis.scenarios.len() > 1)
        .and_then(|s| Some((s, s.cost.as_ref()?)))
    {
        let answer = cheapest.mean(metric::COST_PER_INFERENCE);
        let (value, of) = match answer {
            Some(each) => {
                let symbol = currency_symbol(analysis);
                let million = format::significant(each.value * 1e6, 3);
                (format!("{symbol} {million}"), "per million responses: ")
            }
            None => (cost.mean.to_string(), ""),
        };
        cards.push((
            format!("cheapest: {}", cheapest.label),
            value,
            format!("{of}{}", cheapest.phrase()),
        ));
    }
    let mut out = String::from("<dl class=\"cards\">\n");
    for (name, value, more) in cards {
        let _ = writeln!(
            out,
            "<div><dt>{}</dt><dd><strong{}>{}</strong><span>{}</span></dd></div>",
            escape(&name),
            if value.chars().count() > 11 {
                " class=\"long\""
            } else {
                ""
            },
            escape(&value),
            escape(&more)
        );
    }
    page.html(&(out + "</dl>"));
}

/// What the budget counts, and what the results cost where that is something else.
fn money_cards(analysis: &Analysis) -> Vec<(String, String, String)> {
    let totals = &analysis.totals;
    let mut cards = Vec::new();
    if let Some(spent) = totals.spent_total {
        let budget = analysis.study.budget.map(|b| format!("of a budget of {b}"));
        let again = totals
            .spent_again
            .map(|again| format!("{again} of it for re-run attempts"));
        let more: Vec<String> = budget.into_iter().chain(again).collect();
        cards.push(("spent".to_owned(), spent.to_string(), more.join("; ")));
    }
    if costs_besides_spent(totals) {
        let sums: Vec<String> = totals.cost_total.iter().map(|m| m.to_string()).collect();
        let imported = match totals.imported {
            0 => String::new(),
            runs => format!(
                "with {}",
                format::counted(runs, "imported run", "imported runs")
            ),
        };
        cards.push(("cost of the results".to_owned(), sums.join(" + "), imported));
    }
    cards
}

/// Before the tables, so that nobody reads a number without them.
pub(super) fn cautions(page: &mut Page, analysis: &Analysis) {
    if analysis.warnings.is_empty() && analysis.notes.is_empty() {
        return;
    }
    let mut out = String::from("<aside class=\"callout\" aria-label=\"Read this first\">\n<ul>\n");
    for warning in &analysis.warnings {
        let _ = writeln!(out, "<li>{}</li>", prose(&warning.text));
    }
    for note in &analysis.notes {
        let _ = writeln!(out, "<li>{}</li>", prose(note));
    }
    out.push_str("</ul>\n");
    if !analysis.warnings.is_empty() {
        out.push_str("<p><a href=\"#warnings\">All warnings</a></p>\n");
    }
    page.html(&(out + "</aside>"));
}

pub(super) fn scenarios(page: &mut Page, analysis: &Analysis) {
    page.open("scenarios", "Scenarios");
    let table = wide_scenario_table(analysis);
    let mut out =
        String::from("<div class=\"wide\"><table class=\"data sortable\">\n<thead>\n<tr>");
    for column in &table.columns {
        let class = if column.is_number() {
            " class=\"number\""
        } else {
            ""
        };
        let _ = write!(
            out,
            "<th scope=\"col\"{class}><button type=\"button\">{}</button></th>",
            escape(&column.header_with_unit())
        );
    }
    out.push_str("</tr>\n</thead>\n<tbody>\n");
    for (scenario, row) in analysis.scenarios.iter().zip(&table.rows) {
        out.push_str("<tr>");
        for (place, (cell, column)) in row.iter().zip(&table.columns).enumerate() {
            out.push_str(&match place {
                0 => scenario_cell(analysis, scenario, cell),
                _ => data_cell(cell, column),
            });
        }
        out.push_str("</tr>\n");
    }
    page.html(&(out + "</tbody>\n</table></div>"));
    page.note(&format!(
        "Means over successful runs; ± is half the {} interval (Student). Click a heading to sort.{}",
        format::percent(analysis.study.confidence),
        if analysis.scenarios.iter().any(|s| s.warned_runs > 0) { " “!” marks scenarios with warnings." } else { "" }
    ));
    page.close();
}

fn scenario_cell(analysis: &Analysis, scenario: &ScenarioResult, cell: &Cell) -> String {
    let mut marks = String::new();
    let several = analysis.scenarios.len() > 1;
    if several && analysis.best.fastest == Some(scenario.number) {
        marks.push_str(" <span class=\"badge fast\">fastest</span>");
    }
    if several && analysis.best.cheapest == Some(scenario.number) {
        marks.push_str(" <span class=\"badge cheap\">cheapest</span>");
    }
    if scenario.warned_runs > 0 {
        let runs = format::counted(scenario.warned_runs, "run has", "runs have");
        let _ = write!(
            marks,
            " <span class=\"badge warn\" title=\"{runs} warnings\">!</span>"
        );
    }
    let sort = cell.sort.map(|v| v.to_string()).unwrap_or_default();
    format!(
        "<th scope=\"row\" data-sort=\"{sort}\">{}{marks}</th>",
        escape(&cell.value)
    )
}

fn data_cell(cell: &Cell, column: &Column) -> String {
    let sort = cell
        .sort
        .filter(|v| v.is_finite())
        .map(|v| format!(" data-sort=\"{v}\""))
        .unwrap_or_default();
    let class = if column.is_number() {
        " class=\"number\""
    } else {
        ""
    };
    let half = match cell.half_width.as_str() {
        "" => String::new(),
        half => format!(" <span class=\"half\">± {}</span>", escape(half)),
    };
    format!("<td{class}{sort}>{}{half}</td>", escape(&cell.value))
}

pub(super) fn outcomes(page: &mut Page, analysis: &Analysis) {
    if analysis.outcomes.is_empty() {
        return;
    }
    page.open("outcomes", "Unsuccessful runs");
    page.paragraph("Running out of memory or time is a result. `bancada run` re-runs interrupted runs, unless `--keep-interrupted` is given; `bancada run --retry failed` re-runs failed ones.");
    let mut out = String::from(
        "<div class=\"wide\"><table class=\"data\">\n<thead>\n<tr><th scope=\"col\">scenario</th><th scope=\"col\">levels</th><th scope=\"col\">outcome</th><th scope=\"col\">runs</th><th scope=\"col\">detail</th></tr>\n</thead>\n<tbody>\n",
    );
    for group in &analysis.outcomes {
        let runs: Vec<String> = group.runs.iter().map(|r| r.to_string()).collect();
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">C{}</th><td>{}</td><td>{}</td><td>{}</td><td class=\"log\">{}</td></tr>",
            group.scenario,
            escape(&group.phrase),
            group.status,
            escape(&format::listed(&runs, 6)),
            escape(group.detail.as_deref().unwrap_or(format::NONE))
        );
    }
    page.html(&(out + "</tbody>\n</table></div>"));
    page.close();
}

pub(super) fn warnings(page: &mut Page, analysis: &Analysis) {
    if analysis.warnings.is_empty() {
        return;
    }
    page.open("warnings", "Warnings");
    for group in &analysis.warnings {
        let count = format::counted(group.runs.len(), "run", "runs");
        let mut out = format!(
            "<details>\n<summary>{}: {count}</summary>\n<ul>\n",
            escape(&group.kind.replace('-', " "))
        );
        for warned in group.runs.iter().take(MOST_WARNINGS) {
            let _ = writeln!(
                out,
                "<li><strong>{}</strong> {}</li>",
                warned.run,
                prose(&warned.text)
            );
        }
        if group.runs.len() > MOST_WARNINGS {
            let _ = writeln!(
                out,
                "<li>and {} more</li>",
                format::count(group.runs.len() - MOST_WARNINGS)
            );
        }
        page.html(&(out + "</ul>\n</details>"));
    }
    page.close();
}

/// Of one kind; the export has them all.
const MOST_WARNINGS: usize = 100;
