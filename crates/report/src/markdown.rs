//! The result as Markdown, for a README, an issue or a paper's notes.

use std::fmt::Write;

pub(crate) use analyse::format::capitalised as capital;
use analyse::{Analysis, Compared, LevelFacts, Variation, format};
use messages::{message, word};

use crate::ReportMeta;
use crate::delimited::Grid;
use crate::tables::{
    Table, answers_table, break_even_table, buying_table, checks_table, comparison_table,
    kinds_table, more_expensive_table, provisioning_table, shared_sentence, speed_up_table,
    sweep_table, sweep_unit, target_table, unused_table, work_table,
};
use crate::view::{ScenarioTable, costs_besides_spent, scenario_table, share_text, tested_p};

pub fn markdown(analysis: &Analysis, meta: &ReportMeta) -> String {
    let mut out = format!("# {}\n\n", escape(&analysis.study.name));
    if let Some(objective) = &analysis.study.objective {
        let _ = write!(out, "{}\n\n", escape(objective));
    }
    if let Some(scale) = &analysis.study.scale {
        let _ = write!(out, "> {}\n\n", escape(&scale.sentence));
    }
    if let Some(repriced) = &analysis.study.repriced {
        let _ = write!(out, "> {}\n\n", escape(repriced));
    }
    answer(&mut out, analysis);
    let _ = write!(out, "{}\n\n", prose(&totals(analysis)));
    list(
        &mut out,
        word!("markdown-short"),
        analysis.findings.iter().map(|f| &f.text),
    );
    list(&mut out, word!("results-next"), &analysis.advice);
    let _ = write!(out, "## {}\n\n", word!("section-scenarios"));
    scenarios(&mut out, &scenario_table(analysis, false));
    let _ = write!(
        out,
        "\n{}\n\n",
        message!(
            "markdown-means",
            interval = format::percent(analysis.study.confidence)
        )
    );
    for variation in &analysis.variations {
        variation_table(&mut out, variation);
    }
    serving(&mut out, analysis);
    frameworks(&mut out, analysis);
    sweeps(&mut out, analysis);
    speed_ups(&mut out, analysis);
    if titled(&mut out, word!("markdown-kinds"), kinds_table(analysis)) {
        let _ = write!(out, "{}\n\n", word!("markdown-kinds-note"));
    }
    about_money(&mut out, analysis);
    list(
        &mut out,
        word!("section-warnings"),
        analysis.warnings.iter().map(|w| &w.text),
    );
    if let Some(found) = &analysis.stopping {
        list(&mut out, word!("section-repetitions"), &found.sentences);
    }
    list(&mut out, word!("markdown-search"), &analysis.searched);
    list(&mut out, word!("markdown-notes"), &analysis.notes);
    let _ = writeln!(
        out,
        "{}",
        message!(
            "markdown-footer",
            version = meta.bancada_version,
            time = crate::text::minute(meta.generated)
        )
    );
    out
}

/// What to choose, how sure that is, what it saves, and what may change the decision.
fn answer(out: &mut String, analysis: &Analysis) {
    let found = &analysis.answer;
    let _ = write!(out, "## {}\n\n", word!("section-answer"));
    if let Some(nothing) = &found.nothing {
        let _ = write!(out, "{}\n\n", prose(nothing));
    }
    for recommended in &found.recommendations {
        let or = format!(" {} ", word!("answer-or"));
        let choices = escape(&recommended.choices.join(&or));
        let _ = write!(out, "**{choices}** — {}\n\n", escape(&recommended.what));
        let how_sure = format!("{}.", recommended.how_sure);
        for line in [&how_sure].into_iter().chain(&recommended.saves) {
            let _ = writeln!(out, "- {}", prose(line));
        }
        out.push('\n');
    }
    for caution in &found.cautions {
        let _ = write!(out, "> {}\n\n", prose(caution));
    }
}

fn serving(out: &mut String, analysis: &Analysis) {
    let Some(found) = &analysis.serving else {
        return;
    };
    list(out, word!("section-serving"), &found.sentences);
    table(out, &answers_table(analysis, found));
}

fn about_money(out: &mut String, analysis: &Analysis) {
    titled(out, word!("money-cost"), work_table(analysis));
    if let Some(target) = analysis.money.target.as_ref() {
        let title = message!("target-title", target = target.name());
        titled(out, &escape(&title), Some(target_table(analysis, target)));
    }
    let found = &analysis.money.break_even;
    titled(
        out,
        word!("even-buying-caption"),
        buying_table(&found.buying),
    );
    let more_expensive = more_expensive_table(&found.more_expensive);
    titled(out, word!("even-machine-caption"), more_expensive);
    let serving = analysis.serving.as_ref().and_then(break_even_table);
    titled(out, word!("serving-even-caption"), serving);
    list(out, word!("markdown-not-compared"), &found.notes);
    let money = &analysis.money;
    titled(out, word!("money-unused"), unused_table(&money.unused));
    titled(
        out,
        word!("money-size"),
        provisioning_table(&money.provisioning),
    );
}

/// Nothing without a table; whether there is one.
fn titled(out: &mut String, title: &str, found: Option<Table>) -> bool {
    if let Some(found) = &found {
        let _ = write!(out, "## {title}\n\n");
        table(out, found);
    }
    found.is_some()
}

fn frameworks(out: &mut String, analysis: &Analysis) {
    let Some(found) = &analysis.frameworks else {
        return;
    };
    let _ = write!(out, "## {}\n\n", word!("markdown-frameworks"));
    for caution in &found.cautions {
        let _ = write!(out, "> **{}**\n\n", escape(caution));
    }
    if let Some(compared) = comparison_table(analysis, found) {
        table(out, &compared);
    }
    let _ = write!(out, "{}\n\n", escape(&shared_sentence(found)));
    table(out, &checks_table(found));
}

fn sweeps(out: &mut String, analysis: &Analysis) {
    for sweep in &analysis.sweeps {
        let info = analysis.metric(&sweep.metric);
        let (Some(info), Some(cells)) = (info, sweep_table(analysis, sweep)) else {
            continue;
        };
        let what = capital(&info.label);
        let title = message!("sweep-title", what, factor = sweep.factor);
        titled(out, &escape(&title), Some(cells));
        let unit = sweep_unit(analysis, sweep, info).name;
        let _ = write!(out, "{}\n\n", message!("markdown-sweep", unit));
    }
}

fn speed_ups(out: &mut String, analysis: &Analysis) {
    for speed_up in &analysis.speed_ups {
        let title = message!("markdown-speed-up", factor = speed_up.factor);
        list(out, &title, &speed_up.sentences);
        table(out, &speed_up_table(analysis, speed_up));
    }
}

/// One table alone.
pub(crate) fn markdown_table(grid: &Grid) -> String {
    let rule = "---|".repeat(grid.headers.len());
    let rows: String = grid.rows.iter().map(line).collect();
    format!("{}|{rule}\n{rows}", line(&grid.headers))
}

fn line(cells: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let cells = cells.into_iter();
    let cells: Vec<String> = cells.map(|cell| escape(cell.as_ref())).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// The header, and below it which columns are numbers.
fn table_head(columns: impl IntoIterator<Item = (String, bool)>) -> String {
    let (names, numbers): (Vec<String>, Vec<bool>) = columns.into_iter().unzip();
    let rules: Vec<&str> = numbers
        .into_iter()
        .map(|is_number| if is_number { "---:" } else { "---" })
        .collect();
    format!("{}|{}|\n", line(names), rules.join("|"))
}

fn table(out: &mut String, table: &Table) {
    let headers = table.headers.iter();
    *out += &table_head(headers.map(|h| (h.text.clone(), h.is_number)));
    let rows = table.rows.iter();
    out.extend(rows.map(|row| line(row.iter().map(|cell| cell.joined()))));
    if let Some(rest) = table.rest_sentence() {
        let _ = write!(out, "\n{}\n", escape(&rest));
    }
    out.push('\n');
}

/// `24 runs (24 ok) of 8 scenarios took 1 min 48 s and cost US$ 0.0052.`
pub(crate) fn totals(analysis: &Analysis) -> String {
    let totals = &analysis.totals;
    // Of some that were measured and some that were not, "took" is not true of the sum.
    let is_predicted = totals.predicted > 0;
    let missing = match totals.missing {
        0 => String::new(),
        runs => message!("totals-missing", runs),
    };
    message!(
        "totals",
        runs = totals.runs.total(),
        counts = totals.runs.text(),
        scenarios = totals.scenarios,
        predicted = is_predicted,
        time = format::duration(totals.seconds),
        cost = money(analysis),
        missing
    )
}

/// ` and cost US$ 0.0052 of a budget of US$ 1.00`; what was spent is said apart where it is not
/// what the results cost.
fn money(analysis: &Analysis) -> String {
    let totals = &analysis.totals;
    let mut text = String::new();
    if !totals.cost_total.is_empty() {
        let sums: Vec<String> = totals.cost_total.iter().map(format::money).collect();
        let cost = format::listed(&sums, usize::MAX);
        text += &message!("totals-cost", bound = totals.bound(), cost);
        let reason = totals.bound_reason();
        text.extend(reason.map(|reason| format!(" ({reason})")));
    }
    let Some(spent) = totals.spent_total else {
        return text;
    };
    let has_budget = analysis.study.budget.is_some();
    let budget = analysis.study.budget.as_ref().map(format::money);
    let budget = budget.map_or_else(String::new, |budget| message!("totals-budget", budget));
    let (bound, spent) = (totals.bound(), format::money(&spent));
    if let Some(again) = totals.spent_again {
        let again = format::money(&again);
        text += &message!("totals-spent-again", bound, spent, budget, again);
    } else if costs_besides_spent(totals) && has_budget {
        text += &message!("totals-spent", bound, spent, budget);
    } else if has_budget {
        text += &budget;
    }
    text
}

fn list<'a>(out: &mut String, title: &str, items: impl IntoIterator<Item = &'a String>) {
    let items = items.into_iter();
    let items: String = items.map(|text| format!("- {}\n", prose(text))).collect();
    if !items.is_empty() {
        let _ = write!(out, "## {title}\n\n{items}\n");
    }
}

fn scenarios(out: &mut String, table: &ScenarioTable) {
    let columns = table.columns.iter();
    *out += &table_head(columns.map(|c| (c.header_with_unit(), c.is_number())));
    let rows = table.rows.iter();
    out.extend(rows.map(|row| line(row.iter().map(|cell| cell.joined()))));
}

/// For a pull request: the answer, then every scenario.
pub fn compared_markdown(compared: &Compared) -> String {
    let mut out = String::new();
    let mut sentences = compared.sentences.iter().map(|sentence| escape(sentence));
    let verdict = compared.verdict.words();
    // The verdict is of the runs that succeeded, and stands beside their sentence.
    let answer = match compared.fails_more {
        true => {
            let worse = sentences.next().unwrap_or_default();
            let _ = writeln!(out, "**{worse}**\n");
            let of_survivors = compared.estimate.as_ref().and(sentences.next());
            of_survivors.map(|sentence| format!("- {sentence} ({verdict})"))
        }
        false => sentences
            .next()
            .map(|sentence| format!("**{sentence}** ({verdict})\n")),
    };
    if let Some(line) = answer {
        let _ = writeln!(out, "{line}");
    }
    for sentence in sentences {
        let _ = writeln!(out, "- {sentence}");
    }
    if !compared.scenarios.is_empty() {
        let head = [
            word!("head-scenario"),
            word!("head-verdict"),
            word!("head-what"),
        ];
        let _ = write!(out, "\n| {} |\n|---|---|---|\n", head.join(" | "));
        for scenario in &compared.scenarios {
            let cells = [
                escape(&LevelFacts::phrase_of(&scenario.levels)),
                scenario.verdict.words().to_owned(),
                escape(&scenario.sentence),
            ];
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
    }
    out
}

fn variation_table(out: &mut String, variation: &Variation) {
    let title = message!("screen-decides", noun = variation.label);
    let _ = write!(out, "## {}\n\n", escape(&title));
    if let Some(problem) = &variation.problem {
        let _ = write!(out, "{}\n\n", escape(problem));
        return;
    }
    let head = [
        word!("head-what"),
        word!("profile-share"),
        word!("head-df-long"),
        "F",
        "p",
        word!("head-adjusted"),
        word!("head-verdict"),
        word!("head-effect"),
    ];
    let rule = "|---|---:|---:|---:|---:|---:|---|---|";
    let _ = write!(out, "| {} |\n{rule}\n", head.join(" | "));
    let none = || format::NONE.to_owned();
    for term in &variation.terms {
        let cells = [
            escape(&term.name()),
            share_text(term.share()),
            term.degrees_of_freedom.to_string(),
            term.f.map_or_else(none, |f| format::significant(f, 3)),
            tested_p(term).map_or_else(none, format::p_value),
            term.adjusted_p.map_or_else(none, format::p_value),
            term.verdict.words().to_owned(),
            escape(term.sentence.as_deref().unwrap_or("")),
        ];
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    if let Some(noise) = &variation.noise {
        let share = format::percent(noise.share);
        let df = noise.degrees_of_freedom;
        let noise = word!("screen-noise");
        let _ = writeln!(out, "| {noise} | {share} | {df} | | | | | |");
    }
    let mut sentences = vec![variation.model_sentence(), variation.residuals.clone()];
    sentences.extend(variation.assumptions.iter().cloned());
    let _ = write!(out, "\n{}\n\n", escape(&sentences.join(" ")));
}

/// A sentence, where what stands in backticks is to be typed, and stays as it is. Not for cells of a table, which a
/// `|` would end.
fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // An odd one out is a backtick that means itself; two beside each other begin something else.
    let inner = parts.iter().skip(1).take(parts.len().saturating_sub(2));
    if parts.len().is_multiple_of(2) || inner.clone().any(|part| part.is_empty()) {
        return escape(text);
    }
    let written = |(place, part): (usize, &&str)| match place % 2 {
        0 => escape(part),
        _ => format!("`{}`", diagnostics::screen::safe(part)),
    };
    parts.iter().enumerate().map(written).collect()
}

/// No character of the input may become markup, or end a table's cell.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // An interval in brackets is no link.
    let link = text.contains("](") || text.contains("][") || text.contains("]:");
    for c in diagnostics::screen::safe(text).chars() {
        match c {
            '[' | ']' if !link => out.push(c),
            '\\' | '|' | '*' | '_' | '`' | '<' | '[' | ']' | '#' | '~' | '&' => {
                out.extend(['\\', c])
            }
            c => out.push(c),
        }
    }
    out
}
