//! One HTML file that opens offline and is whole without its scripts: text, tables, and figures as
//! SVG. The scripts sort tables, and let a reader point at, zoom and save figures.

mod arrange;
mod axis;
mod breakeven;
mod choice;
mod curves;
mod figures;
mod frameworks;
mod growth;
mod lines;
mod method;
mod money;
mod page;
mod pieces;
mod profile;
mod results;
mod serving;
mod speedup;
mod sweeps;
mod timeline;
mod usage;
mod variation;

use analyse::Analysis;

use crate::ReportMeta;
use page::Page;
pub use page::{escape, prose};

/// Deterministic: the same analysis and meta give the same bytes.
pub fn html(analysis: &Analysis, meta: &ReportMeta) -> String {
    let mut page = Page::default();
    results::head(&mut page, analysis);
    results::key_numbers(&mut page, analysis);
    results::cautions(&mut page, analysis);
    results::scenarios(&mut page, analysis);
    results::stopping(&mut page, analysis);
    serving::serving(&mut page, analysis);
    figures::time_and_cost(&mut page, analysis);
    variation::variations(&mut page, analysis);
    frameworks::frameworks(&mut page, analysis);
    sweeps::sweeps(&mut page, analysis);
    speedup::speed_ups(&mut page, analysis);
    growth::growths(&mut page, analysis);
    choice::choice(&mut page, analysis);
    curves::learning(&mut page, analysis);
    usage::resources(&mut page, analysis);
    usage::phases(&mut page, analysis);
    profile::profile(&mut page, analysis);
    money::money(&mut page, analysis);
    method::bills(&mut page, analysis);
    results::outcomes(&mut page, analysis);
    results::warnings(&mut page, analysis);
    method::measured(&mut page, analysis);
    method::machines(&mut page, analysis);
    method::glossary(&mut page, analysis);
    document(analysis, meta, page)
}

fn document(analysis: &Analysis, meta: &ReportMeta, page: Page) -> String {
    let title = escape(&analysis.study.name);
    let (navigation, body) = page.finish();
    let generated = meta.generated.strftime("%Y-%m-%d %H:%M UTC");
    let again = match meta.command {
        Some(command) => format!(" Recreate it with <code>{}</code>.", escape(command)),
        None => String::new(),
    };
    let version = escape(meta.bancada_version);
    let style = page_style();
    let scripts = SCRIPTS.concat();
    format!(
        r##"<!DOCTYPE html>
<html lang="en">
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
<a class="skip" href="#summary">Skip to the summary</a>
<nav aria-label="Sections">
<ul>
{navigation}</ul>
</nav>
<main>
{body}</main>
<footer>
<p>Written by Bancada {version} on <time>{generated}</time>.{again} This file is self-contained and needs no network.</p>
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
const SCRIPTS: [&str; 4] = [
    include_str!("script/draw.js"),
    include_str!("script/point.js"),
    include_str!("script/save.js"),
    include_str!("script/page.js"),
];

/// The browser itself refuses to load anything from elsewhere, whatever a name in the study holds.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:";
