//! The reference of the study file, `docs/study-file.md`, from the one table of its keys.

use std::fmt::Write as _;

use model::run::metric;
use rust_decimal::Decimal;

use crate::keys::{self, Key, Kind, Section};
use crate::resolve::{CORES, ENVIRONMENT, MEMORY};
use crate::{serve, train};

/// Markdown: an introduction with examples, then every table with its keys.
pub fn reference() -> String {
    let mut out = String::from(include_str!("../reference.md"));
    out.push_str("\n## Every key\n\n");
    out.push_str(
        "`*` marks required keys. Unknown keys are errors. A duration is a number with `ms`, `s`, \
         `min`, `h` or `d`; a size is a number with `B`, `kB`, `MB`, `GB`, `TB` \
         (powers of 1000) or `KiB`, `MiB`, `GiB`, `TiB` (of 1024).\n",
    );
    let mut chapters = vec![Chapter {
        headings: vec!["The file".to_owned()],
        section: keys::top(),
    }];
    gather("", keys::top(), &mut chapters);
    for chapter in &chapters {
        chapter.write(&mut out);
    }
    write_factors(&mut out);
    write_metrics(&mut out);
    write_prices(&mut out);
    out
}

/// A kind of table, and its possible positions in the file.
struct Chapter {
    headings: Vec<String>,
    section: &'static Section,
}

/// Depth first, in the order of the keys; a section with several positions appears once.
fn gather(path: &str, section: &'static Section, chapters: &mut Vec<Chapter>) {
    for key in &section.keys {
        let Some(inner) = key.kind.section() else {
            continue;
        };
        let place = match path {
            "" => key.name.clone(),
            _ => format!("{path}.{}", key.name),
        };
        let (place, heading) = match key.kind.word.as_str() {
            "table" => (place.clone(), format!("`[{place}]`")),
            "tables" => (place.clone(), format!("`[[{place}]]`")),
            _ => (format!("{place}.NAME"), format!("`[{place}.NAME]`")),
        };
        match chapters.iter_mut().find(|c| c.section.about == inner.about) {
            Some(chapter) => chapter.headings.push(heading),
            None => {
                let headings = vec![heading];
                chapters.push(Chapter {
                    headings,
                    section: inner,
                });
                gather(&place, inner, chapters);
            }
        }
    }
}

impl Chapter {
    fn write(&self, out: &mut String) {
        let heading = self.headings.join(", ");
        _ = write!(out, "\n### {heading}\n\n{}\n\n", self.section.about);
        out.push_str("| key | type | meaning |\n|---|---|---|\n");
        for key in &self.section.keys {
            let Key { name, about, .. } = key;
            let mark = if key.required { "\\*" } else { "" };
            let (kind, about) = (cell(&words(&key.kind)), cell(about));
            _ = writeln!(out, "| `{name}`{mark} | {kind} | {about} |");
        }
    }
}

fn words(kind: &Kind) -> String {
    let fixed = match kind.word.as_str() {
        "text" | "offered" => "string",
        "one-of" => return list(keys::words(&kind.of).into_iter()),
        "count" | "whole" => {
            return match kind.range() {
                (from, None) => format!("whole number from {from}"),
                (from, Some(to)) => format!("whole number, {from} to {to}"),
            };
        }
        "number" | "decimal" => "number",
        "flag" => "true or false",
        "duration" => "duration: `\"10s\"`",
        "power" => "power: `\"60 W\"`",
        "size" => "size: `\"8 GB\"`",
        "money" => "money: `\"1.50 USD\"`",
        "price" => "price, or a list",
        "electricity" => "price: `\"0.15 USD/kWh\"`",
        "date" => "date: `2024-03-01`",
        "moment" => "date and time: `2026-11-16T12:00:00Z`",
        "currency" => "currency: `\"USD\"`",
        "texts" => "list of strings",
        "text-or-list" => "string, or list of strings",
        "text-or-table" => "string, or table",
        "paid" => "`\"all\"`, `\"requests\"`, or list of phases",
        "variables" => "table: variable = value",
        "roles" => "table: factor = `\"task\"`, `\"choice\"` or `\"block\"`",
        "two-levels" => "table: factor = two levels",
        "exclusions" => "list of rules: `{ factor = level }`",
        "factors" => "factor = levels: a list, one level, or a range",
        "columns" => "list of strings, or table: column = factor",
        "measured" => "table: column = `\"METRIC:UNIT\"`",
        "levels" => "table: factor = level",
        "table" => "table",
        "tables" => "array of tables",
        "named" => "named tables",
        "prices" => "name = `\"0.2 USD/h\"`, or tables",
        unknown => unknown,
    };
    fixed.to_owned()
}

fn write_factors(out: &mut String) {
    let fields = train::FIELDS.iter().map(|field| field.name);
    let served = serve::FIELDS.iter().map(|field| field.name);
    _ = write!(
        out,
        "\n## Predefined factors\n\n\
         With any workload: {}. With training, also the keys of `[workload]`: {}. With serving: {}. With a command, any name.\n\n\
         Levels are strings, numbers or booleans, all of one type; `{{ from = 1, to = 8, step = 1 }}` and \
         `{{ powers_of = 2, from = 1, to = 512 }}` are ranges of whole numbers.\n",
        list([ENVIRONMENT, CORES, MEMORY].into_iter()),
        list(fields),
        list(served),
    );
}

fn write_metrics(out: &mut String) {
    _ = write!(
        out,
        "\n## Metrics\n\n\
         Metrics for `metrics` of `[study]`: {}. A command or imported files may have others; \
         [results.md](results.md) describes each. Shorter words: {}.\n",
        list(metric::ALL.iter().map(|metric| metric.name)),
        list(
            metric::ALL
                .iter()
                .flat_map(|metric| metric.aliases)
                .copied()
        ),
    );
}

fn write_prices(out: &mut String) {
    out.push_str(
        "\n## Prices in the catalog\n\nLinux, in US dollars per hour; these come with Bancada. \
         `+spot` after a name selects the spot price. `bancada price update` updates them and adds others \
         ([prices.md](prices.md)).\n\n",
    );
    out.push_str("| name | vCPUs | memory | GPU | on demand | spot | date |\n|---|---|---|---|---|---|---|\n");
    let amount = |quote: Option<&cost::Quote>| {
        quote.map_or_else(String::new, |q| q.per_hour.amount.to_string())
    };
    for entry in &cost::catalog().entries {
        let shape = &entry.shape;
        let gpu = match &shape.gpu {
            Some(gpu) => match gpu.count {
                Some(count) if count != Decimal::ONE => format!("{count} × {}", gpu.kind),
                _ => gpu.kind.clone(),
            },
            None => String::new(),
        };
        let number = |value: Option<Decimal>| value.map(|v| v.to_string()).unwrap_or_default();
        _ = writeln!(
            out,
            "| `{}` | {} | {} GiB | {gpu} | {} | {} | {} |",
            entry.name(),
            number(shape.vcpus),
            number(shape.memory_gib),
            amount(entry.on_demand.as_ref()),
            amount(entry.spot.as_ref()),
            entry.on_demand.as_ref().map_or("", |q| q.date.as_str()),
        );
    }
}

fn list<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    words.join(", ")
}

/// A bar would end the cell, and `<word>` would be read as markup.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}
