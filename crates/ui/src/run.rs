//! One run: while it is in progress, and when it is kept.

use model::run::metric;
use model::{RunId, RunRecord, Status, Workload};
use report::format;
use workbench::{ResultsRequest, open_results, scenario_words};

use crate::html::Html;
use crate::index::address;
use crate::page::Page;
use crate::pages::Answer;
use crate::series::Series;
use crate::shared::{Entry, Shared, lock};
use crate::stream::Part;

/// The end of a log that is shown.
const MOST_LOG_BYTES: u64 = 64 * 1024;

pub(crate) fn page(shared: &Shared, entry: &Entry, run: RunId) -> Answer {
    let study = address(shared, entry);
    let mut body = Html::new();
    body.raw("<h1>")
        .text(run)
        .raw(" of ")
        .link(&study, &entry.summary.name)
        .raw("</h1>\n");
    for Part { id, html } in parts_of(shared, entry, run) {
        body.raw("<section")
            .attribute("id", id)
            .raw(">\n")
            .add(&html)
            .raw("</section>\n");
    }
    let page = Page {
        title: format!("{run} of {}", entry.summary.name),
        live: Some(format!("{study}/run/{run}/live")),
        body,
    };
    page.answer(shared)
}

pub(crate) fn parts(shared: &Shared, id: &str, run: RunId) -> Vec<Part> {
    let entry = shared.study(id);
    entry.map_or_else(Vec::new, |entry| parts_of(shared, &entry, run))
}

fn parts_of(shared: &Shared, entry: &Entry, run: RunId) -> Vec<Part> {
    let results = &entry.summary.results;
    let live = shared.live(entry);
    let mut live = lock(&live);
    live.look();
    let now = match workbench::running(results) {
        Some(_) => live.run(run),
        None => None,
    };
    let (html, log, missing) = match now {
        Some(now) => {
            let mut html = Html::new();
            html.paragraph(
                "objective",
                &format!("{} · in progress at {}", now.levels, now.place),
            );
            html.add(&now.html());
            let missing = "The log of a run elsewhere comes with the run, when it has ended.";
            (
                html,
                workbench::log_in_progress(results, run, MOST_LOG_BYTES),
                missing,
            )
        }
        None => {
            let log = workbench::log_kept(results, run, MOST_LOG_BYTES);
            (kept(entry, run), log, "There is no log.")
        }
    };
    let part = |id, html| Part { id, html };
    vec![part("run", html), part("log", log_html(log, missing))]
}

fn log_html(log: Option<String>, missing: &'static str) -> Html {
    let mut html = Html::new();
    html.raw("<h2>Log</h2>\n");
    match log {
        None => html.paragraph("note", missing),
        Some(log) if log.trim().is_empty() => html.paragraph("note", "Nothing was printed."),
        Some(log) => {
            html.raw("<pre class=\"log\" tabindex=\"0\" aria-label=\"end of the log\">");
            html.text(log).raw("</pre>\n")
        }
    };
    html
}

fn kept(entry: &Entry, run: RunId) -> Html {
    let mut html = Html::new();
    let request = ResultsRequest {
        study: &entry.summary.results,
        out: None,
        scale: None,
    };
    let results = match open_results(request, &|_| {}) {
        Ok(results) => results,
        Err(error) => return crate::page::error_words(&error),
    };
    let record = match workbench::record(&results, run) {
        Ok(Some(record)) => record,
        Ok(None) => {
            html.paragraph("note", "This run has not been made yet.");
            return html;
        }
        Err(error) => return crate::page::error_words(&error),
    };
    html.paragraph("objective", &scenario_words(&record.scenario));
    facts(&mut html, &record);
    let steps = workbench::steps(&results, run);
    let losses = Series::of(steps.found.iter().filter_map(|step| step.loss));
    let drawn = losses.draw("loss by step", true);
    if drawn != Html::new() {
        html.raw("<figure><figcaption>loss by step</figcaption>")
            .add(&drawn)
            .raw("</figure>\n");
    }
    html.list("cautions", steps.wrong);
    html.list("cautions", record.warnings.iter().map(ToString::to_string));
    let is_command = matches!(results.study.workload, Workload::Command(_));
    metrics(&mut html, &record, is_command);
    phases(&mut html, &record);
    bill(&mut html, &record);
    html
}

fn facts(html: &mut Html, record: &RunRecord) {
    html.raw("<dl class=\"numbers\">\n");
    let mut fact = |name: &'static str, value: String| {
        html.raw("<div><dt>")
            .raw(name)
            .raw("</dt><dd>")
            .text(value)
            .raw("</dd></div>\n");
    };
    let outcome = &record.outcome;
    let ended = match (outcome.status, outcome.in_a_line()) {
        (Status::Ok, _) | (_, None) => outcome.status.word().to_owned(),
        (status, Some(why)) => format!("{}: {why}", status.word()),
    };
    fact("ended as", ended);
    fact("time", format::duration(record.seconds));
    if let Some(bill) = &record.bill {
        fact("cost", bill.total_in_study_currency().to_string());
    }
    if record.is_dated() {
        fact(
            "started",
            record.started.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        );
    }
    fact("environment", record.environment.name.clone());
    html.raw("</dl>\n");
}

fn metrics(html: &mut Html, record: &RunRecord, is_command: bool) {
    if record.metrics.is_empty() {
        return;
    }
    html.raw("<h2>Metrics</h2>\n");
    html.table("Metrics of the run", &[("metric", false), ("value", true)]);
    for (name, own) in &record.metrics {
        let mut info = analyse::metric_info(name, &own.unit);
        // A command that names no epochs trains nothing, as far as is known.
        if is_command && name == metric::TRAIN_SECONDS && record.epochs.is_empty() {
            "time".clone_into(&mut info.label);
        }
        html.raw("<tr><th scope=\"row\">")
            .text(&info.label)
            .raw("</th>");
        html.number(analyse::metric_value(&info, own.value))
            .raw("</tr>\n");
    }
    html.end_table();
}

fn phases(html: &mut Html, record: &RunRecord) {
    html.raw("<h2>Phases</h2>\n");
    html.table(
        "Phases of the run",
        &[("phase", false), ("begins at", true), ("takes", true)],
    );
    for phase in &record.phases {
        html.raw("<tr><th scope=\"row\">")
            .text(&phase.name)
            .raw("</th>");
        html.number(format::duration(phase.begin_seconds));
        html.number(format::duration(phase.seconds)).raw("</tr>\n");
    }
    html.end_table();
}

fn bill(html: &mut Html, record: &RunRecord) {
    let Some(bill) = &record.bill else { return };
    html.raw("<h2>Bill</h2>\n");
    html.table("Bill of the run", &[("for", false), ("amount", true)]);
    for line in &bill.lines {
        html.raw("<tr><th scope=\"row\">")
            .text(&line.what)
            .raw("</th>");
        html.number(line.amount).raw("</tr>\n");
    }
    html.end_table();
    html.paragraph(
        "note",
        "As it was stored with the run: what its machine's whole rental adds is shared out in the decision and in the report.",
    );
}
