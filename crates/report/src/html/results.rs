//! Results: the summary, the key numbers, the scenario table, unsuccessful runs.

use std::fmt::Write;

use analyse::{Analysis, Ranking, ScenarioResult, Topic, format};
use messages::{message, word};
use model::run::metric;

use super::page::{Page, TABLE_END, escape, number_class, prose, table_head};
use crate::tables::{money, stopping_table};
use crate::view::{Cell, Column, costs_besides_spent, scenario_table, status_words};

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
        page.callout(word!("results-reduced"), [scale.sentence.as_str()]);
    }
    if let Some(repriced) = &study.repriced {
        page.callout(word!("results-what-if"), [repriced.as_str()]);
    }
}

/// What the study found besides the answer, and what a reader must know of it.
pub(super) fn found(page: &mut Page, analysis: &Analysis) {
    page.open("summary", word!("section-summary"));
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
        page.subtitle(word!("results-next"));
        page.list("advice", &analysis.advice);
    }
    notes(page, analysis, is_said);
    let scenarios = analysis.scenarios.iter();
    let mut times = scenarios.filter_map(|s| analysis.time_of(s));
    if times.any(|mean| mean.interval.is_some()) {
        page.note(&message!(
            "results-intervals",
            confidence = format::percent(analysis.study.confidence)
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
        page.callout(word!("results-read-first"), notes);
    }
    if !analysis.warnings.is_empty() {
        page.html(&format!(
            "<p class=\"note\"><a href=\"#warnings\">{}</a></p>",
            word!("results-all-warnings")
        ));
    }
}

pub(super) fn key_numbers(page: &mut Page, analysis: &Analysis) {
    let totals = &analysis.totals;
    let (count, runs) = (format::count, totals.runs.total());
    let mut cards: Vec<(String, String, String)> = Vec::new();
    let of = match analysis.study.import_only {
        true => message!("card-of-imported", runs),
        false if runs > totals.planned => {
            message!("card-of-and-planned", runs, planned = totals.planned)
        }
        false => message!("card-of-planned", planned = totals.planned),
    };
    cards.push((
        word!("card-successful").to_owned(),
        count(totals.runs.ok),
        of,
    ));
    let span = totals.span_seconds.map(format::duration);
    let span = span.map(|span| message!("card-elapsed", span));
    let seconds = format::duration(totals.seconds);
    let all = word!("card-all-runs").to_owned();
    cards.push((all, seconds, span.unwrap_or_default()));
    cards.extend(money_cards(analysis));
    // With several tasks there is no fastest of all: a small network is not a better large one.
    let only = match analysis.best.tasks.as_slice() {
        [only] => Some(only),
        _ => None,
    };
    let first = |ranking: Option<&Ranking>| {
        let settled = ranking.filter(|ranking| ranking.verdict.is_different())?;
        analysis.choice(*settled.first.first()?)
    };
    if let Some(fastest) = first(only.and_then(|task| task.time.as_ref())) {
        let time = analysis.time_of(fastest);
        let time = time.map(|e| format::duration(e.value)).unwrap_or_default();
        let name = message!("card-fastest", label = fastest.label);
        cards.push((name, time, fastest.phrase()));
    }
    let cheapest = first(only.and_then(|task| task.cost.as_ref()));
    if let Some((cheapest, cost)) = cheapest.and_then(|s| Some((s, s.cost.as_ref()?))) {
        let answer = cheapest.mean(metric::COST_PER_INFERENCE);
        let (value, of) = match answer {
            Some(each) => {
                let million = money(1e6 * each.value, &analysis.study.currency);
                (million, format!("{}: ", word!("card-per-million")))
            }
            None => (format::money(&cost.mean), String::new()),
        };
        cards.push((
            message!("card-cheapest", label = cheapest.label),
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
        let budget = analysis.study.budget;
        let budget = budget.map(|b| message!("card-budget", budget = format::money(&b)));
        let again = totals
            .spent_again
            .map(|again| message!("card-again", again = format::money(&again)));
        let more = budget.into_iter().chain(again);
        let more: Vec<String> = more.chain(totals.bound_reason()).collect();
        let spent = format!("{}{}", totals.bound(), format::money(&spent));
        cards.push((word!("card-spent").to_owned(), spent, more.join("; ")));
    }
    if costs_besides_spent(totals) {
        let sums: Vec<String> = totals.cost_total.iter().map(format::money).collect();
        let imported = match totals.imported {
            0 => None,
            runs => Some(message!("card-with-imported", runs)),
        };
        let more = imported.into_iter().chain(totals.bound_reason());
        cards.push((
            word!("card-cost").to_owned(),
            format!("{}{}", totals.bound(), sums.join(" + ")),
            more.collect::<Vec<String>>().join("; "),
        ));
    }
    cards
}

pub(super) fn scenarios(page: &mut Page, analysis: &Analysis) {
    page.open("scenarios", word!("section-scenarios"));
    let table = scenario_table(analysis, true);
    let columns = table.columns.iter().map(|column| {
        let name = escape(&column.header_with_unit());
        let button = format!("<button type=\"button\">{name}</button>");
        (button, column.is_number())
    });
    let caption = word!("scenarios-caption");
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
    page.note(&message!(
        "scenarios-note",
        confidence = format::percent(analysis.study.confidence),
        warned = analysis.scenarios.iter().any(|s| s.warned_runs > 0)
    ));
    page.close();
}

/// Of a study that did not run everything that it could.
pub(super) fn stopping(page: &mut Page, analysis: &Analysis) {
    if !analysis.searched.is_empty() {
        page.callout(word!("results-searched"), &analysis.searched);
    }
    if let Some(found) = &analysis.stopping {
        page.open("repetitions", word!("section-repetitions"));
        page.list("plain", found.sentences.iter().map(String::as_str));
        page.table(
            word!("repetitions-caption"),
            &stopping_table(analysis, found),
        );
        page.close();
    }
}

fn scenario_cell(analysis: &Analysis, scenario: &ScenarioResult, cell: &Cell) -> String {
    let mut marks = String::new();
    let number = analysis.best.number_of(scenario.number);
    let mut mark = |ranking: Option<&Ranking>, class: &str, word: fn(usize) -> String| {
        // Where nothing can be told apart, a mark on everything would tell nothing.
        let is_told = |r: &&Ranking| r.verdict.is_different() || !r.behind.is_empty();
        let Some(ranking) = ranking.filter(|r| is_told(r) && r.is_first(number)) else {
            return;
        };
        let word = word(ranking.first.len());
        let _ = write!(marks, " <span class=\"badge {class}\">{word}</span>");
    };
    for task in &analysis.best.tasks {
        mark(task.time.as_ref(), "fast", |first| {
            message!("badge-fastest", first)
        });
        mark(task.cost.as_ref(), "cheap", |first| {
            message!("badge-cheapest", first)
        });
    }
    if scenario.warned_runs > 0 {
        let warned = message!("badge-warned", runs = scenario.warned_runs);
        let _ = write!(
            marks,
            " <span class=\"badge warn\" title=\"{warned}\">!</span>"
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
    page.open("outcomes", word!("section-outcomes"));
    page.paragraph(word!("outcomes-note"));
    let columns = [
        word!("head-scenario"),
        word!("head-levels"),
        word!("head-outcome"),
        word!("head-runs"),
        word!("head-detail"),
    ];
    let mut out = table_head(
        "data",
        word!("outcomes-caption"),
        columns.map(|name| (name, false)),
    );
    for group in &analysis.outcomes {
        let runs: Vec<String> = group.runs.iter().map(|r| r.to_string()).collect();
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">C{}</th><td>{}</td><td>{}</td><td>{}</td><td class=\"log\">{}</td></tr>",
            group.scenario,
            escape(&group.phrase),
            escape(status_words(group.status)),
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
    page.open("warnings", word!("section-warnings"));
    for group in &analysis.warnings {
        let count = message!("counted-runs", runs = group.runs.len());
        let mut out = format!(
            "<details>\n<summary>{}: {count}</summary>\n<ul>\n",
            escape(messages::named("warning-kind", &group.kind).unwrap_or(&group.kind))
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
                "<li>{}</li>",
                message!("warned-more", more = group.runs.len() - MOST_WARNINGS)
            );
        }
        page.html(&(out + "</ul>\n</details>"));
    }
    page.close();
}

/// Of one kind; the export has them all.
const MOST_WARNINGS: usize = 100;
