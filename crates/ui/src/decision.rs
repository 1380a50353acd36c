//! What to choose: under the prices that were paid, or under others; with a deadline, or without.

use analyse::{Analysis, ScenarioResult};
use model::Timestamp;
use report::{ReportMeta, format};
use workbench::{AskedIn, OtherPrices, Results, ResultsRequest, WhatIfRequest, open_results};

use crate::ask::Ask;
use crate::html::Html;
use crate::index::address;
use crate::page;
use crate::pages::Answer;
use crate::shared::{Entry, Shared};
use crate::stream::{Part, as_json};

/// What can be asked, as the options of `bancada show`.
pub(crate) struct Wishes;

pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) example: &'static str,
}

impl Wishes {
    pub(crate) const FIELDS: [Field; 7] = [
        field("deadline", "deadline of a run", "2h"),
        field("most_cost", "most it may cost", "5 USD"),
        field("price", "price", "aws/c7i.xlarge or 0.2 USD/h"),
        field("region", "region", "eu-west-1"),
        field("currency", "currency", "BRL"),
        field("rate", "exchange rate", "USD:BRL=5.42"),
        field("tax", "tax in percent", "17"),
    ];
}

const fn field(name: &'static str, label: &'static str, example: &'static str) -> Field {
    Field {
        name,
        label,
        example,
    }
}

/// Results under the prices that are asked for.
pub(crate) struct Shown {
    pub(crate) results: Results,
    pub(crate) analysis: Analysis,
}

impl Shown {
    pub(crate) fn of(entry: &Entry, ask: &Ask) -> Result<Self, workbench::Error> {
        let path = &entry.summary.results;
        let request = ResultsRequest {
            study: path,
            out: None,
            scale: None,
        };
        let nobody = |_: &str| {};
        let results = open_results(request, &nobody)?;
        let several = |name: &str| -> Vec<String> {
            let all = ask.get(name).into_iter().flat_map(|all| all.split(','));
            all.map(|one| one.trim().to_owned())
                .filter(|one| !one.is_empty())
                .collect()
        };
        let one = |name: &str| ask.get(name).map(str::to_owned);
        let request = WhatIfRequest {
            prices: several("price"),
            region: one("region"),
            currency: one("currency").map(|code| code.to_uppercase()),
            rates: several("rate"),
            tax: one("tax").map(|tax| tax.trim_end_matches([' ', '%']).to_owned()),
            asked_in: AskedIn::Form,
            ..WhatIfRequest::default()
        };
        let other = OtherPrices::read(&request, path, &results, &nobody)?;
        let analysis = workbench::analyse(&results, other.as_ref(), &nobody)?;
        Ok(Shown { results, analysis })
    }
}

/// A part of a page, for the script.
pub(crate) fn part(shared: &Shared, entry: &Entry, query: &Ask) -> Answer {
    let html = html(&address(shared, entry), entry, query, 1000);
    Answer::Json(as_json([Part {
        id: "decision",
        html,
    }]))
}

/// The whole report, under these prices.
pub(crate) fn report(shared: &Shared, entry: &Entry, query: &Ask) -> Answer {
    let meta = ReportMeta {
        generated: Timestamp::now(),
        bancada_version: shared.version,
        command: None,
        study_file: None,
    };
    let html = Shown::of(entry, query).and_then(|Shown { results, analysis }| {
        workbench::report_html(&analysis, &results, &meta, &|_| {})
    });
    html.map_or_else(|error| page::problem(shared, &error), Answer::Report)
}

/// `study` is the address of the study's page.
pub(crate) fn html(study: &str, entry: &Entry, ask: &Ask, most_runs: usize) -> Html {
    let mut html = Html::new();
    if entry.summary.runs.done == 0 && !entry.summary.results.join("plan.json").is_file() {
        html.paragraph(
            "note",
            "No run has ended yet: there is nothing to decide from.",
        );
        return html;
    }
    let shown = match Shown::of(entry, ask) {
        Ok(shown) => shown,
        Err(error) => return wrong_words(&error),
    };
    let analysis = &shown.analysis;
    if analysis.runs.is_empty() {
        html.paragraph(
            "note",
            "No run has ended yet: there is nothing to decide from.",
        );
        return html;
    }
    if let Some(repriced) = &analysis.study.repriced {
        html.paragraph("callout", repriced);
    }
    match wishes(ask) {
        Ok(Some(wishes)) => match analyse::recommend(analysis, &wishes) {
            Ok(sentences) => html.list("advice", sentences),
            Err(wrong) => html.paragraph("callout", &wrong),
        },
        Ok(None) => answer(&mut html, analysis),
        Err(wrong) => html.paragraph("callout", &wrong),
    };
    // What to choose was said first.
    let said = &analysis.best.sentences;
    let findings = analysis.findings.iter().map(|finding| &finding.text);
    html.list("findings", findings.filter(|text| !said.contains(text)));
    html.list("advice", &analysis.advice);
    html.list("cautions", &analysis.notes);
    scenarios(&mut html, analysis);
    html.raw("<p>").link(
        format!("{study}/report?{}", ask.query()),
        "The whole report",
    );
    html.raw(" with figures, bills and warnings.</p>\n");
    runs(&mut html, study, analysis, most_runs);
    html
}

fn wishes(ask: &Ask) -> Result<Option<analyse::Wishes>, String> {
    let deadline = ask
        .get("deadline")
        .map(plan::duration_seconds)
        .transpose()?;
    let most_cost = ask.get("most_cost").map(|text| {
        let money = text.parse::<model::Money>();
        money.map_err(|wrong| format!("most it may cost: {wrong}"))
    });
    let wishes = analyse::Wishes {
        deadline_seconds: deadline,
        most_cost: most_cost.transpose()?,
        most_joules: None,
    };
    Ok((!wishes.is_empty()).then_some(wishes))
}

/// What is wrong with what was asked: nobody wrote the text that it was read from.
fn wrong_words(error: &workbench::Error) -> Html {
    let mut html = Html::new();
    let mistakes = match error.found() {
        None => {
            html.paragraph("callout", &error.to_string());
            return html;
        }
        Some(mistakes) if mistakes.name == AskedIn::Form.name() => mistakes,
        Some(_) => return page::error_words(error),
    };
    for mistake in &mistakes.found {
        let label = mistake.label.iter().map(|label| format!("; {label}"));
        let message = mistake.message.clone() + &label.collect::<String>();
        html.paragraph("callout", &message);
    }
    html
}

/// What to choose and what it saves, then the ranking that it rests on.
fn answer<'h>(html: &'h mut Html, analysis: &Analysis) -> &'h mut Html {
    let answer = &analysis.answer;
    if let Some(nothing) = &answer.nothing {
        html.raw("<div class=\"pick unsure\">");
        html.paragraph("what", nothing).raw("</div>\n");
    }
    let all = &answer.recommendations;
    for recommended in all.iter().take(report::MOST_RECOMMENDATIONS) {
        html.recommendation(recommended);
    }
    if all.len() > report::MOST_RECOMMENDATIONS {
        html.paragraph(
            "note",
            "What to choose for each task is in the whole report.",
        );
    }
    html.list("advice", &analysis.best.sentences)
}

fn scenarios(html: &mut Html, analysis: &Analysis) {
    let is_priced = analysis
        .scenarios
        .iter()
        .any(|scenario| scenario.cost.is_some());
    html.raw("<h3>Scenarios</h3>\n");
    html.table(
        "Time and cost of a run of each scenario",
        &[
            ("scenario", false),
            ("levels", false),
            ("runs", true),
            ("time", true),
            ("95 % interval", true),
            (if is_priced { "cost" } else { "" }, true),
            ("", false),
        ],
    );
    let on_pareto: Vec<u32> = analysis.best.pareto().collect();
    for scenario in &analysis.scenarios {
        let number = scenario.number;
        let best = &analysis.best;
        let marks = [
            ("fastest", best.is_among_fastest(number)),
            ("cheapest", best.is_among_cheapest(number)),
            ("on the Pareto line", on_pareto.contains(&number)),
        ];
        let marks = marks.iter().filter(|(_, is)| *is).map(|(mark, _)| *mark);
        html.raw("<tr><th scope=\"row\">")
            .text(&scenario.label)
            .raw("</th>");
        html.cell(scenario.phrase());
        html.number(format!("{} of {}", scenario.runs.ok, scenario.planned));
        time(html, analysis, scenario);
        let cost = scenario.cost.as_ref().map(|cost| cost.mean.to_string());
        html.number(cost.unwrap_or_default());
        html.cell(marks.collect::<Vec<_>>().join(", "))
            .raw("</tr>\n");
    }
    html.end_table();
}

fn time(html: &mut Html, analysis: &Analysis, scenario: &ScenarioResult) {
    let Some(time) = analysis.time_of(scenario) else {
        html.number("–").number("");
        return;
    };
    html.number(format::duration(time.value));
    let interval = time
        .interval
        .map(|interval| format::interval(interval.low, interval.high, format::duration));
    html.number(interval.unwrap_or_default());
}

fn runs(html: &mut Html, study: &str, analysis: &Analysis, most: usize) {
    html.raw("<details>\n<summary>")
        .text(format::counted(analysis.runs.len(), "run", "runs"));
    html.raw("</summary>\n");
    html.table(
        "Runs",
        &[
            ("run", false),
            ("ended as", false),
            ("started", false),
            ("cost", true),
            ("warnings", true),
        ],
    );
    for run in analysis.runs.iter().take(most) {
        html.raw("<tr><th scope=\"row\">");
        html.link(format!("{study}/run/{}", run.run), run.run)
            .raw("</th>");
        html.cell(run.status.word());
        let started = run
            .started
            .map(|at| at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string());
        html.cell(started.unwrap_or_default());
        html.number(run.cost.map(|cost| cost.to_string()).unwrap_or_default());
        html.number(run.warnings).raw("</tr>\n");
    }
    html.end_table();
    if analysis.runs.len() > most {
        let more = format::count(analysis.runs.len() - most);
        html.paragraph(
            "note",
            &format!("{more} more are in the report and in `bancada export`."),
        );
    }
    html.raw("</details>\n");
}
