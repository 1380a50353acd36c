//! `[design]`: which combinations of levels are scenarios.

use diagnostics::{Diagnostic, Located, Table, Value};

use super::draft::{DraftDesign, DraftExclusion, DraftFactor};
use super::{study, take};

pub(crate) const DESIGNS: &[&str] = &[
    "full",
    "two-level",
    "fractional",
    "plackett-burman",
    "d-optimal",
    "latin-hypercube",
    "one-at-a-time",
    "list",
];

/// Which designs a key is for.
const KEYS: &[(&str, &[&str])] = &[
    ("levels", &["two-level", "fractional", "plackett-burman"]),
    ("generators", &["fractional"]),
    ("resolution", &["fractional"]),
    (
        "scenarios",
        &[
            "fractional",
            "plackett-burman",
            "d-optimal",
            "latin-hypercube",
        ],
    ),
    ("interactions", &["d-optimal"]),
    ("list", &["list"]),
];

const MAX_CHOSEN: i64 = 1024;
/// Longer words than this are in nobody's way.
const MAX_RESOLUTION: i64 = 8;

pub(super) fn read(top: &Table<'_>) -> DraftDesign {
    let Some(value) = top.get("design") else {
        return DraftDesign::default();
    };
    let Some(table) = value.table("design") else {
        return DraftDesign::default();
    };
    let (kind, is_known) = read_kind(&table);
    let levels = read_levels(&table);
    let texts = |key: &str| {
        let value = table.get(key);
        value.map(|v| take::texts(&v, key))
    };
    let (generators, interactions) = (texts("generators"), texts("interactions"));
    let rows = table.array("list");
    let row = |row| study::read_exclusion(&row, "list");
    let list: Option<Vec<DraftExclusion>> =
        rows.map(|rows| rows.into_iter().filter_map(row).collect());
    let design = DraftDesign {
        kind,
        levels,
        generators: generators.unwrap_or_default(),
        resolution: take::whole(&table, "resolution", 3..=MAX_RESOLUTION),
        scenarios: take::whole(&table, "scenarios", 1..=MAX_CHOSEN),
        interactions: interactions.unwrap_or_default(),
        list: list.unwrap_or_default(),
    };
    if is_known {
        refuse_strangers(&table, design.kind.value);
    }
    table.finish();
    design
}

/// And whether it is one.
fn read_kind(table: &Table<'_>) -> (Located<&'static str>, bool) {
    let Some(typed) = table.text("kind") else {
        return (
            Located::new("full", table.span.clone()),
            table.key_span("kind").is_none(),
        );
    };
    let found = DESIGNS.iter().find(|design| **design == typed.value);
    if found.is_none() {
        let known = DESIGNS.iter().copied();
        let span = typed.span.clone();
        table.complain(Diagnostic::unknown("design", &typed.value, span, known));
    }
    (
        Located::new(found.copied().unwrap_or("full"), typed.span),
        found.is_some(),
    )
}

/// `{ image = [32, 128] }`.
fn read_levels(table: &Table<'_>) -> Vec<DraftFactor> {
    let Some(table) = table.table("levels") else {
        return Vec::new();
    };
    let factor = |(name, value): (&Located<&str>, &Value<'_>)| DraftFactor {
        name: name.clone().map(str::to_owned),
        levels: take::levels(value, name.value),
    };
    table.entries().map(factor).collect()
}

fn refuse_strangers(table: &Table<'_>, kind: &str) {
    for (key, kinds) in KEYS.iter().filter(|(_, kinds)| !kinds.contains(&kind)) {
        if let Some(span) = table.key_span(key) {
            let message = format!("`{key}` does not apply to the design `{kind}`");
            let kinds: Vec<String> = kinds.iter().map(|k| format!("kind = \"{k}\"")).collect();
            let diagnostic = Diagnostic::at(span, message);
            table.complain(diagnostic.label(format!("it is for {}", kinds.join(", "))));
        }
    }
}
