//! One HTML file that opens offline and is whole without its scripts: text, tables, and figures as
//! SVG. The scripts sort tables, and let a reader point at, zoom and save figures.

mod answer;
mod arrange;
mod axis;
mod breakeven;
mod choice;
mod curves;
mod day_costs;
mod figures;
mod frameworks;
mod growth;
mod lines;
mod memory;
mod method;
mod money;
mod page;
mod pieces;
mod profile;
mod reproduce;
mod results;
mod serving;
mod speedup;
mod sweeps;
mod timeline;
mod usage;
mod variation;

use analyse::Analysis;
use messages::{Language, message, word};

use crate::ReportMeta;
use crate::figure::Figure;
pub use answer::{MOST_SHOWN as MOST_RECOMMENDATIONS, recommendation};
pub(crate) use page::DrawnFigure;
use page::Page;
pub use page::{escape, prose};

/// Deterministic: the same analysis and meta give the same bytes.
pub fn html(analysis: &Analysis, meta: &ReportMeta) -> String {
    let mut page = Page::default();
    sections(&mut page, analysis);
    reproduce::reproduce(&mut page, analysis, meta);
    method::glossary(&mut page, analysis);
    document(analysis, meta, page)
}

/// Every figure of the report, drawn in another way.
pub(crate) fn figures(analysis: &Analysis, draw: fn(&Figure) -> String) -> Vec<DrawnFigure> {
    let mut page = Page::default();
    page.draw = Some(draw);
    sections(&mut page, analysis);
    page.drawn
}

fn sections(page: &mut Page, analysis: &Analysis) {
    results::head(page, analysis);
    answer::answer(page, analysis);
    results::key_numbers(page, analysis);
    results::found(page, analysis);
    results::scenarios(page, analysis);
    results::stopping(page, analysis);
    serving::serving(page, analysis);
    figures::time_and_cost(page, analysis);
    variation::variations(page, analysis);
    frameworks::frameworks(page, analysis);
    sweeps::sweeps(page, analysis);
    speedup::speed_ups(page, analysis);
    growth::growths(page, analysis);
    curves::learning(page, analysis);
    usage::resources(page, analysis);
    usage::phases(page, analysis);
    profile::profile(page, analysis);
    money::money(page, analysis);
    method::bills(page, analysis);
    results::outcomes(page, analysis);
    results::warnings(page, analysis);
    method::measured(page, analysis);
    method::machines(page, analysis);
}

fn document(analysis: &Analysis, meta: &ReportMeta, page: Page) -> String {
    let title = escape(&analysis.study.name);
    let (navigation, body) = page.finish();
    let generated = crate::text::minute(meta.generated);
    let again = match meta.command {
        Some(command) => message!(
            "page-again",
            command = format!("<code>{}</code>", escape(command))
        ),
        None => String::new(),
    };
    let version = escape(meta.bancada_version);
    let style = page_style();
    let scripts = scripts();
    let language = Language::current().code();
    let (skip, sections) = (word!("page-skip"), word!("page-sections"));
    let footer = message!(
        "page-footer",
        version,
        time = format!("<time>{generated}</time>"),
        again
    );
    format!(
        r##"<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Bancada {version}">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{title} · Bancada</title>
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#answer">{skip}</a>
<nav aria-label="{sections}">
<ul>
{navigation}</ul>
</nav>
<main>
{body}</main>
<footer>
<p>{footer}</p>
</footer>
<script>
"use strict";
(() => {{
{scripts}}})();
</script>
</body>
</html>
"##
    )
}

/// For pages that are to look like a report.
pub fn page_style() -> String {
    include_str!("style.css").to_owned() + &crate::figure::palette_css()
}

/// One after the other, in a scope of their own.
const SCRIPTS: [&str; 5] = [
    include_str!("script/draw.js"),
    include_str!("script/point.js"),
    include_str!("script/save.js"),
    include_str!("script/tables.js"),
    include_str!("script/page.js"),
];

/// `⟦copied⟧` in a script stands for the message `script-copied`.
fn scripts() -> String {
    let text = SCRIPTS.concat();
    let parts = text.split(['⟦', '⟧']).enumerate();
    let worded = |(place, part): (usize, &str)| match (place % 2, part) {
        (0, part) => part.to_owned(),
        (_, "language") => Language::current().code().to_owned(),
        (_, "decimal") => messages::decimal_mark().to_string(),
        (_, "thousands") => messages::thousands_mark().to_string(),
        (_, name) => messages::named("script", name).unwrap_or(name).to_owned(),
    };
    parts.map(worded).collect()
}

/// The browser itself refuses to load anything from elsewhere, whatever a name in the study holds.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_script_end_no_string_in_it() {
        let text = SCRIPTS.concat();
        let names = text.split(['⟦', '⟧']).skip(1).step_by(2);
        let marks = ["language", "decimal", "thousands"];
        for name in names.filter(|name| !marks.contains(name)) {
            for language in Language::ALL {
                let said = language.scope(|| messages::named("script", name));
                let is_plain = said.is_some_and(|said| !said.contains(['"', '`', '\\', '$']));
                assert!(is_plain, "{language:?} {name}: {said:?}");
            }
        }
    }
}
