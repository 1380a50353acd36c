//! The plan while it is edited: how many runs, how long, how much.

use report::format;
use serde_json::json;
use workbench::{Draft, DraftPlan};

use crate::ask::Ask;
use crate::html::Html;
use crate::index::address;
use crate::page::{self, Page};
use crate::pages::Answer;
use crate::shared::{Entry, Shared};
use crate::stream::{Part, as_json};

/// Before the name of a factor, in the form.
const FACTOR: &str = "factor.";

/// As many are listed.
const MOST_LISTED: usize = 200;

pub(crate) fn page(shared: &Shared, entry: &Entry) -> Answer {
    let Some(file) = &entry.summary.file else {
        return page::nothing_here(shared);
    };
    let text = match workbench::study_file_text(file) {
        Ok(text) => text,
        Err(error) => return page::problem(shared, &error),
    };
    let address = address(shared, entry);
    let draft = draft_of(entry, &text);
    let mut body = Html::new();
    body.raw("<h1>Plan of ")
        .link(&address, &entry.summary.name)
        .raw("</h1>\n");
    body.raw("<p class=\"note\">")
        .text(file.display())
        .raw("</p>\n");
    body.raw("<form class=\"editor\" data-answers method=\"post\"");
    body.attribute("action", format!("{address}/save"));
    body.attribute("data-part", format!("{address}/draft"))
        .raw(">\n");
    body.raw("<fieldset class=\"asks\">\n<legend>Factors</legend>\n");
    for factor in &draft.factors {
        body.raw("<label>")
            .text(&factor.name)
            .raw(" <input autocomplete=\"off\" spellcheck=\"false\"");
        body.attribute("name", format!("{FACTOR}{}", factor.name));
        body.attribute("value", &factor.levels).raw("></label>\n");
    }
    body.raw("</fieldset>\n<div id=\"draft\" aria-live=\"polite\">\n")
        .add(&outcome(&draft));
    body.raw("</div>\n<details open>\n<summary>The study file</summary>\n");
    body.raw("<label class=\"quiet\" for=\"text\">Text of the study file</label>\n");
    // A line feed behind the opening tag is not part of the text.
    body.raw("<textarea id=\"text\" name=\"text\" spellcheck=\"false\" rows=\"24\">\n")
        .text(&text);
    body.raw("</textarea>\n</details>\n<input type=\"hidden\" name=\"before\"");
    body.attribute("value", &text)
        .raw(">\n<button>Save the study file</button>\n</form>\n");
    let page = Page {
        title: format!("Plan of {}", entry.summary.name),
        live: None,
        body,
    };
    page.answer(shared)
}

/// Whatever was changed last: `changed` names the field.
pub(crate) fn draft(entry: &Entry, form: &Ask) -> Answer {
    let typed = unix_lines(form.as_typed("text").unwrap_or_default());
    let is_factor = form
        .get("changed")
        .is_some_and(|name| name.starts_with(FACTOR));
    let text = match is_factor {
        true => plan::with_typed_levels(&typed, &form.with_prefix(FACTOR)),
        false => typed,
    };
    let draft = draft_of(entry, &text);
    let mut values = serde_json::Map::new();
    for factor in &draft.factors {
        values.insert(format!("{FACTOR}{}", factor.name), json!(factor.levels));
    }
    let html = outcome(&draft);
    let mut answer = as_json([Part { id: "draft", html }]);
    values.insert("text".to_owned(), json!(text));
    answer["values"] = values.into();
    Answer::Json(answer)
}

pub(crate) fn save(shared: &Shared, entry: &Entry, form: &Ask) -> Answer {
    let Some(file) = &entry.summary.file else {
        return page::nothing_here(shared);
    };
    let field = |name| unix_lines(form.as_typed(name).unwrap_or_default());
    // Without the script, factors are applied here.
    let text = match form.get("changed") {
        Some(_) => field("text"),
        None => plan::with_typed_levels(&field("text"), &form.with_prefix(FACTOR)),
    };
    match workbench::save_draft(file, &field("before"), &text, &|_| {}) {
        Ok(()) => {
            shared.forget_list();
            // A study of another name has another address.
            let again = shared.studies();
            let known = again.iter().any(|known| known.id == entry.id);
            Answer::GoTo(match known {
                true => address(shared, entry),
                false => format!("{}/", shared.root),
            })
        }
        Err(error) => page::problem(shared, &error),
    }
}

/// Browsers send lines of a text with carriage returns.
fn unix_lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

fn draft_of(entry: &Entry, text: &str) -> Draft {
    let path = entry
        .summary
        .file
        .as_deref()
        .unwrap_or(&entry.summary.results);
    workbench::draft(path, text, None, &|_| {})
}

fn outcome(draft: &Draft) -> Html {
    match &draft.outcome {
        Ok(plan) => planned(plan),
        Err(error) => page::error_words(error),
    }
}

fn planned(draft: &DraftPlan) -> Html {
    let mut html = Html::new();
    let scenarios = draft.plan.scenarios.len();
    html.raw("<dl class=\"numbers\">\n");
    let mut fact = |name: &'static str, value: String, more: String| {
        html.raw("<div><dt>").raw(name).raw("</dt><dd>").text(value);
        html.raw(" <span class=\"half\">")
            .text(more)
            .raw("</span></dd></div>\n");
    };
    fact("scenarios", format::count(scenarios), String::new());
    let repetitions = format!("{} each", draft.study.repetitions);
    fact("runs", format::count(draft.plan.runs.len()), repetitions);
    let kept = format!("{} measured already", format::count(draft.kept));
    fact("to be made", format::count(draft.due.len()), kept);
    match &draft.forecast {
        Some(forecast) if forecast.unknown_runs > 0 => {
            let of = format!(
                "for {} of {} runs; nothing like the others was measured yet",
                format::count(draft.due.len() - forecast.unknown_runs),
                format::count(draft.due.len())
            );
            let time = format::duration(forecast.seconds.low);
            fact("time", format!("at least {time}"), of);
            if let Some(money) = &forecast.money {
                let more = "for the same runs".to_owned();
                fact("cost", format!("at least {}", money.low), more);
            }
        }
        Some(forecast) => {
            fact(
                "time",
                format::duration(forecast.seconds.value),
                format::interval(
                    forecast.seconds.low,
                    forecast.seconds.high,
                    format::duration,
                ),
            );
            if let Some(money) = &forecast.money {
                let interval = format!("[{}, {}]", money.low, money.high);
                fact("cost", money.value.to_string(), interval);
            }
        }
        None => fact(
            "time and cost",
            "unknown".to_owned(),
            "nothing like it was measured yet".to_owned(),
        ),
    }
    if let Some(budget) = draft.budget {
        fact("budget", budget.to_string(), String::new());
    }
    html.raw("</dl>\n");
    if let Some(forecast) = &draft.forecast {
        html.paragraph(
            "note",
            &format!(
                "Forecast {}{}.",
                forecast.method,
                workbench::without(forecast)
            ),
        );
    }
    if draft.dropped > 0 {
        let runs = format::counted(
            draft.dropped,
            "run that was measured is",
            "runs that were measured are",
        );
        html.paragraph(
            "callout",
            &format!("{runs} not part of this plan: set aside by the next run, not deleted."),
        );
    }
    listed(&mut html, draft);
    html
}

fn listed(html: &mut Html, draft: &DraftPlan) {
    html.raw("<details>\n<summary>Scenarios</summary>\n");
    html.table(
        "Scenarios of this plan",
        &[("scenario", false), ("levels", false)],
    );
    for scenario in draft.plan.scenarios.iter().take(MOST_LISTED) {
        html.raw("<tr><th scope=\"row\">")
            .text(scenario.label())
            .raw("</th>");
        html.cell(scenario.levels_label()).raw("</tr>\n");
    }
    html.end_table();
    if let Some(more) = draft
        .plan
        .scenarios
        .len()
        .checked_sub(MOST_LISTED)
        .filter(|more| *more > 0)
    {
        html.paragraph("note", &format!("and {} more", format::count(more)));
    }
    html.raw("</details>\n");
}
