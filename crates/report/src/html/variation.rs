//! What explains each metric: its variation by factor, explained for a reader who
//! never met an analysis of variance.

use std::fmt::Write;

use analyse::{Analysis, Comparison, LevelEffect, Variation, VariationTerm, format};
use messages::word;

use super::page::{Page, TABLE_END, escape, table_head};
use crate::markdown::capital;
use crate::view::{largest_shares, noise_text, tested_p};

pub(super) fn variations(page: &mut Page, analysis: &Analysis) {
    if analysis.variations.is_empty() {
        return;
    }
    page.open("variation", word!("section-variation"));
    page.paragraph("The runs differ. The share of a factor is how much of this variation it explains: if image size has 71 %, then 71 % of the variation between runs is explained by image size. “Factor × factor” is an interaction: the effect of one factor depends on the other. Noise is the rest: the differences between repetitions of the same scenario.");
    page.paragraph("The verdict says what may be concluded. “Different”: chance alone would hardly make the effect this large, given everything that this study asks. “Practically equal”: the whole interval is within the margin of the study. “Inconclusive”: the data leave both open, and more repetitions would decide. “Not estimable”: the runs cannot tell. Metrics that the study does not ask for (`metrics`) are described, not tested. All statements of a study are one family: the probability that any of them is false is at most 5 %.");
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
        return "no variation".to_owned();
    }
    if variation.follows_time {
        return "same ranking as time".to_owned();
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
    let columns = [
        ("what", false),
        ("share of the variation", false),
        ("verdict", false),
        ("effect", false),
        ("<abbr title=\"degrees of freedom\">df</abbr>", true),
        ("F", true),
        ("p", true),
        (
            "<abbr title=\"corrected for all questions of the study, without assuming equal spread\">adjusted p</abbr>",
            true,
        ),
    ];
    let caption = format!("What explains {}", analysis.noun(variation));
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
    out + TABLE_END
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
    adjusted_p: String,
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
            p: tested_p(term).map_or_else(none, format::p_value),
            adjusted_p: term.adjusted_p.map_or_else(none, format::p_value),
            class: match term.verdict.is_different() {
                true => "sure",
                false => "unsure",
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
            "<tr class=\"{}\"><th scope=\"row\">{}</th><td class=\"share\"><span class=\"bar\" style=\"--share:{bar:.1}%\"></span><span>{}</span></td><td class=\"verdict\">{}</td><td class=\"words\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
            self.class,
            escape(&self.name),
            escape(&format::percent(self.share)),
            self.verdict,
            escape(&self.words),
            self.df,
            escape(&self.f),
            escape(&self.p),
            escape(&self.adjusted_p),
        );
    }
}

fn effects(variation: &Variation) -> String {
    let columns = [
        ("factor", false),
        ("level", false),
        ("against", false),
        ("by", true),
        ("in words", false),
    ];
    let mut out = table_head("data", "Effect of each level", columns);
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
    format!(
        "<details>\n<summary>Each level compared with the first of its factor</summary>\n{out}{TABLE_END}\n</details>"
    )
}

fn by(effect: &LevelEffect) -> String {
    let value = effect.estimate.value;
    match effect.comparison {
        Comparison::Ratio => format!("× {}", format::significant(value, 3)),
        Comparison::Difference if value > 0.0 => format!("+ {}", format::significant(value, 3)),
        Comparison::Difference => format!("− {}", format::significant(value.abs(), 3)),
    }
}
