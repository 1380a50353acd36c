//! How to get these results again: the study file, versions, seed and commands; and how to cite them.

use std::collections::BTreeSet;

use analyse::{Analysis, format};
use messages::{message, word};

use super::page::{Page, escape};
use crate::ReportMeta;

pub(super) fn reproduce(page: &mut Page, analysis: &Analysis, meta: &ReportMeta) {
    page.open("reproduce", word!("section-reproduce"));
    let study = &analysis.study;
    let versions = analysis
        .machines
        .iter()
        .flat_map(|used| &used.machine.versions);
    let versions: BTreeSet<String> = versions
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    let mut rows = vec![
        ("Bancada".to_owned(), meta.bancada_version.to_owned()),
        (word!("reproduce-seed").to_owned(), study.seed.to_string()),
    ];
    if !versions.is_empty() {
        let versions: Vec<String> = versions.into_iter().collect();
        rows.push((
            word!("reproduce-measured-with").to_owned(),
            versions.join("; "),
        ));
    }
    page.facts(word!("reproduce-versions"), &rows);
    page.subtitle(word!("reproduce-commands"));
    page.html(&block("sh", "commands.sh", &commands(analysis, meta)));
    if let Some(text) = meta.study_file {
        page.subtitle(word!("reproduce-study-file"));
        let lines = message!("reproduce-lines", lines = text.lines().count());
        page.html(&format!(
            "<details>\n<summary>study.toml, {lines}</summary>\n{}</details>",
            block("toml", "study.toml", text)
        ));
    }
    page.subtitle(word!("reproduce-cite"));
    page.html(&block("bibtex", "bancada.bib", &citation(analysis, meta)));
    page.close();
}

/// Text to copy or to save under this name.
fn block(kind: &str, name: &str, text: &str) -> String {
    format!(
        "<div class=\"block\" data-name=\"{name}\"><pre class=\"{kind}\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\"><code>{}</code></pre></div>",
        // Kept together by non-breaking spaces a command could not be typed again.
        escape(text).replace('\u{a0}', " ")
    )
}

fn commands(analysis: &Analysis, meta: &ReportMeta) -> String {
    let study = &analysis.study;
    let totals = &analysis.totals;
    let scale = study.scale.as_ref();
    let scale = scale.map_or(String::new(), |scale| format!(" --scale {}", scale.name));
    let mut lines = vec![format!("# with Bancada {}", meta.bancada_version)];
    if study.import_only || totals.imported > 0 {
        let files = "bancada import --study study.toml FILES   # the files of measurements";
        lines.push(files.to_owned());
    }
    if !study.import_only {
        let options: String = study.run_options.iter().map(|o| format!(" {o}")).collect();
        let mut options_of_part = study
            .run_options
            .iter()
            .filter(|o| !o.starts_with("--scale"));
        let is_part = options_of_part.next().is_some() || totals.imported > 0;
        let (have, planned) = (
            totals.planned.saturating_sub(totals.missing),
            totals.planned,
        );
        let runs = match totals.missing {
            0 if is_part => "these runs".to_owned(),
            0 => "all runs".to_owned(),
            _ => format!("these runs ({have} of {planned})"),
        };
        lines.push(format!("bancada check study.toml{scale}"));
        lines.push(format!(
            "bancada run study.toml{options} --prepare   # frameworks and data that are missing, then {runs} in the order of seed {}",
            study.seed
        ));
    }
    lines.extend(
        meta.command
            .map(|own| format!("{own}   # this report again, from the results")),
    );
    lines.join("\n") + "\n"
}

/// BibTeX for the program and for this study.
fn citation(analysis: &Analysis, meta: &ReportMeta) -> String {
    let study = &analysis.study;
    let key: String = study
        .name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let year = meta.generated.strftime("%Y");
    let date = meta.generated.strftime("%Y-%m-%d");
    let runs = format::counted(analysis.totals.runs.total(), "run", "runs");
    let how = how(analysis, meta.bancada_version);
    format!(
        "@software{{bancada,\n  author  = {{{{The Bancada authors}}}},\n  title   = {{Bancada: time and cost of training and serving neural networks}},\n  version = {{{version}}},\n  year    = {{{year}}}\n}}\n\n@misc{{{key},\n  title = {{{{{name}}}: time and cost, {runs}}},\n  note  = {{{how}; report of {date}}},\n  year  = {{{year}}}\n}}\n",
        version = meta.bancada_version,
        name = bibtex(&study.name),
    )
}

/// How the numbers came about, for who cites them.
fn how(analysis: &Analysis, version: &str) -> String {
    let (study, totals) = (&analysis.study, &analysis.totals);
    let runs = totals.runs.total();
    if study.import_only {
        return format!("Measured elsewhere, analysed with Bancada {version}");
    }
    let what = match totals.predicted {
        0 => "Measured",
        predicted if predicted == runs => "Predicted",
        _ => "Measured, in part predicted,",
    };
    let elsewhere = match totals.imported {
        0 => "",
        _ => ", in part measured elsewhere",
    };
    format!(
        "{what} with Bancada {version}, seed {}{elsewhere}",
        study.seed
    )
}

/// What ends a field or begins a command.
fn bibtex(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '{' | '}' | '\\' => {}
            '&' | '%' | '$' | '#' | '_' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
