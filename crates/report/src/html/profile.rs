//! Where the time of a step goes: kinds of operators, and the largest operators by name.

use analyse::{Analysis, OPERATOR_KINDS, ProfileResult, ScenarioResult, format};
use messages::{message, word};

use super::axis::category;
use super::page::{Page, escape};
use crate::figure::{Axis, BarMode, Colour, Extent, Figure, Mark, Point, Range, Series};
use crate::tables::{MOST_ROWS, kind_words, kinds_of, operators_table, profiled};

pub(super) fn profile(page: &mut Page, analysis: &Analysis) {
    let all = profiled(analysis);
    if all.is_empty() {
        return;
    }
    page.open("profile", word!("section-profile"));
    page.paragraph(word!("profile-about"));
    let shown = &all[..all.len().min(MOST_ROWS)];
    page.figure(&figure(shown, all.len()));
    page.html(&format!(
        "<details>\n<summary>{}</summary>",
        word!("profile-operators")
    ));
    for (scenario, profile) in shown {
        operators(page, scenario, profile);
    }
    page.html("</details>");
    page.note(word!("profile-note"));
    page.close();
}

fn figure(shown: &[(&ScenarioResult, &ProfileResult)], in_all: usize) -> Figure {
    let bars = kinds_of(shown).into_iter().map(|kind| bars(kind, shown));
    let more = match in_all - shown.len() {
        0 => String::new(),
        _ => message!("profile-first", shown = shown.len(), all = in_all),
    };
    let caption = message!("profile-caption", more);
    let whole = Extent::Exactly(Range::new(0.0, 100.0));
    let rows = shown.iter().map(|(s, _)| category(s)).collect();
    Figure {
        bars: BarMode::Stacked,
        ..Figure::new(
            caption,
            70 + 24 * u32::try_from(shown.len()).unwrap_or(60),
            Axis::linear(word!("profile-axis"), whole),
            Axis::categories("", rows),
        )
        .with(bars.collect())
    }
}

fn bars(kind: &str, shown: &[(&ScenarioResult, &ProfileResult)]) -> Series {
    let found = |p: &ProfileResult| p.kinds.iter().find(|k| k.kind == kind).cloned();
    let place = OPERATOR_KINDS.iter().position(|k| *k == kind).unwrap_or(0);
    // What is left over is no colour of its own.
    let colour = match kind {
        "other" => Colour::Muted,
        _ => Colour::Series(place),
    };
    let words = kind_words(kind);
    let bar = |(row, (_, profile)): (usize, &(&ScenarioResult, &ProfileResult))| {
        let found = found(profile);
        let said = found.as_ref().map(|k| {
            let share = format::percent(k.share);
            format!("{words}: {share}, {}", format::duration(k.seconds))
        });
        let share = found.map_or(0.0, |k| k.share * 100.0);
        Point::new(share, row as f64).says(said.unwrap_or_default())
    };
    Series::new(words, colour, Mark::Bars).with(shown.iter().enumerate().map(bar))
}

fn operators(page: &mut Page, scenario: &ScenarioResult, profile: &ProfileResult) {
    let of = match profile.operators_in_all > profile.operators.len() {
        true => message!(
            "profile-largest",
            shown = profile.operators.len(),
            all = profile.operators_in_all
        ),
        false => String::new(),
    };
    page.html(&format!(
        "<details class=\"inner\">\n<summary><strong>{}</strong> {}: {}</summary>",
        escape(&scenario.label),
        escape(&scenario.phrase()),
        escape(&message!(
            "profile-of",
            time = format::duration(profile.seconds),
            runs = profile.runs,
            of
        ))
    ));
    page.table(word!("section-profile"), &operators_table(profile));
    page.html("</details>");
}
