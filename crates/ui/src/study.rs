//! One study: what goes on, what was found, what it would be under other prices.

use workbench::{StudyState, StudySummary, Wish};

use crate::ask::Ask;
use crate::decision::{self, Wishes};
use crate::html::Html;
use crate::index::{address, state_words};
use crate::page::{self, Page};
use crate::pages::Answer;
use crate::shared::{Entry, Shared, lock};
use crate::stream::Part;

/// More are in the report and in the exports.
const MOST_RUNS: usize = 1000;

pub(crate) fn page(shared: &Shared, entry: &Entry, query: &Ask) -> Answer {
    let summary = &entry.summary;
    let address = address(shared, entry);
    let mut body = Html::new();
    body.raw("<h1>").text(&summary.name).raw("</h1>\n");
    if let Some(objective) = &summary.objective {
        body.raw("<p class=\"objective\">")
            .text(objective)
            .raw("</p>\n");
    }
    body.raw("<p class=\"note\">")
        .text(place_words(summary))
        .raw("</p>\n");
    body.raw("<section aria-label=\"Control\" id=\"control\">\n");
    body.add(&control(shared, entry)).raw("</section>\n");
    body.raw("<section aria-label=\"Now\" id=\"now\">\n")
        .add(&now(shared, entry));
    body.raw("</section>\n");
    if let StudyState::Unreadable { why } = &summary.state {
        body.add(&page::words_as_typed(why));
    } else {
        results(&mut body, &address, entry, query);
    }
    let page = Page {
        title: summary.name.clone(),
        live: Some(format!("{address}/live")),
        body,
    };
    page.answer(shared)
}

pub(crate) fn parts(shared: &Shared, id: &str) -> Vec<Part> {
    let Some(entry) = shared.study(id) else {
        return Vec::new();
    };
    let part = |id, html| Part { id, html };
    vec![
        part("control", control(shared, &entry)),
        part("now", now(shared, &entry)),
        // The script asks for the decision again when this has changed.
        part("done", done(shared, &entry)),
    ]
}

pub(crate) fn start(shared: &Shared, entry: &Entry) -> Answer {
    match shared.start(entry) {
        Ok(()) => Answer::GoTo(address(shared, entry)),
        Err(error) => page::problem(shared, &error),
    }
}

pub(crate) fn end(shared: &Shared, entry: &Entry, wish: Wish) -> Answer {
    match shared.ask_to_end(entry, wish) {
        Ok(()) => Answer::GoTo(address(shared, entry)),
        Err(error) => page::problem(shared, &error),
    }
}

fn place_words(summary: &StudySummary) -> String {
    let results = summary.results.display();
    match (&summary.file, &summary.scale) {
        (Some(file), None) => format!("{} · results in {results}", file.display()),
        (Some(file), Some(scale)) => {
            format!("{} at scale {scale} · results in {results}", file.display())
        }
        (None, _) => format!("results in {results}; the study file is not in this folder"),
    }
}

/// Its state, and what can be asked of it.
fn control(shared: &Shared, entry: &Entry) -> Html {
    let now = shared.now(entry);
    let state = &now.state;
    let address = address(shared, entry);
    let is_running = matches!(state, StudyState::Running { .. });
    let is_starting = !is_running && shared.is_starting(&entry.id);
    let mut html = Html::new();
    html.raw("<div class=\"control\">");
    html.add(&state_words(&now));
    if is_starting {
        html.raw(" <span class=\"half\">starting: checking the study</span>");
    }
    let mut button = |what: &'static str, words: &str, about: &'static str| {
        html.raw("<form method=\"post\"")
            .attribute("action", format!("{address}/{what}"));
        html.raw("><button")
            .attribute("title", about)
            .raw(">")
            .text(words);
        html.raw("</button></form>");
    };
    if is_running && now.asked.is_none() {
        button(
            "pause",
            "Pause",
            "End after the runs in progress; Go on continues from there",
        );
    }
    if is_running && now.asked != Some(Wish::Stop) {
        button(
            "stop",
            "Stop",
            "End the runs in progress now; they are made again by Go on",
        );
    } else if entry.summary.file.is_some() && !is_starting {
        let words = match state {
            StudyState::New => Some("Start"),
            StudyState::Unfinished => Some("Go on"),
            _ => None,
        };
        if let Some(words) = words {
            button("start", words, "Carry out the runs that are missing");
        }
    }
    if entry.summary.file.is_some() {
        html.link(format!("{address}/edit"), "Edit the plan");
    }
    html.raw("</div>\n");
    match (is_running, now.asked) {
        (true, Some(Wish::Pause)) => {
            html.paragraph(
                "note",
                "The runs in progress end by themselves; no other begins.",
            );
        }
        (true, Some(Wish::Stop)) => {
            html.paragraph("note", "The runs in progress are being ended.");
        }
        _ => {}
    }
    if !is_running
        && let Some(ended) = shared.ended(&entry.id)
        && ended.code != Some(0)
        && !ended.is_interrupted()
    {
        html.paragraph("note", "What its last start from here said:");
        html.add(&page::words_as_typed(&ended.said));
    }
    html
}

fn now(shared: &Shared, entry: &Entry) -> Html {
    let is_running = matches!(shared.state(entry), StudyState::Running { .. });
    let live = shared.live(entry);
    let mut live = lock(&live);
    live.look();
    live.html(&address(shared, entry), is_running)
}

fn done(shared: &Shared, entry: &Entry) -> Html {
    let live = shared.live(entry);
    let done = lock(&live).done();
    let mut html = Html::new();
    html.text(format!("{done:?} {}", shared.now(entry).words()));
    html
}

/// What runs have shown so far, with the form to ask for it under other prices.
fn results(body: &mut Html, address: &str, entry: &Entry, query: &Ask) {
    body.raw("<section aria-labelledby=\"decision-title\">\n");
    body.raw("<h2 id=\"decision-title\">Decision</h2>\n");
    body.raw("<form class=\"asks\" data-answers method=\"get\"");
    body.attribute("action", address)
        .attribute("data-part", format!("{address}/decision"));
    body.raw(" data-follows=\"done\">\n");
    for wish in &Wishes::FIELDS {
        body.raw("<label>")
            .text(wish.label)
            .raw(" <input autocomplete=\"off\"");
        body.attribute("name", wish.name)
            .attribute("placeholder", wish.example);
        body.attribute("value", query.get(wish.name).unwrap_or_default())
            .raw("></label>\n");
    }
    body.raw("<button>Show</button>\n</form>\n<div id=\"done\" hidden></div>\n");
    body.raw("<div id=\"decision\" aria-live=\"polite\">\n");
    body.add(&decision::html(address, entry, query, MOST_RUNS))
        .raw("</div>\n</section>\n");
}
