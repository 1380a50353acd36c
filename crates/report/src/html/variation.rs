//! What explains each metric: its variation by factor, explained for a reader who
//! never met an analysis of variance.

use std::fmt::Write;

use analyse::{Analysis, Comparison, LevelEffect, Variation, VariationTerm, format};

use super::page::{Page, escape};
use crate::markdown::capital;
use crate::view::{noise_text, noun};

pub(super) fn variations(page: &mut Page, analysis: &Analysis) {
    if analysis.variations.is_empty() {
        return;
    }
    page.open("variation", "What decides");
    page.paragraph("The runs differ. The share of a factor is how much of this variation it explains: if image size has 71 %, then 71 % of the variation between runs is explained by image size. “Factor × factor” is an interaction: the effect of one factor depends on the other. Noise is the rest: the differences between repetitions of the same scenario.");
    page.paragraph("A share is significant if chance alone would hardly make it this large. p is that probability: below 0.05 the verdict is “decides” (half of the variation or more), “matters” (a tenth or more) or “significant but small”; otherwise the effect is not significant, which does not prove that there is no effect.");
    for (place, variation) in analysis.variations.iter().enumerate() {
        let title = capital(noun(analysis, variation));
        // The first is the study's question; the others can be opened.
        let open = if place == 0 || analysis.study.metrics.contains(&variation.metric) {
            " open"
        } else {
            ""
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
        return "no variation".to_owned();
    }
    if variation.follows_time {
        return "same ranking as time".to_owned();
    }
    let said = variation
        .terms
        .iter()
        .filter(|t| t.verdict.is_sure() && t.share >= 0.01)
        .take(3);
    let mut said: Vec<String> = said
        .map(|t| format!("{} {}", t.name(), format::percent(t.share)))
        .collect();
    if said.is_empty() {
        return "no significant effect".to_owned();
    }
    said.extend(
        variation
            .noise
            .as_ref()
            .map(|n| format!("noise {}", format::percent(n.share))),
    );
    said.join(", ")
}

fn one(page: &mut Page, analysis: &Analysis, variation: &Variation) {
    if let Some(problem) = &variation.problem {
        page.paragraph(problem);
        return;
    }
    page.html(&table(analysis, variation));
    let mut about = vec![
        format!(
            "{}, {}.",
            format::counted(variation.scenarios, "scenario", "scenarios"),
            format::counted(variation.runs, "run", "runs")
        ),
        variation.model_sentence(),
        variation.residuals.clone(),
    ];
    about.extend(variation.assumptions.iter().cloned());
    page.note(&about.join(" "));
    if !variation.effects.is_empty() {
        page.html(&effects(variation));
    }
}

/// More interactions than this that are not significant would bury the others; the exported
/// CSV has them all.
const MOST_UNSURE: usize = 12;

fn table(analysis: &Analysis, variation: &Variation) -> String {
    let mut out = String::from(
        "<div class=\"wide\"><table class=\"data\">\n<thead>\n<tr><th scope=\"col\">what</th><th scope=\"col\">share of the variation</th><th scope=\"col\">verdict</th><th scope=\"col\">effect</th><th scope=\"col\" class=\"number\"><abbr title=\"degrees of freedom\">df</abbr></th><th scope=\"col\" class=\"number\">F</th><th scope=\"col\" class=\"number\">p</th></tr>\n</thead>\n<tbody>\n",
    );
    let (shown, rest): (Vec<&VariationTerm>, Vec<&VariationTerm>) = variation
        .terms
        .iter()
        .partition(|t| t.factors.len() == 1 || t.verdict.is_sure());
    let mut rows: Vec<Row> = shown.into_iter().map(Row::of_term).collect();
    if rest.len() <= MOST_UNSURE {
        rows.extend(rest.into_iter().map(Row::of_term));
    } else {
        rows.push(Row {
            name: format!("{} other interactions", rest.len()),
            share: rest.iter().map(|t| t.share).sum(),
            verdict: rest[0].verdict.words(),
            df: rest.iter().map(|t| t.degrees_of_freedom).sum(),
            class: "unsure",
            ..Row::default()
        });
    }
    if let Some(noise) = &variation.noise {
        rows.push(Row {
            name: "noise".to_owned(),
            share: noise.share,
            words: noise_text(analysis, variation),
            df: noise.degrees_of_freedom,
            class: "noise",
            ..Row::default()
        });
    }
    rows.iter().for_each(|row| row.write(&mut out));
    out + "</tbody>\n</table></div>"
}

#[derive(Default)]
struct Row {
    name: String,
    share: f64,
    verdict: &'static str,
    words: String,
    df: usize,
    f: String,
    p: String,
    class: &'static str,
}

impl Row {
    fn of_term(term: &VariationTerm) -> Self {
        let none = || format::NONE.to_owned();
        Row {
            name: term.name(),
            share: term.share,
            verdict: term.verdict.words(),
            words: term.sentence.clone().unwrap_or_default(),
            df: term.degrees_of_freedom,
            f: term.f.map_or_else(none, |f| format::significant(f, 3)),
            p: term.p.map_or_else(none, format::p_value),
            class: if term.verdict.is_sure() {
                "sure"
            } else {
                "unsure"
            },
        }
    }

    fn write(&self, out: &mut String) {
        let bar = if self.share.is_finite() {
            (self.share * 100.0).clamp(0.0, 100.0)
        } else {
            0.0
        };
        let _ = writeln!(
            out,
            "<tr class=\"{}\"><th scope=\"row\">{}</th><td class=\"share\"><span class=\"bar\" style=\"--share:{bar:.1}%\"></span><span>{}</span></td><td class=\"verdict\">{}</td><td class=\"words\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
            self.class,
            escape(&self.name),
            escape(&format::percent(self.share)),
            self.verdict,
            escape(&self.words),
            self.df,
            escape(&self.f),
            escape(&self.p),
        );
    }
}

fn effects(variation: &Variation) -> String {
    let mut out = String::from(
        "<details>\n<summary>Each level compared with the first of its factor</summary>\n<div class=\"wide\"><table class=\"data\">\n<thead>\n<tr><th scope=\"col\">factor</th><th scope=\"col\">level</th><th scope=\"col\">against</th><th scope=\"col\" class=\"number\">by</th><th scope=\"col\">in words</th></tr>\n</thead>\n<tbody>\n",
    );
    for effect in &variation.effects {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"words\">{}</td></tr>",
            escape(&effect.factor),
            escape(&effect.level),
            escape(&effect.baseline),
            escape(&by(effect)),
            escape(&effect.sentence)
        );
    }
    out + "</tbody>\n</table></div>\n</details>"
}

fn by(effect: &LevelEffect) -> String {
    match effect.comparison {
        Comparison::Ratio => format!("× {}", format::significant(effect.estimate.value, 3)),
        Comparison::Difference if effect.estimate.value > 0.0 => {
            format!("+ {}", format::significant(effect.estimate.value, 3))
        }
        Comparison::Difference => {
            format!("− {}", format::significant(effect.estimate.value.abs(), 3))
        }
    }
}
