//! From what is asked to the page that answers it.

use hyper::StatusCode;

use crate::ask::Ask;
use crate::page;
use crate::route::{OfStudy, Route};
use crate::shared::Shared;
use crate::{compare, decision, editor, index, run, study};

pub(crate) enum Answer {
    Page {
        status: StatusCode,
        html: String,
    },
    /// Runs its own script, apart from this site.
    Report(String),
    Json(serde_json::Value),
    File {
        kind: &'static str,
        text: String,
    },
    GoTo(String),
}

/// May block.
pub(crate) fn answer(shared: &Shared, route: &Route, query: &Ask, form: &Ask) -> Answer {
    match route {
        Route::Index | Route::IndexLive => index::page(shared),
        Route::Script => Answer::File {
            kind: "text/javascript; charset=utf-8",
            text: include_str!("ui.js").to_owned(),
        },
        Route::Style => Answer::File {
            kind: "text/css; charset=utf-8",
            text: report::page_style() + include_str!("ui.css"),
        },
        Route::Compare => compare::page(shared, query),
        Route::Study { id, what } => match shared.study(id) {
            None => page::nothing_here(shared),
            Some(entry) => match *what {
                OfStudy::Page | OfStudy::Live => study::page(shared, &entry, query),
                OfStudy::Decision => decision::part(shared, &entry, query),
                OfStudy::Report => decision::report(shared, &entry, query),
                OfStudy::Editor => editor::page(shared, &entry),
                OfStudy::Draft => editor::draft(&entry, form),
                OfStudy::Save => editor::save(shared, &entry, form),
                OfStudy::Start => study::start(shared, &entry),
                OfStudy::Pause => study::end(shared, &entry, workbench::Wish::Pause),
                OfStudy::Stop => study::end(shared, &entry, workbench::Wish::Stop),
                OfStudy::Run(run) | OfStudy::RunLive(run) => run::page(shared, &entry, run),
            },
        },
    }
}
