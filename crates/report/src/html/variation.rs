//! What explains each metric: its variation by factor, explained for a reader who
//! never met an analysis of variance.

use std::fmt::Write;

use analyse::{
    Analysis, Comparison, LevelEffect, MetricInfo, Variation, VariationTerm, format, metric_value,
};
use messages::{message, word};

use super::page::{Page, TABLE_END, escape, table_head};
use crate::markdown::capital;
use crate::view::{largest_shares, noise_text, share_text, tested_p};

pub(super) fn variations(page: &mut Page, analysis: &Analysis) {
    if analysis.variations.is_empty() {
        return;
    }
    page.open("variation", word!("section-variation"));
    page.paragraph(word!("variation-shares"));
    page.paragraph(word!("variation-verdicts"));
    for (place, variation) in analysis.variations.iter().enumerate() {
        let title = capital(analysis.noun(variation));
        // The first is the study's question; the others can be opened.
        let open = match place == 0 || analysis.study.metrics.contains(&variation.metric) {
            true => " open",
            false => "",
        };
        page.html(&format!(
            "<details class=\"metric\"{open}>\n<summary><h3>{}</h3> <span>{}</span></summary>",
            escape(&title),
            escape(&headline(variation))
        ));
        one(page, analysis, variation);
        page.html("</details>");
    }
    page.close();
}

/// `image 71 %, network 22 %`.
fn headline(variation: &Variation) -> String {
    if variation.problem.is_some() {
        return word!("variation-none").to_owned();
    }
    if variation.follows_time {
        return word!("variation-as-time").to_owned();
    }
    largest_shares(variation, 3)
}

fn one(page: &mut Page, analysis: &Analysis, variation: &Variation) {
    if let Some(problem) = &variation.problem {
        page.paragraph(problem);
        return;
    }
    page.html(&table(analysis, variation));
    let mut about = vec![
        message!(
            "variation-size",
            scenarios = variation.scenarios,
            runs = variation.runs
        ),
        variation.model_sentence(),
        variation.residuals.clone(),
    ];
    about.extend(variation.assumptions.iter().cloned());
    page.note(&about.join(" "));
    if !variation.effects.is_empty() {
        page.html(&effects(analysis, variation));
    }
}

/// More interactions than this that are not significant would bury the others; the exported
/// CSV has them all.
const MOST_UNSURE: usize = 12;

fn table(analysis: &Analysis, variation: &Variation) -> String {
    let columns = [
        (word!("head-what").to_owned(), false),
        (word!("head-share").to_owned(), false),
        (word!("head-verdict").to_owned(), false),
        (word!("head-effect").to_owned(), false),
        (abbr(word!("head-df"), word!("head-df-long")), true),
        ("F".to_owned(), true),
        ("p".to_owned(), true),
        (
            abbr(word!("head-adjusted"), word!("head-adjusted-long")),
            true,
        ),
    ];
    let caption = message!("variation-caption", noun = analysis.noun(variation));
    let mut out = table_head("data", &caption, columns);
    let (shown, rest): (Vec<&VariationTerm>, Vec<&VariationTerm>) = variation
        .terms
        .iter()
        .partition(|t| t.factors.len() == 1 || t.verdict.is_different());
    let mut rows: Vec<Row> = shown.into_iter().map(Row::of_term).collect();
    if rest.len() <= MOST_UNSURE {
        rows.extend(rest.into_iter().map(Row::of_term));
    } else {
        rows.push(Row {
            name: message!("variation-others", count = rest.len()),
            share: Some(rest.iter().map(|t| t.share).sum()),
            verdict: rest[0].verdict.words(),
            df: rest.iter().map(|t| t.degrees_of_freedom).sum(),
            class: "unsure",
            ..Row::default()
        });
    }
    if let Some(noise) = &variation.noise {
        rows.push(Row {
            name: word!("screen-noise").to_owned(),
            share: Some(noise.share),
            words: noise_text(analysis, variation),
            df: noise.degrees_of_freedom,
            class: "noise",
            ..Row::default()
        });
    }
    rows.iter().for_each(|row| row.write(&mut out));
    out + TABLE_END
}

fn abbr(short: &str, long: &str) -> String {
    format!("<abbr title=\"{}\">{}</abbr>", escape(long), escape(short))
}

#[derive(Default)]
struct Row {
    name: String,
    share: Option<f64>,
    verdict: &'static str,
    words: String,
    df: usize,
    f: String,
    p: String,
    adjusted_p: String,
    class: &'static str,
}

impl Row {
    fn of_term(term: &VariationTerm) -> Self {
        let none = || format::NONE.to_owned();
        Row {
            name: term.name(),
            share: term.share(),
            verdict: term.verdict.words(),
            words: term.sentence.clone().unwrap_or_default(),
            df: term.degrees_of_freedom,
            f: term.f.map_or_else(none, |f| format::significant(f, 3)),
            p: tested_p(term).map_or_else(none, format::p_value),
            adjusted_p: term.adjusted_p.map_or_else(none, format::p_value),
            class: match term.verdict.is_different() {
                true => "sure",
                false => "unsure",
            },
        }
    }

    fn write(&self, out: &mut String) {
        let known = self.share.filter(|share| share.is_finite());
        let bar = known.map_or(0.0, |share| (share * 100.0).clamp(0.0, 100.0));
        let _ = writeln!(
            out,
            "<tr class=\"{}\"><th scope=\"row\">{}</th><td class=\"share\"><span class=\"bar\" style=\"--share:{bar:.1}%\"></span><span>{}</span></td><td class=\"verdict\">{}</td><td class=\"words\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
            self.class,
            escape(&self.name),
            escape(&share_text(self.share)),
            self.verdict,
            escape(&self.words),
            self.df,
            escape(&self.f),
            escape(&self.p),
            escape(&self.adjusted_p),
        );
    }
}

fn effects(analysis: &Analysis, variation: &Variation) -> String {
    let info = analysis.metric(&variation.metric);
    let columns = [
        (word!("head-factor"), false),
        (word!("head-level"), false),
        (word!("head-against"), false),
        (word!("head-by"), true),
        (word!("head-in-words"), false),
    ];
    let mut out = table_head("data", word!("effects-caption"), columns);
    for effect in &variation.effects {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"words\">{}</td></tr>",
            escape(&effect.factor),
            escape(&effect.level),
            escape(&effect.baseline),
            escape(&by(effect, info)),
            escape(&effect.sentence)
        );
    }
    format!(
        "<details>\n<summary>{}</summary>\n{out}{TABLE_END}\n</details>",
        word!("effects-summary")
    )
}

fn by(effect: &LevelEffect, info: Option<&MetricInfo>) -> String {
    let value = effect.estimate.value;
    let number = |value: f64| format::significant(value, 3);
    // A difference of percentages is no percentage of either.
    let size = |value: f64| match info {
        Some(info) if info.unit == "%" => message!("points", value = number(value)),
        Some(info) => metric_value(info, value),
        None => number(value),
    };
    match effect.comparison {
        Comparison::Ratio => format!("× {}", number(value)),
        Comparison::Difference if value > 0.0 => format!("+ {}", size(value)),
        Comparison::Difference => format!("− {}", size(value.abs())),
    }
}
