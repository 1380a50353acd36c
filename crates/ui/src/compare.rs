//! Any two scenarios of any two studies, by the words of `bancada compare`.

use analyse::{CompareRequest, Compared, LevelFacts, Side};
use workbench::{ResultsRequest, open_results};

use crate::ask::Ask;
use crate::decision::Shown;
use crate::html::Html;
use crate::page::{self, Page};
use crate::pages::Answer;
use crate::shared::{Entry, Shared};

/// What is compared, by the shorter words of metrics.
const METRICS: [(&str, &str); 6] = [
    ("", "time"),
    ("cost", "cost"),
    ("images_per_second", "images per second"),
    ("peak_memory_bytes", "peak memory"),
    ("accuracy_percent", "accuracy"),
    ("energy_joules", "energy"),
];

/// A scenario of a study, or a whole study.
struct Choice {
    /// `1f…:C3`, or the study alone.
    value: String,
    words: String,
}

pub(crate) fn page(shared: &Shared, query: &Ask) -> Answer {
    let choices = choices(shared);
    let mut body = Html::new();
    body.raw("<h1>Compare</h1>\n<form class=\"asks\" method=\"get\"");
    body.attribute("action", format!("{}/compare", shared.root))
        .raw(">\n");
    select(&mut body, "first", "a", &choices, query);
    select(&mut body, "second", "b", &choices, query);
    let metrics: Vec<Choice> = METRICS
        .iter()
        .map(|(value, words)| Choice {
            value: (*value).to_owned(),
            words: (*words).to_owned(),
        })
        .collect();
    select(&mut body, "by", "metric", &metrics, query);
    body.raw("<button>Compare</button>\n</form>\n<section aria-live=\"polite\" id=\"answer\">\n");
    match (query.get("a"), query.get("b")) {
        (Some(a), Some(b)) => _ = body.add(&answer(shared, a, b, query.get("metric"))),
        _ if choices.is_empty() => {
            body.paragraph("note", "No study has results yet.");
        }
        _ => {
            body.paragraph(
                "note",
                "Choose two scenarios, or two studies whose scenarios they share.",
            );
        }
    }
    body.raw("</section>\n");
    let page = Page {
        title: "Compare".to_owned(),
        live: None,
        body,
    };
    page.answer(shared)
}

fn choices(shared: &Shared) -> Vec<Choice> {
    let mut choices = Vec::new();
    for entry in shared
        .studies()
        .iter()
        .filter(|entry| entry.summary.runs.done > 0)
    {
        let name = &entry.summary.name;
        choices.push(Choice {
            value: entry.id.clone(),
            words: format!("{name}, all scenarios"),
        });
        let request = ResultsRequest {
            study: &entry.summary.results,
            out: None,
            scale: None,
        };
        let Ok(results) = open_results(request, &|_| {}) else {
            continue;
        };
        choices.extend(results.plan.scenarios.iter().map(|scenario| Choice {
            value: format!("{}:{}", entry.id, scenario.label()),
            words: format!("{name} {} · {}", scenario.label(), scenario.levels_label()),
        }));
    }
    choices
}

fn select(html: &mut Html, label: &str, name: &'static str, choices: &[Choice], query: &Ask) {
    html.raw("<label>")
        .text(label)
        .raw(" <select")
        .attribute("name", name)
        .raw(">\n");
    for choice in choices {
        html.raw("<option").attribute("value", &choice.value);
        if query.get(name).unwrap_or_default() == choice.value {
            html.raw(" selected");
        }
        html.raw(">").text(&choice.words).raw("</option>\n");
    }
    html.raw("</select></label>\n");
}

fn answer(shared: &Shared, a: &str, b: &str, metric: Option<&str>) -> Html {
    match compared(shared, a, b, metric) {
        Ok(compared) => sentences(&compared),
        Err(words) => words,
    }
}

/// The error is a part of the page.
fn compared(shared: &Shared, a: &str, b: &str, metric: Option<&str>) -> Result<Compared, Html> {
    let sentence = |words: &str| {
        let mut html = Html::new();
        html.paragraph("callout", words);
        html
    };
    let wrong = |error: workbench::Error| page::error_words(&error);
    let first = Named::of(shared, a).ok_or_else(|| sentence("the first is not here any more"))?;
    let second = Named::of(shared, b).ok_or_else(|| sentence("the second is not here any more"))?;
    let nothing = Ask::default();
    let one = Shown::of(&first.entry, &nothing).map_err(wrong)?;
    let other = match first.entry.id == second.entry.id {
        true => None,
        false => Some(Shown::of(&second.entry, &nothing).map_err(wrong)?),
    };
    let names = [first.name(&second), second.name(&first)];
    let request = CompareRequest {
        first: Side {
            name: &names[0],
            analysis: &one.analysis,
            scenario: first.scenario,
            levels: &[],
        },
        second: Side {
            name: &names[1],
            analysis: other
                .as_ref()
                .map_or(&one.analysis, |other| &other.analysis),
            scenario: second.scenario,
            levels: &[],
        },
        metric,
        equal_within_percent: one.results.study.equal_within(),
    };
    analyse::compare(&request).map_err(|why| sentence(&why))
}

fn sentences(compared: &Compared) -> Html {
    let mut html = Html::new();
    html.raw("<h2>Answer</h2>\n");
    html.list("findings", &compared.sentences);
    let scenarios = compared.scenarios.iter();
    html.list(
        "plain",
        scenarios.map(|s| format!("{}: {}", LevelFacts::phrase_of(&s.levels), s.sentence)),
    );
    html
}

struct Named {
    entry: Entry,
    scenario: Option<u32>,
}

impl Named {
    fn of(shared: &Shared, text: &str) -> Option<Self> {
        let (id, scenario) = match text.split_once(':') {
            Some((id, scenario)) => (id, Some(scenario.strip_prefix('C')?.parse().ok()?)),
            None => (text, None),
        };
        let entry = shared.study(id)?;
        Some(Named { entry, scenario })
    }

    fn name(&self, other: &Named) -> String {
        let study = &self.entry.summary.name;
        match self.scenario {
            Some(number) if self.entry.id == other.entry.id => format!("C{number}"),
            Some(number) => format!("{study} C{number}"),
            None => study.clone(),
        }
    }
}
