//! The answer, before everything else: what to choose for each task, how sure that is and what it
//! saves, next to time against cost; and what may change the decision.

use std::fmt::Write;

use analyse::{Analysis, LevelFacts, Pick, Recommendation, TaskAnswer, Verdict, format};
use messages::{message, word};
use model::run::metric;

use super::choice;
use super::page::{Page, escape, prose};
use crate::tables::{Table, TableCell, Tone, money};

/// More recommendations than this are only in the table of tasks.
pub const MOST_SHOWN: usize = 4;
/// More candidates are counted, not named.
const MOST_NAMES: usize = 4;
/// More dominated scenarios than this are only counted.
const MOST_NAMED: usize = 12;

pub(super) fn answer(page: &mut Page, analysis: &Analysis) {
    page.open("answer", word!("section-answer"));
    let figure = choice::figure(analysis);
    let class = match figure {
        Some(_) => "answer",
        None => "answer alone",
    };
    page.html(&format!("<div class=\"{class}\">\n<div>"));
    let found = &analysis.answer;
    if let Some(nothing) = &found.nothing {
        page.html(&format!(
            "<div class=\"pick unsure\"><p class=\"what\">{}</p></div>",
            prose(nothing)
        ));
    }
    for recommended in found.recommendations.iter().take(MOST_SHOWN) {
        page.html(&recommendation(recommended));
    }
    if found.recommendations.len() > MOST_SHOWN {
        page.note(word!("answer-others-below"));
    }
    if !found.cautions.is_empty() {
        page.callout(word!("answer-cautions"), &found.cautions);
    }
    page.html("</div>");
    if let Some(figure) = &figure {
        page.figure(figure);
    }
    page.html("</div>");
    page.paragraph(&crate::markdown::totals(analysis));
    tasks(page, analysis);
    others(page, analysis);
    page.close();
}

/// What to choose, how sure that is, and what it saves.
pub fn recommendation(recommended: &Recommendation) -> String {
    let choices = &recommended.choices;
    let class = match recommended.verdict {
        Verdict::Different | Verdict::PracticallyEqual => "sure",
        _ => "unsure",
    };
    let mut lines = vec![format!("{}.", recommended.how_sure)];
    let mut what = names(choices, &or());
    if choices.len() > MOST_NAMES && class == "unsure" {
        // So many are no recommendation.
        let then = format!(", {} ", word!("answer-then"));
        lines.insert(
            0,
            message!("answer-in-order", names = names(choices, &then)),
        );
        what = message!("answer-candidates", count = choices.len());
    }
    lines.extend(recommended.saves.iter().cloned());
    let mut out = format!(
        "<div class=\"pick {class}\">\n<p class=\"what\"><strong>{}</strong> <span>{}</span></p>\n<ul>\n",
        escape(&what),
        escape(&recommended.what)
    );
    for line in lines {
        let _ = writeln!(out, "<li>{}</li>", prose(&line));
    }
    out + "</ul>\n</div>"
}

fn names(choices: &[String], joint: &str) -> String {
    let Some(more @ 2..) = choices.len().checked_sub(MOST_NAMES) else {
        return choices.join(joint);
    };
    let others = message!("answer-and-others", more);
    format!("{}{joint}{others}", choices[..MOST_NAMES].join(joint))
}

fn or() -> String {
    format!(" {} ", word!("answer-or"))
}

/// A row a task and goal, where there are several tasks.
fn tasks(page: &mut Page, analysis: &Analysis) {
    let found = &analysis.answer;
    if found.tasks.len() < 2 {
        return;
    }
    let serves = analysis.metric(metric::COST_PER_INFERENCE).is_some();
    let mut table = Table::new(
        &[
            word!("head-task"),
            word!("head-goal"),
            word!("head-choose"),
            word!("head-how-sure"),
        ],
        &[
            word!("head-time"),
            match serves {
                true => word!("head-cost-per-million"),
                false => word!("head-cost"),
            },
            word!("head-saves-usual"),
            word!("head-saves-worst"),
        ],
    );
    for task in &found.tasks {
        table
            .rows
            .extend(task.picks.iter().map(|pick| row(analysis, task, pick)));
        if task.picks.is_empty() {
            let mut row = vec![TableCell::new(LevelFacts::phrase_of(&task.task))];
            row.resize(table.headers.len(), TableCell::none());
            table.rows.push(row);
        }
    }
    let table = table.cut();
    let open = if found.recommendations.len() > MOST_SHOWN {
        " open"
    } else {
        ""
    };
    page.html(&format!(
        "<details{open}>\n<summary>{}</summary>",
        message!("answer-each-task", tasks = found.tasks.len())
    ));
    page.table(word!("answer-tasks-caption"), &table);
    page.note(word!("answer-tasks-note"));
    page.html("</details>");
}

fn row(analysis: &Analysis, task: &TaskAnswer, pick: &Pick) -> Vec<TableCell> {
    let best = pick.scenarios.first().and_then(|n| analysis.choice(*n));
    let label = best.map_or(String::new(), |best| best.label.clone());
    let time = best.and_then(|best| analysis.time_of(best));
    // The bill of a run that serves depends on how long its load was; a response's does not.
    let cost = best.and_then(|best| match best.mean(metric::COST_PER_INFERENCE) {
        Some(each) => Some(money(1e6 * each.value, &analysis.study.currency)),
        None => Some(format::money(&best.cost.as_ref()?.mean)),
    });
    let saving = |against| {
        let mut own = pick.savings.iter().filter(|s| s.against == against);
        own.next().map_or_else(TableCell::none, |saving| {
            TableCell::new(format::percent(saving.part)).small(format::interval(
                saving.low.max(0.0),
                saving.high.max(0.0),
                format::percent,
            ))
        })
    };
    let sure = TableCell::new(pick.verdict.words());
    vec![
        TableCell::new(LevelFacts::phrase_of(&task.task)),
        TableCell::new(pick.goal.words()),
        TableCell::new(names(&pick.choices, &or())).small(label),
        match pick.verdict {
            Verdict::Different | Verdict::PracticallyEqual => sure,
            _ => sure.tone(Tone::Ended),
        },
        TableCell::seconds(time),
        TableCell::or_none(cost),
        saving(analyse::Against::Usual),
        saving(analyse::Against::Worst),
    ]
}

/// The ranking in sentences, and who is beaten by whom.
fn others(page: &mut Page, analysis: &Analysis) {
    let best = &analysis.best;
    let dominated = best.tasks.iter().flat_map(|task| &task.dominated);
    let dominated: Vec<&String> = dominated.map(|one| &one.sentence).collect();
    // Where nothing is recommended, the sentences are among the findings.
    let ranking = match analysis.answer.recommendations.is_empty() {
        true => &[][..],
        false => best.sentences.as_slice(),
    };
    if ranking.is_empty() && dominated.is_empty() {
        return;
    }
    page.html(&format!(
        "<details>\n<summary>{}</summary>",
        word!("answer-ranking")
    ));
    page.list("findings", ranking);
    let new = dominated.iter().filter(|one| !ranking.contains(one));
    page.list("findings", new.take(MOST_NAMED));
    if let Some(more @ 1..) = dominated.len().checked_sub(MOST_NAMED) {
        page.note(&message!("answer-more-dominated", more));
    }
    page.html("</details>");
}
