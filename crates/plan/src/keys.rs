//! Every key of a study file with its meaning: the one table, `keys.toml`, behind the JSON schema
//! and the reference. A test checks that the reader knows the same keys.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use diagnostics::{Problems, Table, Value};

use crate::{read, serve, train};

/// A table of the file and its keys.
pub(crate) struct Section {
    pub(crate) about: String,
    pub(crate) keys: Vec<Key>,
}

pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
}

/// `count 1024`: a word that the schema and the reference explain, and what it needs.
pub(crate) struct Kind {
    pub(crate) word: String,
    pub(crate) of: String,
}

impl Kind {
    /// A table, by its section, of whichever form.
    pub(crate) fn section(&self) -> Option<&'static Section> {
        let is_table =
            ["table", "tables", "named", "prices", "text-or-table"].contains(&self.word.as_str());
        SECTIONS.get(&self.of).filter(|_| is_table)
    }

    /// The limits of a whole number.
    pub(crate) fn range(&self) -> (i64, Option<i64>) {
        let mut numbers = self.of.split(' ').map_while(|number| number.parse().ok());
        match self.word.as_str() {
            "count" => (1, numbers.next()),
            _ => (numbers.next().unwrap_or(0), numbers.next()),
        }
    }
}

/// The whole file.
pub(crate) fn top() -> &'static Section {
    &SECTIONS["file"]
}

static SECTIONS: LazyLock<BTreeMap<String, Section>> = LazyLock::new(|| {
    let problems = Problems::default();
    diagnostics::parse(include_str!("../keys.toml"), &problems, |top| {
        let tables = top.entries().filter_map(|(name, value)| {
            let table = value.table(name.value)?;
            Some((name.value.to_owned(), section(&table)?))
        });
        tables.collect()
    })
});

fn section(table: &Table<'_>) -> Option<Section> {
    let about = table.text("about")?.value;
    let keys = table.entries().filter(|(name, _)| name.value != "about");
    let keys = keys.filter_map(|(name, value)| key(name.value, value));
    let keys = keys.collect();
    Some(Section { about, keys })
}

fn key(name: &str, value: &Value<'_>) -> Option<Key> {
    let [kind, about] = &value.array(name)?[..] else {
        return None;
    };
    let typed = kind.as_text()?;
    let kind = typed.trim_start_matches("required ");
    let (word, of) = kind.split_once(' ').unwrap_or((kind, ""));
    Some(Key {
        name: name.to_owned(),
        about: about.as_text()?.to_owned(),
        required: kind != typed,
        kind: Kind {
            word: word.to_owned(),
            of: of.to_owned(),
        },
    })
}

/// A list that `keys.toml` names.
pub(crate) fn words(list: &str) -> Vec<&'static str> {
    match list {
        "charge-kinds" => read::CHARGE_KINDS.to_vec(),
        "datasets" => data::names().collect(),
        "designs" => read::DESIGNS.to_vec(),
        "decimal-marks" => read::DECIMAL_MARKS.to_vec(),
        "engines" => read::ENGINES.to_vec(),
        "frameworks" => frameworks::names().collect(),
        "loads" => serve::LOADS.to_vec(),
        "log-events" => read::LOG_EVENTS.iter().map(|event| event.word).collect(),
        "networks" => network::names().collect(),
        "optimizers" => train::OPTIMIZERS.to_vec(),
        "orders" => read::ORDERS.to_vec(),
        "pipelines" => train::PIPELINES.to_vec(),
        "precisions" => [train::PRECISIONS, &serve::PRECISIONS[1..]].concat(),
        "providers" => read::PROVIDERS.to_vec(),
        "rentals" => vec!["study", "run"],
        "rows" => read::ROWS.to_vec(),
        "rules" => cost::rules().names(),
        "stacks" => serve::stacks().collect(),
        "workloads" => read::KINDS.to_vec(),
        _ => Vec::new(),
    }
}
