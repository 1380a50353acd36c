//! A study created from imported files, as a study file.

use std::fmt::Write;

use model::{Environment, Factor, Level, Study};

use crate::spec::Words;
use crate::{DecimalMark, ImportSpec};

/// More than a study file may exclude.
const MOST_EXCLUSIONS: usize = 1000;
/// More than a study file may ask for.
const MOST_REPETITIONS: u32 = 10_000;

/// As a person would have written it: `bancada import --study` reads more files by it.
/// `price` is that of all environments.
pub fn study_text(study: &Study, spec: &ImportSpec, price: Option<&str>) -> String {
    let mut text = String::from("# Written by `bancada import`: the study of these results.\n");
    // Writing to a string does not fail.
    _ = head(&mut text, study);
    _ = factors(&mut text, &study.factors);
    _ = environments(&mut text, &study.environments, price);
    _ = import(&mut text, spec);
    text
}

fn head(text: &mut String, study: &Study) -> std::fmt::Result {
    writeln!(text, "\n[study]\nname = {}", quoted(&study.name))?;
    if study.repetitions > MOST_REPETITIONS {
        writeln!(
            text,
            "# The files have {}; a study file may ask for so many:",
            study.repetitions
        )?;
    }
    writeln!(
        text,
        "repetitions = {}",
        study.repetitions.clamp(1, MOST_REPETITIONS)
    )?;
    writeln!(text, "order = \"listed\"\nseed = {}", study.seed)?;
    writeln!(text, "currency = {}", quoted(&study.currency.to_string()))?;
    let metrics: Vec<String> = study.metrics.iter().map(|name| quoted(name)).collect();
    if !metrics.is_empty() {
        writeln!(text, "metrics = [{}]", metrics.join(", "))?;
    }
    exclusions(text, study)
}

fn factors(text: &mut String, factors: &[Factor]) -> std::fmt::Result {
    writeln!(text, "\n[factors]")?;
    for factor in factors {
        let levels: Vec<String> = factor.levels.iter().map(level).collect();
        writeln!(text, "{} = [{}]", quoted(&factor.name), levels.join(", "))?;
    }
    Ok(())
}

fn environments(
    text: &mut String,
    environments: &[Environment],
    price: Option<&str>,
) -> std::fmt::Result {
    for environment in environments {
        writeln!(text, "\n[environments.{}]", quoted(&environment.name))?;
        if let Some(price) = price {
            writeln!(text, "price = {}", quoted(price))?;
        }
    }
    Ok(())
}

fn import(text: &mut String, spec: &ImportSpec) -> std::fmt::Result {
    writeln!(text, "\n[import]")?;
    writeln!(text, "row = {}", quoted(spec.row().word()))?;
    let mark = spec.decimal_mark.filter(|mark| *mark != DecimalMark::Auto);
    let keys = [
        (
            "file_pattern",
            spec.file_pattern.as_ref().map(|p| p.text().to_owned()),
        ),
        ("repetition", spec.repetition_column.clone()),
        ("status", spec.status_column.clone()),
        ("started", spec.started_column.clone()),
        ("delimiter", spec.delimiter.map(String::from)),
        ("decimal_mark", mark.map(|mark| mark.word().to_owned())),
    ];
    for (key, value) in keys {
        if let Some(value) = value {
            writeln!(text, "{key} = {}", quoted(&value))?;
        }
    }
    let factors = spec.factors.iter();
    let factors = factors.map(|f| (f.column.as_str(), quoted(&f.factor)));
    table(text, "factors", factors.collect())?;
    let metrics = spec.metrics.iter();
    let metrics = metrics.map(|m| (m.column.as_str(), quoted(&m.means())));
    table(text, "metrics", metrics.collect())?;
    let levels = spec.constants.iter();
    let levels = levels.map(|(factor, value)| (factor.as_str(), level(value)));
    table(text, "levels", levels.collect())
}

fn table(text: &mut String, key: &str, entries: Vec<(&str, String)>) -> std::fmt::Result {
    if entries.is_empty() {
        return Ok(());
    }
    let entry = |(name, value): (&str, String)| format!("{} = {value}", quoted(name));
    let entries: Vec<String> = entries.into_iter().map(entry).collect();
    writeln!(text, "{key} = {{ {} }}", entries.join(", "))
}

/// Combinations that the files do not have.
fn exclusions(text: &mut String, study: &Study) -> std::fmt::Result {
    match study.exclude.len() {
        0 => return Ok(()),
        all if all > MOST_EXCLUSIONS => {
            return writeln!(
                text,
                "# {all} combinations are missing in the files, more than a study file can exclude."
            );
        }
        _ => {}
    }
    writeln!(text, "exclude = [")?;
    for exclusion in &study.exclude {
        let pair =
            |(factor, value): (&String, &Level)| format!("{} = {}", quoted(factor), level(value));
        let pairs: Vec<String> = exclusion.iter().map(pair).collect();
        writeln!(text, "    {{ {} }},", pairs.join(", "))?;
    }
    writeln!(text, "]")
}

fn level(level: &Level) -> String {
    match level {
        Level::Text(text) => quoted(text),
        Level::Int(number) => number.to_string(),
        // With a point or an exponent, so that it stays one.
        Level::Float(number) => format!("{number:?}"),
        Level::Bool(truth) => truth.to_string(),
    }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => {
                _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
