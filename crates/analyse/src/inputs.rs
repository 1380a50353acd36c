//! Which runs had which version of the files they depend on, where they are not all the same.

use std::collections::BTreeMap;

use messages::message;
use model::run::RunInput;

use crate::lists::entry;
use crate::table::Table;
use crate::words::format;

/// More are counted, not named.
const MOST_RUNS: usize = 12;

struct Version<'a> {
    input: &'a RunInput,
    runs: Vec<String>,
}

pub(crate) fn notes(table: &Table) -> Vec<String> {
    let mut by_path: BTreeMap<&str, Vec<Version>> = BTreeMap::new();
    for row in &table.runs {
        for input in &row.record.inputs {
            let versions = by_path.entry(&input.path).or_default();
            let new = || Version {
                input,
                runs: Vec::new(),
            };
            let version = entry(versions, |v| v.input.has_same_content(input), new);
            version.runs.push(row.record.run.to_string());
        }
    }
    let differing = by_path
        .into_iter()
        .filter(|(_, versions)| versions.len() > 1);
    let note = |(path, versions): (&str, Vec<Version>)| {
        let said = |version: &Version| {
            let runs = format::listed(&version.runs, MOST_RUNS);
            message!("note-version-in", version = version.input.version(), runs)
        };
        let versions: Vec<String> = versions.iter().map(said).collect();
        message!("note-input", path, versions = versions.join("; "))
    };
    differing.map(note).collect()
}
