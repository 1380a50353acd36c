//! All studies of the folder, and the machines that cost money now.

use infra::{Infra, Rental};
use model::{Money, Timestamp};
use report::format;
use workbench::{StudyState, StudySummary};

use crate::html::Html;
use crate::page::{Page, ago};
use crate::pages::Answer;
use crate::shared::{Entry, Shared, StudyNow};
use crate::stream::Part;

pub(crate) fn page(shared: &Shared) -> Answer {
    let mut body = Html::new();
    body.raw("<h1>Studies</h1>\n<p class=\"objective\">")
        .text(shared.folder.display());
    body.raw("</p>\n<section aria-label=\"Studies\" id=\"studies\">\n")
        .add(&studies(shared));
    body.raw("</section>\n<section id=\"machines\">\n")
        .add(&machines())
        .raw("</section>\n");
    let page = Page {
        title: "Studies".to_owned(),
        live: Some(format!("{}/live", shared.root)),
        body,
    };
    page.answer(shared)
}

pub(crate) fn parts(shared: &Shared) -> Vec<Part> {
    let part = |id, html| Part { id, html };
    vec![
        part("studies", studies(shared)),
        part("machines", machines()),
    ]
}

fn studies(shared: &Shared) -> Html {
    let mut html = Html::new();
    let all = shared.studies();
    if all.is_empty() {
        html.prose("There is no study file here yet: `bancada init` writes one.");
        return html;
    }
    html.table_of(
        " studies",
        "Studies of this folder",
        &[
            ("study", false),
            ("state", false),
            ("runs", true),
            ("last run", false),
            ("cost", true),
            ("", false),
        ],
    );
    for entry in all.iter() {
        row(&mut html, shared, entry);
    }
    html.end_table();
    html
}

fn row(html: &mut Html, shared: &Shared, entry: &Entry) {
    let StudySummary {
        name,
        objective,
        runs,
        cost,
        budget,
        last_activity,
        ..
    } = &entry.summary;
    let now = shared.now(entry);
    let address = address(shared, entry);
    html.raw("<tr><th scope=\"row\">").link(&address, name);
    if let Some(objective) = objective {
        html.raw("<br><span class=\"half\">")
            .text(objective)
            .raw("</span>");
    }
    if let StudyState::Unreadable { why } = &now.state {
        let first = why.lines().next().unwrap_or_default();
        html.raw("<br><span class=\"half\">")
            .text(first)
            .raw("</span>");
    }
    html.raw("</th><td>").add(&state_words(&now)).raw("</td>");
    let failed = match runs.failed {
        0 => String::new(),
        failed => format!(", {failed} failed"),
    };
    html.number(format!("{} of {}{failed}", runs.done, runs.planned));
    html.cell(ago(*last_activity));
    html.number(match (cost, budget) {
        (Some(cost), Some(budget)) => format!("{cost} of {budget}"),
        (Some(cost), None) => cost.to_string(),
        (None, _) => "–".to_owned(),
    });
    html.raw("<td>");
    if entry.summary.file.is_some() {
        html.raw("<a").attribute("href", format!("{address}/edit"));
        html.attribute("aria-label", format!("Edit {name}"))
            .raw(">Edit</a>");
    }
    html.raw("</td></tr>\n");
}

pub(crate) fn address(shared: &Shared, entry: &Entry) -> String {
    format!("{}/s/{}", shared.root, entry.id)
}

pub(crate) fn state_words(now: &StudyNow) -> Html {
    let mut html = Html::new();
    html.raw("<span class=\"state\"")
        .attribute("data-state", now.state.word())
        .raw(">");
    html.text(now.words()).raw("</span>");
    html
}

/// Of all folders: whoever pays wants to know.
fn machines() -> Html {
    let mut html = Html::new();
    html.raw("<h2>Rented machines that are on</h2>\n");
    let open = Infra::find().and_then(|infra| infra.list());
    let open = match open {
        Ok(open) => open,
        Err(error) => {
            html.paragraph("note", &error.to_string());
            return html;
        }
    };
    if open.is_empty() {
        html.paragraph("note", "None that this machine has rented.");
        return html;
    }
    html.table(
        "Rented machines that are on",
        &[
            ("machine", false),
            ("study", false),
            ("environment", false),
            ("for", true),
            ("per hour", true),
            ("cost so far", true),
            ("ends itself", false),
        ],
    );
    let now = Timestamp::now();
    open.iter()
        .for_each(|rental| machine(&mut html, rental, now));
    html.end_table();
    html.paragraph("note", "`bancada infra destroy --all` ends them.");
    html
}

fn machine(html: &mut Html, rental: &Rental, now: Timestamp) {
    let money = |money: Option<Money>| money.map_or("–".to_owned(), |money| money.to_string());
    let seconds = now.duration_since(rental.since).as_secs().max(0);
    html.raw("<tr><th scope=\"row\">")
        .text(&rental.machine)
        .raw("</th>");
    html.cell(&rental.wanted.study)
        .cell(&rental.wanted.environment);
    html.number(format::duration((seconds / 60 * 60) as f64));
    html.number(money(rental.wanted.per_hour));
    html.number(money(rental.cost_so_far(now)));
    html.cell(rental.ends_itself().strftime("%Y-%m-%d %H:%M UTC"))
        .raw("</tr>\n");
}
