//! The reference of the study file, `docs/study-file.md`, from the one table of its keys.

use std::fmt::Write as _;

use model::run::metric;
use rust_decimal::Decimal;

use crate::keys::{Key, Kind, Section, TOP};
use crate::resolve::{CORES, ENVIRONMENT, MEMORY};
use crate::{serve, train};

/// Markdown: an introduction with examples, then every table with its keys.
pub fn reference() -> String {
    let mut out = String::from(include_str!("../reference.md"));
    out.push_str("\n## Every key\n\n");
    out.push_str(
        "`*` marks keys that must be there. Keys that nothing knows are mistakes. A duration is a \
         number with `ms`, `s`, `min`, `h` or `d`; a size one with `B`, `kB`, `MB`, `GB`, `TB` \
         (powers of 1000) or `KiB`, `MiB`, `GiB`, `TiB` (of 1024).\n",
    );
    let mut chapters = vec![Chapter {
        headings: vec!["The file".to_owned()],
        section: &TOP,
    }];
    gather("", &TOP, &mut chapters);
    for chapter in &chapters {
        chapter.write(&mut out);
    }
    write_factors(&mut out);
    write_metrics(&mut out);
    write_prices(&mut out);
    out
}

/// A kind of table, and where in the file it may stand.
struct Chapter {
    headings: Vec<String>,
    section: &'static Section,
}

/// Depth first, in the order of the keys; a section that stands in several places comes once.
fn gather(path: &str, section: &'static Section, chapters: &mut Vec<Chapter>) {
    for key in section.keys {
        let place = match path {
            "" => key.name.to_owned(),
            _ => format!("{path}.{}", key.name),
        };
        let (inner, place, heading) = match &key.kind {
            Kind::Table(inner) => (*inner, place.clone(), format!("`[{place}]`")),
            Kind::Tables(inner) => (*inner, place.clone(), format!("`[[{place}]]`")),
            Kind::Named(inner) | Kind::NamedPrices(inner) => {
                let place = format!("{place}.NAME");
                (*inner, place.clone(), format!("`[{place}]`"))
            }
            _ => continue,
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
        out.push_str("| key | what it is | what it means |\n|---|---|---|\n");
        for key in self.section.keys {
            let Key { name, about, .. } = key;
            let mark = if key.required { "\\*" } else { "" };
            let (kind, about) = (cell(&words(&key.kind)), cell(about));
            _ = writeln!(out, "| `{name}`{mark} | {kind} | {about} |");
        }
    }
}

fn words(kind: &Kind) -> String {
    let fixed = match kind {
        Kind::Text => "text",
        Kind::Words(words) => return list(words().into_iter()),
        Kind::Offered(_) => "text",
        Kind::Whole { from, to } if *to == i64::MAX => {
            return format!("whole number from {from}");
        }
        Kind::Whole { from, to } => return format!("whole number, {from} to {to}"),
        Kind::Number | Kind::Decimal => "number",
        Kind::Flag => "true or false",
        Kind::Duration => "duration: `\"10s\"`",
        Kind::Size => "size: `\"8 GB\"`",
        Kind::Money => "money: `\"1.50 USD\"`",
        Kind::Price => "price, or a list",
        Kind::Electricity => "price: `\"0.15 USD/kWh\"`",
        Kind::Date => "date: `2024-03-01`",
        Kind::Moment => "moment: `2026-11-16T12:00:00Z`",
        Kind::Currency => "currency: `\"USD\"`",
        Kind::Texts => "list of texts",
        Kind::Paid => "`\"all\"`, `\"requests\"`, or list of phases",
        Kind::Variables => "table: variable = value",
        Kind::Exclusions => "list of rules: `{ factor = level }`",
        Kind::Factors => "factor = levels: a list, one level, or a range",
        Kind::Columns => "list of texts, or table: column = factor",
        Kind::Measured => "table: column = `\"METRIC:UNIT\"`",
        Kind::Levels => "table: factor = level",
        Kind::Table(_) => "table",
        Kind::Tables(_) => "any number of tables",
        Kind::Named(_) => "tables, each with a name",
        Kind::NamedPrices(_) => "name = `\"0.2 USD/h\"`, or tables",
    };
    fixed.to_owned()
}

fn write_factors(out: &mut String) {
    let fields = train::FIELDS.iter().map(|field| field.name);
    let served = serve::FIELDS.iter().map(|field| field.name);
    _ = write!(
        out,
        "\n## Factors that mean something\n\n\
         With any workload: {}. With training also the values of `[workload]`: {}. With serving: {}. With a command, any other name.\n\n\
         Levels are texts, numbers, or true and false, all of one kind; `{{ from = 1, to = 8, step = 1 }}` and \
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
         For `metrics` of `[study]`: {}. A command or imported files may have others; [results.md](results.md) \
         says what each is and which runs have it. Shorter words: {}.\n",
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
        "\n## Prices of the catalog\n\nLinux, in US dollars an hour; those that come with Bancada. \
         `+spot` after a name means the spot price. `bancada price update` renews them and adds others \
         ([prices.md](prices.md)).\n\n",
    );
    out.push_str("| name | vCPUs | memory | GPU | on demand | spot | read |\n|---|---|---|---|---|---|---|\n");
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

/// A bar would end the cell, and `<word>` be taken for markup.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}
