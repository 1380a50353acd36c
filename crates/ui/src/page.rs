//! The frame of every page.

use hyper::StatusCode;
use model::Timestamp;

use crate::html::Html;
use crate::pages::Answer;
use crate::shared::Shared;

/// A page without its frame.
pub(crate) struct Page {
    pub(crate) title: String,
    /// The address of its events, where it changes while somebody looks.
    pub(crate) live: Option<String>,
    pub(crate) body: Html,
}

impl Page {
    pub(crate) fn answer(&self, shared: &Shared) -> Answer {
        self.with_status(shared, StatusCode::OK)
    }

    pub(crate) fn with_status(&self, shared: &Shared, status: StatusCode) -> Answer {
        let root = &shared.root;
        let mut html = Html::new();
        html.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        html.raw("<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
        html.text(&self.title)
            .raw(" · Bancada</title>\n<link rel=\"icon\" href=\"data:,\">\n");
        html.raw("<link rel=\"stylesheet\"")
            .attribute("href", format!("{root}/ui.css"));
        html.raw(">\n<script defer")
            .attribute("src", format!("{root}/ui.js"));
        html.raw("></script>\n</head>\n<body");
        if let Some(live) = &self.live {
            html.attribute("data-live", live);
        }
        html.raw(">\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n");
        html.raw("<nav aria-label=\"Pages\">\n<ul>\n<li>")
            .link(format!("{root}/"), "Studies");
        html.raw("</li>\n<li>")
            .link(format!("{root}/compare"), "Compare");
        html.raw("</li>\n<li><span id=\"connection\" role=\"status\"></span></li>\n</ul>\n</nav>\n<main id=\"main\">\n");
        html.add(&self.body)
            .raw("</main>\n<footer>\n<p class=\"note\">");
        html.text(format!(
            "Bancada {} · {} · this page is served by this machine to this machine alone",
            shared.version,
            shared.folder.display()
        ));
        html.raw("</p>\n</footer>\n</body>\n</html>\n");
        Answer::Page {
            status,
            html: html.into_string(),
        }
    }
}

/// Something is wrong, in a sentence or with the lines of a file.
pub(crate) fn problem(shared: &Shared, error: &workbench::Error) -> Answer {
    let status = match error.kind {
        workbench::ErrorKind::BadStudy => StatusCode::UNPROCESSABLE_ENTITY,
        workbench::ErrorKind::ResultsInUse => StatusCode::CONFLICT,
        workbench::ErrorKind::Interrupted
        | workbench::ErrorKind::RunFailed
        | workbench::ErrorKind::Other => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let mut body = Html::new();
    body.raw("<h1>This could not be done</h1>\n")
        .add(&error_words(error));
    let page = Page {
        title: "Not done".to_owned(),
        live: None,
        body,
    };
    page.with_status(shared, status)
}

pub(crate) fn error_words(error: &workbench::Error) -> Html {
    words_as_typed(&error.to_string())
}

/// With its lines and columns kept.
pub(crate) fn words_as_typed(words: &str) -> Html {
    let mut html = Html::new();
    html.raw("<pre class=\"problem\" tabindex=\"0\">")
        .text(words)
        .raw("</pre>\n");
    html
}

pub(crate) fn nothing_here(shared: &Shared) -> Answer {
    let mut body = Html::new();
    body.raw("<h1>There is no such page</h1>\n");
    body.paragraph("note", "The study may have been renamed or removed.");
    let page = Page {
        title: "Nothing here".to_owned(),
        live: None,
        body,
    };
    page.with_status(shared, StatusCode::NOT_FOUND)
}

/// `3 min ago`.
pub(crate) fn ago(when: Option<Timestamp>) -> String {
    let Some(when) = when else {
        return "–".to_owned();
    };
    let seconds = Timestamp::now().duration_since(when).as_secs().max(0);
    match seconds {
        0..2 => "now".to_owned(),
        2..60 => format!("{seconds} s ago"),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        86_400..172_800 => "a day ago".to_owned(),
        _ => format!("{} days ago", seconds / 86_400),
    }
}
