//! What is asked for: the path behind the token.

use hyper::Method;
use model::RunId;

/// Of a study: the digest of the path of its results.
pub(crate) type StudyId = String;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    Index,
    IndexLive,
    Script,
    Style,
    Compare,
    Study { id: StudyId, what: OfStudy },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OfStudy {
    Page,
    Live,
    /// Under other prices or a deadline: a part of the page.
    Decision,
    Report,
    Editor,
    /// What an edited text would be: a part of the editor.
    Draft,
    Save,
    Start,
    Pause,
    Stop,
    Run(RunId),
    RunLive(RunId),
}

impl Route {
    /// `None` where there is nothing.
    pub(crate) fn of(method: &Method, path: &str) -> Option<Route> {
        let is_get = *method == Method::GET;
        let is_post = *method == Method::POST;
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        match parts.as_slice() {
            [] if is_get => Some(Route::Index),
            ["live"] if is_get => Some(Route::IndexLive),
            ["ui.js"] if is_get => Some(Route::Script),
            ["ui.css"] if is_get => Some(Route::Style),
            ["compare"] if is_get => Some(Route::Compare),
            ["s", id, rest @ ..] => Some(Route::Study {
                id: (*id).to_owned(),
                what: of_study(rest, is_get, is_post)?,
            }),
            _ => None,
        }
    }
}

fn of_study(rest: &[&str], is_get: bool, is_post: bool) -> Option<OfStudy> {
    Some(match rest {
        [] if is_get => OfStudy::Page,
        ["live"] if is_get => OfStudy::Live,
        ["decision"] if is_get => OfStudy::Decision,
        ["report"] if is_get => OfStudy::Report,
        ["edit"] if is_get => OfStudy::Editor,
        ["draft"] if is_post => OfStudy::Draft,
        ["save"] if is_post => OfStudy::Save,
        ["start"] if is_post => OfStudy::Start,
        ["pause"] if is_post => OfStudy::Pause,
        ["stop"] if is_post => OfStudy::Stop,
        ["run", run] if is_get => OfStudy::Run(run.parse().ok()?),
        ["run", run, "live"] if is_get => OfStudy::RunLive(run.parse().ok()?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_something_is_never_a_link() {
        let of = |method: &Method, path: &str| Route::of(method, path);
        let study = |what| {
            let id = "1f".to_owned();
            Some(Route::Study { id, what })
        };
        assert_eq!(of(&Method::GET, ""), Some(Route::Index));
        assert_eq!(of(&Method::GET, "/"), Some(Route::Index));
        assert_eq!(of(&Method::GET, "/s/1f"), study(OfStudy::Page));
        assert_eq!(
            of(&Method::GET, "/s/1f/run/C1-r2"),
            study(OfStudy::Run(RunId::new(1, 2)))
        );
        assert_eq!(of(&Method::GET, "/s/1f/run/../../x"), None);
        for changing in ["save", "start", "pause", "stop"] {
            let path = format!("/s/1f/{changing}");
            assert!(of(&Method::POST, &path).is_some());
            assert_eq!(of(&Method::GET, &path), None);
            assert_eq!(of(&Method::PUT, &path), None);
        }
    }
}
