//! Results: the summary, the key numbers, the scenario table, unsuccessful runs.

use std::fmt::Write;

use analyse::{Analysis, Ranking, ScenarioResult, Topic, format};
use model::run::metric;

use super::page::{Page, TABLE_END, escape, number_class, prose, table_head};
use crate::tables::{money, stopping_table};
use crate::view::{Cell, Column, costs_besides_spent, scenario_table};

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
}

/// What the study found besides the answer, and what a reader must know of it.
pub(super) fn found(page: &mut Page, analysis: &Analysis) {
    page.open("summary", "What was found");
    // Said with the answer.
    let is_said = |text: &str| {
        let answer = &analysis.answer;
        answer.cautions.iter().any(|own| own == text) || answer.nothing.as_deref() == Some(text)
    };
    let of = |cautions: bool| {
        let findings = analysis.findings.iter();
        let wanted = findings.filter(move |f| {
            let is_told = f.topic == Topic::Best && !analysis.answer.recommendations.is_empty();
            (f.topic == Topic::Caution) == cautions && !is_told && !is_said(&f.text)
        });
        wanted.map(|f| f.text.as_str())
    };
    page.list("findings", of(false));
    page.list("cautions", of(true));
    if !analysis.advice.is_empty() {
        page.subtitle("What to do next");
        page.list("advice", &analysis.advice);
    }
    notes(page, analysis, is_said);
    let scenarios = analysis.scenarios.iter();
    let mut times = scenarios.filter_map(|s| analysis.time_of(s));
    if times.any(|mean| mean.interval.is_some()) {
        page.note(&format!(
            "Numbers after ± are half of {} confidence intervals: the range in which the true value is likely to be. Of many such intervals, 19 in 20 contain it. Those in [brackets] behind a difference are wider: they allow for everything else that the study asks, so that interval and verdict agree.",
            format::percent(analysis.study.confidence)
        ));
    }
    page.close();
}

/// Before the tables, so that nobody reads a number without them.
fn notes(page: &mut Page, analysis: &Analysis, is_said: impl Fn(&str) -> bool) {
    let warnings = analysis.warnings.iter().map(|warning| &warning.text);
    let all = warnings.chain(&analysis.notes);
    let notes: Vec<&String> = all.filter(|text| !is_said(text)).collect();
    if !notes.is_empty() {
        page.callout("Read this first", notes);
    }
    if !analysis.warnings.is_empty() {
        page.html("<p class=\"note\"><a href=\"#warnings\">All warnings</a></p>");
    }
}

pub(super) fn key_numbers(page: &mut Page, analysis: &Analysis) {
    let totals = &analysis.totals;
    let (count, runs) = (format::count, totals.runs.total());
    let mut cards: Vec<(String, String, String)> = Vec::new();
    let of = match analysis.study.import_only {
        true => format!("of {} imported", count(runs)),
        false if runs > totals.planned => {
            format!("of {}; {} planned", count(runs), count(totals.planned))
        }
        false => format!("of {} planned", count(totals.planned)),
    };
    cards.push(("successful runs".to_owned(), count(totals.runs.ok), of));
    let span = totals.span_seconds.map(format::duration);
    let span = span.map(|span| format!("{span} elapsed"));
    let seconds = format::duration(totals.seconds);
    let all = "all runs in total".to_owned();
    cards.push((all, seconds, span.unwrap_or_default()));
    cards.extend(money_cards(analysis));
    // With several tasks there is no fastest of all: a small network is not a better large one.
    let only = match analysis.best.tasks.as_slice() {
        [only] => Some(only),
        _ => None,
    };
    let first = |ranking: Option<&Ranking>| {
        let settled = ranking.filter(|ranking| ranking.verdict.is_different())?;
        analysis.scenario(*settled.first.first()?)
    };
    if let Some(fastest) = first(only.and_then(|task| task.time.as_ref())) {
        let time = analysis.time_of(fastest);
        let time = time.map(|e| format::duration(e.value)).unwrap_or_default();
        let name = format!("fastest: {}", fastest.label);
        cards.push((name, time, fastest.phrase()));
    }
    let cheapest = first(only.and_then(|task| task.cost.as_ref()));
    if let Some((cheapest, cost)) = cheapest.and_then(|s| Some((s, s.cost.as_ref()?))) {
        let answer = cheapest.mean(metric::COST_PER_INFERENCE);
        let (value, of) = match answer {
            Some(each) => {
                let million = money(1e6 * each.value, &analysis.study.currency);
                (million, "per million responses: ")
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
            match value.chars().count() > 11 {
                true => " class=\"long\"",
                false => "",
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
        let more = budget.into_iter().chain(again);
        let more: Vec<String> = more.chain(totals.bound_reason()).collect();
        let spent = format!("{}{spent}", totals.bound());
        cards.push(("spent".to_owned(), spent, more.join("; ")));
    }
    if costs_besides_spent(totals) {
        let sums: Vec<String> = totals.cost_total.iter().map(|m| m.to_string()).collect();
        let imported = match totals.imported {
            0 => None,
            runs => Some(format!(
                "with {}",
                format::counted(runs, "imported run", "imported runs")
            )),
        };
        let more = imported.into_iter().chain(totals.bound_reason());
        cards.push((
            "cost of the results".to_owned(),
            format!("{}{}", totals.bound(), sums.join(" + ")),
            more.collect::<Vec<String>>().join("; "),
        ));
    }
    cards
}

pub(super) fn scenarios(page: &mut Page, analysis: &Analysis) {
    page.open("scenarios", "Scenarios");
    let table = scenario_table(analysis, true);
    let columns = table.columns.iter().map(|column| {
        let name = escape(&column.header_with_unit());
        let button = format!("<button type=\"button\">{name}</button>");
        (button, column.is_number())
    });
    let caption = "Mean of each scenario over its successful runs";
    let mut out = table_head("data sortable", caption, columns);
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
    page.html(&(out + TABLE_END));
    page.note(&format!(
        "Means over successful runs; ± is half the {} interval (Student). Click a heading to sort.{}",
        format::percent(analysis.study.confidence),
        if analysis.scenarios.iter().any(|s| s.warned_runs > 0) { " “!” marks scenarios with warnings." } else { "" }
    ));
    page.close();
}

/// Of a study that did not run everything that it could.
pub(super) fn stopping(page: &mut Page, analysis: &Analysis) {
    if !analysis.searched.is_empty() {
        page.callout("Searched, not measured in full", &analysis.searched);
    }
    if let Some(found) = &analysis.stopping {
        page.open("repetitions", "Repetitions");
        page.list("plain", found.sentences.iter().map(String::as_str));
        page.table(
            "Repetitions of each scenario",
            &stopping_table(analysis, found),
        );
        page.close();
    }
}

fn scenario_cell(analysis: &Analysis, scenario: &ScenarioResult, cell: &Cell) -> String {
    let mut marks = String::new();
    let mut mark = |ranking: Option<&Ranking>, class: &str, word: &str| {
        // Where nothing can be told apart, a mark on everything would tell nothing.
        let is_told = |r: &&Ranking| r.verdict.is_different() || !r.behind.is_empty();
        let Some(ranking) = ranking.filter(|r| is_told(r) && r.is_first(scenario.number)) else {
            return;
        };
        let word = match ranking.first.len() {
            1 => word.to_owned(),
            _ => format!("among the {word}"),
        };
        let _ = write!(marks, " <span class=\"badge {class}\">{word}</span>");
    };
    for task in &analysis.best.tasks {
        mark(task.time.as_ref(), "fast", "fastest");
        mark(task.cost.as_ref(), "cheap", "cheapest");
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
    let class = number_class(column.is_number());
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
    let columns = ["scenario", "levels", "outcome", "runs", "detail"];
    let mut out = table_head(
        "data",
        "Runs that did not succeed",
        columns.map(|name| (name, false)),
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
    page.html(&(out + TABLE_END));
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
